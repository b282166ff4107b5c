"""A run in every format: nothing is lost on the way, whatever its facts and the order of its quads."""

import json
import os
import random
import subprocess
import sys

import pyoxigraph as ox
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from clew_schema.facts import Fact
from clew_schema.rdf import Triple, iri, literal, quoted
from clew_translators.explain import explain
from clew_translators.explain.facts import facts_of
from clew_translators.exports import FORMATS, UnknownFormat, export
from clew_translators.namespaces import GRAPH_PROVENANCE, PROV, XSD_DATE_TIME, XSD_DOUBLE
from clew_translators.prov.formats import format_of, read
from clew_translators.prov.model import Document, Value
from clew_translators.prov.rdf_text import read_rdf_text
from clew_translators.prov.read_rdf import read_quads
from clew_translators.quads import to_nquads
from tests.translators import courses, runs
from tests.translators.prov.documents import as_sets
from tests.translators.prov.test_write_documents import for_xml
from tests.translators.strategies import STAR_STATEMENTS, STATEMENTS, values

RUNS = {
    "documents": runs.DOCUMENT_BATCHES,
    "agent": runs.AGENT_BATCHES,
    "rewritten": courses.REWRITTEN_BATCHES,
    "resumed": courses.RESUMED_BATCHES,
    "failed": runs.told(((runs.ASKED, runs.RETRIEVED), (runs.FAILED,))),
}
RDF = {"nquads": ox.RdfFormat.N_QUADS, "trig": ox.RdfFormat.TRIG, "jsonld": ox.RdfFormat.JSON_LD}
PROV_FORMATS = ("provn", "provjson", "provxml")
FACTS = st.lists(values(Fact), min_size=1, max_size=3)


def parsed(text: str, format_: str) -> set[ox.Quad]:
    """What an RDF library of somebody else reads, lexical forms and all."""
    return set(ox.parse(text, format=RDF[format_]))


def expected(quads: list[Triple]) -> set[ox.Quad]:
    return parsed(to_nquads(quads), "nquads")


@pytest.mark.parametrize("format_", RDF)
@pytest.mark.parametrize("batches", RUNS.values(), ids=RUNS)
def test_rdf_holds_every_graph_and_the_facts_come_back(batches: list[object], format_: str) -> None:
    quads = runs.quads_of(batches)  # type: ignore[arg-type]
    text = export(quads, format_)
    assert parsed(text, format_) == expected(quads)
    assert format_of(text) == format_
    assert facts_of(read_rdf_text(text, format_)) == facts_of(quads)


@pytest.mark.parametrize("batches", RUNS.values(), ids=RUNS)
def test_turtle_holds_the_provenance_alone(batches: list[object]) -> None:
    quads = runs.quads_of(batches)  # type: ignore[arg-type]
    text = export(quads, "turtle")
    found = set(ox.parse(text, format=ox.RdfFormat.TURTLE))
    alone = [quad.model_copy(update={"g": None}) for quad in quads if quad.g == GRAPH_PROVENANCE]
    assert found == expected(alone)
    assert found


@pytest.mark.parametrize("format_", PROV_FORMATS)
@pytest.mark.parametrize("batches", RUNS.values(), ids=RUNS)
def test_prov_says_what_the_provenance_says(batches: list[object], format_: str) -> None:
    quads = runs.quads_of(batches)  # type: ignore[arg-type]
    text = export(quads, format_)
    assert format_of(text) == format_
    assert as_sets(read(text, format_)) == as_sets(read_quads(quads))


@pytest.mark.parametrize("format_", [each for each in FORMATS if each not in {"nquads", *PROV_FORMATS}])
def test_the_order_of_the_quads_does_not_matter(format_: str) -> None:
    quads = runs.quads_of(courses.RESUMED_BATCHES)
    shuffled = random.Random(7).sample(quads, len(quads))
    assert export(shuffled, format_) == export(quads, format_)


@given(facts=FACTS)
@example(facts=list(runs.DOCUMENT_RUN))
def test_any_facts_come_back_from_every_format(facts: list[Fact]) -> None:
    batch = explain(facts, session_id="s", collection="c", mechanism="document-rag")
    assume(batch is not None)  # some facts say nothing in these graphs
    assert batch is not None
    quads = list(batch.triples)
    plain = [quad for quad in quads if quad.o is not None and quad.o.type != "t"]
    for format_ in RDF:
        assert parsed(export(plain, format_), format_) == expected(plain), format_
    assert parsed(export(quads, "trig"), "trig") == expected(quads)
    document = read_quads(quads)
    for format_ in PROV_FORMATS:
        kept = for_xml if format_ == "provxml" else _as_it_is
        assert as_sets(kept(read(export(quads, format_), format_))) == as_sets(kept(document)), format_


