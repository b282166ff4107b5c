"""PROV-N by its grammar: names, literals, namespaces, and errors that say where."""

import pytest

from clew_translators.namespaces import PROV, XSD
from clew_translators.prov.building import NotProv
from clew_translators.prov.model import Document, Name, Statement, Value
from clew_translators.prov.read_provn import read_provn

EX = "https://ex.org/"


def of(statements: str, declared: str = f"prefix ex <{EX}>") -> Document:
    return read_provn(f"document\n{declared}\n{statements}\nendDocument")


def value_of(literal: str) -> Value | Name:
    ((_, value),) = of(f"entity(ex:e, [ex:p={literal}])").statements[0].attributes
    return value


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ('"a"', Value("a")),
        ('"a"@en-GB', Value("a", language="en-GB")),
        ('"a" %% xsd:string', Value("a")),
        ('"7" %% xsd:integer', Value("7", XSD + "integer")),
        ("7", Value("7", XSD + "int")),
        ("-7", Value("-7", XSD + "int")),
        ("'ex:f'", Name(EX + "f")),
        ("'ex:'", Name(EX)),
        ('"ex:f" %% prov:QUALIFIED_NAME', Name(EX + "f")),
        ('"ex:f"%%xsd:QName', Name(EX + "f")),
        (r'"a\"\\\n\t\u00e9\U0001F600"', Value('a"\\\n\té\U0001f600')),
        ('"""a\n"b" \\""""', Value('a\n"b" "')),
        ('""', Value("")),
        ('"// no comment /* here */"', Value("// no comment /* here */")),
    ],
)
def test_literals(literal: str, expected: Value | Name) -> None:
    assert value_of(literal) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ex:a/b?c#d", EX + "a/b?c#d"),
        (r"ex:a\,b\(c\)", EX + "a,b(c)"),
        (r"ex:a\=\:\'", EX + "a=:'"),
        ("ex:a.b", EX + "a.b"),
        ("ex:1a-b_c", EX + "1a-b_c"),
        ("ex:a%20b", EX + "a%20b"),
        ("ex:Ünï答", EX + "Ünï答"),
        ("ex:a//b", EX + "a//b"),
        ("ex:", EX),
        (r"ex:\-", EX + "-"),
        ("_:x1", "_:x1"),
    ],
)
def test_names(name: str, expected: str) -> None:
    assert of(f"entity({name})").statements == (Statement(kind="entity", id=expected),)


def test_optional_arguments_may_be_left_out_from_the_end() -> None:
    assert [each.arguments for each in of(
        "used(ex:a) used(ex:a, -) used(ex:a, ex:e) used(ex:u; ex:a, ex:e, -) used(-; ex:a, [])"
    ).statements] == [(EX + "a", None, None), (EX + "a", EX + "e", None), (EX + "a", EX + "e", None)]  # fmt: skip


def test_comments_stand_anywhere() -> None:
    text = (
        f"/* a */document// b\nprefix/**/ex <{EX}> // c\n entity // d (\n(ex:e /* ) */)\r\nendDocument // e"
    )
    assert read_provn(text).statements == (Statement(kind="entity", id=EX + "e"),)


def test_a_bundle_is_named_by_its_own_namespaces_and_has_those_of_the_document() -> None:
    # PROV-N, section 3.7.3, has this example.
    document = read_provn(
        f"document default <https://one.org/> prefix ex <{EX}> entity(e)"
        " bundle e default <https://two.org/> entity(e) entity(ex:x) endBundle"
        " bundle ex:b prefix ex <https://three.org/> entity(ex:y) endBundle endDocument"
    )  # fmt: skip
    assert document.statements == (Statement(kind="entity", id="https://one.org/e"),)
    assert document.bundles == {
        "https://two.org/e": (
            Statement(kind="entity", id="https://two.org/e"),
            Statement(kind="entity", id=EX + "x"),
        ),
        "https://three.org/b": (Statement(kind="entity", id="https://three.org/y"),),
    }


