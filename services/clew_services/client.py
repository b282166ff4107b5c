"""A client for Python programs: ask documents, ask the agent, hear the steps. Needs a Bus and nothing else."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar
from uuid import uuid4

from clew_schema import topics
from clew_schema.agent import AgentRequest, AgentResponse
from clew_schema.base import Message
from clew_schema.documents import DocumentLoad, DocumentStatus
from clew_schema.envelope import SEQUENCE, STREAM, Envelope
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from clew_schema.topics import TopicSpace
from clew_services.errors import BusFailed
from clew_services.ports import Outgoing
from clew_translators import bus as wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from clew_schema.topics import Topic
    from clew_services.ports import Bus, Delivery, Subscription

R = TypeVar("R", bound=Message)
WIDTH = 256
"""Responses held unread, all questions of one client together."""


@dataclass(frozen=True, slots=True)
class Heard(Generic[R]):
    """A response as it came. ``stream`` names the execution that a chunk belongs to.

    When it changes, the text begins again: a service died and its step is done anew, so what was shown
    before is void.
    """

    body: R
    stream: str = ""
    sequence: int = 0


class Client:
    """Asks, and hears each response once although the bus may deliver it twice. Close it when done.

    All questions of a client share one private subscription per response topic, which ``close`` takes away.
    """

    def __init__(self, bus: Bus, space: TopicSpace | None = None) -> None:
        """``bus`` stays the caller's to close."""
        self._bus = bus
        self._space = space or TopicSpace()
        self._name = f"client-{uuid4().hex}"
        self._listening: dict[str, tuple[Subscription, asyncio.Task[None]]] = {}
        self._queues: dict[str, asyncio.Queue[Delivery]] = {}
        self._opening = asyncio.Lock()

    async def __aenter__(self) -> Self:
        """Nothing to open before the first question."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close."""
        await self.close()

    def ask(
        self, query: DocumentRagQuery, *, timeout: float = 120.0
    ) -> AsyncIterator[Heard[DocumentRagResponse]]:
        """The responses to ``query``, the last one with ``end_of_session``.

        Raises TimeoutError when ``timeout`` seconds pass without any response.
        """
        return self._call(
            topics.DOCUMENT_RAG_REQUEST, topics.DOCUMENT_RAG_RESPONSE, query, timeout, _ends_session
        )

    def agent(self, request: AgentRequest, *, timeout: float = 120.0) -> AsyncIterator[Heard[AgentResponse]]:
        """The responses to ``request``, the last one with ``end_of_dialog``. Raises TimeoutError."""
        return self._call(topics.AGENT_REQUEST, topics.AGENT_RESPONSE, request, timeout, _ends_dialog)

    def load(self, document: DocumentLoad, *, timeout: float = 600.0) -> AsyncIterator[Heard[DocumentStatus]]:
        """How far ``document`` is, the last one ``ready``, ``unchanged`` or ``failed``. Raises TimeoutError."""
        return self._call(topics.DOCUMENT_LOAD, topics.DOCUMENT_STATUS, document, timeout, _ends_load)

    async def answer(self, query: DocumentRagQuery, *, timeout: float = 120.0) -> DocumentRagResponse:
        """The final response to ``query``. Raises TimeoutError."""
        async for heard in self.ask(query, timeout=timeout):
            if heard.body.end_of_session:
                return heard.body
        raise BusFailed("the responses ended without an end")

    async def listen(self, topic: Topic[Any]) -> None:
        """Subscribe to ``topic`` now, so that the first question does not wait for it. Raises BusFailed."""
        async with self._opening:
            if topic.name in self._listening:
                return
            subscription = await self._bus.subscribe(
                self._space.full(topic.name), self._name, width=WIDTH, position="latest"
            )
            task = asyncio.create_task(self._dispatch(subscription))
            self._listening[topic.name] = (subscription, task)

    async def close(self) -> None:
        """Stop listening and take the private subscriptions away. Idempotent."""
        while self._listening:
            name, (subscription, task) = self._listening.popitem()
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await subscription.close()
            with suppress(BusFailed):
                await self._bus.unsubscribe(self._space.full(name), self._name)

    async def _call(
        self, request: Topic[Any], response: Topic[R], body: Message, timeout: float, ends: Any
    ) -> AsyncIterator[Heard[R]]:
        await self.listen(response)
        correlation = str(uuid4())
        queue = self._queues[correlation] = asyncio.Queue()
        try:
            await self._bus.publish(
                Outgoing(
                    topic=self._space.full(request.name),
                    payload=wire.encode(body),
                    key=request.key_of(body) or correlation,
                    properties=Envelope(id=correlation, message_id=str(uuid4())).properties(),
                )
            )
            seen: set[tuple[str, str, str]] = set()
            while True:
                async with asyncio.timeout(timeout):
                    delivery = await queue.get()
                props = delivery.properties
                name = (props.get("message-id", ""), props.get(STREAM, ""), props.get(SEQUENCE, ""))
                if name in seen:
                    continue
                seen.add(name)
                heard = wire.decode(response.body, delivery.payload)
                yield Heard(heard, name[1], int(name[2] or 0))
                if ends(heard):
                    return
        finally:
            del self._queues[correlation]

    async def _dispatch(self, subscription: Subscription) -> None:
        """Give each response to whoever asked; others' responses are none of ours."""
        while True:
            delivery = await subscription.receive()
            queue = self._queues.get(delivery.properties.get("id", ""))
            if queue is not None:
                queue.put_nowait(delivery)
            await subscription.ack(delivery)


def _ends_session(body: DocumentRagResponse) -> bool:
    return body.end_of_session


def _ends_dialog(body: AgentResponse) -> bool:
    return body.end_of_dialog


def _ends_load(body: DocumentStatus) -> bool:
    return body.state in {"ready", "unchanged", "failed"}
