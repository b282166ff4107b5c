"""The quads of a run, by subject and predicate, whatever graph they stand in. Answers do not depend on their order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clew_translators import namespaces as ns

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew_schema.rdf import Term, Triple


class Quads:
    """What is said of each subject. Quads without a subject, predicate or object say nothing."""

    def __init__(self, quads: Iterable[Triple]) -> None:
        self._said: dict[str, dict[str, list[Term]]] = {}
        for quad in quads:
            if quad.s is not None and quad.p is not None and quad.o is not None:
                self._said.setdefault(name_of(quad.s), {}).setdefault(quad.p.iri, []).append(quad.o)

    @property
    def subjects(self) -> Iterable[str]:
        """Everything that something is said of."""
        return self._said.keys()

    def objects(self, subject: str, predicate: str) -> list[Term]:
        """The terms of one predicate."""
        return self._said.get(subject, {}).get(predicate, [])

    def predicates(self, subject: str) -> list[str]:
        """Which predicates ``subject`` has."""
        return sorted(self._said.get(subject, {}))

    def types(self, subject: str) -> frozenset[str]:
        """The classes of ``subject``."""
        return frozenset(term.iri for term in self.objects(subject, ns.RDF_TYPE))

    def texts(self, subject: str, predicate: str) -> list[str]:
        """The literals, in natural order, each once."""
        found = {term.value for term in self.objects(subject, predicate) if term.type == "l"}
        return sorted(found, key=natural) if len(found) > 1 else list(found)

    def text(self, subject: str, predicate: str) -> str:
        """The first of the literals, or ``""``."""
        return next(iter(self.texts(subject, predicate)), "")

    def links(self, subject: str, predicate: str) -> list[str]:
        """The IRIs and blank nodes, in natural order, each once."""
        found = {name_of(term) for term in self.objects(subject, predicate) if term.type in {"i", "b"}}
        return sorted(found, key=natural) if len(found) > 1 else list(found)

    def link(self, subject: str, predicate: str) -> str:
        """The first of the links, or ``""``."""
        return next(iter(self.links(subject, predicate)), "")

    def integer(self, subject: str, predicate: str) -> int | None:
        """A whole number; null when there is none."""
        try:
            return int(self.text(subject, predicate))
        except ValueError:
            return None

    def double(self, subject: str, predicate: str) -> float | None:
        """A number; null when there is none."""
        try:
            value = float(self.text(subject, predicate))
        except ValueError:
            return None
        return value if value == value else None  # noqa: PLR0124 - not a number is no number

    def activity(self, entity: str) -> str:
        """What generated ``entity``: the activity of its step rather than the whole run."""
        found = self.links(entity, ns.PROV_WAS_GENERATED_BY)
        return max(found, key=len, default="")

    def sources(self, entity: str) -> list[str]:
        """What ``entity`` rests on: what it derives from, and what the step that made it used."""
        used = self.links(self.activity(entity), ns.PROV_USED)
        return [*self.links(entity, ns.PROV_WAS_DERIVED_FROM), *used]


def name_of(term: Term) -> str:
    """A subject's name: its IRI, or a blank node's label after ``_:``."""
    return f"_:{term.id}" if term.type == "b" else term.iri


def natural(text: str) -> list[tuple[int, str]]:
    """A sort key by which ``i9`` comes before ``i10``."""
    return [
        (int(part) if part.isascii() and part.isdigit() else 0, part)
        for part in re.split(r"(\d{1,18})", text)
    ]
