"""PROV-DM as values: a document is statements, each with the formal arguments that the data model gives it.

Source: W3C PROV-DM (REC 2013-04-30), table 8, and PROV-N, whose order of arguments this is. All names are full IRIs; a
name that begins with ``_:`` stands for something that exists and is not named (PROV-CONSTRAINTS: an existential
variable). A formal argument that a document leaves out is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Kind = Literal[
    "entity",
    "activity",
    "agent",
    "wasGeneratedBy",
    "used",
    "wasInformedBy",
    "wasStartedBy",
    "wasEndedBy",
    "wasInvalidatedBy",
    "wasDerivedFrom",
    "wasAttributedTo",
    "wasAssociatedWith",
    "actedOnBehalfOf",
    "wasInfluencedBy",
    "specializationOf",
    "alternateOf",
    "hadMember",
    "mentionOf",
]
"""The statements of PROV-N, by its names; ``mentionOf`` is PROV-Links'."""

ARGUMENTS: Mapping[Kind, tuple[str, ...]] = MappingProxyType(
    {
        "entity": (),
        "activity": ("startTime", "endTime"),
        "agent": (),
        "wasGeneratedBy": ("entity", "activity", "time"),
        "used": ("activity", "entity", "time"),
        "wasInformedBy": ("informed", "informant"),
        "wasStartedBy": ("activity", "trigger", "starter", "time"),
        "wasEndedBy": ("activity", "trigger", "ender", "time"),
        "wasInvalidatedBy": ("entity", "activity", "time"),
        "wasDerivedFrom": ("generatedEntity", "usedEntity", "activity", "generation", "usage"),
        "wasAttributedTo": ("entity", "agent"),
        "wasAssociatedWith": ("activity", "agent", "plan"),
        "actedOnBehalfOf": ("delegate", "responsible", "activity"),
        "wasInfluencedBy": ("influencee", "influencer"),
        "specializationOf": ("specificEntity", "generalEntity"),
        "alternateOf": ("alternate1", "alternate2"),
        "hadMember": ("collection", "entity"),
        "mentionOf": ("specificEntity", "generalEntity", "bundle"),
    }
)
"""The formal arguments of each kind, after its identifier, in PROV-N's order."""

TIMES = frozenset({"time", "startTime", "endTime"})
"""The arguments that are an ``xsd:dateTime`` as it was written; all others are names."""


@dataclass(frozen=True, slots=True, order=True)
class Value:
    """A literal as an attribute has it. ``datatype`` is a full IRI, ``xsd:string`` unless said otherwise."""

    text: str
    datatype: str = "http://www.w3.org/2001/XMLSchema#string"
    language: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Name:
    """A resource as an attribute has it (``prov:type ex:Thing``): a full IRI."""

    iri: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement. ``id`` is what it describes, for entities, activities and agents; else its own name, if any.

    ``arguments`` has as many places as ``ARGUMENTS[kind]``.
    """

    kind: Kind
    id: str | None = None
    arguments: tuple[str | None, ...] = ()
    attributes: tuple[tuple[str, Value | Name], ...] = ()

    def argument(self, name: str) -> str | None:
        """The formal argument ``name``, one of ``ARGUMENTS[kind]``."""
        return self.arguments[ARGUMENTS[self.kind].index(name)]


@dataclass(frozen=True, slots=True)
class Document:
    """Statements of no bundle, and those of each bundle by its name. Order says nothing, and neither do repetitions."""

    statements: tuple[Statement, ...] = ()
    bundles: Mapping[str, tuple[Statement, ...]] = field(default_factory=dict)
