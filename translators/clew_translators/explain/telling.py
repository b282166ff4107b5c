"""One fact being told as PROV-O: what all kinds of fact have in common, and what the facts before it amount to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from clew_schema.facts import (
    BudgetExhausted,
    EdgesRetrieved,
    EdgesSelected,
    EvidenceGraded,
    EvidenceRetrieved,
    PartsJoined,
    PlanMade,
    QueryRewritten,
    QuestionDecomposed,
    QuestionPlanned,
    RunResumed,
    ToolObserved,
)
from clew_translators import namespaces as ns
from clew_translators import uris
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


class _Counted(Protocol):
    """A fact that models were asked for."""

    @property
    def in_token(self) -> int | None: ...
    @property
    def out_token(self) -> int | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """One fact being told of ``run``, after ``so_far``; with its ``texts``, where no other graph has them."""

    say: Statements
    run: str
    collection: str
    so_far: tuple[Fact, ...]
    texts: bool = False

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
        prompt: str = "",
        person: str = "",
    ) -> None:
        """The activity that made ``fact`` true. An end before its start (a clock set back) is not told.

        ``prompt`` is what the last of ``models`` went by; ``person`` is the name, as an agent, of who took part. The
        fact itself stands here too, as a record: what typed terms do not hold, its place in the run, and its seal.
        """
        say = self.say
        agents = self.agents(fact, models)
        if person:
            agents.append(person)
        say.about(name, ns.PROV_ACTIVITY, type_)
        say.text(ns.RDFS_LABEL, fact.step)
        say.time(ns.PROV_STARTED_AT_TIME, fact.started_at)
        if type_ != names.RUN and _in_order(fact.started_at, fact.ended_at):
            say.time(ns.PROV_ENDED_AT_TIME, fact.ended_at)
        for agent in agents:
            say.link(ns.PROV_WAS_ASSOCIATED_WITH, agent)
        for entity in used:
            say.link(ns.PROV_USED, entity)
        say.integer(names.POSITION, len(self.so_far) + 1)
        say.document(names.RECORD, record_of(fact))
        if fact.seal:
            say.text(names.SEAL, fact.seal)
            say.text(names.PREVIOUS_SEAL, self.so_far[-1].seal if self.so_far else "")
        if prompt and agents:
            self._went_by(prompt, name, agents[-1])

    def agents(self, fact: Fact, models: Iterable[str | None]) -> list[str]:
        """The service of the step, in its version, and the models that took part: described, and by name."""
        say = self.say
        found = []
        if service := fact.step.partition(".")[0]:
            found.append(names.service_of(service, fact.version))
            say.about(found[0], ns.PROV_AGENT, ns.PROV_SOFTWARE_AGENT)
            say.text(ns.RDFS_LABEL, service)
            say.text(names.VERSION, fact.version)
        for model in models:
            if model and (agent := names.model_of(model)) not in found:
                say.about(agent, ns.PROV_AGENT, ns.PROV_SOFTWARE_AGENT)
                say.text(ns.RDFS_LABEL, model)
                found.append(agent)
        return found

    def person(self, name: str) -> str:
        """A person as an agent: described, and by its IRI."""
        agent = names.person_of(name)
        self.say.about(agent, ns.PROV_AGENT, ns.PROV_PERSON)
        self.say.text(ns.RDFS_LABEL, name or "a person")
        return agent

    def _went_by(self, prompt: str, activity: str, agent: str) -> None:
        say, plan, association = (
            self.say,
            names.prompt_of(prompt),
            names.association_of(activity, agent, prompt),
        )
        say.link(ns.PROV_QUALIFIED_ASSOCIATION, association)
        say.about(association, ns.PROV_ASSOCIATION)
        say.link(ns.PROV_AGENT_PROPERTY, agent)
        say.link(ns.PROV_HAD_PLAN, plan)
        say.about(plan, ns.PROV_ENTITY, ns.PROV_PLAN)
        say.text(names.PROMPT_VERSION, prompt)
        say.about(activity)

    def entity(self, name: str, type_: str, sources: Iterable[str], activity: str = "") -> None:
        """What an activity made: the one of its own name, or ``activity``."""
        self.say.about(name, ns.PROV_ENTITY, type_)
        self.say.link(ns.PROV_WAS_GENERATED_BY, activity or names.activity_of(name))
        for source in sources:
            self.say.link(ns.PROV_WAS_DERIVED_FROM, source)

    def tokens(self, fact: _Counted) -> None:
        """What a model read and wrote for ``fact``, when its service said."""
        self.say.integer(names.IN_TOKEN, fact.in_token)
        self.say.integer(names.OUT_TOKEN, fact.out_token)

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
        return (*explorations(self.so_far, self.run), *self.edges(), *self.decisions(), *since)

    def edges(self) -> tuple[str, ...]:
        """The edges of a knowledge graph that the run came to: those that were selected, else those retrieved."""
        if any(isinstance(fact, EdgesSelected) for fact in self.so_far):
            return (uris.focus_of(self.run),)
        return self.edges_retrieved()

    def edges_retrieved(self) -> tuple[str, ...]:
        """The edges that were found; nothing when nobody looked."""
        looked = any(isinstance(fact, EdgesRetrieved) for fact in self.so_far)
        return (uris.exploration_of(self.run),) if looked else ()

    def observations(self, number: int, uses: Iterable[int]) -> tuple[str, ...]:
        """What step ``number`` of an agent builds on: what it saw in the iterations ``uses``, and the one right before.

        None but those that the run told of; the latest stands for the one right before when that was not.
        """
        seen = {
            fact.number for fact in self.so_far if isinstance(fact, ToolObserved) and fact.number < number
        }
        if not seen:
            return ()
        return tuple(
            uris.observation_of(self.run, used) for used in sorted(seen.intersection(uses) | {max(seen)})
        )

    def evidence_count(self, part: int, pass_number: int) -> int:
        """How many pieces of evidence the retrieval of that part and pass returned; 0 when it was not told."""
        for fact in self.so_far:
            if isinstance(fact, EvidenceRetrieved) and (fact.part, fact.pass_number) == (part, pass_number):
                return len(fact.evidence)
        return 0

    def planned_step(self, number: int) -> tuple[str, ...]:
        """The ``number``-th step of the plan; nothing when it has no such step."""
        for fact in self.so_far:
            if isinstance(fact, PlanMade) and 1 <= number <= len(fact.steps):
                return (names.planned_step_of(names.entity_of(fact, self.run), number),)
        return ()

    def goal(self, number: int) -> tuple[str, ...]:
        """The ``number``-th goal that other agents were given; nothing when there is no such one."""
        for fact in self.so_far:
            if isinstance(fact, QuestionDecomposed) and 1 <= number <= len(fact.goals):
                return (names.goal_of(names.entity_of(fact, self.run), number),)
        return ()

    def entities(self, *kinds: type[Fact]) -> tuple[str, ...]:
        """The entities of all facts of these kinds, in their order. Kinds that are not numbered by what was before."""
        return tuple(names.entity_of(fact, self.run) for fact in self.so_far if isinstance(fact, kinds))

    def told_last(self, *kinds: type[Fact]) -> tuple[str, ...]:
        """The entity of the latest fact of these kinds; nothing when there is none."""
        for at in range(len(self.so_far) - 1, -1, -1):
            if isinstance(self.so_far[at], kinds):
                return (names.entity_of(self.so_far[at], self.run, self.so_far[:at]),)
        return ()

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


def run_at(name: str) -> str:
    """``name`` when it is that of a run, which is an activity; else ``""``."""
    found = uris.run_of(name)
    return name if found and uris.question_of(*found) == name else ""


def entity_at(name: str) -> str:
    """``name`` when it is that of an entity of a run; else ``""``."""
    # What stands below an activity is how somebody took part in it.
    is_none = run_at(name) or f"{names.activity_of('')}/" in f"{name}/"
    return "" if is_none or uris.run_of(name) is None else name


def _in_order(start: str, end: str) -> bool:
    began, ended = parse_time(start), parse_time(end)
    return ended is not None and (began is None or began <= ended)
