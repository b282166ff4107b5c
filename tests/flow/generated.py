"""Runs that Hypothesis makes: every step is the product's own, on a bus in memory; who is next is drawn.

The consumers alone are missing, because it is they who choose; a clock that stands still makes a run repeatable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import strategies as st

from clew_schema import topics
from clew_schema.base import Message
from clew_schema.envelope import ASKED_AT, ATTEMPT, MESSAGE_ID, SEQUENCE, STREAM, Envelope
from clew_schema.evidence import Grade
from clew_schema.facts import Fact
from clew_schema.rdf import Triples
from clew_services.adapters.bus.memory import MemoryBus, MemorySubscription
from clew_services.adapters.models.chat_scripted import (
    ScriptedChat,
    ScriptedGrader,
    ScriptedPlanner,
    ScriptedRewriter,
    ScriptedThinker,
    ScriptedWriter,
)
from clew_services.adapters.models.embedder_hashing import HashingEmbedder
from clew_services.adapters.models.retriever_scripted import ScriptedRetriever
from clew_services.adapters.stores.catalog_sql import SqlCatalog
from clew_services.adapters.stores.ledger_memory import MemoryLedger
from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.core.agent import Thought
from clew_services.core.complexity import PlanReply
from clew_services.core.rewriting import RewriteReply
from clew_services.dead_letters import DeadLetters, keep_letters
from clew_services.ports import Delivery, Found, Outgoing, Ticket
from clew_services.runtime.brake import Brake
from clew_services.runtime.clock import ManualClock
from clew_services.runtime.explaining import Explaining
from clew_services.runtime.handling import Handling
from clew_services.runtime.observe import Metrics, Observer
from clew_services.runtime.step import Step
from clew_services.settings import Settings
from clew_services.steps import steps_of
from clew_services.wiring import Parts
from clew_translators import bus as wire
from clew_translators.explain import Told
from tests.flow import drawn

M = TypeVar("M", bound=Message)
Draw = Callable[[st.SearchStrategy[Any]], Any]

METRICS = Metrics()
SERVICES = ("document-rag", "grading", "agent", "trace-store")
PROFILES: tuple[dict[str, Any], ...] = (
    {"explain_profile": "spec"},
    {"explain_profile": "trustgraph"},
    {"explain_profile": "trustgraph", "explain_repairs": False},
)
CALM: dict[str, Any] = {
    "retrieve": Found(evidence=drawn.POOL[:1], retrieval=drawn.RETRIEVALS[0]),
    "plan": PlanReply(complexity="simple", reason="one thing"),
    "grade": Grade(relevance="strong", answerability="sufficient", route="answer", confidence=0.9),
    "rewrite": RewriteReply(method="step_back", step_back_question="What is thread used for?"),
    "write": "A clew is a ball of thread. [1]",
    "think": Thought(thought="Now I know.", final="A ball of thread."),
    "chat": "yes",
}
"""What everybody says when a run is brought to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening(Explaining):
    """Explains, and remembers which facts a batch was made of: what travelled, before it was told."""

    heard: dict[bytes, tuple[Fact, ...]] = field(default_factory=dict)

    def batches(self, handling: Handling, facts: Any) -> tuple[Told, ...]:
        # No super(): a dataclass with slots is another class than the one that was written.
        told = Explaining.batches(self, handling, facts)
        self.heard.update((each.encode(), tuple(facts)) for each in told)
        return told


