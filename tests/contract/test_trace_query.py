"""What every trace store promises of questions in SPARQL: read only, one collection, bounded."""

from __future__ import annotations

import asyncio
import time

import pytest

from clew_schema.rdf import iri, literal
from clew_services.errors import BadRequest, DeadlineExceeded
from clew_services.ports import QueryResult, TraceStore
from tests.contract.trace_stores import run, uri
from tests.translators import runs
from tests.translators.runs import asked

QUERIES = "SELECT DISTINCT ?q WHERE { ?run <https://trustgraph.ai/ns/query> ?q } ORDER BY ?q"
PROVENANCE = "urn:graph:provenance"


async def ask(store: TraceStore, sparql: str, collection: str = "manuals", limit: int = 1_000) -> QueryResult:
    return await store.query(collection, sparql, seconds=20, limit=limit)


async def test_select_binds_terms_in_the_order_of_the_variables(store: TraceStore) -> None:
    await store.add([asked("a", 1)])
    result = await ask(
        store, "SELECT DISTINCT ?q ?none ?run WHERE { ?run <https://trustgraph.ai/ns/query> ?q }"
    )
    assert result == QueryResult(
        variables=("q", "none", "run"), rows=((literal("question a"), None, iri(uri("a"))),)
    )


async def test_ask_construct_and_describe(store: TraceStore) -> None:
    await store.add(runs.DOCUMENT_BATCHES)
    yes = await ask(store, "ASK { ?s ?p ?o }")
    no = await ask(store, "ASK { <urn:nothing> ?p ?o }")
    assert (yes.boolean, no.boolean, yes.rows, yes.triples) == (True, False, (), ())
    made = await ask(store, "CONSTRUCT { ?s <urn:q> ?q } WHERE { ?s <https://trustgraph.ai/ns/query> ?q }")
    assert {(t.s, t.p, t.o) for t in made.triples} == {
        (iri(f"urn:trustgraph:docrag:{runs.SESSION}"), iri("urn:q"), literal(runs.ASKED.query))
    }
    assert made.boolean is None
    described = await ask(store, f"DESCRIBE <urn:trustgraph:docrag:{runs.SESSION}>")
    assert described.triples


async def test_graphs_are_those_in_which_it_was_told_and_no_other(store: TraceStore) -> None:
    await store.add([*runs.DOCUMENT_BATCHES, *run("plain", 5)])
    result = await ask(store, "SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } }")
    assert {term.iri for row in result.rows for term in row if term} == {"urn:graph:retrieval", PROVENANCE}
    both = await ask(store, "SELECT DISTINCT ?g ?p WHERE { GRAPH ?g { ?s ?p ?o } }")
    everywhere = await ask(store, "SELECT DISTINCT ?p WHERE { ?s ?p ?o }")
    assert {row[1] for row in both.rows} == {row[0] for row in everywhere.rows}


async def test_every_run_of_the_collection_and_no_other(store: TraceStore) -> None:
    """Also those told before anything was found in the collection, which may stand elsewhere."""
    await store.add([asked("a", 1), asked("x", 1, collection="others"), asked("y", 1, collection="third")])
    assert [row[0] for row in (await ask(store, QUERIES)).rows] == [literal("question a")]
    await store.add([*runs.DOCUMENT_BATCHES, asked("b", 2)])
    texts = ["What is the return policy?", "question a", "question b"]
    assert [row[0] for row in (await ask(store, QUERIES)).rows] == [literal(text) for text in texts]
    assert [row[0] for row in (await ask(store, QUERIES, "others")).rows] == [literal("question x")]
    assert (await ask(store, QUERIES, "nowhere")).rows == ()


async def test_rows_and_triples_are_bounded(store: TraceStore) -> None:
    await store.add([asked(f"{number:02}", number) for number in range(20)])
    result = await ask(store, QUERIES, limit=3)
    assert ([row[0] for row in result.rows], result.truncated) == (
        [literal(f"question {number:02}") for number in range(3)],
        True,
    )
    exact = await ask(store, QUERIES, limit=20)
    assert (len(exact.rows), exact.truncated) == (20, False)
    made = await ask(store, "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }", limit=5)
    assert (len(made.triples), made.truncated) == (5, True)


@pytest.mark.parametrize(
    ("sparql", "why"),
    [
        ("INSERT DATA { <urn:a> <urn:b> <urn:c> }", "INSERT|read"),
        ("DELETE WHERE { ?s ?p ?o }", "DELETE|read"),
        ("DROP ALL", "DROP|read"),
        ("CLEAR GRAPH <urn:graph:retrieval>", "CLEAR|read"),
        ("LOAD <http://127.0.0.1:1/x>", "LOAD|read"),
        ("SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }", "SERVICE"),
        ("SELECT * { service silent<http://127.0.0.1:1/>{ ?s ?p ?o } }", "SERVICE"),
        ("SELECT * { SERV\\u0049CE <http://127.0.0.1:1/> { ?s ?p ?o } }", "SERVICE"),
        ("SELECT * FROM <urn:graph:runs> { ?s ?p ?o }", "FROM"),
        ("SELECT * FROM NAMED <urn:x> { ?s ?p ?o }", "FROM"),
        ("ASK FROM <file:///etc/passwd> { ?s ?p ?o }", "FROM"),
        ("SELECT", "SPARQL|query"),
        ("", "SELECT, ASK"),
        ("SELECT * { ?s ?p", "SPARQL|query"),
        ("SELECT * { ?s nothing:p ?o }", "SPARQL|query"),
    ],
)
async def test_what_is_no_question_is_refused(store: TraceStore, sparql: str, why: str) -> None:
    await store.add(runs.DOCUMENT_BATCHES)
    with pytest.raises(BadRequest, match=why):
        await ask(store, sparql)
    assert await store.run("manuals", f"urn:trustgraph:docrag:{runs.SESSION}")


async def test_words_in_texts_names_and_comments_are_no_keywords(store: TraceStore) -> None:
    await store.add([asked("a", 1)])
    sparql = """PREFIX from: <urn:service/>  # SERVICE <http://x/> LOAD FROM
    SELECT DISTINCT ?service (" SERVICE FROM 'INSERT" AS ?from) WHERE {
      ?service <https://trustgraph.ai/ns/query> ?q . OPTIONAL { ?service from:service ?load }
      FILTER(?q != '''DROP "FROM" ''' && lang(?q) != "SERVICE"@from) }"""
    assert len((await ask(store, sparql)).rows) == 1


async def test_a_query_that_takes_too_long_is_ended_and_holds_up_nobody(store: TraceStore) -> None:
    for number in range(4):
        await store.add(runs.told(runs.DOCUMENT_STEPS, session_id=str(number)))
    endless = "SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
    began = time.monotonic()
    slow = asyncio.create_task(store.query("manuals", endless, seconds=1.5, limit=10))
    await asyncio.sleep(0.3)
    await asyncio.wait_for(store.add([asked("meanwhile", 9)]), 1.0)
    assert not slow.done()
    with pytest.raises(DeadlineExceeded, match=r"1\.5"):
        await slow
    assert time.monotonic() - began < 8
    assert (await ask(store, "ASK { ?s ?p ?o }")).boolean
