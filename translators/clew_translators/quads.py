"""Triples ↔ N-Quads text ↔ rdflib.

N-Quads are written and read here by the W3C grammar (https://www.w3.org/TR/n-quads/), because rdflib's parser
rewrites literals (``"01"`` becomes ``"1"``), renames blank nodes and forgets the order; tests read ours with rdflib
and with pyoxigraph. A quoted triple is written as RDF 1.2's triple term, ``<<( s p o )>>``; the older ``<< s p o >>``
that TrustGraph prints is read as well. rdflib has no quoted triples: they are refused there.

A literal of type ``xsd:string`` and a plain one are the same (RDF 1.1 §3.3) and come back as plain.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from rdflib import BNode, Dataset, Literal, URIRef
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

from clew_schema.rdf import Term, Triple, blank, iri, literal, quoted
from clew_translators.iris import is_blank_label, is_iri, is_language_tag
from clew_translators.namespaces import RDF_LANG_STRING, XSD_STRING
from clew_translators.refusal import clip, found

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Node: TypeAlias = URIRef | BNode | Literal
Quad: TypeAlias = tuple[URIRef | BNode, URIRef, Node, URIRef | None]


class NotRdf(ValueError):
    """A triple or a text that RDF cannot hold; the text says what and where, quoting a few words of it."""


MAX_NESTING = 64
"""How deep triples may be quoted in triples."""


# --- writing N-Quads ------------------------------------------------------------------------------

_ESCAPES = {"\t": "\\t", "\b": "\\b", "\n": "\\n", "\r": "\\r", "\f": "\\f", '"': '\\"', "\\": "\\\\"}
_HALF = re.compile("[\ud800-\udfff]")
_TO_ESCAPE = re.compile(r'[\x00-\x1f\x7f"\\]')


def to_nquads(triples: Iterable[Triple]) -> str:
    """One line for each triple, in their order, each ended by a newline. Raises NotRdf."""
    return "".join(f"{_statement(triple)}{_graph(triple)} .\n" for triple in triples)


def _statement(triple: Triple, depth: int = 0) -> str:
    subject, predicate, object_ = _positions(triple)
    return f"{_written(subject, depth)} {_written(predicate, depth)} {_written(object_, depth)}"


def _positions(triple: Triple) -> tuple[Term, Term, Term]:
    """Subject, predicate and object, when each may stand where it stands."""
    if triple.s is None or triple.s.type not in {"i", "b"}:
        raise NotRdf(f"the subject must be an IRI or a blank node, found {_kind(triple.s)}")
    if triple.p is None or triple.p.type != "i":
        raise NotRdf(f"the predicate must be an IRI, found {_kind(triple.p)}")
    if triple.o is None or triple.o.type == "":
        raise NotRdf("the object is missing")
    return triple.s, triple.p, triple.o


def _graph(triple: Triple) -> str:
    return f" <{_checked_iri(triple.g)}>" if triple.g else ""


def _written(term: Term, depth: int) -> str:
    if term.type == "i":
        return f"<{_checked_iri(term.iri)}>"
    if term.type == "b":
        return f"_:{_checked_label(term.id)}"
    if term.type == "t":
        return f"<<( {_statement(_quoted(term, depth), depth + 1)} )>>"
    text = _TO_ESCAPE.sub(lambda found_: _ESCAPES.get(found_[0]) or f"\\u{ord(found_[0]):04X}", term.value)
    language, datatype = _literal_kind(term)
    return f'"{text}"' + (f"@{language}" if language else f"^^<{datatype}>" if datatype else "")


def _quoted(term: Term, depth: int) -> Triple:
    if term.triple is None:
        raise NotRdf("a quoted triple holds no triple")
    if depth >= MAX_NESTING:
        raise NotRdf(f"triples are quoted in triples more than {MAX_NESTING} deep")
    return term.triple


def _literal_kind(term: Term) -> tuple[str, str]:
    """Language and datatype of a literal: at most one of them. Refuses a value that is no text, as well."""
    if _HALF.search(term.value):
        raise NotRdf("a literal holds half a character (a lone surrogate)")
    if term.language:
        if not is_language_tag(term.language):
            raise NotRdf(f"{found(term.language)} is no language tag")
        if term.datatype not in {"", RDF_LANG_STRING}:
            raise NotRdf(f"a literal has the language {term.language} and the datatype {clip(term.datatype)}")
        return term.language, ""
    if term.datatype == RDF_LANG_STRING:
        raise NotRdf("a literal of type rdf:langString needs a language")
    return "", "" if term.datatype in {"", XSD_STRING} else _checked_iri(term.datatype)


def _checked_iri(text: str) -> str:
    if not is_iri(text):
        raise NotRdf(f"{found(text)} is no absolute IRI; percent-encode what may not stand in one")
    return text


def _checked_label(label: str) -> str:
    if not is_blank_label(label):
        raise NotRdf(
            f"{found(label)} is no label of a blank node; use ASCII letters, digits, _, - and inner dots"
        )
    return label


def _kind(term: Term | None) -> str:
    names = {"i": "an IRI", "b": "a blank node", "l": "a literal", "t": "a quoted triple"}
    return names.get(term.type, "nothing") if term else "nothing"


# --- reading N-Quads ------------------------------------------------------------------------------

_UNESCAPES = {written[1]: meant for meant, written in _ESCAPES.items()} | {"'": "'"}
_ESCAPED = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_LINE_END = re.compile(r"[\r\n]+")
_TOKEN = re.compile(
    r"[ \t]*(?:<(?P<iri>[^\x00-\x20<>\"{}|^`]*)>"
    r"|_:(?P<blank>[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?)"
    r'|"(?P<value>(?:[^"\\\r\n]|\\.)*)"(?:@(?P<language>[A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^<(?P<datatype>[^\x00-\x20<>]*)>)?'
    r"|(?P<open><<\(?)|(?P<close>\)?>>)|(?P<dot>\.[ \t]*(?:\#.*)?$))"
)


def from_nquads(text: str) -> tuple[Triple, ...]:
    """The statements of an N-Quads (or N-Triples) document in their order; comments are skipped.

    Raises:
        NotRdf: naming the line that is none.
    """
    triples: list[Triple] = []
    for number, line in enumerate(_LINE_END.split(text), start=1):
        if (stripped := line.strip(" \t")) and not stripped.startswith("#"):
            try:
                triples.append(_Line(stripped).statement())
            except NotRdf as error:
                raise NotRdf(f"line {number}: {error}") from None
    return tuple(triples)


class _Line:
    """Reads one statement, token by token."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def statement(self) -> Triple:
        """The whole line as a triple with its graph."""
        subject, predicate, object_ = (self._term() for _ in range(3))
        graph = None
        if not self._next("dot", required=False):
            term = self._term()
            if term.type != "i":
                raise NotRdf(f"the graph must be an IRI, found {_kind(term)}")
            graph = term.iri
            self._next("dot")
        triple = Triple(s=subject, p=predicate, o=object_, g=graph)
        _positions(triple)
        return triple

    def _term(self, depth: int = 0) -> Term:
        token = self._token()
        if (text := token["iri"]) is not None:
            return iri(_checked_iri(_unescaped(text)))
        if (label := token["blank"]) is not None:
            return blank(label)
        if (value := token["value"]) is not None:
            return self._literal(value, token)
        if token["open"] and depth < MAX_NESTING:
            triple = Triple(s=self._term(depth + 1), p=self._term(depth + 1), o=self._term(depth + 1))
            _positions(triple)
            self._next("close")
            return quoted(triple)
        raise NotRdf(f"expected a term at {found(token[0].strip())}")

    def _literal(self, value: str, token: re.Match[str]) -> Term:
        datatype = _checked_iri(_unescaped(token["datatype"])) if token["datatype"] is not None else ""
        term = literal(_unescaped(value), datatype=datatype, language=token["language"] or "")
        _literal_kind(term)
        return literal(term.value, language=term.language) if datatype == XSD_STRING else term

    def _next(self, kind: str, *, required: bool = True) -> bool:
        """Take a token of that kind; leave the place alone when it is another and need not be that."""
        before = self._at
        token = self._token()
        if token[kind] is None:
            if required:
                raise NotRdf(f"expected the end of the {'line' if kind == 'dot' else 'quoted triple'}")
            self._at = before
        return token[kind] is not None

    def _token(self) -> re.Match[str]:
        token = _TOKEN.match(self._text, self._at)
        if token is None:
            raise NotRdf(f"no term at {found(self._text[self._at :])}")
        self._at = token.end()
        return token


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(_character, text) if "\\" in text else text


