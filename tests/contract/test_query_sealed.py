"""The process of a query reaches no network, whatever the query makes its library do."""

from __future__ import annotations

import json
import socket
import subprocess
import sys

import pytest

from clew_services.adapters.stores.oxigraph_query_process import answer


@pytest.mark.parametrize("silent", ["", "SILENT "])
def test_no_other_server_is_asked(silent: str) -> None:
    """What no look at the text has kept back: the library would ask, and the kernel does not let it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.5)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        sparql = f"ASK {{ SERVICE {silent}<{url}> {{ ?s ?p ?o }} }}"
        task = {
            "own": "",
            "shared": "",
            "file": "",
            "prefix": "",
            "sparql": sparql,
            "limit": 1,
            "seconds": 10,
        }
        done = subprocess.run(
            [sys.executable, "-P", "-m", answer.__module__],
            input=json.dumps(task).encode(),
            capture_output=True,
            check=True,
            timeout=30,
        )
        told = json.loads(done.stdout)
        assert "refused" in told or silent
        with pytest.raises(TimeoutError):
            server.accept()
