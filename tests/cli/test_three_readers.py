"""What a reader who knows nothing of the code must be able to say of three runs, from `clew trace why` alone.

Which sentence is not supported; which chunk was rejected and why; what the person changed. Each run is one of the services'
own, stored as it was published; what is printed is compared with what its facts say.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from clew_schema.evidence import ChunkGrade, Evidence, Grade
from clew_schema.facts import AnswerWritten, EvidenceGraded, EvidenceRetrieved, Fact, RunPaused, RunResumed
from clew_services.adapters.models.chat_scripted import ScriptedGrader, ScriptedWriter
from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from clew_services.core.answer import Draft, Quote
from clew_translators.explain.facts import facts_of
from tests.cli.shell import Shell
from tests.flow.house import GOOD, House

RETURNS = "Goods may be returned within 30 days of delivery. The buyer pays for the return shipping."
WARRANTY = "The warranty lasts 24 months for private buyers. For companies it lasts 12 months."
AUSTRIA = "Delivery to Austria takes three days and costs 9 euros."
UNCLEAR = Grade(
    relevance="weak",
    answerability="none",
    ambiguity="missing_slot",
    route="clarify",
    missing_slots=("country",),
    hitl_prompt="To which country?",
    hitl_options=("Austria", "Norway"),
    reason="the country is not said",
)


def written(question: str, evidence: list[Evidence], *_: object, **__: object) -> Draft:
    """An answer of which one sentence is right, one is made up, one has the wrong source, and one has none."""
    place = {name: number for number, one in enumerate(evidence, 1) for name in (one.filename,)}
    returns, warranty = place["returns.md"], place["warranty.md"]
    text = (
        f"Goods may be returned within 30 days of delivery. [{returns}]"
        f" Opened software is refunded in cash on Sundays. [{warranty}]"
        f" The warranty lasts 24 months for private buyers. [{returns}]"
        " Customers love it here."
    )
    return Draft(text=text, quotes=(Quote(number=returns, start=0, end=49),))


def graded(question: str, evidence: list[Evidence]) -> Grade:
    """Of single chunks, too: that on deliveries has nothing to do with the question."""
    places = [n for n, one in enumerate(evidence, 1) if one.filename == "austria.md"]
    opinions = tuple(ChunkGrade(place=n, relevance="none", reason="about deliveries") for n in places)
    return GOOD.model_copy(update={"chunks": opinions})


class Reader:
    """Somebody with a terminal."""

    def __init__(self, house: House, shell: Shell) -> None:
        self._house, self._shell = house, shell

    async def read(self, session: str, *arguments: object) -> list[str]:
        """The lines that are printed of a run, without the lines of the tree."""
        store = OxigraphTraceStore(self._shell.data / "traces")
        await store.add(self._house.batches(f"urn:trustgraph:docrag:{session}"))
        await store.close()
        said = self._shell.run("trace", "why", session, *arguments, COLUMNS="400")
        assert (said.code, said.err) == (0, "")
        return [line.lstrip("│├└─ ").rstrip() for line in said.out.splitlines()]

    def facts(self, session: str) -> tuple[Fact, ...]:
        batches = self._house.batches(f"urn:trustgraph:docrag:{session}")
        return facts_of(quad for batch in batches for quad in batch.triples)


async def house_of(tmp_path: Path, **given: object) -> AsyncIterator[Reader]:
    async with House(tmp_path / "house", **given) as house:
        for name, text in {"returns.md": RETURNS, "warranty.md": WARRANTY, "austria.md": AUSTRIA}.items():
            await house.load(name, text)
        yield Reader(house, Shell(data=tmp_path))


@pytest.fixture
async def answered(tmp_path: Path) -> AsyncIterator[Reader]:
    async for reader in house_of(tmp_path, writer=ScriptedWriter(written), grader=ScriptedGrader(graded)):
        await reader._house.ask("What may I send back?", session_id="reader-1", user="ada")
        yield reader


async def test_which_sentence_is_unsupported(answered: Reader) -> None:
    lines = await answered.read("reader-1")
    (answer,) = [fact for fact in answered.facts("reader-1") if isinstance(fact, AnswerWritten)]
    assert [claim.verdict for claim in answer.claims] == [
        "supported", "unsupported", "misattributed", "uncited",
    ]  # fmt: skip
    cited = {citation.number: citation for citation in answer.citations}
    right, made_up, wrong, bare = (
        (claim, answer.text[claim.start : claim.end], [cited[n] for n in claim.citations])
        for claim in answer.claims
    )
    assert f"1. {right[1]}  supported" in lines
    assert lines[lines.index(f"2. {made_up[1]}  NOT SUPPORTED") + 1].startswith(
        f"[{made_up[2][0].number}] warranty.md 0–"
    )
    (checked,) = [check for check in answer.checks if check.start == made_up[0].start]
    assert lines[lines.index(f"2. {made_up[1]}  NOT SUPPORTED") + 1].endswith(
        f"NOT SUPPORTED: {checked.lexical:.0%} of the sentence's words stand there"
    )
    (better,) = [check.better for check in answer.checks if check.start == wrong[0].start]
    assert lines[lines.index(f"3. {wrong[1]}  WRONG SOURCE") + 1].endswith(
        f"WRONG SOURCE, but [{better}] says so"
    )
    assert cited[better].filename == "warranty.md"
    assert f"4. {bare[1]}  NO SOURCE" in lines
    assert "25% of its sentences supported" in lines[2]
    assert answer.coverage == 0.25
    assert lines[1].startswith("asked by ada")


async def test_which_chunk_was_rejected_and_why(answered: Reader) -> None:
    lines = await answered.read("reader-1")
    facts = answered.facts("reader-1")
    (found,) = [fact for fact in facts if isinstance(fact, EvidenceRetrieved)]
    (grade,) = [fact for fact in facts if isinstance(fact, EvidenceGraded)]
    (opinion,) = grade.grade.chunks
    chunk = found.evidence[opinion.place - 1]
    assert lines[lines.index("Found and not cited: 1") + 1] == (
        f"{chunk.filename}  “{chunk.text[:47].rstrip()}…”  {grade.grader} found it irrelevant: {opinion.reason};"
        " it was read, and no sentence cites it"
    )


async def test_what_the_person_changed(tmp_path: Path) -> None:
    says = ScriptedWriter(Draft(text=f"{AUSTRIA} [1]"))
    grades = ScriptedGrader([UNCLEAR, GOOD])
    async for reader in house_of(tmp_path, writer=says, grader=grades, doc_limit=1):
        house = reader._house
        asked = await house.ask("What does delivery cost?", session_id="reader-2", user="ada")
        waits = await reader.read("reader-2")
        assert waits[2].startswith("→ waits for a person (needs_clarification)")
        assert "nobody has answered yet" in waits
        await house.ask("", ticket=asked.ticket, answer="Austria", user="bob")
        lines = await reader.read("reader-2")
        facts = reader.facts("reader-2")
        (paused,) = [fact for fact in facts if isinstance(fact, RunPaused)]
        (resumed,) = [fact for fact in facts if isinstance(fact, RunResumed)]
        before, after = (fact for fact in facts if isinstance(fact, EvidenceRetrieved))
        last = [fact for fact in facts if isinstance(fact, EvidenceGraded)][-1]
        new = {one.chunk_id for one in after.evidence} - {one.chunk_id for one in before.evidence}
        place = lines.index(f"A person was asked  {paused.prompt}")
        assert lines[place + 1 : place + 5] == [
            "to choose from  Austria; Norway",
            f"{resumed.person} said  {resumed.answer}",
            f"so this was searched  {after.query}",
            f"which changed  {paused.status} → {last.status}; {len(after.evidence)} chunks found, {len(new)} of them new",
        ]
        assert (resumed.person, resumed.answer, last.status) == ("bob", "Austria", "answerable")
        assert lines[2].startswith("→ answered")
        chain = await reader.read("reader-2", "--sentence", 1)
        assert f"searched  pass {after.pass_number}: {after.query}" in chain
        assert "question  What does delivery cost?" in chain
