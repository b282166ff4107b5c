"""What a user installs: the three wheels, outside the repository, with what they declare and nothing more."""

import json
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[2]
PACKAGES = {"schema": "clew_schema", "translators": "clew_translators", "services": "clew_services"}

# Run with `-I -S`: no environment variables, no site-packages, no editable installs, only the folders that are given.
IMPORT_ALL = """
import importlib, json, pkgutil, sys
folders, package = json.loads(sys.argv[1])
sys.path[:0] = folders
found = importlib.import_module(package)
for module in pkgutil.walk_packages(found.__path__, package + "."):
    importlib.import_module(module.name)
print(json.dumps([found.__file__, sorted({name.partition(".")[0] for name in sys.modules})]))
"""
IMPORT_SCRIPT = """
import importlib, json, sys
folders, module, attribute = json.loads(sys.argv[1])
sys.path[:0] = folders
found = importlib.import_module(module)
print(json.dumps([found.__file__, callable(getattr(found, attribute))]))
"""


@dataclass(frozen=True)
class Wheel:
    """A built wheel, unpacked as an installer would."""

    folder: Path
    names: tuple[str, ...]
    metadata: Message
    scripts: str

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        return tuple(Requirement(line) for line in self.metadata.get_all("Requires-Dist", []))


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Wheel]:
    return {project: build(project, tmp_path_factory.mktemp(project)) for project in PACKAGES}


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder from which the repository cannot be seen."""
    return tmp_path_factory.mktemp("elsewhere")


@pytest.mark.parametrize(("project", "package"), PACKAGES.items())
def test_a_wheel_holds_its_package_its_types_and_the_licence(
    wheels: dict[str, Wheel], project: str, package: str
) -> None:
    names = wheels[project].names

    assert f"{package}/py.typed" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {package}
    assert (REPOSITORY / project / "LICENSE").read_bytes() == (REPOSITORY / "LICENSE").read_bytes()


def test_the_three_have_one_version_and_need_each_other_at_it(wheels: dict[str, Wheel]) -> None:
    (version,) = {wheel.metadata["Version"] for wheel in wheels.values()}

    own = {
        str(need) for wheel in wheels.values() for need in wheel.requirements if need.name.startswith("clew-")
    }
    assert own == {f"clew-schema=={version}", f"clew-translators=={version}"}


def test_clew_schema_needs_pydantic_and_nothing_else(wheels: dict[str, Wheel]) -> None:
    assert [need.name for need in wheels["schema"].requirements] == ["pydantic"]


def test_clew_schema_works_with_pydantic_alone(
    wheels: dict[str, Wheel], elsewhere: Path, tmp_path: Path
) -> None:
    link_what_it_needs(wheels, "schema", tmp_path)

    origin, _ = python(elsewhere, IMPORT_ALL, [wheels["schema"].folder, tmp_path], "clew_schema")

    assert Path(origin).is_relative_to(wheels["schema"].folder)


def test_clew_schema_imports_nothing_else_even_where_everything_is_installed(
    wheels: dict[str, Wheel], elsewhere: Path, tmp_path: Path
) -> None:
    everything = [name for path in sys.path if (name := Path(path)).name == "site-packages"]
    link_what_it_needs(wheels, "schema", tmp_path)
    allowed = {path.name.partition(".")[0] for path in tmp_path.iterdir()} | {
        "clew_schema",
        "__main__",
        "__mp_main__",
    }

    _, imported = python(elsewhere, IMPORT_ALL, [wheels["schema"].folder, *everything], "clew_schema")

    foreign = set(imported) - sys.stdlib_module_names - allowed
    assert {name for name in foreign if not name.startswith("_sysconfigdata")} == set()


def test_clew_translators_works_with_what_it_declares(
    wheels: dict[str, Wheel], elsewhere: Path, tmp_path: Path
) -> None:
    link_what_it_needs(wheels, "translators", tmp_path)

    folders = [wheels["translators"].folder, wheels["schema"].folder, tmp_path]
    origin, _ = python(elsewhere, IMPORT_ALL, folders, "clew_translators")

    assert Path(origin).is_relative_to(wheels["translators"].folder)


def test_the_command_line_starts_with_what_clew_services_declares(
    wheels: dict[str, Wheel], elsewhere: Path, tmp_path: Path
) -> None:
    link_what_it_needs(wheels, "services", tmp_path)
    assert "clew = clew_services.cli.main:app" in wheels["services"].scripts

    folders = [*(wheel.folder for wheel in wheels.values()), tmp_path]
    origin, is_callable = python(elsewhere, IMPORT_SCRIPT, folders, "clew_services.cli.main", "app")

    assert Path(origin).is_relative_to(wheels["services"].folder)
    assert is_callable


def test_the_lock_is_pinned_hashed_and_names_no_place() -> None:
    lines = (REPOSITORY / "requirements.lock").read_text().splitlines()
    requirements = [line for line in lines if line and not line.startswith(("#", " "))]

    assert [line for line in requirements if "==" not in line] == []
    assert [line for line in requirements if not line.endswith("\\")] == []
    assert [line for line in lines if "://" in line or "index-url" in line or "find-links" in line] == []


def test_the_lock_has_a_pin_for_all_that_the_projects_declare() -> None:
    lines = (REPOSITORY / "requirements.lock").read_text().splitlines()
    pins = {
        canonicalize_name(pin.name): pin.specifier
        for pin in (
            Requirement(line.rstrip(" \\")) for line in lines if line and not line.startswith(("#", " "))
        )
    }

    for project in PACKAGES:
        declared = tomllib.loads((REPOSITORY / project / "pyproject.toml").read_text())["project"]
        extras = declared.get("optional-dependencies", {}).values()
        for need in map(
            Requirement, [*declared["dependencies"], *(line for extra in extras for line in extra)]
        ):
            if not need.name.startswith("clew-"):
                (pin,) = pins[canonicalize_name(need.name)]
                assert need.specifier.contains(pin.version), f"{project} needs {need}, the lock has {pin}"


def build(project: str, folder: Path) -> Wheel:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    built = subprocess.run([*command, str(REPOSITORY / project)], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder / "installed")
        names = tuple(archive.namelist())
    (information,) = (folder / "installed").glob("*.dist-info")
    scripts = information / "entry_points.txt"
    return Wheel(
        folder=folder / "installed",
        names=names,
        metadata=Parser().parsestr((information / "METADATA").read_text()),
        scripts=scripts.read_text() if scripts.exists() else "",
    )


def link_what_it_needs(wheels: dict[str, Wheel], project: str, target: Path) -> None:
    """Put into `target` the installed distributions that the wheel leads to, without extras, and no others.

    Our own are passed through, not linked: a test names their wheels itself.
    """
    waiting = [*wheels[project].requirements]
    seen: set[str] = set()
    while waiting:
        need = waiting.pop()
        name = canonicalize_name(need.name)
        if name in seen or (need.marker and not need.marker.evaluate({"extra": ""})):
            continue
        seen.add(name)
        own = name.removeprefix("clew-")
        if own in wheels:
            waiting += wheels[own].requirements
        else:
            distribution = metadata.distribution(name)
            waiting += map(Requirement, distribution.requires or [])
            link(distribution, target)


def link(distribution: metadata.Distribution, target: Path) -> None:
    for top in {file.parts[0] for file in distribution.files or []} - {"..", "__pycache__"}:
        place = target / top
        if not place.exists():
            place.symlink_to(Path(str(distribution.locate_file(top))))


def python(cwd: Path, program: str, folders: Iterable[Path], *names: str) -> tuple[str, list[str]]:
    arguments = json.dumps([[str(folder) for folder in folders], *names])
    command = [sys.executable, "-I", "-S", "-c", program, arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    origin, found = json.loads(done.stdout)
    return origin, found