def _as_it_is(document: Document) -> Document:
    return document


@given(quads=st.lists(STATEMENTS, max_size=5))
def test_any_quads_come_back_from_rdf(quads: list[Triple]) -> None:
    for format_ in RDF:
        assert parsed(export(quads, format_), format_) == expected(quads), format_


@given(quads=st.lists(STAR_STATEMENTS, max_size=3))
def test_quoted_triples_come_back_from_trig(quads: list[Triple]) -> None:
    assert parsed(export(quads, "trig"), "trig") == expected(quads)


QUOTING = [
    *runs.quads_of(runs.DOCUMENT_BATCHES),
    Triple(
        s=iri("urn:a:b"),
        p=iri("urn:a:c"),
        o=quoted(
            Triple(
                s=iri("urn:a:d"),
                p=iri("urn:a:e"),
                o=quoted(Triple(s=iri("urn:a:f"), p=iri("urn:a:g"), o=literal('a " >> <<( ) # \' \n"""'))),
            )
        ),
        g="urn:graph:retrieval",
    ),
]


@pytest.mark.parametrize("format_", RDF)
def test_quoted_triples_are_read_back(format_: str) -> None:
    back = read_rdf_text(export(QUOTING, format_), format_)
    said = [quad.o for quad in back if quad.s == iri("urn:a:b")]
    assert said == [QUOTING[-1].o]
    assert facts_of(back) == facts_of(QUOTING[:-1])


def test_numbers_and_times_keep_their_form() -> None:
    # rdflib's Turtle would say 8.712346e-01, its JSON-LD nothing at all for NaN.
    said = (
        ("0.87123456789", XSD_DOUBLE),
        ("NaN", XSD_DOUBLE),
        ("2026-01-31T12:00:00.0000001Z", XSD_DATE_TIME),
    )
    quads = [
        Triple(s=iri("urn:a:b"), p=iri("urn:a:c"), o=literal(text, datatype=kind), g=GRAPH_PROVENANCE)
        for text, kind in said
    ]
    for format_ in ("trig", "turtle"):
        assert all(f'"{text}"^^xsd:' in export(quads, format_) for text, _ in said)
    (graph,) = json.loads(export(quads, "jsonld"))["@graph"]
    assert {value["@value"] for value in graph["@graph"][0]["urn:a:c"]} == {text for text, _ in said}


def test_a_prefix_that_is_also_a_scheme_is_not_used() -> None:
    quads = [Triple(s=iri("dc:title"), p=iri("http://purl.org/dc/elements/1.1/title"), o=literal("x"))]
    assert parsed(export(quads, "jsonld"), "jsonld") == expected(quads)


def test_control_characters_are_removed_where_xml_is_written_alone() -> None:
    asked = runs.ASKED.model_copy(update={"query": "a\x00b\x0bc\ufffed\r\n"})
    quads = runs.quads_of(runs.told(((asked,),)))

    def questions(format_: str) -> list[str]:
        document = read(export(quads, format_), format_)
        values_ = (
            value for each in document.statements for name, value in each.attributes if name == PROV + "value"
        )
        return [value.text for value in values_ if isinstance(value, Value)]

    assert questions("provn") == questions("provjson") == ["a\x00b\x0bc\ufffed\r\n"]
    assert questions("provxml") == ["abcd\r\n"]


READ = """
import sys, warnings
from prov.model import ProvDocument
warnings.simplefilter("ignore")
print(len(ProvDocument.deserialize(content=sys.stdin.read(), format="rdf", rdf_format="turtle").get_records()))
"""


@pytest.mark.parametrize("seed", range(4))
def test_the_prov_package_reads_turtle_whatever_order_its_sets_have(seed: int) -> None:
    """It takes qualified names alone, and makes up prefixes in an order that differs by process."""
    done = subprocess.run(
        [sys.executable, "-c", READ],
        input=export(runs.quads_of(courses.RESUMED_BATCHES), "turtle"),
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONHASHSEED": str(seed)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 50


def test_a_format_that_there_is_not() -> None:
    with pytest.raises(UnknownFormat) as caught:
        export([], "poem")
    assert str(caught.value) == f"no format 'poem'; the formats are {', '.join(FORMATS)}"


@pytest.mark.parametrize("format_", FORMATS)
def test_nothing_can_be_exported(format_: str) -> None:
    assert isinstance(export([], format_), str)
