"""The seal of a fact. See :mod:`clew_translators.explain.seal`."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clew_schema.facts import Fact


def seal_of(fact: Fact, before: str) -> str:
    """The seal of ``fact`` after one whose seal is ``before`` (``""``: it is the first)."""
    content = fact.model_dump_json(exclude={"seal"}, exclude_defaults=True)
    return sha256(f"{before}\n{content}".encode("utf-8", "surrogatepass")).hexdigest()
