"""What only a trace store on a SPARQL server promises. What it promises as others do is in the modules beside this."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from clew_schema.rdf import Metadata, Term, Triple, Triples, iri, literal
from clew_services.adapters.stores.oxigraph_terms import from_quad
from clew_services.adapters.stores.sparql_client import SparqlClient, SparqlServer
from clew_services.adapters.stores.sparql_terms import quads_of
from clew_services.adapters.stores.trace_sparql import SparqlTraceStore
from clew_services.errors import (
    Forbidden,
    StoreFailed,
    StoreIncompatible,
    Unreadable,
)
from tests.contract.test_trace_store import KINDS_OF_TERM, batch_of
from tests.contract.trace_stores import found, sparql_server, uri
from tests.servers import Fuseki, Oxigraph
from tests.translators import runs
from tests.translators.runs import asked, once, shown
from tests.translators.strategies import STAR_STATEMENTS

KINDS = ("OXIGRAPH", "FUSEKI")


@pytest.fixture(params=KINDS)
async def client(request: pytest.FixtureRequest) -> AsyncIterator[SparqlClient]:
    made = SparqlClient(sparql_server(str(request.param)))
    await made.update("CLEAR ALL")
    yield made
    await made.close()


@pytest.fixture
def store(client: SparqlClient) -> SparqlTraceStore:
    return SparqlTraceStore(client)


async def ask(
    store: SparqlTraceStore, sparql: str, collection: str = "manuals"
) -> list[tuple[Term | None, ...]]:
    return list((await store.query(collection, sparql, seconds=10, limit=1_000)).rows)


# --- on both servers ------------------------------------------------------------------------------


@pytest.mark.servers
@settings(
    max_examples=15,
    suppress_health_check=list(HealthCheck),
    deadline=None,
    phases=(Phase.explicit, Phase.generate),  # to shrink against a server takes minutes
)
@given(statements=st.lists(STAR_STATEMENTS, min_size=1, max_size=12), native=st.booleans())
async def test_any_statements_come_back(
    client: SparqlClient, statements: list[Triple], *, native: bool
) -> None:
    await client.update("CLEAR ALL")
    store = SparqlTraceStore(client, triple_terms=None if native else False)
    batch = Triples(metadata=Metadata(root="urn:run:x", collection="c"), triples=tuple(statements))
    await store.add([batch])
    assert shown(await store.run("c", "urn:run:x")) == shown(
        {from_quad(quad) for quad in quads_of(statements)}
    )
    assert await store.erase("c", ["urn:run:x"]) == 1
    left = await client.rows("SELECT ?g ?s WHERE { GRAPH ?g { ?s ?p ?o } FILTER(?g != <urn:clew:erased>) }")
    assert left == []


@pytest.mark.servers
async def test_a_server_without_triple_terms_loses_nothing(client: SparqlClient) -> None:
    store = SparqlTraceStore(client, triple_terms=False)
    batch = batch_of("urn:run:x", KINDS_OF_TERM)
    await store.add([batch])
    assert shown(await store.run("manuals", "urn:run:x")) == shown(batch.triples)


@pytest.mark.servers
async def test_names_that_imitate_ours_reach_nothing(store: SparqlTraceStore) -> None:
    """Graphs and subjects named as the store names its own, and as another collection's are."""
    await store.add([asked("theirs", 1, collection="theirs")])
    found_graphs = await store._client.rows("SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } }")
    names = [row["g"]["value"] for row in found_graphs]
    assert len(names) > 5
    quads = dict.fromkeys(
        Triple(s=iri(name), p=iri("urn:clew:index:owner"), o=literal("mine"), g=graph)
        for name in [uri("theirs"), "urn:clew:term:b:x", "urn:clew:term:i:urn%3Ax", *names]
        for graph in [None, "urn:clew:owners", "urn:clew:erased", "a:b> { } } ; DROP ALL #", *names]
        if graph is None or ">" not in graph
    )
    batch = Triples(metadata=Metadata(root="urn:run:mine", collection="mine"), triples=tuple(quads))
    await store.add([batch])
    assert shown(await store.run("mine", "urn:run:mine")) == shown(quads)
    assert [row.session_uri for row in await store.list("theirs")] == [uri("theirs")]
    assert shown(await store.run("theirs", uri("theirs"))) == once([asked("theirs", 1, collection="theirs")])
    mine = await ask(store, "SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } }", "mine")
    assert {row[0].iri for row in mine if row[0]} == {quad.g for quad in quads if quad.g}
    for graph in names:
        assert not await ask(
            store, f"SELECT * {{ GRAPH <{graph}> {{ ?s ?p ?o FILTER(?o != 'mine') }} }}", "mine"
        )
    assert not await ask(store, "SELECT * { ?s ?p ?o FILTER(?o != 'mine') }", "mine")
    assert await store.erase("mine", ["urn:run:mine", uri("theirs")]) == 1
    assert await store.run("theirs", uri("theirs"))


@pytest.mark.servers
async def test_what_breaks_out_of_a_term_is_no_term(store: SparqlTraceStore) -> None:
    for bad in ("urn:a> } } ; DROP ALL ; #", "urn:a\n", "urn:\ud800"):
        batch = Triples(
            metadata=Metadata(root="urn:run:x", collection="c"),
            triples=(Triple(s=iri(bad), p=iri("urn:p"), o=literal("x")),),
        )
        with pytest.raises(Unreadable):
            await store.add([batch])
    assert list(await store.collections()) == []


