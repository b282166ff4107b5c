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
    """The name of what ``fact`` states; without one, "the generation of ex:e by ex:a"."""
    if terms.named(fact.id) or fact.kind not in _NOUNS:
        return terms.shown(fact.id)
    noun, preposition = _NOUNS[fact.kind]
    one, other = fact.args[:2]
    ending = f" {preposition} {terms.shown(other)}" if terms.named(other) else ""
    return f"{noun} {terms.shown(one)}{ending}"


def listed(words: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