class Log:
    """A log that is kept, and printed nowhere."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    def warning(self, event: str, **values: Any) -> None:
        self.events.append((event, values))

    debug = info = error = warning


@dataclass(slots=True, repr=False)
class Subscribed:
    step: Step[Any]
    source: MemorySubscription

    def __repr__(self) -> str:
        return self.source._group.topic.rpartition("/")[2]


class Stage:
    """All services on one bus, moved message by message. ``draw`` is set while something may be chosen."""

    def __init__(self, theme: drawn.Theme, **settings: Any) -> None:
        self.theme = theme
        self.draw: Draw | None = None
        self.says: Callable[[str], Any] = CALM.__getitem__
        self.settings = Settings(
            data=Path("nothing is kept there"),
            embedder="hashing",
            max_iterations=3,
            **settings,
        )
        self.clock = ManualClock()
        self.failing: Callable[[Outgoing], bool] | None = None
        self.bus = MemoryBus(
            self.clock, honour_delays=False, fail_publish=lambda m: bool(self.failing and self.failing(m))
        )
        self.ledger = MemoryLedger()
        self.traces = MemoryTraceStore()
        self.listening = Listening(profile=self.settings.explained_in, repaired=self.settings.explain_repairs)
        self.log = Log()
        self.subscribed: list[Subscribed] = []
        self.handled: list[tuple[Subscribed, Delivery]] = []
        self.asked = 0
        self.redelivered = 0

    async def open(self) -> None:
        catalog = SqlCatalog("sqlite://")  # asked by nobody: the retriever follows the script
        parts = Parts(self.settings, catalog=catalog, observer=Observer(METRICS, self.log), **self._parts())
        await keep_letters(self.bus, self.settings.space)
        processor = await parts.processor()
        self.processor = replace(processor, packer=replace(processor.packer, explaining=self.listening))
        space = self.settings.space
        for step in await steps_of(parts, SERVICES):
            for name in (space.full(step.topic.name), space.retry(step.topic.name, step.service)):
                source = await self.bus.subscribe(name, step.name, width=10_000)
                self.subscribed.append(Subscribed(step, source))

    def _parts(self) -> dict[str, Any]:
        theme = self.theme
        says = self._says
        return {
            "bus": self.bus,
            "clock": self.clock,
            "ledger": self.ledger,
            "traces": self.traces,
            "embedder": HashingEmbedder(),
            "retriever": ScriptedRetriever(lambda _: says("retrieve", drawn.FOUND, drawn.ADRIFT)),
            "planner": ScriptedPlanner(lambda _: says("plan", drawn.PLANS)),
            "grader": ScriptedGrader(lambda *_: says("grade", theme.grades)),
            "rewriter": ScriptedRewriter(lambda *_: says("rewrite", drawn.REWRITES)),
            "writer": ScriptedWriter(lambda *_: says("write", drawn.DRAFTS)),
            "thinker": ScriptedThinker(lambda *_: says("think", drawn.THOUGHTS)),
            "chat": ScriptedChat(lambda *_: says("chat", drawn.CHATS)),
        }

    def _says(
        self, who: str, strategy: st.SearchStrategy[Any], trouble: tuple[Exception, ...] = drawn.TROUBLE
    ) -> Any:
        self.clock._now += 0.0625  # a model takes its time
        if self.draw is None:
            return self.says(who)
        if self.theme.failures and self.draw(st.integers(0, 9)) < self.theme.failures:
            return self.draw(st.sampled_from(trouble))
        return self.draw(strategy)

    # --- what happens -----------------------------------------------------------------------------

    async def publish(self, topic: topics.Topic[Any], payload: bytes, **properties: str) -> None:
        message = Outgoing(
            topic=self.settings.space.full(topic.name), payload=payload, key="k", properties=properties
        )
        await self.bus.publish(message)

    async def ask(self, topic: topics.Topic[Any], body: Message, envelope: Envelope) -> None:
        self.asked += 1
        self.clock._now += 1
        await self.publish(topic, wire.encode(body), **envelope.properties())

    def ready(self) -> list[Subscribed]:
        return [each for each in self.subscribed if any(not one.settled for one in each.source._group.ready)]

    async def handle(self, where: Subscribed) -> None:
        """The next message of one subscription."""
        delivery = await where.source.receive()
        self.handled.append((where, delivery))
        await self._settle(where, delivery)

    async def handle_again(self, where: Subscribed, delivery: Delivery) -> None:
        """A message that was handled before, as a broker may deliver it."""
        self.redelivered += 1
        await self._settle(where, delivery)

    async def handle_broken(self, where: Subscribed, after: int) -> None:
        """The broker takes ``after`` messages, and then none while the next one is handled: that comes again."""
        taken = iter([False] * after)
        self.failing = lambda _: next(taken, True)
        await self.handle(where)
        self.failing = None

    async def _settle(self, where: Subscribed, delivery: Delivery) -> None:
        self.clock._now += 0.125
        await self.processor(where.step, delivery, where.source, Brake())

    async def revive(self, which: int) -> None:
        """Send the message of a dead letter again, as its operator does."""
        box = DeadLetters(self.bus, self.settings.space, quiet=0.0)
        letters = await box.letters()
        if letters:
            letter = letters[which % len(letters)]
            await (box.drop if letter.truncated else box.requeue)(letter.letter_id)

    async def finish(self) -> None:
        """Let everything come to its end."""
        self.draw = self.failing = None
        for _ in range(400):
            ready = self.ready()
            if not ready:
                return
            await self.handle(ready[0])
        raise AssertionError("the run has no end")

    async def close(self) -> None:
        await self.bus.close()

    # --- what came of it --------------------------------------------------------------------------

    async def tickets(self) -> list[Ticket]:
        return [ticket for name in ("default", "other") for ticket in await self.ledger.tickets(name)]

    def published(self, topic: topics.Topic[M]) -> list[M]:
        full = self.settings.space.full(topic.name)
        return [wire.decode(topic.body, message.payload) for message in self.bus.messages(full)]

    def batches(self) -> list[Triples]:
        return self.published(topics.EXPLAINABILITY)

    def told(self) -> list[tuple[Fact, ...]]:
        """The facts of each published batch, as they were established."""
        full = self.settings.space.full(topics.EXPLAINABILITY.name)
        return [self.listening.heard[message.payload] for message in self.bus.messages(full)]

    def payloads(self) -> dict[tuple[str, ...], set[bytes]]:
        """What was published under each name: the topic, the message's id, its attempt, its place in a stream.

        Not the results of tools: one that failed, and that an operator sends again, has another result. Its name is
        that of the first, so that the agent, which went on, takes no second one.
        """
        out: dict[tuple[str, ...], set[bytes]] = {}
        results = self.settings.space.full(topics.AGENT_OBSERVATION.name)
        for topic in set(self.bus.topics()) - {results}:
            for message in self.bus.messages(topic):
                given = message.properties
                if given.get(MESSAGE_ID):
                    named = (
                        given.get(each, "") for each in (MESSAGE_ID, ATTEMPT, STREAM, SEQUENCE, ASKED_AT)
                    )
                    out.setdefault((topic, *named), set()).add(message.payload)
        return out
