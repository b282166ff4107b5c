"""PROV-XML: names in values, special elements, and errors that say where."""

from itertools import pairwise

import pytest

from clew_translators.namespaces import PROV, XSD
from clew_translators.prov.building import NotProv
from clew_translators.prov.model import Name, Statement, Value
from clew_translators.prov.read_provxml import read_provxml
from tests.translators.prov.documents import as_sets

EX = "https://ex.org/"
HEAD = (
    f'<prov:document xmlns:prov="{PROV}" xmlns:ex="{EX}" xmlns:xsd="http://www.w3.org/2001/XMLSchema"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
)


def of(inside: str) -> frozenset[Statement]:
    return as_sets(read_provxml(f"{HEAD}{inside}</prov:document>"))[0]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("<ex:p>a</ex:p>", Value("a")),
        ("<ex:p/>", Value("")),
        ("<ex:p> a&amp;<![CDATA[<b>]]> </ex:p>", Value(" a&<b> ")),
        ('<ex:p xml:lang="en">a</ex:p>', Value("a", language="en")),
        ('<ex:p xsi:type="xsd:integer">07</ex:p>', Value("07", XSD + "integer")),
        ('<ex:p xsi:type="xsd:QName">ex:b</ex:p>', Name(EX + "b")),
        ('<ex:p xsi:type="xsd:QName">xsd:int</ex:p>', Name(XSD + "int")),
        ('<ex:p xsi:type="xsd:QName" xmlns:in="urn:in:">in:b</ex:p>', Name("urn:in:b")),
        (f'<ex:p xsi:type="xsd:QName" xmlns="{EX}">b</ex:p>', Name(EX + "b")),
        ('<ex:p xsi:type="xsd:QName">document</ex:p>', Value("document")),
        ('<ex:p prov:ref="ex:b"/>', Name(EX + "b")),
    ],
)
def test_values(written: str, expected: Value | Name) -> None:
    (each,) = of(f'<prov:entity prov:id="ex:e">{written}</prov:entity>')
    assert each.attributes == ((EX + "p", expected),)


@pytest.mark.parametrize(
    ("element", "kind", "type_"),
    [
        ("person", "agent", "Person"),
        ("organization", "agent", "Organization"),
        ("softwareAgent", "agent", "SoftwareAgent"),
        ("plan", "entity", "Plan"),
        ("collection", "entity", "Collection"),
        ("emptyCollection", "entity", "EmptyCollection"),
        ("bundle", "entity", "Bundle"),
    ],
)
def test_elements_that_say_a_type(element: str, kind: str, type_: str) -> None:
    (each,) = of(f'<prov:{element} prov:id="ex:e"><prov:label>l</prov:label></prov:{element}>')
    assert each.kind == kind
    assert each.attributes == ((PROV + "label", Value("l")), (PROV + "type", Name(PROV + type_)))


@pytest.mark.parametrize(
    ("element", "type_"),
    [("wasRevisionOf", "Revision"), ("wasQuotedFrom", "Quotation"), ("hadPrimarySource", "PrimarySource")],
)
def test_derivations_that_say_a_type(element: str, type_: str) -> None:
    ends = '<prov:generatedEntity prov:ref="ex:e"/><prov:usedEntity prov:ref="ex:f"/>'
    (each,) = of(f"<prov:{element}>{ends}</prov:{element}>")
    assert each.kind == "wasDerivedFrom"
    assert each.attributes == ((PROV + "type", Name(PROV + type_)),)


def test_all_members_of_one_element() -> None:
    # The prov package keeps the last: why PROV-XML is read here.
    found = of(
        '<prov:hadMember><prov:collection prov:ref="ex:c"/><prov:entity prov:ref="ex:e"/>'
        '<prov:entity prov:ref="ex:f"/></prov:hadMember>'
    )
    assert {each.arguments for each in found} == {(EX + "c", EX + "e"), (EX + "c", EX + "f")}


@pytest.mark.parametrize(
    ("inside", "problem"),
    [
        ("<prov:poem/>", "PROV-XML: prov:poem: this is no statement"),
        ("<prov:entity/>", "PROV-XML: prov:entity: prov:id is missing"),
        ('<prov:entity prov:id="no:e"/>', "PROV-XML: prov:entity: the prefix 'no' is not declared"),
        ('<prov:entity prov:id="e"/>', "PROV-XML: prov:entity: a default namespace is not declared"),
        ("<prov:used/>", "PROV-XML: prov:used: prov:activity is missing"),
        ('<prov:used prov:id="ex:u"><prov:activity/></prov:used>', "PROV-XML: prov:activity: prov:ref is missing"),
        ('<prov:used prov:id="ex:u"><prov:activity prov:ref="ex:a"/><prov:activity prov:ref="ex:b"/></prov:used>',
         "PROV-XML: prov:used ex:u: prov:activity comes twice"),
        ('<prov:entity prov:id="ex:e"><ex:p><ex:q/></ex:p></prov:entity>', "p: a value holds a text, and no element"),
        ("<prov:bundleContent/>", "PROV-XML: prov:bundleContent: prov:id is missing"),
    ],
)  # fmt: skip
def test_errors_say_where(inside: str, problem: str) -> None:
    with pytest.raises(NotProv) as caught:
        of(inside)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1, column 1: no XML: no element found"),
        ("<a>\n<b></a>", "line 2, column 6: no XML: mismatched tag"),
        ("<a/>", "the root must be prov:document, found a"),
    ],
)
def test_what_is_no_prov_xml(text: str, problem: str) -> None:
    with pytest.raises(NotProv) as caught:
        read_provxml(text)
    assert problem in str(caught.value)


def test_entities_do_not_grow_without_bound() -> None:
    names = "abcdefghij"
    entities = '<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {after} "{f"&{before};" * 10}">' for before, after in pairwise(names)
    )
    inside = '<prov:entity prov:id="ex:e"><prov:label>&j;</prov:label></prov:entity>'
    with pytest.raises(NotProv, match="amplification"):
        read_provxml(f"<!DOCTYPE d [{entities}]>{HEAD}{inside}</prov:document>")
