"""pulsar-lite as a supervised child process: the broker of ``clew up``, on the loopback, in a folder of ours.

It survives the death of itself (restarted on the same port and folder) and does not survive ours. One
folder serves one broker; a lock says so in words, where the broker itself would print a backtrace.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import importlib.util
import os
import threading
import time
from collections import deque
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

from clew_services.adapters.bus.pulsar_child import answers, free_port, is_free, log_tail, spawn
from clew_services.errors import BusFailed

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

READY_SECONDS = 15.0
STOP_SECONDS = 5.0
FREE_SECONDS = 1.0
BACKOFF_FIRST, BACKOFF_MOST = 0.05, 5.0
STEADY_SECONDS = 60.0
"""A broker that ran this long starts again with the shortest back-off."""


class PulsarLite:
    """One broker process over one folder.

    Args:
        data_dir: where topics, log, port and lock live; made if missing.
        port: TCP port on 127.0.0.1; by default the one that this folder had before, else a free one.
        max_restarts: how many deaths within a minute are repaired before the supervisor gives up.
        on_failed: called, from the watching thread, with a text for people once it gave up.
    """

    def __init__(
        self,
        data_dir: Path,
        port: int | None = None,
        *,
        max_restarts: int = 10,
        on_failed: Callable[[str], None] | None = None,
    ) -> None:
        self._dir = Path(data_dir).resolve()
        self._port = port
        self._max_restarts = max_restarts
        self._on_failed = on_failed
        self._lock: int | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._watcher: threading.Thread | None = None
        self._guard = threading.Lock()
        self._stopping = threading.Event()
        self._deaths: deque[float] = deque()
        self._failure = ""
        self._restarts = 0

    @property
    def url(self) -> str:
        """Where clients connect. Raises BusFailed before the first start."""
        if self._port is None:
            raise BusFailed(f"the broker over {self._dir} was not started yet, so it has no address")
        return f"pulsar://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        """The process that serves now, or served last; 0 before the first start."""
        return self._child.pid if self._child else 0

    @property
    def restarts(self) -> int:
        """How often the supervisor started it again."""
        return self._restarts

    @property
    def failure(self) -> str:
        """Why the supervisor gave up, with the end of the broker's log; empty while it has not."""
        return self._failure

    async def start(self) -> None:
        """Start, and return once the broker answers. Idempotent.

        Raises:
            BusFailed: pulsar-lite is not installed, another process serves this folder, the port is taken, or the
                broker did not come up; the text says which.
        """
        if self._failure:
            raise BusFailed(f"stop it before it can be started again: {self._failure}")
        if self._watcher is None:
            await asyncio.to_thread(self._start)

    async def stop(self) -> None:
        """SIGTERM, SIGKILL after 5 s, and free the folder. Idempotent. Nothing acknowledged is lost."""
        await asyncio.to_thread(self._stop)

    def kill(self) -> None:
        """SIGKILL the broker, as an accident would; the supervisor starts it again. For tests."""
        with self._guard:
            if self._child is not None and self._child.poll() is None:
                self._child.kill()

    async def ready(self, timeout: float = READY_SECONDS) -> None:
        """Return once the broker answers. Raises BusFailed when it did not within ``timeout`` seconds or gave up."""
        limit = time.monotonic() + timeout
        while not await asyncio.to_thread(answers, self._port or 0):
            if self._failure:
                raise BusFailed(self._failure)
            if time.monotonic() > limit:
                raise BusFailed(f"the broker at {self.url} did not answer within {timeout:.0f} s")
            await asyncio.sleep(0.02)

    def _start(self) -> None:
        binary = find_binary()
        self._dir.mkdir(parents=True, exist_ok=True)
        self._take_folder()
        try:
            self._port = self._choose_port()
            self._write_config()
            self._stopping.clear()
            self._deaths.clear()
            first: Future[None] = Future()
            # The signal of a parent's death is tied to the thread that started the child, so the watcher does it.
            self._watcher = threading.Thread(
                target=self._watch, args=(binary, first), name="pulsar-lite", daemon=True
            )
            self._watcher.start()
            first.result()
        except BaseException:
            self._stop()
            raise

    def _stop(self) -> None:
        self._stopping.set()
        with self._guard:
            child = self._child
            if child is not None and child.poll() is None:
                child.terminate()
        if self._watcher is not None and self._watcher is not threading.current_thread():
            self._watcher.join(STOP_SECONDS)
            if self._watcher.is_alive():
                self.kill()
                self._watcher.join()
            self._watcher = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        self._failure = ""

    def _watch(self, binary: Path, first: Future[None]) -> None:
        try:
            self._spawn(binary)
            self._await_ready()
        except BusFailed as error:
            first.set_exception(error)
            return
        except OSError as error:
            first.set_exception(BusFailed(f"cannot start the broker {binary}: {error}"))
            return
        first.set_result(None)
        backoff, since = BACKOFF_FIRST, time.monotonic()
        while True:
            assert self._child is not None
            code = self._child.wait()
            if self._stopping.is_set():
                return
            if time.monotonic() - since > STEADY_SECONDS:
                backoff = BACKOFF_FIRST
            if self._gives_up(code) or self._stopping.wait(backoff):
                return
            backoff, since = min(backoff * 2, BACKOFF_MOST), time.monotonic()
            self._restarts += 1
            with contextlib.suppress(OSError):  # a failed start counts as one more death
                self._spawn(binary)

    def _spawn(self, binary: Path) -> None:
        with self._guard:
            if not self._stopping.is_set():
                self._child = spawn(binary, self._dir)

    def _gives_up(self, code: int) -> bool:
        now = time.monotonic()
        self._deaths.append(now)
        while now - self._deaths[0] > 60:
            self._deaths.popleft()
        if len(self._deaths) <= self._max_restarts:
            return False
        self._failure = (
            f"the broker over {self._dir} died {len(self._deaths)} times within a minute (last exit code {code}) "
            f"and is not started again; the end of its log:\n{log_tail(self._dir)}"
        )
        if self._on_failed is not None:
            self._on_failed(self._failure)
        return True

    def _await_ready(self) -> None:
        assert self._child is not None
        assert self._port is not None
        limit = time.monotonic() + READY_SECONDS
        while not answers(self._port):
            if (code := self._child.poll()) is not None:
                raise BusFailed(
                    f"the broker over {self._dir} ended at once with code {code}; the end of its log:\n"
                    f"{log_tail(self._dir)}"
                )
            if time.monotonic() > limit:
                raise BusFailed(f"the broker over {self._dir} did not answer within {READY_SECONDS:.0f} s")
            time.sleep(0.005)

    def _take_folder(self) -> None:
        lock = os.open(self._dir / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            owner = os.pread(lock, 20, 0).decode(errors="replace").strip() or "unknown"
            os.close(lock)
            raise BusFailed(
                f"process {owner} already runs a broker over {self._dir}; stop it, connect to it, "
                "or give this one another folder"
            ) from error
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
        self._lock = lock

    def _choose_port(self) -> int:
        """The port given, else the one of last time (clients reconnect to it), else a free one; must be free now."""
        remembered = self._dir / "port"
        asked = self._port
        if asked is None and remembered.exists():
            text = remembered.read_text().strip()
            asked = int(text) if text.isdigit() else None
        limit = time.monotonic() + FREE_SECONDS
        while asked is not None and not is_free(asked):
            if time.monotonic() < limit:  # the broker of a process that was just killed
                time.sleep(0.02)
            elif self._port is not None:
                raise BusFailed(
                    f"port {asked} on 127.0.0.1 is taken; stop what listens there or choose another port"
                )
            else:
                asked = None  # somebody took the remembered one while we were away
        port = asked if asked is not None else free_port()
        remembered.write_text(f"{port}\n")
        return port

    def _write_config(self) -> None:
        # Complete on purpose: without a file, or with a bad one, pulsar-lite listens on all interfaces.
        database = str(self._dir / "topics").replace("\\", "\\\\").replace('"', '\\"')
        (self._dir / "broker.toml").write_text(
            f'addr = "127.0.0.1:{self._port}"\ndb_path = "{database}"\nlog_level = "warn"\n\n'
            "[metrics]\nenabled = false\n"
        )


def find_binary() -> Path:
    """The broker inside the installed package, which is not imported. Raises BusFailed if there is none."""
    spec = importlib.util.find_spec("pulsar_lite")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        binary = Path(place) / "bin" / "pulsar-lite"
        if os.access(binary, os.X_OK):
            return binary
    raise BusFailed(
        "pulsar-lite is not installed for this platform; install clew-services[embedded], "
        "or give the URL of a Pulsar broker"
    )
