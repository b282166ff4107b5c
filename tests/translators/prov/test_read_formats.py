"""One story in every format says the same; formats are told by name and by looking."""

import pytest

from clew_translators.prov.building import NotProv
from clew_translators.prov.formats import UnknownFormat, decoded, format_of, read
from clew_translators.prov.model import Document, Kind, Name, Statement, Value
from tests.translators.prov.documents import as_sets, story

B, FOOD, PROV = "https://bakery.example/", "https://food.example/#", "http://www.w3.org/ns/prov#"
TYPE, ROLE = PROV + "type", PROV + "role"


def said(kind: Kind, *arguments: str, name: str | None = None, **attributes: Value | Name) -> Statement:
    """Arguments as PROV-N has them: names of the bakery, times, and ``-``."""
    given = tuple(None if each == "-" else each if each[:2] == "20" else B + each for each in arguments)
    named = tuple((PROV + key, value) for key, value in attributes.items())
    return Statement(kind=kind, id=B + name if name else None, arguments=given, attributes=named)


STORY = frozenset(
    {
        Statement(
            kind="entity",
            id=B + "flour",
            attributes=(
                (PROV + "label", Value("flour")),
                (PROV + "location", Value("shelf")),
                (FOOD + "grams", Value("500", "http://www.w3.org/2001/XMLSchema#integer")),
            ),
        ),
        Statement(
            kind="entity",
            id=B + "cake",
            attributes=(
                (TYPE, Name(FOOD + "Cake")),
                (PROV + "value", Value("round")),
                (FOOD + "like", Name(FOOD + "bread")),
                (FOOD + "name", Value("Torte", language="de")),
            ),
        ),
        said("entity", name="cake-iced", type=Name(FOOD + "Cake")),
        said("entity", name="recipe", type=Name(PROV + "Plan")),
        said("entity", name="menu", type=Name(PROV + "Collection")),
        said("entity", name="order"),
        said(
            "activity",
            "2026-01-31T09:00:00Z",
            "2026-01-31T10:00:00Z",
            name="baking",
            type=Name(FOOD + "Baking"),
        ),
        said("activity", "-", "-", name="icing"),
        said("activity", "2026-01-31T08:00:00Z", "-", name="shopping"),
        said("agent", name="anna", type=Name(PROV + "Person")),
        said("agent", name="bakery", type=Name(PROV + "Organization")),
        said("wasGeneratedBy", "cake", "baking", "2026-01-31T10:00:00Z", name="g1", role=Value("result")),
        said("used", "baking", "flour", "2026-01-31T09:01:00Z", name="u1", role=Value("ingredient")),
        said("used", "baking", "recipe", "-"),
        said("wasInformedBy", "baking", "shopping"),
        said("wasStartedBy", "baking", "order", "shopping", "2026-01-31T09:00:00Z"),
        said("wasEndedBy", "baking", "order", "-", "2026-01-31T10:00:00Z"),
        said("wasInvalidatedBy", "flour", "baking", "-"),
        said("wasDerivedFrom", "cake", "flour", "baking", "g1", "u1"),
        said("wasDerivedFrom", "cake-iced", "cake", "-", "-", "-", type=Name(PROV + "Revision")),
        said("wasAttributedTo", "cake", "anna"),
        said("wasAssociatedWith", "baking", "anna", "recipe", role=Value("baker")),
        said("actedOnBehalfOf", "anna", "bakery", "baking"),
        said("wasInfluencedBy", "anna", "order"),
        said("specializationOf", "cake-iced", "cake"),
        said("alternateOf", "cake", "cake-iced"),
        said("hadMember", "menu", "cake"),
    }
)
DIARY = {B + "diary": frozenset({Statement(kind="entity", id="https://other.example/note")})}


@pytest.mark.parametrize("name", ["story.provn", "story.json", "story.xml"])
def test_the_story_in_formats_of_prov(name: str) -> None:
    text = story(name)
    assert as_sets(read(text, format_of(text, name))) == (STORY, DIARY)


def test_the_story_in_prov_o() -> None:
    whole = read(story("story.ttl").replace('Z"^^', '+00:00"^^'), "turtle")
    times = {each.replace("+00:00", "Z") for one in whole.statements for each in one.arguments if each}
    assert {f"2026-01-31T{hour}:00:00Z" for hour in ("08", "09", "10")} <= times
    assert as_sets(_in_utc(whole)) == (STORY, {})


