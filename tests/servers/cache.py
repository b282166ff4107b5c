"""The cache folder: each thing in it is fetched once, whole or not at all."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.servers.server import ServerFailedError


def cache() -> Path:
    """The folder, made if need be: `CLEW_SERVERS_CACHE`, or `clew-servers` in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(os.environ.get("CLEW_SERVERS_CACHE") or Path(base) / "clew-servers").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def fetched(name: str, fetch: Callable[[Path], None]) -> Path:
    """The folder `name` in the cache; `fetch` fills it the first time.

    Two processes that want it at once fetch it once, and an interrupted fetch leaves nothing that looks complete.
    """
    folder = cache() / name
    with locked(cache() / f"{name}.lock"):
        if not folder.exists():
            scratch = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=cache()))
            try:
                fetch(scratch)
                scratch.rename(folder)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
    return folder


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file; others wait."""
    with path.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def run(argv: Sequence[str], *, cwd: Path, user: str | None = None) -> None:
    """Run a tool to its end, quietly; if it fails, raise with what it printed."""
    done = subprocess.run(
        argv,
        cwd=cwd,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        msg = f"{' '.join(argv)} failed with {done.returncode}:\n{done.stdout[-4000:]}"
        raise ServerFailedError(msg)
