"""Every trace of a thousand generated runs is proven: shapes, ``prov``, PROV-CONSTRAINTS, seals, facts, order.

Hypothesis drives the services: it asks, says what models say, chooses who is next, delivers again, breaks publishing,
answers tickets in time, late, twice or never, and sends dead letters again. CLEW_GENERATED_RUNS says how many examples
there are, all themes together; each holds at least one run.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Coroutine
from dataclasses import replace
from functools import cache
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from clew_schema import topics
from clew_schema.agent import AgentRequest
from clew_schema.envelope import Envelope
from clew_schema.evidence import RetrievalStatus, Route
from clew_schema.facts import Fact, RunFailed
from clew_schema.facts import Stage as RetrievalStage
from clew_schema.retrieval import DocumentRagQuery
from tests.flow import drawn
from tests.flow.drawn import Theme
from tests.flow.generated import PROFILES, Stage
from tests.flow.proving import Run, prove_all

EXAMPLES = int(os.environ.get("CLEW_GENERATED_RUNS", "120"))

MOST = 3
"""Questions of one example."""
DISTURBANCES = ["again"] * 3 + ["break"] * 3 + ["letter"] * 2 + ["clock", "garbage"]
EXPECTED = {
    "fact": (
        *("question_asked", "question_planned", "evidence_retrieved", "evidence_graded", "query_rewritten"),
        *("parts_joined", "budget_exhausted", "run_paused", "run_resumed", "ticket_cancelled"),
        *("answer_written", "tool_chosen", "tool_observed", "concluded", "run_failed"),
    ),
    "mechanism": ("document-rag", "agent"),
    "profile": ("spec True", "trustgraph True", "trustgraph False"),
    "run": ("answered", "no_knowledge", "needs_input", "cancelled", "failed"),
    "route": get_args(Route),
    "status": get_args(RetrievalStatus),
    "stage": get_args(RetrievalStage),
    "outcome": ("answer", "partial", "no_knowledge"),
    "budget": ("rewrites", "rounds"),
    "reason": ("final-answer", "max-iterations"),
    "error_type": (
        *(
            "bad-request",
            "unreadable",
            "forbidden",
            "deadline-exceeded",
            "empty-collection",
            "internal-error",
        ),
        *("retrieval-failed", "model-failed", "model-refused", "model-reply-invalid"),
    ),
    "times": ("redelivered", "broken"),
}
"""What must have occurred: everything that the services of documents and agents can establish."""
THEMES = {
    "any": Theme(name="any", failures=1),
    "parts": Theme(name="parts", questions=drawn.COMPLEX),
    "tickets": Theme(
        name="tickets", questions=drawn.SOUND, grades=st.one_of(drawn.ASKING, drawn.ASKING, drawn.ANY_GRADE)
    ),
    "rewrites": Theme(name="rewrites", questions=drawn.SOUND, grades=drawn.POOR),
    "agents": Theme(name="agents", agents=True),
    "failures": Theme(name="failures", failures=4),
    "failing agents": Theme(name="failing agents", agents=True, failures=3),
}


class Generated(RuleBasedStateMachine):
    """One stage, and what may happen on it."""

    theme: Theme
    tally: Counter[str]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stage: Stage | None = None

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        self.runner.run(work)

    @initialize(
        data=st.data(),
        profile=st.sampled_from(PROFILES),
        given=st.fixed_dictionaries(
            {
                "mode": st.sampled_from(["improved", "improved", "strict"]),
                "always_explain": st.booleans(),
                "ticket_rounds": st.sampled_from([0, 1, 3]),
                "max_attempts": st.sampled_from([1, 2]),
            }
        ),
    )
    def open(self, data: st.DataObject, profile: dict[str, Any], given: dict[str, Any]) -> None:
        self.stage = Stage(self.theme, **profile, **given)
        self.tally[f"profile {self.stage.settings.explained_in} {self.stage.settings.explain_repairs}"] += 1
        self.do(self.stage.open())
        self._ask(data)

    @precondition(lambda self: self.stage.asked < MOST)
    @rule(data=st.data())
    def ask(self, data: st.DataObject) -> None:
        self._ask(data)

    def _ask(self, data: st.DataObject) -> None:
        stage, draw = self._stage(), data.draw
        session = draw(drawn.SESSIONS)
        given: dict[str, Any] = {
            "session_id": f"{session}-{stage.asked}" if session else "",
            "collection": draw(st.sampled_from(["", "other"])),
            "user": draw(drawn.PERSONS),
            "streaming": draw(st.booleans()),
            "parent_uri": draw(drawn.PARENTS),
        }
        envelope = Envelope(
            id=draw(st.sampled_from(["", "c1", 'c"2'])),
            message_id=f"m{stage.asked}",
            traceparent=draw(drawn.TRACEPARENTS),
        )
        if self.theme.failures:
            envelope = replace(
                envelope,
                traced=draw(st.integers(0, 19)) > 0,
                deadline=draw(st.sampled_from([0] * 19 + [1])),
                reply_to=draw(st.sampled_from([""] * 18 + ["mine", "grading-request"])),
            )
        question = draw(self.theme.questions)
        if self.theme.agents:
            group = draw(st.sampled_from([None, None, (), ("default",), ("other",)]))
            request = AgentRequest(question=question, group=group, **given)
            self.do(stage.ask(topics.AGENT_REQUEST, request, envelope))
        else:
            query = DocumentRagQuery(query=question, **given)
            self.do(stage.ask(topics.DOCUMENT_RAG_REQUEST, query, envelope))

    @precondition(lambda self: self.stage.ready())
    @rule(data=st.data(), count=st.sampled_from([1, 2, 3, 5, 40, 40]))
    def go_on(self, data: st.DataObject, count: int) -> None:
        """Handle some messages; which one is next is drawn."""
        stage = self._stage()
        stage.draw = data.draw
        for _ in range(count):
            if ready := stage.ready():
                self.do(stage.handle(data.draw(st.sampled_from(ready))))
        stage.draw = None

    @rule(data=st.data(), what=st.sampled_from(DISTURBANCES))
    def disturb(self, data: st.DataObject, what: str) -> None:
        stage = self._stage()
        stage.draw = data.draw
        match what:
            case "again" if stage.handled:
                which = data.draw(st.integers(0, len(stage.handled) - 1))
                self.do(stage.handle_again(*stage.handled[which]))
            case "break" if ready := stage.ready():
                where, after = data.draw(st.sampled_from(ready)), data.draw(st.integers(0, 3))
                self.do(stage.handle_broken(where, after))
            case "letter":
                self.do(stage.revive(data.draw(st.integers(0, 3))))
            case "clock":
                stage.clock._now -= 7.5
            case "garbage" if self.theme.failures:
                topic = topics.AGENT_REQUEST if self.theme.agents else topics.DOCUMENT_RAG_REQUEST
                self.do(stage.publish(topic, data.draw(drawn.GARBAGE)))
            case _:
                pass
        stage.draw = None

    @precondition(lambda self: self.stage.ledger._tickets)
    @rule(
        data=st.data(),
        late=st.sampled_from([False] * 5 + [True]),
        cancel=st.sampled_from([False, False, True]),
        wrong=st.sampled_from([{}] * 5 + [{"ticket": "nobody's"}, {"collection": "wrong"}]),
    )
    def answer(self, data: st.DataObject, late: bool, cancel: bool, wrong: dict[str, Any]) -> None:
        """Answer a ticket, open or not, twice perhaps; or withdraw."""
        stage = self._stage()
        tickets = self.runner.run(stage.tickets())
        ticket = data.draw(st.sampled_from(sorted(tickets, key=lambda each: each.ticket_id)))
        if late:
            self.runner.run(stage.clock.advance(25 * 3600))
        said: dict[str, Any] = {
            "ticket": ticket.ticket_id,
            "collection": ticket.collection,
            "answer": data.draw(st.sampled_from(["the red one", "乙", "  ", *drawn.HOSTILE[:3]])),
            "cancel": cancel,
            "user": data.draw(drawn.PERSONS),
            "streaming": data.draw(st.booleans()),
        }
        query = DocumentRagQuery(**(said | wrong))
        self.do(stage.ask(topics.DOCUMENT_RAG_REQUEST, query, Envelope(message_id=f"a{stage.asked}")))

    def teardown(self) -> None:
        try:
            if self.stage is not None:
                self.do(self.stage.finish())
                self._prove(self.stage)
                self.do(self.stage.close())
        finally:
            self.runner.close()

    def _stage(self) -> Stage:
        assert self.stage is not None
        return self.stage

    def _prove(self, stage: Stage) -> None:
        for name, payloads in stage.payloads().items():
            assert len(payloads) == 1, f"two messages under one name: {name}"
        told, batches = stage.told(), stage.batches()
        for run in prove_all(batches, stage.settings.explained_in):
            mine = [facts for facts, batch in zip(told, batches, strict=True) if batch in run.batches]
            assert_told(run, mine)
            kept = self.runner.run(stage.traces.run(run.collection, run.uri))
            assert set(kept) == set(run.quads), "the store keeps what was published"
            self._count(run)
        self.tally["times redelivered"] += stage.redelivered
        self.tally["times broken"] += sum(event == "settle_failed" for event, _ in stage.log.events)
        for event, values in stage.log.events:
            if event == "step_buried" and values["error_type"] == "internal-error":
                self.tally[f"bug: {values['error']}"] += 1

    def _count(self, run: Run) -> None:
        self.tally.update(["runs", f"run {run.tree.state}", f"mechanism {run.mechanism}"])
        for fact in run.facts:
            self.tally[f"fact {fact.kind}"] += 1
            for name in (
                "route",
                "status",
                "outcome",
                "stage",
                "resolved_by",
                "error_type",
                "reason",
                "budget",
            ):
                value = getattr(fact, name, "")
                if value and (name != "reason" or fact.kind == "concluded"):
                    self.tally[f"{name} {value}"] += 1


def assert_told(run: Run, told: list[tuple[Fact, ...]]) -> None:
    """What is read back is what was established: each fact once, in its order; failures stand beside it."""
    established: list[Fact] = []
    for facts in told:
        established += [fact for fact in facts if fact not in established]
    failures = [fact for fact in established if isinstance(fact, RunFailed)]
    assert [fact for fact in run.facts if fact not in failures] == [
        fact for fact in established if fact not in failures
    ]
    assert all(fact in run.facts for fact in failures)


@cache
def explored(name: str) -> Counter[str]:
    """What occurred in the runs of a theme, each of them proven."""
    counted: Counter[str] = Counter()

    class Machine(Generated):
        theme = THEMES[name]
        tally = counted

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=max(1, EXAMPLES // len(THEMES)),
            stateful_step_count=20,
            deadline=None,
            derandomize=True,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        ),
    )
    return counted


@pytest.mark.parametrize("name", THEMES)
def test_every_trace_is_proven(name: str) -> None:
    assert explored(name)["runs"] >= EXAMPLES // len(THEMES)


def test_every_kind_of_fact_route_outcome_and_failure_occurs() -> None:
    occurred = sum(map(explored, THEMES), Counter[str]())
    print(dict(sorted(occurred.items())))
    missing = {f"{name} {value}" for name, values in EXPECTED.items() for value in values} - occurred.keys()
    assert not missing
    bugs = {key for key in occurred if key.startswith("bug")} - {"bug: RuntimeError", "bug: ValueError"}
    assert not bugs, "a script says it (RuntimeError), or a quote lies outside of its chunk (ValueError)"
