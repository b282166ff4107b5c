"""``clew ask`` and ``clew agent``: a question, the steps while they happen, the answer with its citations."""

from __future__ import annotations

from typing import Annotated
from uuid import uuid4

import typer
from rich.console import Console

from clew_schema.agent import AgentRequest
from clew_schema.rdf import Triple
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from clew_services.cli.common import (
    CollectionOption,
    DataOption,
    JsonOption,
    clean,
    emit_json,
    err,
    fail,
    load,
    out,
    start,
)
from clew_services.cli.connect import parts_of
from clew_services.cli.trace_view import render
from clew_services.client import Client
from clew_services.settings import Settings
from clew_translators.trace import read_trace

QuestionArgument = Annotated[str, typer.Argument(help="What you want to know.")]
ExplainOption = Annotated[
    bool, typer.Option("--explain", "-x", help="Show the trace of the answer as a tree.")
]
TimeoutOption = Annotated[
    float, typer.Option("--timeout", min=0.1, help="Seconds to wait for the next sign of life.")
]
SessionOption = Annotated[
    str, typer.Option("--session", help="Session id of the run; a new uuid if not given.")
]


def ask(
    question: QuestionArgument,
    collection: CollectionOption = "default",
    limit: Annotated[
        int, typer.Option("--limit", "-n", help="Chunks of evidence; 0: the service's default.")
    ] = 0,
    explain: ExplainOption = False,
    json: JsonOption = False,
    timeout: TimeoutOption = 120.0,
    session: SessionOption = "",
    data: DataOption = None,
) -> None:
    """Ask the documents. Steps stream past on standard error, the answer comes on standard output."""
    query = DocumentRagQuery(
        query=question,
        collection=collection,
        doc_limit=limit,
        streaming=True,
        session_id=session or str(uuid4()),
    )
    start(_ask(load(data), query, explain=explain, json=json, timeout=timeout))


def agent(
    question: QuestionArgument,
    collection: CollectionOption = "default",
    json: JsonOption = False,
    timeout: TimeoutOption = 120.0,
    session: SessionOption = "",
    data: DataOption = None,
) -> None:
    """Ask the agent: it thinks, uses tools, and concludes."""
    request = AgentRequest(
        question=question, collection=collection, streaming=True, session_id=session or str(uuid4())
    )
    start(_agent(load(data), request, json=json, timeout=timeout))


async def _ask(
    settings: Settings, query: DocumentRagQuery, *, explain: bool, json: bool, timeout: float
) -> None:
    async with parts_of(settings) as parts, Client(await parts.bus(), settings.space) as client:
        if json:
            async for heard in client.ask(query, timeout=timeout):
                emit_json(heard.body.model_dump(mode="json"))
                _end_on(heard.body)
            return
        told = Telling(err, out)
        await told.follow(client, query, timeout=timeout)
        if explain:
            out.print()
            out.print(render(read_trace(told.triples)))


async def _agent(settings: Settings, request: AgentRequest, *, json: bool, timeout: float) -> None:
    async with parts_of(settings) as parts, Client(await parts.bus(), settings.space) as client:
        async for heard in client.agent(request, timeout=timeout):
            body = heard.body
            if json:
                emit_json(body.model_dump(mode="json"))
            elif body.message_type in {"thought", "observation"}:
                err.print(f"[dim]{body.message_type:>11}[/]  {clean(body.content)}")
            elif body.message_type == "answer":
                out.print(clean(body.content))
            if body.error is not None:
                fail(body.error.type, body.error.message)
        if not json:
            err.print(f"[dim]trace: clew trace show {request.session_id} -c {request.collection}[/]")


class Telling:
    """Tells a person of one document question: steps on ``steps``, the answer on ``answer``."""

    def __init__(self, steps: Console, answer: Console) -> None:
        """``triples`` collects what was explained inline."""
        self.triples: list[Triple] = []
        self._steps = steps
        self._answer = answer
        self._shown = 0
        self._stream = ""
        self._text = ""

    async def follow(
        self, client: Client, query: DocumentRagQuery, *, timeout: float = 120.0
    ) -> DocumentRagResponse:
        """Ask ``query`` and tell until it ends; its last response. Ends the process with 1 after an error."""
        async for heard in client.ask(query, timeout=timeout):
            body = heard.body
            if body.message_type == "explain":
                self._explained(body)
            elif body.message_type == "chunk":
                self._chunk(body.response or "", heard.stream)
            if body.end_of_session:
                self._ended(body)
                return body
        raise AssertionError("unreachable: a call ends with its last response")

    def _explained(self, body: DocumentRagResponse) -> None:
        self.triples += body.explain_triples
        steps = read_trace(self.triples).steps
        for step in steps[self._shown :]:
            if step.kind != "answer":
                self._steps.print(f"[green]●[/] [dim]{clean(step.title)}[/]")
        self._shown = len(steps)

    def _chunk(self, text: str, stream: str) -> None:
        if self._stream and stream != self._stream:
            self._answer.print("\n[yellow]the answer begins again: its service was restarted[/]")
            self._text = ""
        self._stream = stream
        self._text += text
        self._answer.print(clean(text), end="", soft_wrap=True)

    def _ended(self, body: DocumentRagResponse) -> None:
        if self._text:
            self._answer.print()
        if body.error is not None:
            fail(body.error.type, body.error.message)
        if body.response and body.response.strip() != self._text.strip():
            self._answer.print(clean(body.response), soft_wrap=True)
        if body.options:
            self._answer.print("  " + clean(" · ".join(body.options)))
        for citation in body.citations:
            page = f" p.{citation.page}" if citation.page else ""
            self._answer.print(
                f"  [cyan]\\[{citation.number}][/] {clean(citation.filename)}{page}"
                f" [dim]{citation.start}–{citation.end}[/] {clean(_snippet(citation.quote))}",
                soft_wrap=True,
            )
        self._steps.print(f"[dim]trace: clew trace show {body.session_id} -c {body.collection}[/]")


def _end_on(body: DocumentRagResponse) -> None:
    if body.error is not None:
        raise typer.Exit(1)


def _snippet(text: str, length: int = 90) -> str:
    flat = " ".join(text.split())
    return f"“{flat}”" if len(flat) <= length else f"“{flat[: length - 1]}…”"
