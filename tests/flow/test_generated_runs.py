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
from pathlib import Path
from typing import Any

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
from clew_schema.facts import Fact, RunFailed
from clew_schema.retrieval import DocumentRagQuery
from tests.flow import drawn
from tests.flow.drawn import Theme
from tests.flow.generated import PROFILES, Stage
from tests.flow.proving import Run, prove_all

EXAMPLES = int(os.environ.get("CLEW_GENERATED_RUNS", "120"))

MANY = st.sampled_from(
    ["Compare both threads and analyze how they were used, and what came of it afterwards.", "why is it so?"]
)
THEMES = {
    "any": Theme(name="any", failures=1),
    "parts": Theme(name="parts", questions=MANY),
    "tickets": Theme(name="tickets", grades=st.one_of(drawn.ASKING, drawn.ASKING, drawn.ANY_GRADE)),
    "rewrites": Theme(name="rewrites", grades=st.one_of(drawn.POOR, drawn.CLEAR)),
    "agents": Theme(name="agents", agents=True),
    "failures": Theme(name="failures", failures=4),
    "failing agents": Theme(name="failing agents", agents=True, failures=3),
}


class Generated(RuleBasedStateMachine):
    """One stage, and what may happen on it."""

    theme: Theme
    folder: Path
    tally: Counter[str]
    proven: list[Run]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stage: Stage | None = None

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        self.runner.run(work)

    @initialize(
        data=st.data(),
        profile=st.sampled_from(PROFILES),
        mode=st.sampled_from(["improved", "improved", "strict"]),
        explain=st.booleans(),
        rounds=st.sampled_from([0, 1, 3]),
    )
    def open(
        self, data: st.DataObject, profile: dict[str, Any], mode: str, explain: bool, rounds: int
    ) -> None:
        self.stage = Stage(
            self.theme, self.folder, mode=mode, always_explain=explain, ticket_rounds=rounds, **profile
        )
        self.tally[f"profile {self.stage.settings.explained_in}"] += 1
        self.do(self.stage.open())
        self._ask(data)

    @precondition(lambda self: self.stage.asked < 3)
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

    @precondition(lambda self: self.stage.asked < 3)
    @rule(
        payload=st.sampled_from([b"", b"{}", b"[1]", b'{"query": 1}', b"\xff", b'{"query":"half \\ud800"}'])
    )
    def send_garbage(self, payload: bytes) -> None:
        stage = self._stage()
        stage.asked += 1
        topic = topics.AGENT_REQUEST if self.theme.agents else topics.DOCUMENT_RAG_REQUEST
        self.do(stage.publish(topic, payload))

    @precondition(lambda self: self.stage.ready())
    @rule(data=st.data(), count=st.integers(1, 6))
    def go_on(self, data: st.DataObject, count: int) -> None:
        """Handle some messages; which one is next is drawn."""
        stage = self._stage()
        stage.draw = data.draw
        for _ in range(count):
            if ready := stage.ready():
                self.do(stage.handle(data.draw(st.sampled_from(ready))))
        stage.draw = None

    @precondition(lambda self: self.stage.handled)
    @rule(data=st.data())
    def deliver_again(self, data: st.DataObject) -> None:
        stage = self._stage()
        stage.draw = data.draw
        which = data.draw(st.integers(0, len(stage.handled) - 1))
        self.do(stage.handle_again(*stage.handled[which]))
        stage.draw = None

    @precondition(lambda self: self.stage.ready())
    @rule(data=st.data(), after=st.integers(0, 3))
    def break_publishing(self, data: st.DataObject, after: int) -> None:
        """The broker takes ``after`` messages more, and then none while this one is handled: it comes again."""
        stage = self._stage()
        taken = iter([False] * after)
        stage.failing = lambda _: next(taken, True)
        stage.draw = data.draw
        self.do(stage.handle(data.draw(st.sampled_from(stage.ready()))))
        stage.failing = stage.draw = None

    @rule(
        data=st.data(),
        late=st.sampled_from([False] * 5 + [True]),
        cancel=st.sampled_from([False, False, False, True]),
        wrong=st.sampled_from([{}] * 5 + [{"ticket": "nobody's"}, {"collection": "wrong"}]),
    )
    def answer(self, data: st.DataObject, late: bool, cancel: bool, wrong: dict[str, Any]) -> None:
        """Answer a ticket, open or not, twice perhaps; or withdraw."""
        stage = self._stage()
        tickets = self.runner.run(stage.tickets())
        if not tickets:
            return
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

    @rule(which=st.integers(0, 3))
    def revive(self, which: int) -> None:
        self.do(self._stage().revive(which))

    @rule()
    def set_the_clock_back(self) -> None:
        self._stage().clock._now -= 7.5

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
            self.proven.append(run)
            self._count(run)
        self.tally["redelivered"] += stage.redelivered
        for event, values in stage.log.events:
            if values.get("error_type") == "internal-error" or event == "settle_failed":
                self.tally[f"{event}: {values.get('error')}"[:150]] += 1

    def _count(self, run: Run) -> None:
        if run.tree.state == "running":
            print("RUNNING", run.uri, [f.kind for f in run.facts], self.stage.settings.explained_in, self.stage.settings.explain_repairs)
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


@pytest.mark.parametrize("name", THEMES)
def test_every_trace_is_proven(name: str, tmp_path: Path) -> None:
    tally: Counter[str] = Counter()
    proven: list[Run] = []

    class Machine(Generated):
        theme = THEMES[name]

    Machine.folder, Machine.tally, Machine.proven = tmp_path, tally, proven
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
    print(name, dict(sorted(tally.items())))
