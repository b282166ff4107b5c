"""How events and relations are called in messages: by their names, or by what they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clew_translators.prov.instance import Fact
    from clew_translators.prov.model import Kind
    from clew_translators.prov.unify import Terms

_NOUNS: dict[Kind, tuple[str, str]] = {
    "wasGeneratedBy": ("the generation of", "by"),
    "used": ("the usage by", "of"),
    "wasInvalidatedBy": ("the invalidation of", "by"),
    "wasStartedBy": ("the start of", "by"),
    "wasEndedBy": ("the end of", "by"),
    "wasInformedBy": ("the communication to", "from"),
    "wasDerivedFrom": ("the derivation of", "from"),
    "wasAttributedTo": ("the attribution of", "to"),
    "wasAssociatedWith": ("the association of", "with"),
    "actedOnBehalfOf": ("the delegation to", "from"),
    "wasInfluencedBy": ("the influence on", "of"),
}


def described(terms: Terms, fact: Fact) -> str:
    """What ``fact`` states: "the generation of ex:e by ex:a", and its name if it has one; of an object, the name."""
    name = terms.shown(fact.id)
    if fact.kind not in _NOUNS:
        return name
    noun, preposition = _NOUNS[fact.kind]
    one, other = fact.args[:2]
    ending = f" {preposition} {terms.shown(other)}" if terms.named(other) else ""
    identifier = f" ({name})" if terms.constant(fact.id) else ""
    return f"{noun} {terms.shown(one)}{ending}{identifier}"


def listed(words: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
