"""PROV documents for tests: one story, any document at all, and documents as sets."""

from pathlib import Path

from hypothesis import strategies as st

from clew_translators.namespaces import PROV, XSD
from clew_translators.prov.building import ELEMENTS, NAMED, REQUIRED, sorted_attributes
from clew_translators.prov.model import ARGUMENTS, TIMES, Document, Kind, Name, Statement, Value
from tests.translators.strategies import IRIS, LANGUAGES, TEXT

DATA = Path(__file__).parents[2] / "data" / "prov"

AsSets = tuple[frozenset[Statement], dict[str, frozenset[Statement]]]


def as_sets(document: Document) -> AsSets:
    """A document without its order and repetitions, which say nothing."""
    bundles = {name: frozenset(inside) for name, inside in document.bundles.items()}
    return frozenset(document.statements), bundles


def story(name: str) -> str:
    return (DATA / name).read_text(encoding="utf-8")


# --- any document ---------------------------------------------------------------------------------

TIME_TEXTS = st.sampled_from(
    ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.0070001+01:00", "2026-01-31T12:00:00"]
)
ATTRIBUTE_NAMES = st.sampled_from(
    [PROV + "type", PROV + "label", PROV + "value", "urn:clew:ns#position", "https://ex.org/x#y", "urn:a:b"]
)
VALUES = st.one_of(
    st.builds(Value, TEXT),
    st.builds(lambda text, language: Value(text, language=language), TEXT, LANGUAGES),
    st.builds(Value, TEXT, st.sampled_from([XSD + "integer", XSD + "double", "urn:clew:ns#unit"])),
    st.builds(Name, IRIS),
)


def _statements(kind: Kind) -> st.SearchStrategy[Statement]:
    arguments = [
        (TIME_TEXTS if name in TIMES else IRIS)
        if place < REQUIRED[kind]
        else st.none() | (TIME_TEXTS if name in TIMES else IRIS)
        for place, name in enumerate(ARGUMENTS[kind])
    ]
    named = kind in NAMED
    return st.builds(
        lambda id_, given, attributes: Statement(
            kind=kind, id=id_, arguments=given, attributes=sorted_attributes(attributes)
        ),
        IRIS if kind in ELEMENTS else st.none() | IRIS if named else st.none(),
        st.tuples(*arguments),
        st.lists(st.tuples(ATTRIBUTE_NAMES, VALUES), max_size=3) if named else st.just([]),
    )


STATEMENTS = st.one_of([_statements(kind) for kind in ARGUMENTS])
DOCUMENTS = st.builds(
    lambda statements, bundles: Document(
        tuple(statements), {name: tuple(each) for name, each in bundles.items()}
    ),
    st.lists(STATEMENTS, max_size=4),
    st.dictionaries(IRIS, st.lists(STATEMENTS, max_size=2), max_size=2),
)
"""Every kind of statement, with every argument there and not there; attributes that all formats can hold."""
