"""What a person is told of an answer whose sentences are not all supported."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from clew_schema.retrieval import DocumentRagQuery
from clew_services.adapters.models.chat_scripted import ScriptedWriter
from clew_services.cli.telling import Telling
from tests.flow.house import CLEW, House


async def told(tmp_path: Path, answer: str) -> list[str]:
    """The lines of the answer, as a pipe gets them."""
    out = Console(file=StringIO(), width=100)
    async with House(tmp_path, writer=ScriptedWriter(answer)) as house:
        await house.load("clew.md", CLEW)
        query = DocumentRagQuery(query="What is a clew?", streaming=True)
        await Telling(Console(file=StringIO()), out).follow(house.client, query, timeout=10)
    assert isinstance(out.file, StringIO)
    return [line for line in out.file.getvalue().splitlines() if line.startswith("  ")]


@pytest.mark.parametrize(
    ("answer", "doubts"),
    [
        ("A clew is a ball of thread. [1]", []),
        (
            "A clew is a ball of thread. [1] Theseus never used it. [1] The thread was red and long.",
            [
                "  [1] does not support: “Theseus never used it.”",
                "  cites nothing: “The thread was red and long.”",
                "  citations support 33% of the sentences",
            ],
        ),
        (
            "线团是一个线球，忒修斯用过它。[1]",
            [
                "  could not be checked: “线团是一个线球，忒修斯用过它。”",
                "  citations support 0% of the sentences",
            ],
        ),
    ],
)
async def test_doubtful_sentences_are_told_after_the_citations(
    tmp_path: Path, answer: str, doubts: list[str]
) -> None:
    lines = await told(tmp_path, answer)
    assert lines[0].startswith("  [1] clew.md, characters 0–")
    assert lines[2:] == doubts
