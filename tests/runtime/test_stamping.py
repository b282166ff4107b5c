"""What every fact carries: version and seal, who asked in whose trace, and which letter keeps a failure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clew_schema import topics
from clew_schema.agent import AgentRequest
from clew_schema.facts import AnswerWritten, QuestionAsked, QuestionPlanned, RunFailed
from clew_schema.grading import GradingRequest
from clew_schema.retrieval import DocumentRagQuery
from clew_services.errors import BadRequest, ModelFailed, ModelReplyInvalid
from clew_services.runtime.outcome import Outcome, Send
from clew_services.runtime.respond import AgentCaller
from clew_services.runtime.stamping import traceparent_of
from clew_translators.explain.seal import broken_seals
from tests.runtime.test_process import QUERY, failing
from tests.runtime.world import VERSION, World

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def test_facts_name_the_version_and_are_sealed() -> None:
    async with World() as world:
        await world.ask(QUERY.model_copy(update={"user": "Ada"}), traceparent=TRACEPARENT)
        await world.settle()
        asked, written = world.facts()
        assert isinstance(asked, QuestionAsked)
        assert isinstance(written, AnswerWritten)
        assert (asked.person, asked.traceparent) == ("Ada", TRACEPARENT)
        assert (asked.version, written.version) == ("", VERSION)
        assert not broken_seals((asked, written))
        assert len({asked.seal, written.seal}) == 2


async def test_the_trail_that_travels_carries_the_seals_that_are_told() -> None:
    async def handle(query: DocumentRagQuery) -> Outcome:
        request = GradingRequest(session_id=query.session_id, collection=query.collection, query=query)
        planned = QuestionPlanned(complexity="simple", resolved_by="rule")
        return Outcome(send=(Send(topics.GRADING_REQUEST, request),), facts=(planned,))

    async with World(handler=handle) as world:
        await world.ask(QUERY)
        await world.settle()
        ((request, _),) = world.on(topics.GRADING_REQUEST)
        assert request.trail == world.facts()
        assert not broken_seals(request.trail)


async def test_a_failure_names_its_letter_and_its_attempt() -> None:
    handler = failing(ModelFailed("slow"), ModelReplyInvalid("prose"))
    async with World(handler=handler) as world:
        await world.ask(QUERY)
        await world.settle()
        await world.clock.advance(0.5)
        await world.settle()
        (letter,) = world.letters()
        _, failed = facts = world.facts()
        assert isinstance(failed, RunFailed)
        assert (failed.letter, failed.attempt, failed.version) == (letter.letter_id, 2, VERSION)
        assert not broken_seals(facts)


async def test_a_letter_that_is_sent_again_breaks_no_seal() -> None:
    async with World(handler=failing(ModelReplyInvalid("prose"))) as world:
        await world.ask(QUERY, traceparent=TRACEPARENT)
        await world.settle()
        (letter,) = world.letters()
        await world.clock.advance(60)
        await world.consumer.stop()
        packer = replace(world.processor.packer, version="the one that repairs it")
        world.consumer = world.new_consumer(replace(world.processor, packer=packer))
        await world.consumer.start()
        await world.ask(QUERY, traceparent=TRACEPARENT, asked_at=letter.started_at)
        await world.settle()
        facts = world.facts()
        assert [type(fact) for fact in facts] == [QuestionAsked, RunFailed, AnswerWritten]
        assert not broken_seals(facts)


async def test_a_refusal_is_kept_in_no_letter() -> None:
    async with World(handler=failing(BadRequest("no"))) as world:
        await world.ask(QUERY)
        await world.settle()
        failed = world.facts()[-1]
        assert isinstance(failed, RunFailed)
        assert (failed.letter, failed.attempt) == ("", 1)


def test_who_asks_an_agent_is_kept() -> None:
    opening = AgentCaller().opening(AgentRequest(question="q", user="Ada"))
    assert opening is not None
    assert (opening.person, opening.query) == ("Ada", "q")


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (TRACEPARENT, TRACEPARENT),
        (f"cc{TRACEPARENT[2:]}-what-the-future-will-be-like", f"cc{TRACEPARENT[2:]}"),
        (f"{TRACEPARENT}-more", ""),  # version 00 has no more
        (f"{TRACEPARENT}0", ""),
        (f"ff{TRACEPARENT[2:]}", ""),
        (TRACEPARENT.upper(), ""),
        (TRACEPARENT.replace("0af7651916cd43dd8448eb211c80319c", "0" * 32), ""),
        (TRACEPARENT.replace("b7ad6b7169203331", "0" * 16), ""),
        ("00-ab-cd-01", ""),
        ("", ""),
    ],
)
def test_what_is_no_traceparent_is_not_kept(written: str, kept: str) -> None:
    assert traceparent_of(written) == kept
