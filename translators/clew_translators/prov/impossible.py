"""Constraints 51-54: what no document may state, whatever else it states."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clew_translators.prov.cycles import components, shortest_path
from clew_translators.prov.instance import OBJECTS, WITHOUT_IDENTIFIER
from clew_translators.prov.merging import NO_OVERLAP
from clew_translators.prov.rules import Violation
from clew_translators.prov.words import listed

if TYPE_CHECKING:
    from clew_translators.prov.instance import Instance
    from clew_translators.prov.model import Kind
    from clew_translators.prov.unify import Term


def impossibilities(instance: Instance) -> Iterator[Violation]:
    """What breaks 51, 52, 53 or 54, one violation for each derivation, circle or name concerned."""
    yield from _unspecified_derivations(instance)
    yield from _reflexive_specializations(instance)
    yield from _overlaps(instance)


def _unspecified_derivations(instance: Instance) -> Iterator[Violation]:
    terms = instance.terms
    for fact in instance.facts["wasDerivedFrom"]:
        generated, used, activity, *events = fact.args
        known = [event for event in events if not terms.absent(event)]
        if terms.absent(activity) and known:
            ends, names = (terms.shown(generated), terms.shown(used)), [terms.shown(event) for event in known]
            message = (
                f"The derivation of {ends[0]} from {ends[1]} names {listed(names)}, but no activity:"
                " only an activity has a generation or a usage."
            )
            yield Violation(
                51, message, (*ends, *(terms.shown(event) for event in known if terms.named(event)))
            )


def _reflexive_specializations(instance: Instance) -> Iterator[Violation]:
    """52, after 19 (specialization is transitive): nothing leads back to where it began."""
    terms = instance.terms
    numbers: dict[Term, int] = {}
    pairs = [
        tuple(numbers.setdefault(terms.root(term), len(numbers)) for term in fact.args)
        for fact in instance.facts["specializationOf"]
    ]
    after: list[list[int]] = [[] for _ in numbers]
    for specific, general in pairs:
        after[specific].append(general)
    entities, circle_of, told = list(numbers), components(after), set[int]()
    for specific, general in pairs:
        circle = circle_of[specific]
        if circle == circle_of[general] and circle not in told:
            told.add(circle)
            ring = [entities[node] for node in shortest_path(after, general, specific)]
            chain = " is a specialization of ".join(map(terms.shown, (ring[-1], *ring)))
            yield Violation(52, f"{chain}: nothing is a specialization of itself.", terms.names(*ring))


def _overlaps(instance: Instance) -> Iterator[Violation]:
    """53, 54. Influence and derivation may share a name with another relation, not with an object."""
    terms = instance.terms
    kinds: defaultdict[Term, dict[Kind, None]] = defaultdict(dict)
    for fact in instance.everything():
        if fact.kind not in WITHOUT_IDENTIFIER:
            kinds[terms.root(fact.id)][fact.kind] = None
    for term, found in kinds.items():
        if len(found) == 1:
            continue
        name = terms.shown(term)
        subjects = terms.names(term)
        relations = [str(kind) for kind in found if kind not in OBJECTS]
        disjoint = [str(kind) for kind in found if kind in NO_OVERLAP]
        if len(disjoint) > 1:
            yield Violation(53, f"{name} names different relations: {listed(disjoint)}.", subjects)
        objects = [str(kind) for kind in found if kind in OBJECTS]
        if relations and objects:
            message = f"{name} names an {listed(objects)}, and also a relation: {listed(relations)}."
            yield Violation(54, message, subjects)
