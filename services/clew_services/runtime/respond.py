"""How the one who asked is spoken to, per mechanism: explanations, pieces of text, failures, ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from clew_schema import topics
from clew_schema.agent import AgentRequest, AgentResponse
from clew_schema.base import Message, RunMessage
from clew_schema.facts import QuestionAsked
from clew_schema.grading import Trailed
from clew_schema.limits import MAX_NAME_CHARACTERS, MAX_QUERY_CHARACTERS, MAX_URI_CHARACTERS
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from clew_services.core.bounds import clip
from clew_translators.namespaces import GRAPH_RETRIEVAL

if TYPE_CHECKING:
    from clew_schema.errors import Error
    from clew_schema.facts import Fact, Mechanism
    from clew_schema.retrieval import ReturnAddress
    from clew_schema.topics import Topic

R = TypeVar("R", bound=RunMessage)


class Caller(Protocol[R]):
    """One mechanism's way of answering. ``run`` is the message that names the run (see :meth:`run`)."""

    @property
    def mechanism(self) -> Mechanism:
        """What answers."""
        ...

    @property
    def topic(self) -> Topic[R]:
        """Where the caller listens, unless told otherwise by ``reply-to``."""
        ...

    def run(self, body: Message) -> RunMessage:
        """The message of our run that ``body`` is or brings back. Raises ValueError for a state that is not ours."""
        ...

    def opening(self, run: RunMessage) -> QuestionAsked | None:
        """The fact that the run began, when ``run`` is its first message."""
        ...

    def awaited(self, run: RunMessage) -> bool:
        """Whether ``run`` is what a paused run waits for: it begins no run, and its failure ends none."""
        ...

    def trail(self, run: RunMessage) -> tuple[Fact, ...]:
        """The facts that ``run`` brought along."""
        ...

    def address(self, run: RunMessage) -> ReturnAddress | None:
        """The return address of a run that another service asked for."""
        ...

    def explain(self, entity: str) -> R:
        """A batch of triples for the caller, about ``entity``; the triples are filled in when it is written."""
        ...

    def chunk(self, text: str) -> R:
        """A piece of text for the caller."""
        ...

    def failure(self, error: Error, state: str, *, streaming: bool) -> R:
        """The end of the run without an answer: both end flags."""
        ...

    def is_final(self, body: R) -> bool:
        """Whether ``body`` ends the run."""
        ...


@dataclass(frozen=True, slots=True)
class DocumentRagCaller:
    """Speaks DocumentRagResponse."""

    mechanism: Mechanism = "document-rag"
    topic: Topic[DocumentRagResponse] = topics.DOCUMENT_RAG_RESPONSE

    def run(self, body: Message) -> RunMessage:
        """Every message of a document run is its own name."""
        if isinstance(body, RunMessage):
            return body
        raise ValueError(f"{type(body).__name__} belongs to no run")

    def opening(self, run: RunMessage) -> QuestionAsked | None:
        """A query is the first message of its run, unless it answers a ticket."""
        if isinstance(run, DocumentRagQuery) and not run.ticket:
            return QuestionAsked(
                mechanism="document-rag",
                query=clip(run.query, MAX_QUERY_CHARACTERS),
                parent_uri=clip(run.parent_uri, MAX_URI_CHARACTERS),
                person=clip(run.user, MAX_NAME_CHARACTERS),
            )
        return None

    def awaited(self, run: RunMessage) -> bool:
        """A query that names a ticket."""
        return isinstance(run, DocumentRagQuery) and bool(run.ticket)

    def trail(self, run: RunMessage) -> tuple[Fact, ...]:
        """The facts that travelled."""
        return run.trail if isinstance(run, Trailed) else ()

    def address(self, run: RunMessage) -> ReturnAddress | None:
        """The query's return address."""
        query = run.query if isinstance(run, Trailed) else run
        return query.reply if isinstance(query, DocumentRagQuery) else None

    def explain(self, entity: str) -> DocumentRagResponse:
        """``message_type`` explain."""
        return DocumentRagResponse(
            response=None,
            message_type="explain",
            explain_id=entity,
            explain_graph=GRAPH_RETRIEVAL,
        )

    def chunk(self, text: str) -> DocumentRagResponse:
        """``message_type`` chunk."""
        return DocumentRagResponse(response=text, message_type="chunk")

    def failure(self, error: Error, state: str, *, streaming: bool) -> DocumentRagResponse:
        """An error with both end flags."""
        return DocumentRagResponse(
            error=error,
            response=None,
            message_type="end" if streaming else "",
            end_of_stream=True,
            end_of_session=True,
            state=state,
        )

    def is_final(self, body: DocumentRagResponse) -> bool:
        """``end_of_session``."""
        return body.end_of_session


@dataclass(frozen=True, slots=True)
class AgentCaller:
    """Speaks AgentResponse."""

    mechanism: Mechanism = "agent"
    topic: Topic[AgentResponse] = topics.AGENT_RESPONSE

    def run(self, body: Message) -> RunMessage:
        """A tool's result brings the request back in its ``state``."""
        if isinstance(body, DocumentRagResponse):
            request = AgentRequest.model_validate_json(body.state)
            if request.collection != body.collection:
                raise ValueError("the state belongs to another collection than the result")
            return request
        if isinstance(body, RunMessage):
            return body
        raise ValueError(f"{type(body).__name__} belongs to no run")

    def opening(self, run: RunMessage) -> QuestionAsked | None:
        """A request without a trail is the first message of its run; the history in it may be its caller's."""
        if isinstance(run, AgentRequest) and not run.trail:
            return QuestionAsked(
                mechanism="agent",
                query=clip(run.question, MAX_QUERY_CHARACTERS),
                parent_uri=clip(run.parent_uri, MAX_URI_CHARACTERS),
                person=clip(run.user, MAX_NAME_CHARACTERS),
            )
        return None

    def awaited(self, run: RunMessage) -> bool:
        """An agent waits for nobody."""
        del run
        return False

    def trail(self, run: RunMessage) -> tuple[Fact, ...]:
        """The facts that travelled."""
        return run.trail if isinstance(run, AgentRequest) else ()

    def address(self, run: RunMessage) -> ReturnAddress | None:
        """Nobody asks an agent by return address yet."""
        del run
        return None

    def explain(self, entity: str) -> AgentResponse:
        """``message_type`` explain."""
        return AgentResponse(
            message_type="explain",
            explain_id=entity,
            explain_graph=GRAPH_RETRIEVAL,
        )

    def chunk(self, text: str) -> AgentResponse:
        """A piece of the answer."""
        return AgentResponse(message_type="answer", content=text)

    def failure(self, error: Error, state: str, *, streaming: bool) -> AgentResponse:
        """``message_type`` error, with both end flags."""
        del state, streaming
        return AgentResponse(
            message_type="error", content=error.message, error=error, end_of_message=True, end_of_dialog=True
        )

    def is_final(self, body: AgentResponse) -> bool:
        """``end_of_dialog``."""
        return body.end_of_dialog
