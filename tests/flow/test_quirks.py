"""Mode improved, quirk by quirk, through the real consumers: what SuperMew does, and what a person gets instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clew_schema.facts import (
    BudgetExhausted,
    EvidenceGraded,
    EvidenceRetrieved,
    Mode,
    PartsJoined,
    QueryRewritten,
    QuestionPlanned,
)
from clew_services.core import rewriting
from clew_services.core.answer import Draft
from clew_services.core.rewriting import RewriteReply
from clew_services.errors import RetrievalFailed
from clew_services.ports import Found, Search
from tests.core import supermew_nodes as nodes
from tests.core.supermew_run import Ran, Script
from tests.flow.supermew_services import Conversation, Failed, Refusing, Services

WEAK = {"relevance": "weak", "answerability": "sufficient", "route": "answer", "confidence": 0.6}
UNSURE = nodes.SUPPORTED | {"route": "clarify", "ambiguity": "missing_slot", "missing_slots": ["version"]}


def script(*grades: dict[str, Any], **given: Any) -> Script:
    """Finds c1 first and c9 with other words."""
    found = {nodes.QUESTION: nodes.docs("c1"), "甲题": nodes.docs("a1"), "乙题": nodes.docs("b1")}
    base = {"retrieval": found | {"*": nodes.docs("c9")}, "rewrite_output": nodes.STEP_BACK}
    return Script(base | {"grader_outputs": list(grades)} | given)


def planned(first: dict[str, Any], second: dict[str, Any], **given: Any) -> Script:
    """A complex question of two parts, with a grade for each."""
    return script(planner_output=nodes.PLAN, grader_outputs={"甲题": first, "乙题": second}, **given)


async def ask(tmp: Path, told: Script, mode: Mode = "improved", question: str = nodes.QUESTION) -> Ran:
    return await Services(tmp, told, mode).ask(question)


def outcome(ran: Ran) -> tuple[str | None, str]:
    """What the caller is told, and by which rule that was decided."""
    assert ran.response is not None
    return ran.response.outcome, ran.run.verdict.resolved_by


# --- what the grade decides ------------------------------------------------------------------------


async def test_q01_an_answer_that_leaves_a_part_out_is_partial_and_says_which(tmp_path: Path) -> None:
    told = planned(nodes.SUPPORTED, nodes.OFF_TOPIC)
    strict = await ask(tmp_path / "s", told, "strict", nodes.HARD)
    assert outcome(strict)[0] == "answer"
    ran = await ask(tmp_path / "i", planned(nodes.SUPPORTED, nodes.OFF_TOPIC), question=nodes.HARD)
    assert outcome(ran)[0] == "partial"
    assert ran.response is not None
    assert ran.response.ext is not None
    assert ran.response.ext["coverage_gap_questions"] == ["乙题"]
    (joined,) = (fact for fact in ran.facts if isinstance(fact, PartsJoined))
    assert [(gap.part, gap.code) for gap in joined.gaps] == [(2, "no_knowledge")]


@pytest.mark.parametrize("mode", ["strict", "improved"])
async def test_q02_weak_but_sufficient_is_one_rule_for_the_whole_and_for_a_part(
    tmp_path: Path, mode: Mode
) -> None:
    whole = outcome(await ask(tmp_path / "w", script(WEAK), mode))
    ran = await ask(tmp_path / "p", planned(WEAK, nodes.OFF_TOPIC), mode, nodes.HARD)
    part = ran.run.branches[1].graded
    assert part is not None
    if mode == "strict":
        assert (whole[0], part.status) == ("no_knowledge", "answerable")
    else:
        assert whole == ("partial", "I04-weak-but-sufficient")
        assert (part.resolved_by, part.status) == ("I04-weak-but-sufficient", "partial")


async def test_q03_supported_evidence_is_not_rewritten_away(tmp_path: Path) -> None:
    grade = nodes.SUPPORTED | {"route": "rewrite"}
    strict = await ask(tmp_path / "s", script(nodes.PARTIAL, grade), "strict")
    assert outcome(strict)[0] == "no_knowledge"
    assert outcome(await ask(tmp_path / "i", script(grade))) == ("answer", "I01-supported-answer")


async def test_q04_a_doubt_about_supported_evidence_is_an_assumption_not_a_question(tmp_path: Path) -> None:
    assert outcome(await ask(tmp_path / "s", script(UNSURE), "strict"))[0] == "needs_clarification"
    assert outcome(await ask(tmp_path / "i", script(UNSURE))) == ("answer", "I01-supported-answer")


@pytest.mark.parametrize(
    ("grade", "ends"),
    [
        (
            {"route": "clarify", "missing_slots": ["版本"], "hitl_prompt": "哪个版本？"},
            ("needs_clarification", "I02-named-slots"),
        ),
        (
            {"route": "scope_select", "hitl_options": ["甲", "乙"]},
            ("needs_scope_selection", "I03-named-options"),
        ),
    ],
)
async def test_q04_what_the_grader_names_as_missing_is_asked_for(
    tmp_path: Path, grade: dict[str, Any], ends: tuple[str, str]
) -> None:
    weak = {"relevance": "weak", "answerability": "partial", "confidence": 0.5}
    assert outcome(await ask(tmp_path, script(weak | grade))) == ends


async def test_q06_the_graders_own_suggestion_is_kept_beside_the_decision(tmp_path: Path) -> None:
    ran = await ask(tmp_path, script(nodes.SUPPORTED | {"route": "no_knowledge"}))
    graded = ran.until(EvidenceGraded).facts[-1]
    assert isinstance(graded, EvidenceGraded)
    assert (graded.grade.route, graded.route, graded.resolved_by) == (
        "no_knowledge",
        "answer",
        "I01-supported-answer",
    )
    assert ran.response is not None
    assert ran.response.ext is not None
    (grade,) = ran.response.ext["grades"]
    assert (grade["suggested_route"], grade["route"]) == ("no_knowledge", "answer")


# --- rewriting --------------------------------------------------------------------------------------


async def test_q07_a_rewrite_never_ends_lower_than_before_it(tmp_path: Path) -> None:
    """The second recall is empty, and the first had something: strict forgets it."""
    empty = {"retrieval": {nodes.QUESTION: nodes.docs("c1"), "*": []}}
    strict = await ask(tmp_path / "s", script(nodes.PARTIAL, **empty), "strict")
    assert outcome(strict)[0] == "no_knowledge"
    ran = await ask(tmp_path / "i", script(nodes.PARTIAL, **empty))
    assert outcome(ran) == ("needs_clarification", "R08-rewritten-partial")
    graded = ran.run.branches[0].graded
    assert graded is not None
    assert (graded.pass_number, graded.kept_pass, graded.grade.relevance) == (2, 1, "none")


async def test_q07_a_better_second_pass_replaces_the_first(tmp_path: Path) -> None:
    ran = await ask(tmp_path, script(nodes.PARTIAL, nodes.SUPPORTED))
    assert outcome(ran)[0] == "answer"
    assert nodes.names(ran.run.verdict.evidence) == ["c9"]


@pytest.mark.parametrize(
    ("reply", "dense", "sparse"),
    [
        (RewriteReply(method="step_back", step_back_question="general?"), "q\ngeneral?", "q\ngeneral?"),
        (RewriteReply(method="hyde", hyde_document="It is so."), "It is so.", "q"),
    ],
)
def test_q08_each_leg_gets_its_own_words(reply: RewriteReply, dense: str, sparse: str) -> None:
    made = rewriting.compose("q", reply)
    ours = rewriting.search("q", made, "improved")
    assert (ours.question, ours.dense, ours.sparse, ours.rerank) == (made.query, dense, sparse, "q")
    echo = rewriting.search("q", made, "improved", echoes=True)
    assert (echo.dense, echo.sparse, echo.rerank) == ("q", f"q\n{made.text}", "q")
    strict = rewriting.search("q", made, "strict")
    assert {strict.dense, strict.sparse, strict.rerank} == {made.query}


# --- errors -----------------------------------------------------------------------------------------


async def test_q14_a_part_that_cannot_be_graded_is_a_gap_not_the_end(tmp_path: Path) -> None:
    nonsense: dict[str, Any] = {"relevance": "strong"}
    with pytest.raises(Failed):
        await ask(tmp_path / "s", Refusing(planned(nodes.SUPPORTED, nonsense).given), "strict", nodes.HARD)
    ran = await ask(tmp_path / "i", Refusing(planned(nodes.SUPPORTED, nonsense).given), question=nodes.HARD)
    assert outcome(ran)[0] == "partial"
    (joined,) = (fact for fact in ran.facts if isinstance(fact, PartsJoined))
    assert [(gap.part, gap.code) for gap in joined.gaps] == [(2, "model-reply-invalid")]


async def test_q14_parts_of_which_none_can_be_graded_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="model-reply-invalid"):
        await ask(tmp_path, Refusing(planned({}, {}).given), question=nodes.HARD)


async def test_q14_a_rewriter_that_refuses_costs_no_evidence(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="model-refused"):
        await ask(tmp_path / "s", script(nodes.PARTIAL, rewrite_output="raise"), "strict")
    ran = await ask(tmp_path / "i", script(nodes.PARTIAL, rewrite_output="raise"))
    assert ran.response is not None
    assert ran.response.outcome == "partial"
    (spent,) = (fact for fact in ran.facts if isinstance(fact, BudgetExhausted))
    assert spent.resolved_by == "I05-rewriter-unavailable"


# --- planning ---------------------------------------------------------------------------------------


def complex_of(*parts: str) -> dict[str, Any]:
    return {"complexity": "complex", "reason": "r", "sub_questions": list(parts)}


async def test_q15_too_many_parts_are_dropped_and_counted(tmp_path: Path) -> None:
    grades = dict.fromkeys("abcd", nodes.SUPPORTED)
    told = script(planner_output=complex_of(*"abcdef"), grader_outputs=grades)
    with pytest.raises(Failed):
        await ask(tmp_path / "s", told, "strict", nodes.HARD)
    ran = await ask(tmp_path / "i", told, question=nodes.HARD)
    plan = plan_of(ran)
    assert (plan.parts, plan.dropped, plan.resolved_by) == (tuple("abcd"), 2, "P04-parts-dropped")
    assert outcome(ran)[0] == "answer"


async def test_q15_a_question_with_one_part_is_simple(tmp_path: Path) -> None:
    told = script(nodes.SUPPORTED, planner_output=complex_of("甲题"))
    ran = await ask(tmp_path, told, question=nodes.HARD)
    assert (plan_of(ran).complexity, plan_of(ran).resolved_by) == ("simple", "P03-one-part")
    assert told.calls[1] == f"retrieve:{nodes.HARD}"


async def test_q15_without_a_planner_a_question_is_simple(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="model-refused"):
        await ask(tmp_path / "s", script(nodes.SUPPORTED), "strict", nodes.HARD)
    ran = await ask(tmp_path / "i", script(nodes.SUPPORTED), question=nodes.HARD)
    assert plan_of(ran).reason == "planner_unavailable"
    assert outcome(ran)[0] == "answer"


def plan_of(ran: Ran) -> QuestionPlanned:
    (plan,) = (fact for fact in ran.facts if isinstance(fact, QuestionPlanned))
    return plan


# --- a person's answers -----------------------------------------------------------------------------

ASKS = nodes.PARTIAL | {"ambiguity": "missing_slot", "route": "clarify", "hitl_prompt": "哪个？"}


async def test_q09_a_resumed_run_may_rewrite(tmp_path: Path) -> None:
    strict = await Services(tmp_path / "s", script(nodes.PARTIAL, nodes.SUPPORTED), "strict").answer(
        nodes.SNAPSHOT, "丹瑾"
    )
    assert strict.response is not None
    assert strict.response.outcome == "partial", "answered from the weak evidence, as needs_rewrite"
    assert not any(isinstance(fact, QueryRewritten) for fact in strict.facts)
    ran = await Services(tmp_path / "i", script(nodes.PARTIAL, nodes.SUPPORTED), "improved").answer(
        nodes.SNAPSHOT, "丹瑾"
    )
    assert outcome(ran)[0] == "answer"
    assert any(isinstance(fact, QueryRewritten) for fact in ran.facts)


async def test_q09_q13_of_a_complex_question_only_the_parts_that_waited_are_asked_again(
    tmp_path: Path,
) -> None:
    """The first part is off topic, the second waits: only that is looked up again, and the parts are joined anew."""
    services = Conversation(tmp_path, planned(nodes.OFF_TOPIC, ASKS))
    async with services:
        paused = await services.say(nodes.HARD)
        assert paused.outcome == "needs_clarification"
        services.script.given["grader_outputs"]["丹瑾：乙题"] = nodes.SUPPORTED
        done = await services.reply(paused.ticket, "丹瑾")
        assert done.outcome == "partial"
        assert [call for call in services.script.calls if call.startswith("retrieve:")][2:] == [
            "retrieve:丹瑾：乙题"
        ]
        found = [fact for fact in services.facts(done.session_id) if isinstance(fact, EvidenceRetrieved)]
        assert [(each.part, each.pass_number) for each in found] == [(1, 1), (2, 1), (2, 2)]
        assert done.rag_trace is not None
        assert done.rag_trace["sub_agent_count"] == 2


async def test_q10_a_run_asks_a_bounded_number_of_times(tmp_path: Path) -> None:
    async with Conversation(tmp_path, script(ASKS, ASKS, ASKS), ticket_rounds=2) as services:
        first = await services.say(nodes.QUESTION)
        second = await services.reply(first.ticket, "甲")
        assert second.outcome == "needs_clarification"
        assert second.ticket not in {"", first.ticket}
        last = await services.reply(second.ticket, "乙")
        assert (last.outcome, last.ticket) == ("partial", "")
        (spent,) = (fact for fact in services.facts(last.session_id) if isinstance(fact, BudgetExhausted))
        assert (spent.budget, spent.spent, spent.resolved_by) == ("rounds", 2, "I07-rounds-exhausted")


async def test_q10_another_question_is_no_answer(tmp_path: Path) -> None:
    async with Conversation(tmp_path, script(ASKS, nodes.SUPPORTED)) as services:
        paused = await services.say(nodes.QUESTION)
        other = await services.say("丹恒是谁？")
        assert other.outcome == "answer"
        assert services.script.calls[-2] == "retrieve:丹恒是谁？"
        assert paused.session_id != other.session_id


async def test_q11_q12_answers_are_kept_in_their_order_before_the_first_question(tmp_path: Path) -> None:
    """Strict drops an answer that stands in the question, and nests the others."""
    question = "丹瑾和丹恒谁更高？"
    told = script(ASKS, ASKS, nodes.SUPPORTED, planner_output=nodes.SIMPLE_PLAN)
    async with Conversation(tmp_path, told) as services:
        first = await services.say(question)
        second = await services.reply(first.ticket, "丹瑾")
        await services.reply(second.ticket, "v2")
    assert [call for call in told.calls if call.startswith("retrieve:")] == [
        f"retrieve:{question}",
        f"retrieve:丹瑾：{question}",
        f"retrieve:丹瑾；v2：{question}",
    ]


# --- evidence ---------------------------------------------------------------------------------------


async def test_q17_what_did_not_fit_into_the_graders_budget_is_told(tmp_path: Path) -> None:
    long = [doc | {"text": "一句话。" * 3_000} for doc in nodes.docs("c1", "c2", "c3")]
    told = script(nodes.SUPPORTED, retrieval={"*": long})
    ran = await ask(tmp_path, told)
    graded = ran.run.branches[0].graded
    assert graded is not None
    assert (graded.omitted, graded.truncated) == (1, 0)
    strict = (await ask(tmp_path / "s", script(nodes.SUPPORTED, retrieval={"*": long}), "strict")).run
    assert strict.branches[0].graded is not None
    assert strict.branches[0].graded.omitted == 0


@pytest.mark.parametrize("mode", ["strict", "improved"])
async def test_q18_an_outage_is_never_told_as_nothing_known(tmp_path: Path, mode: Mode) -> None:
    with pytest.raises(Failed, match="retrieval-failed"):
        await ask(tmp_path, Out(script(nodes.SUPPORTED).given), mode)


class Out(Script):
    """A store that does not answer."""

    async def retrieve(
        self, collection: str, search: Search, *, doc_limit: int = 0, fetch_limit: int = 0
    ) -> Found:
        raise RetrievalFailed("the store does not answer")


async def test_q24_every_pass_has_its_record(tmp_path: Path) -> None:
    ran = await ask(tmp_path, script(nodes.PARTIAL, nodes.SUPPORTED))
    assert ran.response is not None
    assert ran.response.ext is not None
    assert [(each["part"], each["pass"]) for each in ran.response.ext["retrievals"]] == [(0, 1), (0, 2)]


async def test_q29_a_citation_that_does_not_exist_is_found_out(tmp_path: Path) -> None:
    async with Conversation(tmp_path, Inventive(script(nodes.SUPPORTED).given)) as services:
        answer = await services.say(nodes.QUESTION)
        assert [(check.number, check.verdict) for check in answer.checks] == [(7, "unsupported")]
        assert answer.coverage == 0.0
        assert answer.ext is not None
        (piece,) = answer.ext["evidence"]
        assert (piece["chunk_id"], piece["number"]) == ("c1", 1)


class Inventive(Script):
    """A writer that cites what nobody gave it."""

    async def write(self, *args: Any, **more: Any) -> Draft:
        del args, more
        return Draft(text="丹瑾的属性是湮灭，这里说得很清楚。[7]")


async def test_q30_evidence_that_was_refused_is_not_counted_as_accepted(tmp_path: Path) -> None:
    ran = await ask(tmp_path, script(nodes.OFF_TOPIC))
    assert ran.response is not None
    assert ran.response.rag_trace is not None
    assert len(ran.response.rag_trace["retrieved_chunks"]) == 1, "as SuperMew's record has it"
    assert ran.response.ext is not None
    assert [each["disposition"] for each in ran.response.ext["evidence"]] == ["rejected"]
