"""What a trace store sends to a SPARQL server, and what it makes of one that misbehaves. Needs no server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import httpx
import pyoxigraph as ox
import pytest
from pydantic import SecretStr

from clew_services.adapters.stores import sparql_updates as updates
from clew_services.adapters.stores.sparql_client import SparqlClient, SparqlServer
from clew_services.adapters.stores.sparql_index import Place
from clew_services.adapters.stores.sparql_questions import question
from clew_services.adapters.stores.trace_sparql import SparqlTraceStore
from clew_services.errors import BadRequest, DeadlineExceeded, StoreFailed, StoreIncompatible
from clew_services.settings import Settings
from clew_services.wiring.traces import sparql_traces_of
from tests.contract.trace_stores import run, uri
from tests.translators.runs import asked


def answering(handler: Callable[[httpx.Request], httpx.Response], **who: SecretStr | str) -> SparqlTraceStore:
    server = SparqlServer(query_url="http://sparql/q", update_url="http://sparql/u", **who)  # type: ignore[arg-type] # each test its own
    return SparqlTraceStore(SparqlClient(server, transport=httpx.MockTransport(handler)), triple_terms=True)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        *((status, StoreFailed) for status in (500, 502, 503, 429, 408)),
        *((status, StoreIncompatible) for status in (400, 401, 403, 404)),
    ],
)
async def test_what_a_status_means(status: int, error: type[Exception]) -> None:
    store = answering(lambda _: httpx.Response(status, text="because"))
    for action in (store.add([asked("s", 1)]), store.list("manuals"), store.erase("manuals", ["urn:x"])):
        with pytest.raises(error, match="because"):
            await action


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"results": 7}', "<html>"])
async def test_a_reply_that_is_none_is_a_failure(body: str) -> None:
    store = answering(lambda _: httpx.Response(200, text=body))
    for action in (store.list("manuals"), store.collections(), store.run("manuals", "urn:x")):
        with pytest.raises(StoreFailed):
            await action


async def test_a_token_is_sent_and_not_shown() -> None:
    sent = []

    def handler(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers["Authorization"])
        return httpx.Response(403, text="no")

    store = answering(handler, token=SecretStr("t0ken"))
    with pytest.raises(StoreIncompatible) as raised:
        await store.list("manuals")
    assert sent == ["Bearer t0ken"]
    assert "t0ken" not in str(raised.value) + repr(raised.value.__cause__)


async def test_a_slow_server_is_not_waited_for() -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            for _turn in range(100):  # one byte now and then, so that no single read takes long
                writer.write(b"H")
                await writer.drain()
                await asyncio.sleep(0.05)
        except OSError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    store = SparqlTraceStore(
        SparqlClient(SparqlServer(query_url=url, update_url=url), timeout=0.3), triple_terms=True
    )
    began = time.monotonic()
    with pytest.raises(StoreFailed):
        await store.list("manuals")
    with pytest.raises(StoreFailed):
        await store.add([asked("s", 1)])
    with pytest.raises(DeadlineExceeded, match=r"0\.2"):
        await store.query("manuals", "ASK {}", seconds=0.2, limit=1)
    assert time.monotonic() - began < 3
    await store.close()
    server.close()


@pytest.mark.parametrize(
    "sparql",
    [
        "SELECT * { ?s ?p ?o SERVICESILENT<http://x/> { ?a ?b ?c } }",
        "SELECT * { ?s ?p ?o SERVICE:x { ?a ?b ?c } }",
        "SELECT * { ?s ?p trueSERVICE:x { ?a ?b ?c } }",
        "SELECT * { ?s ?p trueService<http://x/> { ?a ?b ?c } }",
        "SELECT * { ?s ?p ?o FILTER(?o<1)SERVICE:x#>\n { ?a ?b ?c } }",
        "SELECT * { " + "a." * 49_000,
        "PREFIX e: <urn:e> SELECT * { ?s e:a\\' ?o SERVICE <http://127.0.0.1:1/> { ?a ?b ?c } } #'",
        "SELECT * { ?s ?p '\\u0027 } SERVICE <http://x/> { ' }",
        'SELECT * { ?s ?p """""" . SERVICE <http://x/> { ?a ?b """""" } }',
        "SELECT * { ?s ?p 'a' SERVICE ?x { ?a ?b 'c' } }",
        "SELECT * { { ?s ?p ?o } } } SERVICE <http://x/> {",
        "SELECT * { ?s ?p ?o FILTER(?o <?p && ?s> 1) SERVICE <http://x/> { ?a ?b ?c } }",
        "SELECT * { ?s ?p ?o } # \r\nFROM <urn:x>",
        "SELECT * FROM<urn:x>{ ?s ?p ?o }",
        "SELECT * { GRAPH nothing:p { ?s ?p ?o } }",
        "SELECT * { ?s ?p 'not ended }",
        "SELECT * " + "{" * 200 + "}" * 200,
        "SELECT * { ?s ?p ?o } ; DROP ALL",
        "LOAD <file:///etc/passwd>",
    ],
)
async def test_what_hides_in_a_query_is_found_before_it_is_sent(sparql: str) -> None:
    def unasked(request: httpx.Request) -> httpx.Response:
        raise AssertionError(f"sent: {request.content!r}")

    with pytest.raises(BadRequest):
        await answering(unasked).query("manuals", sparql, seconds=1, limit=1)


async def test_functions_are_sent_as_every_server_reads_them() -> None:
    """Oxigraph 0.5 takes a space before the bracket of ``CONCAT`` and ``COALESCE`` for an error."""
    text = "ASK { FILTER(COALESCE (CONCAT('a', 'b'), -1) = 'ab' && 2 -1 = 1 && 1 IN (1, 2)) }"
    sent = question(text, Place("c"), limit=1).text
    assert bool(ox.Store().query(sent))


async def test_both_addresses_are_needed_and_lead_to_this_store() -> None:
    url = "http://127.0.0.1:9/sparql"
    with pytest.raises(ValueError, match="CLEW_TRACE_SPARQL_UPDATE"):
        Settings(trace_sparql_query=url)
    store = sparql_traces_of(Settings(trace_sparql_query=url, trace_sparql_update=url))
    with pytest.raises(StoreFailed, match=r"127\.0\.0\.1:9"):
        await store.collections()
    await store.close()


async def test_a_run_begins_and_is_erased_by_texts_alone() -> None:
    """Whatever a collection is called, and whoever asked: what is sent is one well-formed update."""
    dataset = ox.Store()
    hostile = '"> } } ; DROP ALL ; # \\ \n ?x'
    call = updates.call_of(run("s", 1, person=hostile, query=hostile, collection=hostile), triple_terms=True)
    dataset.update(call.insert())
    assert len(dataset) > 10
    place = Place(hostile)
    dataset.update(updates.bury(place, [uri("s")], "2026"))
    dataset.update(
        updates.erase(
            place,
            [uri("s")],
            [place.default, place.graph("urn:graph:retrieval"), place.graph("urn:graph:provenance")],
        )
    )
    assert [quad.graph_name.value for quad in dataset if isinstance(quad.graph_name, ox.NamedNode)] == [
        "urn:clew:erased"
    ]
