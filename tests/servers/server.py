"""What all servers have in common: a data folder, ports, and a life cycle."""

import os
import random
import shutil
import signal
import socket
import tempfile
import time
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Self

from tests.servers.process import Command, Process


class ServerFailedError(Exception):
    """A server could not be installed or started; the message ends with what it last logged."""


class Server(ABC):
    """A real server on the loopback.

    With no `data` folder of its own it gets a temporary one, which `close` removes. The ports are chosen once, and kept over
    every restart.
    """

    name: ClassVar[str]
    port_names: ClassVar[tuple[str, ...]]
    start_patience: ClassVar[float] = 120
    stop_patience: ClassVar[float] = 30
    stop_signal: ClassVar[int] = signal.SIGTERM

    def __init__(self, *, data: Path | None = None) -> None:
        self.data = data
        self.temporary = data is None
        self.ports = free_ports(self.port_names)
        self.process: Process | None = None

    @abstractmethod
    def install(self) -> None:
        """Fetch what is missing into the cache. Does nothing the second time."""

    @abstractmethod
    def prepare(self, data: Path) -> Command:
        """Write the configuration into `data`; answer the command that runs on it."""

    @abstractmethod
    def ready(self) -> bool:
        """Whether clients are served by now."""

    @abstractmethod
    def environment(self) -> dict[str, str]:
        """The variables that lead tests to this server."""

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.alive

    @property
    def log(self) -> Path:
        """What the server printed, over all its restarts. Known once the server has been started."""
        if self.data is None:
            msg = f"{self.name} has not been started"
            raise ServerFailedError(msg)
        return self.data / "server.log"

    def start(self) -> Self:
        """Return when clients are served."""
        if self.running:
            return self
        self.install()
        if self.data is None:
            self.data = Path(tempfile.mkdtemp(prefix=f"clew-{self.name}-"))
        self.data.mkdir(parents=True, exist_ok=True)
        self.process = Process.spawn(self.prepare(self.data), cwd=self.data, log=self.log)
        try:
            self._wait_until_ready(self.process)
        except BaseException:
            self.kill()
            raise
        return self

    def stop(self) -> None:
        """Stop in good order. The data stays."""
        self._end(self.stop_patience)

    def kill(self) -> None:
        """Stop at once, with SIGKILL. The data stays as it is."""
        self._end(0)

    def restart(self) -> Self:
        """Start again on the same data and the same ports, whether or not it runs."""
        self.stop()
        return self.start()

    def close(self) -> None:
        """Stop, and remove the data folder if it was made for this server; then nobody waits for it to be tidy."""
        try:
            self._end(2 if self.temporary else self.stop_patience)
        finally:
            if self.temporary and self.data is not None:
                shutil.rmtree(self.data, ignore_errors=True)
                self.data = None

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *exc: object) -> None:
        self.close()

    def to_state(self) -> dict[str, Any]:
        """What another process needs to find this server again, as JSON."""
        return {
            "data": str(self.data),
            "temporary": self.temporary,
            "ports": self.ports,
            "pid": self.process.pid if self.process else 0,
            "started": self.process.started if self.process else 0,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        server = cls(data=Path(state["data"]))
        server.temporary = state["temporary"]
        server.ports = state["ports"]
        server.process = Process(state["pid"], state["started"])
        return server

    def tidy(self, process: Process) -> None:  # noqa: B027 - most leave nothing, so it is not abstract
        """Remove what an ended process left outside its data folder: nothing, for most."""

    def _end(self, patience: float) -> None:
        if self.process is None:
            return
        try:
            if patience:
                self.process.terminate(self.stop_signal, patience=patience)
        finally:  # a Ctrl-C ends the patience, not the duty
            self.process.kill()
            self.tidy(self.process)
            self.process = None

    def _wait_until_ready(self, process: Process) -> None:
        deadline = time.monotonic() + self.start_patience
        while not self.ready():
            if not process.alive:
                msg = f"{self.name} ended while it started:\n{self._last_words()}"
                raise ServerFailedError(msg)
            if time.monotonic() > deadline:
                msg = f"{self.name} was not ready within {self.start_patience:.0f} s:\n{self._last_words()}"
                raise ServerFailedError(msg)
            time.sleep(0.05)

    def _last_words(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-40:])


def free_ports(names: tuple[str, ...]) -> dict[str, int]:
    """A free loopback port for each name.

    They lie below the range from which Linux serves outgoing connections: a client that reconnects to a killed server from
    that very range can connect to itself, and then the server cannot have its port back.
    """
    ports: dict[str, int] = {}
    candidates = iter(random.sample(range(20_000, 32_000), 2_000))
    for name in names:
        ports[name] = next(port for port in candidates if _is_free(port))
    return ports


def http_get(url: str, timeout: float = 5) -> tuple[int, bytes]:
    """Status and body; status 0 when nobody answers."""
    try:
        with urllib.request.urlopen(url, timeout=timeout) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()
    except OSError:
        return 0, b""


def program(name: str, *, package: str) -> str:
    """The path of an installed program; if it is missing, an error that names the package to install."""
    found = shutil.which(name, path=os.environ.get("PATH"))
    if found is None:
        msg = f"{name} is not installed; on Debian or Ubuntu: apt-get install {package}"
        raise ServerFailedError(msg)
    return found


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
