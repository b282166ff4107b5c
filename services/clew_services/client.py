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
from clew_schema.cancelling import CancelRequest, CancelResponse
from clew_schema.dead_letters import DeadLetterRequest, DeadLetterResponse
from clew_schema.documents import DocumentLoad, DocumentStatus
from clew_schema.envelope import MESSAGE_ID, SEQUENCE, STREAM, Envelope
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

REOPEN_SECONDS = 0.2
"""Wait before a broken subscription is opened again."""


@dataclass(frozen=True, slots=True)
class Heard(Generic[R]):
    """A response as it came. ``stream`` names the execution that a chunk belongs to.

    When it changes, the text begins again: a service died and its step is done anew, so what was shown
    before is void.
    """

    body: R
    stream: str = ""
    sequence: int = 0
    message_id: str = ""

    @property
    def name(self) -> tuple[str, str, int]:
        """What two deliveries of one response have in common, and no two responses."""
        return self.message_id, self.stream, self.sequence


class Client:
    """Asks, and hears each response once although the bus may deliver it twice. Close it when done.

    All questions of a client share one private subscription per response topic, which ``close`` takes away.
    """

    def __init__(self, bus: Bus, space: TopicSpace | None = None, *, traceparent: str = "") -> None:
        """``bus`` stays the caller's to close. ``traceparent`` (W3C Trace Context): the span that asks, if any.

        What is asked becomes a part of that trace, see :mod:`clew_translators.spans`.
        """
        self._bus = bus
        self._traceparent = traceparent
        self._space = space or TopicSpace()
        self._name = f"client-{uuid4().hex}"
        self._listening: dict[str, asyncio.Task[None]] = {}
        self._queues: dict[str, asyncio.Queue[Delivery | None]] = {}
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

        Those to a query that answers a ticket carry the ``session_id`` of the run that goes on. Raises TimeoutError
        when ``timeout`` seconds pass without any response, BusFailed when the broker does not take the question.
        """
        return self._call(
            topics.DOCUMENT_RAG_REQUEST, topics.DOCUMENT_RAG_RESPONSE, query, timeout, _ends_session
        )

    def agent(self, request: AgentRequest, *, timeout: float = 120.0) -> AsyncIterator[Heard[AgentResponse]]:
        """The responses to ``request``, the last one with ``end_of_dialog``. Raises TimeoutError."""
        return self._call(topics.AGENT_REQUEST, topics.AGENT_RESPONSE, request, timeout, _ends_dialog)

    def load(self, document: DocumentLoad, *, timeout: float = 600.0) -> AsyncIterator[Heard[DocumentStatus]]:
        """How far ``document`` is, the last one ``ready``, ``unchanged``, ``failed`` or ``deleted``.

        Raises TimeoutError.
        """
        return self._call(topics.DOCUMENT_LOAD, topics.DOCUMENT_STATUS, document, timeout, _ends_load)

    def dead_letters(
        self, request: DeadLetterRequest, *, timeout: float = 120.0
    ) -> AsyncIterator[Heard[DeadLetterResponse]]:
        """What an operator is told of the dead letters, the last one with ``end``. Raises TimeoutError."""
        return self._call(topics.DEAD_LETTER_REQUEST, topics.DEAD_LETTER_RESPONSE, request, timeout, _ends)

    async def cancel(self, request: CancelRequest, *, timeout: float = 30.0) -> CancelResponse:
        """What came of cancelling a run. Raises TimeoutError."""
        asked = self._call(topics.CANCEL_REQUEST, topics.CANCEL_RESPONSE, request, timeout, lambda _: True)
        async for heard in asked:
            return heard.body
        raise BusFailed("the responses ended without an end")

    async def answer(self, query: DocumentRagQuery, *, timeout: float = 120.0) -> DocumentRagResponse:
        """The final response to ``query``. Raises TimeoutError."""
        async for heard in self.ask(query, timeout=timeout):
            if heard.body.end_of_session:
                return heard.body
        raise BusFailed("the responses ended without an end")

    async def listen(self, topic: Topic[Any]) -> None:
        """Subscribe to ``topic`` now, so that the first question does not wait for it. Raises BusFailed."""
        full = self._space.full(topic.name)
        async with self._opening:
            if full not in self._listening:
                subscription = await self._subscribe(full)
                self._listening[full] = asyncio.create_task(self._dispatch(full, subscription))

    async def close(self) -> None:
        """Stop listening and take the private subscriptions away; who still waits gets BusFailed. Idempotent."""
        for queue in self._queues.values():
            queue.put_nowait(None)
        async with self._opening:
            while self._listening:
                full, task = self._listening.popitem()
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                with suppress(BusFailed):  # a broker that is gone has nothing to be taken away now
                    await self._bus.unsubscribe(full, self._name)

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
                    properties=Envelope(
                        id=correlation, message_id=str(uuid4()), traceparent=self._traceparent
                    ).properties(),
                )
            )
            seen: set[tuple[str, str, int]] = set()
            while True:
                async with asyncio.timeout(timeout):
                    delivery = await queue.get()
                if delivery is None:
                    raise BusFailed("the client was closed before the last response came")
                heard = _heard(response, delivery)
                if heard is None or heard.name in seen:
                    continue
                seen.add(heard.name)
                yield heard
                if ends(heard.body):
                    return
        finally:
            del self._queues[correlation]

    async def _subscribe(self, full: str) -> Subscription:
        return await self._bus.subscribe(full, self._name, width=WIDTH, position="latest")

    async def _dispatch(self, full: str, subscription: Subscription) -> None:
        """Give each response to whoever asked, for as long as the client is open; others' are none of ours."""
        try:
            while True:
                try:
                    delivery = await subscription.receive()
                    queue = self._queues.get(Envelope.of(delivery.properties).id)
                    if queue is not None:
                        queue.put_nowait(delivery)
                    await subscription.ack(delivery)
                except BusFailed:
                    # What was not acknowledged comes again, and is heard once all the same.
                    await asyncio.sleep(REOPEN_SECONDS)
                    await subscription.close()
                    with suppress(BusFailed):
                        subscription = await self._subscribe(full)
        finally:
            await subscription.close()


def _heard(topic: Topic[R], delivery: Delivery) -> Heard[R] | None:
    """The response in ``delivery``; null for what is no body of ``topic``, whoever put it there."""
    try:
        body = wire.decode(topic, delivery.payload)
    except wire.NotThisMessage:
        return None
    props = delivery.properties
    number = props.get(SEQUENCE, "")
    return Heard(
        body,
        stream=props.get(STREAM, ""),
        sequence=int(number) if number.isascii() and number.isdigit() and len(number) < 16 else 0,
        message_id=props.get(MESSAGE_ID, "") or delivery.broker_id,
    )


def _ends(body: DeadLetterResponse) -> bool:
    return body.end


def _ends_session(body: DocumentRagResponse) -> bool:
    return body.end_of_session


def _ends_dialog(body: AgentResponse) -> bool:
    return body.end_of_dialog


def _ends_load(body: DocumentStatus) -> bool:
    return body.state in {"ready", "unchanged", "failed", "deleted"}
