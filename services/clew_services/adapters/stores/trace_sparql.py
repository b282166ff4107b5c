"""The trace store on a SPARQL 1.1 server, over HTTP: query and update. A TraceStore.

One server holds many collections, each in graphs of its own (:mod:`clew_services.adapters.stores.sparql_index`). A
caller's query gets these graphs as its dataset by the protocol, so it meets nothing else whatever it says.

Several processes may write and read at once: what they write is only added. What may not be added is decided by the
server, in the transaction that adds it, and seen to once more when it was added: Oxigraph's server lets updates that
come at once overlap. Of processes that begin one run in several collections at once the one whose collection's hash
is the least keeps it; what another has of it goes when that is found out, with its next batch at the latest.

A write that returned is as durable as the server makes it.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from clew_schema.rdf import Triple
from clew_services.adapters.stores import sparql_lists as lists
from clew_services.adapters.stores import sparql_updates as updates
from clew_services.adapters.stores.sparql_client import Refusal, SparqlClient
from clew_services.adapters.stores.sparql_index import Place, row_of
from clew_services.adapters.stores.sparql_questions import question
from clew_services.adapters.stores.sparql_results import ask
from clew_services.adapters.stores.sparql_terms import iri_text, is_iri, term_of
from clew_services.errors import BadRequest, ClewError, DeadlineExceeded, Forbidden, StoreFailed
from clew_services.ports import TraceFilter
from clew_translators.trace_digest import collection_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from clew_schema.rdf import Triples
    from clew_services.adapters.stores.sparql_updates import Call
    from clew_services.ports import QueryResult, TraceRow

MOST_AT_ONCE = 8_000_000
"""Characters of one update; what is more is sent in several, unless it is one call's."""

FAMILY = 200
"""Runs that one update erases."""

REMEMBERED = timedelta(days=30)
"""How long it is known that a run was erased: longer than a bus keeps a message that was not acknowledged."""

EVERY_RUN = TraceFilter()
"""No filter."""

_PROBE = "SELECT (<<( <urn:a> <urn:b> <urn:c> )>> AS ?t) WHERE {}"


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class _Ticket:
    """A call that waits to be written, and what became of it."""

    call: Call
    done: bool = False
    error: ClewError | None = None