@pytest.mark.servers
async def test_of_writers_of_a_run_in_several_collections_one_keeps_it(client: SparqlClient) -> None:
    """At once, then again: a server that lets updates overlap may have let two begin."""
    stores = [SparqlTraceStore(client) for _ in range(6)]
    told = [asked("s", 1, collection=f"c{number}") for number in range(6)]

    async def all_tell() -> list[BaseException | None]:
        telling = (each.add([batch]) for each, batch in zip(stores, told, strict=True))
        ends = await asyncio.gather(*telling, return_exceptions=True)
        assert {type(end) for end in ends} == {type(None), Forbidden}
        return ends

    await all_tell()
    ends = await all_tell()
    assert ends.count(None) == 1
    winner = [name for name in [f"c{number}" for number in range(6)] if await stores[0].run(name, uri("s"))]
    assert list(await stores[0].collections()) == winner == [f"c{ends.index(None)}"]


@pytest.mark.servers
async def test_what_is_told_while_its_run_is_erased_does_not_stay(client: SparqlClient) -> None:
    stores = [SparqlTraceStore(client) for _ in range(4)]
    for number in range(5):
        batch = asked(str(number), number)
        await stores[0].add([batch])
        await asyncio.gather(
            stores[1].erase("manuals", [uri(str(number))]), *(each.add([batch]) for each in stores)
        )
    assert list(await stores[0].collections()) == []


@pytest.mark.servers
async def test_a_bad_call_does_not_harm_those_that_are_written_with_it(store: SparqlTraceStore) -> None:
    await store.add([asked("theirs", 1, collection="others")])
    good = [store.add([asked(str(number), number)]) for number in range(5)]
    ends = await asyncio.gather(
        *good, store.add([asked("theirs", 2), asked("new", 3)]), return_exceptions=True
    )
    assert [type(end) for end in ends] == [type(None)] * 5 + [Forbidden]
    assert [row.session_uri for row in await store.list("manuals")] == [uri(str(n)) for n in (4, 3, 2, 1, 0)]


@pytest.mark.servers
async def test_graphs_are_asked_for_as_they_were_told(store: SparqlTraceStore) -> None:
    await store.add(found("a", 1, "text"))
    provenance = await ask(store, "SELECT ?s { GRAPH <urn:graph:provenance> { ?s ?p ?o } }")
    assert provenance
    same = "PREFIX g: <urn:graph:> SELECT ?s { GRAPH g:provenance { ?s ?p -1.5 } UNION { GRAPH g:provenance { ?s ?p ?o } } }"
    for text in (
        "PREFIX g: <urn:graph:> SELECT ?s { GRAPH g:provenance { ?s ?p ?o } }",
        "SELECT ?s { GRAPH ?g { ?s ?p ?o } FILTER(?g = <urn:graph:provenance>) }",
        "SELECT ?s { VALUES ?g { <urn:graph:provenance> } GRAPH ?g { ?s ?p ?o } }",
        "SELECT ?s { GRAPH $g { ?s ?p ?o } FILTER(STRENDS(STR(?g), 'provenance')) }",
        same.replace("{ GRAPH g:provenance { ?s ?p -1.5 }", "{ { GRAPH g:provenance { ?s ?p -1.5 } }"),
    ):
        assert sorted(map(repr, await ask(store, text))) == sorted(map(repr, provenance)), text
    every = await store.query("manuals", "SELECT * { GRAPH ?g { ?s ?p ?o } }", seconds=10, limit=1)
    assert set(every.variables) == {"g", "s", "p", "o"}


# --- what a server of our own has to show ---------------------------------------------------------


@pytest.mark.servers
@pytest.mark.parametrize("kind", [Oxigraph, partial(Fuseki, durable=True)], ids=["oxigraph", "fuseki"])
async def test_a_restart_loses_nothing_and_is_told_as_a_failure_that_passes(
    kind: Callable[[], Oxigraph | Fuseki],
) -> None:
    with kind() as server:
        store = SparqlTraceStore(
            SparqlClient(SparqlServer(query_url=server.query_url, update_url=server.update_url))
        )
        batches = runs.DOCUMENT_BATCHES
        await store.add(batches[:1])
        server.kill()
        with pytest.raises(StoreFailed):
            await store.add(batches[1:])
        with pytest.raises(StoreFailed):
            await store.list("manuals")
        server.restart()
        await store.add(batches)
        root = f"urn:trustgraph:docrag:{runs.SESSION}"
        assert shown(await store.run("manuals", root)) == once(batches)
        await store.close()


@pytest.mark.servers
async def test_a_password_lets_in_and_is_never_shown() -> None:
    with Fuseki(password="s3cret") as server:
        right, wrong = (
            SparqlServer(
                query_url=server.query_url,
                update_url=server.update_url,
                user="clew",
                password=SecretStr(word),
            )
            for word in ("s3cret", "wr0ng")
        )
        store = SparqlTraceStore(SparqlClient(right))
        await store.add([asked("s", 1)])
        assert len(await store.list("manuals")) == 1
        refused = SparqlTraceStore(SparqlClient(wrong), triple_terms=True)
        for action in (refused.list("manuals"), refused.add([asked("t", 2)]), refused.collections()):
            with pytest.raises(StoreIncompatible, match="401") as raised:
                await action
            assert "wr0ng" not in repr(raised.value.__cause__) + str(raised.value)
        assert "s3cret" not in repr(right)
        await store.close()
        await refused.close()


def test_the_servers_are_named_where_tests_find_them() -> None:
    assert Oxigraph().environment().keys() | Fuseki().environment().keys() == {
        f"CLEW_TEST_{kind}_{what}" for kind in KINDS for what in ("QUERY", "UPDATE")
    }