def test_statements_of_extensions_are_left_out() -> None:
    document = of(
        'ex:dict(ex:d; ex:e, -, 2026-01-31T00:00:00Z, 7, "a", \'ex:b\', {("k", ex:v), (1, -)}, ex:f(ex:g), [ex:p=1])'
        " entity(ex:e) ex:none()"
    )
    assert document.statements == (Statement(kind="entity", id=EX + "e"),)


def test_mentions() -> None:
    (each,) = of("mentionOf(ex:a, ex:b, ex:c)").statements
    assert each.arguments == (EX + "a", EX + "b", EX + "c")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1, column 1: expected 'document', found the end"),
        ("graph", "line 1, column 1: expected 'document', found 'graph'"),
        ("document", "line 1, column 9: expected 'endDocument', found the end"),
        ("document\n  entity(ex:e)\nendDocument", "line 2, column 10: the prefix 'ex' is not declared"),
        ("document entity(e) endDocument", "line 1, column 17: a default namespace is not declared"),
        ("document entity(prov:e endDocument", "line 1, column 24: expected ')', found 'endDocument'"),
        ("document entity(prov:e, [prov:a]) endDocument", "column 32: expected '=', found ']) endDocument'"),
        ("document entity(prov:e, [prov:a=b]) endDocument", "column 33: expected a string in quotation marks"),
        (r'document entity(prov:e, [prov:a="\q"]) endDocument', r"column 33: \q escapes nothing"),
        (r'document entity(prov:e, [prov:a="\ud800"]) endDocument', r"column 33: \ud800 is no character"),
        ("document activity(prov:a, noon, -) endDocument", "column 27: expected a time like 2026-"),
        ("document used(-, prov:e) endDocument", "used needs its activity"),
        ("document wasInformedBy(prov:a, -) endDocument", "wasInformedBy needs its informant"),
        ("document wasDerivedFrom(prov:a) endDocument", "wasDerivedFrom needs its usedEntity"),
        ("document used(prov:a, prov:b, -, -) endDocument", "used takes no more than (activity, entity, time)"),
        ("document hadMember(prov:i; prov:a, prov:b) endDocument", "hadMember has no identifier"),
        ("document hadMember(prov:a, prov:b, [])endDocument", "hadMember takes no more than (collection, entity)"),
        ("document wasMadeBy(prov:a) endDocument", "column 10: 'wasMadeBy' is no statement of PROV-N"),
        ("document prefix prov <urn:x:y> endDocument", "the prefix prov may not mean another namespace"),
        ("document prefix ex https://ex.org/ endDocument", "column 20: expected an IRI in angle brackets"),
        ("document prov:x(" + "prov:y(" * 10_000, "an extension is nested too deep"),
        ("document endDocument document", "column 22: expected nothing after endDocument"),
        ("document bundle prov:b entity(prov:e) endDocument", "expected 'endBundle'"),
        ("document bundle prov:b endBundle entity(prov:e) endDocument", "expected 'endDocument', found 'entity("),
        ('document entity(prov:e, [prov:a="b c" %% prov:QUALIFIED_NAME]) endDocument', "is no qualified name"),
    ],
)  # fmt: skip
def test_errors_say_where(text: str, problem: str) -> None:
    with pytest.raises(NotProv) as caught:
        read_provn(text)
    assert problem in str(caught.value)
    assert str(caught.value).startswith("PROV-N: line ")
    assert caught.value.format == "PROV-N"


def test_types_are_attributes() -> None:
    (each,) = of('entity(ex:e, [prov:type=\'prov:Plan\', prov:type="x", prov:label="l"])').statements
    assert each.attributes == (
        (PROV + "label", Value("l")),
        (PROV + "type", Name(PROV + "Plan")),
        (PROV + "type", Value("x")),
    )
