"""What a store must know of a batch to find its run again, and to list it, without reading the run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypedDict
from urllib.parse import unquote

from clew_schema.limits import DEFAULT_COLLECTION
from clew_translators import namespaces as ns
from clew_translators import trace
from clew_translators.explain import names
from clew_translators.trace_quads import Quads
from clew_translators.trace_steps import step_kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew_schema.facts import Mechanism
    from clew_schema.rdf import Triples
    from clew_translators.trace_tree import RunState


_PERSON = "urn:clew:person:"


class _Course(TypedDict):
    ends: frozenset[RunState]
    answers: frozenset[str]
    ended: frozenset[str]
    waits: frozenset[str]
    resumed: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """One batch, in short. What it does not tell is empty: only a run's first batch has ``asked_at`` and ``query``.

    ``subjects`` are what the batch speaks of; ``parent`` is the step that asked for the run, when it is a tool's.
    ``waits`` are the pauses that the batch tells of, ``resumed`` those that ended: a run needs input while one of all
    its batches' ``waits`` is in no batch's ``resumed``.

    ``person`` is the IRI of who asked; ``persons`` are those of all who are known by name and took part. ``ends`` are
    the states that the batch tells in so many words, ``answers`` the answers that it tells of, and ``ended`` those of
    which it tells what they came to: another batch may do that (profile ``trustgraph``), or none (TrustGraph itself).
    """

    run: str
    collection: str
    mechanism: Mechanism
    subjects: frozenset[str]
    query: str = ""
    asked_at: str = ""
    parent: str = ""
    state: RunState = "running"
    waits: frozenset[str] = frozenset()
    resumed: frozenset[str] = frozenset()
    person: str = ""
    persons: frozenset[str] = frozenset()
    ends: frozenset[RunState] = frozenset()
    answers: frozenset[str] = frozenset()
    ended: frozenset[str] = frozenset()

    @property
    def parent_run(self) -> str:
        """The run whose tool asked for this one; ``""`` when a caller did."""
        return run_at(self.parent)


def state_of(
    ends: Iterable[str],
    *,
    answers: frozenset[str],
    ended: frozenset[str],
    waits: frozenset[str],
    resumed: frozenset[str],
) -> RunState:
    """How far a run is, by what all its digests tell; as :func:`clew_translators.trace.run_state` says of its quads.

    Whatever their order: an answer of which nobody tells what it came to counts as one, and a pause that nobody ended
    waits.
    """
    states = {"running", *ends}
    if waits - resumed:
        states.add("needs_input")
    if answers - ended:
        states.add("answered")
    return max((state for state in trace.STATES if state in states), key=trace.STATES.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A run, by the digests of those of its batches that came so far, whatever their order and however often."""

    run: str
    collection: str
    mechanism: Mechanism
    query: str = ""
    asked_at: str = ""
    parent: str = ""
    person: str = ""
    persons: frozenset[str] = frozenset()
    ends: frozenset[RunState] = frozenset()
    answers: frozenset[str] = frozenset()
    ended: frozenset[str] = frozenset()
    waits: frozenset[str] = frozenset()
    resumed: frozenset[str] = frozenset()

    @property
    def state(self) -> RunState:
        """How far the run is; the same as :func:`clew_translators.trace.run_state` says of all its quads."""
        return state_of(
            self.ends, answers=self.answers, ended=self.ended, waits=self.waits, resumed=self.resumed
        )

    @property
    def parent_run(self) -> str:
        """The run whose tool asked for this one; ``""`` when a caller did."""
        return run_at(self.parent)

    def with_batch(self, told: Digest) -> Summary:
        """What is known with one more batch. Of two that contradict each other one wins, always the same."""
        # What the batch of the question tells is known; of a foreign run every other batch may mislead.
        surer = bool(told.asked_at) - bool(self.asked_at)
        mechanism = told.mechanism if surer > 0 else self.mechanism
        return replace(
            self,
            mechanism=mechanism if surer else max(self.mechanism, told.mechanism),
            query=max(self.query, told.query),
            asked_at=min(filter(None, (self.asked_at, told.asked_at)), default=""),
            parent=max(self.parent, told.parent),
            person=max(self.person, told.person),
            persons=self.persons | told.persons,
            ends=self.ends | told.ends,
            answers=self.answers | told.answers,
            ended=self.ended | told.ended,
            waits=self.waits | told.waits,
            resumed=self.resumed | told.resumed,
        )


