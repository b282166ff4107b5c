"""A client process of the bus's contract suite: `python -m tests.contract.bus_worker URL LITE RANK TOPIC SUBSCRIPTION MODE …`.

hold N      receive N messages, say so, settle none, wait to be killed
consume     say so, print and settle what comes, until standard input ends; then close and exit
forget      receive one message, leave a receive and a publish pending, and exit without closing anything
"""

import asyncio
import sys
from pathlib import Path

from clew_services.adapters.bus.pulsar import PulsarBus
from clew_services.ports import Outgoing, Subscription


async def main(*arguments: str) -> None:
    url, lite, rank, topic, subscription, mode, *rest = arguments
    bus = PulsarBus(url, lite=bool(int(lite)), lite_rank=int(rank), log_path=Path("/dev/null"))
    consumer = await bus.subscribe(topic, subscription, width=8)
    if mode == "hold":
        await hold(consumer, int(rest[0]))
    elif mode == "consume":
        await consume(consumer)
        await bus.close()
    else:
        await consumer.receive()
        tasks = [
            asyncio.ensure_future(consumer.receive()),
            asyncio.ensure_future(bus.publish(Outgoing(topic=topic + "-other", payload=b""))),
        ]
        await asyncio.sleep(0)
        print("forgotten", len(tasks), flush=True)


async def hold(consumer: Subscription, count: int) -> None:
    for _ in range(count):
        await consumer.receive()
    print("holding", flush=True)
    await asyncio.sleep(600)


async def consume(consumer: Subscription) -> None:
    print("consuming", flush=True)
    ended = asyncio.ensure_future(asyncio.to_thread(sys.stdin.read))
    coming = asyncio.ensure_future(consumer.receive())
    while not ended.done():
        await asyncio.wait({ended, coming}, return_when=asyncio.FIRST_COMPLETED)
        if coming.done():
            delivery = coming.result()
            await asyncio.sleep(0.002)  # work
            await consumer.ack(delivery)
            print(delivery.payload.decode(), flush=True)
            coming = asyncio.ensure_future(consumer.receive())
    coming.cancel()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
