"""Run a question again: with what was recorded, in memory; or with the services that run now.

Recorded, every model and every search says what the trace says that it said, and the handlers of this version decide
anew: what differs is what this version decides otherwise. Live, all is asked again, under a session of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_schema import topics
from clew_schema.agent import AgentRequest
from clew_schema.facts import (
    Concluded,
    EvidenceRetrieved,
    QuestionAsked,
    QuestionPlanned,
    RunResumed,
    TicketCancelled,
    ToolChosen,
)
from clew_schema.retrieval import DocumentRagQuery
from clew_services.adapters.bus.memory import MemoryBus
from clew_services.adapters.models import recorded_run as recorded
from clew_services.adapters.models.recorded_embedder import RecordedEmbedder
from clew_services.adapters.stores.ledger_memory import MemoryLedger
from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.client import Client
from clew_services.errors import BadRequest
from clew_services.runtime.clock import SystemClock
from clew_services.runtime.service import Service
from clew_translators import bus as wire
from clew_translators.explain import question_uri
from clew_translators.explain.facts import facts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.facts import Fact
    from clew_services.settings import Settings
    from clew_services.wiring import Parts

_SERVICES = ("document-rag", "grading", "agent")


async def replay(
    facts: Sequence[Fact],
    settings: Settings,
    *,
    session_id: str,
    collection: str,
    tools: Sequence[Fact] = (),
    timeout: float = 60.0,
) -> tuple[Fact, ...]:
    """The facts of the run as this version makes them from what was recorded; ``tools`` are those of its tools' runs.

    Nothing is published, stored or paid. Raises BadRequest for a run without a beginning, TimeoutError after
    ``timeout`` seconds without a response.
    """
    asked = beginning(facts)
    bus = MemoryBus(SystemClock())
    parts = _parts(recorded.Recording((*facts, *tools)), settings, bus)
    # Imported here: the wiring of all services is wanted by a replay alone.
    from clew_services.steps import steps_of

    service = Service(await steps_of(parts, _SERVICES), await parts.processor())
    await service.start()
    try:
        async with Client(bus, parts.settings.space) as client:
            await ask_again(
                client, asked, facts, session_id=session_id, collection=collection, timeout=timeout
            )
    finally:
        await service.stop()
        await parts.close()
    uri = question_uri(session_id, asked.mechanism)
    topic = parts.settings.space.full(topics.EXPLAINABILITY.name)
    batches = [wire.decode(topics.EXPLAINABILITY.body, message.payload) for message in bus.messages(topic)]
    return facts_of(
        quad for batch in batches if batch.metadata and batch.metadata.root == uri for quad in batch.triples
    )


def _parts(recording: recorded.Recording, settings: Settings, bus: MemoryBus) -> Parts:
    """Everything that services are made of, from a recording. ``chat`` is there if the agent had it as a tool."""
    from clew_services.wiring import Parts

    planned = recording.first(QuestionPlanned)
    completes = any(
        recorded.COMPLETION in (fact.action, *fact.candidates)
        for fact in recording.facts
        if isinstance(fact, ToolChosen)
    )
    changes = {
        "mode": planned.mode if planned else settings.mode,
        "explain_profile": "spec",
        "topic_profile": "clew",
        "chat_url": "",
    }
    return Parts(
        settings.model_copy(update=changes),
        quiet=True,
        bus=bus,
        ledger=MemoryLedger(),
        traces=MemoryTraceStore(),
        planner=recorded.RecordedPlanner(recording),
        retriever=recorded.RecordedRetriever(recording),
        grader=recorded.RecordedGrader(recording),
        rewriter=recorded.RecordedRewriter(recording),
        writer=recorded.RecordedWriter(recording),
        embedder=RecordedEmbedder(recording),
        thinker=recorded.RecordedThinker(recording),
        chat=recorded.RecordedCompletion(recording) if completes else None,
    )


async def ask_again(
    client: Client,
    asked: QuestionAsked,
    facts: Sequence[Fact],
    *,
    session_id: str,
    collection: str,
    timeout: float,
) -> int:
    """Ask what was asked, and answer each pause as the person did, as far as anybody did: how often the run rested.

    Raises TimeoutError.
    """
    if asked.mechanism == "agent":
        request = AgentRequest(
            question=asked.query,
            session_id=session_id,
            collection=collection,
            user=asked.person,
            group=() if _had_no_tools(facts) else None,
        )
        async for _ in client.agent(request, timeout=timeout):
            pass
        return 1
    replies = [fact for fact in facts if isinstance(fact, RunResumed | TicketCancelled)]
    retrieved = next((fact for fact in facts if isinstance(fact, EvidenceRetrieved)), None)
    query = DocumentRagQuery(
        query=asked.query,
        session_id=session_id,
        collection=collection,
        user=asked.person,
        doc_limit=retrieved.retrieval.top_k if retrieved else 0,
    )
    response = await client.answer(query, timeout=timeout)
    rested = 1
    while response.ticket and replies:
        reply = replies.pop(0)
        answer = {"answer": reply.answer} if isinstance(reply, RunResumed) else {"cancel": True}
        query = DocumentRagQuery(ticket=response.ticket, collection=collection, user=reply.person, **answer)
        response = await client.answer(query, timeout=timeout)
        rested += 1
    return rested


def _had_no_tools(facts: Sequence[Fact]) -> bool:
    """Whether the agent was asked with an empty group of tools, as far as its choices tell."""
    chosen = [fact for fact in facts if isinstance(fact, ToolChosen)]
    return bool(chosen) and not any(fact.candidates for fact in chosen)


def beginning(facts: Sequence[Fact]) -> QuestionAsked:
    """How the run began. Raises BadRequest where the trace does not say all, or where nobody here could answer it."""
    asked = next((fact for fact in facts if isinstance(fact, QuestionAsked)), None)
    if asked is None:
        raise BadRequest("the trace does not say what was asked: its first batch is missing")
    if asked.mechanism == "graph-rag":
        raise BadRequest("questions to knowledge graphs are not answered here, so they cannot be asked again")
    first = next((fact for fact in facts if isinstance(fact, ToolChosen | Concluded)), None)
    if first and (first.after if isinstance(first, Concluded) else first.number - 1):
        raise BadRequest("the agent was asked with a history of its caller's, which its trace does not hold")
    return asked
