"""What a caller may write, by mistake or on purpose: every message is answered once, and none goes round for ever."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest

from clew_schema.agent import AgentRequest
from clew_schema.envelope import Envelope
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse, ReturnAddress
from clew_schema.topics import TopicSpace
from clew_services.errors import ModelReplyInvalid
from clew_services.runtime.letter import body_of
from clew_services.runtime.outcome import Outcome
from clew_services.runtime.respond import AgentCaller
from tests.runtime.world import World

QUERY = DocumentRagQuery(query="Does it?", session_id="5e1f", collection="c")
LONG = "x" * 70_000


def types_of(world: World) -> list[str]:
    return [body.error.type if body.error else "" for body, _ in world.told()]


@pytest.mark.parametrize("field", ["session_id", "collection", "parent_uri", "ticket"])
async def test_a_name_beyond_its_bound_is_refused_and_answered(field: str) -> None:
    async with World() as world:
        await world.ask(QUERY.model_copy(update={field: LONG}))
        await world.settle()
        assert types_of(world) == ["bad-request"]
        assert world.backlog() == 0
        assert "settle_failed" not in world.log.names()
        assert not world.asked


async def test_a_name_with_a_control_character_is_refused() -> None:
    async with World() as world:
        await world.ask(QUERY.model_copy(update={"collection": "a\x00b"}))
        await world.settle()
        assert types_of(world) == ["bad-request"]


@pytest.mark.parametrize("name", ["id", "session_id", "message_id", "traceparent"])
async def test_a_property_beyond_its_bound_counts_as_absent(name: str) -> None:
    async with World() as world:
        await world.ask(QUERY, **{name: "x" * 60_000})
        await world.settle()
        assert types_of(world) == [""]
        assert world.backlog() == 0


async def test_a_question_of_megabytes_is_answered_and_its_trace_has_an_end() -> None:
    async def refuse(query: DocumentRagQuery) -> Outcome:
        raise ModelReplyInvalid("no")

    async with World(handler=refuse) as world:
        await world.ask(QUERY.model_copy(update={"query": "q" * 2_500_000}))
        await world.settle()
        assert types_of(world) == ["model-reply-invalid"]
        (batch,) = world.batches()
        assert any("Failure" in (t.o.iri if t.o else "") for t in batch.triples)
        assert len(world.letters()) == 1
        assert "settle_failed" not in world.log.names()


async def test_a_message_too_large_for_one_letter_is_kept_whole_in_several() -> None:
    body = bytes(range(128, 256)) * 27_000
    async with World() as world:
        await world.ask(body)
        await world.settle()
        assert types_of(world) == ["unreadable"]
        first, second = world.letters()
        assert (first.part, first.parts, second.part) == (1, 2, 2)
        assert first.letter_id == second.letter_id
        assert not first.truncated
        assert body_of(first) + body_of(second) == body
        assert (second.payload_bytes, second.payload_sha256) == (len(body), sha256(body).hexdigest())
        assert world.backlog() == 0


@pytest.mark.parametrize(
    "name",
    [
        "document-rag-request",
        "persistent://public/default/document-rag-request",
        "grading-request",
        "agent-observation",
        "dead-letter",
        "explainability",
        "persistent://public/default/document-rag-request.document-rag.retry",
        "persistent://public/default/",
        "bogus://public/default/x",
        "persistent://public/default/a/b",
        "with space",
        "x" * 300,
    ],
)
@pytest.mark.parametrize("tool", [False, True])
async def test_no_answer_becomes_a_request(name: str, tool: bool) -> None:
    if tool and name == "agent-observation":
        return  # there a service waits for its tools
    query = QUERY.model_copy(update={"reply": ReturnAddress(topic=name)}) if tool else QUERY
    async with World() as world:
        await world.ask(query, reply_to="" if tool else name)
        await world.settle()
        assert types_of(world) == ["forbidden"]
        assert not world.asked
        assert len(world.bus.messages(world.space.full("document-rag-request"))) == 1


async def test_a_short_name_is_a_topic_of_ours() -> None:
    async with World() as world:
        await world.ask(QUERY, reply_to="my-replies")
        await world.settle()
        assert not world.told()
        assert len(world.told("my-replies")) == 1


def test_a_tool_brings_back_no_state_of_another_collection() -> None:
    forged = AgentRequest(question="q", session_id="s", collection="theirs").model_dump_json()
    with pytest.raises(ValueError, match="another collection"):
        AgentCaller().run(DocumentRagResponse(collection="mine", session_id="s", state=forged))


async def test_two_callers_who_choose_the_same_id_are_two() -> None:
    async with World() as world:
        await world.ask(QUERY, message_id="1", id="a")
        await world.ask(QUERY.model_copy(update={"query": "And that?"}), message_id="1", id="b")
        await world.ask(QUERY, message_id="1", id="a")
        await world.settle()
        assert len(world.asked) == 2
        assert {envelope.id for _, envelope in world.told()} == {"a", "b"}
        assert len({envelope.message_id for _, envelope in world.told()}) == 2


async def test_numbers_out_of_this_world_are_none() -> None:
    async with World() as world:
        await world.bus.publish(
            _raw(world, {"attempt": "9" * 12, "due": "-5", "deadline": "tomorrow", "id": "caller-1"})
        )
        await world.settle()
        assert types_of(world) == [""]


async def test_a_retry_that_is_due_in_a_thousand_years_is_tried_within_minutes() -> None:
    async with World(honour_delays=False) as world:
        retry = world.space.retry("document-rag-request", "document-rag")
        far = Envelope(id="caller-1", attempt=2, due=99_999_999_999_999, message_id="m").properties()
        await world.bus.publish(_raw(world, far, topic=retry))
        await world.settle()
        assert not world.told()
        await world.clock.advance(301)
        await world.settle()
        assert types_of(world) == [""]


def test_foreign_properties_are_bounded() -> None:
    envelope = Envelope.of({f"p{number}": "v" for number in range(100)} | {"long": LONG, "id": "a"})
    assert envelope.id == "a"
    assert len(envelope.other) == 32
    assert "long" not in envelope.other


@pytest.mark.parametrize("profile", ["clew", "trustgraph"])
def test_services_talk_to_each_other_on_persistent_topics_of_their_own(profile: Any) -> None:
    space = TopicSpace(profile=profile)
    assert space.own("agent-request") == "persistent://public/default/agent-request"
    answers = space.full("agent-response")
    assert space.answerable(answers) == answers
    assert space.answerable(space.full("agent-request")) is None
    assert space.answerable(space.own("agent-request")) is None


async def test_a_log_holds_no_word_of_a_caller() -> None:
    async def bug(query: DocumentRagQuery) -> Outcome:
        raise KeyError(query.query)

    async with World(handler=bug) as world:
        await world.ask(QUERY.model_copy(update={"query": "my secret illness"}))
        await world.ask(b'{"streaming": "my secret illness"}')
        for _ in range(3):
            await world.settle()
            await world.clock.advance(60)
        await world.settle()
        said = json.dumps([(level, name, values) for level, name, values in world.log.events], default=str)
        assert "step_buried" in said
        assert "test_hostile.py" in said, "a bug's place is told"
        assert "secret" not in said


def _raw(world: World, properties: dict[str, str], topic: str = "") -> Any:
    from clew_services.ports import Outgoing
    from clew_translators import bus as wire

    return Outgoing(
        topic=topic or world.space.full("document-rag-request"),
        payload=wire.encode(QUERY),
        properties=properties,
    )
