"""What people ask of such systems in public threads, each met by a test that is named after it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from prov.model import ProvDocument

from clew_schema.evidence import ChunkGrade, Grade
from clew_schema.facts import AnswerWritten, EvidenceGraded
from clew_schema.rdf import Triple, iri
from clew_services.adapters.models.chat_scripted import ScriptedGrader, ScriptedWriter
from clew_translators import namespaces as ns
from clew_translators.explain import names
from clew_translators.explain.facts import FactsUnreadable, facts_of
from clew_translators.explain.seal import altered, broken_seals
from clew_translators.exports import export
from clew_translators.prov.formats import read
from clew_translators.validating import validate
from clew_translators.why import why
from tests.flow.house import CLEW, GOOD, House
from tests.flow.proving import Run, quads_of, runs_of

TEXT = "A clew is a ball of thread. [1] Theseus never used it. [1] The thread was red and long."
ASKS = Grade(
    relevance="weak", answerability="partial", ambiguity="missing_slot", route="clarify", hitl_prompt="Which?"
)


async def asked(tmp_path: Path, *, streaming: bool = False, session: str = "S") -> tuple[Run, str]:
    """One run with an answer of three sentences, and its answer's name."""
    grade = GOOD.model_copy(
        update={"chunks": (ChunkGrade(place=1, relevance="strong", reason="It says it."),)}
    )
    async with House(tmp_path, writer=ScriptedWriter(TEXT), grader=ScriptedGrader(grade, name="m1")) as house:
        await house.load("clew.md", CLEW)
        if streaming:
            answer = (await house.hear("What is a clew?", session_id=session))[-1]
        else:
            answer = await house.ask("What is a clew?", session_id=session)
        (run,) = runs_of(house.published("explainability"))
        return run, "\n".join(claim.id for claim in answer.claims)


