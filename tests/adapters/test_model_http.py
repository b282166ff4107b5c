"""The connection to a model's service: what goes wrong, what never shows, and its limits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import httpx
import pytest

from clew_services.adapters.models.breaker import Breaker
from clew_services.adapters.models.chat_openai import OpenAIChat
from clew_services.adapters.models.model_http import ModelClient, Timeouts, retry_after
from clew_services.errors import ClewError, ModelBusy, ModelFailed, ModelRefused
from clew_services.runtime.clock import ManualClock
from tests.adapters.chats import KEY, PROMPT, chat_of, chat_saying, chat_to, streamed
from tests.modelserver import Fault, completion


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