class SparqlTraceStore:
    """Runs on the server that ``client`` asks. Calls of ``add`` that come meanwhile are written together.

    ``triple_terms``: whether the server knows RDF 1.2's; by default it is asked once. Where it does not they are kept
    as literals, which come back as what they were but cannot be looked into by queries.
    """

    def __init__(
        self, client: SparqlClient, *, triple_terms: bool | None = None, now: Callable[[], datetime] = _now
    ) -> None:
        self._client = client
        self._triple_terms = triple_terms
        self._now = now
        self._turn = asyncio.Lock()
        self._waiting: list[_Ticket] = []
        self._closed = False

    # --- writing ----------------------------------------------------------------------------------

    async def add(self, batches: Sequence[Triples]) -> None:
        """Write ``batches``, all or none; one that is no RDF raises Unreadable. Other calls are not harmed by it."""
        self._open()
        call = updates.call_of(batches, triple_terms=await self._knows_triple_terms())
        if not call.places:
            return
        if len(call.places) > 1:  # all or none; of a single run the server sees to it, whoever else writes
            await self._confirm([found := _Ticket(call)])
            if found.error is not None:
                raise found.error
        ticket = _Ticket(call)
        self._waiting.append(ticket)
        async with self._turn:
            # Whoever has the turn writes for all who wait. A ticket taken by a cancelled writer may be written twice.
            if not ticket.done:
                taken = [ticket, *(other for other in self._waiting if other is not ticket)]
                self._waiting.clear()
                await self._write(taken)
        if ticket.error is not None:
            raise ticket.error

    async def _write(self, tickets: Sequence[_Ticket]) -> None:
        for group in _groups([(ticket, ticket.call.insert()) for ticket in tickets]):
            try:
                await self._client.update(" ;\n".join(text for _, text in group))
            except Refusal as refusal:
                if len(group) == 1:
                    group[0][0].error = self._client.incompatible(refusal)
                    continue
                for ticket, _ in group:  # to find the one that is refused
                    await self._write([ticket])
                continue
            await self._confirm([ticket for ticket, _ in group])
        for ticket in tickets:
            ticket.done = True

    async def _confirm(self, tickets: Sequence[_Ticket]) -> None:
        """See what the server made of it: whose the runs are, and whether one was erased meanwhile, or its parent."""
        runs = dict.fromkeys(run for ticket in tickets for run in ticket.call.owners)
        found = await self._client.rows(updates.owners_of(runs))
        owners = defaultdict[str, set[str]](set)
        for row in found:
            owners[f"<{row['run']['value']}>"].add(f"<{row['owner']['value']}>")
        gone = {f"<{row['run']['value']}>" for row in found if "gone" in row}
        for ticket in tickets:
            for run, place in ticket.call.places.items():
                name = iri_text(run)
                if place.facts != min(owners[name], default=place.facts):
                    ticket.error = Forbidden(
                        f"{run} was told in another collection than {place.collection!r}"
                    )
                    await self._remove(place, [run])
                elif len(owners[name]) > 1:  # it may have been taken for another's, and passed over
                    await self._change(f"{updates.disown(name, place.facts)} ;\n{ticket.call.insert()}")
                elif name in gone:
                    await self._erase(place, [run])

    async def erase(self, collection: str, session_uris: Sequence[str]) -> int:
        """Erase runs and the runs of their tools; what comes of them later, within 30 days, is passed over."""
        self._open()
        place = Place(collection_of(collection))
        uris = [uri for uri in dict.fromkeys(session_uris) if is_iri(uri)]
        if not uris:
            return 0
        return await self._erase(place, await self._told(lists.known(place, uris)))

    async def erase_collection(self, collection: str) -> int:
        """Erase all runs of a collection. What begins meanwhile may stay."""
        self._open()
        place = Place(collection_of(collection))
        return await self._erase(place, await self._told(lists.everything(place)))

    async def _erase(self, place: Place, runs: Sequence[str]) -> int:
        gone: dict[str, None] = {}
        while runs := [run for run in runs if run not in gone]:
            gone |= dict.fromkeys(runs)
            await self._change(updates.bury(place, runs, self._now().isoformat()))
            await self._remove(place, runs)
            # Looked for afterwards: a tool that begins from now on finds its run erased.
            runs = await self._told(lists.children(place, runs))
        if gone:
            await self._change(updates.forget((self._now() - REMEMBERED).isoformat()))
        return len(gone)

    async def _remove(self, place: Place, runs: Sequence[str]) -> None:
        graphs = [place.default, *await self._graphs(place)]
        for start in range(0, len(runs), FAMILY):
            await self._change(updates.erase(place, runs[start : start + FAMILY], graphs))

    async def _change(self, text: str) -> None:
        try:
            await self._client.update(text)
        except Refusal as refusal:
            raise self._client.incompatible(refusal) from refusal

    # --- reading ----------------------------------------------------------------------------------

    async def list(
        self, collection: str, *, limit: int = 50, where: TraceFilter = EVERY_RUN, after: str = ""
    ) -> Sequence[TraceRow]:
        """The newest runs of ``collection`` that ``where`` wants. The server sorts what a page may begin with."""
        self._open()
        if limit < 1:
            return ()
        place = Place(collection_of(collection))
        found = await self._client.rows(lists.page(place, limit, where, after))
        runs = dict.fromkeys(f"<{row['run']['value']}>" for row in found)
        if not runs:
            return ()
        facts: dict[str, dict[str, set[str]]] = {run: defaultdict(set) for run in runs}
        for row in await self._client.rows(lists.facts_of(place, runs)):
            name = row["p"]["value"].removeprefix("urn:clew:index:")
            facts[f"<{row['run']['value']}>"][name].add(row["o"]["value"])
        # A run that was erased between the two queries has none.
        return tuple(row_of(place.collection, each) for each in facts.values() if "run" in each)

    async def run(self, collection: str, session_uri: str) -> Sequence[Triple]:
        """The quads of one run. A typed literal may come back in another spelling of the same value."""
        self._open()
        place = Place(collection_of(collection))
        if not is_iri(session_uri):
            return ()
        graphs = await self._graphs(place)
        found = await self._client.rows(lists.quads_of_run(place, iri_text(session_uri), tuple(graphs)))
        quads = (
            Triple(
                s=term_of(row["s"]),
                p=term_of(row["p"]),
                o=term_of(row["o"]),
                g=graphs[f"<{row['g']['value']}>"] if "g" in row else None,
            )
            for row in found
        )
        return tuple({quad.model_dump_json(): quad for quad in quads}.values())

    async def collections(self) -> Sequence[str]:
        """The collections that have runs, in order."""
        self._open()
        found = await self._client.rows(lists.COLLECTION_NAMES)
        return sorted({row["name"]["value"] for row in found})

    async def query(self, collection: str, sparql: str, *, seconds: float, limit: int) -> QueryResult:
        """A question in SPARQL. A variable of GRAPH ranges over the graphs in which something was told.

        In the default graph, a triple that was told in two graphs may be found twice.
        """
        self._open()
        if seconds <= 0:
            raise BadRequest(f"a query needs time to be answered: more than {seconds:g} s")
        place = Place(collection_of(collection))
        asked = question(sparql, place, limit=limit + 1)
        try:
            async with asyncio.timeout(seconds):
                graphs = [graph[1:-1] for graph in await self._graphs(place)]
                parameters = {
                    "query": asked.text,
                    "default-graph-uri": [place.default[1:-1], *graphs],
                    "named-graph-uri": [place.names[1:-1], *graphs],
                    "timeout": f"{seconds:g}",
                }
                return await ask(self._client, asked.form, parameters, seconds=seconds, limit=limit)
        except TimeoutError as error:
            raise DeadlineExceeded(f"the query was not answered within {seconds:g} s") from error
        except Refusal as refusal:
            raise BadRequest(f"the SPARQL server refuses the query: {refusal}") from refusal

    async def close(self) -> None:
        """Let go of the connections. Idempotent."""
        self._closed = True
        await self._client.close()

    async def _graphs(self, place: Place) -> dict[str, str]:
        """The graphs in which something was told, in SPARQL, and what they stand for."""
        found = await self._client.rows(lists.graphs_of(place))
        return {f"<{row['g']['value']}>": term_of(row["name"]).iri for row in found}

    async def _told(self, sparql: str) -> Sequence[str]:
        return sorted({row["told"]["value"] for row in await self._client.rows(sparql)})

    async def _knows_triple_terms(self) -> bool:
        if self._triple_terms is None:
            try:
                answer = await self._client.results({"query": _PROBE}, 10.0)
            except Refusal:
                self._triple_terms = False
            except DeadlineExceeded as error:
                raise StoreFailed(str(error)) from error
            else:
                self._triple_terms = '"triple"' in str(answer).replace("'", '"')
        return self._triple_terms

    def _open(self) -> None:
        if self._closed:
            raise StoreFailed("the trace store was closed")


def _groups(calls: Iterable[tuple[_Ticket, str]]) -> Sequence[Sequence[tuple[_Ticket, str]]]:
    """Calls that are written by one request each."""
    groups: list[list[tuple[_Ticket, str]]] = []
    size = 0
    for ticket, text in calls:
        size += len(text)
        if not groups or size > MOST_AT_ONCE:
            groups.append([])
            size = len(text)
        groups[-1].append((ticket, text))
    return groups
