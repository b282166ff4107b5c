"""Any run as the services may establish one: with any values in its facts, in steps of any size."""

from datetime import datetime
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from clew_schema.facts import (
    AnswerWritten,
    BudgetExhausted,
    Concluded,
    EdgesRetrieved,
    EdgesSelected,
    EvidenceGraded,
    EvidenceRetrieved,
    Fact,
    FindingReceived,
    Mechanism,
    PartsJoined,
    PatternChosen,
    PlanMade,
    PlanStepDone,
    QueryRewritten,
    QuestionAsked,
    QuestionDecomposed,
    QuestionGrounded,
    QuestionPlanned,
    RunFailed,
    RunPaused,
    RunResumed,
    TicketCancelled,
    ToolChosen,
    ToolObserved,
)
from clew_translators.explain.seal import sealed
from tests.translators.strategies import TEXT, messages

Steps = tuple[tuple[Fact, ...], ...]

_INSTANTS = st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31))  # noqa: DTZ001 - the zone is written behind
TIMES = st.one_of(_INSTANTS.map(lambda time: f"{time.isoformat()}Z"), st.just(""), TEXT)
_RUN = "urn:trustgraph:docrag:other"
NAMES = st.one_of(
    st.sampled_from(
        [_RUN, f"{_RUN}/synthesis", f"{_RUN}/i1", f"{_RUN}/i1/activity", "urn:trustgraph:agent:s"]
    ),
    TEXT,
)
"""What a field that names something of another run may hold."""

_ALWAYS: dict[str, st.SearchStrategy[Any]] = {"started_at": TIMES, "ended_at": TIMES, "seal": st.just("")}
_NAMES = ("parent_uri", "trace_uri", "trace_end")


class _Course:
    """Facts as they are drawn, one after the other."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.facts: list[Fact] = []

    def add(self, kind: type[Any], **fixed: Any) -> None:
        given = {**_ALWAYS, **{name: NAMES for name in _NAMES if name in kind.model_fields}}
        given |= {name: st.just(value) for name, value in fixed.items()}
        self.facts.append(self.draw(messages(kind, **given)))

    def maybe(self, *kinds: type[Any]) -> None:
        """One of ``kinds``, or none."""
        if (kind := self.draw(st.sampled_from([*kinds, None]))) is not None:
            self.add(kind)

    def steps(self) -> Steps:
        """Cut into steps, and sealed or not."""
        facts = self.facts
        whole = sealed(facts) if self.draw(st.booleans()) else tuple(facts)
        cuts = sorted(self.draw(st.sets(st.integers(1, len(facts)), max_size=3)) | {0, len(facts)})
        return tuple(whole[a:b] for a, b in pairwise(cuts))


@st.composite
def document_runs(draw: st.DrawFn) -> Steps:
    """Questions to documents: in parts or not, rewritten, paused, resumed, withdrawn, answered, failed."""
    run = _Course(draw)
    run.add(QuestionAsked)
    run.maybe(QuestionPlanned)
    parts = draw(st.sampled_from([(0,), (1, 2)]))
    passes = dict.fromkeys(parts, 0)
    for round_ in range(1, draw(st.integers(1, 3)) + 1):
        for part in parts:
            for _ in range(draw(st.integers(0, 2))):
                passes[part] += 1
                where = {"part": part, "pass_number": passes[part]}
                if passes[part] > 1 and draw(st.booleans()):
                    run.add(QueryRewritten, **where)
                run.add(EvidenceRetrieved, **where)
                run.add(EvidenceGraded, **where, kept_pass=draw(st.integers(0, passes[part] - 1)))
        for kind in draw(st.lists(st.sampled_from([PartsJoined, BudgetExhausted]), max_size=2)):
            run.add(kind)
        if not draw(st.booleans()):
            break
        run.add(RunPaused, round=round_, ticket=f"ticket {round_}")
        run.add(draw(st.sampled_from([RunResumed, TicketCancelled])), ticket=f"ticket {round_}")
    run.maybe(AnswerWritten, RunFailed)
    return run.steps()


@st.composite
def agent_runs(draw: st.DrawFn) -> Steps:
    """Agents: step by step, by a plan, or by asking others."""
    run = _Course(draw)
    run.add(QuestionAsked)
    run.maybe(PatternChosen)
    run.maybe(PlanMade, QuestionDecomposed)
    for number in range(1, draw(st.integers(0, 3)) + 1):
        match draw(st.sampled_from(["iteration", "step", "finding"])):
            case "iteration":
                uses = tuple(draw(st.sets(st.integers(1, number))))
                run.add(ToolChosen, number=number, uses=uses)
                run.add(ToolObserved, number=number)
            case "step":
                run.add(PlanStepDone, number=number)
            case _:
                run.add(FindingReceived, number=number)
    run.maybe(Concluded, RunFailed)
    return run.steps()


@st.composite
def graph_runs(draw: st.DrawFn) -> Steps:
    """Questions to a knowledge graph."""
    run = _Course(draw)
    run.add(QuestionAsked)
    for kind in (QuestionGrounded, EdgesRetrieved, EdgesSelected):
        run.maybe(kind)
    run.maybe(AnswerWritten, RunFailed)
    return run.steps()


_BY_MECHANISM: dict[Mechanism, st.SearchStrategy[Steps]] = {
    "document-rag": document_runs(),
    "agent": agent_runs(),
    "graph-rag": graph_runs(),
}
ANY_RUN: st.SearchStrategy[tuple[Mechanism, Steps]] = st.one_of(
    [st.tuples(st.just(mechanism), steps) for mechanism, steps in _BY_MECHANISM.items()]
)
"""A mechanism, and the facts of each step of a run of it."""
