"""Constraints 50, 55 and 56: what each statement makes of the things that it is between, and what cannot be both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from clew_translators.prov.inference import empty_collections
from clew_translators.prov.rules import Violation

if TYPE_CHECKING:
    from clew_translators.prov.instance import Fact, Instance
    from clew_translators.prov.model import Kind
    from clew_translators.prov.unify import Term, Terms

_TYPES: dict[Kind, str] = {
    "used": "AE",
    "wasGeneratedBy": "EA",
    "wasInformedBy": "AA",
    "wasStartedBy": "AEA",
    "wasEndedBy": "AEA",
    "wasInvalidatedBy": "EA",
    "wasDerivedFrom": "EEA",
    "wasAttributedTo": "E",
    "wasAssociatedWith": "A-E",
    "actedOnBehalfOf": "--A",
    "alternateOf": "EE",
    "specializationOf": "EE",
    "hadMember": "EE",
}
"""Constraint 50: for each argument, in order, whether it is an entity or an activity. An agent may be either."""


class _Said(NamedTuple):
    """Why something has a type: a fact, and the other end of it."""

    fact: Fact
    other: Term | None


def typing_violations(instance: Instance) -> Iterator[Violation]:
    """55: what is both an entity and an activity. 56: a member of an empty collection."""
    entities: dict[Term, _Said] = {}
    activities: dict[Term, _Said] = {}
    for term, type_, said in _types(instance):
        (entities if type_ == "E" else activities).setdefault(term, said)
    terms = instance.terms
    for term in [term for term in entities if term in activities]:
        name = terms.shown(term)
        why = " and ".join(
            f"an {type_} ({_because(terms, said)})"
            for type_, said in (("entity", entities[term]), ("activity", activities[term]))
        )
        yield Violation(55, f"{name} is both {why}: nothing can be.", terms.names(term))
    empty = empty_collections(instance)
    for fact in instance.facts["hadMember"]:
        collection, member = fact.args
        if terms.root(collection) in empty:
            names = (terms.shown(collection), terms.shown(member))
            message = f"{names[0]} is an empty collection, and has the member {names[1]}."
            yield Violation(56, message, terms.names(collection, member))


def _types(instance: Instance) -> Iterator[tuple[Term, str, _Said]]:
    terms = instance.terms
    declared: tuple[tuple[Kind, str], ...] = (("entity", "E"), ("activity", "A"))
    for kind, type_ in declared:
        for fact in instance.facts[kind]:
            yield terms.root(fact.id), type_, _Said(fact, None)
    for kind, types in _TYPES.items():
        for fact in instance.facts[kind]:
            for place, (type_, term) in enumerate(zip(types, fact.args, strict=False)):
                if type_ != "-" and not terms.absent(term):
                    yield terms.root(term), type_, _Said(fact, fact.args[1 if place == 0 else 0])


def _because(terms: Terms, said: _Said) -> str:
    kind = said.fact.kind
    if said.other is None:
        return f"by its statement {kind}"
    return f"by {kind} with {terms.shown(said.other)}"
