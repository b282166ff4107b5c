"""``validate``: what is found in traces of ours, whole and damaged, and in documents of anybody."""

import json
from collections.abc import Callable

import pytest
from hypothesis import assume, given

from clew_schema.facts import AnswerWritten, EdgesRetrieved, EdgesSelected, Fact, QuestionAsked, SelectedEdge
from clew_schema.rdf import Triple, Triples, iri, literal
from clew_translators import namespaces as ns
from clew_translators.explain import names, tell
from clew_translators.explain.seal import sealed
from clew_translators.exports import FORMATS, export
from clew_translators.prov.formats import UnknownFormat
from clew_translators.prov.model import Document, Statement
from clew_translators.prov.read_rdf import read_quads
from clew_translators.validating import Report, validate
from clew_translators.validating_others import prov_problems
from tests.translators import courses, runs
from tests.translators.prov.documents import story
from tests.translators.strategies import values

EDGE = Triple(s=iri("https://ex.org/a"), p=iri("https://ex.org/b"), o=literal("c"))
GRAPH_RUN: tuple[Fact, ...] = (
    QuestionAsked(mechanism="graph-rag", query="q?", **runs.at("graph-rag.ask", 0)),
    EdgesRetrieved(edge_count=1, **runs.at("graph-rag.ask", 1)),
    EdgesSelected(edges=(SelectedEdge(edge=EDGE, reasoning="r"),), **runs.at("graph-rag.select", 2)),
    AnswerWritten(outcome="answer", text="c", **runs.at("graph-rag.answer", 3)),
)
"""Its retrieval graph quotes a triple."""
RUNS = {
    "documents": runs.DOCUMENT_BATCHES,
    "agent": runs.AGENT_BATCHES,
    "partial": runs.DOCUMENT_BATCHES[:1],
    "rewritten": courses.REWRITTEN_BATCHES,
    "resumed": courses.RESUMED_BATCHES,
    "cancelled": courses.CANCELLED_BATCHES,
    "failed": runs.told(((runs.ASKED, runs.RETRIEVED), (runs.FAILED,))),
    "graph": runs.told((GRAPH_RUN,), "graph-rag"),
    "failed at once": runs.told(((runs.FAILED,),)),
}
ALL = ("syntax", "constraint", "shape", "prov")


def found(report: Report) -> list[tuple[str, str]]:
    return [(each.kind, each.name) for each in report.findings]


@pytest.mark.parametrize("batches", RUNS.values(), ids=RUNS)
def test_a_run_is_valid_as_quads_and_in_every_format(batches: list[Triples]) -> None:
    quads = runs.quads_of(batches)
    report = validate(quads)
    assert (report.ours, report.format, report.checked, report.findings) == (True, "quads", ALL, ())
    for format_ in FORMATS:
        if format_ == "otlp":
            continue  # spans, and no provenance
        told = validate(export(quads, format_).encode())
        assert (told.ours, told.findings, told.statements) == (True, (), report.statements), format_
        assert told.checked == (ALL if format_ in {"nquads", "trig", "jsonld", "turtle"} else ALL[:2])


@pytest.mark.parametrize("name", ["story.provn", "story.ttl", "story.json", "story.xml"])
def test_a_document_of_somebody_else_is_judged_by_prov_alone(name: str) -> None:
    report = validate(story(name).encode(), name=name)
    assert (report.ours, report.checked, report.bundles) == (
        False,
        ("syntax", "constraint"),
        int(name != "story.ttl"),
    )
    # The cake is said to be an alternate of, and a specialization of, its iced kind; all of it may be.
    assert report.findings == ()


def test_a_constraint_that_is_not_kept_is_named_with_its_number() -> None:
    text = "document prefix ex <https://ex.org/> entity(ex:x) activity(ex:x) endDocument"
    report = validate(text.encode())
    (finding,) = report.findings
    assert (finding.kind, finding.name) == ("constraint", "55")
    assert finding.where == "https://ex.org/x"
    assert not report.valid


def test_a_text_that_is_no_document_says_where() -> None:
    report = validate(b"document\n entity(ex:e)\nendDocument")
    assert found(report) == [("syntax", "")]
    assert (report.findings[0].where, report.findings[0].message) == (
        "line 2, column 9",
        "the prefix 'ex' is not declared",
    )
    assert (report.format, report.checked) == ("provn", ("syntax",))


@pytest.mark.parametrize("data", [b"", b"\xff\xff", b"\x00\x01", b"{", b"<", b"[1]", b"hello", b"@prefix"])
def test_nothing_is_raised_for_any_bytes(data: bytes) -> None:
    report = validate(data)
    assert report.valid == (data == b"")
    assert {each.kind for each in report.findings} <= {"syntax"}


def test_a_format_may_be_said_and_must_be_one() -> None:
    assert validate(b"document endDocument", "provn").valid
    assert found(validate(b"document endDocument", "provjson")) == [("syntax", "")]
    with pytest.raises(UnknownFormat, match="no format 'poem'"):
        validate(b"", "poem")


# --- traces that were damaged ---------------------------------------------------------------------

