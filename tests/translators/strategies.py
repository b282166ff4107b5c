"""Values of every message type, read from the models; and RDF terms, well-formed."""

import types
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from annotated_types import Ge, Le
from hypothesis import strategies as st

import clew_schema.library
import clew_schema.services  # noqa: F401 - so that their types are found below
from clew_schema.base import Message
from clew_schema.rdf import Term, Triple, blank, iri, literal, quoted

M = TypeVar("M", bound=Message)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
INTEGER = st.integers(-(2**63), 2**63 - 1)
FLOAT = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), INTEGER, FLOAT, TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(TEXT, inner, max_size=2)),
    max_leaves=4,
)
"""What a field of any type may hold on the wire."""


def subclasses(model: type[Message]) -> list[type[Message]]:
    return [kind for child in model.__subclasses__() for kind in (child, *subclasses(child))]


MESSAGES = sorted(
    {kind for kind in subclasses(Message) if kind.__module__.startswith("clew_schema")}, key=str
)
"""Every type of the schema."""


def messages(model: type[M], **given: st.SearchStrategy[Any]) -> st.SearchStrategy[M]:
    """Values of ``model``; ``given`` replaces the strategy of a field."""
    if model in {Term, Triple}:
        return values(model)
    fields = {
        name: given[name] if name in given else values(field.annotation, tuple(field.metadata))
        for name, field in model.model_fields.items()
    }
    return st.fixed_dictionaries(fields).map(lambda chosen: model.model_validate(chosen, by_name=True))


def values(annotation: Any, metadata: tuple[Any, ...] = ()) -> st.SearchStrategy[Any]:
    """Values of a field's type."""
    if annotation is float:
        return _floats(metadata)
    if annotation in _SIMPLE:
        return _SIMPLE[annotation]
    if isinstance(annotation, type) and issubclass(annotation, Message):
        return messages(annotation)
    return _compound(get_origin(annotation), get_args(annotation))


def _compound(origin: Any, arguments: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    if origin is Annotated:
        return values(arguments[0], arguments[1:])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, types.UnionType):
        return st.one_of([values(argument) for argument in arguments])
    if origin is tuple:
        return st.lists(values(arguments[0]), max_size=2).map(tuple)
    assert origin is dict, origin
    return st.dictionaries(values(arguments[0]), values(arguments[1]), max_size=2)


def _floats(metadata: tuple[Any, ...]) -> st.SearchStrategy[float]:
    low = next((item.ge for item in metadata if isinstance(item, Ge)), None)
    high = next((item.le for item in metadata if isinstance(item, Le)), None)
    return st.floats(low, high, allow_nan=False, allow_infinity=False)  # type: ignore[arg-type]


# --- RDF ------------------------------------------------------------------------------------------

IRI_TEXT = st.text(st.sampled_from("azAZ09-._~:/@!$'()*+,;=é答\U00010000"), max_size=6)
IRIS = st.builds(
    str.__add__, st.sampled_from(["urn:a:", "https://ex.org/", "https://ex.org/?q=1#"]), IRI_TEXT
)
IRI_TERMS = IRIS.map(iri)
BLANKS = st.from_regex(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,4}[A-Za-z0-9_-])?", fullmatch=True).map(blank)
LANGUAGES = st.sampled_from(["en", "de-at", "zh-hant-tw", "sl-rozaj", "x-clew"])
LITERALS = st.one_of(
    st.builds(literal, TEXT),
    st.builds(lambda value, tag: literal(value, language=tag), TEXT, LANGUAGES),
    st.builds(lambda value, datatype: literal(value, datatype=datatype), TEXT, IRIS),
    st.builds(
        lambda value, name: literal(value, datatype=f"http://www.w3.org/2001/XMLSchema#{name}"),
        st.one_of(TEXT, st.from_regex(r"0[0-9]{1,3}|[0-9]{1,2}\.50|true|1", fullmatch=True)),
        st.sampled_from(["integer", "decimal", "boolean", "dateTime"]),
    ),
)
GRAPHS = st.one_of(st.none(), IRIS)
STATEMENTS = st.builds(
    lambda s, p, o, g: Triple(s=s, p=p, o=o, g=g),
    st.one_of(IRI_TERMS, BLANKS),
    IRI_TERMS,
    st.one_of(IRI_TERMS, BLANKS, LITERALS),
    GRAPHS,
)
"""Quads of RDF 1.1."""

STAR_STATEMENTS = st.recursive(
    STATEMENTS,
    lambda inner: st.builds(
        lambda outer, triple: outer.model_copy(update={"o": quoted(triple.model_copy(update={"g": None}))}),
        STATEMENTS,
        inner,
    ),
    max_leaves=4,
)
"""The same, with quoted triples as objects."""

# What the model allows, sensible or not.
_FLAT = st.builds(
    lambda kind, texts: Term(
        type=kind, **dict(zip(("iri", "id", "value", "datatype", "language"), texts, strict=True))
    ),
    st.sampled_from(["", "i", "b", "l", "t"]),
    st.lists(TEXT, min_size=5, max_size=5),
)
_POSITION = st.one_of(st.none(), _FLAT)
_FLAT_TRIPLES = st.builds(
    lambda s, p, o, g: Triple(s=s, p=p, o=o, g=g), _POSITION, _POSITION, _POSITION, st.one_of(st.none(), TEXT)
)
TERMS = st.one_of(_FLAT, st.builds(lambda triple: Term(type="t", triple=triple), _FLAT_TRIPLES))
TRIPLES = st.one_of(_FLAT_TRIPLES, STAR_STATEMENTS)

_SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: INTEGER,
    bool: st.booleans(),
    types.NoneType: st.none(),
    Any: JSON,
    Term: TERMS,
    Triple: TRIPLES,
}
