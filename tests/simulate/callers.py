"""Those who ask: they publish, listen to every answer, and answer tickets. They do not die; their network is good."""

from __future__ import annotations

import asyncio
from typing import Any

from clew_schema import topics
from clew_schema.agent import AgentRequest, AgentResponse
from clew_schema.base import Message
from clew_schema.envelope import Envelope
from clew_schema.errors import DeadLetter
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from clew_services.adapters.bus.memory import MemoryBroker, MemoryBus
from clew_services.ports import Delivery, Outgoing
from clew_translators import bus as wire
from tests.promise.history import Asked, Heard, Outcome, digest
from tests.simulate.scenario import Request, Scenario
from tests.simulate.world import SPACE, SimClock, World

ENOUGH = 6 * 3600.0
"""Virtual seconds after which no answer comes any more."""
QUESTIONS = ("What is a clew?", "Compare the thread of Ariadne with the wings of Daedalus, and say why.")


class Callers:
    """Everybody who asks in a run."""

    def __init__(self, world: World, broker: MemoryBroker, scenario: Scenario) -> None:
        self.world, self.scenario = world, scenario
        self.bus = MemoryBus(SimClock(), broker=broker)
        self._open: set[str] = set()
        self._asked = asyncio.Event()
        self._changed = asyncio.Event()

    async def run(self) -> None:
        """Ask, and return when every question was answered, or when nobody would wait any longer."""
        listening = [
            asyncio.create_task(self._listen(topic))
            for topic in (topics.DOCUMENT_RAG_RESPONSE, topics.AGENT_RESPONSE)
        ]
        try:
            async with asyncio.timeout(ENOUGH):
                for request in sorted(self.scenario.requests, key=lambda each: each.after):
                    await asyncio.sleep(max(0.0, request.after - (self.world.now() - 1_000.0)))
                    await self._ask(request)
                while self._open:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            pass  # the checker says who waits still
        finally:
            # Until everything is drained somebody listens: a second answer would come late.
            self._listening = listening

    async def _ask(self, request: Request) -> None:
        name = f"q{request.number}"
        if request.kind == "agent":
            body: Message = AgentRequest(
                question=QUESTIONS[0], session_id=name, streaming=request.number % 2 == 0
            )
            await self._publish(topics.AGENT_REQUEST, name, body, request)
            return
        question = "poison" if request.kind == "poison" else QUESTIONS[request.number % 2]
        query = "" if request.kind == "unknown" else question
        await self._publish(
            topics.DOCUMENT_RAG_REQUEST,
            name,
            DocumentRagQuery(query=query, session_id=name, streaming=request.kind == "stream"),
            request,
        )

    async def _publish(self, topic: topics.Topic[Any], name: str, body: Message, request: Request) -> None:
        payload = b'{"query": 1' if request.kind == "garbage" else wire.encode(body)
        deadline = int((SimClock().now() + 0.1) * 1000) if request.kind == "late" else 0
        envelope = Envelope(
            id=name, message_id=f"m-{name}", deadline=deadline, traced=request.kind != "silent"
        )
        traced = "" if request.kind in {"silent", "garbage"} else str(getattr(body, "session_id", ""))
        message = Outgoing(
            topic=SPACE.full(topic.name), payload=payload, key=name, properties=envelope.properties()
        )
        self._open.add(name)
        self.world.add(
            Asked(
                at=self.world.now(),
                id=name,
                topic=topic.name,
                session_id=traced,
                collection="default",
                digest=digest(payload),
            )
        )
        for _ in range(2 if request.twice else 1):
            await self.bus.publish(message)

    async def _listen(self, topic: topics.Topic[Any]) -> None:
        source = await self.bus.subscribe(SPACE.full(topic.name), "callers", width=100)
        while True:
            delivery = await source.receive()
            await self._hear(topic, delivery)
            await source.ack(delivery)

    async def _hear(self, topic: topics.Topic[Any], delivery: Delivery) -> None:
        envelope = Envelope.of(delivery.properties)
        body = wire.decode(topic.body, delivery.payload)
        outcome, error, empty = judged(body)
        if outcome is None:
            return  # pieces and explanations; what is published under a name is compared there
        self.world.add(
            Heard(
                at=self.world.now(),
                id=envelope.id,
                topic=topic.name,
                message_id=envelope.message_id,
                digest=digest(delivery.payload),
                outcome=outcome,
                error=error,
                empty=empty,
            )
        )
        first = envelope.id in self._open
        self._open.discard(envelope.id)
        if first and outcome == "ticket":
            await self._answer(body, envelope.id)
        self._changed.set()

    async def _answer(self, body: DocumentRagResponse, name: str) -> None:
        """A person answers a ticket, withdraws, or answers twice at once; a request of its own each time."""
        dice = self.world.chance(f"person {name}")
        await asyncio.sleep(dice.random() * 5)
        for place in range(dice.choice([1, 1, 2])):
            given: dict[str, Any] = {"cancel": True} if dice.random() < 0.3 else {"answer": "the red one"}
            query = DocumentRagQuery(session_id="", ticket=body.ticket, collection=body.collection, **given)
            request = Request(0, "silent", 0.0, dice.random() < 0.2)
            await self._publish(topics.DOCUMENT_RAG_REQUEST, f"{name}.{place}", query, request)

    @staticmethod
    def letter(delivery: Delivery) -> DeadLetter:
        return wire.decode(topics.DEAD_LETTER, delivery.payload)


def judged(body: Message) -> tuple[Outcome | None, str, bool]:
    """How a response ends its request, if it does; the type of an error; whether it says nothing."""
    agents = isinstance(body, AgentResponse)
    ends = body.end_of_dialog if isinstance(body, AgentResponse) else getattr(body, "end_of_session", False)
    if not ends:
        return None, "", False
    error = getattr(body, "error", None)
    if error is not None:
        return "error", error.type, not error.message
    outcome = getattr(body, "outcome", None)
    if agents or outcome == "cancelled":  # an agent's last words came before; who withdrew knows why
        return ("answer" if agents else "refusal"), "", False
    kind: Outcome = "ticket" if getattr(body, "ticket", "") else "answer"
    return ("refusal" if outcome == "no_knowledge" else kind), "", not getattr(body, "response", "")
