"""Mistakes that the type checker must find: each is marked as an error to be ignored, of that kind and no other.

A mistake that it does not find is an ignore too many, which ``mypy --strict`` refuses. Never run and never imported:
`make check` and ``test_misuse.py`` hand it to mypy.
"""

from clew_schema import topics
from clew_schema.agent import AgentRequest
from clew_schema.errors import DeadLetter
from clew_schema.evidence import Evidence, Grade
from clew_schema.grading import GradingRequest, GradingResponse
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from clew_schema.topics import Topic
from clew_services.adapters.bus.memory import MemoryBus
from clew_services.adapters.models.chat_scripted import ScriptedGrader
from clew_services.client import Client
from clew_services.core.retry import Retry
from clew_services.handlers.grading import GradeEvidence
from clew_services.ports import Bus, Grader, Ledger, Outgoing
from clew_services.runtime.observe import Observer
from clew_services.runtime.outcome import Outcome, Send
from clew_services.runtime.step import Step
from clew_translators import bus as wire


async def handle(query: DocumentRagQuery) -> Outcome:
    """A handler of questions."""
    return Outcome()


# A topic carries its own body and no other.
Send(topics.GRADING_RESPONSE, GradingResponse(query=DocumentRagQuery()))
Send(topics.GRADING_RESPONSE, GradingRequest(query=DocumentRagQuery()))  # type: ignore[misc]
Send(topics.DOCUMENT_RAG_RESPONSE, DocumentRagQuery())  # type: ignore[misc]
right: Topic[AgentRequest] = topics.AGENT_REQUEST
crossed: Topic[AgentRequest] = topics.AGENT_RESPONSE  # type: ignore[assignment]
letter: DeadLetter = wire.decode(topics.DEAD_LETTER, b"")
other: DeadLetter = wire.decode(topics.AGENT_REQUEST, b"")  # type: ignore[assignment]

# A step's handler takes what travels on its topic.
Step(name="a.b", topic=topics.DOCUMENT_RAG_REQUEST, handle=handle)
Step(name="a.b", topic=topics.AGENT_REQUEST, handle=handle)  # type: ignore[arg-type]

# Events and levels are a closed set.
Observer().event("service_ready")
Observer().event("service_redy")  # type: ignore[arg-type]
Observer().event("service_ready", "loud")  # type: ignore[arg-type]

# Values are of their own closed sets, and no field is made up.
Grade(relevance="strong", answerability="sufficient", route="answer")
Grade(relevance="very", answerability="sufficient", route="answer")  # type: ignore[arg-type]
DocumentRagQuery(query="?", doc_limit="8")  # type: ignore[arg-type]
DocumentRagQuery(qury="?")  # type: ignore[call-arg]
Evidence(text="?")  # type: ignore[call-arg]

# Messages, outcomes and decisions are values: nobody changes one.
DocumentRagQuery().query = "?"  # type: ignore[misc]
Outcome().facts = ()  # type: ignore[misc]
Retry(1.0).after_seconds = 2.0  # type: ignore[misc]
Outgoing(topic="t", payload=b"").payload = b"x"  # type: ignore[misc]

# A port takes what implements it.
bus: Bus = MemoryBus()
grader: Grader = ScriptedGrader(Grade(relevance="none", answerability="none", route="no_knowledge"))
ledger: Ledger = MemoryBus()  # type: ignore[assignment]
GradeEvidence(grader)
GradeEvidence(bus)  # type: ignore[arg-type]
Outgoing(topic="t", payload="text")  # type: ignore[arg-type]


async def ask(client: Client) -> None:
    """What the client gives back has the type of the question's responses."""
    answer: DocumentRagResponse = await client.answer(DocumentRagQuery(query="?"))
    wrong_answer: str = await client.answer(DocumentRagQuery(query="?"))  # type: ignore[assignment]
    client.ask(AgentRequest(question="?"))  # type: ignore[arg-type]
    async for heard in client.agent(AgentRequest(question="?")):
        ended: bool = heard.body.end_of_dialog
        ended = heard.body.end_of_session  # type: ignore[attr-defined]
        del ended
    del answer, wrong_answer
