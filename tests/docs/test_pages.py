"""What the written pages promise: links that lead somewhere, commands that exist, spans that are there, no machine's paths."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from clew_services.adapters.formats.extract import extract
from clew_services.cli.main import app
from clew_services.core import complexity
from clew_services.core.routing import IMPROVED, STRICT

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "docs" / "data" / "corpus"
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
        *(ROOT / "deploy").rglob("*.md"),
        *(p for p in (ROOT / "docs").rglob("*.md") if CORPUS not in p.parents),
    ]
)
MAKEFILE = (ROOT / "Makefile").read_text()


def names(pages: list[Path]) -> list[str]:
    return [str(page.relative_to(ROOT)) for page in pages]


def anchors(text: str) -> set[str]:
    """Of the headings, as GitHub makes them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE):
        plain = re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number = 1
        while (name := anchor if number == 1 else f"{anchor}-{number - 1}") in found:
            number += 1
        found.add(name)
    return found


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("https://", "http://")):
            continue
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        assert path.exists(), f"{page.name} links to {target}"
        assert ROOT in path.parents, f"{target} leads out of the repository"
        if anchor:
            assert anchor in anchors(path.read_text()), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_no_page_names_a_place_of_one_machine(page: Path) -> None:
    text = page.read_text()
    for found in re.findall(r"(?<![\w.])/(?:work|root|home|tmp|Users)\b[^\s`]*", text):
        pytest.fail(f"{found} is a path of one machine")
    for host in re.findall(r"pulsar://([\w.-]+)|http://([\w.-]+):\d+", text):
        name = "".join(host)
        assert name in {"127.0.0.1", "localhost", "host", "broker", "milvus", "models"}, (
            f"{name} is a host of one machine"
        )


def commands() -> Iterator[tuple[str, str]]:
    """(page, command line) of every ``clew …`` in code."""
    for page in PAGES:
        text = page.read_text()
        blocks = re.findall(r"```(?:console|sh|text)\n(.*?)```", text, re.DOTALL)
        lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
        prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        inline = [" ".join(code.split()) for code in re.findall(r"`(clew [^`]+)`", prose)]
        for line in [*lines, *inline]:
            if found := re.match(r"(?:[A-Z_]+=\S+ )*(clew [a-z].*)$", line.strip()):
                yield str(page.relative_to(ROOT)), re.split(r" [|&>#]| 2>", found[1])[0]


@pytest.mark.parametrize(("page", "line"), sorted(set(commands())))
def test_commands_exist_with_their_options(page: str, line: str) -> None:
    command: Any = typer.main.get_command(app)
    words = shlex.split(line.replace("…", "").replace("<service>", "grading"))[1:]
    while words and (below := getattr(command, "commands", None)):
        assert words[0] in below, f"{page}: there is no command `clew {words[0]}` in `{line}`"
        command = below[words.pop(0)]
    known = {"-h", "--help"} | {
        name for param in command.params for name in (*param.opts, *param.secondary_opts)
    }
    for word in words:
        if word.startswith("-") and not word.lstrip("-").isdigit():
            assert word.partition("=")[0] in known, f"{page}: {word} is no option in `{line}`"


def test_there_are_commands_to_check() -> None:
    assert len(set(commands())) > 15


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_targets_of_make_exist(page: Path) -> None:
    for target in re.findall(r"`make ([a-z-]+)", page.read_text()):
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), f"{page.name} names make {target}"


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_python_blocks_come_from_files_that_run(page: Path) -> None:
    text = page.read_text()
    for found in re.finditer(r"^```python\n", text, re.MULTILINE):
        before = text[: found.start()].rstrip("\n").rsplit("\n", 1)[-1]
        assert before.startswith(("<!-- example: docs/examples/", "<!-- excerpt: ")), (
            f"{page.name}: a Python block that no test runs, after {before!r}"
        )
        assert (ROOT / before.split()[2]).is_file(), f"{page.name}: {before} names no file"


def test_excerpts_are_in_the_code_they_are_from() -> None:
    shown = [
        (page, file, code)
        for page in PAGES
        for file, code in re.findall(
            r"<!-- excerpt: (\S+) -->\n```python\n(.*?)```", page.read_text(), re.DOTALL
        )
    ]
    for page, file, code in shown:
        source = (ROOT / file).read_text()
        for line in code.splitlines():
            assert line.strip() in source, f"{page.name} shows {line!r}, which is not in {file}"


def test_spans_in_the_readme_are_spans_of_the_corpus() -> None:
    readme = (ROOT / "README.md").read_text()
    found = re.findall(r"\[\d+\] (\S+\.\w+)(?: p\.\d+)? (\d+)–(\d+) +“([^”]+)”", readme)
    assert len(found) >= 4
    for name, start, end, quote in found:
        text = extract(name, (CORPUS / name).read_bytes()).text[int(start) : int(end)]
        begins = " ".join(text.split())
        assert begins.startswith(quote.removesuffix("…").rstrip()), f"{name} {start}–{end} is not {quote}"


def test_the_table_of_rules_is_the_table_that_decides() -> None:
    page = (ROOT / "docs" / "explanation" / "evidence-and-grading.md").read_text()
    told = re.findall(r"^\| (R\d\d-[\w-]+) \| .* \| (\w+) \|$", page, re.MULTILINE)
    assert told == [(rule.id, rule.route) for rule in STRICT]
    added = re.findall(r"^\| (I\d\d-[\w-]+) \| .* \| (\w+)[^|]* \|$", page, re.MULTILINE)
    assert added == [(rule.id, rule.route) for rule in IMPROVED if rule not in STRICT]


def test_the_page_knows_every_rule_that_a_trace_may_name() -> None:
    page = (ROOT / "docs" / "explanation" / "evidence-and-grading.md").read_text()
    told = set(re.findall(r"\b([RIPFSW]\d\d)\b", page))
    for kind, last in re.findall(r"\b([FPS])01 to [FPS](\d\d)\b", page):
        told |= {f"{kind}{number:02}" for number in range(1, int(last) + 1)}
    code = ROOT / "services" / "clew_services"
    texts = [path.read_text() for path in [*code.glob("core/*.py"), *code.glob("handlers/*.py")]]
    known = {rule for text in texts for rule in re.findall(r"\"([RIPFSW]\d\d)-[a-z-]+\"", text)}
    assert len(known) > 30
    assert {rule.id[:3] for rule in complexity.STRICT} <= known
    assert told == known


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_no_page_is_empty(page: Path) -> None:
    assert len(page.read_text().split()) > 50


def test_tests_that_pages_name_exist() -> None:
    sources: dict[str, str] = {}
    for path in (ROOT / "tests").rglob("*.py"):  # two folders may have files of one name
        sources[path.name] = sources.get(path.name, "") + path.read_text()
    named = {found for page in PAGES for found in re.findall(r"`(\w+\.py)::(test_\w+)`", page.read_text())}
    assert len(named) > 20
    for file, test in sorted(named):
        assert f"def {test}(" in sources.get(file, ""), f"there is no {file}::{test}"
