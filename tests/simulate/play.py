"""One seed from its beginning to its end: processes, callers, faults, and what the history and the stores show."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from clew_schema.envelope import Envelope
from clew_schema.rdf import Triple
from clew_services.adapters.bus.memory import MemorySubscription
from clew_services.adapters.models.embedder_hashing import HashingEmbedder
from clew_services.adapters.stores.catalog_sql import SqlCatalog
from clew_services.core.retry import RetryPolicy
from clew_services.dead_letters import INBOX, keep_letters
from clew_services.ports import Delivery, Subscription, TraceFilter
from clew_services.runtime.brake import Brake
from clew_services.runtime.observe import Metrics, Observer
from clew_services.runtime.process import Processor, _cause
from clew_services.runtime.service import Service
from clew_services.runtime.step import Step
from clew_services.settings import Settings
from clew_services.steps import steps_of
from clew_services.wiring import Parts
from clew_translators.explain.facts import facts_of
from clew_translators.explain.seal import broken_seals
from clew_translators.trace import TraceUnreadable, read_trace
from clew_translators.uris import run_of
from clew_translators.validating import validate
from tests.promise.checker import Violation, violations
from tests.promise.history import Boxed, Ended, Event, Fault, Traced, digest
from tests.simulate.callers import Callers
from tests.simulate.loop import PROCESS, Process, SimLoop, Stuck
from tests.simulate.models import scripted
from tests.simulate.scenario import Drop, Kill, Scenario
from tests.simulate.world import (
    DEAD,
    HANDLED,
    SPACE,
    SimBroker,
    SimBus,
    SimClock,
    SimLedger,
    SimTraces,
    World,
)

SERVICES = ("document-rag", "grading", "agent", "trace-store")
SETTINGS = Settings(
    data=Path("nothing is kept there"), embedder="hashing", max_iterations=3, width=8, max_attempts=3
)
METRICS = Metrics()
PATIENCE = 4 * 3600.0
"""Virtual seconds after which what is not answered is lost."""
STORM = 30_000
"""Steps after which nothing fails any more: work must then come to its end."""
DEEP = 20
"""Of so many traces one is proven whole; the others are read, and their seals are checked."""


class Silence:
    """A log that nobody reads."""

    def debug(self, *_: Any, **__: Any) -> None:
        return

    info = warning = error = debug


@dataclass(frozen=True, slots=True, kw_only=True)
class Noting(Processor):
    """The product's processor, which says whose message a task settles."""

    async def __call__(self, step: Step[Any], delivery: Delivery, source: Subscription, brake: Brake) -> None:
        cause = _cause(step, Envelope.of(delivery.properties), delivery)
        HANDLED.set((step.name, cause, asyncio.get_running_loop().time()))
        await Processor.__call__(self, step, delivery, source, brake)


@dataclass(frozen=True, slots=True, kw_only=True)
class Make:
    """How the product is put together; a break puts another part in the place of one."""

    processor: Callable[..., Processor] = Noting
    ledger: Callable[[World], SimLedger] = SimLedger
    bus: Callable[[World, SimBroker], SimBus] = SimBus
    steps: Callable[[Sequence[Step[Any]], World], Sequence[Step[Any]]] = lambda steps, _: steps


@dataclass(slots=True)
class Host:
    """A process that can die."""

    number: int
    stage: Stage
    process: Process = field(default_factory=lambda: Process("unborn"))
    bus: SimBus | None = None
    serves: bool = False

    def start(self) -> None:
        world = self.stage.world
        self.process = Process(f"process {self.number}")
        self.serves = False
        self.bus = self.stage.make.bus(world, self.stage.broker)
        context = contextvars.copy_context()
        context.run(PROCESS.set, self.process)
        loop = asyncio.get_running_loop()
        self.stage.keep(loop.create_task(self._serve(self.bus), context=context))

    def kill(self) -> None:
        """Nothing of it runs any more, and the broker hands what it held to others."""
        self.process.dead = True
        if self.bus is not None:
            self.bus.crash()

    async def _serve(self, bus: SimBus) -> None:
        stage = self.stage
        clock = SimClock(stage.scenario.skews[self.number])
        parts = Parts(
            SETTINGS,
            bus=bus,
            clock=clock,
            ledger=stage.ledger,
            traces=stage.traces,
            catalog=stage.catalog,
            embedder=HashingEmbedder(),
            observer=Observer(METRICS, Silence()),
            **scripted(stage.world, clock),
        )
        whole = await parts.processor()
        given = {each.name: getattr(whole, each.name) for each in fields(whole) if each.name != "_in_hand"}
        given["policy"] = RetryPolicy(max_attempts=SETTINGS.max_attempts)
        processor = stage.make.processor(**given)
        steps = stage.make.steps(await steps_of(parts, SERVICES), stage.world)
        while True:
            service = Service(steps, processor)
            try:
                await service.start()
            except Exception:  # noqa: BLE001 - as a supervisor starts again what could not start
                await asyncio.sleep(1)
            else:
                self.serves = True
                return


