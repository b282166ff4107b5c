"""Collecting statements of one graph, to be told as models or, at a fifth of the cost, as the wire's JSON.

A batch has hundreds of statements and is built for every step of every run, so a statement is a tuple of texts
until somebody wants it otherwise. Both tellings are the same bytes on the wire; a test holds them together.
"""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime

from clew_schema.rdf import Term, Triple, iri, literal, quoted
from clew_translators.memo import LONGEST, remembered
from clew_translators.namespaces import RDF, RDF_TYPE, XSD_BOOLEAN, XSD_DATE_TIME, XSD_DOUBLE, XSD_INTEGER

RDF_JSON = RDF + "JSON"
"""The datatype of a literal that is a JSON text (RDF 1.2 Concepts, 3.5)."""

_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?")
_known = remembered(iri, entries=1024)  # predicates, classes, and the subjects of the step at hand


class Statements:
    """Statements of the graph ``graph`` (``""``: of none), in the order in which they were made; each is kept once."""

    def __init__(self, graph: str) -> None:
        self._graph = graph
        # subject, predicate, text, and the literal's datatype: null for an IRI, and for the triple that a triple quotes
        self._rows: dict[tuple[str, str, str | Triple, str | None], None] = {}
        self._subject = ""

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def triples(self) -> tuple[Triple, ...]:
        """What was said, as models."""
        return tuple(
            Triple(s=_known(subject), p=_known(predicate), o=_object(text, datatype), g=self._graph or None)
            for subject, predicate, text, datatype in self._rows
        )

    def json(self) -> list[str]:
        """What was said, each statement as the wire has it: long form, every field written."""
        tail = f'"g":{_text(self._graph) if self._graph else "null"}}}'
        names, literals = _names, _literals
        return [
            f'{{"s":{names[subject]},"p":{names[predicate]},"o":{names[text]},{tail}'
            if datatype is None
            else f'{{"s":{names[subject]},"p":{names[predicate]},"o":{_LITERAL}{_text(text)}{literals[datatype]},{tail}'  # type: ignore[arg-type] # a literal is text
            for subject, predicate, text, datatype in self._rows
        ]

    def about(self, subject: str, *types: str) -> None:
        """What follows is about ``subject``, which is an instance of ``types``."""
        self._subject = subject
        for type_ in types:
            self._rows[subject, RDF_TYPE, type_, None] = None

    def link(self, predicate: str, target: str) -> None:
        """``predicate`` points to ``target``; nothing is said when that is ``""``."""
        if target:
            self._rows[self._subject, predicate, target, None] = None

    def quote(self, predicate: str, triple: Triple) -> None:
        """A statement about a statement (RDF-star). ``triple`` stands in no graph."""
        self._rows[self._subject, predicate, triple.model_copy(update={"g": None}), None] = None

    def plain(self, predicate: str, text: str) -> None:
        """A plain literal, empty or not."""
        self._rows[self._subject, predicate, text, ""] = None

    def text(self, predicate: str, text: str) -> None:
        """A plain literal; nothing is said when it is empty."""
        if text:
            self._rows[self._subject, predicate, text, ""] = None

    def integer(self, predicate: str, value: int | None) -> None:
        """An ``xsd:integer``; nothing is said for null."""
        if value is not None:
            self._rows[self._subject, predicate, str(value), XSD_INTEGER] = None

    def double(self, predicate: str, value: float | None) -> None:
        """An ``xsd:double``; nothing is said for null."""
        if value is not None:
            self._rows[self._subject, predicate, _double(value), XSD_DOUBLE] = None

    def boolean(self, predicate: str, value: bool) -> None:  # noqa: FBT001 - the value is the point
        """An ``xsd:boolean``."""
        self._rows[self._subject, predicate, "true" if value else "false", XSD_BOOLEAN] = None

    def time(self, predicate: str, value: str) -> None:
        """An ``xsd:dateTime``; nothing is said when ``value`` is none."""
        if parse_time(value) is not None:
            self._rows[self._subject, predicate, value, XSD_DATE_TIME] = None

    def document(self, predicate: str, value: object) -> None:
        """An ``rdf:JSON`` literal, short form; ``value`` is anything that JSON can write."""
        self._rows[self._subject, predicate, _document(value), RDF_JSON] = None


def _object(value: str | Triple, datatype: str | None) -> Term:
    if isinstance(value, Triple):
        return quoted(value)
    return iri(value) if datatype is None else literal(value, datatype=datatype)


_text = json.encoder.encode_basestring  # what JSONEncoder(ensure_ascii=False) writes a string with
_document = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_LITERAL = '{"type":"l","iri":"","id":"","value":'
_QUOTED = '{"type":"t","iri":"","id":"","value":"","datatype":"","language":"","triple":'


class _Names(dict[str | Triple, str]):
    """Names as JSON, each made once as long as it is known: predicates and classes come in every batch.

    It starts anew when it is full, and keeps no long text: whoever names a session chooses what stands in names.
    """

    def __missing__(self, value: str | Triple) -> str:
        if isinstance(value, Triple):
            return f"{_QUOTED}{value.model_dump_json()}}}"
        made = f'{{"type":"i","iri":{_text(value)},"id":"","value":"","datatype":"","language":"","triple":null}}'
        if len(value) <= LONGEST:
            if len(self) >= _MOST_NAMES:
                self.clear()
            self[value] = made
        return made


_MOST_NAMES = 4096
_names = _Names()


class _Literals(dict[str, str]):
    """What follows the text of a literal, by its datatype."""

    def __missing__(self, datatype: str) -> str:
        made = f',"datatype":"{datatype}","language":"","triple":null}}'
        self[datatype] = made
        return made


_literals = _Literals()  # by datatype, of which there are few: ours


def parse_time(value: str) -> datetime | None:
    """The instant that an ``xsd:dateTime`` names, UTC where it names no zone; None for anything else."""
    return _instant(value)


def _read_time(value: str) -> datetime | None:
    if not _DATE_TIME.fullmatch(value) or not value.isascii():
        return None
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


_instant = remembered(_read_time, entries=256)  # the facts of a step share their times


def _double(value: float) -> str:
    """The shortest text that reads back as ``value``, as XML Schema spells it."""
    if math.isfinite(value):
        return repr(value).removesuffix(".0")
    return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"
