"""Reading a trace back: from the quads of one run, in any order, to a tree (:mod:`clew_translators.trace_tree`).

Reads what :mod:`clew_translators.explain` tells in its two graphs, as much of it as there is yet, and traces of
TrustGraph, which have the first graph only and some steps and documents of their own.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from clew_translators import namespaces as ns
from clew_translators import uris
from clew_translators.explain import names
from clew_translators.trace_quads import Quads, natural
from clew_translators.trace_steps import read_step, step_kind
from clew_translators.trace_tree import RunState, Span, Step, StepKind, TraceTree, graft, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clew_schema.facts import Mechanism
    from clew_schema.rdf import Triple

__all__ = [
    "MECHANISMS",
    "STATES",
    "RunState",
    "Span",
    "Step",
    "StepKind",
    "TraceTree",
    "TraceUnreadable",
    "end_state",
    "graft",
    "mechanism_of",
    "question_candidates",
    "read_trace",
    "run_state",
    "to_json",
]

_SUBTYPES: Mapping[str, Mechanism] = MappingProxyType(
    {
        ns.TG_DOC_RAG_QUESTION: "document-rag",
        ns.TG_GRAPH_RAG_QUESTION: "graph-rag",
        ns.TG_AGENT_QUESTION: "agent",
    }
)
_OUTCOMES: Mapping[str, RunState] = MappingProxyType(
    {
        "answer": "answered",
        "partial": "answered",
        "no_knowledge": "no_knowledge",
        "needs_clarification": "needs_input",
        "needs_scope_selection": "needs_input",
        "cancelled": "cancelled",
    }
)
MECHANISMS: tuple[Mechanism, ...] = ("document-rag", "agent", "graph-rag")
STATES: tuple[RunState, ...] = ("running", "failed", "needs_input", "cancelled", "no_knowledge", "answered")
"""Each outweighs those before it: a run that failed and was then tried again with success is answered."""


_GIVEN_UP = frozenset({"max-iterations", "error"})
"""The ends that are no answer."""

_ASKED_BY = (ns.PROV_WAS_STARTED_BY, ns.PROV_WAS_INFORMED_BY, ns.PROV_WAS_DERIVED_FROM)
"""How the retrieval graph says who asked: ours, of a step and of a question; TrustGraph's, of either."""


class TraceUnreadable(ValueError):
    """These quads are no trace of a run."""


def read_trace(quads: Iterable[Triple]) -> TraceTree:
    """The run that ``quads`` tell of. Raises TraceUnreadable when they name none."""
    known = Quads(quads)
    run = find_run(known)
    if not run:
        raise TraceUnreadable(
            "no question among these quads: give all quads of one run, as the trace store returns them"
        )
    subjects = [subject for subject in known.subjects if step_kind(known, subject)]
    return TraceTree(
        uri=run,
        mechanism=mechanism_of(known, run),
        question=query_of(known, run),
        asked_at=known.text(run, ns.PROV_STARTED_AT_TIME),
        collection=known.text(run, names.COLLECTION),
        parent=parent_of(known, run),
        state=run_state(known),
        steps=tuple(read_step(known, subject) for subject in _ordered(known, subjects)),
    )


def find_run(known: Quads) -> str:
    """The question of the run, also when its own batch has not arrived; ``""`` when there is none.

    A run whose question names no parent here goes before the runs of its tools.
    """
    asked = [s for s in known.subjects if known.types(s) & {ns.TG_QUESTION, names.RUN}]
    asked.sort(key=lambda s: (parent_of(known, s) in known.subjects, natural(s)))
    if asked:
        return asked[0]
    guesses = sorted({question for subject in known.subjects if (question := run_of_step(subject))})
    return guesses[0] if guesses else ""


def run_of_step(uri: str) -> str:
    """The question's URI that ``uri`` begins with, or that TrustGraph's name for a step means; else ``""``."""
    if found := uris.run_of(uri):
        return uris.question_of(*found)
    head, _, rest = uri.removeprefix("urn:trustgraph:prov:").partition(":")
    if not uri.startswith("urn:trustgraph:prov:") or not rest:
        return ""
    session = rest.partition(":")[0]
    mechanism = "docrag" if head == "chunk" else "question"
    return f"urn:trustgraph:{mechanism}:{session}"


