"""Constraints 30-49: which event precedes which.

All generations of one entity are mutually in order (39), so one of them stands for all wherever a rule speaks of each;
likewise invalidations (40), starts (31) and ends (32). The graph is linear in the number of statements, and leads from
one event to another exactly where the REC's does. Times order nothing: clocks may differ (REC, section 2.2).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from clew_translators.prov.inference import generated
from clew_translators.prov.instance import Fact

if TYPE_CHECKING:
    from clew_translators.prov.instance import Instance
    from clew_translators.prov.model import Kind
    from clew_translators.prov.unify import Term

_GENERATION: Kind = "wasGeneratedBy"
_INVALIDATION: Kind = "wasInvalidatedBy"
_START: Kind = "wasStartedBy"
_END: Kind = "wasEndedBy"


class Precedence(NamedTuple):
    """``first`` before ``then``, by ``rule``, because of ``one`` and ``other``. Events are roots of their terms."""

    first: Term
    then: Term
    rule: int
    one: Term
    other: Term


class Events:
    """The events of an instance: every one by its root, and those of each thing."""

    def __init__(self, instance: Instance) -> None:
        self._terms = instance.terms
        self.facts: dict[Term, Fact] = {}
        self._of: defaultdict[tuple[Kind, Term], dict[Term, None]] = defaultdict(dict)
        for kind in ("wasGeneratedBy", "wasInvalidatedBy", "wasStartedBy", "wasEndedBy", "used"):
            for fact in instance.facts[kind]:
                self._add(fact)
        for entity, inference in generated(instance).items():
            if ("wasGeneratedBy", entity) not in self._of:
                fresh = instance.terms.fresh
                self._add(Fact("wasGeneratedBy", fresh(), (entity, fresh(), fresh()), inference))

    def _add(self, fact: Fact) -> None:
        event = self._terms.root(fact.id)
        self.facts.setdefault(event, fact)
        if fact.kind != "used":
            self._of[fact.kind, self._terms.root(fact.args[0])][event] = None

    def one(self, kind: Kind, thing: Term) -> Term | None:
        """The event that stands for all of this kind; None if there is none."""
        return next(iter(self._of.get((kind, self._terms.root(thing)), ())), None)

    def groups(self, kind: Kind) -> Iterator[tuple[Term, list[Term]]]:
        """Each thing, and its events of this kind, the one that stands for all first."""
        for (found, thing), events in self._of.items():
            if found == kind:
                yield thing, list(events)


def precedences(instance: Instance, events: Events) -> Iterator[Precedence]:
    """What 30-49 demand of ``events``, those of ``instance``. Every precedence of the REC is a chain of these."""
    yield from _of_one_thing(events)
    yield from _within_activities(instance, events)
    yield from _around_activities(instance, events)
    yield from _between_entities(instance, events)
    yield from _of_agents(instance, events)


def _edge(
    first: Term | None, then: Term | None, rule: int, one: Term, other: Term = ""
) -> Iterator[Precedence]:
    if first is not None and then is not None:
        yield Precedence(first, then, rule, one, other)


def _of_one_thing(events: Events) -> Iterator[Precedence]:
    for rule, kind in ((39, _GENERATION), (40, _INVALIDATION), (31, _START), (32, _END)):
        for thing, (one, *others) in events.groups(kind):
            for other in others:
                yield Precedence(one, other, rule, thing, "")
                yield Precedence(other, one, rule, thing, "")
    for activity, (start, *_) in events.groups(_START):
        yield from _edge(start, events.one(_END, activity), 30, activity)
    for entity, (generation, *_) in events.groups(_GENERATION):
        yield from _edge(generation, events.one(_INVALIDATION, entity), 36, entity)


def _within_activities(instance: Instance, events: Events) -> Iterator[Precedence]:
    for fact in instance.facts["used"]:
        activity, entity, _ = fact.args
        use = instance.terms.root(fact.id)
        yield from _edge(events.one(_START, activity), use, 33, activity)
        yield from _edge(use, events.one(_END, activity), 33, activity)
        yield from _edge(events.one(_GENERATION, entity), use, 37, entity)
        yield from _edge(use, events.one(_INVALIDATION, entity), 38, entity)
    for fact in instance.facts["wasGeneratedBy"]:
        _, activity, _ = fact.args
        generation = instance.terms.root(fact.id)
        yield from _edge(events.one(_START, activity), generation, 34, activity)
        yield from _edge(generation, events.one(_END, activity), 34, activity)


def _around_activities(instance: Instance, events: Events) -> Iterator[Precedence]:
    for fact in instance.facts["wasInformedBy"]:
        informed, informant = fact.args
        yield from _edge(events.one(_START, informant), events.one(_END, informed), 35, informed, informant)
    for rule, kind in ((43, _START), (44, _END)):
        for fact in instance.facts[kind]:
            activity, trigger, *_ = fact.args
            event = instance.terms.root(fact.id)
            yield from _edge(events.one(_GENERATION, trigger), event, rule, activity, trigger)
            yield from _edge(event, events.one(_INVALIDATION, trigger), rule, activity, trigger)


def _between_entities(instance: Instance, events: Events) -> Iterator[Precedence]:
    root = instance.terms.root
    for fact in instance.facts["wasDerivedFrom"]:
        generated_, used, activity, generation, usage = fact.args
        if not any(map(instance.terms.absent, (activity, generation, usage))):
            yield Precedence(root(usage), root(generation), 41, generated_, used)
        first, then = events.one(_GENERATION, used), events.one(_GENERATION, generated_)
        yield from _edge(first, then, 42, generated_, used)
    for fact in instance.facts["specializationOf"]:
        specific, general = fact.args
        first, then = (_known(instance, events, _GENERATION, entity) for entity in (general, specific))
        yield Precedence(first, then, 45, specific, general)
        first, then = (_known(instance, events, _INVALIDATION, entity) for entity in (specific, general))
        yield Precedence(first, then, 46, specific, general)


def _known(instance: Instance, events: Events, kind: Kind, entity: Term) -> Term:
    """The event, or what stands in for it, so that specialization is transitive (19) where nothing is known of one."""
    return events.one(kind, entity) or f"{kind} {instance.terms.root(entity)}"


def _of_agents(instance: Instance, events: Events) -> Iterator[Precedence]:
    for fact in instance.facts["wasAssociatedWith"]:
        activity, agent, _ = fact.args
        for first, then in (
            (events.one(_START, activity), events.one(_INVALIDATION, agent)),
            (events.one(_GENERATION, agent), events.one(_END, activity)),
            (events.one(_START, activity), events.one(_END, agent)),
            (events.one(_START, agent), events.one(_END, activity)),
        ):
            yield from _edge(first, then, 47, activity, agent)
    for fact in instance.facts["wasAttributedTo"]:
        entity, agent = fact.args
        generation = events.one(_GENERATION, entity)
        yield from _edge(events.one(_GENERATION, agent), generation, 48, entity, agent)
        yield from _edge(events.one(_START, agent), generation, 48, entity, agent)
    for fact in instance.facts["actedOnBehalfOf"]:
        delegate, responsible, _ = fact.args
        first, then = events.one(_GENERATION, responsible), events.one(_INVALIDATION, delegate)
        yield from _edge(first, then, 49, delegate, responsible)
        yield from _edge(
            events.one(_START, responsible), events.one(_END, delegate), 49, delegate, responsible
        )
