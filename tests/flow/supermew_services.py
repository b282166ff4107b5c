"""SuperMew's vectors asked of all services on one memory bus; what happened is read from the published triples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from pydantic import ValidationError

from clew_schema.evidence import Evidence, Grade
from clew_schema.facts import Fact, Mode
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from clew_services.core.resuming import Snapshot
from clew_services.errors import ClewError, ModelReplyInvalid
from clew_services.ports import Record, Ticket
from clew_translators import bus as wire
from clew_translators.explain.facts import facts_of
from tests.core.supermew_run import Ran, Script, resting
from tests.flow.house import House


class Refusing(Script):
    """A script whose nonsense is refused, as a chat model's adapter does."""

    async def grade(self, question: str, evidence: Sequence[Evidence]) -> Grade:
        try:
            return await super().grade(question, evidence)
        except ValidationError as error:
            raise ModelReplyInvalid("no grade") from error


class Services:
    """Answers with ``script`` as every model and as the retrieval."""

    def __init__(self, tmp: Path, script: Script, mode: Mode = "strict") -> None:
        self.tmp, self.script, self.mode = tmp, script, mode

    def house(self, **settings: Any) -> House:
        script = self.script
        return House(
            self.tmp,
            mode=self.mode,
            max_attempts=1,
            **settings,
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
        async with self.house(proves=False) as house:  # nobody told how the run began
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


class Conversation:
    """One house for several turns: a question, and the answers to what is asked back."""

    def __init__(self, tmp: Path, script: Script, mode: Mode = "improved", **settings: Any) -> None:
        self.script = script
        self.house = Services(tmp, script, mode).house(**settings)

    async def __aenter__(self) -> Self:
        await self.house.__aenter__()
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.house.__aexit__(*failure)

    async def say(self, question: str, **fields: Any) -> DocumentRagResponse:
        return await self.house.ask(question, **({"collection": "c"} | fields))

    async def reply(self, ticket: str, answer: str, **fields: Any) -> DocumentRagResponse:
        query = DocumentRagQuery.model_validate(
            {"collection": "c", "ticket": ticket, "answer": answer} | fields
        )
        return await self.house.client.answer(query, timeout=10)

    def facts(self, session: str) -> tuple[Fact, ...]:
        """Everything that was told of a run."""
        batches = self.house.batches(f"urn:trustgraph:docrag:{session}")
        return facts_of([triple for batch in batches for triple in batch.triples])


class Failed(ClewError):
    """The caller was told of an error; its type is the message."""
