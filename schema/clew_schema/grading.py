"""From retrieval to grading and back: the state of the run travels in its ``trail``."""

from clew_schema.base import Items, RunMessage
from clew_schema.facts import Fact
from clew_schema.retrieval import DocumentRagQuery


class Trailed(RunMessage):
    """A message inside a run: the question as it was asked, and every fact so far, oldest first."""

    query: DocumentRagQuery = DocumentRagQuery()
    trail: Items[Fact] = ()

    @property
    def wants_stream(self) -> bool:
        """Whether the caller asked for steps and text while they come."""
        return self.query.streaming


class GradingRequest(Trailed):
    """Evidence was retrieved; grade it. All parts of the question travel together."""


class GradingResponse(Trailed):
    """Evidence was graded and a route chosen; carry it out."""
