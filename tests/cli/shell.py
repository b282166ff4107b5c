"""``clew`` as a person runs it: a process of its own, in a folder of its own, with nothing of this process's settings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CLEW = Path(sys.executable).with_name("clew")
READY_SECONDS = 60.0
INTERRUPTIBLE = ("env", "--default-signal=INT", CLEW)
"""``clew`` that Ctrl-C ends: a shell's background job, as a test run may be one, has it switched off for what it starts."""


@dataclass(frozen=True)
class Said:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        """Standard output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True)
class Shell:
    """A person's shell: a data folder and an environment."""

    data: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of ours but where programs are; the embedder that needs no model."""
        plain = {"PATH": os.environ["PATH"], "HOME": str(self.data), "LANG": "C.UTF-8"}
        return plain | {"CLEW_DATA": str(self.data), "CLEW_EMBEDDER": "hashing"} | self.env

    def run(self, *arguments: object, patience: float = 60, **env: str) -> Said:
        """Run ``clew ARGUMENTS`` to its end, with ``env`` on top of the environment."""
        done = subprocess.run(
            [CLEW, *map(str, arguments)],
            env=self.environment | env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=patience,
        )
        return Said(done.returncode, done.stdout.decode(), done.stderr.decode())

    def sh(self, script: str, patience: float = 60, **env: str) -> Said:
        """Run a line of shell, in which ``clew`` is the command."""
        where = {"PATH": f"{CLEW.parent}:{os.environ['PATH']}"}
        done = subprocess.run(
            ["bash", "-c", script],
            env=self.environment | where | env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=patience,
        )
        return Said(done.returncode, done.stdout.decode(), done.stderr.decode())

    @contextmanager
    def up(self, *arguments: object, **env: str) -> Iterator[Up]:
        """``clew up``, ready; killed at the end if the test did not stop it."""
        with self.started(*arguments, **env) as running:
            running.wait_until_ready()
            yield running

    @contextmanager
    def started(self, *arguments: object, **env: str) -> Iterator[Up]:
        """``clew up``, from its first moment."""
        self.data.parent.mkdir(parents=True, exist_ok=True)
        log = self.data.parent / f"{self.data.name}.up.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [CLEW, "up", *map(str, arguments)],
                env=self.environment | env,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )
        running = Up(process, log, self.data)
        try:
            yield running
        finally:
            running.kill()


@dataclass(frozen=True)
class Up:
    """A ``clew up`` that was started."""

    process: subprocess.Popen[bytes]
    log: Path
    data: Path

    @property
    def told(self) -> str:
        """Everything it printed so far."""
        return self.log.read_text()

    def wait_until_ready(self) -> None:
        limit = time.monotonic() + READY_SECONDS
        while "ready; stop with Ctrl-C" not in self.told:
            assert self.process.poll() is None, self.told
            assert time.monotonic() < limit, self.told
            time.sleep(0.02)

    def stop(self, number: int = signal.SIGTERM, timeout: float = 15) -> int:
        """Send the signal; the exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)

    @property
    def run_file(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.data / "run.json").read_text())
        return found


def processes_over(folder: Path) -> list[int]:
    """Processes whose command line names ``folder``: brokers, and what was started with it."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = place.read_bytes()
        except OSError:
            continue  # it ended meanwhile
        if str(folder).encode() in command:
            found.append(int(place.parent.name))
    return found


def eventually_none_over(folder: Path, seconds: float = 5) -> bool:
    """Whether within ``seconds`` no process is left over ``folder``."""
    limit = time.monotonic() + seconds
    while processes_over(folder):
        if time.monotonic() > limit:
            return False
        time.sleep(0.02)
    return True
