"""Whether a PROV document is valid: W3C PROV-CONSTRAINTS (REC 2013-04-30), complete.

What is stated is completed and merged (:mod:`~clew_translators.prov.instance`, :mod:`~clew_translators.prov.merging`),
then its events are ordered (:mod:`~clew_translators.prov.ordering`), its things typed
(:mod:`~clew_translators.prov.typing_`) and the impossible looked for (:mod:`~clew_translators.prov.impossible`). All of
it takes time nearly linear in the number of statements. Bundles and what is outside of them are judged each by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from clew_translators.prov.impossible import impossibilities
from clew_translators.prov.instance import instance_of
from clew_translators.prov.merging import merge
from clew_translators.prov.model import Document, Statement
from clew_translators.prov.ordering import ordering_violations
from clew_translators.prov.rules import RULES, Step, Violation
from clew_translators.prov.typing_ import typing_violations

__all__ = ["RULES", "Step", "Violation", "check"]


def check(document: Document) -> tuple[Violation, ...]:
    """What makes ``document`` invalid; empty if it is valid.

    Violations come bundle by bundle, what is outside of bundles first, each once. After a clash of names (22-29) the
    rest is checked with the two apart, so what follows it in one bundle may be a consequence. Raises ValueError for a
    statement that has not the arguments of its kind.
    """
    parts = {"": document.statements, **document.bundles}
    return tuple(
        replace(violation, bundle=bundle)
        for bundle, statements in parts.items()
        for violation in dict.fromkeys(_violations(statements))
    )


def _violations(statements: Iterable[Statement]) -> Iterator[Violation]:
    instance = instance_of(statements)
    yield from merge(instance)
    yield from ordering_violations(instance)
    yield from typing_violations(instance)
    yield from impossibilities(instance)
