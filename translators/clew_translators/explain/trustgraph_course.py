"""How far a run has come, as profile ``trustgraph`` tells it: what the next entity is named, and derives from."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from clew_schema.facts import (
    EdgesRetrieved,
    EdgesSelected,
    EvidenceRetrieved,
    FindingReceived,
    PatternChosen,
    PlanMade,
    PlanStepDone,
    QuestionAsked,
    QuestionDecomposed,
    QuestionGrounded,
    QuestionPlanned,
    RunPaused,
    ToolChosen,
    ToolObserved,
)
from clew_translators import uris
from clew_translators.explain import names
from clew_translators.explain.statements import Statements
from clew_translators.namespaces import GRAPH_RETRIEVAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew_schema.facts import Fact, Mechanism

Batches: TypeAlias = "Iterator[tuple[str, Statements]]"
"""The batches that a fact makes: of each the entity that it tells of, and its statements."""


class Course:
    """What was told of a run so far. TrustGraph names what belongs to a question to a graph after the session alone."""

    def __init__(self, session_id: str, mechanism: Mechanism, *, repaired: bool) -> None:
        """Nothing was told yet."""
        self.repaired = repaired
        self.session_id = session_id
        self.mechanism = mechanism
        self.question = uris.question_of(mechanism, session_id)
        self.query = ""
        self.start = self.question
        """What an agent's first step derives from: the question, or how it was decided to work on it."""
        self.last = self.question
        """The entity that was told last."""
        self.grounding = ""
        self.explored: dict[tuple[int, int], tuple[str, str]] = {}
        """By part and pass: the exploration, and what was chosen of it (``""``: all)."""
        self.iterations: dict[int, str] = {}
        """By number: the observation, or the iteration itself as long as its tool said nothing."""
        self.plan = ""
        self.step = ""
        self.decomposition = ""
        self.findings: list[str] = []
        self.pauses: list[Fact] = []
        is_graph = mechanism == "graph-rag"
        question = self.question
        self.grounding_uri = uris.grounding_uri(session_id) if is_graph else uris.grounding_of(question)
        self.exploration_uri = uris.exploration_uri(session_id) if is_graph else uris.exploration_of(question)
        self.focus_uri = uris.focus_uri(session_id) if is_graph else uris.focus_of(question)
        self.synthesis_uri = uris.synthesis_uri(session_id) if is_graph else uris.synthesis_of(question)
        self.document_uri = uris.synthesis_document_uri(session_id) if is_graph else uris.answer_of(question)

    def after(self, fact: Fact) -> None:  # noqa: C901, PLR0912 - a case per kind
        """``fact`` was told."""
        match fact:
            case ToolChosen():
                self.last = self.iterations[fact.number] = uris.iteration_of(self.question, fact.number)
            case ToolObserved():
                self.last = self.iterations[fact.number] = uris.observation_of(self.question, fact.number)
            case EvidenceRetrieved():
                self.grounding = self.grounding or self.grounding_uri
                exploration, focus = self.retrieval_of(fact)
                self.explored[fact.part, fact.pass_number] = exploration, focus
                self.last = focus or exploration
            case QuestionAsked():
                self.query = fact.query
            case QuestionPlanned() | QuestionGrounded():
                self.grounding = self.last = self.grounding_uri
            case EdgesRetrieved():
                self.explored[0, 1] = self.exploration_uri, ""
                self.last = self.exploration_uri
            case EdgesSelected():
                self.explored[0, 1] = self.exploration_uri, self.focus_uri
                self.last = self.focus_uri
            case PatternChosen():
                self.start = self.last = names.entity_of(fact, self.question)
            case PlanMade():
                self.plan = self.last = names.entity_of(fact, self.question)
            case PlanStepDone():
                self.step = self.last = names.entity_of(fact, self.question)
            case QuestionDecomposed():
                self.decomposition = self.last = names.entity_of(fact, self.question)
            case FindingReceived():
                self.last = names.entity_of(fact, self.question)
                self.findings.append(self.last)
            case RunPaused():
                self.pauses.append(fact)

    def say(self) -> Statements:
        """A batch to be filled."""
        return Statements(GRAPH_RETRIEVAL)

    def retrieval_of(self, fact: EvidenceRetrieved) -> tuple[str, str]:
        """The names of what one retrieval found, and of what a reranker chose of it (``""``: none did)."""
        part = names.part_of(self.question, fact.part) if fact.part else self.question
        exploration = uris.exploration_of(part, fact.pass_number)
        is_chosen = fact.retrieval.rerank.succeeded
        return exploration, uris.focus_of(part, fact.pass_number) if is_chosen else ""

    def seen(self, number: int) -> str:
        """What an agent had seen after ``number`` iterations: an observation, or at first the start.

        Where there is no such observation, the chain goes on from what there is.
        """
        return self.iterations.get(number, self.last) if number > 0 else self.start
