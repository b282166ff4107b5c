"""Labelled questions as documents and cases: the set that is shipped, and public ones from a folder of yours.

A folder given with ``--data`` may hold ``xquad/*.json`` and ``cmrc2018/*.json`` (SQuAD's format),
``hotpot/*.jsonl`` (HotpotQA's records) and ``chunking_evaluation/`` (its CSV and corpora); what is missing is passed
over. Unanswerable questions are real ones whose documents, or whose paragraphs alone, are left out of the collection.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew_services.core.sentences import sentences
from clew_services.evaluation.cases import Case, read_cases

ROOT = Path(__file__).parents[2]
OUT = 4
"""Every so many-th document is left out, with its questions becoming unanswerable."""


@dataclass(frozen=True)
class Dataset:
    """Documents by name, and cases. The id of an unanswerable case begins with what was left out."""

    name: str
    documents: Mapping[str, bytes]
    cases: tuple[Case, ...]

    def sample(self, most: int) -> Dataset:
        """At most ``most`` answerable questions and half as many of each kind of unanswerable ones, evenly spaced."""
        kinds: dict[str, list[Case]] = {}
        for case in self.cases:
            kinds.setdefault(kind(case), []).append(case)
        taken = [
            case
            for name, cases in kinds.items()
            for case in spaced(cases, most if name == "answerable" else most // 2)
        ]
        return Dataset(self.name, self.documents, tuple(taken))


def kind(case: Case) -> str:
    """``answerable``, or what makes it unanswerable."""
    return case.id.partition(":")[0] if case.unanswerable else "answerable"


def spaced(cases: Sequence[Case], most: int) -> list[Case]:
    """At most ``most`` of ``cases``, evenly spaced, the first one first."""
    if len(cases) <= most:
        return list(cases)
    return [cases[at * len(cases) // most] for at in range(most)]


def shipped() -> Dataset:
    """Our own questions about the demo corpus: licences, English and Chinese."""
    corpus = sorted((ROOT / "docs" / "data" / "corpus").iterdir())
    cases = read_cases(ROOT / "benchmarks" / "data" / "licences.jsonl")
    marked = (
        case.model_copy(update={"id": f"elsewhere:{case.id}"}) if case.unanswerable else case
        for case in cases
    )
    return Dataset("licences", {path.name: path.read_bytes() for path in corpus}, tuple(marked))


def public(folder: Path) -> Iterator[Dataset]:
    """The sets that ``folder`` holds."""
    readers: tuple[tuple[str, Callable[[Path], Dataset]], ...] = (
        ("xquad/*.json", squad),
        ("cmrc2018/*.json", squad),
        ("hotpot/*.jsonl", hotpot),
        ("chunking_evaluation/questions_df.csv", excerpts),
    )
    for pattern, read in readers:
        for path in sorted(folder.glob(pattern)):
            yield read(path)


def squad(path: Path) -> Dataset:
    """One document for each article. Every fourth is left out; of longer ones that stay, so is the last paragraph."""
    documents: dict[str, bytes] = {}
    cases: list[Case] = []
    for number, article in enumerate(json.loads(path.read_text(encoding="utf-8"))["data"]):
        name, paragraphs = f"{path.stem}-{number:03}.txt", article["paragraphs"]
        kept = [] if number % OUT == OUT - 1 else paragraphs[: max(1, len(paragraphs) - 1)]
        if kept:
            documents[name] = "\n\n".join(each["context"] for each in kept).encode()
        for at, paragraph in enumerate(paragraphs):
            left_out = "document" if not kept else "paragraph" if at >= len(kept) else ""
            cases += [squad_case(name, paragraph["context"], asked, left_out) for asked in paragraph["qas"]]
    return Dataset(f"{path.parent.name}-{path.stem}", documents, tuple(cases))


def squad_case(document: str, context: str, asked: Mapping[str, Any], left_out: str) -> Case:
    """A question with its answers, wanted in the sentence that the first answer stands in."""
    if left_out:
        return Case(question=asked["question"], unanswerable=True, id=f"{left_out}:{asked['id']}")
    answers = tuple(dict.fromkeys(answer["text"] for answer in asked["answers"]))
    first = asked["answers"][0]
    start, end = first["answer_start"], first["answer_start"] + len(first["text"])
    around = [s for s in sentences(context) if s.start < end and start < s.end]
    passage = context[around[0].start : around[-1].end] if around else first["text"]
    return Case(
        question=asked["question"],
        answers=answers,
        documents=(document,),
        passages=(passage,),
        id=asked["id"],
    )


def hotpot(path: Path) -> Dataset:
    """All paragraphs of all questions as documents; questions need two. The gold ones of every fourth are left out."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    kept = [record for number, record in enumerate(records) if number % OUT != OUT - 1]
    wanted = {title for record in kept for title in record["supporting_facts"]["title"]}
    gone = {title for record in records for title in record["supporting_facts"]["title"]} - wanted
    documents = {
        f"{title}.txt": "".join(told).encode()
        for record in records
        for title, told in zip(record["context"]["title"], record["context"]["sentences"], strict=True)
        if title not in gone
    }
    answerable = (hotpot_case(record) for record in kept)
    rest = (record for record in records if gone.intersection(record["supporting_facts"]["title"]))
    silent = (Case(question=r["question"], unanswerable=True, id=f"document:{r['id']}") for r in rest)
    return Dataset("hotpot", documents, (*answerable, *silent))


def hotpot_case(record: Mapping[str, Any]) -> Case:
    """A question with its answer (unless that is yes or no, which nobody quotes) and its supporting sentences."""
    told = dict(zip(record["context"]["title"], record["context"]["sentences"], strict=True))
    facts = record["supporting_facts"]
    pairs = [(t, n) for t, n in zip(facts["title"], facts["sent_id"], strict=True) if n < len(told[t])]
    return Case(
        question=record["question"],
        answers=() if record["answer"] in {"yes", "no"} else (record["answer"],),
        documents=tuple(dict.fromkeys(f"{title}.txt" for title, _ in pairs)),
        passages=tuple(told[title][number].strip() for title, number in pairs),
        id=record["id"],
    )


def excerpts(path: Path) -> Dataset:
    """Long documents; questions with the excerpts that answer them. The chat logs are left out."""
    left_out = "chatlogs"
    documents = {
        file.name: file.read_bytes() for file in sorted(path.parent.glob("*.md")) if file.stem != left_out
    }
    cases: list[Case] = []
    with path.open(encoding="utf-8", newline="") as lines:
        for number, row in enumerate(csv.DictReader(lines)):
            if row["corpus_id"] == left_out:
                cases.append(Case(question=row["question"], unanswerable=True, id=f"document:{number}"))
                continue
            wanted = tuple(each["content"] for each in json.loads(row["references"]))
            name = f"{row['corpus_id']}.md"
            cases.append(Case(question=row["question"], documents=(name,), passages=wanted, id=str(number)))
    return Dataset("excerpts", documents, tuple(cases))
