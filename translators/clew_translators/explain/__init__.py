"""Facts as triples: what a step decided, in ``urn:graph:retrieval`` (profile) and ``urn:graph:provenance`` (PROV-O).

A batch is a function of its arguments: the same facts of the same run give the same bytes, so a replay changes nothing.
Texts are told as they are. N-Quads and JSON carry every character that a message can hold, control characters
included; XML does not, so whoever writes RDF/XML or PROV-XML removes those there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from clew_schema.rdf import Metadata
from clew_translators.explain import names
from clew_translators.explain.provenance import provenance_statements
from clew_translators.explain.spec import retrieval_statements
from clew_translators.explain.told import Told
from clew_translators.explain.trustgraph import trustgraph_batches
from clew_translators.uris import question_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.facts import Fact, Mechanism
    from clew_schema.rdf import Triples
    from clew_translators.explain.statements import Statements

__all__ = ["Profile", "Told", "entity_uri", "explain", "question_uri", "tell", "tellings"]

Profile = Literal["spec", "trustgraph"]
"""Whose vocabulary the retrieval graph speaks: the seed's page, or TrustGraph 2.11's code."""


def explain(
    facts: Sequence[Fact],
    *,
    session_id: str,
    collection: str,
    mechanism: Mechanism,
    profile: Profile = "spec",
    trail: Sequence[Fact] = (),
    retrieval_only: bool = False,
) -> Triples | None:
    """:func:`tell`, as a message; None when there is nothing to say."""
    told = tell(
        facts,
        session_id=session_id,
        collection=collection,
        mechanism=mechanism,
        profile=profile,
        trail=trail,
        retrieval_only=retrieval_only,
    )
    return told.batch() if told else None


def tell(
    facts: Sequence[Fact],
    *,
    session_id: str,
    collection: str,
    mechanism: Mechanism,
    profile: Profile = "spec",
    trail: Sequence[Fact] = (),
    retrieval_only: bool = False,
) -> Told | None:
    """One batch for one step: ``facts`` are what it established, ``trail`` every fact of the run before them.

    ``metadata.id`` is the entity of the last fact, ``metadata.root`` the run's question. None when there are no facts.
    A run may also be told as a whole: all its facts, and no trail. Each quad is told once. ``retrieval_only`` leaves
    the PROV-O graph out, as callers are shown it inline; None when there is nothing to say in the other. In profile
    ``trustgraph`` the batch holds what :func:`tellings` tells in several.
    """
    told = tellings(
        facts,
        session_id=session_id,
        collection=collection,
        mechanism=mechanism,
        profile=profile,
        trail=trail,
        retrieval_only=retrieval_only,
    )
    if not told:
        return None
    metadata = _metadata(facts, session_id, collection, mechanism, trail)
    return Told(metadata, tuple(graph for each in told for graph in each.graphs))


def tellings(
    facts: Sequence[Fact],
    *,
    session_id: str,
    collection: str,
    mechanism: Mechanism,
    profile: Profile,
    trail: Sequence[Fact] = (),
    retrieval_only: bool = False,
    repaired: bool = True,
) -> tuple[Told, ...]:
    """The batches of one step, in the order in which they are published; none when there is nothing to say.

    Profile ``spec`` has one, as :func:`tell` makes it. Profile ``trustgraph`` has one for each entity, its URI in
    ``metadata.id`` and no ``root``, then one with the PROV-O graph, ``root`` the run's question; ``repaired`` as in
    :func:`clew_translators.explain.trustgraph.trustgraph_batches`. There the texts (thought, observation, answer) stand
    in the PROV-O graph, for TrustGraph's own points to documents instead.
    """
    if not facts:
        return ()
    question = question_uri(session_id, mechanism)
    provenance = () if retrieval_only else (_provenance(facts, question, collection, trail, profile),)
    metadata = _metadata(facts, session_id, collection, mechanism, trail)
    if profile == "spec":
        graphs = (retrieval_statements(facts, question, mechanism, trail), *provenance)
        return (Told(metadata, graphs),) if any(graphs) else ()
    batches = trustgraph_batches(
        facts,
        session_id=session_id,
        collection=collection,
        mechanism=mechanism,
        trail=trail,
        repaired=repaired,
    )
    return (*batches, *(Told(metadata, (graph,)) for graph in provenance if graph))


def _provenance(
    facts: Sequence[Fact], question: str, collection: str, trail: Sequence[Fact], profile: Profile
) -> Statements:
    return provenance_statements(facts, question, collection, trail, texts=profile == "trustgraph")


def _metadata(
    facts: Sequence[Fact], session_id: str, collection: str, mechanism: Mechanism, trail: Sequence[Fact]
) -> Metadata:
    """What a batch of ``facts`` is about: the entity of the last of them."""
    entity = entity_uri(facts[-1], session_id, mechanism, (*trail, *facts[:-1]))
    return Metadata(id=entity, root=question_uri(session_id, mechanism), collection=collection)


def question_uri(session_id: str, mechanism: Mechanism) -> str:
    """The name of a run: its question."""
    return question_of(mechanism, session_id)


def entity_uri(fact: Fact, session_id: str, mechanism: Mechanism, trail: Sequence[Fact] = ()) -> str:
    """The name of what ``fact`` is about; never empty. ``trail`` is what the run established before it."""
    return names.entity_of(fact, question_uri(session_id, mechanism), trail)