SEALED: tuple[Fact, ...] = sealed(runs.DOCUMENT_RUN)


def told(facts: tuple[Fact, ...]) -> list[Triple]:
    batch = tell(facts, session_id=runs.SESSION, collection="c", mechanism="document-rag")
    assert batch is not None
    return list(batch.batch().triples)


def replaced(quads: list[Triple], change: Callable[[Triple], Triple | None]) -> list[Triple]:
    return [new for quad in quads if (new := change(quad)) is not None]


def test_seals_that_fit() -> None:
    report = validate(told(SEALED))
    assert (report.checked, report.findings) == ((*ALL, "seal"), ())
    for format_ in ("nquads", "trig", "jsonld"):
        assert validate(export(told(SEALED), format_).encode()).checked == (*ALL, "seal")
    assert validate(export(told(SEALED), "turtle").encode()).checked == ALL


def test_seals_that_somebody_took_away_are_not_said_to_have_been_checked() -> None:
    def without(quad: Triple) -> Triple | None:
        return None if quad.p and quad.p.iri in {names.SEAL, names.PREVIOUS_SEAL} else quad

    report = validate(replaced(told(SEALED), without))
    assert (report.checked, report.findings) == (ALL, ())


def test_a_fact_that_was_changed_shows_from_there_on() -> None:
    edited = SEALED[2].model_copy(update={"resolved_by": "R2"})
    report = validate(told((*SEALED[:2], edited, SEALED[3])))
    assert found(report) == [("seal", "3")]
    assert "fact 3 (evidence_graded)" in report.findings[0].message


def test_a_fact_that_is_missing_shows() -> None:
    quads = told(SEALED)
    gone = names.exploration_of(f"urn:trustgraph:docrag:{runs.SESSION}", 0, 1) + "/grade/activity"
    damaged = replaced(
        quads, lambda quad: None if quad.s == iri(gone) and quad.p == iri(names.RECORD) else quad
    )
    assert len(damaged) == len(quads) - 1
    assert ("seal", "3") in found(validate(damaged))


def test_an_answer_that_was_changed_in_the_retrieval_graph_shows() -> None:
    def change(quad: Triple) -> Triple:
        return quad.model_copy(update={"o": literal("Never.")}) if quad.p == iri(ns.TG_CONTENT) else quad

    assert ("seal", "4") in found(validate(replaced(told(SEALED), change)))


def test_a_record_that_is_none_is_told() -> None:
    def change(quad: Triple) -> Triple:
        return quad.model_copy(update={"o": literal("{")}) if quad.p == iri(names.RECORD) else quad

    report = validate(replaced(told(SEALED), change))
    assert any(each.kind == "seal" and "cannot be read back" in each.message for each in report.findings)


def test_a_shape_that_is_broken_is_named() -> None:
    quads = told(SEALED)
    question = f"urn:trustgraph:docrag:{runs.SESSION}"
    damaged = replaced(quads, lambda quad: None if quad.p == iri(ns.TG_QUERY) else quad)
    findings = [each for each in validate(damaged).findings if each.kind == "shape"]
    assert [(each.name, each.where) for each in findings] == [("spec: Query", question)]
    assert "property query" in findings[0].message or "query" in findings[0].message


def test_a_report_is_json() -> None:
    report = validate(b"document entity(e) endDocument")
    assert json.loads(json.dumps(report.to_json())) == {
        "valid": False,
        "format": "provn",
        "ours": False,
        "statements": 0,
        "bundles": 0,
        "checked": ["syntax"],
        "findings": [
            {
                "kind": "syntax",
                "name": "",
                "message": "a default namespace is not declared",
                "where": "line 1, column 17",
            }
        ],
    }


# --- what the prov package makes of it ------------------------------------------------------------


@given(fact=values(Fact))
def test_the_prov_package_loses_nothing_of_any_fact(fact: Fact) -> None:
    batch = tell([fact], session_id="s", collection="c", mechanism="document-rag")
    assume(batch is not None)
    assert batch is not None
    provenance = [quad for quad in batch.batch().triples if quad.g == ns.GRAPH_PROVENANCE]
    assert list(prov_problems(provenance, read_quads(provenance))) == []


def test_what_the_prov_package_does_not_read_is_told() -> None:
    known = Statement(kind="entity", id="https://ex.org/e")
    typed = Triple(s=iri("https://ex.org/e"), p=iri(ns.RDF_TYPE), o=iri(ns.PROV_ENTITY))
    assert list(prov_problems([typed], Document((known,)))) == []
    assert list(prov_problems([], Document((known,)))) == [
        ("the prov package reads no entity here", "https://ex.org/e")
    ]
    late = Triple(
        s=iri("https://ex.org/a"),
        p=iri(ns.PROV_STARTED_AT_TIME),
        o=literal("noon", datatype=ns.XSD_DATE_TIME),
    )
    active = Statement(kind="activity", id="https://ex.org/a", arguments=("noon", None))
    problems = list(prov_problems([late], Document((active,))))
    assert problems
    assert all("the prov package" in message for message, _ in problems)
