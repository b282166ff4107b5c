"""PROV-O as statements: what each of its ways to say a thing amounts to."""

import pytest
from rdflib import PROV as RDFLIB_PROV

from clew_schema.rdf import Triple, iri, literal, quoted
from clew_translators.namespaces import GRAPH_PROVENANCE, GRAPH_RETRIEVAL, PROV, RDF_TYPE
from clew_translators.prov import prov_o
from clew_translators.prov.building import NotProv
from clew_translators.prov.formats import read
from clew_translators.prov.model import ARGUMENTS, Document, Name, Statement, Value
from clew_translators.prov.read_rdf import read_quads
from tests.translators.prov.documents import as_sets

EX = "https://ex.org/"
HEAD = f"@prefix : <{EX}> . @prefix prov: <{PROV}> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
T1, T2 = '"2026-01-31T01:00:00+00:00"^^xsd:dateTime', '"2026-01-31T02:00:00+00:00"^^xsd:dateTime'
ONE, TWO = "2026-01-31T01:00:00+00:00", "2026-01-31T02:00:00+00:00"


def read_ttl(text: str) -> frozenset[Statement]:
    return as_sets(read(HEAD + text, "trig"))[0]


def short(text: str) -> list[str]:
    """What ``text`` states in a notation of its own: kind(id; arguments), without attributes."""
    lines = []
    for each in read_ttl(text):
        given = ", ".join("-" if one is None else one.removeprefix(EX) for one in each.arguments)
        id_ = f"{each.id.removeprefix(EX)}; " if each.id else ""
        lines.append(f"{each.kind}({id_}{given})")
    return sorted(lines)


@pytest.mark.parametrize(("inverse", "property_"), sorted(prov_o.INVERSES.items()))
def test_an_inverse_property_says_the_same_the_other_way_round(inverse: str, property_: str) -> None:
    # What the property needs around it, so that it says something.
    around = {
        "actedOnBehalfOf": "", "activity": ":e prov:qualifiedGeneration :x .", "agent": ":e prov:qualifiedAttribution :x .",
        "entity": ":a prov:qualifiedUsage :x .", "hadActivity": ":e prov:qualifiedDerivation :x . :x prov:entity :f .",
        "hadGeneration": ":e prov:qualifiedDerivation :x . :x prov:entity :f .",
        "hadUsage": ":e prov:qualifiedDerivation :x . :x prov:entity :f .", "hadPlan": ":a prov:qualifiedAssociation :x .",
        "hadRole": ":a prov:qualifiedUsage :x .", "influencer": ":e prov:qualifiedInfluence :x .",
        "atLocation": ":x a prov:Entity .",
    }.get(property_.removeprefix(PROV), ":y prov:influencer :z . :y prov:activity :z .")  # fmt: skip
    forward = read_ttl(f"{around} :x <{property_}> :y .")
    assert forward
    assert read_ttl(f"{around} :y <{inverse}> :x .") == forward


def test_the_tables_hold_the_vocabulary() -> None:
    # Whatever rdflib's copy of PROV-O knows as relation, qualification or inverse is in one of the tables.
    known = {
        name for name in dir(RDFLIB_PROV)
        if name.startswith(("was", "qualified", "acted", "generated", "invalidated", "influenced", "informed"))
    }  # fmt: skip
    tables = prov_o.INVERSES.keys() | prov_o.RELATIONS.keys() | prov_o.QUALIFIED.keys()
    others = {
        "generatedAtTime",
        "invalidatedAtTime",
        "qualifiedForm",
        "qualifiedInsertion",
        "qualifiedRemoval",
    }
    assert {name for name in known if PROV + name not in tables} <= others
    for kind, properties, _ in prov_o.QUALIFIED.values():
        assert tuple(properties) == ARGUMENTS[kind][1:]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":a prov:used :e .", ["used(a, e, -)"]),
        (f":a prov:used :e ; prov:qualifiedUsage [ prov:entity :e ; prov:atTime {T1} ] .", [f"used(a, e, {ONE})"]),
        (":a prov:used :e ; prov:qualifiedUsage [ prov:entity :f ] .", ["used(a, e, -)", "used(a, f, -)"]),
        (":a prov:qualifiedUsage :u .", ["used(u; a, -, -)"]),
        (":e prov:qualifiedInfluence [ prov:agent :g ] .", ["wasInfluencedBy(e, g)"]),
        (f":e prov:generatedAtTime {T1} .", [f"wasGeneratedBy(e, -, {ONE})"]),
        (f":e prov:generatedAtTime {T1} ; prov:wasGeneratedBy :a .", [f"wasGeneratedBy(e, a, {ONE})"]),
        (
            f":e prov:generatedAtTime {T1} ; prov:qualifiedGeneration [ prov:activity :a ; prov:atTime {T2} ] .",
            [f"wasGeneratedBy(e, -, {ONE})", f"wasGeneratedBy(e, a, {TWO})"],
        ),
        (
            f":e prov:generatedAtTime {T1} ; prov:qualifiedGeneration [ prov:activity :a ; prov:atTime {T1} ] .",
            [f"wasGeneratedBy(e, a, {ONE})"],
        ),
        (
            f":e prov:invalidatedAtTime {T1} ; prov:wasInvalidatedBy :a, :b .",
            [f"wasInvalidatedBy(e, -, {ONE})", "wasInvalidatedBy(e, a, -)", "wasInvalidatedBy(e, b, -)"],
        ),
        (f":a prov:startedAtTime {T1}, {T2} .", [f"activity(a; {ONE}, -)", f"activity(a; {TWO}, -)"]),
        (f":a prov:endedAtTime {T1} .", [f"activity(a; -, {ONE})"]),
        (':e prov:value "1" .', ["entity(e; )"]),
        (":e a prov:Entity, prov:Person .", ["agent(e; )", "entity(e; )"]),
        (":e prov:mentionOf :f ; prov:asInBundle :b .", ["mentionOf(e, f, b)"]),
        (':x :y "no PROV at all" .', []),
    ],
)  # fmt: skip
def test_what_it_amounts_to(text: str, expected: list[str]) -> None:
    assert short(text) == expected