def _in_utc(document: Document) -> Document:
    """Times as the story has them: rdflib writes +00:00 for Z."""
    return Document(
        tuple(
            Statement(
                kind=each.kind,
                id=each.id,
                arguments=tuple(one and one.replace("+00:00", "Z") for one in each.arguments),
                attributes=each.attributes,
            )
            for each in document.statements
        )
    )


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.provn", "", "provn"),
        ("a.ttl", "", "turtle"),
        ("a.NQ", "", "nquads"),
        ("a.jsonld", "", "jsonld"),
        ("", "// c\n/* d */ document endDocument", "provn"),
        ("a.json", '{"prefix": {}}', "provjson"),
        ("a.json", '{"@context": {}, "@graph": []}', "jsonld"),
        ("a.json", '[{"@id": "urn:a:b"}]', "jsonld"),
        ("a.json", '{"@context": ["https://openprovenance.org/prov-jsonld/context.jsonld"]}', "provjsonld"),
        ("a.xml", '<?xml version="1.0"?><prov:document/>', "provxml"),
        ("a.xml", "<rdf:RDF/>", "rdfxml"),
        ("", '<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"/>', "trix"),
        ("", '<urn:a:b> <urn:a:c> "d" <urn:g:g> .\n# end\n', "nquads"),
        ("", "@prefix a: <urn:a:> . a:b a:c a:d .", "trig"),
        ("", "<urn:a:b> a <urn:a:c> ;\n <urn:a:d> 1 .", "trig"),
        ("", "", "trig"),
    ],
)
def test_a_format_is_told_by_name_and_by_looking(name: str, text: str, expected: str) -> None:
    assert format_of(text, name) == expected


@pytest.mark.parametrize("name", ["story.provn", "story.ttl", "story.json", "story.xml"])
def test_the_story_is_recognised_without_its_name(name: str) -> None:
    text = story(name)
    assert as_sets(_in_utc(read(text, format_of(text))))[0] == STORY


def test_bytes() -> None:
    assert decoded("\ufeffé".encode()) == "é"
    assert decoded("é".encode("utf-16")) == "é"
    with pytest.raises(NotProv, match="byte 1: no UTF-8 text"):
        decoded(b"a\xff")


def test_a_format_that_there_is_not() -> None:
    with pytest.raises(UnknownFormat, match="no format 'poem' can be read; the formats are provn, provjson"):
        read("", "poem")


@pytest.mark.parametrize(
    ("format_", "text", "problem"),
    [
        ("turtle", "@prefix a: <urn:a:> .\na:b a:c ;; a:", "turtle: line 2: "),
        ("turtle", "<urn:a:b> <urn:a:c> <<( <urn:a:b> <urn:a:c> )>> .", "turtle: line "),
        ("nquads", "<urn:a:b> .", "nquads: line 1: "),
        ("jsonld", "{", "jsonld: line 1, column 2: no JSON"),
        ("jsonld", '{"@context": "https://ex.org/c"}', "leads to another document"),
        ("jsonld", '{"@graph": [{"@context": [{}, "https://ex.org/c"]}]}', "leads to another document"),
        ("jsonld", '{"@context": {"@import": "https://ex.org/c"}}', "@import leads to another document"),
        ("rdfxml", "<rdf:RDF", "rdfxml: line 1: "),
        ("trix", "<TriX>", "trix: "),
        (
            "provjsonld",
            '{"@context": "https://openprovenance.org/prov-jsonld/context.jsonld", "@graph": 1}',
            "JSONLD: ",
        ),
    ],
)
def test_what_is_no_rdf_says_where(format_: str, text: str, problem: str) -> None:
    with pytest.raises(NotProv) as caught:
        read(text, format_)
    assert problem in str(caught.value)


def test_relative_names_have_a_base() -> None:
    (each,) = read("@prefix prov: <http://www.w3.org/ns/prov#> . <#e> a prov:Entity .", "turtle").statements
    assert each.id == "http://document.invalid/#e"


@pytest.mark.parametrize("format_", ["n3", "rdfxml", "trix", "hext", "jsonld", "ntriples"])
def test_other_syntaxes_of_rdf(format_: str) -> None:
    a, type_, entity = "https://ex.org/a", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", PROV + "Entity"
    text = {
        "n3": f"<{a}> a <{entity}> .",
        "ntriples": f"<{a}> <{type_}> <{entity}> .",
        "rdfxml": f'<rdf:RDF xmlns:rdf="{type_[:-4]}" xmlns:p="{PROV}"><p:Entity rdf:about="{a}"/></rdf:RDF>',
        "trix": '<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"><graph>'
        f"<triple><uri>{a}</uri><uri>{type_}</uri><uri>{entity}</uri></triple></graph></TriX>",
        "hext": f'["{a}", "{type_}", "{entity}", "globalId", "", ""]',
        "jsonld": f'{{"@id": "{a}", "@type": "{entity}"}}',
    }[format_]
    assert read(text, format_).statements == (Statement(kind="entity", id=a),)


def test_prov_jsonld() -> None:
    text = """{
      "@context": [{"ex": "https://ex.org/"}, "https://openprovenance.org/prov-jsonld/context.jsonld"],
      "@graph": [
        {"@type": "Entity", "@id": "ex:e"},
        {"@type": "Activity", "@id": "ex:a"},
        {"@type": "Usage", "activity": "ex:a", "entity": "ex:e"}
      ]
    }"""
    ex = "https://ex.org/"
    assert as_sets(read(text, format_of(text)))[0] == {
        Statement(kind="entity", id=ex + "e"),
        Statement(kind="activity", id=ex + "a", arguments=(None, None)),
        Statement(kind="used", arguments=(ex + "a", ex + "e", None)),
    }
