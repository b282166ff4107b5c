"""Whether the events of an instance can be put in order: constraints 30-49, and what it means to break them.

Events cannot be ordered when one of them would strictly precede itself. In PROV only a derivation orders strictly (42);
all other precedences hold also between events of one instant.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from clew_translators.prov.cycles import components, shortest_path
from clew_translators.prov.precedence import Events, Precedence, precedences
from clew_translators.prov.rules import Step, Violation
from clew_translators.prov.words import described

if TYPE_CHECKING:
    from clew_translators.prov.instance import Instance
    from clew_translators.prov.unify import Term

STRICT = 42
"""The only constraint that lets two events not be at one instant."""

_SHOWN_STEPS = 6

_BECAUSE = {
    30: "an activity starts before it ends",
    31: "both are starts of {0}",
    32: "both are ends of {0}",
    33: "{0} uses things only while it goes on",
    34: "{0} generates things only while it goes on",
    35: "{0} was informed by {1}",
    36: "{0} is invalidated only after it is generated",
    37: "{0} is used only after it is generated",
    38: "{0} is used only before it is invalidated",
    39: "both are generations of {0}",
    40: "both are invalidations of {0}",
    41: "{0} was derived from {1} by this usage and generation",
    42: "{0} was derived from {1}",
    43: "{0} was started by {1}",
    44: "{0} was ended by {1}",
    45: "{0} is a specialization of {1}",
    46: "{0} is a specialization of {1}",
    47: "{0} was associated with {1}",
    48: "{0} was attributed to {1}",
    49: "{0} acted on behalf of {1}",
}


def ordering_violations(instance: Instance) -> Iterator[Violation]:
    """One for each group of events of which each would precede all, one of them strictly: a circle through it."""
    events = Events(instance)
    numbers: dict[Term, int] = {}
    edges: dict[tuple[int, int], Precedence] = {}
    for edge in precedences(instance, events):
        first, then = (numbers.setdefault(event, len(numbers)) for event in edge[:2])
        if edge.rule == STRICT:
            edges[first, then] = edge
        else:
            edges.setdefault((first, then), edge)
    after: list[list[int]] = [[] for _ in numbers]
    for first, then in edges:
        after[first].append(then)
    group_of, told = components(after), set[int]()
    for (first, then), edge in edges.items():
        group = group_of[first]
        if edge.rule == STRICT and group == group_of[then] and group not in told:
            told.add(group)
            circle = [first, *shortest_path(after, then, first)]
            yield _violation(instance, events, [edges[pair] for pair in pairwise(circle)])


def _violation(instance: Instance, events: Events, circle: list[Precedence]) -> Violation:
    terms = instance.terms
    steps = tuple(_step(instance, events, edge) for edge in _between_events(events, circle))
    shown = [f"{s.event} is {'before' if s.strict else 'not after'} {s.then} ({s.because})" for s in steps]
    if len(shown) > _SHOWN_STEPS:
        shown[_SHOWN_STEPS - 1 : -1] = [f"... {len(shown) - _SHOWN_STEPS} more ..."]
    message = f"These events cannot be put in order: {'; '.join(shown)}."
    concerned = (
        thing
        for edge in circle
        for thing in ([edge.first] if edge.first in events.facts else []) + [edge.one, edge.other]
    )
    subjects = terms.names(*filter(None, concerned))
    return Violation(STRICT, message, subjects, evidence=steps)


def _between_events(events: Events, circle: list[Precedence]) -> Iterator[Precedence]:
    """The steps of ``circle`` without what only stands in for an event: specialization is transitive (19)."""
    start = circle[0]  # a derivation, so both its ends are events
    for edge in circle[1:]:
        if start.then in events.facts:
            yield start
            start = edge
        else:
            start = Precedence(start.first, edge.then, edge.rule, *_ends(start, edge))
    yield start


def _ends(before: Precedence, after: Precedence) -> tuple[Term, Term]:
    """The specific and the general entity of two specializations in a row."""
    return (after.one, before.other) if after.rule == 45 else (before.one, after.other)


def _step(instance: Instance, events: Events, edge: Precedence) -> Step:
    terms = instance.terms
    ends = (terms.shown(end) if end else "" for end in (edge.one, edge.other))
    return Step(
        event=described(terms, events.facts[edge.first]),
        then=described(terms, events.facts[edge.then]),
        strict=edge.rule == STRICT,
        constraint=edge.rule,
        because=_BECAUSE[edge.rule].format(*ends),
    )
