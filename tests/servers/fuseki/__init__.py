"""Apache Jena Fuseki 5.6.0: a SPARQL 1.1 server of another make, in one Java process."""

from pathlib import Path
from typing import ClassVar

from tests.servers.cache import fetched, run
from tests.servers.process import Command
from tests.servers.server import Server, http_get, program

HERE = Path(__file__).parent
VERSION = "5.6.0"


class Fuseki(Server):
    """A server with one dataset, `/clew`, in TDB2: in memory, which is some three times faster, or on disk.

    Args:
        data: where it keeps its files.
        durable: on disk, so that what was written survives a kill.
        password: of the user `clew`; empty lets everybody in.
    """

    name: ClassVar[str] = "fuseki"
    port_names: ClassVar[tuple[str, ...]] = ("http",)

    def __init__(self, *, data: Path | None = None, durable: bool = False, password: str = "") -> None:
        super().__init__(data=data)
        self.durable = durable
        self.password = password

    @property
    def query_url(self) -> str:
        return f"http://127.0.0.1:{self.ports['http']}/clew/query"

    @property
    def update_url(self) -> str:
        return f"http://127.0.0.1:{self.ports['http']}/clew/update"

    def environment(self) -> dict[str, str]:
        return {"CLEW_TEST_FUSEKI_QUERY": self.query_url, "CLEW_TEST_FUSEKI_UPDATE": self.update_url}

    def install(self) -> None:
        _jars()

    def prepare(self, data: Path) -> Command:
        files = data / "files"
        files.mkdir(exist_ok=True)
        options = [
            *("-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:-UsePerfData"),
            # It would set up a logging library that is none of its dependencies, unless told that somebody did.
            "-Dlog4j2.configurationFile=none",
            f"-Djava.io.tmpdir={data}",
        ]
        arguments = ["--localhost", "--port", str(self.ports["http"]), "--ping", "--update"]
        if self.password:
            (data / "passwords").write_text(f"clew: {self.password}\n")
            arguments += ["--passwd", str(data / "passwords"), "--auth=basic"]
        kept = ["--tdb2", "--loc", str(files)] if self.durable else ["--memTDB"]
        java = program("java", package="default-jre-headless")
        main = "org.apache.jena.fuseki.main.cmds.FusekiServerCmd"
        return Command([java, *options, "-cp", f"{_jars()}/*", main, *arguments, *kept, "/clew"])

    def ready(self) -> bool:
        return http_get(f"http://127.0.0.1:{self.ports['http']}/$/ping")[0] in {200, 401}


def _jars() -> Path:
    return fetched(f"fuseki-{VERSION}", _fetch)


def _fetch(folder: Path) -> None:
    maven = program("mvn", package="maven")
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
    run([maven, "-q", "-B", "-C", "-f", str(HERE / "pom.xml"), *goal], cwd=folder)
