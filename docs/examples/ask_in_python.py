"""Ask with Clew's own client: ``python ask_in_python.py BROKER_URL COLLECTION QUESTION``."""

import asyncio
import sys

from clew_schema import DocumentRagQuery
from clew_services.adapters.bus.pulsar import PulsarBus
from clew_services.client import Client


async def main(url: str, collection: str, question: str) -> None:
    # lite=True is for the broker of `clew up`; leave it out for Apache Pulsar.
    bus = PulsarBus(url, lite=True)
    try:
        async with Client(bus) as client:
            query = DocumentRagQuery(query=question, collection=collection, streaming=True)
            async for heard in client.ask(query, timeout=60):
                response = heard.body
                if response.message_type == "explain":
                    print("step:", response.explain_id)
                if response.error:
                    sys.exit(f"{response.error.type}: {response.error.message}")
        print(response.outcome, "-", response.response)
        for citation in response.citations:
            print(f"[{citation.number}]", citation.filename, citation.start, citation.end)
    finally:
        await bus.close()


asyncio.run(main(*sys.argv[1:4]))
