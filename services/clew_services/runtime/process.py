"""The one place that settles messages: look up, decode, handle, pack, **record, publish, acknowledge**.

A crash anywhere repeats the same bytes under the same ids and asks no model again: the record is
written once, first writer wins, and everything after it may be done any number of times.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from clew_schema import ids
from clew_schema.base import RunMessage
from clew_schema.envelope import Envelope
from clew_schema.limits import DEFAULT_COLLECTION
from clew_services.cancelling import why_cancelled
from clew_services.core.bounds import check_bounds, clip
from clew_services.core.retry import Answer, Bury, Retry, RetryPolicy, judge
from clew_services.errors import Cancelled, DeadlineExceeded, Forbidden, TicketClosed, Unreadable
from clew_services.ports import Record
from clew_services.runtime.aside import Aside
from clew_services.runtime.handling import Handling
from clew_services.runtime.pack import Packer
from clew_translators import bus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.topics import TopicSpace
    from clew_services.ports import Bus, Clock, Closing, Delivery, Ledger, Outgoing, Subscription, Ticket
    from clew_services.runtime.brake import Brake
    from clew_services.runtime.observe import Observer
    from clew_services.runtime.outcome import Outcome
    from clew_services.runtime.step import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Processor:
    """Settles deliveries of any step. ``silent_sessionless``: an agent run without a session id leaves no trace."""

    bus: Bus
    ledger: Ledger
    clock: Clock
    packer: Packer
    observer: Observer
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    silent_sessionless: bool = False
    _in_hand: dict[tuple[str, str], asyncio.Future[None]] = field(default_factory=dict)

    @property
    def space(self) -> TopicSpace:
        """Where topics live."""
        return self.packer.space

    async def __call__(self, step: Step[Any], delivery: Delivery, source: Subscription, brake: Brake) -> None:
        """Settle ``delivery``. Never raises but CancelledError, after which it counts as not settled."""
        envelope = Envelope.of(delivery.properties)
        cause = _cause(step, envelope, delivery)
        key = (step.name, cause)
        before = self._in_hand.get(key)
        done = self._in_hand[key] = asyncio.get_running_loop().create_future()
        try:
            if before is not None:
                # The same message at once, once more: wait for who came last, then find the first one's record. In a
                # row, because a broker that breaks connections may hand out hundreds of the same.
                await asyncio.wait([before])
            outputs = await self._outputs(step, delivery, envelope, cause, brake)
            await self.publish(outputs)
            await source.ack(delivery)
        except Exception as error:  # noqa: BLE001 - settling itself failed: the broker gives it to somebody again
            self.observer.settle_failed(step, cause, error)
            await self._give_back(source, delivery, step, cause)
        finally:
            if self._in_hand.get(key) is done:
                del self._in_hand[key]
            _end_after(before, done)

    async def publish(self, outputs: Sequence[Outgoing]) -> None:
        """Publish side by side, but one topic's messages in their order. Raises BusFailed."""
        by_topic: dict[str, list[Outgoing]] = {}
        for output in outputs:
            by_topic.setdefault(output.topic, []).append(output)
        if len(by_topic) == 1:
            await self._in_order(outputs)
        elif by_topic:
            await asyncio.gather(*map(self._in_order, by_topic.values()))

    async def _in_order(self, outputs: Sequence[Outgoing]) -> None:
        for output in outputs:
            await self.bus.publish(output)

    async def _outputs(
        self, step: Step[Any], delivery: Delivery, envelope: Envelope, cause: str, brake: Brake
    ) -> Sequence[Outgoing]:
        """What has to be published for ``delivery``: as recorded before, or as decided and recorded now."""
        if (record := await self._recalled(step, cause, envelope.attempt)) is not None:
            self.observer.replayed(step, cause)
            return record.outputs
        handling = Handling(
            step=step,
            envelope=envelope,
            cause=cause,
            session_id=envelope.session_id or ids.session_id(cause),
            collection=DEFAULT_COLLECTION,
            run=None,
            started=self.clock.now(),
        )
        try:
            handling = self._read(handling, delivery)
            self._admit(handling)
            await self._still_wanted(handling)
            aside = Aside(self, handling)
            outcome = await step.run(handling.body, aside.emit, aside.tell)
            handling = replace(handling, ended=self.clock.now())
            run = handling.under(outcome.run)
            outputs = self.packer.outcome(run, outcome)
            opens, closes = self._tickets(run, outcome)
        except Exception as error:  # noqa: BLE001 - core.retry decides what each type of failure means
            handling = replace(handling, ended=self.clock.now())
            return await self._failed(handling, delivery, error, brake)
        try:
            published = await self._recorded(run, outputs, opens=opens, closes=closes)
        except TicketClosed as error:
            # Since the handler looked, another message was first.
            return await self._failed(handling, delivery, error, brake)
        brake.release()
        self.observer.done(run, outcome)
        return published

    async def _still_wanted(self, handling: Handling) -> None:
        """Refuse the next step of a run that was cancelled. Withdrawing its pause is no such step."""
        caller, run = handling.step.caller, handling.run
        if caller is None or run is None or not handling.step.recorded or caller.awaited(run):
            return
        why = await why_cancelled(self.ledger, handling.collection, handling.session_id)
        if why is not None:
            raise Cancelled("the run was cancelled" + (f": {why}" if why else ""))

    def _tickets(self, handling: Handling, outcome: Outcome) -> tuple[Ticket | None, Closing | None]:
        """What happens to tickets together with the record. Raises TypeError for a step that has none."""
        if not handling.step.recorded and (outcome.opens or outcome.closes):
            msg = f"step {handling.step.name} is not recorded: it can neither open nor close a ticket"
            raise TypeError(msg)
        closes = outcome.closes and replace(outcome.closes, closed_by=handling.cause)
        return self.packer.ticket(handling, outcome), closes

    async def _recalled(self, step: Step[Any], cause: str, attempt: int) -> Record | None:
        """What was recorded for this message before: that it ended, or that this attempt is to be repeated."""
        if not step.recorded:
            return None
        ended, repeated = await asyncio.gather(
            self.ledger.lookup(step.name, cause), self.ledger.lookup(step.name, _attempt(cause, attempt))
        )
        return ended or repeated

    def _read(self, handling: Handling, delivery: Delivery) -> Handling:
        """The handling with the body, and the run it belongs to."""
        step = handling.step
        try:
            body = bus.decode(step.topic.body, delivery.payload)
        except bus.NotThisMessage as error:
            raise Unreadable(f"{step.topic.name}: {error}") from error
        check_bounds(body)
        if isinstance(body, RunMessage):
            silent = self.silent_sessionless and step.caller and step.caller.mechanism == "agent"
            if silent and not body.session_id:
                handling = replace(handling, envelope=replace(handling.envelope, traced=False))
            body = body.model_copy(
                update={
                    "session_id": body.session_id or handling.session_id,
                    "collection": body.collection or DEFAULT_COLLECTION,
                }
            )
        collection = getattr(body, "collection", "") or DEFAULT_COLLECTION
        handling = replace(handling, body=body, collection=collection)
        if step.caller is None:
            return handling
        try:
            run = step.caller.run(body)
        except ValueError as error:
            raise Unreadable(f"{step.topic.name}: the state that came back is not one of ours") from error
        return replace(handling, run=run, session_id=run.session_id, collection=run.collection)

    def _admit(self, handling: Handling) -> None:
        """Refuse what is too late, and addresses that are not the caller's to name.

        Nobody waits for a step that answers nobody: what a run told of itself is kept, however late, whoever asked.
        """
        if handling.step.caller is None and handling.step.on_failure is None:
            return
        deadline = handling.envelope.deadline
        if deadline and self.clock.now() * 1000 > deadline:
            raise DeadlineExceeded(f"the caller's deadline passed before {handling.step.name} began")
        caller = handling.step.caller
        address = caller.address(handling.run) if caller and handling.run else None
        for name, tool in ((handling.envelope.reply_to, False), (address.topic if address else "", True)):
            if name and self.space.answerable(name, tool=tool) is None:
                raise Forbidden(
                    f"no answer goes to {clip(name)!r}: it must be a topic in {self.space.tenant}/"
                    f"{self.space.namespace} that no service reads"
                )

    async def _failed(
        self, handling: Handling, delivery: Delivery, error: Exception, brake: Brake
    ) -> Sequence[Outgoing]:
        """What has to be published because handling failed: a delayed copy, or the news of it."""
        policy = handling.step.policy or self.policy
        verdict = judge(error, handling.envelope.attempt, policy, message_id=handling.cause)
        if isinstance(verdict, Retry) and self._too_late(handling, verdict.after_seconds):
            error = DeadlineExceeded(
                f"the caller's deadline passes before {handling.step.name} is tried again: {error}"
            )
            verdict = Answer()
        if isinstance(verdict, Retry):
            self.observer.retried(handling, error, verdict.after_seconds)
            due = int((self.clock.now() + verdict.after_seconds) * 1000)
            copy = (self.packer.retry(handling, delivery, due, error),)
            return await self._recorded(handling, copy, _attempt(handling.cause, handling.envelope.attempt))
        letter = None
        if isinstance(verdict, Bury):
            # Garbage says something about who published it, and nothing about the health of this service.
            if not getattr(error, "callers_fault", False):
                brake.pull()
            self.observer.buried(handling, error)
            letter = self.packer.letter(handling, delivery, error)
        else:
            brake.release()
            self.observer.refused(handling, error)
        try:
            outputs = self.packer.failure(handling, error, letter)
        except Exception as second:  # noqa: BLE001 - a failure that cannot be explained must not loop: tell it bare
            self.observer.buried(handling, second)
            letter = letter or self.packer.letter(handling, delivery, error)
            outputs = self.packer.failure(handling, error, letter, explained=False)
        return await self._recorded(handling, outputs)

    def _too_late(self, handling: Handling, after: float) -> bool:
        """Whether nobody would wait any more for what is tried again so much later."""
        deadline = handling.envelope.deadline
        return bool(deadline and handling.step.caller) and (self.clock.now() + after) * 1000 > deadline

    async def _recorded(
        self,
        handling: Handling,
        outputs: tuple[Outgoing, ...],
        name: str = "",
        *,
        opens: Ticket | None = None,
        closes: Closing | None = None,
    ) -> Sequence[Outgoing]:
        step = handling.step
        if not step.recorded:
            return outputs
        record = Record(
            step=step.name, message_id=name or handling.cause, outputs=outputs, recorded_at=handling.ended
        )
        return (await self.ledger.record(record, opens=opens, closes=closes)).outputs

    async def _give_back(self, source: Subscription, delivery: Delivery, step: Step[Any], cause: str) -> None:
        try:
            await source.nack(delivery)
        except Exception as error:  # noqa: BLE001 - the broker is gone; it gives the message again when it is back
            self.observer.settle_failed(step, cause, error)


def _end_after(before: asyncio.Future[None] | None, done: asyncio.Future[None]) -> None:
    """End ``done``, but not before the one before it: who was cancelled while it waited lets nobody overtake."""
    if before is None or before.done():
        done.set_result(None)
    else:
        before.add_done_callback(lambda _: done.set_result(None))


def _cause(step: Step[Any], envelope: Envelope, delivery: Delivery) -> str:
    """What the ledger knows ``delivery`` by: the same for a redelivery and for a delayed copy, whatever callers write.

    A copy carries the name that the first attempt had; our own services' ids are derived and taken as they are.
    """
    if not envelope.message_id:
        return ids.derive("broker", delivery.topic, delivery.broker_id)
    if ids.is_uuid(envelope.message_id) and (not step.entry or envelope.attempt > 1):
        return envelope.message_id
    return ids.cause(envelope.message_id, envelope.id, delivery.payload)


def _attempt(cause: str, attempt: int) -> str:
    return f"{cause}/{attempt}"
