"""Facts of questions to knowledge graphs. See :mod:`clew_schema.facts`."""

from typing import Literal

from clew_schema.base import Items, Message
from clew_schema.rdf import Triple
from clew_schema.stamp import Stamp


class QuestionGrounded(Stamp):
    """What the question is about: the concepts that were looked for."""

    kind: Literal["question_grounded"] = "question_grounded"
    concepts: Items[str] = ()
    in_token: int | None = None
    out_token: int | None = None
    model: str | None = None


class EdgesRetrieved(Stamp):
    """Edges of the knowledge graph were retrieved around ``entities`` (IRIs)."""

    kind: Literal["edges_retrieved"] = "edges_retrieved"
    edge_count: int
    entities: Items[str] = ()


class SelectedEdge(Message):
    """An edge that was selected: for which concept, how well it scored, and why."""

    edge: Triple
    concept: str = ""
    score: float | None = None
    reasoning: str = ""


class EdgesSelected(Stamp):
    """The edges that the answer rests on, best first."""

    kind: Literal["edges_selected"] = "edges_selected"
    edges: Items[SelectedEdge] = ()
    in_token: int | None = None
    out_token: int | None = None
    model: str | None = None
