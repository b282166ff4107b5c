"""What every reader of PROV builds with: statements in one form, and the error that says where a text is no PROV."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_translators.namespaces import PROV
from clew_translators.prov.model import ARGUMENTS, Document, Name, Statement, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clew_translators.prov.model import Kind

Attribute = tuple[str, Value | Name]

NAMED: frozenset[Kind] = frozenset(
    set(ARGUMENTS) - {"specializationOf", "alternateOf", "hadMember", "mentionOf"}
)
"""The statements that may have an identifier and attributes; the others have neither (PROV-N, 3.5 and 3.6)."""

ELEMENTS: frozenset[Kind] = frozenset({"entity", "activity", "agent"})

REQUIRED: Mapping[Kind, int] = {
    kind: 1
    if kind
    in {"wasGeneratedBy", "used", "wasStartedBy", "wasEndedBy", "wasInvalidatedBy", "wasAssociatedWith"}
    else 0
    if kind in ELEMENTS
    else 3
    if kind == "mentionOf"
    else 2
    for kind in ARGUMENTS
}
"""How many of the arguments, from the first, a statement must have (PROV-N, section 3)."""

PROV_TYPE = PROV + "type"
PROV_LABEL = PROV + "label"
PROV_LOCATION = PROV + "location"
PROV_ROLE = PROV + "role"


class NotProv(ValueError):
    """A text that is not PROV in the format it was read as.

    ``place`` says where: a line and a column, or the path to a member; ``""`` when it is the whole.
    """

    def __init__(self, format: str, problem: str, place: str = "") -> None:  # noqa: A002 - the word for it
        super().__init__(f"{format}: {place}: {problem}" if place else f"{format}: {problem}")
        self.format = format
        self.problem = problem
        self.place = place


class NotExpressible(ValueError):
    """A document holds what the format that it is to be written in cannot."""


def statement(
    kind: Kind,
    id_: str | None,
    arguments: Mapping[str, str | None],
    attributes: Iterable[Attribute] = (),
) -> Statement:
    """A statement with its arguments by name; its attributes sorted, each once, for their order says nothing."""
    given = tuple(arguments.get(name) for name in ARGUMENTS[kind])
    return Statement(kind=kind, id=id_, arguments=given, attributes=sorted_attributes(attributes))


def sorted_attributes(attributes: Iterable[Attribute]) -> tuple[Attribute, ...]:
    """``attributes`` in the order in which every reader gives them."""
    return tuple(sorted(set(attributes), key=_order))


def _order(attribute: Attribute) -> tuple[str, ...]:
    name, value = attribute
    if isinstance(value, Name):
        return name, "", value.iri
    return name, value.datatype, value.text, value.language


def missing(kind: Kind, arguments: Iterable[str | None]) -> tuple[str, ...]:
    """The names of the arguments that a statement must have and that are None."""
    given = tuple(arguments)[: REQUIRED[kind]]
    return tuple(name for name, value in zip(ARGUMENTS[kind], given, strict=False) if value is None)


def document(
    statements: Iterable[Statement], bundles: Mapping[str, Iterable[Statement]] | None = None
) -> Document:
    """A document, each statement once, in the order of their first coming."""
    return Document(
        tuple(dict.fromkeys(statements)),
        {name: tuple(dict.fromkeys(inside)) for name, inside in (bundles or {}).items()},
    )
