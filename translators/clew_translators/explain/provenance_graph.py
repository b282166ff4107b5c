"""A question to a knowledge graph as PROV-O: its concepts, the edges that were found, and those that were selected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_schema.facts import EdgesRetrieved, EdgesSelected, QuestionGrounded
from clew_translators import namespaces as ns
from clew_translators.explain import names
from clew_translators.explain.telling import PROV_COLLECTION

if TYPE_CHECKING:
    from clew_schema.facts import SelectedEdge
    from clew_translators.explain.telling import Telling


def graph(telling: Telling, fact: QuestionGrounded | EdgesRetrieved | EdgesSelected, entity: str) -> None:
    """What was looked for, found or selected."""
    match fact:
        case QuestionGrounded():
            _grounding(telling, fact, entity)
        case EdgesRetrieved():
            _retrieved(telling, fact, entity)
        case EdgesSelected():
            _selected(telling, fact, entity)


def _grounding(telling: Telling, fact: QuestionGrounded, entity: str) -> None:
    activity = names.activity_of(entity)
    telling.activity(activity, names.GROUNDING, fact, used=(telling.question,), models=(fact.model,))
    telling.entity(entity, names.CONCEPTS, (telling.question,))
    for concept in fact.concepts:
        telling.say.text(names.CONCEPT, concept)
    telling.tokens(fact)


def _retrieved(telling: Telling, fact: EdgesRetrieved, entity: str) -> None:
    used = (telling.question, *telling.told_last(QuestionGrounded))
    telling.activity(names.activity_of(entity), names.EDGE_RETRIEVAL, fact, used=used)
    telling.entity(entity, names.EDGES, ())
    telling.say.integer(names.EDGE_COUNT, fact.edge_count)
    for found in fact.entities:
        telling.say.link(names.ENTITY, names.safe_iri(found))


def _selected(telling: Telling, fact: EdgesSelected, entity: str) -> None:
    say, activity = telling.say, names.activity_of(entity)
    found = telling.edges_retrieved()
    used = (telling.question, *found)
    telling.activity(activity, names.EDGE_SELECTION, fact, used=used, models=(fact.model,))
    telling.entity(entity, names.SELECTED_EDGES, found or (telling.question,))
    say.about(entity, PROV_COLLECTION)
    telling.tokens(fact)
    places = [names.edge_of(entity, place) for place in range(1, len(fact.edges) + 1)]
    for name in places:
        say.link(ns.PROV_HAD_MEMBER, name)
    for name, selected in zip(places, fact.edges, strict=True):
        telling.entity(name, names.SELECTED_EDGE, found, activity)
        _edge(telling, selected)


def _edge(telling: Telling, selected: SelectedEdge) -> None:
    """The edge itself, an RDF statement, is the record's: PROV-O has no place for one."""
    say = telling.say
    say.text(names.CONCEPT, selected.concept)
    say.double(names.SCORE, selected.score)
    say.text(names.REASON, selected.reasoning)
