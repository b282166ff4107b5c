"""N-Quads and rdflib: other people's parsers read what we write, and we read what they write."""

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdflib import BNode, Dataset, Literal, URIRef, Variable
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.namespace import RDF, XSD

from clew_schema.rdf import Term, Triple, blank, iri, literal, quoted
from clew_translators.quads import (
    MAX_NESTING,
    NotRdf,
    from_nquads,
    from_rdflib,
    to_nquads,
    to_rdflib,
)
from tests.translators.strategies import STAR_STATEMENTS, STATEMENTS

S, P, OBJECT = iri("urn:s"), iri("urn:p"), iri("urn:o")
XSD_STRING = str(XSD.string)
N_QUADS = pyoxigraph.RdfFormat.N_QUADS
LISTS = st.lists(STATEMENTS, max_size=4)


def written(term: Term) -> str:
    """``term`` as the object of a statement."""
    return to_nquads([Triple(s=S, p=P, o=term)]).removeprefix("<urn:s> <urn:p> ").removesuffix(" .\n")


def line(text: str) -> Triple:
    (triple,) = from_nquads(text)
    return triple


# --- text -----------------------------------------------------------------------------------------


@given(triples=st.lists(STAR_STATEMENTS, max_size=4))
def test_statements_come_back_in_their_order(triples: list[Triple]) -> None:
    assert from_nquads(to_nquads(triples)) == tuple(triples)


@given(triples=LISTS)
def test_pyoxigraph_reads_the_same(triples: list[Triple]) -> None:
    parsed = pyoxigraph.parse(to_nquads(triples), format=N_QUADS)
    assert [_of_pyoxigraph(quad) for quad in parsed] == triples


@given(triples=st.lists(STAR_STATEMENTS, max_size=4))
def test_what_pyoxigraph_writes_is_read(triples: list[Triple]) -> None:
    text = pyoxigraph.serialize(pyoxigraph.parse(to_nquads(triples), format=N_QUADS), format=N_QUADS)
    assert text is not None
    assert from_nquads(text.decode()) == tuple(triples)


@given(triples=LISTS)
def test_rdflib_reads_the_same(triples: list[Triple]) -> None:
    """Except that rdflib's parser rewrites literals ("01" is "1"), which ``_of_rdflib`` therefore does too."""
    labels = {
        term.id: term.id for triple in triples for term in (triple.s, triple.o) if term and term.type == "b"
    }
    dataset = Dataset()
    dataset.parse(data=to_nquads(triples), format="nquads", bnode_context=labels)
    default = {None, DATASET_DEFAULT_GRAPH_ID}
    seen = {(*statement, None if graph in default else graph) for *statement, graph in dataset.quads()}
    assert seen == set(map(_of_rdflib, triples))


def _of_pyoxigraph(quad: pyoxigraph.Quad) -> Triple:
    def term(node: object) -> Term:
        if isinstance(node, pyoxigraph.NamedNode):
            return iri(node.value)
        if isinstance(node, pyoxigraph.BlankNode):
            return blank(node.value)
        assert isinstance(node, pyoxigraph.Literal)
        plain = node.language or node.datatype.value == XSD_STRING
        return literal(
            node.value, datatype="" if plain else node.datatype.value, language=node.language or ""
        )

    graph = None if isinstance(quad.graph_name, pyoxigraph.DefaultGraph) else quad.graph_name.value
    return Triple(s=term(quad.subject), p=term(quad.predicate), o=term(quad.object), g=graph)


def _of_rdflib(triple: Triple) -> tuple[object, ...]:
    def node(term: Term | None) -> URIRef | BNode | Literal:
        assert term is not None
        if term.type != "l":
            return URIRef(term.iri) if term.type == "i" else BNode(term.id)
        datatype = URIRef(term.datatype) if term.datatype else None
        return Literal(term.value, lang=term.language or None, datatype=datatype)

    return node(triple.s), node(triple.p), node(triple.o), URIRef(triple.g) if triple.g else None


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (OBJECT, "<urn:o>"),
        (blank("b.0-x"), "_:b.0-x"),
        (literal(""), '""'),
        (literal('say "hi"\\'), r'"say \"hi\"\\"'),
        (literal("a\tb\nc\rd\be\f"), r'"a\tb\nc\rd\be\f"'),
        (literal("\x00\x1b\x7f"), r'"\u0000\u001B\u007F"'),
        (literal("答案 𝄞 \u2028"), '"答案 𝄞 \u2028"'),
        (literal("x", language="zh-Hant"), '"x"@zh-Hant'),
        (literal("x", language="en", datatype=str(RDF.langString)), '"x"@en'),
        (literal("01", datatype=str(XSD.integer)), f'"01"^^<{XSD.integer}>'),
        (literal("x", datatype=XSD_STRING), '"x"'),
        (quoted(Triple(s=S, p=P, o=literal("c"))), '<<( <urn:s> <urn:p> "c" )>>'),
    ],
)
def test_each_kind_is_written_by_the_grammar(term: Term, text: str) -> None:
    assert written(term) == text


