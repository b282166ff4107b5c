"""Seals: each fact of a run is tied to the one before it, so that a gap or an edit shows.

The seal of a fact is SHA-256 over the seal before it and the fact's own content, as JSON without defaults: what a
later version adds with a default leaves old seals as they are. Whoever keeps the last seal of a run elsewhere can
prove that nothing was changed; without that, an edit shows unless all later seals were made anew.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from clew_translators import namespaces as ns
from clew_translators.explain.facts import established_by
from clew_translators.explain.provenance import provenance_statements
from clew_translators.explain.sealing import seal_of
from clew_translators.explain.statements import RDF_JSON, parse_time
from clew_translators.uris import question_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from clew_schema.facts import Fact, Mechanism
    from clew_schema.rdf import Term, Triple
    from clew_translators.explain import Profile

__all__ = ["BrokenSeal", "altered", "broken_seals", "seal_of", "sealed"]


@dataclass(frozen=True, slots=True)
class BrokenSeal:
    """The fact at ``position`` (from 1) has another seal than follows from it and what is before it."""

    position: int
    kind: str
    found: str
    expected: str


def sealed(facts: Sequence[Fact], trail: Sequence[Fact] = ()) -> tuple[Fact, ...]:
    """``facts``, which follow ``trail``, with their seals."""
    before = trail[-1].seal if trail else ""
    out = []
    for fact in facts:
        before = seal_of(fact, before)
        out.append(fact.model_copy(update={"seal": before}))
    return tuple(out)


def broken_seals(facts: Sequence[Fact]) -> tuple[BrokenSeal, ...]:
    """What does not fit in a whole run, in its order; nothing for a run without any seal (an older Clew made it).

    A failure stands beside the run: its message was tried again, and what came of that follows the same fact as it did.
    """
    if not any(fact.seal for fact in facts):
        return ()
    broken = []
    before = ""
    for position, fact in enumerate(facts, start=1):
        expected = seal_of(fact, before)
        if fact.seal != expected:
            broken.append(BrokenSeal(position, fact.kind, fact.seal, expected))
        if fact.kind != "run_failed":
            before = fact.seal
    return tuple(broken)


def altered(
    quads: Iterable[Triple], *, session_id: str, collection: str, mechanism: Mechanism, profile: Profile
) -> tuple[tuple[Triple, ...], tuple[Triple, ...]]:
    """Which quads of ``urn:graph:provenance`` are missing from a run, and which were added to it.

    The facts are read out of ``quads``, all of one run, and told again. What is told and not there is missing; what is
    there and not told was added. An edit of what a fact is read from changes both alike: that breaks its seal
    (:func:`broken_seals`). Literals are compared by value, for stores spell them in their own way. This means something
    only where every fact has the version of this Clew: another one may tell the same facts in other words. Raises
    FactsUnreadable.
    """
    given = list(quads)
    question = question_of(mechanism, session_id)
    told: dict[_Key, Triple] = {}
    so_far: tuple[Fact, ...] = ()
    for each in established_by(given):
        for fact in each.ways:
            statements = provenance_statements(
                (fact,), question, collection, so_far, texts=profile == "trustgraph"
            )
            told.update((_key(triple), triple) for triple in statements.triples)
        if each.fact.kind != "run_failed":
            so_far = (*so_far, each.fact)
    found = {_key(quad): quad for quad in given if quad.g == ns.GRAPH_PROVENANCE}
    missing = tuple(triple for key, triple in told.items() if key not in found)
    return missing, tuple(quad for key, quad in found.items() if key not in told)


_Key = tuple[object, ...]


def _key(quad: Triple) -> _Key:
    return (_value(quad.s), _value(quad.p), _value(quad.o))


def _value(term: Term | None) -> object:
    """What two spellings of one term have in common."""
    if term is None or term.type != "l":
        return term and term.model_dump_json()
    datatype = "" if term.datatype == ns.XSD_STRING else term.datatype
    return datatype, term.language.lower(), _of_type(term.value, datatype)


def _of_type(text: str, datatype: str) -> object:
    try:
        return _READERS.get(datatype, str)(text)
    except ValueError:
        return text


_READERS: Mapping[str, Callable[[str], object]] = MappingProxyType(
    {
        ns.XSD_INTEGER: int,
        ns.XSD_DOUBLE: float,
        ns.XSD_DATE_TIME: lambda text: parse_time(text) or text,
        ns.XSD_BOOLEAN: lambda text: text in {"true", "1"},
        RDF_JSON: lambda text: json.dumps(json.loads(text), sort_keys=True),
    }
)
