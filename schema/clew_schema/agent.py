"""Asking an agent: a request carries the whole state of the loop, so any replica can take the next step."""

from typing import Literal

from clew_schema.base import Items, Message, RunMessage
from clew_schema.errors import Error
from clew_schema.facts import Fact
from clew_schema.rdf import Triple

AgentMessageType = Literal["", "thought", "action", "observation", "answer", "explain", "error"]


class PlanStep(Message):
    """One step of a plan; ``status`` is ``pending`` or ``completed``."""

    goal: str = ""
    tool_hint: str = ""
    depends_on: Items[int] = ()
    status: str = "pending"
    result: str = ""


class AgentStep(Message):
    """One finished iteration: what was thought, what was done, what came of it."""

    thought: str = ""
    action: str = ""
    arguments: dict[str, str] = {}
    observation: str = ""
    step_type: str = ""
    plan: Items[PlanStep] = ()
    subagent_results: dict[str, str] = {}


class AgentRequest(RunMessage):
    """A question to the agent, or its next iteration (then ``history`` is not empty).

    ``group`` null means the default tools, empty none, ``"*"`` all; ``state`` filters tools by state.
    """

    question: str = ""
    state: str | None = ""
    group: Items[str] | None = None
    history: Items[AgentStep] = ()
    user: str = ""
    collection: str = "default"
    streaming: bool = False
    session_id: str = ""
    conversation_id: str = ""
    pattern: str = ""
    task_type: str = ""
    framing: str = ""
    correlation_id: str = ""
    parent_session_id: str = ""
    subagent_goal: str = ""
    expected_siblings: int = 0
    parent_uri: str = ""
    trail: Items[Fact] = ()

    @property
    def wants_stream(self) -> bool:
        """Whether the caller asked for steps and text while they come."""
        return self.streaming


class AgentResponse(RunMessage):
    """A thought, an observation, a piece of the answer, an explanation, or an error.

    ``message_id`` is the IRI of the entity the text belongs to. The last message has
    ``end_of_dialog``; an error has both end flags.
    """

    message_type: AgentMessageType = ""
    content: str = ""
    end_of_message: bool = False
    end_of_dialog: bool = False
    explain_id: str | None = None
    explain_graph: str | None = None
    explain_triples: Items[Triple] = ()
    message_id: str = ""
    error: Error | None = None
    in_token: int | None = None
    out_token: int | None = None
    model: str | None = None