# --- the W3C PROV export of a run -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("format_", "given"),
    [
        ("provjson", {"format": "json"}),
        ("provxml", {"format": "xml"}),
        ("turtle", {"format": "rdf", "rdf_format": "turtle"}),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")  # of prov, on names that it shortens in its own way
async def test_a_run_is_exported_as_w3c_prov_that_another_library_reads(
    tmp_path: Path, format_: str, given: dict[str, str]
) -> None:
    run, _ = await asked(tmp_path)
    document = ProvDocument.deserialize(content=export(run.quads, format_), **given).flattened()
    found = {str(each.identifier.uri) for each in document.get_records() if each.identifier is not None}
    assert {run.uri, f"{run.uri}/synthesis"} <= found
    kinds = {type(each).__name__ for each in document.get_records()}
    assert {"ProvActivity", "ProvEntity", "ProvAgent", "ProvUsage", "ProvGeneration"} <= kinds


async def test_a_run_is_exported_as_prov_n(tmp_path: Path) -> None:
    """The library writes PROV-N and reads none: it writes the run from its PROV-JSON, and both say the same."""
    run, _ = await asked(tmp_path)
    ours = read(export(run.quads, "provn"), "provn")
    theirs = ProvDocument.deserialize(content=export(run.quads, "provjson"), format="json").get_provn()
    again = read(theirs, "provn")
    assert {each.id for each in ours.statements if each.id} == {
        each.id for each in again.statements if each.id
    }
    assert len(ours.statements) == len(again.statements) > 20


# --- citations of single claims -------------------------------------------------------------------


async def test_each_claim_has_an_id_that_is_the_same_streamed_or_not_and_leads_into_the_trace(
    tmp_path: Path,
) -> None:
    whole, ids = await asked(tmp_path)
    streamed, same = await asked(tmp_path, streaming=True)
    assert ids == same
    assert ids.splitlines() == [f"{whole.uri}/synthesis/claim/{number}" for number in (1, 2, 3)]
    for run in (whole, streamed):
        subjects = {quad.s.iri for quad in run.quads if quad.s is not None}
        assert set(ids.splitlines()) <= subjects


async def test_a_citation_names_document_version_span_and_the_hash_of_its_quote(tmp_path: Path) -> None:
    run, _ = await asked(tmp_path)
    first = why(run.facts, run.uri).sentences[0].supports[0]
    assert first.quote == CLEW[first.start : first.end]
    assert first.quote_sha256 == sha256(first.quote.encode()).hexdigest()
    assert (first.filename, first.document[:4]) == ("clew.md", "urn:")
    assert first.version


async def test_every_citation_has_a_verdict_and_the_answer_a_coverage(tmp_path: Path) -> None:
    run, _ = await asked(tmp_path)
    told = why(run.facts, run.uri)
    assert [
        (sentence.verdict, [each.verdict for each in sentence.supports]) for sentence in told.sentences
    ] == [
        ("supported", ["supported"]),
        ("unsupported", ["unsupported"]),
        ("uncited", []),
    ]
    (answer,) = (fact for fact in run.facts if isinstance(fact, AnswerWritten))
    assert answer.coverage == pytest.approx(1 / 3)
    figures = [quad.o.value for quad in run.quads if quad.p and quad.o and quad.p.iri == names.COVERAGE]
    assert [float(figure) for figure in figures] == [answer.coverage]


# --- who graded -----------------------------------------------------------------------------------


async def test_it_is_told_which_model_graded_with_which_prompt(tmp_path: Path) -> None:
    run, _ = await asked(tmp_path)
    (graded,) = (fact for fact in run.facts if isinstance(fact, EvidenceGraded))
    assert (graded.grader, graded.prompt_version) == ("m1", "scripted")
    found_in = why(run.facts, run.uri).sentences[0].supports[0].found_in
    assert found_in is not None
    assert (found_in.grader, found_in.prompt_version) == ("m1", "scripted")
    document = read(export(run.quads, "provjson"), "provjson")
    models = {
        each.id for each in document.statements if each.kind == "agent" and "'m1'" in str(each.attributes)
    }
    graders = [
        each.argument("activity")
        for each in document.statements
        if each.kind == "wasAssociatedWith" and each.argument("agent") in models
    ]
    assert len(graders) == 1
    assert graders[0] is not None
    assert graders[0].startswith(f"{run.uri}/"), "the activity that graded was associated with the model"


async def test_it_is_told_which_person_decided_what_a_model_left_open(tmp_path: Path) -> None:
    async with House(tmp_path, grader=ScriptedGrader([ASKS, GOOD])) as house:
        await house.load("clew.md", CLEW)
        paused = await house.ask("What is it?", user="Grace")
        done = await house.ask("", ticket=paused.ticket, answer="the clew", user="Ada")
        assert done.outcome == "answer"
        (run,) = runs_of(house.published("explainability"))
    told = why(run.facts, run.uri)
    assert told.asked_by == "Grace"
    assert [(each.person, each.reply) for each in told.exchanges] == [("Ada", "the clew")]
    document = read(export(run.quads, "provjson"), "provjson")
    people = {
        each.id for each in document.statements if each.kind == "agent" and "'Ada'" in str(each.attributes)
    }
    assert len(people) == 1
    (decided,) = (
        each.argument("activity")
        for each in document.statements
        if each.kind == "wasAssociatedWith" and each.argument("agent") in people
    )
    assert decided is not None
    assert decided.startswith(f"{run.uri}/"), "what Ada said is an activity of the run"


# --- tampering ------------------------------------------------------------------------------------


async def test_validate_detects_a_batch_that_is_missing(tmp_path: Path) -> None:
    run, _ = await asked(tmp_path)
    assert validate(run.quads).valid
    assert len(run.batches) == 3
    for gone in range(2):
        kept = [batch for number, batch in enumerate(run.batches) if number != gone]
        report = validate(quads_of(kept))
        assert any(finding.kind == "seal" for finding in report.findings), f"batch {gone}"


@pytest.mark.parametrize("term", [names.COVERAGE, names.ROUTE, names.RELEVANCE, names.OUTCOME, names.RECORD])
async def test_validate_detects_an_edit_of_what_was_decided(tmp_path: Path, term: str) -> None:
    run, _ = await asked(tmp_path)
    place = next(i for i, quad in enumerate(run.quads) if quad.p is not None and quad.p.iri == term)
    assert not validate(edited(run, place)).valid


async def test_validate_detects_an_edit_of_any_literal_of_the_provenance(tmp_path: Path) -> None:
    """Most break a seal; what repeats a fact in other words is told anew from the facts, and is not the same.

    ``validate`` itself takes too long for hundreds of edits: here its last two checks alone, and every 40th whole.
    """
    run, _ = await asked(tmp_path)
    literals = [
        place
        for place, quad in enumerate(run.quads)
        if quad.o is not None and quad.o.type == "l" and quad.g == ns.GRAPH_PROVENANCE
    ]
    assert len(literals) > 100
    unnoticed = [run.quads[place] for place in literals if not tampered(run, edited(run, place))]
    assert not unnoticed
    assert not any(validate(edited(run, place)).valid for place in literals[::40])


async def test_validate_detects_a_quad_that_was_added(tmp_path: Path) -> None:
    run, _ = await asked(tmp_path)
    route = next(quad for quad in run.quads if quad.p is not None and quad.p.iri == names.RESOLVED_BY)
    assert route.o is not None
    other = route.model_copy(
        update={"p": iri("https://ex.org/approvedBy"), "o": route.o.model_copy(update={"value": "nobody"})}
    )
    report = validate([*run.quads, other])
    assert ("seal", "told") in {(finding.kind, finding.name) for finding in report.findings}


def edited(run: Run, place: int) -> list[Triple]:
    """The quads of ``run`` with another literal in one of them."""
    quad = run.quads[place]
    assert quad.o is not None
    changed = quad.model_copy(update={"o": quad.o.model_copy(update={"value": f"7{quad.o.value}"})})
    return [*run.quads[:place], changed, *run.quads[place + 1 :]]


def tampered(run: Run, quads: list[Triple]) -> bool:
    """Whether the seals break, or the facts tell other quads than there are."""
    try:
        if broken_seals(facts_of(quads)):
            return True
        told = altered(
            quads,
            session_id=run.session_id,
            collection=run.collection,
            mechanism=run.mechanism,
            profile="spec",
        )
    except FactsUnreadable:
        return True
    return told != ((), ())
