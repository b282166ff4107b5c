"""What is remembered of texts: short ones, and nothing of a caller's long ones."""

from __future__ import annotations

import ast
import gc
import weakref
from pathlib import Path

import pytest

import clew_services
import clew_translators
from clew_translators import memo
from clew_translators.memo import LONGEST, remembered

PRODUCT = [
    path
    for package in (clew_translators, clew_services)
    for path in Path(str(package.__file__)).parent.rglob("*.py")
    if path != Path(memo.__file__)
]


class Text(str):
    """A text that can be seen to go."""

    __slots__ = ("__weakref__",)


def test_a_short_text_is_worked_out_once_and_a_long_one_each_time() -> None:
    asked: list[str] = []

    def work(text: str) -> int:
        asked.append(text)
        return len(text)

    measure = remembered(work, entries=8)
    short, long = "a" * LONGEST, "b" * (LONGEST + 1)
    assert [measure(text) for text in (short, short, long, long)] == [200, 200, 201, 201]
    assert asked == [short, long, long]


@pytest.mark.parametrize(("length", "held"), [(LONGEST, True), (LONGEST + 1, False)])
def test_a_long_text_is_let_go(*, length: int, held: bool) -> None:
    measure = remembered(len, entries=8)
    text = Text("a" * length)
    gone = weakref.ref(text)
    measure(text)
    del text
    gc.collect()
    assert (gone() is not None) is held


def test_errors_are_not_remembered() -> None:
    number = remembered(int, entries=8)
    for _ in range(2):
        with pytest.raises(ValueError, match="literal"):
            number("x")


def test_nothing_else_remembers_texts() -> None:
    """``lru_cache`` counts entries, not bytes: use ``remembered``, or say here why another cache is bounded."""
    assert len(PRODUCT) > 100
    found = [
        f"{path.name}:{node.lineno}"
        for path in PRODUCT
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.ImportFrom) and {"lru_cache", "cache"} & {name.name for name in node.names})
        or (isinstance(node, ast.Attribute) and node.attr == "lru_cache")
    ]
    assert found == []
