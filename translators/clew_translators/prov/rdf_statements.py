"""The triples of one graph as statements, by the tables of :mod:`clew_translators.prov.prov_o`."""

from __future__ import annotations

from dataclasses import replace
from itertools import product, zip_longest
from typing import TYPE_CHECKING

from clew_translators import namespaces as ns
from clew_translators.prov import prov_o
from clew_translators.prov.building import (
    PROV_LABEL,
    PROV_LOCATION,
    PROV_ROLE,
    PROV_TYPE,
    NotProv,
    missing,
    sorted_attributes,
    statement,
)
from clew_translators.prov.model import ARGUMENTS, TIMES, Name, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clew_translators.prov.building import Attribute
    from clew_translators.prov.model import Kind, Statement

Row = tuple[str, str, Value | Name]
"""A triple: subject, predicate, and the object as an attribute would have it."""

BUNDLE = Name(ns.PROV_BUNDLE)

_RENAMED = {
    ns.RDFS_LABEL: PROV_LABEL,
    ns.PROV_AT_LOCATION: PROV_LOCATION,
    prov_o.HAD_ROLE: PROV_ROLE,
}
_EVENTS: dict[str, Kind] = {
    ns.PROV_GENERATED_AT_TIME: "wasGeneratedBy",
    ns.PROV_INVALIDATED_AT_TIME: "wasInvalidatedBy",
}
_NO_ATTRIBUTES = (
    prov_o.RELATIONS.keys()
    | prov_o.QUALIFIED.keys()
    | prov_o.ABOUT_INFLUENCE
    | _EVENTS.keys()
    | {ns.PROV_STARTED_AT_TIME, ns.PROV_ENDED_AT_TIME, ns.PROV + "asInBundle"}
)
_Said = dict[str, list[Value | Name]]
_Key = tuple["Kind", str, str]


def statements(rows: Iterable[Row]) -> list[Statement]:
    """What ``rows`` say, each statement once."""
    return list(dict.fromkeys(_Graph(rows).statements()))