def test_the_graph_stands_last() -> None:
    assert to_nquads([Triple(s=S, p=P, o=OBJECT, g="urn:g")]) == "<urn:s> <urn:p> <urn:o> <urn:g> .\n"
    assert to_nquads([Triple(s=S, p=P, o=OBJECT, g="")]) == to_nquads([Triple(s=S, p=P, o=OBJECT)])


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("<urn:s><urn:p><urn:o>.", Triple(s=S, p=P, o=OBJECT)),
        ("\t<urn:s>\t<urn:p>\t<urn:o>\t<urn:g>\t.\t# why", Triple(s=S, p=P, o=OBJECT, g="urn:g")),
        ("# before\n\n<urn:s> <urn:p> <urn:o> .\r\n# after", Triple(s=S, p=P, o=OBJECT)),
        (r'<urn:s> <urn:p> "\u7b54\U0001D11E\'" .', Triple(s=S, p=P, o=literal("答𝄞'"))),
        (r"<urn:s> <urn:p> <urn:\u00e9> .", Triple(s=S, p=P, o=iri("urn:é"))),
        ('<urn:s> <urn:p> "<urn:x> . # no" .', Triple(s=S, p=P, o=literal("<urn:x> . # no"))),
        ("_:a <urn:p> _:b.c .", Triple(s=blank("a"), p=P, o=blank("b.c"))),
        (f'<urn:s> <urn:p> "x"^^<{XSD_STRING}> .', Triple(s=S, p=P, o=literal("x"))),
        (
            "<urn:s> <urn:p> << <urn:s> <urn:p> <urn:o> >> .",
            Triple(s=S, p=P, o=quoted(Triple(s=S, p=P, o=OBJECT))),
        ),
        (
            "<urn:s> <urn:p> <<(<urn:s><urn:p><urn:o>)>> .",
            Triple(s=S, p=P, o=quoted(Triple(s=S, p=P, o=OBJECT))),
        ),
    ],
)
def test_what_the_grammar_allows_is_read(text: str, triple: Triple) -> None:
    assert line(text) == triple


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "<urn:s> <urn:p> <urn:o>",
        "<urn:s> <urn:p> .",
        "<urn:s> <urn:p> <urn:o> <urn:g> <urn:h> .",
        "<urn:s> <urn:p> <urn:o> . <urn:s>",
        '"s" <urn:p> <urn:o> .',
        "<urn:s> _:p <urn:o> .",
        '<urn:s> <urn:p> <urn:o> "g" .',
        "<urn:s> <urn:p> <urn:o> _:g .",
        "<relative> <urn:p> <urn:o> .",
        "<urn:s s> <urn:p> <urn:o> .",
        r"<urn:s> <urn:p> <urn:\u0020> .",
        r'<urn:s> <urn:p> "\x" .',
        r'<urn:s> <urn:p> "\ud800" .',
        r'<urn:s> <urn:p> "\U00110000" .',
        '<urn:s> <urn:p> "open .',
        '<urn:s> <urn:p> "x"@1 .',
        '<urn:s> <urn:p> "x"^^<d> .',
        f'<urn:s> <urn:p> "x"^^<{RDF.langString}> .',
        "<urn:s> <urn:p> <<( <urn:s> <urn:p> <urn:o> .",
        "<urn:s> <urn:p> " + "<<( <urn:s> <urn:p> " * 2000,
    ],
)
def test_what_it_does_not_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(NotRdf, match=r"^line 2: ") as refused:
        from_nquads(f"# first\n{text}\n")
    assert len(str(refused.value)) < 200


@given(text=st.text(max_size=60))
def test_any_text(text: str) -> None:
    try:
        triples = from_nquads(text)
    except NotRdf:
        return
    assert from_nquads(to_nquads(triples)) == triples


@given(text=st.text('<>"_:.@^\\ ()urn#n', max_size=40))
def test_any_text_of_the_grammar_s_own_characters(text: str) -> None:
    try:
        triples = from_nquads(f"<urn:s> <urn:p> {text} .")
    except NotRdf:
        return
    assert from_nquads(to_nquads(triples)) == triples


