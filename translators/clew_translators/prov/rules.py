"""The rules of PROV-CONSTRAINTS by number, and what is said of a document that breaks one.

Source: W3C PROV-CONSTRAINTS (REC 2013-04-30), sections 5 (definitions and inferences) and 6 (constraints).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

PROV = "http://www.w3.org/ns/prov#"

RULES: Mapping[int, str] = MappingProxyType(
    dict(
        enumerate(
            (
                "optional-identifiers",
                "optional-attributes",
                "definition-short-forms",
                "optional-placeholders",
                "communication-generation-use-inference",
                "generation-use-communication-inference",
                "entity-generation-invalidation-inference",
                "activity-start-end-inference",
                "wasStartedBy-inference",
                "wasEndedBy-inference",
                "derivation-generation-use-inference",
                "revision-is-alternate-inference",
                "attribution-inference",
                "delegation-inference",
                "influence-inference",
                "alternate-reflexive",
                "alternate-transitive",
                "alternate-symmetric",
                "specialization-transitive",
                "specialization-alternate-inference",
                "specialization-attributes-inference",
                "key-object",
                "key-properties",
                "unique-generation",
                "unique-invalidation",
                "unique-wasStartedBy",
                "unique-wasEndedBy",
                "unique-startTime",
                "unique-endTime",
                "start-precedes-end",
                "start-start-ordering",
                "end-end-ordering",
                "usage-within-activity",
                "generation-within-activity",
                "wasInformedBy-ordering",
                "generation-precedes-invalidation",
                "generation-precedes-usage",
                "usage-precedes-invalidation",
                "generation-generation-ordering",
                "invalidation-invalidation-ordering",
                "derivation-usage-generation-ordering",
                "derivation-generation-generation-ordering",
                "wasStartedBy-ordering",
                "wasEndedBy-ordering",
                "specialization-generation-ordering",
                "specialization-invalidation-ordering",
                "wasAssociatedWith-ordering",
                "wasAttributedTo-ordering",
                "actedOnBehalfOf-ordering",
                "typing",
                "impossible-unspecified-derivation-generation-use",
                "impossible-specialization-reflexive",
                "impossible-property-overlap",
                "impossible-object-property-overlap",
                "entity-activity-disjoint",
                "membership-empty-collection",
            ),
            start=1,
        )
    )
)
"""Number to name, as the REC has them: definitions 1-4, inferences 5-21, constraints 22-56."""


@dataclass(frozen=True, slots=True)
class Step:
    """One precedence: ``event`` happens before ``then``, or (unless ``strict``) at the same time.

    ``constraint`` demands it, and ``because`` is what the document states that makes it apply. Events are described,
    with their names where they have one: "the generation of ex:e by ex:a (ex:g)".
    """

    event: str
    then: str
    strict: bool
    constraint: int
    because: str


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that makes a document invalid, said in ``message``.

    ``subjects`` are the names concerned, as the document has them: IRIs, and labels of variables (``_:x``). ``bundle``
    is the bundle's name, or ``""`` for what stands outside all bundles. ``evidence`` is the circle of events of an
    ordering that cannot be: each step begins where the one before ended, and the last ends where the first began. It is
    empty for all other constraints.

    In PROV only constraint 42 (what is derived is generated later) orders strictly; everything else may happen at one
    instant. So ``constraint`` is 42 for every ordering that cannot be, and ``constraints`` tells all that take part.
    """

    constraint: int
    message: str
    subjects: tuple[str, ...] = ()
    bundle: str = ""
    evidence: tuple[Step, ...] = ()

    @property
    def name(self) -> str:
        """The constraint's name in the REC."""
        return RULES[self.constraint]

    @property
    def constraints(self) -> tuple[int, ...]:
        """Every constraint that takes part, ascending."""
        return tuple(sorted({self.constraint, *(step.constraint for step in self.evidence)}))
