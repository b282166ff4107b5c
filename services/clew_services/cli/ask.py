"""``clew ask`` and ``clew agent``: a question, the steps while they happen, the answer with its citations."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from clew_services.cli.common import (
    CollectionOption,
    DataOption,
    JsonOption,
    emit_json,
    err,
    load,
    out,
    say,
    start,
    tell_error,
    utf8,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.agent import AgentRequest
    from clew_schema.errors import Error
    from clew_schema.rdf import Triple
    from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
    from clew_services.cli.telling import Telling
    from clew_services.settings import Settings

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
UserOption = Annotated[
    str,
    typer.Option("--user", metavar="NAME", help="Who asks or answers; the trace keeps it. Default: nobody."),
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
    user: UserOption = "",
    data: DataOption = None,
) -> None:
    """Ask the documents. Steps stream past on standard error, the answer comes on standard output."""
    from clew_schema.retrieval import DocumentRagQuery

    query = DocumentRagQuery(
        query=utf8(question),
        collection=utf8(collection),
        doc_limit=limit,
        streaming=True,
        session_id=utf8(session) or str(uuid4()),
        user=utf8(user),
    )
    converse(load(data), query, query.session_id, timeout=timeout, explain=explain, json=json, data=data)


def agent(
    question: QuestionArgument,
    collection: CollectionOption = "default",
    json: JsonOption = False,
    timeout: TimeoutOption = 120.0,
    session: SessionOption = "",
    user: UserOption = "",
    data: DataOption = None,
) -> None:
    """Ask the agent: it thinks, uses tools, and concludes. Thoughts come on standard error."""
    from clew_schema.agent import AgentRequest

    request = AgentRequest(
        question=utf8(question),
        collection=utf8(collection),
        streaming=True,
        session_id=utf8(session) or str(uuid4()),
        user=utf8(user),
    )
    error = start(_agent(load(data), request, timeout, json=json))
    _end(error, request.session_id, request.collection, json=json, data=data)


def converse(
    settings: Settings,
    query: DocumentRagQuery,
    session_id: str,
    *,
    timeout: float,
    explain: bool = False,
    json: bool = False,
    data: Path | None = None,
    before: Sequence[Triple] = (),
) -> None:
    """Ask ``query`` and tell what comes; who sits at a terminal is offered to answer what the run asks back.

    ``session_id`` names the run, and ``before`` is its trace so far. An error ends the process with 1.
    """
    from clew_services.cli.pause import tell_pause, typed_answer, waits
    from clew_services.cli.telling import Telling

    if json:
        error = start(_ask_json(settings, query, timeout))
        _end(error, session_id, query.collection, json=True, data=data)
        return
    told = Telling(err, out)
    told.recall(before)
    body = start(_ask(settings, query, timeout, told))
    while waits(body):
        tell_pause(body, data)
        answer = typed_answer(body.options)
        if not answer:
            break
        reply = query.model_copy(update={"ticket": body.ticket, "answer": answer, "cancel": False})
        body = start(_ask(settings, reply, timeout, told))
    if explain and told.triples:
        from clew_services.cli.trace_view import render
        from clew_translators.trace import read_trace

        out.print()
        out.print(render(read_trace(told.triples)))
    _end(body.error, session_id, query.collection, json=False, data=data)


def _end(error: Error | None, session_id: str, collection: str, *, json: bool, data: Path | None) -> None:
    """How to see it again, and the error, which ends the process with 1; JSON has told all that already."""
    if not json:
        _where(session_id, collection, data)
    if error is not None:
        if not json:
            tell_error(error.type, error.message)
        raise typer.Exit(1)


async def _ask_json(settings: Settings, query: DocumentRagQuery, timeout: float) -> Error | None:
    from clew_services.cli.connect import client_of

    error = None
    async with client_of(settings) as client:
        async for heard in client.ask(query, timeout=timeout):
            emit_json(heard.body.model_dump(mode="json"))
            error = heard.body.error
    return error


async def _ask(
    settings: Settings, query: DocumentRagQuery, timeout: float, told: Telling
) -> DocumentRagResponse:
    from clew_services.cli.connect import client_of

    async with client_of(settings) as client:
        return await told.follow(client, query, timeout=timeout)


async def _agent(settings: Settings, request: AgentRequest, timeout: float, *, json: bool) -> Error | None:
    from clew_services.cli.connect import client_of

    error = None
    async with client_of(settings) as client:
        async for heard in client.agent(request, timeout=timeout):
            body, error = heard.body, heard.body.error
            if json:
                emit_json(body.model_dump(mode="json"))
            elif body.message_type in {"thought", "observation"}:
                say(err, (f"{body.message_type:>11}  ", "dim"), body.content)
            elif body.message_type == "answer":
                say(out, body.content)
    return error


def _where(session_id: str, collection: str, data: Path | None) -> None:
    """How to see it again."""
    command = ["clew", "trace", "show", session_id]
    command += ["-c", collection] if collection not in {"", "default"} else []
    command += ["-d", str(data)] if data is not None else []
    say(err, (f"trace: {shlex.join(command)}", "dim"), whole=True)
