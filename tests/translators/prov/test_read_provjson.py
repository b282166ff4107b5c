"""PROV-JSON: what its keys and values may be, and errors that say where."""

import json
from typing import Any

import pytest

from clew_translators.namespaces import PROV, XSD
from clew_translators.prov.building import NotProv
from clew_translators.prov.model import Name, Statement, Value
from clew_translators.prov.read_provjson import read_provjson
from tests.translators.prov.documents import as_sets

EX = "https://ex.org/"


def of(text: str) -> frozenset[Statement]:
    return as_sets(read_provjson(f'{{"prefix": {{"ex": "{EX}"}}, {text}}}'))[0]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("7", Value("7", XSD + "int")),
        ("-1.50", Value("-1.50", XSD + "double")),
        ("1e3", Value("1e3", XSD + "double")),
        ("true", Value("true", XSD + "boolean")),
        ('"a"', Value("a")),
        ('{"$": "a"}', Value("a")),
        ('{"$": 7, "type": "xsd:integer"}', Value("7", XSD + "integer")),
        ('{"$": false, "type": "xsd:boolean"}', Value("false", XSD + "boolean")),
        ('{"$": "a", "lang": "en"}', Value("a", language="en")),
        ('{"$": "a", "lang": "en", "type": "prov:InternationalizedString"}', Value("a", language="en")),
        ('{"$": "ex:b", "type": "xsd:QName"}', Name(EX + "b")),
        ('{"$": "ex:b", "type": "ex:t"}', Value("ex:b", EX + "t")),
    ],
)
def test_values(written: str, expected: Value | Name) -> None:
    (each,) = of(f'"entity": {{"ex:e": {{"ex:p": {written}}}}}')
    assert each.attributes == ((EX + "p", expected),)
    (several,) = of(f'"entity": {{"ex:e": {{"ex:p": [{written}, "z"]}}}}')
    assert set(several.attributes) == {(EX + "p", expected), (EX + "p", Value("z"))}


def test_a_key_that_comes_twice_and_a_list_mean_the_same() -> None:
    twice = of(
        '"entity": {"ex:e": {"ex:p": "1"}, "ex:e": {"ex:p": "2", "ex:p": "3"}}, "entity": {"ex:f": {}}'
    )
    once = of('"entity": {"ex:e": [{"ex:p": "1"}, {"ex:p": ["2", "3"]}], "ex:f": {}}')
    assert twice == once
    assert len(once) == 3


def test_members_may_come_as_a_list() -> None:
    found = of('"hadMember": {"_:m": {"prov:collection": "ex:c", "prov:entity": ["ex:e", "ex:f"]}}')
    assert {each.arguments for each in found} == {(EX + "c", EX + "e"), (EX + "c", EX + "f")}


def test_a_filler_names_nothing_unless_a_derivation_refers_to_it() -> None:
    found = of(
        '"wasGeneratedBy": {"_:g": {"prov:entity": "ex:e"}, "_:h": {"prov:entity": "ex:f"}},'
        '"entity": {"_:e": {}},'
        '"wasDerivedFrom": {"_:d": {"prov:generatedEntity": "ex:e", "prov:usedEntity": "ex:f", "prov:generation": "_:g"}}'
    )
    assert {each.id for each in found} == {"_:g", "_:e", None}


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("{", "PROV-JSON: line 1, column 2: no JSON"),
        ("[]", "PROV-JSON: /: an object is expected, found a list of 0"),
        ('{"entities": {}}', "PROV-JSON: /: 'entities' is no kind of statement"),
        ('{"entity": {"ex:e": {}}}', "PROV-JSON: /entity/ex:e: the prefix 'ex' is not declared"),
        ('{"entity": {"e": {}}}', "PROV-JSON: /entity/e: a default namespace is not declared"),
        ('{"prefix": {"ex": 1}}', "PROV-JSON: /prefix/ex: a namespace must be a text, found '1'"),
        ('{"entity": {"prov:e": 1}}', "PROV-JSON: /entity/prov:e: an object is expected"),
        ('{"entity": {"prov:e": {"prov:x": null}}}', "PROV-JSON: /entity/prov:e/prov:x: a value is expected, found null"),
        ('{"entity": {"prov:e": {"prov:x": {"a": 1}}}}', 'an object with "$" and "type" or "lang"'),
        ('{"used": {"_:u": {"prov:entity": "prov:e"}}}', "PROV-JSON: /used/_:u: prov:activity is missing"),
        ('{"used": {"_:u": {"prov:activity": ["prov:e", "prov:f"]}}}', "/used/_:u/prov:activity: one text is expected"),
        ('{"hadMember": {"_:m": {"prov:collection": "prov:c"}}}', "/hadMember/_:m: prov:entity is missing"),
        ('{"bundle": {"prov:b": {"bundle": {}}}}', "PROV-JSON: /bundle/prov:b: a bundle holds no bundle"),
        ("[" * 100_000, "PROV-JSON: it is nested too deep"),
    ],
)  # fmt: skip
def test_errors_say_where(written: str, problem: str) -> None:
    with pytest.raises(NotProv) as caught:
        read_provjson(written)
    assert problem in str(caught.value)


def test_times_and_numbers_stay_as_they_are_written() -> None:
    # The prov package would make +00:00, 7.5 and 7 of these: why PROV-JSON is read here.
    whole: dict[str, Any] = {
        "prefix": {"ex": EX},
        "activity": {
            "ex:a": {
                "prov:startTime": "2026-01-31T12:00:00.0000001Z",
                "ex:n": {"$": "07.50", "type": "xsd:double"},
            }
        },
    }
    (each,) = read_provjson(json.dumps(whole)).statements
    assert each.arguments == ("2026-01-31T12:00:00.0000001Z", None)
    assert each.attributes == ((EX + "n", Value("07.50", XSD + "double")),)
    assert PROV + "startTime" not in dict(each.attributes)