def summary(told: Digest) -> Summary:
    """A run of which one batch came."""
    return Summary(run=told.run, collection=told.collection, mechanism=told.mechanism).with_batch(told)


def digest(batch: Triples) -> Digest | None:
    """``batch`` in short; None when it is of no run (knowledge that TrustGraph extracts travels on the same topic)."""
    known = Quads(batch.triples)
    metadata = batch.metadata
    run = (metadata.root if metadata else "") or (trace.run_of_step(metadata.id) if metadata else "")
    run = run or trace.find_run(known)
    if not run:
        return None
    course = _course(known)
    return Digest(
        run=run,
        collection=collection_of(metadata.collection if metadata else ""),
        mechanism=trace.mechanism_of(known, run),
        subjects=frozenset(known.subjects),
        query=trace.query_of(known, run),
        asked_at=known.text(run, ns.PROV_STARTED_AT_TIME) or _failed_at(known, run),
        parent=trace.parent_of(known, run),
        state=state_of(**course),
        person=min(_persons(known, (run, f"{run}/question")), default=""),
        persons=_persons(known, known.subjects),
        **course,
    )


def _course(known: Quads) -> _Course:
    """Pauses, answers and ends: what :func:`state_of` takes."""
    ends: set[RunState] = set()
    answers, ended, waits, resumed = set(), set(), set(), set()
    for subject in known.subjects:
        kind = step_kind(known, subject)
        if kind in {"answer", "conclusion"}:
            answers.add(subject)
        if state := trace.end_state(known, subject):
            ends.add(state)
            ended.add(subject)
        if kind == "failure":
            ends.add("failed")
        if kind == "cancelled":
            ends.add("cancelled")
        if kind == "pause":
            waits.add(subject)
        if kind in {"resume", "cancelled"}:
            resumed.update(known.links(subject, ns.PROV_WAS_DERIVED_FROM))
    return {
        "ends": frozenset(ends),
        "answers": frozenset(answers),
        "ended": frozenset(ended),
        "waits": frozenset(waits),
        "resumed": frozenset(resumed),
    }


def run_at(step: str) -> str:
    """The run that ``step`` belongs to; a name of another system's stands for itself."""
    return trace.run_of_step(step) or step


def name_of_person(iri: str) -> str:
    """The name that a person's IRI stands for; ``""`` for no person's."""
    return unquote(iri.removeprefix(_PERSON), errors="replace") if _is_named(iri) else ""


def person_of(name: str) -> str:
    """The IRI of the person who goes by ``name``."""
    return names.person_of(name)


def _persons(known: Quads, subjects: Iterable[str]) -> frozenset[str]:
    return frozenset(
        agent
        for subject in subjects
        for predicate in (ns.PROV_WAS_ASSOCIATED_WITH, ns.PROV_WAS_ATTRIBUTED_TO)
        for term in known.objects(subject, predicate)
        if _is_named(agent := term.iri)
    )


def _is_named(agent: str) -> bool:
    return agent.startswith(_PERSON) and agent != names.ANONYMOUS


def _failed_at(known: Quads, run: str) -> str:
    """When a request failed that nobody could read: its run is told with no beginning."""
    if names.RUN not in known.types(run):
        return ""
    failing = (subject for subject in known.subjects if names.FAILING in known.types(subject))
    return min((known.text(each, ns.PROV_STARTED_AT_TIME) for each in failing), default="")


def collection_of(name: str) -> str:
    """The collection that ``name`` means: an empty name is the default one."""
    return name or DEFAULT_COLLECTION
