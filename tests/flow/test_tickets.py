"""A pause that waits for a person: answered, cancelled, too late, twice, from the wrong place, over a restart."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from clew_schema.facts import QuestionAsked, RunPaused, RunResumed, TicketCancelled
from clew_schema.retrieval import DocumentRagQuery
from clew_services.adapters.bus.memory import MemoryBus
from clew_services.adapters.stores.ledger_sql import SqlLedger
from clew_services.runtime.clock import SystemClock
from clew_translators.explain.seal import broken_seals
from tests.core import supermew_nodes as nodes
from tests.core.supermew_run import Script
from tests.flow.proving import prove_all
from tests.flow.supermew_services import Conversation

ASKS = nodes.PARTIAL | {"ambiguity": "missing_slot", "route": "clarify", "hitl_prompt": "哪个？"}
CHOICE = ASKS | {"ambiguity": "multiple_candidates", "hitl_options": [" 甲 ", "", "乙"]}


def script(*grades: dict[str, Any], **given: Any) -> Script:
    return Script({"retrieval": {"*": nodes.docs("c1")}, "grader_outputs": list(grades)} | given)


async def test_a_run_goes_on_where_it_waited(tmp_path: Path) -> None:
    async with Conversation(tmp_path, script(CHOICE, nodes.SUPPORTED)) as services:
        paused = await services.say(nodes.QUESTION)
        assert (paused.outcome, paused.response, paused.options) == (
            "needs_scope_selection",
            "哪个？",
            ("甲", "乙"),
        )
        assert paused.rag_trace is not None
        assert paused.rag_trace["retrieved_chunks"] == []
        assert paused.ext is not None
        assert paused.ext["hitl_resume_state"]["question"] == nodes.QUESTION
        done = await services.reply(paused.ticket, "乙", user="Ada")
        assert (done.outcome, done.ticket) == ("answer", "")
        assert done.session_id == paused.session_id
        assert done.rag_trace is not None
        assert done.rag_trace["hitl_answer"] == "乙"
        facts = services.facts(paused.session_id)
        kinds = [type(fact) for fact in facts]
        assert kinds.count(RunPaused) == kinds.count(RunResumed) == 1
        assert [fact.person for fact in facts if isinstance(fact, QuestionAsked | RunResumed)] == ["", "Ada"]
        assert not broken_seals(facts), "the chain goes on where the run rested"
        tree = services.house.trace(f"urn:trustgraph:docrag:{paused.session_id}")
        assert tree.state == "answered"


async def test_a_pause_survives_a_restart_of_everything_but_the_database(tmp_path: Path) -> None:
    async def turn(told: Script) -> Conversation:
        ledger = SqlLedger(f"sqlite:///{tmp_path}/ledger.sqlite3")
        await ledger.open()
        return Conversation(tmp_path, told, ledger=ledger, bus=MemoryBus(SystemClock()), proves=False)

    first = await turn(script(ASKS))
    async with first:
        paused = await first.say(nodes.QUESTION)
    await first.house.ledger.close()
    second = await turn(script(nodes.SUPPORTED))
    async with second:
        done = await second.reply(paused.ticket, "丹瑾")
        assert (done.outcome, done.session_id) == ("answer", paused.session_id)
        assert second.script.calls[0] == f"retrieve:丹瑾：{nodes.QUESTION}"
    await second.house.ledger.close()
    batches = [batch for each in (first, second) for batch in each.house.published("explainability")]
    (run,) = prove_all(batches, "spec")
    assert run.tree.state == "answered"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"collection": "another"}, "unknown-ticket"),
        ({"ticket": "nobody's"}, "unknown-ticket"),
        ({"answer": "   "}, "bad-request"),
    ],
)
async def test_an_answer_to_the_wrong_place_changes_nothing(
    tmp_path: Path, change: dict[str, str], error: str
) -> None:
    async with Conversation(tmp_path, script(ASKS, nodes.SUPPORTED)) as services:
        paused = await services.say(nodes.QUESTION)
        wrong = await services.reply(**({"ticket": paused.ticket, "answer": "丹瑾"} | change))
        assert wrong.error is not None
        assert wrong.error.type == error
        assert nodes.QUESTION not in wrong.error.message
        assert (await services.reply(paused.ticket, "丹瑾")).outcome == "answer"


async def test_a_second_answer_is_told_that_there_was_a_first(tmp_path: Path) -> None:
    async with Conversation(tmp_path, script(ASKS, nodes.SUPPORTED)) as services:
        paused = await services.say(nodes.QUESTION)
        await services.reply(paused.ticket, "丹瑾")
        again = await services.reply(paused.ticket, "丹瑾")
        assert again.error is not None
        assert again.error.type == "ticket-closed"
        assert "was answered at 20" in again.error.message


async def test_of_two_answers_at_once_one_counts(tmp_path: Path) -> None:
    async with Conversation(tmp_path, script(ASKS, nodes.SUPPORTED, nodes.SUPPORTED)) as services:
        paused = await services.say(nodes.QUESTION)
        both = await asyncio.gather(*(services.reply(paused.ticket, each) for each in ("甲", "乙")))
        told = sorted(each.error.type if each.error else str(each.outcome) for each in both)
        assert told == ["answer", "ticket-closed"]
        resumed = [f for f in services.facts(paused.session_id) if isinstance(f, RunResumed)]
        assert len(resumed) == 1


async def test_a_late_answer_is_refused(tmp_path: Path) -> None:
    async with Conversation(tmp_path, script(ASKS), ticket_hours=1e-9) as services:
        paused = await services.say(nodes.QUESTION)
        await asyncio.sleep(0.01)
        late = await services.reply(paused.ticket, "丹瑾")
        assert late.error is not None
        assert late.error.type == "ticket-expired"


async def test_a_person_may_withdraw(tmp_path: Path) -> None:
    async with Conversation(tmp_path, script(ASKS)) as services:
        paused = await services.say(nodes.QUESTION)
        gone = await services.reply(paused.ticket, "", cancel=True, user="Ada")
        assert (gone.outcome, gone.error, gone.end_of_session) == ("cancelled", None, True)
        facts = services.facts(paused.session_id)
        assert isinstance(facts[-1], TicketCancelled)
        assert facts[-1].person == "Ada"
        assert not broken_seals(facts)
        assert services.house.trace(f"urn:trustgraph:docrag:{paused.session_id}").state == "cancelled"
        late = await services.reply(paused.ticket, "丹瑾")
        assert late.error is not None
        assert late.error.type == "ticket-closed"


async def test_whoever_answers_may_stream_what_the_asker_did_not(tmp_path: Path) -> None:
    async with Conversation(tmp_path, script(ASKS, nodes.SUPPORTED)) as services:
        paused = await services.say(nodes.QUESTION)
        query = DocumentRagQuery(collection="c", ticket=paused.ticket, answer="丹瑾", streaming=True)
        heard = [each.body async for each in services.house.client.ask(query, timeout=10)]
        assert [each.message_type for each in heard][-1] == "end"
        assert sum(each.message_type == "explain" for each in heard) == 3