def _character(escape: re.Match[str]) -> str:
    if digits := escape[1] or escape[2]:
        code = int(digits, 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise NotRdf(f"\\u{digits} is no character")
        return chr(code)
    if escape[3] not in _UNESCAPES:
        raise NotRdf(f"\\{escape[3]} escapes nothing")
    return _UNESCAPES[escape[3]]


# --- rdflib ---------------------------------------------------------------------------------------


def to_rdflib(triples: Iterable[Triple]) -> Dataset:
    """The triples as a dataset; those without a graph stand in its default graph.

    Literals keep their lexical form. Raises NotRdf, also for a quoted triple, which rdflib cannot hold.
    """
    dataset = Dataset()
    for subject, predicate, object_, graph in map(_quad, triples):
        dataset.graph(graph or DATASET_DEFAULT_GRAPH_ID).add((subject, predicate, object_))
    return dataset


def from_rdflib(dataset: Dataset) -> tuple[Triple, ...]:
    """The quads of ``dataset``, sorted by their N-Quads text, for rdflib has no order."""
    return tuple(sorted(_triples(dataset), key=lambda triple: to_nquads((triple,))))


def _quad(triple: Triple) -> Quad:
    subject, predicate, object_ = (_node(term) for term in _positions(triple))
    graph = URIRef(_checked_iri(triple.g)) if triple.g else None
    assert not isinstance(subject, Literal) and isinstance(predicate, URIRef)  # noqa: PT018 - _positions saw to it
    return subject, predicate, object_, graph


def _node(term: Term) -> Node:
    if term.type == "i":
        return URIRef(_checked_iri(term.iri))
    if term.type == "b":
        return BNode(_checked_label(term.id))
    if term.type == "t":
        raise NotRdf("rdflib cannot hold a quoted triple; use N-Quads")
    language, datatype = _literal_kind(term)
    kind = URIRef(datatype) if datatype else None
    return Literal(term.value, lang=language or None, datatype=kind, normalize=False)


def _triples(dataset: Dataset) -> Iterator[Triple]:
    for subject, predicate, object_, graph in dataset.quads():
        name = None if graph in {None, DATASET_DEFAULT_GRAPH_ID} else str(graph)
        yield Triple(s=_term(subject), p=_term(predicate), o=_term(object_), g=name)


def _term(node: object) -> Term:
    if isinstance(node, Literal):
        datatype = "" if node.language or str(node.datatype) == XSD_STRING else str(node.datatype or "")
        return literal(str(node), datatype=datatype, language=node.language or "")
    if isinstance(node, BNode):
        return blank(str(node))
    if isinstance(node, URIRef):
        return iri(str(node))
    raise NotRdf(f"{type(node).__name__} is no term of RDF")