# --- what RDF cannot hold -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("triple", "problem"),
    [
        (Triple(), "subject must be an IRI or a blank node, found nothing"),
        (Triple(s=literal("s"), p=P, o=OBJECT), "subject must be an IRI or a blank node, found a literal"),
        (Triple(s=quoted(Triple(s=S, p=P, o=OBJECT)), p=P, o=OBJECT), "found a quoted triple"),
        (Triple(s=S, p=blank("p"), o=OBJECT), "predicate must be an IRI, found a blank node"),
        (Triple(s=S, p=P), "object is missing"),
        (Triple(s=S, p=P, o=Term()), "object is missing"),
        (Triple(s=iri(""), p=P, o=OBJECT), "'' is no absolute IRI"),
        (Triple(s=iri("no scheme"), p=P, o=OBJECT), "'no scheme' is no absolute IRI"),
        (Triple(s=S, p=P, o=iri("https://x/doc 1")), "is no absolute IRI; percent-encode"),
        (Triple(s=S, p=P, o=iri("urn:x> <urn:y")), "is no absolute IRI"),
        (Triple(s=S, p=P, o=OBJECT, g="urn:g> ."), "is no absolute IRI"),
        (Triple(s=blank("a b"), p=P, o=OBJECT), "'a b' is no label"),
        (Triple(s=blank("a."), p=P, o=OBJECT), "'a.' is no label"),
        (Triple(s=S, p=P, o=literal("x", language="en us")), "'en us' is no language tag"),
        (Triple(s=S, p=P, o=literal("x", language="en", datatype="urn:d")), "language en and the datatype urn:d"),
        (Triple(s=S, p=P, o=literal("x", datatype=str(RDF.langString))), "needs a language"),
        (Triple(s=S, p=P, o=literal("x", datatype="d")), "'d' is no absolute IRI"),
        (Triple(s=S, p=P, o=Term(type="t")), "quoted triple"),
        (Triple(s=S, p=P, o=literal("\ud800")), "half a character"),
        (Triple(s=S, p=P, o=iri("urn:\ud800")), "is no absolute IRI"),
    ],
)  # fmt: skip
def test_it_is_refused_in_text_and_in_rdflib(triple: Triple, problem: str) -> None:
    with pytest.raises(NotRdf, match=problem.replace(".", r"\.")):
        to_nquads([triple])
    with pytest.raises(NotRdf):
        to_rdflib([triple])


def test_triples_are_quoted_in_triples_only_so_deep() -> None:
    triple = Triple(s=S, p=P, o=OBJECT)
    for _ in range(MAX_NESTING):
        triple = Triple(s=S, p=P, o=quoted(triple))
    assert from_nquads(to_nquads([triple])) == (triple,)
    with pytest.raises(NotRdf, match="more than 64 deep"):
        to_nquads([Triple(s=S, p=P, o=quoted(triple))])


# --- rdflib ---------------------------------------------------------------------------------------


@given(triples=LISTS)
def test_a_dataset_holds_every_statement_once(triples: list[Triple]) -> None:
    back = from_rdflib(to_rdflib(triples))
    assert sorted(map(repr, back)) == sorted({repr(triple) for triple in triples})
    assert list(back) == sorted(back, key=lambda triple: to_nquads([triple]))


def test_a_literal_keeps_its_lexical_form() -> None:
    for datatype, value in ((XSD.integer, "01"), (XSD.dateTime, "2026-01-01T00:00:00Z"), (XSD.boolean, "1")):
        triple = Triple(s=S, p=P, o=literal(value, datatype=str(datatype)))
        assert from_rdflib(to_rdflib([triple])) == (triple,)
        assert line(to_nquads([triple])) == triple


def test_a_triple_without_a_graph_stands_in_the_default_graph() -> None:
    dataset = to_rdflib([Triple(s=S, p=P, o=OBJECT), Triple(s=S, p=P, o=S, g="urn:g")])
    assert len(dataset.graph(DATASET_DEFAULT_GRAPH_ID)) == 1
    assert len(dataset.graph(URIRef("urn:g"))) == 1


def test_rdflib_cannot_hold_a_quoted_triple() -> None:
    with pytest.raises(NotRdf, match="rdflib cannot hold a quoted triple"):
        to_rdflib([Triple(s=S, p=P, o=quoted(Triple(s=S, p=P, o=OBJECT)))])


def test_a_dataset_of_rdflib_may_hold_what_is_no_rdf() -> None:
    dataset = Dataset()
    dataset.add((URIRef("urn:s"), URIRef("urn:p"), Variable("x")))
    with pytest.raises(NotRdf, match="Variable is no term of RDF"):
        from_rdflib(dataset)
