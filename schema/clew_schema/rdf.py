"""RDF as it travels on the bus: terms, quads and batches of them, in TrustGraph's long form."""

from __future__ import annotations

from typing import Literal

from clew_schema.base import Items, Message

TermType = Literal["", "i", "b", "l", "t"]


class Term(Message):
    """One RDF term. ``type`` says which field counts.

    ``"i"`` an IRI in ``iri``; ``"b"`` a blank node in ``id``; ``"l"`` a literal in ``value`` with an
    optional ``datatype`` IRI or ``language`` tag; ``"t"`` a quoted triple in ``triple``; ``""`` nothing.
    """

    type: TermType = ""
    iri: str = ""
    id: str = ""
    value: str = ""
    datatype: str = ""
    language: str = ""
    triple: Triple | None = None


class Triple(Message):
    """A statement, with the named graph it stands in (``g``: an IRI; null or ``""`` is the default graph)."""

    s: Term | None = None
    p: Term | None = None
    o: Term | None = None
    g: str | None = None


class Metadata(Message):
    """What a batch of triples is about: ``id`` the main entity, ``root`` the question of the run."""

    id: str = ""
    root: str = ""
    collection: str = ""


class Triples(Message):
    """A batch of quads, published on the explainability topic: what one step has to say."""

    metadata: Metadata | None = None
    triples: Items[Triple] = ()


def iri(value: str) -> Term:
    """The IRI ``value`` as a term."""
    return Term(type="i", iri=value)


def literal(value: str, *, datatype: str = "", language: str = "") -> Term:
    """The literal ``value`` as a term; plain when neither a datatype nor a language is given."""
    return Term(type="l", value=value, datatype=datatype, language=language)


def blank(label: str) -> Term:
    """The blank node ``label`` as a term."""
    return Term(type="b", id=label)


def quoted(triple: Triple) -> Term:
    """A statement about a statement: ``triple`` as a term (RDF-star)."""
    return Term(type="t", triple=triple)
