"""Starting the broker's process and asking it for a sign of life. No state."""

from __future__ import annotations

import os
import random
import socket
import struct
import subprocess
import sys
from typing import TYPE_CHECKING

from clew_services.errors import BusFailed

if TYPE_CHECKING:
    from pathlib import Path

PORTS = range(16_000, 32_000)
PROBE_SECONDS = 1.0
LOG_BYTES = 1_000_000
"""A log longer than this is begun anew at the next start."""

LAUNCHER = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)
if os.getppid() != int(sys.argv[1]):
    sys.exit("the parent died before the broker began")
os.execv(sys.argv[2], sys.argv[2:])
"""
"""Becomes the broker, after asking the kernel (PR_SET_PDEATHSIG is 1) for SIGTERM when its parent dies.

A program of its own and no ``preexec_fn``: Python code that runs between fork and exec can deadlock in a
process with threads, and the Pulsar client has some.
"""


def spawn(binary: Path, folder: Path) -> subprocess.Popen[bytes]:
    """Start the broker over ``folder``, whose ``broker.toml`` is written.

    It reads nothing from the terminal, gets no Ctrl-C, logs to ``broker.log``, and dies with the thread that
    called this. Raises OSError.
    """
    log_path = folder / "broker.log"
    fresh = not log_path.exists() or log_path.stat().st_size > LOG_BYTES
    command = [str(binary), "--config", str(folder / "broker.toml")]
    if sys.platform == "linux":
        command = [sys.executable, "-I", "-S", "-c", LAUNCHER, str(os.getpid()), *command]
    with log_path.open("wb" if fresh else "ab") as log:
        return subprocess.Popen(  # noqa: S603 - the path comes from the installed package
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )


def log_tail(folder: Path, size: int = 2000) -> str:
    """The end of the broker's log, without colours."""
    path = folder / "broker.log"
    if not path.exists():
        return "(no log)"
    with path.open("rb") as log:
        log.seek(max(0, path.stat().st_size - size))
        return log.read().decode(errors="replace").strip() or "(the log is empty)"


def answers(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a Pulsar broker listens there: CONNECT is answered by CONNECTED. An open port alone is not enough."""
    try:
        with socket.create_connection((host, port), timeout=PROBE_SECONDS) as connection:
            connection.sendall(CONNECT)
            size = _exactly(connection, 4)
            if len(size) < 4:
                return False
            # All of it is read: closing with bytes unread is a reset, which the broker logs as an error.
            frame = _exactly(connection, min(struct.unpack(">I", size)[0], 4096))
            return frame[4:6] == CONNECTED
    except OSError:
        return False


def is_free(port: int) -> bool:
    """Whether a server could listen on this port of the loopback now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def free_port() -> int:
    """A free port below those that Linux gives to outgoing connections. Raises BusFailed when none is found.

    From that range a client that reconnects to a broker which is down can get the broker's own port, connect
    to itself, and keep the broker from coming back.
    """
    for _ in range(200):
        port = random.randrange(PORTS.start, PORTS.stop)  # noqa: S311 - any port will do
        if is_free(port):
            return port
    raise BusFailed(f"no free port between {PORTS.start} and {PORTS.stop} on 127.0.0.1; name one")


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            break
        data += more
    return data


def _connect_frame() -> bytes:
    """BaseCommand{type: CONNECT, connect: {client_version: "clew", protocol_version: 6}} in Pulsar's framing.

    From PulsarApi.proto: type is field 1, connect field 2; in CommandConnect client_version is field 1 and
    protocol_version field 4. A simple frame is the total size, the command's size, the command.
    """
    connect = b"\x0a\x04clew" + b"\x20\x06"
    command = b"\x08\x02" + b"\x12" + bytes([len(connect)]) + connect
    return struct.pack(">II", len(command) + 4, len(command)) + command


CONNECT = _connect_frame()
CONNECTED = b"\x08\x03"
"""How a BaseCommand begins whose type is CONNECTED."""
