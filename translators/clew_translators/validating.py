"""Is a document valid provenance? Any PROV document in any format; more is asked of a trace of ours.

Everybody's document must be readable and keep PROV-CONSTRAINTS. A trace of ours must also have the shapes of its
profiles (SHACL), survive the ``prov`` package, and have seals that fit, as far as its graphs are there.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

from clew_translators import namespaces as ns
from clew_translators.explain import names
from clew_translators.explain.facts import FactsUnreadable, facts_of
from clew_translators.explain.seal import altered, broken_seals
from clew_translators.prov.building import NotProv
from clew_translators.prov.constraints import check
from clew_translators.prov.formats import FORMATS, READERS, UnknownFormat, decoded, format_of
from clew_translators.prov.rdf_text import read_rdf_text
from clew_translators.prov.read_rdf import read_quads
from clew_translators.refusal import clip
from clew_translators.trace import read_trace
from clew_translators.uris import run_of
from clew_translators.validating_others import prov_problems, shape_problems

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew_schema.rdf import Triple
    from clew_translators.explain import Profile
    from clew_translators.prov.model import Document
    from clew_translators.shapes import ShapedProfile

Kind = Literal["syntax", "constraint", "shape", "seal", "prov"]
"""What is wrong: the text itself, a constraint of PROV, a shape of ours, a seal, or how ``prov`` reads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong. ``name`` is the constraint's number, the shape's name, or the place of the seal.

    It is ``told`` for a quad that is not what the sealed facts tell.
    ``where`` is the line and column of a text, else what it is about, by its IRI; ``""`` when it is the whole.
    """

    kind: Kind
    name: str = ""
    message: str
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was found. ``checked`` says which kinds were looked for; ``ours`` that the document is a trace of Clew's."""

    format: str
    ours: bool = False
    statements: int = 0
    bundles: int = 0
    checked: tuple[Kind, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def to_json(self) -> dict[str, Any]:
        """As JSON values, with ``valid``."""
        return {"valid": self.valid} | asdict(self)


def validate(
    source: bytes | Sequence[Triple],
    format: str | None = None,  # noqa: A002 - the word for it
    *,
    name: str = "",
) -> Report:
    """Look at a document as bytes, or at the quads of one run; nothing is raised for what is wrong in them.

    Without a ``format`` (one of ``clew_translators.prov.formats.FORMATS``) it is told by the ending of ``name`` or by
    its beginning. Raises UnknownFormat.
    """
    if format is not None and format not in FORMATS:
        raise UnknownFormat(format)
    if not isinstance(source, bytes):
        return _quads("quads", source)
    known = format or "document"
    try:
        text = decoded(source, known)
        known = format or format_of(text, name)
        if known in READERS:
            return _document(known, READERS[known](text))
        return _quads(known, read_rdf_text(text, known))
    except NotProv as error:
        return _unreadable(known, error)


def _unreadable(format_: str, error: NotProv) -> Report:
    finding = Finding(kind="syntax", message=error.problem, where=error.place)
    return Report(format=format_, checked=("syntax",), findings=(finding,))


def _quads(format_: str, quads: Sequence[Triple]) -> Report:
    try:
        document = read_quads(quads)
    except NotProv as error:
        return _unreadable(format_, error)
    report = _document(format_, document)
    if not report.ours:
        return report
    graphs: dict[str, list[Triple]] = {}
    for quad in quads:
        graphs.setdefault(quad.g or "", []).append(quad)
    # One graph alone, as Turtle holds it, is the provenance. The facts, and so the seals, are in both graphs together.
    alone = graphs.keys() == {""}
    provenance = graphs.get("" if alone else ns.GRAPH_PROVENANCE, [])
    findings = [
        *report.findings,
        *_shapes(graphs.get(ns.GRAPH_RETRIEVAL, []), provenance),
        *_prov(provenance, document),
        *([] if alone else _seals(quads)),
    ]
    # Where no seal is, as in a run older than seals or one that somebody took them from, none can be checked.
    has_seals = any(quad.p is not None and quad.p.iri == names.SEAL for quad in quads)
    sealed = not alone and (has_seals or any(each.kind == "seal" for each in findings))
    more: tuple[Kind, ...] = ("shape", "prov", "seal") if sealed else ("shape", "prov")
    return replace(report, checked=(*report.checked, *more), findings=tuple(findings))


def _document(format_: str, document: Document) -> Report:
    return Report(
        format=format_,
        ours=_is_ours(document),
        statements=len(document.statements) + sum(map(len, document.bundles.values())),
        bundles=len(document.bundles),
        checked=("syntax", "constraint"),
        findings=tuple(_constraints(document)),
    )


def _constraints(document: Document) -> Iterator[Finding]:
    for violation in check(document):
        where = ", ".join([*violation.subjects, *([f"in {violation.bundle}"] if violation.bundle else [])])
        yield Finding(
            kind="constraint", name=str(violation.constraint), message=violation.message, where=where
        )


def _is_ours(document: Document) -> bool:
    """Whether an activity has the record of a fact: no other system tells one."""
    return any(name == names.RECORD for each in document.statements for name, _ in each.attributes)


def _shapes(retrieval: Sequence[Triple], provenance: Sequence[Triple]) -> Iterator[Finding]:
    graphs: tuple[tuple[ShapedProfile, Sequence[Triple]], ...] = (
        (_profile(retrieval), retrieval),
        ("provenance", provenance),
    )
    for profile, triples in graphs:
        for shape, message, where in shape_problems(triples, profile) if triples else ():
            yield Finding(kind="shape", name=f"{profile}: {shape}", message=message, where=where)


def _profile(quads: Sequence[Triple]) -> Profile:
    """The profile of the retrieval graph: a question is an activity in ``spec``, an entity in TrustGraph's.

    Only TrustGraph's entities have labels, which tells of a run whose question is not among them.
    """
    types: dict[str, set[str]] = {}
    labelled = False
    for quad in quads:
        if quad.s is not None and quad.o is not None and quad.p is not None:
            labelled = labelled or quad.p.iri == ns.RDFS_LABEL
            if quad.p.iri == ns.RDF_TYPE:
                types.setdefault(quad.s.iri, set()).add(quad.o.iri)
    foreign = labelled or any({ns.TG_QUESTION, ns.PROV_ENTITY} <= kinds for kinds in types.values())
    return "trustgraph" if foreign else "spec"


def _prov(quads: Sequence[Triple], document: Document) -> Iterator[Finding]:
    for message, where in prov_problems(quads, document):
        yield Finding(kind="prov", message=message, where=where)


def _seals(quads: Sequence[Triple]) -> Iterator[Finding]:
    try:
        facts = facts_of(quads)
    except FactsUnreadable as error:
        yield Finding(kind="seal", message=f"the facts cannot be read back: {error}")
        return
    broken = broken_seals(facts)
    for seal in broken:
        found = f"{seal.found[:12]}…" if seal.found else "none"
        yield Finding(
            kind="seal",
            name=str(seal.position),
            message=(
                f"fact {seal.position} ({seal.kind}) has the seal {found}, from it and those before it follows"
                f" {seal.expected[:12]}…: something was changed, or is missing"
            ),
        )
    # Another version may tell the same facts in other words; a fact without one is the beginning, told by any.
    if not broken and {fact.version for fact in facts} - {""} == {version("clew-translators")}:
        yield from _altered(quads)


def _altered(quads: Sequence[Triple]) -> Iterator[Finding]:
    """What the facts of an unbroken chain tell and is not there, and what is there beside it."""
    tree = read_trace(quads)
    run = run_of(tree.uri)
    if run is None:
        return
    mechanism, session_id = run
    missing, added = altered(
        quads,
        session_id=session_id,
        collection=tree.collection,
        mechanism=mechanism,
        profile=_profile([quad for quad in quads if quad.g == ns.GRAPH_RETRIEVAL]),
    )
    for problem, found in (
        ("follows from the facts and is missing", missing),
        ("follows from no fact", added),
    ):
        for quad in found:
            yield Finding(
                kind="seal",
                name="told",
                message=f"{quad.p.iri if quad.p else ''} {clip(_text(quad), 80)!r} {problem}",
                where=quad.s.iri if quad.s else "",
            )


def _text(quad: Triple) -> str:
    return quad.o.value or quad.o.iri if quad.o else ""
