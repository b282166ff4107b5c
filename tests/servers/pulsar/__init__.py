"""Apache Pulsar 4.0.1: broker, bookie and metadata in one Java process."""

import socket
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import ClassVar

from tests.servers.cache import fetched, run
from tests.servers.process import Command
from tests.servers.server import Server, http_get, program

HERE = Path(__file__).parent
VERSION = "4.0.1"

# Netty, RocksDB and the memory accounting look into these packages of Java 17.
OPENED = (
    "java.base/java.io",
    "java.base/java.lang",
    "java.base/java.nio",
    "java.base/java.util.zip",
    "java.base/jdk.internal.misc",
    "java.base/jdk.internal.platform",
    "java.base/sun.net",
    "java.base/sun.nio.ch",
    "java.management/sun.management",
    "jdk.management/com.sun.management.internal",
)
DRIVERS = "org.apache.pulsar.metadata.bookkeeper.PulsarMetadata"


class Pulsar(Server):
    """A standalone Pulsar. Several can run side by side.

    Args:
        data: where it keeps its journal, ledgers and metadata.
        journal_sync: wait for the disk at each write. Without, a message survives a killed process, but no power cut.
        settings: more lines for `standalone.conf`, such as those that switch authentication on.
    """

    name: ClassVar[str] = "pulsar"
    port_names: ClassVar[tuple[str, ...]] = ("broker", "web", "bookie")

    def __init__(
        self,
        *,
        data: Path | None = None,
        journal_sync: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(data=data)
        self.journal_sync = journal_sync
        self.settings = dict(settings or {})

    @property
    def service_url(self) -> str:
        return f"pulsar://127.0.0.1:{self.ports['broker']}"

    @property
    def admin_url(self) -> str:
        return f"http://127.0.0.1:{self.ports['web']}"

    def environment(self) -> dict[str, str]:
        return {"CLEW_TEST_PULSAR_URL": self.service_url, "CLEW_TEST_PULSAR_ADMIN_URL": self.admin_url}

    def install(self) -> None:
        _jars()

    def prepare(self, data: Path) -> Command:
        config = Template((HERE / "standalone.conf").read_text()).substitute(
            self.ports,
            loopback=_loopback(),
            journal_sync=str(self.journal_sync).lower(),
            journal_wait=1 if self.journal_sync else 0,
        )
        config += "".join(f"{key}={value}\n" for key, value in self.settings.items())
        (data / "standalone.conf").write_text(config)
        options = [
            *("-Xms256m", "-Xmx512m", "-XX:MaxDirectMemorySize=512m", "-XX:+UseSerialGC", "-XX:-UsePerfData"),
            *(f"--add-opens={package}=ALL-UNNAMED" for package in OPENED),
            "-Dio.netty.tryReflectionSetAccessible=true",
            f"-Dbookkeeper.metadata.bookie.drivers={DRIVERS}BookieDriver",
            f"-Dbookkeeper.metadata.client.drivers={DRIVERS}ClientDriver",
            f"-Dlog4j2.configurationFile={HERE / 'log4j2.xml'}",
            f"-Djava.io.tmpdir={data}",
        ]
        arguments = [
            *("--config", "standalone.conf", "--no-functions-worker", "--no-stream-storage"),
            *("--metadata-dir", "metadata", "--bookkeeper-dir", "bookkeeper"),
            *("--bookkeeper-port", str(self.ports["bookie"]), "--advertised-address", "127.0.0.1"),
        ]
        java = program("java", package="default-jre-headless")
        main = "org.apache.pulsar.PulsarStandaloneStarter"
        return Command([java, *options, "-cp", f"{_jars()}/*", main, *arguments])

    def ready(self) -> bool:
        """Whether the broker has answered itself a message, and the default namespace exists."""
        healthy = http_get(f"{self.admin_url}/admin/v2/brokers/health") == (200, b"ok")
        return healthy and http_get(f"{self.admin_url}/admin/v2/namespaces/public/default")[0] == 200


def _jars() -> Path:
    return fetched(f"pulsar-{VERSION}", _fetch)


def _fetch(folder: Path) -> None:
    maven = program("mvn", package="maven")
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
    run([maven, "-q", "-B", "-C", "-f", str(HERE / "pom.xml"), *goal], cwd=folder)


def _loopback() -> str:
    """The loopback's name: `lo` on Linux."""
    return next(name for _, name in socket.if_nameindex() if name.startswith("lo"))
