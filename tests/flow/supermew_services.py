"""SuperMew's vectors asked of all services on one memory bus; what happened is read from the published triples."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

from clew_schema.facts import Fact, Mode
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from clew_services.core.resuming import Snapshot
from clew_services.errors import ClewError
from clew_services.ports import Record, Ticket
from clew_translators import bus as wire
from clew_translators.explain.facts import facts_of
from tests.core.supermew_run import Ran, Script, resting
from tests.flow.house import House


class Services:
    """Answers with ``script`` as every model and as the retrieval."""

    def __init__(self, tmp: Path, script: Script, mode: Mode = "strict") -> None:
        self.tmp, self.script, self.mode = tmp, script, mode

    def house(self) -> House:
        script = self.script
        return House(
            self.tmp,
            mode=self.mode,
            max_attempts=1,
            retriever=script,
            planner=script,
            rewriter=script,
            grader=script,
            writer=script,
        )

    async def ask(self, question: str) -> Ran:
        async with self.house() as house:
            query = DocumentRagQuery(query=question, collection="c", session_id=str(uuid4()))
            return await self._ran(house, query, question)

    async def answer(self, record: dict[str, Any], answer: str) -> Ran:
        """The ticket is put where a paused run leaves it: what the services find there after any restart."""
        session = str(uuid4())
        rest = resting(Snapshot.model_validate(record), self.mode).model_copy(update={"session_id": session})
        ticket = Ticket(
            ticket_id="t",
            session_id=session,
            collection="c",
            question=rest.query.query,
            prompt="?",
            route=record["route"],
            status=record["retrieval_status"],
            opened_at=0.0,
            expires_at=float(2**40),
            run=wire.encode(rest),
        )
        async with self.house() as house:
            opened = Record(step="document-rag.answer", message_id="m", outputs=(), recorded_at=0.0)
            await house.ledger.record(opened, opens=ticket)
            query = DocumentRagQuery(ticket="t", answer=answer, collection="c")
            return await self._ran(house, query, rest.query.query, rest.trail)

    async def _ran(
        self, house: House, query: DocumentRagQuery, question: str, before: tuple[Fact, ...] = ()
    ) -> Ran:
        response: DocumentRagResponse = await house.client.answer(query, timeout=10)
        if response.error is not None:
            raise Failed(response.error.type)
        batches = house.batches(f"urn:trustgraph:docrag:{response.session_id}")
        facts = facts_of([triple for batch in batches for triple in batch.triples])
        return Ran(question, (*before, *facts), response=response)


class Failed(ClewError):
    """The caller was told of an error; its type is the message."""
