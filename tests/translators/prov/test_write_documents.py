"""Any document, written in PROV-N, PROV-JSON and PROV-XML: it comes back, and the prov package reads it."""

import warnings
from dataclasses import replace

import pytest
from hypothesis import example, given
from prov.model import ProvDocument

from clew_translators.namespaces import PROV
from clew_translators.prov.building import ELEMENTS, NotExpressible
from clew_translators.prov.formats import read
from clew_translators.prov.model import Document, Name, Statement, Value
from clew_translators.prov.qnames import split
from clew_translators.prov.write_provjson import write_provjson
from clew_translators.prov.write_provn import write_provn
from clew_translators.prov.write_provxml import FORBIDDEN, write_provxml
from tests.translators.prov.documents import DOCUMENTS, as_sets, story

WRITERS = {"provn": write_provn, "provjson": write_provjson, "provxml": write_provxml}
THEIRS = {"provn": "provn", "provjson": "json", "provxml": "xml"}
EX = "https://ex.org/"


def for_xml(document: Document) -> Document:
    """``document`` without what XML cannot hold."""

    def clean(each: Statement) -> Statement:
        attributes = {
            (name, replace(value, text=FORBIDDEN.sub("", value.text)) if isinstance(value, Value) else value)
            for name, value in each.attributes
        }
        return replace(each, attributes=tuple(sorted(attributes, key=str)))

    bundles = {name: tuple(map(clean, inside)) for name, inside in document.bundles.items()}
    return Document(tuple(map(clean, document.statements)), bundles)


@pytest.mark.parametrize("format_", ["provn", "provjson"])
@given(document=DOCUMENTS)
def test_any_document_comes_back(format_: str, document: Document) -> None:
    text = WRITERS[format_](document)
    assert as_sets(read(text, format_)) == as_sets(document)
    assert WRITERS[format_](document) == text


@given(document=DOCUMENTS)
@example(
    document=Document(
        (Statement(kind="entity", id=EX + "e", attributes=((EX + "p", Value("a\x00\r\n\x0bb")),)),)
    )
)
def test_any_document_comes_back_from_xml_without_control_characters(document: Document) -> None:
    back = read(write_provxml(document), "provxml")
    assert as_sets(for_xml(back)) == as_sets(for_xml(document))


@pytest.mark.parametrize("format_", WRITERS)
def test_the_prov_package_reads_the_story_the_same_from_every_format(format_: str) -> None:
    whole = read(story("story.provn"), "provn")
    found = ProvDocument.deserialize(content=WRITERS[format_](whole), format=THEIRS[format_])
    assert found == ProvDocument.deserialize(content=story("story.provn"), format="provn")
    elements = {
        (record.get_type().localpart, record.identifier.uri)
        for record in found.get_records()
        if record.is_element() and record.identifier is not None
    }
    assert elements == {
        (each.kind.capitalize(), each.id) for each in whole.statements if each.kind in ELEMENTS
    }
    assert len(list(found.get_records())) == len(whole.statements)
    assert [bundle.identifier and bundle.identifier.uri for bundle in found.bundles] == list(whole.bundles)


@given(document=DOCUMENTS)
def test_the_prov_package_reads_any_document_in_prov_n(document: Document) -> None:
    # But for what it refuses itself: two values of one argument, and names with parts that it knows otherwise.
    plain = Document(tuple(replace(each, attributes=()) for each in document.statements))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ProvDocument.deserialize(content=write_provn(plain), format="provn")
    assert len(list(found.get_records())) == len(plain.statements)


@pytest.mark.parametrize(
    ("iri", "expected"),
    [
        ("urn:clew:ns#position", ("urn:clew:ns#", "position")),
        (PROV + "type", (PROV, "type")),
        ("urn:trustgraph:docrag:s/exploration/1", ("urn:trustgraph:docrag:", "s/exploration/1")),
        ("https://ex.org/a/b?c=d#e", ("https://ex.org/a/b?c=d#", "e")),
        ("https://ex.org/", ("https://ex.org/", "")),
        ("urn:a:b", ("urn:a:", "b")),
        ("https://ex.org/a\u00d7b", ("https://ex.org/a\u00d7", "b")),  # × may not stand in a local name
        ("mailto:a@ex.org", ("mailto:", "a@ex.org")),
    ],
)
def test_names_are_split(iri: str, expected: tuple[str, str]) -> None:
    assert split(iri) == expected
    assert "".join(expected) == iri


@pytest.mark.parametrize("format_", WRITERS)
def test_a_name_that_is_no_iri_is_refused(format_: str) -> None:
    with pytest.raises(NotExpressible, match="'two words' is no absolute IRI"):
        WRITERS[format_](Document((Statement(kind="entity", id="two words"),)))


def test_an_attribute_that_no_element_can_be_named_by() -> None:
    each = Statement(kind="entity", id=EX + "e", attributes=((EX + "1st", Value("x")),))
    with pytest.raises(NotExpressible, match=r"PROV-XML cannot hold the attribute 'https://ex\.org/1st'"):
        write_provxml(Document((each,)))
    assert read(write_provn(Document((each,))), "provn").statements == (each,)


@pytest.mark.parametrize("format_", WRITERS)
def test_what_is_not_named_keeps_its_label(format_: str) -> None:
    document = Document(
        (
            Statement(kind="entity", id="_:b0", attributes=((EX + "p", Name("_:b1")),)),
            Statement(kind="wasGeneratedBy", id="_:n1", arguments=("_:b0", None, None)),
            Statement(kind="wasDerivedFrom", arguments=("_:b0", EX + "f", None, "_:n1", None)),
            Statement(kind="used", arguments=(EX + "a", None, None)),
        )
    )
    assert as_sets(read(WRITERS[format_](document), format_)) == as_sets(document)
