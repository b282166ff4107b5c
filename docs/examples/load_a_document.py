"""Take a document in from Python: ``python load_a_document.py BROKER_URL COLLECTION FILE``."""

import asyncio
import sys
from base64 import b64encode
from pathlib import Path

from clew_schema import DocumentLoad
from clew_services.adapters.bus.pulsar import PulsarBus
from clew_services.client import Client


async def main(url: str, collection: str, name: str, data: bytes) -> None:
    bus = PulsarBus(url, lite=True)
    try:
        async with Client(bus) as client:
            content = b64encode(data).decode()
            document = DocumentLoad(collection=collection, name=name, content=content)
            async for heard in client.load(document):
                status = heard.body
                print(status.state, f"{status.chunks_done}/{status.chunks}")
                if status.error:
                    sys.exit(f"{status.error.type}: {status.error.message}")
    finally:
        await bus.close()


source = Path(sys.argv[3])
asyncio.run(main(sys.argv[1], sys.argv[2], source.name, source.read_bytes()))
