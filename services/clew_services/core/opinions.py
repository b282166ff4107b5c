"""What a model says of evidence, read as a Grade."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field, ValidationError, field_validator

from clew_schema.base import Items, Message
from clew_schema.evidence import Ambiguity, Answerability, ChunkGrade, Grade, Relevance, Route


class WholeGrade(Message):
    """What you think of the evidence as a whole. ``route`` is a suggestion, not the decision."""

    relevance: Relevance
    answerability: Answerability
    ambiguity: Ambiguity = "none"
    route: Route
    confidence: float = Field(default=0.0, ge=0.0, le=1.0)
    missing_slots: Items[str] = ()
    hitl_prompt: str = ""
    hitl_options: Items[str] = ()
    reason: str = ""

    def grade(self) -> Grade:
        """As the Grade that it is."""
        return Grade.model_validate(self.model_dump())


class GradeOfEach(WholeGrade):
    """What you think of the evidence as a whole, and of each piece of it.

    An opinion on a piece that cannot be read costs that opinion, and not the grade.
    """

    chunks: Items[ChunkGrade] = ()

    @field_validator("chunks", mode="before")
    @classmethod
    def _readable(cls, value: object) -> tuple[ChunkGrade, ...]:
        return tuple(_opinions(value)) if isinstance(value, list | tuple) else ()


def _opinions(values: Iterable[object]) -> Iterable[ChunkGrade]:
    for value in values:
        try:
            yield ChunkGrade.model_validate(value)
        except ValidationError:
            continue
