"""Collecting statements of one graph. Terms that repeat are made once: a batch has hundreds of statements."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from functools import lru_cache

from clew_schema.rdf import Term, Triple, iri, literal
from clew_translators.namespaces import RDF_TYPE, XSD_BOOLEAN, XSD_DATE_TIME, XSD_DOUBLE, XSD_INTEGER

_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?")
_known = lru_cache(maxsize=1024)(iri)  # predicates and classes, a closed set of a few dozen


class Statements:
    """Statements of the graph ``graph``, in the order in which they were made; each is kept once."""

    def __init__(self, graph: str) -> None:
        self._graph = graph
        self._triples: dict[tuple[str, str, str, str], Triple] = {}
        self._subject = Term()

    @property
    def triples(self) -> tuple[Triple, ...]:
        """What was said."""
        return tuple(self._triples.values())

    def about(self, subject: str, *types: str) -> None:
        """What follows is about ``subject``, which is an instance of ``types``."""
        self._subject = iri(subject)
        for type_ in types:
            self._add(RDF_TYPE, _known(type_))

    def link(self, predicate: str, target: str) -> None:
        """``predicate`` points to ``target``; nothing is said when that is ``""``."""
        if target:
            self._add(predicate, iri(target))

    def plain(self, predicate: str, text: str) -> None:
        """A plain literal, empty or not."""
        self._add(predicate, literal(text))

    def text(self, predicate: str, text: str) -> None:
        """A plain literal; nothing is said when it is empty."""
        if text:
            self._add(predicate, literal(text))

    def integer(self, predicate: str, value: int | None) -> None:
        """An ``xsd:integer``; nothing is said for null."""
        if value is not None:
            self._add(predicate, _integer(value))

    def double(self, predicate: str, value: float | None) -> None:
        """An ``xsd:double``; nothing is said for null."""
        if value is not None:
            self._add(predicate, literal(_double(value), datatype=XSD_DOUBLE))

    def boolean(self, predicate: str, value: bool) -> None:  # noqa: FBT001 - the value is the point
        """An ``xsd:boolean``."""
        self._add(predicate, literal("true" if value else "false", datatype=XSD_BOOLEAN))

    def time(self, predicate: str, value: str) -> None:
        """An ``xsd:dateTime``; nothing is said when ``value`` is none."""
        if parse_time(value) is not None:
            self._add(predicate, literal(value, datatype=XSD_DATE_TIME))

    def _add(self, predicate: str, value: Term) -> None:
        key = (self._subject.iri, predicate, value.iri or value.value, value.type + value.datatype)
        if key not in self._triples:
            self._triples[key] = Triple(s=self._subject, p=_known(predicate), o=value, g=self._graph)


@lru_cache(maxsize=256)  # the facts of a step share their times
def parse_time(value: str) -> datetime | None:
    """The instant that an ``xsd:dateTime`` names, UTC where it names no zone; None for anything else."""
    if not _DATE_TIME.fullmatch(value) or not value.isascii():
        return None
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


@lru_cache(maxsize=1024)  # most are ranks and pages
def _integer(value: int) -> Term:
    return literal(str(value), datatype=XSD_INTEGER)


def _double(value: float) -> str:
    """The shortest text that reads back as ``value``, as XML Schema spells it."""
    if math.isfinite(value):
        return repr(value).removesuffix(".0")
    return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"