class Stage:
    """All of a run."""

    def __init__(self, scenario: Scenario, make: Make, loop: SimLoop) -> None:
        self.scenario, self.make, self.loop = scenario, make, loop
        self.world = World(scenario.seed, scenario.rates)
        self.broker = SimBroker(self.world, honour_delays=scenario.honour_delays)
        self.ledger = make.ledger(self.world)
        self.traces = SimTraces(self.world)
        self.catalog = SqlCatalog("sqlite://")
        self.hosts = [Host(number, self) for number in range(len(scenario.skews))]
        self.callers = Callers(self.world, self.broker, scenario)
        self._kept: list[Any] = []
        faults: list[Kill | Drop] = [*scenario.kills, *scenario.drops]
        self._todo = sorted(faults, key=lambda each: each.at_step)

    def keep(self, thing: Any) -> None:
        """Hold a reference until the end."""
        self._kept.append(thing)

    async def run(self) -> None:
        await keep_letters(self.callers.bus, SPACE)
        for host in self.hosts:
            host.start()
        self.loop.before_step = self._faults
        try:
            await self.callers.run()
        finally:
            self.world.calm = True
            self._todo.clear()
        await self._drain()
        await self._look()

    def _faults(self, step: int) -> None:
        if step > STORM:
            self.world.calm = True
        while self._todo and self._todo[0].at_step <= step:
            each = self._todo.pop(0)
            host = self.hosts[each.process % len(self.hosts)]
            if isinstance(each, Drop):
                if host.bus is not None:
                    host.bus.drop_one(each.which)
                continue
            if host.process.dead:
                continue
            host.kill()
            self.world.add(Fault(at=self.loop.time(), what="kill", whom=host.process.name))
            self.loop.call_later(each.down, self._start, host, context=contextvars.Context())

    def _start(self, host: Host) -> None:
        host.start()
        if any(self.backlog().values()):
            host.process.awaited_since = self.loop.time()

    def backlog(self) -> dict[str, int]:
        """What is not acknowledged, but for the box of dead letters, which is there to be full."""
        found = {}
        for topic in self.broker.topics():
            for name, group in self.broker._topics[topic].groups.items():
                if name != INBOX:
                    found[f"{name} on {topic.rpartition('/')[2]}"] = group.unsettled
        return found

    async def _drain(self) -> None:
        limit = self.loop.time() + PATIENCE
        # A subscription that nobody opened yet has no backlog either.
        while self.loop.time() < limit and not (
            all(host.serves for host in self.hosts) and not any(self.backlog().values())
        ):
            await asyncio.sleep(5)

    async def _look(self) -> None:
        """What the stores hold in the end."""
        at = self.loop.time()
        box = self.broker.group(DEAD, INBOX, "earliest")
        reading = MemorySubscription(self.broker, box, 1_000, None)
        while box.ready:
            letter = Callers.letter(await reading.receive())
            self.world.add(Boxed(at=at, letter_id=letter.letter_id, digest=digest(letter.payload.encode())))
        for collection in await self.traces.collections():
            for row in await self.traces.list(collection, limit=1_000, where=TraceFilter(tools=True)):
                self.world.add(
                    self._traced(row.session_uri, await self.traces.run(collection, row.session_uri))
                )
        self.world.add(Ended(at=at, backlog=self.backlog()))

    def _traced(self, run: str, quads: Sequence[Triple]) -> Traced:
        named = run_of(run)
        session = named[1] if named else ""
        try:
            ended = read_trace(quads).state != "running"
        except TraceUnreadable as error:
            return Traced(at=0, run=run, session_id=session, ended=False, findings=(str(error),))
        findings = tuple(map(str, broken_seals(facts_of(quads))))
        if not findings and self.world.chance("deep").randrange(DEEP) == 0:
            findings = tuple(map(str, validate(quads).findings))
        return Traced(at=0, run=run, session_id=session, ended=ended, findings=findings)


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a scenario."""

    events: tuple[Event, ...]
    violations: tuple[Violation, ...]
    steps: int


def play(scenario: Scenario, make: Make | None = None) -> Played:
    """Run ``scenario``; the same one gives the same events."""
    loop = SimLoop(random.Random(f"order {scenario.seed}"), fifo=scenario.fifo)
    stage = None
    collects = gc.isenabled()
    gc.disable()  # a collection would close coroutines of the dead in the middle of a run
    try:
        asyncio.set_event_loop(loop)
        stage = Stage(scenario, make or Make(), loop)
        try:
            loop.run_until_complete(stage.run())
        except Stuck as stuck:
            found = (*violations(stage.world.events), Violation("unended", "", str(stuck)))
        else:
            found = violations(stage.world.events)
        return Played(tuple(stage.world.events), found, loop.steps)
    finally:
        bury(loop)
        asyncio.set_event_loop(None)
        if collects:
            gc.enable()


def bury(loop: SimLoop) -> None:
    """Let go of every task without running anything of it."""
    for task in asyncio.all_tasks(loop):
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        with suppress(RuntimeError):  # some wait for something while they end
            task.get_coro().close()
    loop.close()
