"""The chat adapter against a model service: what comes back, what goes wrong, and what never shows."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from itertools import pairwise
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.evidence import Grade
from clew_services.adapters.breaker import Breaker
from clew_services.adapters.chat_openai import OpenAIChat
from clew_services.adapters.json_reply import find_object, strict_schema
from clew_services.adapters.model_http import ModelClient, Timeouts, retry_after
from clew_services.adapters.sse import SseDecoder
from clew_services.errors import ClewError, ModelBusy, ModelFailed, ModelRefused, ModelReplyInvalid
from clew_services.ports import Completion, Prompt, Usage
from clew_services.runtime.clock import ManualClock
from tests.modelserver import USAGE, Fault, ModelServer, completion, delta, served, sse

KEY = "sk-verysecret-0123456789"
PROMPT = Prompt(name="greeting", system="Be kind.", user="Hello, wörld", max_tokens=50)
GOOD = {"relevance": "strong", "answerability": "sufficient", "route": "answer", "confidence": 0.5}
GRADE = Grade(relevance="strong", answerability="sufficient", route="answer", confidence=0.5)


def chat_to(
    transport: httpx.AsyncBaseTransport, *, clock: ManualClock | None = None, **options: Any
) -> OpenAIChat:
    clock = clock or ManualClock()
    client = ModelClient(
        base_url="http://model.test/v1", clock=clock, api_key=KEY, transport=transport, **options
    )
    return OpenAIChat(client, model="tiny")


def chat_of(*script: str | dict[str, Any] | Fault, **options: Any) -> tuple[OpenAIChat, ModelServer]:
    server = ModelServer(list(script))
    return chat_to(httpx.ASGITransport(server.app()), **options), server


def chat_saying(handler: Callable[[httpx.Request], httpx.Response], **options: Any) -> OpenAIChat:
    return chat_to(httpx.MockTransport(handler), **options)


async def streamed(chat: OpenAIChat, prompt: Prompt = PROMPT) -> list[str | Usage]:
    return [piece async for piece in chat.stream(prompt)]


# --- replies --------------------------------------------------------------------------------------


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


# --- failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "headers", "error", "wait"),
    [
        (400, {}, ModelRefused, None),
        (401, {}, ModelRefused, None),
        (403, {}, ModelRefused, None),
        (404, {}, ModelRefused, None),
        (307, {"location": "https://elsewhere"}, ModelRefused, None),
        (408, {}, ModelFailed, None),
        (429, {}, ModelBusy, None),
        (429, {"retry-after": "7"}, ModelBusy, 7.0),
        (429, {"retry-after": "soon"}, ModelBusy, None),
        (503, {"retry-after": "Thu, 01 Jan 2026 00:01:30 GMT"}, ModelBusy, 90.0),
        (500, {}, ModelFailed, None),
        (502, {}, ModelFailed, None),
        (503, {}, ModelFailed, None),
    ],
)
@pytest.mark.parametrize("way", ["complete", "stream"])
async def test_statuses(
    status: int, headers: dict[str, str], error: type[ClewError], wait: float | None, way: str
) -> None:
    chat, _ = chat_of(Fault(status=status, headers=headers))
    with pytest.raises(
        error, match=f"model.test/v1/chat/completions: HTTP {status}: .*made to fail"
    ) as caught:
        await (chat.complete(PROMPT) if way == "complete" else streamed(chat))
    assert type(caught.value) is error or error is ModelRefused
    assert caught.value.retry_after == wait


async def test_a_quota_that_no_waiting_refills_is_a_refusal() -> None:
    chat, _ = chat_of(Fault(429, {"retry-after": "1"}, b'{"error": {"code": "insufficient_quota"}}'))
    with pytest.raises(ModelRefused):
        await chat.complete(PROMPT)


async def test_of_an_endless_error_only_the_beginning_is_read() -> None:
    sent = 0

    class Endless(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            nonlocal sent
            while True:
                sent += 1
                yield b"x" * 1024

    with pytest.raises(ModelFailed, match=r"HTTP 500: x{200}…$"):
        await chat_saying(lambda _: httpx.Response(500, stream=Endless())).complete(PROMPT)
    assert sent < 100


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0),
        ("1.5", 1.5),
        ("Thu, 01 Jan 2026 00:00:10 GMT", 10.0),
        ("Wed, 31 Dec 2025 00:00:00 GMT", 0.0),
        ("Thu, 01 Jan 2026 00:00:10 -0000", 10.0),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        ("Thu, 99 Foo 2026", None),
    ],
)
def test_retry_after(header: str, seconds: float | None) -> None:
    assert retry_after(header, ManualClock().now()) == seconds


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (httpx.ConnectTimeout("slow"), "no answer in time .connect 5 s"),
        (httpx.ReadTimeout("slow"), "no answer in time"),
        (httpx.ConnectError("refused"), "connection failed: refused"),
        (httpx.RemoteProtocolError(""), "connection failed: RemoteProtocolError"),
        (httpx.DecodingError("bad gzip"), "connection failed: bad gzip"),
    ],
)
async def test_broken_connections(raised: httpx.HTTPError, said: str) -> None:
    def handler(_: httpx.Request) -> httpx.Response:
        raise raised

    with pytest.raises(ModelFailed, match=said):
        await chat_saying(handler).complete(PROMPT)


async def test_a_call_ends_with_its_total_time() -> None:
    chat, _ = chat_of(Fault(delay=30), timeouts=Timeouts(total=0.05))
    with pytest.raises(ModelFailed, match=r"not done within 0\.05 s"):
        await chat.complete(PROMPT)


# --- what never shows -----------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 401, 500])
async def test_the_key_is_in_no_message(status: int) -> None:
    echo = f"bad key {KEY} in Authorization: Bearer {KEY}, api_key=other-secret " + "x" * 500
    chat, _ = chat_of(Fault(status, body=echo.encode()))
    with pytest.raises(ClewError) as caught:
        await chat.complete(PROMPT)
    message = str(caught.value)
    assert "verysecret" not in message
    assert "other-secret" not in message
    assert "***" in message
    assert len(message) < 320


async def test_a_key_that_looks_like_none_is_not_shown_either() -> None:
    body = b'{"detail": "plainword123 is not allowed"}'
    client = ModelClient(
        base_url="http://model.test",
        clock=ManualClock(),
        api_key=" plainword123\n",  # as files of secrets end
        transport=httpx.MockTransport(lambda _: httpx.Response(403, content=body)),
    )
    with pytest.raises(ModelRefused, match=r'HTTP 403: \{"detail": "\*\*\* is not allowed"\}'):
        await OpenAIChat(client, model="m").complete(PROMPT)


async def test_a_key_at_the_cut_is_not_shown_in_part() -> None:
    chat, _ = chat_of(Fault(500, body=("x" * 190 + " " + KEY).encode()))
    with pytest.raises(ModelFailed) as caught:
        await chat.complete(PROMPT)
    assert "sk-" not in str(caught.value)


def test_the_key_is_in_no_repr() -> None:
    client = ModelClient(
        base_url="https://me:hunter22@model.test/v1?token=t0p", clock=ManualClock(), api_key=KEY
    )
    shown = (
        repr(client)
        + str(client)
        + client.where
        + repr(vars(client))
        + repr(vars(OpenAIChat(client, model="m")))
    )
    for secret in (KEY, "hunter22", "t0p"):
        assert secret not in shown


@pytest.mark.parametrize("key", ["schlüssel-geheim", "two\nlines-geheim"])
def test_a_key_that_no_header_carries_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ValueError, match="API key") as caught:
        ModelClient(base_url="http://model.test", clock=ManualClock(), api_key=key)
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["", "model.test/v1", "ftp://model.test", "http://", "http://model.test:port"]
)
def test_an_address_that_can_never_work_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="address"):
        ModelClient(base_url=address, clock=ManualClock())


@pytest.mark.parametrize(
    ("address", "where"),
    [
        ("http://model.test", "http://model.test/v1"),
        ("http://model.test/", "http://model.test/v1"),
        ("http://model.test:8000/v1/", "http://model.test:8000/v1"),
        ("https://model.test/api/paas/v4", "https://model.test/api/paas/v4"),
    ],
)
async def test_where_calls_go(address: str, where: str) -> None:
    seen: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(str(request.url))
        return httpx.Response(200, json=completion("x"))

    client = ModelClient(base_url=address, clock=ManualClock(), transport=httpx.MockTransport(handler))
    await OpenAIChat(client, model="m").complete(PROMPT)
    assert client.where == where
    assert seen == [f"{where}/chat/completions"]


# --- limits ---------------------------------------------------------------------------------------


async def test_no_more_calls_at_a_time_than_allowed() -> None:
    running, most = 0, 0

    async def handler(_: httpx.Request) -> httpx.Response:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return httpx.Response(200, json=completion("x"))

    chat = chat_to(httpx.MockTransport(handler), concurrency=3)
    async with asyncio.timeout(5):
        await asyncio.gather(*(chat.complete(PROMPT) for _ in range(10)))
    assert most == 3


async def test_streams_that_are_left_give_their_slot_back() -> None:
    chat, _ = chat_of("a b c", "d", concurrency=1)
    async with aclosing(chat.stream(PROMPT)) as stream:
        await anext(stream)
    async with asyncio.timeout(5):
        assert (await chat.complete(PROMPT)).text == "d"


async def test_a_service_that_is_down_is_left_alone_for_a_while() -> None:
    clock = ManualClock()
    breaker = Breaker(clock, failures=2, pause=10)
    chat, server = chat_of(Fault(500), Fault(500), Fault(500), "back", "still", clock=clock, breaker=breaker)
    for _ in range(2):
        with pytest.raises(ModelFailed):
            await chat.complete(PROMPT)
    await clock.advance(4)
    with pytest.raises(ModelBusy, match="2 times in a row") as caught:
        await chat.complete(PROMPT)
    assert caught.value.retry_after == 6
    assert len(server.requests) == 2
    await clock.advance(6)
    with pytest.raises(ModelFailed):  # the one that may try fails: closed to all again
        await chat.complete(PROMPT)
    with pytest.raises(ModelBusy):
        await streamed(chat)
    assert len(server.requests) == 3
    await clock.advance(10)
    assert [(await chat.complete(PROMPT)).text for _ in range(2)] == ["back", "still"]


async def test_while_one_call_tries_the_others_wait_outside() -> None:
    clock = ManualClock()
    breaker = Breaker(clock, failures=1, pause=10)
    breaker.failed()
    await clock.advance(10)
    breaker.admit("m")
    with pytest.raises(ModelBusy):
        breaker.admit("m")
    breaker.succeeded()
    breaker.admit("m")


@pytest.mark.parametrize(("failures", "pause"), [(0, 10), (5, 0)])
def test_a_breaker_that_never_closes_or_never_opens(failures: int, pause: float) -> None:
    with pytest.raises(ValueError, match="failures >= 1 and pause > 0"):
        Breaker(ManualClock(), failures=failures, pause=pause)


async def test_a_refusal_is_no_sign_of_being_down() -> None:
    clock = ManualClock()
    breaker = Breaker(clock, failures=2)
    chat, _ = chat_of(Fault(500), Fault(401), Fault(500), "up", clock=clock, breaker=breaker)
    for _ in range(3):
        with pytest.raises(ClewError):
            await chat.complete(PROMPT)
    assert (await chat.complete(PROMPT)).text == "up"


# --- values ---------------------------------------------------------------------------------------


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


# --- server-sent events ---------------------------------------------------------------------------


def decoded(chunks: list[bytes]) -> list[str]:
    decoder = SseDecoder()
    return [data for chunk in chunks for data in decoder.feed(chunk)] + decoder.close()


@pytest.mark.parametrize(
    ("raw", "events"),
    [
        (b"data: a\n\ndata:b\n\n", ["a", "b"]),
        (b"data: a\r\n\r\ndata: b\r\rdata: c", ["a", "b", "c"]),
        (b"data: a\r\ndata: b\r\n\r\n", ["a\nb"]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b"event: x\nid: 1\n: hello\nretry: 5\ndata: a\ndata: b\n\n: bye\n\n", ["a\nb"]),
        ("data: \u2028\x85\x0b\n\n".encode(), ["\u2028\x85\x0b"]),
        (b"data\n\n", [""]),
        (b"data:  two\n\n", [" two"]),
        (b"data: \xff\n\n", ["\ufffd"]),
        (b"\n\n\n", []),
    ],
)
def test_events_are_read_as_the_standard_says(raw: bytes, events: list[str]) -> None:
    assert decoded([raw]) == events
    assert decoded([raw[i : i + 1] for i in range(len(raw))]) == events


@given(
    lines=st.lists(
        st.sampled_from(["data: é", "data:世", ": c", "", "event: e", "data"]) | st.text(max_size=5),
        max_size=8,
    ),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    places=st.lists(st.integers(0, 60), max_size=6),
)
def test_cuts_between_bytes_change_nothing(lines: list[str], end: str, places: list[int]) -> None:
    raw = end.join(lines).encode()
    cuts = [0, *sorted(min(p, len(raw)) for p in places), len(raw)]
    assert decoded([raw[a:b] for a, b in pairwise(cuts)]) == decoded([raw])
