"""Asynchronous calls into the Pulsar client library, made so that none of them can take the process down.

``pulsar.asyncio`` does the same and has three faults that end a process with SIGABRT or lose a message: an
answer that arrives after the loop was closed raises in the library's thread, where nobody catches it; a
pending ``receive`` that is collected at exit throws ``bad_weak_ptr``; a cancelled ``receive`` swallows a
message. All three are in its Python layer, which these few lines replace; the layer below is the same.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

import _pulsar

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew_services.ports import Outgoing


class CallFailed(Exception):
    """The library refused. Never leaves the adapter.

    Args:
        name: its result code, as in ``pulsar.Result``.
        detail: its own words, if it had any.
    """

    def __init__(self, name: str, detail: str = "") -> None:
        super().__init__(f"{name}: {detail}" if detail else name)
        self.name = name


async def call(start: Callable[..., None], *arguments: Any) -> Any:
    """Start one of the library's ``…_async`` functions and return its answer. Raises CallFailed.

    A cancelled call goes on in the library; its answer is dropped.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    start(*arguments, partial(hand_over, loop, partial(_answered, future)))
    return await future


def hand_over(loop: asyncio.AbstractEventLoop, accept: Callable[..., None], *answer: Any) -> None:
    """From the library's thread into the loop; into nothing once the loop is closed."""
    try:
        loop.call_soon_threadsafe(accept, *answer)
    except RuntimeError:
        return  # closed: nobody waits any more


def _answered(future: asyncio.Future[Any], outcome: Any, value: Any = None) -> None:
    """The library answers with a result code, a code and a value, an error, or a value alone."""
    if future.done():
        return
    if isinstance(outcome, _pulsar.Error):
        future.set_exception(CallFailed(outcome.error.name, outcome.message))
    elif not isinstance(outcome, _pulsar.Result):
        future.set_result(outcome)
    elif outcome == _pulsar.Result.Ok:
        future.set_result(value)
    else:
        future.set_exception(CallFailed(outcome.name))


def built(message: Outgoing) -> Any:
    """The library's form of a message."""
    builder = _pulsar.MessageBuilder()
    builder.content(message.payload)
    for name, value in message.properties.items():
        builder.property(name, value)
    if message.key:
        builder.partition_key(message.key)
    if message.deliver_at:
        builder.deliver_at(message.deliver_at)
    return builder.build()


def producer_options(*, name: str, send_timeout_ms: int, max_pending: int) -> Any:
    """A producer that sends each message at once.

    Batching would hold a message back for 10 ms, and lose the race of acks within a batch. LZ4 is understood by every
    Pulsar client without being told, runs outside of the interpreter, and makes a twentieth of a batch of triples.
    """
    options = _pulsar.ProducerConfiguration()
    options.producer_name(name)
    options.send_timeout_millis(send_timeout_ms)
    options.max_pending_messages(max_pending)
    options.block_if_queue_full(False)  # it would block the event loop
    options.batching_enabled(False)
    options.compression_type(_pulsar.CompressionType.LZ4)
    options.partitions_routing_mode(_pulsar.PartitionsRoutingMode.RoundRobinDistribution)
    return options


def consumer_options(*, width: int, nack_delay_ms: int, earliest: bool) -> Any:
    """A consumer on a Shared subscription: the one mode that neither pulsar-lite nor a real broker gets wrong."""
    options = _pulsar.ConsumerConfiguration()
    options.consumer_type(_pulsar.ConsumerType.Shared)
    options.receiver_queue_size(width)
    options.negative_ack_redelivery_delay_ms(nack_delay_ms)
    position = _pulsar.InitialPosition
    options.subscription_initial_position(position.Earliest if earliest else position.Latest)
    return options
