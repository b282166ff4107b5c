"""One fact being told as PROV-O: what all kinds of fact have in common, and what the facts before it amount to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_schema.facts import (
    BudgetExhausted,
    EvidenceGraded,
    EvidenceRetrieved,
    PartsJoined,
    QueryRewritten,
    QuestionPlanned,
    RunResumed,
)
from clew_translators import namespaces as ns
from clew_translators.explain import names
from clew_translators.explain.record import record_of
from clew_translators.explain.spec import explorations
from clew_translators.explain.statements import parse_time

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew_schema.evidence import Citation, Evidence
    from clew_schema.facts import Fact
    from clew_translators.explain.statements import Statements

PROV_COLLECTION = ns.PROV + "Collection"


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """One fact being told of ``run``, after ``so_far``."""

    say: Statements
    run: str
    collection: str
    so_far: tuple[Fact, ...]

    @property
    def question(self) -> str:
        """The question as an entity; the run, which is an activity, has the seed's name for it."""
        return f"{self.run}/question"

    # --- what every step has in common ------------------------------------------------------------

    def activity(
        self,
        name: str,
        type_: str,
        fact: Fact,
        *,
        used: Iterable[str] = (),
        models: Iterable[str | None] = (),
        person: bool = False,
    ) -> None:
        """The activity that made ``fact`` true. An end before its start (a clock set back) is not told.

        The fact itself stands here too, as a record: what typed terms do not hold, and where it stood in the run.
        """
        say = self.say
        agents = {names.model_of(model): model for model in models if model}
        if service := fact.step.partition(".")[0]:
            agents = {names.service_of(service): service} | agents
        for agent, label in agents.items():
            say.about(agent, ns.PROV_AGENT, ns.PROV_SOFTWARE_AGENT)
            say.text(ns.RDFS_LABEL, label)
        if person:
            say.about(names.ANONYMOUS, ns.PROV_AGENT, ns.PROV_PERSON)
            say.text(ns.RDFS_LABEL, "a person")
        say.about(name, ns.PROV_ACTIVITY, type_)
        say.text(ns.RDFS_LABEL, fact.step)
        say.time(ns.PROV_STARTED_AT_TIME, fact.started_at)
        if type_ != names.RUN and _in_order(fact.started_at, fact.ended_at):
            say.time(ns.PROV_ENDED_AT_TIME, fact.ended_at)
        for agent in agents:
            say.link(ns.PROV_WAS_ASSOCIATED_WITH, agent)
        if person:
            say.link(ns.PROV_WAS_ASSOCIATED_WITH, names.ANONYMOUS)
        for entity in used:
            say.link(ns.PROV_USED, entity)
        say.integer(names.POSITION, len(self.so_far) + 1)
        say.document(names.RECORD, record_of(fact))

    def entity(self, name: str, type_: str, sources: Iterable[str], activity: str = "") -> None:
        """What an activity made: the one of its own name, or ``activity``."""
        self.say.about(name, ns.PROV_ENTITY, type_)
        self.say.link(ns.PROV_WAS_GENERATED_BY, activity or names.activity_of(name))
        for source in sources:
            self.say.link(ns.PROV_WAS_DERIVED_FROM, source)

    def place(self, span: Evidence | Citation) -> None:
        """Where in which document ``span`` stands."""
        say = self.say
        if span.document_id:
            say.link(names.DOCUMENT, names.document_of(span.document_id))
        say.text(names.VERSION, span.version)
        say.text(names.FILENAME, span.filename)
        say.integer(names.PAGE, span.page or None)
        say.integer(names.START, span.start)
        say.integer(names.END, span.end)

    # --- what was established before --------------------------------------------------------------

    def decisions(self, part: int | None = None) -> tuple[str, ...]:
        """The decisions that stand so far: the latest of ``part``, or of each part."""
        latest: dict[int, int] = {}
        for fact in self.so_far:
            if isinstance(fact, EvidenceGraded) and part in {None, fact.part}:
                latest[fact.part] = max(fact.pass_number, latest.get(fact.part, fact.pass_number))
        return tuple(
            names.decision_of(names.exploration_of(self.run, *key)) for key in sorted(latest.items())
        )

    def grounds(self) -> tuple[str, ...]:
        """What the run rests on when it goes on, asks or answers.

        The evidence and the decision of each part, or what these were joined to; and the limits that it met since.
        """
        since: list[str] = []
        joined = False
        for at, fact in enumerate(self.so_far):
            if isinstance(fact, EvidenceRetrieved | EvidenceGraded):
                since, joined = [], False
            elif isinstance(fact, PartsJoined | BudgetExhausted):
                since.append(names.entity_of(fact, self.run, self.so_far[:at]))
                joined = joined or isinstance(fact, PartsJoined)
        if joined:
            return tuple(since)
        return (*explorations(self.so_far, self.run), *self.decisions(), *since)

    def occasions(self, fact: EvidenceRetrieved) -> tuple[str, ...]:
        """Why a retrieval was made: the plan or the part of it, an earlier decision, a rewrite, a person's reply."""
        found: list[str] = []
        reply = ""
        for at, earlier in enumerate(self.so_far):
            match earlier:
                case QuestionPlanned() if fact.part == 0:
                    found.append(names.entity_of(earlier, self.run))
                case QuestionPlanned(parts=parts) if parts and 0 < fact.part <= len(parts):
                    found.append(names.part_of(self.run, fact.part))
                case QueryRewritten() if (earlier.part, earlier.pass_number) == (fact.part, fact.pass_number):
                    found.append(names.entity_of(earlier, self.run))
                case RunResumed() if fact.stage == "hitl_targeted_retrieval":
                    reply = names.entity_of(earlier, self.run, self.so_far[:at])
        return (*found, *self.decisions(fact.part), *([reply] if reply else []))

    def retrieved(self, chunk_id: str) -> tuple[str, ...]:
        """The chunk as the run retrieved it last; nothing when it never did."""
        for fact in reversed(self.so_far):
            if isinstance(fact, EvidenceRetrieved):
                for place, found in enumerate(fact.evidence, start=1):
                    if found.chunk_id == chunk_id:
                        entity = names.exploration_of(self.run, fact.part, fact.pass_number)
                        return (names.evidence_of(entity, place),)
        return ()


def _in_order(start: str, end: str) -> bool:
    began, ended = parse_time(start), parse_time(end)
    return ended is not None and (began is None or began <= ended)
