"""Full IRIs as qualified names: which part of one is the namespace, and the prefixes of a document.

PROV-N, PROV-JSON and PROV-XML write every name as ``prefix:local``. Local names are those of PROV-N (section 3.7.1),
the strictest of the three: what may not stand in one, even escaped, goes to the namespace.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clew_translators.iris import is_iri
from clew_translators.namespaces import PREFIXES
from clew_translators.prov.building import NotExpressible
from clew_translators.prov.model import ARGUMENTS, TIMES, Name
from clew_translators.refusal import found

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clew_translators.prov.model import Document, Statement

# PROV-N, section 5: the productions PN_CHARS_BASE, PN_CHARS, PN_CHARS_OTHERS; the first is SPARQL's.
_BASE = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_CHARS = f"{_BASE}_0-9\u00b7\u0300-\u036f\u203f-\u2040-"
_OTHERS = r"[/@~&+*?#$!]|%[0-9A-Fa-f]{2}|\\[='(),:;\"\[\].-]"
PREFIX = rf"[{_BASE}](?:[{_CHARS}.]*[{_CHARS}])?"
LOCAL = rf"(?:[{_BASE}_0-9]|{_OTHERS})(?:(?:[{_CHARS}.]|{_OTHERS})*(?:[{_CHARS}]|{_OTHERS}))?"
QUALIFIED = rf"(?:(?P<prefix>{PREFIX}):(?P<local>{LOCAL})?|(?P<alone>{LOCAL}))"

_TO_ESCAPE = re.compile(r"[='(),:;\"\[\]]|^[-.]|\.$")
_UNFIT = re.compile(rf"[^{_CHARS}./@~&+*?#$!%='(),:;\"\[\]]|%(?![0-9A-Fa-f]{{2}})")
_NAMESPACE = re.compile(r"urn:[^:]*:(?:[^:#/]*[:#/])?|[^:]*:(?:.*[#/])?", re.DOTALL)
EXISTENTIAL = "_:"
"""What begins the name of something that is not named."""


def split(iri: str) -> tuple[str, str]:
    """Namespace and local name of an IRI; together they are the IRI. The namespace ends early in a URN."""
    for namespace in PREFIXES.values():
        if iri.startswith(namespace) and not _UNFIT.search(iri, len(namespace)):
            return namespace, iri[len(namespace) :]
    match = _NAMESPACE.match(iri)
    end = match.end() if match else 0
    for unfit in _UNFIT.finditer(iri, end):
        end = unfit.end()
    return iri[:end], iri[end:]


def escaped(local: str) -> str:
    """A local name as PROV-N writes it."""
    return _TO_ESCAPE.sub(lambda found_: "\\" + found_[0], local)


def unescaped(local: str) -> str:
    """What an escaped local name means."""
    return re.sub(r"\\(.)", r"\1", local)


class Prefixes:
    """The prefixes of a document that is being written: well-known ones, else ``ns1``, ``ns2`` … in order."""

    def __init__(self, document: Document) -> None:
        """Raises NotExpressible for a name that is no IRI."""
        names = {name for name in names_of(document) if not name.startswith(EXISTENTIAL)}
        for name in names:
            if not is_iri(name):
                raise NotExpressible(f"{found(name)} is no absolute IRI, so PROV has no name for it")
        known = {namespace: prefix for prefix, namespace in PREFIXES.items()}
        used = sorted({split(name)[0] for name in names})
        others = [namespace for namespace in used if namespace not in known]
        self._prefixes = {namespace: known[namespace] for namespace in used if namespace in known}
        self._prefixes |= {namespace: f"ns{number}" for number, namespace in enumerate(others, start=1)}

    def items(self) -> list[tuple[str, str]]:
        """Prefix and namespace of each, sorted; without ``prov`` and ``xsd``, which every format knows or handles."""
        return sorted(
            (prefix, namespace)
            for namespace, prefix in self._prefixes.items()
            if prefix not in {"prov", "xsd"}
        )

    def name(self, iri: str) -> tuple[str, str]:
        """Prefix and local name of ``iri``, one of the document's; a name of nothing named is ``("_", label)``."""
        if iri.startswith(EXISTENTIAL):
            return "_", iri.removeprefix(EXISTENTIAL)
        namespace, local = split(iri)
        return self._prefixes[namespace], local


def names_of(document: Document) -> Iterator[str]:
    """Every IRI that stands in ``document``."""
    yield from document.bundles
    for inside in (document.statements, *document.bundles.values()):
        yield from _names(inside)


def _names(statements: Iterable[Statement]) -> Iterator[str]:
    for each in statements:
        if each.id is not None:
            yield each.id
        for argument, value in zip(ARGUMENTS[each.kind], each.arguments, strict=True):
            if value is not None and argument not in TIMES:
                yield value
        for name, value_ in each.attributes:
            yield name
            yield value_.iri if isinstance(value_, Name) else value_.datatype