def test_a_generation_without_a_name_that_is_referred_to_keeps_its_label() -> None:
    found = read_ttl(
        ":e prov:qualifiedDerivation [ prov:entity :f ; prov:hadGeneration _:g ] ."
        " :e prov:qualifiedGeneration _:g . _:g prov:activity :a ."
    )
    (generation,) = (each for each in found if each.kind == "wasGeneratedBy")
    (derivation,) = (each for each in found if each.kind == "wasDerivedFrom")
    assert generation.id is not None
    assert generation.id.startswith("_:")
    assert derivation.argument("generation") == generation.id


@pytest.mark.parametrize(
    ("property_", "type_"),
    [("wasRevisionOf", "Revision"), ("wasQuotedFrom", "Quotation"), ("hadPrimarySource", "PrimarySource")],
)
def test_special_derivations_have_a_type(property_: str, type_: str) -> None:
    (plain,) = read_ttl(f":e prov:{property_} :f ; prov:wasDerivedFrom :f .")
    assert plain.attributes == ((PROV + "type", Name(PROV + type_)),)
    qualifying = "qualified" + type_
    (qualified,) = read_ttl(f":e prov:{qualifying} [ a prov:{type_} ; prov:entity :f ] .")
    assert qualified == plain
    (both,) = read_ttl(
        f":e prov:{property_} :f ; prov:qualifiedDerivation [ prov:entity :f ; prov:hadActivity :a ] ."
    )
    assert both.attributes == plain.attributes
    assert both.argument("activity") == EX + "a"


def test_classes_beyond_the_three_are_types_where_they_belong() -> None:
    found = read_ttl(":e a prov:Entity, prov:Plan, prov:SoftwareAgent, :Thing .")
    types = {each.kind: {value for _, value in each.attributes} for each in found}
    assert types == {
        "entity": {Name(PROV + "Plan"), Name(EX + "Thing")},
        "agent": {Name(PROV + "SoftwareAgent"), Name(EX + "Thing")},
    }


def test_a_role_on_the_qualification() -> None:
    (used,) = read_ttl(':a prov:qualifiedUsage [ prov:entity :e ; prov:hadRole :r ; :x "1"@en ] .')
    assert used.attributes == ((PROV + "role", Name(EX + "r")), (EX + "x", Value("1", language="en")))


def test_a_graph_is_a_bundle_where_it_is_typed_so() -> None:
    document = read(
        f"{HEAD} :b a prov:Bundle . :b {{ :e a prov:Entity }} :g {{ :f a prov:Entity }} _:x {{ :h a prov:Entity }}",
        "trig",
    )
    bundle = Statement(kind="entity", id=EX + "b", attributes=((PROV + "type", Name(PROV + "Bundle")),))
    outside, inside = as_sets(document)
    assert outside == {bundle, *(Statement(kind="entity", id=EX + name) for name in "fh")}
    assert inside == {EX + "b": frozenset({Statement(kind="entity", id=EX + "e")})}


def test_of_a_trace_of_ours_the_provenance_is_the_document() -> None:
    def typed(name: str, graph: str | None) -> Triple:
        return Triple(s=iri(EX + name), p=iri(RDF_TYPE), o=iri(PROV + "Entity"), g=graph)

    quads = [typed("p", GRAPH_PROVENANCE), typed("r", GRAPH_RETRIEVAL), typed("d", None)]
    quads.append(Triple(s=iri(EX + "p"), p=iri(EX + "q"), o=quoted(quads[0]), g=GRAPH_PROVENANCE))

    def names(document: Document) -> set[str | None]:
        return {each.id for each in document.statements}

    assert names(read_quads(quads)) == {EX + "p"}
    assert names(read_quads(quads, graphs=[GRAPH_RETRIEVAL, ""])) == {EX + "r", EX + "d"}
    assert names(read_quads(quads[1:3])) == {EX + "r", EX + "d"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (':a prov:used "e" .', f"<{EX}a>: <{PROV}used> must lead to a resource, found a literal"),
        (":a prov:startedAtTime :t .", f"<{EX}a>: a time must be a literal, found <{EX}t>"),
        (":a prov:qualifiedCommunication :c .", f"<{EX}c>: wasInformedBy needs its informant"),
        (":e prov:mentionOf :f .", f"<{EX}e>: mentionOf needs its bundle"),
        (':e prov:qualifiedUsage "u" .', "must lead to a resource"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, problem: str) -> None:
    with pytest.raises(NotProv) as caught:
        read_ttl(text)
    assert problem in str(caught.value)


def test_language_and_datatype_of_a_value() -> None:
    quads = [
        Triple(s=iri(EX + "e"), p=iri(RDF_TYPE), o=iri(PROV + "Entity")),
        Triple(s=iri(EX + "e"), p=iri(EX + "p"), o=literal("x", language="en")),
        Triple(s=iri(EX + "e"), p=iri(EX + "p"), o=literal("x", datatype=EX + "t")),
        Triple(s=iri(EX + "e"), p=iri(EX + "p"), o=literal("x")),
    ]
    (each,) = read_quads(quads).statements
    assert {value for _, value in each.attributes} == {
        Value("x", language="en"),
        Value("x", EX + "t"),
        Value("x"),
    }
