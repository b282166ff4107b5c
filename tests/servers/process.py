"""One server process on Linux: found again by pid and start time, so that a recycled pid is never signalled."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Command:
    """What to run, and as whom."""

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None


@dataclass(frozen=True, slots=True)
class Process:
    """A running process, ours or one that an earlier `up` left behind."""

    pid: int
    started: int
    child: subprocess.Popen[bytes] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def spawn(cls, command: Command, *, cwd: Path, log: Path) -> "Process":
        """Start it in a session of its own, so that a Ctrl-C for the tests is not one for the server."""
        with log.open("ab") as output:
            child = subprocess.Popen(
                command.argv,
                cwd=cwd,
                env={**os.environ, **command.env},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                user=command.user,
                group=command.user,
                extra_groups=None if command.user is None else [],
                start_new_session=True,
            )
        return cls(child.pid, _start_time(child.pid) or 0, child)

    @property
    def alive(self) -> bool:
        if self.child is not None:
            return self.child.poll() is None  # which reaps it as well
        return _start_time(self.pid) == self.started

    def terminate(self, signal_number: int, *, patience: float) -> None:
        """Ask it to stop; after `patience` seconds, insist."""
        if self.alive:
            os.kill(self.pid, signal_number)
            if not self._gone_within(patience):
                self.kill()

    def kill(self) -> None:
        """SIGKILL it with its children, and return when none of them is left."""
        if not self.alive:
            return
        family = [self, *(Process(pid, _start_time(pid) or 0) for pid in _children(self.pid))]
        for member in family:
            if member.alive:
                os.kill(member.pid, signal.SIGKILL)
        for member in family:
            member._gone_within(30)

    def _gone_within(self, patience: float) -> bool:
        deadline = time.monotonic() + patience
        while self.alive:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the third, the state, on; nothing if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _start_time(pid: int) -> int | None:
    """When the process started, in ticks since boot; None when it is gone, or a zombie."""
    fields = _stat(pid)
    return int(fields[19]) if fields and fields[0] not in "ZX" else None


def _children(pid: int) -> list[int]:
    everyone = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [other for other in everyone if (fields := _stat(other)) and int(fields[1]) == pid]
