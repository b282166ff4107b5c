"""Labelled sets become documents and cases: every format on a made-up example, and the set that is shipped."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.quality.datasets import ROOT, Dataset, excerpts, hotpot, kind, public, shipped, spaced, squad
from clew_services.adapters.formats.extract import extract
from clew_services.evaluation.cases import Case
from clew_services.evaluation.matching import holds_answer


def paragraph(number: int, text: str, answer: str) -> dict[str, Any]:
    asked = {
        "id": f"q{number}",
        "question": f"Question {number}?",
        "answers": [
            {"text": answer, "answer_start": text.index(answer)},
            {"text": answer, "answer_start": 0},
        ],
    }
    return {"context": text, "qas": [asked]}


def test_squad_leaves_out_every_fourth_article_and_the_last_paragraph_of_longer_ones(tmp_path: Path) -> None:
    articles = [
        {
            "paragraphs": [
                paragraph(n, f"Nothing here. It was the {n}th of May, they say. No more.", f"{n}th of May")
            ]
        }
        for n in range(4)
    ]
    articles[0]["paragraphs"].append(paragraph(10, "Left out: ten.", "ten"))
    (tmp_path / "xquad").mkdir()
    file = tmp_path / "xquad" / "en.json"
    file.write_text(json.dumps({"data": articles}))
    found = squad(file)
    assert found.name == "xquad-en"
    assert list(found.documents) == ["en-000.txt", "en-001.txt", "en-002.txt"]
    assert b"ten" not in found.documents["en-000.txt"]
    assert found.cases[0] == Case(
        question="Question 0?",
        answers=("0th of May",),
        documents=("en-000.txt",),
        passages=("It was the 0th of May, they say.",),
        id="q0",
    )
    assert [(case.id, kind(case)) for case in found.cases if case.unanswerable] == [
        ("paragraph:q10", "paragraph"),
        ("document:q3", "document"),
    ]


def test_hotpot_wants_every_supporting_sentence_and_leaves_out_what_only_the_fourth_needs(
    tmp_path: Path,
) -> None:
    def record(number: int, gold: list[str], answer: str) -> dict[str, Any]:
        return {
            "id": str(number),
            "question": f"Question {number}?",
            "answer": answer,
            "supporting_facts": {"title": gold, "sent_id": [1, 7]},
            "context": {"title": [*gold, "Other"], "sentences": [["One.", " Two."], ["Three."], ["Four."]]},
        }

    file = tmp_path / "distractor.jsonl"
    golds = (["A", "B"], ["A", "C"], ["A", "D"], ["A", "E"])
    rows = [record(n, gold, "yes" if n else "Two") for n, gold in enumerate(golds)]
    file.write_text("\n".join(map(json.dumps, rows)))
    found = hotpot(file)
    assert set(found.documents) == {"A.txt", "B.txt", "C.txt", "D.txt", "Other.txt"}, (
        "E is needed by the fourth alone"
    )
    assert found.documents["A.txt"] == b"One. Two."
    first, second, _, last = found.cases
    assert first == Case(
        question="Question 0?", answers=("Two",), documents=("A.txt",), passages=("Two.",), id="0"
    )
    assert second.answers == (), "nobody quotes yes"
    assert (last.id, last.unanswerable) == ("document:3", True)


def test_excerpts_want_each_reference(tmp_path: Path) -> None:
    for name in ("speech", "chatlogs"):
        (tmp_path / f"{name}.md").write_text("text")
    file = tmp_path / "questions_df.csv"
    with file.open("w", newline="") as lines:
        rows = csv.DictWriter(lines, ["question", "references", "corpus_id"])
        rows.writeheader()
        wanted = json.dumps([{"content": "one, two"}, {"content": "three"}])
        rows.writerow({"question": "Which?", "references": wanted, "corpus_id": "speech"})
        rows.writerow({"question": "Who?", "references": "[]", "corpus_id": "chatlogs"})
    found = excerpts(file)
    assert found.documents == {"speech.md": b"text"}
    assert found.cases == (
        Case(question="Which?", documents=("speech.md",), passages=("one, two", "three"), id="0"),
        Case(question="Who?", unanswerable=True, id="document:1"),
    )


def test_a_folder_without_sets_has_none(tmp_path: Path) -> None:
    assert list(public(tmp_path)) == []


def test_samples_are_spaced_and_keep_the_kinds() -> None:
    cases = [
        Case(question=str(n), unanswerable=n >= 10, documents=("d",) if n < 10 else ()) for n in range(20)
    ]
    assert [case.question for case in spaced(cases, 4)] == ["0", "5", "10", "15"]
    assert spaced(cases[:3], 4) == cases[:3]
    marked = [c.model_copy(update={"id": f"gone:{c.question}"}) if c.unanswerable else c for c in cases]
    sample = Dataset("d", {}, tuple(marked)).sample(4)
    assert [kind(case) for case in sample.cases] == ["answerable"] * 4 + ["gone"] * 2


SHIPPED = shipped()


def test_the_shipped_set_is_large_enough_to_say_something() -> None:
    kinds = [kind(case) for case in SHIPPED.cases]
    assert (kinds.count("answerable"), kinds.count("elsewhere")) == (66, 24)
    assert len({case.id for case in SHIPPED.cases}) == len({case.question for case in SHIPPED.cases}) == 90


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "docs" / "data" / "corpus").iterdir()))
def test_its_answers_stand_in_the_documents_that_it_names(name: str) -> None:
    text = extract(name, SHIPPED.documents[name]).text
    asked = [case for case in SHIPPED.cases if name in case.documents]
    assert len(asked) >= 4
    assert [case.id for case in asked if not holds_answer(text, case.answers)] == []
