"""Profile ``trustgraph`` of ``urn:graph:retrieval``: what TrustGraph 2.11 publishes about a run, batch by batch.

Facts that TrustGraph has no term for (grades, rewrites, joins, limits, pauses) tell nothing here; what comes after them
derives from what was told before, so a run stays one chain. Each retrieval is an exploration, named by its part and
pass as in our other graphs. ``repaired`` adds what readers of such traces break on without it: an answer from reranked
chunks also derives from all that was explored, a thought has a batch of its own, and every end has a node.
"""

from __future__ import annotations

from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

from clew_schema.facts import (
    AnswerWritten,
    Concluded,
    EdgesRetrieved,
    EdgesSelected,
    EvidenceRetrieved,
    FindingReceived,
    PatternChosen,
    PlanMade,
    PlanStepDone,
    QuestionAsked,
    QuestionDecomposed,
    QuestionGrounded,
    QuestionPlanned,
    RunFailed,
    ToolChosen,
    ToolObserved,
)
from clew_schema.rdf import Metadata
from clew_translators.explain import trustgraph_iterations as iterations
from clew_translators.explain import trustgraph_retrieval as retrieval
from clew_translators.explain.told import Told
from clew_translators.explain.trustgraph_course import Course

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clew_schema.facts import Fact, Mechanism
    from clew_translators.explain.trustgraph_course import Batches


def trustgraph_batches(
    facts: Sequence[Fact],
    *,
    session_id: str,
    collection: str,
    mechanism: Mechanism,
    trail: Sequence[Fact] = (),
    repaired: bool = False,
) -> tuple[Told, ...]:
    """``facts``, which follow ``trail``, as TrustGraph's batches: one for each entity, its URI in ``metadata.id``.

    A function of its arguments, and told in steps or at once a run has the same quads. Without ``repaired`` they are
    TrustGraph's and no others. ``metadata.root`` is empty, as there.
    """
    course = Course(session_id, mechanism, repaired=repaired)
    for fact in trail:
        course.after(fact)
    told: list[Told] = []
    for fact in facts if repaired else _as_emitted(facts):
        for entity, say in _told(fact, course):
            told.append(Told(Metadata(id=entity, collection=collection), (say,)))
        course.after(fact)
    return tuple(told)


def _as_emitted(facts: Sequence[Fact]) -> Sequence[Fact]:
    """TrustGraph publishes how an agent works before the question that it works on."""
    for at, (first, second) in enumerate(pairwise(facts)):
        if isinstance(first, QuestionAsked) and isinstance(second, PatternChosen):
            return (*facts[:at], second, first, *facts[at + 2 :])
    return facts


def _told(fact: Fact, course: Course) -> Batches:
    """Entity and statements of each batch that ``fact`` makes."""
    tell = _TELL.get(type(fact))
    return tell(fact, course) if tell else iter(())


_TELL: Mapping[type, Callable[..., Batches]] = MappingProxyType(
    {
        QuestionAsked: retrieval.question,
        QuestionPlanned: retrieval.planned,
        QuestionGrounded: retrieval.grounded,
        EvidenceRetrieved: retrieval.retrieved,
        EdgesRetrieved: retrieval.edges,
        EdgesSelected: retrieval.selected,
        AnswerWritten: retrieval.answered,
        PatternChosen: iterations.pattern,
        ToolChosen: iterations.chosen,
        ToolObserved: iterations.observed,
        Concluded: iterations.concluded,
        PlanMade: iterations.plan,
        PlanStepDone: iterations.step,
        QuestionDecomposed: iterations.decomposed,
        FindingReceived: iterations.finding,
        RunFailed: iterations.failed,
    }
)
