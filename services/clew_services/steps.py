"""Which services there are, and the steps of each: handlers bound to topics, with the parts they need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clew_schema import topics
from clew_services.cancelling import CancelRun, cancel_failed
from clew_services.core.chunking import Chunking
from clew_services.core.retry import RetryPolicy
from clew_services.dead_letters import DeadLetters
from clew_services.handlers.agent import Observe, TextCompletion, Think
from clew_services.handlers.answering import Answering
from clew_services.handlers.document_rag import FollowRoute, PlanRetrieval
from clew_services.handlers.grading import GradeEvidence
from clew_services.handlers.ingest import LoadDocument, load_failed
from clew_services.handlers.pausing import Pausing
from clew_services.handlers.trace_export import ExportSpans
from clew_services.handlers.trace_store import StoreTriples
from clew_services.ingest import Ingester
from clew_services.letter_desk import WorkOnLetters, letters_failed
from clew_services.retention import Retention, Sweeper
from clew_services.runtime.respond import AgentCaller, DocumentRagCaller
from clew_services.runtime.step import Step

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from clew_services.handlers.trace_export import SpanExporter
    from clew_services.ports import TraceStore
    from clew_services.wiring import Parts


async def _document_rag(parts: Parts) -> list[Step[Any]]:
    settings = parts.settings
    retriever, caller = await parts.retriever(), DocumentRagCaller()
    pausing = Pausing(
        tickets=await parts.tickets(),
        retriever=retriever,
        clock=parts.clock,
        rounds=settings.ticket_rounds,
        hours=settings.ticket_hours,
    )
    answering = Answering(writer=await parts.writer(), embedder=await parts.embedder())
    plan = PlanRetrieval(
        planner=await parts.planner(), retriever=retriever, pausing=pausing, mode=settings.mode
    )
    follow = FollowRoute(
        rewriter=await parts.rewriter(), retriever=retriever, answering=answering, pausing=pausing
    )
    return [
        Step(
            name="document-rag.plan",
            topic=topics.DOCUMENT_RAG_REQUEST,
            handle=plan,
            caller=caller,
            width=settings.width,
        ),
        Step(
            name="document-rag.answer",
            topic=topics.GRADING_RESPONSE,
            stream=follow,
            caller=caller,
            width=settings.width,
        ),
    ]


async def _grading(parts: Parts) -> list[Step[Any]]:
    return [
        Step(
            name="grading.grade",
            topic=topics.GRADING_REQUEST,
            handle=GradeEvidence(await parts.grader()),
            caller=DocumentRagCaller(),
            width=parts.settings.width,
        )
    ]


async def _agent(parts: Parts) -> list[Step[Any]]:
    chat, caller, width = await parts.chat(), AgentCaller(), parts.settings.width
    think = Think(
        await parts.thinker(),
        local=(TextCompletion(chat),) if chat else (),
        max_iterations=parts.settings.max_iterations,
    )
    return [
        Step(name="agent.think", topic=topics.AGENT_REQUEST, handle=think, caller=caller, width=width),
        Step(
            name="agent.observe", topic=topics.AGENT_OBSERVATION, handle=Observe(), caller=caller, width=width
        ),
    ]


async def _ingest(parts: Parts) -> list[Step[Any]]:
    ingester = Ingester(
        catalog=await parts.catalog(),
        vectors=await parts.vectors(),
        embedder=await parts.embedder(),
        clock=parts.clock,
        chunking=Chunking(sizes=parts.settings.chunk_sizes, overlaps=parts.settings.chunk_overlaps),
        analyzer=parts.settings.analyzer,
    )
    return [
        Step(
            name="ingest.load",
            topic=topics.DOCUMENT_LOAD,
            progress=LoadDocument(ingester),
            on_failure=load_failed,
            width=2,
        )
    ]


async def _trace_store(parts: Parts) -> list[Step[Any]]:
    _retention(parts, await parts.traces())
    exporter = await parts.exporter()
    exporting = [] if exporter is None else [_export(parts, await parts.traces(), exporter)]
    return [
        *exporting,
        Step(
            name="trace-store.store",
            topic=topics.EXPLAINABILITY,
            handle=StoreTriples(await parts.traces()),
            recorded=False,
            width=256,
            # Nobody waits for a trace, and a full disk is mended by a person: hours, not seconds.
            policy=RetryPolicy(max_attempts=500),
        ),
    ]


async def _dead_letters(parts: Parts) -> list[Step[Any]]:
    dead = DeadLetters(await parts.bus(), parts.settings.space)
    return [
        Step(
            name="dead-letters.work",
            topic=topics.DEAD_LETTER_REQUEST,
            progress=WorkOnLetters(dead=dead, clock=parts.clock, observer=parts.observer),
            on_failure=letters_failed,
            width=1,
        )
    ]


def _retention(parts: Parts, store: TraceStore) -> None:
    """Erase what the settings do not keep, if they say anything."""
    days, runs = parts.settings.trace_retention_days or None, parts.settings.trace_retention_runs or None
    if days or runs:
        sweeper = Sweeper(store, Retention(days, runs), clock=parts.clock, observer=parts.observer)
        parts.keep(sweeper.begin())


def _export(parts: Parts, store: TraceStore, exporter: SpanExporter) -> Step[Any]:
    """Beside the store and not in its way: by a subscription of its own."""
    return Step(
        name="trace-store.export",
        topic=topics.EXPLAINABILITY,
        handle=ExportSpans(store=store, exporter=exporter, content=parts.settings.otlp_content),
        recorded=False,
        width=64,
        policy=RetryPolicy(max_attempts=50),
    )


async def _cancel(parts: Parts) -> list[Step[Any]]:
    return [
        Step(
            name="cancel.run",
            topic=topics.CANCEL_REQUEST,
            handle=CancelRun(ledger=await parts.ledger(), tickets=await parts.tickets(), clock=parts.clock),
            on_failure=cancel_failed,
            width=parts.settings.width,
        )
    ]


SERVICES: Mapping[str, Callable[[Parts], Awaitable[list[Step[Any]]]]] = {
    "document-rag": _document_rag,
    "grading": _grading,
    "agent": _agent,
    "ingest": _ingest,
    "trace-store": _trace_store,
    "dead-letters": _dead_letters,
    "cancel": _cancel,
}
"""Every service that can be run, by name."""


async def steps_of(parts: Parts, services: tuple[str, ...]) -> list[Step[Any]]:
    """The steps of ``services``. Raises KeyError for a name that is none."""
    return [step for name in services for step in await SERVICES[name](parts)]
