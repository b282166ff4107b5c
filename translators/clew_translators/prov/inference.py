"""Inferences 7, 13, 19 and 21: which entities exist, and what a specialization shares with what is more general."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clew_translators.prov.instance import Instance
    from clew_translators.prov.unify import Term


def generated(instance: Instance) -> dict[Term, int]:
    """The entities that were generated, whether or not a generation is stated: root of the term, and the inference.

    Inference 7 says so of every entity with a statement, and of all that specialize it (21), 13 of what is attributed.
    """
    found = dict.fromkeys(specialized(instance, (fact.id for fact in instance.facts["entity"])), 7)
    for fact in instance.facts["wasAttributedTo"]:
        found.setdefault(instance.terms.root(fact.args[0]), 13)
    return found


def empty_collections(instance: Instance) -> set[Term]:
    """The roots of the collections that are empty: by their own statement, or by one that they specialize (21)."""
    return set(specialized(instance, instance.empty))


def specialized(instance: Instance, entities: Iterable[Term]) -> list[Term]:
    """The roots of ``entities`` and of all that specialize one of them, at any remove (19), each once."""
    root = instance.terms.root
    specific: defaultdict[Term, list[Term]] = defaultdict(list)
    for fact in instance.facts["specializationOf"]:
        specific[root(fact.args[1])].append(root(fact.args[0]))
    found = dict.fromkeys(root(entity) for entity in entities)
    waiting = list(found)
    while waiting:
        for entity in specific.get(waiting.pop(), ()):
            if entity not in found:
                found[entity] = None
                waiting.append(entity)
    return list(found)
