"""Facts out of triples: the inverse of :func:`clew_translators.explain.tell`.

Every activity of a run carries the record of its fact (:mod:`clew_translators.explain.record`) and its place among the
facts. What a record leaves out is read from the terms that hold it, and the seal from its own. The order of the quads
does not matter.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from clew_schema.facts import Fact
from clew_translators.explain import names
from clew_translators.explain.facts_terms import fields_of
from clew_translators.explain.sealing import seal_of
from clew_translators.trace import TraceUnreadable
from clew_translators.trace_quads import Quads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew_schema.rdf import Triple

_FACT: TypeAdapter[Fact] = TypeAdapter(Fact)
_Fields = dict[str, Any]


class FactsUnreadable(TraceUnreadable):
    """These quads do not hold the facts of a run."""


@dataclass(frozen=True, slots=True)
class Established:
    """A fact as quads tell of it: the one that the run went on from, and every way in which it was told."""

    fact: Fact
    ways: tuple[Fact, ...]


def facts_of(quads: Iterable[Triple]) -> tuple[Fact, ...]:
    """The facts that ``quads``, all of one run, tell of, in the order in which they were established.

    Of a run that is not told to its end, the facts so far. A fact that was told twice (a step that failed was tried
    again and began anew) comes once: as what follows it was sealed. Raises FactsUnreadable for quads without a record:
    another system's trace, one of a Clew that kept none, or the retrieval graph alone; and for a record that does not
    fit its terms.
    """
    return tuple(each.fact for each in established_by(quads))


def established_by(quads: Iterable[Triple]) -> tuple[Established, ...]:
    """As :func:`facts_of`, with every way in which each fact was told."""
    known = Quads(quads)
    told = {activity: ways for activity in known.subjects if (ways := _ways(known, activity))}
    if not told:
        msg = (
            "no record of a fact among these quads: give all quads of one run of Clew,"
            " its graph urn:graph:provenance included"
        )
        raise FactsUnreadable(msg)
    followed = {seal for activity in told for seal in known.texts(activity, names.PREVIOUS_SEAL)}
    found = [
        (known.integer(activity, names.POSITION) or 0, activity, each)
        for activity, ways in told.items()
        for each in _distinct(ways, followed)
    ]
    # Whoever fails and is tried again stands where the step stands that succeeded later: the failure was before.
    found.sort(key=lambda one: (one[0], not _failed(one[2].fact), one[2].fact.started_at, one[1]))
    return tuple(each for _, _, each in found)


def _distinct(ways: tuple[Fact, ...], followed: set[str]) -> list[Established]:
    """One fact, the way that another was sealed after, else the latest; or each failure of one moment."""
    if all(map(_failed, ways)):
        return [Established(each, (each,)) for each in ways]
    return [Established(max(ways, key=lambda each: (each.seal in followed, each.ended_at)), ways)]


def _failed(fact: Fact) -> bool:
    return fact.kind == "run_failed"


def _ways(known: Quads, activity: str) -> tuple[Fact, ...]:
    """The fact of ``activity``, in every way in which it was told."""
    texts = known.texts(activity, names.RECORD)
    if not texts:
        return ()
    seals = known.texts(activity, names.SEAL)
    facts = [_fact(known, activity, _read(activity, text)) for text in texts]
    if len(facts) == 1 and len(seals) < 2:
        return tuple(_sealed(fact, seals[0] if seals else "") for fact in facts)
    # Which seal is whose is not told: each is worked out.
    before = known.texts(activity, names.PREVIOUS_SEAL) or [""]
    return tuple(
        _sealed(fact, next((seal for each in before if (seal := seal_of(fact, each)) in seals), ""))
        for fact in facts
    )


def _sealed(fact: Fact, seal: str) -> Fact:
    return fact.model_copy(update={"seal": seal}) if seal else fact


def _read(activity: str, text: str) -> _Fields:
    try:
        record = json.loads(text)
    except ValueError as error:
        raise FactsUnreadable(f"the record of {activity} is no JSON: {error}") from error
    if not isinstance(record, dict):
        raise FactsUnreadable(f"the record of {activity} is no JSON object")
    return record


def _fact(known: Quads, activity: str, record: _Fields) -> Fact:
    entity = activity.removesuffix(names.activity_of(""))
    try:
        return _FACT.validate_json(json.dumps(record | fields_of(known, activity, entity, record)))
    except (KeyError, TypeError, ValueError) as error:
        raise FactsUnreadable(
            f"the record of {activity} does not fit what is told with it: {error!r}"
        ) from error
