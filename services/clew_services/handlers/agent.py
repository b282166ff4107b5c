"""A ReAct agent, one iteration a message: think; use a tool, or conclude. The history travels in the request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from clew_schema import ids, topics
from clew_schema.agent import AgentRequest, AgentResponse, AgentStep
from clew_schema.facts import Concluded, ToolChosen, ToolObserved
from clew_schema.limits import MAX_ITERATIONS
from clew_schema.retrieval import DocumentRagQuery, ReturnAddress
from clew_services.core.agent import Tool
from clew_services.core.prompts import completion_prompt
from clew_services.core.questions import check_question
from clew_services.core.uses import uses
from clew_services.errors import ClewError, told
from clew_services.runtime.outcome import Outcome, Send
from clew_translators.uris import (
    agent_iteration_uri,
    agent_observation_uri,
    agent_thought_uri,
    docrag_question_uri,
    docrag_synthesis_uri,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew_schema.retrieval import DocumentRagResponse
    from clew_services.core.agent import Thought
    from clew_services.ports import Chat, Thinker

DOCUMENT_QUERY = Tool(
    name="document-query",
    description="Ask the documents of this collection a question; the answer cites them.",
    arguments={"question": "a complete question in words that the documents may use"},
)
"""The bus tool: a document question, asked by return address."""

TOO_MANY = "Too many agent iterations"
"""Said when the loop has no end (TrustGraph's text)."""


class LocalTool(Protocol):
    """A tool that is called in place. Raises ClewError."""

    @property
    def tool(self) -> Tool:
        """What the model sees of it."""
        ...

    async def call(self, arguments: Mapping[str, str]) -> str:
        """What it says."""
        ...


@dataclass(frozen=True, slots=True)
class TextCompletion:
    """Asks a chat model without any document: for rephrasing and reasoning, not for facts."""

    chat: Chat
    tool: Tool = field(
        default=Tool(
            name="text-completion",
            description="Ask a language model to rephrase, compare or reason. It knows none of the documents.",
            arguments={"question": "what it should do"},
        )
    )

    async def call(self, arguments: Mapping[str, str]) -> str:
        """The model's reply."""
        return (await self.chat.complete(completion_prompt(arguments.get("question", "")))).text


@dataclass(frozen=True, slots=True)
class Think:
    """Bound to ``agent-request``; sends the next request, a tool's question, or the final ``AgentResponse``."""

    thinker: Thinker
    local: tuple[LocalTool, ...] = ()
    max_iterations: int = MAX_ITERATIONS

    async def __call__(self, request: AgentRequest) -> Outcome:
        """Take one iteration."""
        check_question(request.question)
        number = len(request.history) + 1
        if number > self.max_iterations:
            ended = Concluded(
                answer=TOO_MANY,
                after=number - 1,
                reason="max-iterations",
                uses=uses(request.history, ""),
            )
            return _conclude(request, ended)
        tools = self._tools(request)
        thought = await self.thinker.think(request.question, request.history, tools, _silent)
        if thought.final is not None:
            return _conclude(request, self._concluded(request, thought, thought.final))
        chosen = self._chosen(request, thought, tools)
        said = _thought(request, number, thought.thought)
        if thought.action == DOCUMENT_QUERY.name and DOCUMENT_QUERY in tools:
            return Outcome(send=(said, _ask_documents(request, chosen)), facts=(chosen,))
        observed = await self._call(number, thought, tools)
        return Outcome(
            send=(
                said,
                _observation(request, number, observed.observation),
                _next(request, chosen, observed),
            ),
            facts=(chosen, observed),
        )

    def _tools(self, request: AgentRequest) -> tuple[Tool, ...]:
        """The tools of the requested group: null is the default group, empty none, ``*`` all."""
        if request.group is not None and not {"default", "*"} & set(request.group):
            return ()
        return (DOCUMENT_QUERY, *(local.tool for local in self.local))

    def _chosen(self, request: AgentRequest, thought: Thought, tools: tuple[Tool, ...]) -> ToolChosen:
        said = "\n".join((thought.thought, *thought.arguments.values()))
        return ToolChosen(
            number=len(request.history) + 1,
            thought=thought.thought,
            action=thought.action,
            arguments=dict(thought.arguments),
            candidates=tuple(tool.name for tool in tools),
            uses=uses(request.history, said, request.question),
            prompt_version=self.thinker.prompt_version,
            in_token=thought.in_token,
            out_token=thought.out_token,
            model=thought.model,
        )

    def _concluded(self, request: AgentRequest, thought: Thought, answer: str) -> Concluded:
        return Concluded(
            answer=answer,
            after=len(request.history),
            thought=thought.thought,
            uses=uses(request.history, f"{thought.thought}\n{answer}", request.question),
            prompt_version=self.thinker.prompt_version,
            in_token=thought.in_token,
            out_token=thought.out_token,
            model=thought.model,
        )

    async def _call(self, number: int, thought: Thought, tools: tuple[Tool, ...]) -> ToolObserved:
        """What a local tool says. A tool that fails, or is none of ours, is an observation: the model may do better."""
        for local in self.local:
            if local.tool.name == thought.action and local.tool in tools:
                try:
                    return ToolObserved(number=number, observation=await local.call(thought.arguments))
                except ClewError as error:
                    return _failed(number, told(error).message)
        names = ", ".join(tool.name for tool in tools) or "none"
        return _failed(number, f"there is no tool {thought.action!r}; the tools are: {names}")


@dataclass(frozen=True, slots=True)
class Observe:
    """Bound to ``agent-observation``: a bus tool's result comes back with the request it was asked for."""

    async def __call__(self, result: DocumentRagResponse) -> Outcome:
        """Put the result into the history, and let the agent go on."""
        request = AgentRequest.model_validate_json(result.state)
        chosen = next(fact for fact in reversed(request.trail) if isinstance(fact, ToolChosen))
        asked = docrag_question_uri(result.session_id)
        if result.error:
            observed = _failed(chosen.number, result.error.message, trace_uri=asked)
        else:
            ended = result.outcome in _ANSWERS
            observed = ToolObserved(
                number=chosen.number,
                observation=_said(result),
                trace_uri=asked,
                trace_end=docrag_synthesis_uri(result.session_id) if ended else "",
            )
        said = _observation(request, chosen.number, observed.observation)
        return Outcome(send=(said, _next(request, chosen, observed)), facts=(observed,))


_ANSWERS = frozenset({"answer", "partial", "no_knowledge"})
"""How a document question ends when it was answered: with a synthesis in its trace."""


def _failed(number: int, error: str, trace_uri: str = "") -> ToolObserved:
    """What the model reads of a tool that failed, and what went wrong."""
    return ToolObserved(
        number=number, observation=f"Error: {error}", failed=True, error=error, trace_uri=trace_uri
    )


def _conclude(request: AgentRequest, concluded: Concluded) -> Outcome:
    """The end: the thought, if any, and the answer."""
    final = AgentResponse(
        message_type="answer",
        content=concluded.answer,
        end_of_message=True,
        end_of_dialog=True,
    )
    thought = (_thought(request, concluded.after + 1, concluded.thought),) if concluded.thought else ()
    return Outcome(send=(*thought, Send(topics.AGENT_RESPONSE, final)), facts=(concluded,))


def _said(result: DocumentRagResponse) -> str:
    """What the agent's model reads: what is asked back, or answered only in part, is no answer and looks like none."""
    text = result.response or ""
    match result.outcome:
        case "needs_clarification":
            return f"NEEDS_CLARIFICATION: {text}"
        case "needs_scope_selection":
            options = f"\nOptions: {'; '.join(result.options)}" if result.options else ""
            return f"NEEDS_SCOPE_SELECTION: {text}{options}"
        case "no_knowledge":
            return f"NO_KNOWLEDGE: {text}"
        case "partial":
            return f"PARTIAL: {text}"
        case _:
            return text


async def _silent(text: str) -> None:
    """Thoughts are told whole, when they are thought."""
    del text


def _thought(request: AgentRequest, number: int, text: str) -> Send[AgentResponse]:
    """A thought, told to the caller."""
    uri = agent_thought_uri(request.session_id, number)
    body = AgentResponse(message_type="thought", content=text, end_of_message=True, message_id=uri)
    return Send(topics.AGENT_RESPONSE, body)


def _observation(request: AgentRequest, number: int, text: str) -> Send[AgentResponse]:
    """An observation, told to the caller."""
    uri = agent_observation_uri(request.session_id, number)
    body = AgentResponse(message_type="observation", content=text, end_of_message=True, message_id=uri)
    return Send(topics.AGENT_RESPONSE, body)


def _next(request: AgentRequest, chosen: ToolChosen, observed: ToolObserved) -> Send[AgentRequest]:
    """The next iteration: the same request, with one more step of history."""
    step = AgentStep(
        thought=chosen.thought,
        action=chosen.action,
        arguments=chosen.arguments,
        observation=observed.observation,
    )
    return Send(topics.AGENT_REQUEST, request.model_copy(update={"history": (*request.history, step)}))


def _ask_documents(request: AgentRequest, chosen: ToolChosen) -> Send[DocumentRagQuery]:
    """The bus tool: its answer comes to ``agent-observation`` and brings the request back."""
    query = DocumentRagQuery(
        query=chosen.arguments.get("question") or request.question,
        session_id=ids.derive("tool", request.session_id, chosen.number),
        collection=request.collection,
        parent_uri=agent_iteration_uri(request.session_id, chosen.number),
        user=request.user,
        reply=ReturnAddress(topic=topics.AGENT_OBSERVATION.name),
    )
    return Send(topics.DOCUMENT_RAG_REQUEST, query, carry=request)
