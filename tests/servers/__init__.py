"""The real servers that tests run against, started on the loopback without containers.

A server installs what it lacks into a cache folder (`CLEW_SERVERS_CACHE`, by default `~/.cache/clew-servers`), takes free
ports, and is ready when `start` returns. Only the standard library is needed::

    with Pulsar() as pulsar:
        client = Client(pulsar.service_url)
        pulsar.kill()      # SIGKILL; nothing is flushed
        pulsar.restart()   # the same data, the same ports

`python -m tests.servers up | down | status | run -- COMMAND` does the same for all of them from a shell.
"""

from tests.servers.fuseki import Fuseki
from tests.servers.milvus import Milvus
from tests.servers.oxigraph import Oxigraph
from tests.servers.postgres import Postgres
from tests.servers.pulsar import Pulsar
from tests.servers.server import Server, ServerFailedError

__all__ = ["SERVERS", "Fuseki", "Milvus", "Oxigraph", "Postgres", "Pulsar", "Server", "ServerFailedError"]

SERVERS: dict[str, type[Server]] = {kind.name: kind for kind in (Pulsar, Milvus, Postgres, Oxigraph, Fuseki)}
