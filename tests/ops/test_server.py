"""The ops server: where it listens, what it says when it cannot, how it stops."""

from __future__ import annotations

import asyncio
import signal
import socket

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from clew_services.runtime.ops import OpsServer


class Slow:
    """An app whose answer waits until the test lets it go."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.go = asyncio.Event()
        self.app = Starlette(routes=[Route("/", self._answer)])

    async def _answer(self, _: Request) -> Response:
        self.asked.set()
        await self.go.wait()
        return PlainTextResponse("done")


@pytest.fixture
async def slow() -> Slow:
    return Slow()


def free(url: str) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", int(url.rsplit(":", 1)[1])))
        except OSError:
            return False
        return True


async def test_port_0_picks_a_free_one_and_two_servers_live_side_by_side(slow: Slow) -> None:
    slow.go.set()
    servers = [OpsServer(slow.app), OpsServer(slow.app)]
    urls = [await server.start() for server in servers]
    assert len(set(urls)) == 2
    async with httpx.AsyncClient() as client:
        assert [(await client.get(url)).text for url in urls] == ["done", "done"]
    for server in servers:
        await server.stop()


async def test_a_taken_port_is_an_error_that_names_it_and_the_setting(slow: Slow) -> None:
    first = OpsServer(slow.app)
    port = int((await first.start()).rsplit(":", 1)[1])
    second = OpsServer(slow.app, port=port)
    with pytest.raises(OSError, match=rf"127\.0\.0\.1:{port}.*in use.*CLEW_OPS_PORT"):
        await second.start()
    await second.stop()
    await first.stop()


@pytest.mark.parametrize("host", ["203.0.113.1", "no.such.host.invalid", "not a host"])
async def test_an_address_that_is_not_ours_is_an_error_that_names_it(slow: Slow, host: str) -> None:
    server = OpsServer(slow.app, host)
    with pytest.raises(OSError, match=r"cannot listen on .*CLEW_OPS_HOST"):
        await server.start()


async def test_the_loopback_of_version_six_has_a_url_that_works(slow: Slow) -> None:
    slow.go.set()
    server = OpsServer(slow.app, "::1")
    url = await server.start()
    assert url.startswith("http://[::1]:")
    async with httpx.AsyncClient() as client:
        assert (await client.get(url)).text == "done"
    await server.stop()


async def test_stop_finishes_the_request_that_is_open(slow: Slow) -> None:
    server = OpsServer(slow.app)
    url = await server.start()
    async with httpx.AsyncClient() as client:
        asking = asyncio.create_task(client.get(url))
        await slow.asked.wait()
        stopping = asyncio.create_task(server.stop())
        await asyncio.sleep(0.05)
        slow.go.set()
        assert (await asking).text == "done"
        await stopping
    assert free(url)


@pytest.mark.slow
async def test_stop_waits_no_longer_than_its_grace(slow: Slow, capfd: pytest.CaptureFixture[str]) -> None:
    server = OpsServer(slow.app, grace=1)
    url = await server.start()
    async with httpx.AsyncClient() as client:
        asking = asyncio.create_task(client.get(url))
        await slow.asked.wait()
        async with asyncio.timeout(3):
            await server.stop()
        assert (await asking).status_code == 500, "who asked is told that nothing more comes"
    assert free(url)
    assert capfd.readouterr().err == "", "a stop that was asked for is no error"


async def test_stop_before_start_after_stop_and_right_after_start(slow: Slow) -> None:
    server = OpsServer(slow.app)
    await server.stop()
    url = await server.start()
    await server.stop()
    await server.stop()
    assert free(url)


async def test_a_connection_that_says_nothing_does_not_hold_the_stop_up(slow: Slow) -> None:
    server = OpsServer(slow.app)
    url = await server.start()
    _, writer = await asyncio.open_connection("127.0.0.1", int(url.rsplit(":", 1)[1]))
    async with asyncio.timeout(3):
        await server.stop()
    writer.close()


async def test_the_signal_handlers_of_the_process_stay_as_they_are(slow: Slow) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    server = OpsServer(slow.app)
    await server.start()
    await asyncio.sleep(0.05)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    await server.stop()
