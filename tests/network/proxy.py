"""A bad network of our own: a TCP proxy between a client and a server, whose ills are switched while it runs.

Half-open connections, resets, latency, streams cut in the middle, one deaf direction, a slow drip: what a cable, a
firewall or a dying host does, and what no server does by itself.
"""

from __future__ import annotations

import asyncio
import random
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

CHUNK = 16 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Ill:
    """What is wrong with the network.

    ``to_server`` and ``to_client``: whether bytes pass in that direction; what does not pass waits, and nobody is
    told. ``latency``: seconds that each piece is on its way, each way. ``cut``: the share of pieces that arrive half,
    after which the connection ends. ``drip``: bytes a second, 0 is no limit. ``refuses``: new connections are reset.
    """

    name: str = "well"
    to_server: bool = True
    to_client: bool = True
    latency: float = 0.0
    cut: float = 0.0
    drip: int = 0
    refuses: bool = False


WELL = Ill()
PAUSED = Ill(name="pause", to_server=False, to_client=False)
DEAF_SERVER = Ill(name="one way: to the client", to_server=False)
DEAF_CLIENT = Ill(name="one way: to the server", to_client=False)
LATE = Ill(name="2 s latency", latency=2.0)
CUT = Ill(name="1 % cut", cut=0.01)
DRIP = Ill(name="slow drip", drip=4_000)
REFUSING = Ill(name="reset", refuses=True)


@dataclass(slots=True)
class _Pair:
    """One client's connection, and ours to the server."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter

    def reset(self) -> None:
        for writer in (self.client, self.server):
            _reset(writer)


@dataclass(slots=True)
class Proxy:
    """Listens on the loopback and forwards to ``host:port``. ``passed`` counts bytes: (to the server, to the client).

    With ``lookups`` an address of the server in what it says becomes ours: a Pulsar client asks where a topic is, and
    would go there past us. Such an answer carries no checksum; the two addresses have to be equally long.
    """

    host: str
    port: int
    seed: int = 0
    lookups: bool = False
    listens: int = 0
    connections: int = 0
    passed: list[int] = field(default_factory=lambda: [0, 0])
    _ill: Ill = WELL
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _pairs: list[_Pair] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _server: asyncio.Server | None = None
    _chance: random.Random = field(default_factory=random.Random)

    async def start(self, port: int = 0) -> None:
        """Listen on ``port``, or on a free one; ``listens`` says which."""
        self._chance.seed(self.seed)
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", port)
        self.listens = self._server.sockets[0].getsockname()[1]
        if self.lookups and len(str(self.listens)) != len(str(self.port)):
            raise ValueError(f"port {self.listens} is not as long as {self.port}: start at one that is")

    async def stop(self) -> None:
        """Reset what is open, and listen no more."""
        if self._server is not None:
            self._server.close()
        self.reset()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def ail(self, ill: Ill) -> None:
        """From now on the network is like that, for open connections as well. ``WELL`` ends it."""
        self._ill = ill
        self._changed.set()
        self._changed = asyncio.Event()
        if ill.refuses:
            self.reset()

    def reset(self) -> None:
        """Every open connection ends with a RST, on both sides."""
        for pair in self._pairs:
            pair.reset()
        self._pairs.clear()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if self._ill.refuses:
            _reset(writer)
            return
        try:
            server_reader, server_writer = await asyncio.open_connection(self.host, self.port)
        except OSError:
            _reset(writer)  # as if nobody listened
            return
        pair = _Pair(writer, server_writer)
        self._pairs.append(pair)
        ways = ((reader, server_writer, 0), (server_reader, writer, 1))
        for task in [asyncio.create_task(self._forward(*way, pair)) for way in ways]:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _forward(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: int, pair: _Pair
    ) -> None:
        with suppress(OSError):  # either side may go away at any moment, as sides do
            while piece := await reader.read(CHUNK):
                if not await self._carry(piece, writer, way):
                    pair.reset()
                    return
        await self._open(way)  # the end of a stream does not pass either while nothing does
        with suppress(OSError, RuntimeError):
            writer.write_eof() if writer.can_write_eof() else writer.close()

    async def _carry(self, piece: bytes, writer: asyncio.StreamWriter, way: int) -> bool:
        """Bring ``piece`` over; False when the connection ends with half of it."""
        await self._open(way)
        if self.lookups and way == 1:
            theirs, ours = (f"pulsar://{self.host}:{port}".encode() for port in (self.port, self.listens))
            piece = piece.replace(theirs, ours)
        ill = self._ill
        if ill.latency:
            await asyncio.sleep(ill.latency)
        if ill.cut and self._chance.random() < ill.cut:
            writer.write(piece[: len(piece) // 2])
            await writer.drain()
            return False
        step = max(1, ill.drip // 10) if ill.drip else len(piece)
        for begin in range(0, len(piece), step):
            await self._open(way)
            writer.write(piece[begin : begin + step])
            self.passed[way] += len(piece[begin : begin + step])
            await writer.drain()
            if self._ill.drip:
                await asyncio.sleep(0.1)
        return True

    async def _open(self, way: int) -> None:
        """Wait until bytes pass that way."""
        while not (self._ill.to_server, self._ill.to_client)[way]:
            await self._changed.wait()


def _reset(writer: asyncio.StreamWriter) -> None:
    """End the connection with a RST: what is on its way is lost, and the other side is told so."""
    sock = writer.get_extra_info("socket")
    with suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@asynccontextmanager
async def between(host: str, port: int, *, seed: int = 0, lookups: bool = False) -> AsyncIterator[Proxy]:
    """A proxy in front of ``host:port``, stopped at the end."""
    proxy = Proxy(host, port, seed, lookups)
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.stop()
