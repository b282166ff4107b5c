"""What an agent did before it concluded, and which of its observations each step builds on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_schema.facts import Concluded, ToolChosen, ToolObserved

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew_schema.facts import Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Iteration:
    """One thought and what came of it. ``number`` counts from 1; 0 is the conclusion, which has no tool.

    ``uses`` are the iterations whose observations it builds on. ``trace`` is the tool's own run.
    """

    number: int
    thought: str = ""
    action: str = ""
    arguments: Mapping[str, str]
    observation: str = ""
    failed: bool = False
    model: str = ""
    uses: tuple[int, ...] = ()
    trace: str = ""


def iterations(facts: Sequence[Fact]) -> tuple[Iteration, ...]:
    """The agent's iterations in their order, and its conclusion last."""
    seen = {fact.number: fact for fact in facts if isinstance(fact, ToolObserved)}
    told = []
    for fact in facts:
        if isinstance(fact, ToolChosen):
            observed = seen.get(fact.number)
            told.append(
                Iteration(
                    number=fact.number,
                    thought=fact.thought,
                    action=fact.action,
                    arguments=fact.arguments,
                    observation=observed.observation if observed else "",
                    failed=observed.failed if observed else False,
                    model=fact.model or "",
                    uses=fact.uses,
                    trace=observed.trace_uri if observed else "",
                )
            )
        elif isinstance(fact, Concluded):
            told.append(
                Iteration(
                    number=0, thought=fact.thought, arguments={}, model=fact.model or "", uses=fact.uses
                )
            )
    return tuple(told)
