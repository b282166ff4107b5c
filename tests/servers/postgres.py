"""PostgreSQL, from the distribution's package."""

import os
import pwd
import shutil
import signal
import subprocess
from pathlib import Path
from typing import ClassVar

from tests.servers.cache import run
from tests.servers.process import Command
from tests.servers.server import Server, ServerFailedError


class Postgres(Server):
    """One database, `postgres`, whose superuser `postgres` needs no password on the loopback.

    Args:
        data: where it keeps its files; it must be readable for the unprivileged user when we are root.
        sync: wait for the disk at each commit. Without, a commit survives a killed process, but no power cut.
    """

    name: ClassVar[str] = "postgres"
    port_names: ClassVar[tuple[str, ...]] = ("postgres",)
    stop_signal: ClassVar[int] = signal.SIGINT  # "fast": SIGTERM would wait for the last client to leave

    def __init__(self, *, data: Path | None = None, sync: bool = False) -> None:
        super().__init__(data=data)
        self.sync = sync

    @property
    def dsn(self) -> str:
        """For libpq and psycopg."""
        return f"postgresql://postgres@127.0.0.1:{self.ports['postgres']}/postgres"

    @property
    def url(self) -> str:
        """For SQLAlchemy."""
        return self.dsn.replace("postgresql://", "postgresql+psycopg://", 1)

    def environment(self) -> dict[str, str]:
        return {"CLEW_TEST_POSTGRES_URL": self.url}

    def install(self) -> None:
        """Fetch nothing: the package manager does that. Raise if it has not."""
        _binaries()

    def prepare(self, data: Path) -> Command:
        user = _unprivileged_user()
        files = data / "files"
        if not (files / "PG_VERSION").exists():
            files.mkdir(mode=0o700)
            if user is not None:
                shutil.chown(data, user)
                shutil.chown(files, user)
            options = [
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
                "--no-sync",
            ]
            run([str(_binaries() / "initdb"), f"--pgdata={files}", *options], cwd=data, user=user)
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.ports["postgres"],
            "unix_socket_directories": "",
            "fsync": "on" if self.sync else "off",
            "max_connections": 200,
        }
        arguments = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        return Command([str(_binaries() / "postgres"), "-D", str(files), *arguments], user=user)

    def ready(self) -> bool:
        question = [str(_binaries() / "pg_isready"), "--quiet", f"--dbname={self.dsn}"]
        return subprocess.run(question, check=False).returncode == 0


def _binaries() -> Path:
    """The newest version's folder of programs."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/postgres")]
    on_path = shutil.which("postgres")
    if found:
        return max(found, key=lambda folder: int(folder.parent.name))
    if on_path is not None:
        return Path(on_path).parent
    msg = "PostgreSQL is not installed; on Debian or Ubuntu: apt-get install postgresql"
    raise ServerFailedError(msg)


def _unprivileged_user() -> str | None:
    """Whom the server runs as: PostgreSQL refuses to run as root. None: as ourselves."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"
