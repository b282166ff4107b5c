"""``run.json`` in the data folder: where the broker and the ops server of the running ``clew up`` are."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

RUN_FILE = "run.json"


class Running(NamedTuple):
    """A ``clew up`` that runs: its process, the URL of its broker, and that of its ops server."""

    pid: int
    broker: str
    ops: str


def write_run_file(data: Path, *, broker: str, ops: str) -> None:
    """Say where this process serves; whole or not at all. Raises OSError."""
    values = {"pid": os.getpid(), "birth": _birth(os.getpid()), "broker": broker, "ops": ops}
    draft = data / f"{RUN_FILE}.new"
    draft.write_text(json.dumps(values))
    draft.replace(data / RUN_FILE)


def remove_run_file(data: Path) -> None:
    """Take the file away if it is this process's own; another's is left alone. Raises OSError."""
    if _values(data).get("pid") == os.getpid():
        (data / RUN_FILE).unlink(missing_ok=True)


def read_run_file(data: Path) -> Running | None:
    """The running ``clew up`` of this folder; null when none runs, also after it was killed."""
    values = _values(data)
    pid, broker, ops = values.get("pid"), values.get("broker"), values.get("ops")
    if not (isinstance(pid, int) and isinstance(broker, str) and isinstance(ops, str)):
        return None
    if not _lives(pid) or values.get("birth") != _birth(pid):
        return None
    return Running(pid, broker, ops)


def _values(data: Path) -> dict[str, Any]:
    try:
        values = json.loads((data / RUN_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def _lives(pid: int) -> bool:
    if pid < 1:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True  # it runs, as somebody else
    return True


def _birth(pid: int) -> str:
    """When the process began, in the kernel's ticks: its number alone may belong to another one by now.

    Empty where there is no ``/proc``.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]  # field 22; the name before it may hold blanks
