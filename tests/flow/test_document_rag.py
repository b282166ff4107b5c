"""A question to documents, through the real consumers: its answer, its evidence, its errors."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest

from clew_schema.evidence import Evidence, Grade
from clew_schema.facts import AnswerWritten, QuestionAsked, RunFailed
from clew_schema.retrieval import DocumentRagResponse
from clew_services.adapters.models.chat_scripted import ScriptedGrader, ScriptedWriter
from clew_services.errors import ClewError, ModelFailed, ModelReplyInvalid
from clew_services.ports import Leaf
from clew_translators.explain.facts import facts_of
from clew_translators.explain.seal import broken_seals
from clew_translators.trace_tree import Span
from tests.flow.house import CLEW, GOOD, NOTHING, House


def found(house: House, answer: DocumentRagResponse) -> tuple[Span, ...]:
    """The evidence of the first retrieval, as the published triples tell it."""
    tree = house.trace(f"urn:trustgraph:docrag:{answer.session_id}")
    return next(step.spans for step in tree.steps if step.kind == "retrieval")


async def test_an_answer_cites_a_span_of_the_document_and_its_trace_leads_there(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        assert (await house.load("greek/clew.md", CLEW)).state == "ready"
        answer = await house.ask("What is a clew?")
        assert answer.error is None
        assert (answer.outcome, answer.response) == ("answer", "A ball of thread. [1]")
        (citation,) = answer.citations
        assert citation.filename == "greek/clew.md"
        assert citation.quote == CLEW[citation.start : citation.end] == "A clew is a ball of thread."
        tree = house.trace(f"urn:trustgraph:docrag:{answer.session_id}")
        assert [step.kind for step in tree.steps] == ["plan", "retrieval", "grade", "answer"]
        assert tree.state == "answered"
        (leaf,) = tree.citations
        assert (leaf.filename, leaf.start, leaf.end, leaf.text) == ("greek/clew.md", 0, 27, citation.quote)


async def test_a_question_takes_seven_messages(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        await house.load("clew.md", CLEW)
        before = {name: len(house.bus.messages(name)) for name in house.bus.topics()}
        await house.ask("What is a clew?")
        new = sum(len(house.bus.messages(name)) - before.get(name, 0) for name in house.bus.topics())
        assert new == 7, "request, grading there and back, response, and one batch of triples for each step"


async def test_every_message_of_a_run_carries_its_session_and_collection(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        await house.load("clew.md", CLEW, "greek")
        await house.hear("What is a clew?", collection="greek", session_id="S")
        for name in ("document-rag-request", "grading-request", "grading-response", "document-rag-response"):
            bodies = house.published(name)
            assert bodies
            assert {(body.session_id, body.collection) for body in bodies} == {("S", "greek")}
        for batch in house.batches("urn:trustgraph:docrag:S"):
            assert batch.metadata is not None
            assert batch.metadata.collection == "greek"


async def test_claims_have_the_same_names_streamed_or_not_and_are_those_of_the_trace(tmp_path: Path) -> None:
    text = "A clew is a ball of thread. [1] Theseus never used it. [1] The thread was red and long."
    # Two runs under one name, so that the names of the claims can be compared, are no trace of one.
    async with House(tmp_path, writer=ScriptedWriter(text), proves=False) as house:
        await house.load("clew.md", CLEW)
        whole = await house.ask("What is a clew?", session_id="S")
        streamed = (await house.hear("What is a clew?", session_id="S"))[-1]
        assert streamed.message_type == "end"
        assert whole.claims == streamed.claims
        assert [
            (text[c.start : c.end], c.verdict, c.id.removeprefix(whole.message_id)) for c in whole.claims
        ] == [
            ("A clew is a ball of thread.", "supported", "/claim/1"),
            ("Theseus never used it.", "unsupported", "/claim/2"),
            ("The thread was red and long.", "uncited", "/claim/3"),
        ]
        assert whole.coverage == pytest.approx(1 / 3)
        facts = facts_of([t for b in house.batches("urn:trustgraph:docrag:S") for t in b.triples])
        told = next(fact for fact in facts if isinstance(fact, AnswerWritten))
        assert told.claims == tuple(claim.model_copy(update={"id": ""}) for claim in whole.claims)


async def test_every_fact_is_sealed_and_names_its_version(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        await house.load("clew.md", CLEW)
        answer = await house.ask("What is a clew?", user="Ada")
        batches = house.batches(f"urn:trustgraph:docrag:{answer.session_id}")
        facts = facts_of([triple for batch in batches for triple in batch.triples])
        assert len(facts) == 5
        assert not broken_seals(facts)
        assert {fact.version for fact in facts[1:]} == {version("clew-services")}
        assert isinstance(facts[0], QuestionAsked)
        assert facts[0].person == "Ada"
        forged = facts[2].model_copy(update={"ended_at": facts[2].started_at[:-2] + "9Z"})
        assert [each.position for each in broken_seals((*facts[:2], forged, *facts[3:]))] == [3]
        assert broken_seals((*facts[:2], *facts[3:])), "and so is one that is missing"


async def test_steps_come_while_the_run_goes_on(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        await house.load("clew.md", CLEW)
        heard = await house.hear("What is a clew?")
        kinds = [body.message_type for body in heard]
        assert kinds[0] == "explain"
        assert kinds[-1] == "end"
        assert kinds.count("explain") == 3
        assert "chunk" in kinds
        assert "".join(body.response or "" for body in heard if body.message_type == "chunk").strip()
        assert (heard[-1].end_of_stream, heard[-1].end_of_session) == (True, True)


async def test_evidence_that_says_nothing_ends_as_no_knowledge_and_asks_no_writer(tmp_path: Path) -> None:
    async with House(tmp_path, grader=ScriptedGrader(NOTHING)) as house:
        await house.load("clew.md", CLEW)
        answer = await house.ask("Who won the cup?")
        assert answer.outcome == "no_knowledge"
        assert answer.error is None
        assert not answer.citations
        assert not house.writer.calls
        tree = house.trace(f"urn:trustgraph:docrag:{answer.session_id}")
        assert tree.state == "no_knowledge"


@pytest.mark.parametrize(
    ("ambiguity", "outcome"),
    [("missing_slot", "needs_clarification"), ("multiple_candidates", "needs_scope_selection")],
)
async def test_a_question_that_leaves_something_open_is_asked_back(
    tmp_path: Path, ambiguity: str, outcome: str
) -> None:
    grade = Grade.model_validate(
        GOOD.model_dump()
        | {"answerability": "partial", "ambiguity": ambiguity}
        | {"hitl_prompt": "Which one?", "hitl_options": ("a", "b")}
    )
    async with House(tmp_path, grader=ScriptedGrader(grade)) as house:
        await house.load("clew.md", CLEW)
        answer = await house.ask("What is it?")
        assert (answer.outcome, answer.response, answer.options) == (outcome, "Which one?", ("a", "b"))
        assert answer.end_of_session
        assert answer.ticket
        assert answer.expires_at > "2026"
        assert house.trace(f"urn:trustgraph:docrag:{answer.session_id}").state == "needs_input"


async def test_a_collection_nobody_made_is_an_error_not_an_answer(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        answer = await house.ask("What is a clew?", collection="nowhere")
        assert answer.error is not None
        assert answer.error.type == "unknown-collection"
        assert "'nowhere'" in answer.error.message
        assert (answer.end_of_stream, answer.end_of_session) == (True, True)
        assert house.trace(f"urn:trustgraph:docrag:{answer.session_id}").state == "failed"
        assert not house.published("dead-letter")


async def test_an_empty_collection_is_an_error_of_its_own(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        status = await house.load("empty.pdf", b"%PDF-1.4 this is none", "hollow")
        assert status.state == "failed"
        assert status.error is not None
        assert status.error.type == "document-unreadable"
        answer = await house.ask("What is a clew?", collection="hollow")
        assert answer.error is not None
        assert answer.error.type == "empty-collection"


async def test_another_tenants_documents_are_never_evidence(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        await house.load("clew.md", CLEW, "a")
        await house.load("secret.md", "The clew of b is red. " + CLEW, "b")
        answer = await house.ask("What is a clew?", collection="a")
        tree = house.trace(f"urn:trustgraph:docrag:{answer.session_id}")
        names = {span.filename for step in tree.steps for span in step.spans}
        assert names == {"clew.md"}
        assert not await house.traces.run("b", f"urn:trustgraph:docrag:{answer.session_id}")


@pytest.mark.parametrize(("question", "limit"), [("   ", 0), ("x" * 10_001, 0), ("ok?", -1), ("ok?", 10_000)])
async def test_a_question_that_cannot_be_asked_is_refused(tmp_path: Path, question: str, limit: int) -> None:
    async with House(tmp_path) as house:
        answer = await house.ask(question, doc_limit=limit)
        assert answer.error is not None
        assert answer.error.type == "bad-request"


@pytest.mark.parametrize(
    ("error", "expected"),
    [(ModelReplyInvalid("prose"), "model-reply-invalid"), (ModelFailed("timed out"), "model-failed")],
)
@pytest.mark.parametrize("where", ["grader", "writer"])
async def test_a_model_that_fails_is_an_error_with_a_letter_and_a_trace(
    tmp_path: Path, where: str, error: ClewError, expected: str
) -> None:
    model = ScriptedGrader(error) if where == "grader" else ScriptedWriter(error)
    async with House(tmp_path, max_attempts=1, **{where: model}) as house:
        await house.load("clew.md", CLEW)
        answer = await house.ask("What is a clew?")
        assert answer.error is not None
        assert answer.error.type == expected
        assert answer.end_of_session
        (letter,) = house.published("dead-letter")
        assert letter.step == ("grading.grade" if where == "grader" else "document-rag.answer")
        tree = house.trace(f"urn:trustgraph:docrag:{answer.session_id}")
        assert tree.state == "failed"
        assert tree.question == "What is a clew?"
        batches = house.batches(f"urn:trustgraph:docrag:{answer.session_id}")
        facts = facts_of([triple for batch in batches for triple in batch.triples])
        assert isinstance(facts[-1], RunFailed)
        assert (facts[-1].letter, facts[-1].attempt) == (letter.letter_id, 1)
        assert not broken_seals(facts)


async def test_a_question_in_chinese_finds_chinese(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        await house.load("线团.txt", "线团是忒修斯走出迷宫时用的东西。阿里阿德涅把线团交给了他。")
        answer = await house.ask("线团是什么?")
        assert answer.error is None
        (first, *_) = found(house, answer)
        assert (first.filename, first.bm25_rank) == ("线团.txt", 1)


async def test_a_document_taken_in_again_changes_nothing_and_new_content_replaces_the_old(
    tmp_path: Path,
) -> None:
    async with House(tmp_path) as house:
        first = await house.load("clew.md", CLEW)
        again = await house.load("clew.md", CLEW)
        assert (first.state, again.state) == ("ready", "unchanged")
        await house.load("clew.md", "A clew is a hint, in another spelling.")
        answer = await house.ask("What is a clew?")
        spans = found(house, answer)
        assert [span.text for span in spans] == ["A clew is a hint, in another spelling."]


async def test_a_document_that_fails_leaves_the_old_version_serving(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        await house.load("clew.md", CLEW)
        assert (await house.load("clew.md", b"")).state == "failed"
        assert (await house.ask("What is a clew?")).error is None


async def test_a_version_that_is_still_being_built_is_no_evidence(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        await house.load("clew.md", CLEW)
        (info,) = await house.catalog.documents("default")
        vectors, embedder = house.given["vectors"], house.given["embedder"]
        text = "A clew is something else altogether."
        (vector,) = await embedder.passages([text])
        half = Evidence(
            chunk_id="urn:chunk:new", document_id=info.document_id, version="next", text=text, end=len(text)
        )
        await house.catalog.put_document(replace(info, version="next", state="building"))
        await vectors.upsert("default", [Leaf(evidence=half, vector=vector)])
        answer = await house.ask("What is a clew?")
        spans = found(house, answer)
        assert {span.version for span in spans} == {info.version}
        assert [span.number for span in spans] == list(range(1, len(spans) + 1))
