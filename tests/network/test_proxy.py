"""Each ill of the proxy is what it says: seen from a client and a server of a few lines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from tests.network.proxy import (
    CUT,
    DEAF_CLIENT,
    DEAF_SERVER,
    DRIP,
    LATE,
    PAUSED,
    REFUSING,
    WELL,
    Ill,
    Proxy,
    between,
)

SOON = 0.3
"""Seconds in which the loopback would have brought anything."""


class Echo:
    """Sends back what it gets, and remembers it."""

    def __init__(self) -> None:
        self.heard = b""
        self.ended = asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await reader.read(65_536):
                self.heard += piece
                writer.write(piece)
                await writer.drain()
        self.ended.set()
        writer.close()


@asynccontextmanager
async def echoing() -> AsyncIterator[tuple[Proxy, Echo]]:
    echo = Echo()
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    async with server, between("127.0.0.1", server.sockets[0].getsockname()[1]) as proxy:
        yield proxy, echo


@asynccontextmanager
async def connected(proxy: Proxy) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.listens)
    try:
        writer.write(b"hello")
        assert await reader.readexactly(5) == b"hello"
        yield reader, writer
    finally:
        writer.close()


async def nothing_comes(reader: asyncio.StreamReader) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(SOON):
            await reader.read(1)
            return False
    return True


async def end_of(reader: asyncio.StreamReader) -> int:
    """How many bytes come before the stream ends, in whatever way."""
    count = 0
    with suppress(ConnectionError):
        while piece := await reader.read(100):
            count += len(piece)
    return count


async def ends(proxy: Proxy) -> bool:
    """Whether a new connection carries nothing and ends."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.listens)
        writer.write(b"x")
    except ConnectionError:
        return True
    try:
        return await asyncio.wait_for(end_of(reader), 5) == 0
    finally:
        writer.close()


async def test_a_well_network_changes_nothing_and_counts() -> None:
    async with echoing() as (proxy, echo), connected(proxy) as (reader, writer):
        text = bytes(range(256)) * 2_000
        writer.write(text)
        assert await reader.readexactly(len(text)) == text
        assert proxy.passed == [len(text) + 5] * 2
        writer.write_eof()
        assert await reader.read() == b""
        await echo.ended.wait()
        assert proxy.connections == 1


@pytest.mark.parametrize(
    ("ill", "server_hears"), [(PAUSED, False), (DEAF_SERVER, False), (DEAF_CLIENT, True)]
)
async def test_what_does_not_pass_waits_and_nobody_is_told(ill: Ill, server_hears: bool) -> None:
    async with echoing() as (proxy, echo), connected(proxy) as (reader, writer):
        proxy.ail(ill)
        writer.write(b"more")
        assert await nothing_comes(reader)
        assert (echo.heard == b"hellomore") is server_hears
        assert not echo.ended.is_set()
        proxy.ail(WELL)
        assert await reader.readexactly(4) == b"more"


async def test_the_end_of_a_stream_does_not_pass_either() -> None:
    async with echoing() as (proxy, echo), connected(proxy) as (_, writer):
        proxy.ail(PAUSED)
        writer.write_eof()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(echo.ended.wait(), SOON)
        proxy.ail(WELL)
        await asyncio.wait_for(echo.ended.wait(), 5)


async def test_a_reset_is_one_on_both_sides_and_the_next_connection_is_refused() -> None:
    async with echoing() as (proxy, echo), connected(proxy) as (reader, _):
        proxy.ail(REFUSING)
        with pytest.raises(ConnectionResetError):
            await reader.read(1)
        await asyncio.wait_for(echo.ended.wait(), 5)
        assert await ends(proxy)
        proxy.ail(WELL)
        async with connected(proxy):
            pass


async def test_latency_is_each_way() -> None:
    async with echoing() as (proxy, _), connected(proxy) as (reader, writer):
        proxy.ail(Ill(latency=0.2))
        begun = time.monotonic()
        writer.write(b"x")
        assert await reader.read(1) == b"x"
        assert time.monotonic() - begun >= 0.4
        assert LATE.latency == 2.0


async def test_a_cut_stream_ends_in_the_middle() -> None:
    async with echoing() as (proxy, echo), connected(proxy) as (reader, writer):
        proxy.ail(Ill(cut=1.0))
        writer.write(b"0123456789")
        assert await end_of(reader) < len(b"0123456789")
        await asyncio.wait_for(echo.ended.wait(), 5)
        assert echo.heard in {b"hello", b"hello01234"}, "a RST may overtake what was sent before it"
        assert CUT.cut == 0.01


async def test_a_drip_is_slow() -> None:
    async with echoing() as (proxy, _), connected(proxy) as (reader, writer):
        proxy.ail(DRIP)
        begun = time.monotonic()
        writer.write(b"x" * 1_600)
        assert await reader.readexactly(1_600) == b"x" * 1_600
        assert time.monotonic() - begun >= 0.27, "three waits between four pieces"


async def test_a_server_that_is_not_there_is_a_reset() -> None:
    async with between("127.0.0.1", 1) as proxy:
        assert await ends(proxy)