class _Graph:
    """Triples by their subject; inverse properties are read the other way round."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._said: dict[str, _Said] = {}
        for row in rows:
            subject, predicate, value = row
            if predicate in prov_o.INVERSES:
                subject, predicate, value = (
                    _iri(row, value),
                    prov_o.INVERSES[predicate],
                    Name(subject),
                )
            self._said.setdefault(subject, {}).setdefault(predicate, []).append(value)
        self._qualifications = self._objects(prov_o.QUALIFIED)
        self._referred = self._objects((prov_o.HAD_GENERATION, prov_o.HAD_USAGE))

    def _objects(self, predicates: Iterable[str]) -> set[str]:
        wanted = set(predicates)
        return {
            value.iri
            for said in self._said.values()
            for predicate in said.keys() & wanted
            for value in said[predicate]
            if isinstance(value, Name)
        }

    def statements(self) -> Iterator[Statement]:
        """Elements first, then what relates them."""
        for subject, said in self._said.items():
            if subject not in self._qualifications:
                yield from _elements(subject, said)
        unqualified = self._unqualified()
        qualified = [self._typed(each, unqualified) for each in self._qualified()]
        known = {(each.kind, *each.arguments[:2]) for each in qualified}
        related = [
            self._unqualified_statement(key, types) for key, types in unqualified.items() if key not in known
        ]
        yield from self._timed([*qualified, *related])

    # --- unqualified ------------------------------------------------------------------------------

    def _unqualified(self) -> dict[_Key, set[str]]:
        """Kind and ends of each relation, with its types."""
        found: dict[_Key, set[str]] = {}
        for subject, said in self._said.items():
            for predicate, values in said.items():
                kind, type_ = prov_o.RELATIONS.get(predicate, ("used", ""))
                for value in values if predicate in prov_o.RELATIONS else ():
                    types = found.setdefault((kind, subject, _iri((subject, predicate, value), value)), set())
                    types |= {type_} if type_ else set()
        return found

    def _unqualified_statement(self, key: _Key, types: set[str]) -> Statement:
        kind, subject, target = key
        arguments: dict[str, str | None] = dict(zip(ARGUMENTS[kind], (subject, target), strict=False))
        if kind == "mentionOf":
            where = self._said.get(subject, {}).get(ns.PROV + "asInBundle", [])
            arguments["bundle"] = next((each.iri for each in where if isinstance(each, Name)), None)
            _complete(kind, arguments, subject)
        return statement(kind, None, arguments, [(PROV_TYPE, Name(type_)) for type_ in types])

    # --- qualified --------------------------------------------------------------------------------

    def _qualified(self) -> Iterator[Statement]:
        for subject, said in self._said.items():
            for predicate, values in said.items():
                for value in values if predicate in prov_o.QUALIFIED else ():
                    yield from self._qualification(
                        subject, predicate, _iri((subject, predicate, value), value)
                    )

    def _qualification(self, subject: str, predicate: str, name: str) -> Iterator[Statement]:
        kind, properties, type_ = prov_o.QUALIFIED[predicate]
        said = self._said.get(name, {})
        columns: list[list[str | None]] = [[subject]]
        for place, argument in enumerate(ARGUMENTS[kind][1:]):
            columns.append(
                _values(name, said, properties[argument], is_time=argument in TIMES, is_second=not place)
            )
        attributes: list[Attribute] = [(PROV_TYPE, Name(type_))] if type_ else []
        attributes += [each for each in _attributes(said) if each[1] not in _SAY_NOTHING]
        id_ = name if not name.startswith("_:") or name in self._referred else None
        for chosen in product(*columns):
            arguments = dict(zip(ARGUMENTS[kind], chosen, strict=True))
            _complete(kind, arguments, name)
            yield statement(kind, id_, arguments, attributes)

    def _typed(self, each: Statement, unqualified: dict[_Key, set[str]]) -> Statement:
        """``each`` with the types that the unqualified properties of the same ends give it."""
        first, second = (*each.arguments, None)[:2]
        types = unqualified.get((each.kind, first or "", second or ""))
        if not types:
            return each
        more = [(PROV_TYPE, Name(type_)) for type_ in types]
        return replace(each, attributes=sorted_attributes([*each.attributes, *more]))

    # --- events by their time alone ---------------------------------------------------------------

    def _timed(self, related: list[Statement]) -> Iterator[Statement]:
        """``related``, with ``prov:generatedAtTime`` and its kin: of the one event there is, or an event of its own."""
        for subject, said in self._said.items():
            for predicate, kind in _EVENTS.items():
                for value in said.get(predicate, ()):
                    time = _time(subject, value)
                    events = [
                        at
                        for at, each in enumerate(related)
                        if (each.kind, each.arguments[0]) == (kind, subject)
                    ]
                    if any(related[at].argument("time") == time for at in events):
                        continue
                    untimed = [at for at in events if related[at].argument("time") is None]
                    if len(events) == len(untimed) == 1:
                        arguments = (*related[untimed[0]].arguments[:2], time)
                        related[untimed[0]] = replace(related[untimed[0]], arguments=arguments)
                    else:
                        related.append(statement(kind, None, {"entity": subject, "time": time}))
        yield from related


_SAY_NOTHING = frozenset(Name(iri) for iri in prov_o.QUALIFICATIONS)


def _elements(subject: str, said: _Said) -> Iterator[Statement]:
    """Entity, activity and agent, as far as ``subject`` is said to be one or has what only one can have."""
    types = [value.iri for value in said.get(ns.RDF_TYPE, ()) if isinstance(value, Name)]
    kinds: dict[Kind, None] = {}
    for type_ in types:
        if kind := prov_o.CLASSES.get(type_) or prov_o.SUBCLASSES.get(type_):
            kinds[kind] = None
    starts = _times(subject, said, ns.PROV_STARTED_AT_TIME)
    ends = _times(subject, said, ns.PROV_ENDED_AT_TIME)
    if starts or ends:
        kinds["activity"] = None
    elif not kinds and ns.PROV_VALUE in said:
        kinds["entity"] = None
    attributes = _attributes(said)
    for kind in kinds:
        own = [each for each in attributes if _fits(each, kind)]
        if kind != "activity":
            yield statement(kind, subject, {}, own)
            continue
        # Two starts are two statements of one activity: whoever checks constraints says that they differ.
        for start, end in zip_longest(starts, ends) if starts or ends else [(None, None)]:
            yield statement(kind, subject, {"startTime": start, "endTime": end}, own)


def _fits(attribute: Attribute, kind: Kind) -> bool:
    """Whether a statement of ``kind`` has this attribute: a person's type is not one of the entity it also is."""
    name, value = attribute
    if name != PROV_TYPE or not isinstance(value, Name):
        return True
    return value.iri not in prov_o.CLASSES and prov_o.SUBCLASSES.get(value.iri, kind) == kind


def _attributes(said: _Said) -> list[Attribute]:
    attributes: list[Attribute] = []
    for predicate, values in said.items():
        if predicate == ns.RDF_TYPE:
            attributes += [(PROV_TYPE, value) for value in values]
        elif predicate not in _NO_ATTRIBUTES:
            attributes += [(_RENAMED.get(predicate, predicate), value) for value in values]
    return attributes


def _values(name: str, said: _Said, predicate: str, *, is_time: bool, is_second: bool) -> list[str | None]:
    values = list(said.get(predicate, ()))
    if is_second and not values:
        others = _INFLUENCERS if predicate == prov_o.INFLUENCER else (prov_o.INFLUENCER,)
        values = [value for each in others for value in said.get(each, ())]
    if is_time:
        return [_time(name, value) for value in values] or [None]
    return [_iri((name, predicate, value), value) for value in values] or [None]


_INFLUENCERS = (prov_o.ENTITY, prov_o.ACTIVITY, prov_o.AGENT)


def _times(subject: str, said: _Said, predicate: str) -> list[str]:
    return sorted(_time(subject, value) for value in said.get(predicate, ()))


def _time(subject: str, value: Value | Name) -> str:
    if isinstance(value, Name):
        raise NotProv("PROV-O", f"a time must be a literal, found <{value.iri}>", f"<{subject}>")
    return value.text


def _iri(row: Row, value: Value | Name) -> str:
    if isinstance(value, Value):
        raise NotProv("PROV-O", f"<{row[1]}> must lead to a resource, found a literal", f"<{row[0]}>")
    return value.iri


def _complete(kind: Kind, arguments: dict[str, str | None], name: str) -> None:
    if lacking := missing(kind, (arguments.get(argument) for argument in ARGUMENTS[kind])):
        raise NotProv("PROV-O", f"{kind} needs its {' and '.join(lacking)}", f"<{name}>")