def question_candidates(text: str) -> tuple[str, ...]:
    """What a person may mean by ``text``: a run's URI, that of one of its steps, or a session id of any mechanism."""
    if text.startswith("urn:"):
        return (run_of_step(text) or text,)
    return tuple(uris.question_of(mechanism, text) for mechanism in MECHANISMS)


def mechanism_of(known: Quads, run: str) -> Mechanism:
    """What answered: by the pattern of the question's URI, else by its class, else by what was derived from it."""
    if found := uris.run_of(run):
        return found[0]
    for type_ in sorted(known.types(run)):
        if type_ in _SUBTYPES:
            return _SUBTYPES[type_]
    derived = {type_ for subject in known.subjects for type_ in known.types(subject)}
    if ns.TG_ANALYSIS in derived:
        return "agent"
    chunks = any(
        known.texts(s, ns.TG_CHUNK_COUNT) or known.links(s, ns.TG_SELECTED_CHUNK) for s in known.subjects
    )
    return "document-rag" if chunks else "graph-rag"


def query_of(known: Quads, run: str) -> str:
    """The question's text; ``""`` while it is not known."""
    return known.text(run, ns.TG_QUERY) or known.text(f"{run}/question", ns.PROV_VALUE)


def parent_of(known: Quads, run: str) -> str:
    """The step that asked for this run; ``""`` when a caller did."""
    for predicate in (names.PARENT, *_ASKED_BY):
        if parents := known.links(run, predicate):
            return parents[0]
    return ""


def run_state(known: Quads) -> RunState:
    """How far the run is, by what it ended with. It waits while a pause of it has neither answer nor cancellation."""
    over = resumed_pauses(known)
    states: set[RunState] = {"running"}
    for subject in known.subjects:
        match step_kind(known, subject):
            case "answer" | "conclusion":
                states.add(end_state(known, subject) or "answered")
            case "failure":
                states.add("failed")
            case "pause" if subject not in over:
                states.add("needs_input")
            case "cancelled":
                states.add("cancelled")
            case _:
                continue
    return max(states, key=STATES.index)


def end_state(known: Quads, subject: str) -> RunState | None:
    """The state of a run that ends with ``subject``, an answer or conclusion; None when that is not told here."""
    if outcome := known.text(subject, names.OUTCOME):
        return _OUTCOMES.get(outcome, "answered")
    if reason := known.text(subject, names.TERMINATION) or known.text(subject, ns.TG_TERMINATION_REASON):
        return "failed" if reason in _GIVEN_UP else "answered"
    return None


def resumed_pauses(known: Quads) -> frozenset[str]:
    """The pauses that ended, as ``known`` tells: a person answered or withdrew."""
    return frozenset(
        asked
        for subject in known.subjects
        if step_kind(known, subject) in {"resume", "cancelled"}
        for asked in known.links(subject, ns.PROV_WAS_DERIVED_FROM)
    )


def _ordered(known: Quads, subjects: list[str]) -> list[str]:
    """Steps in the order of their facts. Where a trace tells none, see :func:`_by_sources`."""
    places = {subject: known.integer(known.activity(subject), names.POSITION) for subject in subjects}
    if None in places.values():
        return _by_sources(known, subjects)

    def key(subject: str) -> tuple[int, bool, object]:
        # A failure has the place of the step that failed; what stands there too was tried later.
        return places[subject] or 0, step_kind(known, subject) != "failure", natural(subject)

    return sorted(subjects, key=key)


def _by_sources(known: Quads, subjects: list[str]) -> list[str]:
    """Steps after what they derive from or used; beside each other by time, then by name. Failures end a run."""
    depths: dict[str, int] = {}

    def depth(subject: str, path: frozenset[str]) -> int:
        if subject in path:  # no trace of ours has a circle; a foreign one shall not hang us
            return 0
        if subject not in depths:
            sources = known.sources(subject)
            depths[subject] = max((1 + depth(source, path | {subject}) for source in sources), default=0)
        return depths[subject]

    def key(subject: str) -> tuple[bool, int, str, object]:
        started = known.text(known.activity(subject), ns.PROV_STARTED_AT_TIME)
        failed = step_kind(known, subject) == "failure"
        return failed, depth(subject, frozenset()), started, natural(subject)

    return sorted(subjects, key=key)
