"""The chat adapter against a model service: whole replies, streams, and values."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import httpx
import pytest

from clew_schema.evidence import Grade
from clew_services.adapters.models.chat_openai import OpenAIChat
from clew_services.adapters.models.json_reply import find_object, strict_schema
from clew_services.adapters.models.model_http import ModelClient, Timeouts
from clew_services.errors import ClewError, ModelFailed, ModelRefused, ModelReplyInvalid
from clew_services.ports import Completion, Usage
from clew_services.runtime.clock import ManualClock
from tests.adapters.chats import KEY, PROMPT, chat_of, chat_saying, streamed
from tests.modelserver import USAGE, Fault, ModelServer, completion, delta, served, sse


async def test_a_whole_reply() -> None:
    chat, server = chat_of("Good day")
    assert await chat.complete(PROMPT) == Completion(
        text="Good day", usage=Usage(model="tiny-1", in_token=7, out_token=3)
    )
    assert server.requests == [
        {
            "path": "/v1/chat/completions",
            "model": "tiny",
            "messages": [
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": "Hello, wörld"},
            ],
            "max_tokens": 50,
            "temperature": 0.0,
        }
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


async def test_services_with_other_fields() -> None:
    server = ModelServer(["x"])
    client = ModelClient(
        base_url="http://model.test", clock=ManualClock(), transport=httpx.ASGITransport(server.app())
    )
    chat = OpenAIChat(
        client, model="m", limit_field="max_completion_tokens", extra={"temperature": None, "seed": 1}
    )
    await chat.complete(PROMPT)
    assert {"max_completion_tokens", "seed"} <= set(server.requests[0])
    assert not {"max_tokens", "temperature"} & set(server.requests[0])
    assert "authorization" not in server.headers[0]  # no key was given


async def test_a_streamed_reply_whose_bytes_are_cut_anywhere() -> None:
    text = "Schöne Grüße, 世界 and 👩‍💻 \u2028 too"
    chat, server = chat_of(text)
    *pieces, usage = await streamed(chat)
    assert "".join(str(piece) for piece in pieces) == text
    assert len(pieces) == len(text.split(" "))
    assert usage == Usage(model="tiny-1", in_token=7, out_token=3)
    assert server.requests[0]["stream_options"] == {"include_usage": True}


async def test_over_a_real_socket_pieces_come_before_the_end_and_calls_can_be_left() -> None:
    server = ModelServer(["one two three", "whole", Fault(drop_after=2)])
    async with served(server) as address:
        client = ModelClient(base_url=address, clock=ManualClock(), api_key=KEY)
        chat = OpenAIChat(client, model="tiny")
        async with aclosing(chat.stream(PROMPT)) as stream:
            assert await anext(stream) == "one "
        assert (await chat.complete(PROMPT)).text == "whole"
        with pytest.raises(ModelFailed, match="ended before"):
            await streamed(chat)
        await client.close()


async def test_an_address_where_nobody_listens() -> None:
    async with served(ModelServer([])) as address:
        gone = address
    client = ModelClient(base_url=gone, clock=ManualClock(), api_key=KEY)
    with pytest.raises(ModelFailed, match="connection failed"):
        await OpenAIChat(client, model="tiny").complete(PROMPT)
    await client.close()


async def test_a_service_that_tells_no_usage() -> None:
    chat, _ = chat_of({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]})
    assert (await chat.complete(PROMPT)).usage == Usage(model="tiny")
    body = sse(delta("x", "stop"))
    chat = chat_saying(lambda _: httpx.Response(200, content=body))
    assert await streamed(chat) == ["x", Usage(model="tiny")]


@pytest.mark.parametrize(
    ("events", "error", "said"),
    [
        ([delta("half")], ModelFailed, "ended before the reply did"),
        ([], ModelFailed, "ended before the reply did"),
        ([delta("half"), {"error": {"message": "out of memory"}}], ModelFailed, "out of memory"),
        ([delta("half"), "{no json"], ModelReplyInvalid, "expected a JSON object"),
        ([delta("half", "length"), "[DONE]"], ModelReplyInvalid, "cut off at max_tokens=50"),
        ([delta("half", "content_filter"), "[DONE]"], ModelRefused, "refused the content"),
        ([{"choices": [{"delta": {"refusal": "I will not"}}]}], ModelRefused, "refused the content"),
        ([delta(" \n"), delta(None, "stop"), USAGE, "[DONE]"], ModelReplyInvalid, "empty reply"),
    ],
)
async def test_streams_that_end_badly(events: list[Any], error: type[ClewError], said: str) -> None:
    chat = chat_saying(lambda _: httpx.Response(200, content=sse(*events)))
    with pytest.raises(error, match=said):
        await streamed(chat)


async def test_a_connection_that_breaks_within_a_stream() -> None:
    class Breaking(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield sse(delta("half"))
            raise httpx.RemoteProtocolError("peer closed connection")

    chat = chat_saying(lambda _: httpx.Response(200, stream=Breaking()))
    async with aclosing(chat.stream(PROMPT)) as stream:
        assert await anext(stream) == "half"
        with pytest.raises(ModelFailed, match="peer closed"):
            await anext(stream)


async def test_a_stream_that_stalls_ends_with_the_total_time_and_not_in_its_readers_hands() -> None:
    class Stalling(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield sse(delta("half"))
            await asyncio.sleep(30)

    chat = chat_saying(lambda _: httpx.Response(200, stream=Stalling()), timeouts=Timeouts(total=0.05))
    async with aclosing(chat.stream(PROMPT)) as stream:
        assert await anext(stream) == "half"
        await asyncio.sleep(0.1)  # the reader takes longer than the call may, and is not disturbed
        with pytest.raises(ModelFailed, match="not done within"):
            await anext(stream)


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (completion("half", finish="length"), ModelReplyInvalid, "cut off"),
        (completion("x", finish="content_filter"), ModelRefused, "refused the content of greeting"),
        (completion(None, refusal="I will not"), ModelRefused, "refused the content"),
        (completion(None), ModelReplyInvalid, "empty reply to greeting"),
        (completion("  "), ModelReplyInvalid, "empty reply"),
        ({}, ModelReplyInvalid, "empty reply"),
        ({"choices": []}, ModelReplyInvalid, "empty reply"),
        ({"choices": ["x"]}, ModelReplyInvalid, "empty reply"),
        ({"choices": [{"message": "x"}]}, ModelReplyInvalid, "empty reply"),
        ({"error": {"message": "overloaded"}}, ModelFailed, "overloaded"),
        (Fault(body=b"<html>welcome</html>"), ModelReplyInvalid, "expected a JSON object, got: <html>"),
        (Fault(body=b"[1]"), ModelReplyInvalid, "expected a JSON object"),
        (Fault(body=b"\xff\xfe"), ModelReplyInvalid, "expected a JSON object"),
    ],
)
async def test_answers_that_are_none(
    answer: dict[str, Any] | Fault, error: type[ClewError], said: str
) -> None:
    chat, _ = chat_of(answer)
    with pytest.raises(error, match=said):
        await chat.complete(PROMPT)


GOOD = {"relevance": "strong", "answerability": "sufficient", "route": "answer", "confidence": 0.5}
GRADE = Grade(relevance="strong", answerability="sufficient", route="answer", confidence=0.5)


async def test_a_value_is_asked_for_by_schema() -> None:
    chat, server = chat_of(json.dumps(GOOD))
    assert await chat.structured(PROMPT, Grade) == (GRADE, Usage(model="tiny-1", in_token=7, out_token=3))
    form = server.requests[0]["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"] == {"name": "Grade", "strict": True, "schema": strict_schema(Grade)}


async def test_a_service_without_schemas_is_asked_in_words_from_then_on() -> None:
    chat, server = chat_of(f"Sure:\n```json\n{json.dumps(GOOD)}\n```", json.dumps(GOOD))
    server.schemas = False
    assert (await chat.structured(PROMPT, Grade))[0] == GRADE
    assert (await chat.structured(PROMPT, Grade))[0] == GRADE
    assert ["response_format" in request for request in server.requests] == [True, False, False]
    system = server.requests[1]["messages"][0]["content"]
    assert system.startswith("Be kind.")
    assert '"multiple_candidates"' in system


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refusal_for_another_reason_is_not_tried_again(status: int) -> None:
    chat, server = chat_of(Fault(status))
    with pytest.raises(ModelRefused):
        await chat.structured(PROMPT, Grade)
    assert len(server.requests) == 1


async def test_a_wrong_value_is_sent_back_with_what_is_wrong() -> None:
    wrong = GOOD | {"relevance": "very", "confidence": "0.5"}
    chat, server = chat_of(json.dumps(wrong), json.dumps(GOOD))
    grade, usage = await chat.structured(PROMPT, Grade)
    assert (grade, usage) == (GRADE, Usage(model="tiny-1", in_token=14, out_token=6))
    *first, reply, told = server.requests[1]["messages"]
    assert first == server.requests[0]["messages"]
    assert reply == {"role": "assistant", "content": json.dumps(wrong)}
    assert told["role"] == "user"
    assert "relevance: Input should be 'none', 'weak' or 'strong'" in told["content"]
    assert "confidence: Input should be a valid number" in told["content"]


async def test_repairs_are_bounded() -> None:
    chat, server = chat_of("prose", "more prose", '{"relevance": "none"}', json.dumps(GOOD))
    with pytest.raises(
        ModelReplyInvalid, match="no Grade for greeting in 3 replies; last: answerability: Field req"
    ):
        await chat.structured(PROMPT, Grade)
    assert len(server.requests) == 3


def test_schemas_are_as_strict_services_want_them() -> None:
    schema = strict_schema(Grade)
    assert schema["required"] == list(Grade.model_fields) == list(schema["properties"])
    assert schema["additionalProperties"] is False
    assert schema["properties"]["relevance"] == {"enum": ["none", "weak", "strong"], "type": "string"}
    assert "default" not in json.dumps(schema)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ('words {"a": "}"} words', '{"a": "}"}'),
        ('<think>{"b": 2}</think>{"a": 1}', '{"a": 1}'),
        ("prose", "prose"),
        ('{"a": ', '{"a": '),
        ("[1]", "[1]"),
    ],
)
def test_objects_are_found_among_words(text: str, found: str) -> None:
    assert find_object(text) == found
