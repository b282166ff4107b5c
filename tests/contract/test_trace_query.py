"""What every trace store promises of questions in SPARQL: read only, one collection, bounded."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

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


# --- what nobody may ask for ----------------------------------------------------------------------

HOSTILE = (
    "../others",
    "urn:graph:runs",
    "urn:graph:retrieval",
    "shared",
    "> <urn:x",
    "others\x00",
    "'; DROP ALL",
    "",
)


async def test_names_of_collections_are_text_and_find_nothing_of_another(store: TraceStore) -> None:
    await store.add([asked("theirs", 1, collection="others"), *runs.DOCUMENT_BATCHES])
    anything = "ASK { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
    for collection in HOSTILE:
        assert (await ask(store, anything, collection)).boolean is False, collection
    assert (await ask(store, anything, "others")).boolean


async def test_a_graph_that_is_named_is_one_of_the_collection_or_empty(store: TraceStore) -> None:
    """Neither the store's own graph nor those in which another collection's quads may stand can be guessed."""
    others = [asked("theirs", 1, collection="others"), asked("mine", 1)]
    await store.add([*others, *runs.DOCUMENT_BATCHES])
    found = await ask(store, "SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } }", "others")
    names = {term.iri for row in found.rows for term in row if term}
    assert names == {"urn:graph:retrieval", PROVENANCE}
    guesses = ("urn:graph:runs", "urn:clew:runs", "urn:clew:of:others:urn%3Agraph%3Aretrieval")
    for guess in guesses:
        for collection in ("manuals", "others"):
            assert (
                await ask(store, f"ASK {{ GRAPH <{guess}> {{ ?s ?p ?o }} }}", collection)
            ).boolean is False
    subjects = await ask(store, f"SELECT ?p WHERE {{ <{uri('mine')}> ?p ?o }}", "others")
    assert subjects.rows == ()


ENDLESS = {
    "cross product": "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }",
    "path": "SELECT (COUNT(*) AS ?n) { ?a (!<urn:x>|^!<urn:x>)* ?b . ?c (!<urn:x>|^!<urn:x>)* ?d . FILTER(?a != ?d) }",
    "construct": "CONSTRUCT { ?a ?e ?i } { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l "
    "FILTER(STRLEN(CONCAT(STR(?c), STR(?f), STR(?i), STR(?l))) < 0) }",
    "text": "ASK { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(REGEX(CONCAT(STR(?c), STR(?f), STR(?i)), '(x+x+)+y#')) }",
}
"""Questions that would take more than a person's life, or a computer's memory."""


def answering() -> list[int]:
    """The processes that answer queries for this one."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            asks = b"oxigraph_query_process" in (place / "cmdline").read_bytes()
            status = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        if asks and int(status[1]) == os.getpid():
            found.append(int(place.name))
    return found


@pytest.mark.parametrize("sparql", ENDLESS.values(), ids=ENDLESS)
async def test_what_has_no_end_is_cut_and_burns_nothing_afterwards(store: TraceStore, sparql: str) -> None:
    for number in range(4):
        await store.add(runs.told(runs.DOCUMENT_STEPS, session_id=str(number)))
    began = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        await store.query("manuals", sparql, seconds=2, limit=10)
    assert time.monotonic() - began < 8
    assert answering() == []


async def test_whoever_gives_up_ends_the_query(store: TraceStore) -> None:
    for number in range(4):
        await store.add(runs.told(runs.DOCUMENT_STEPS, session_id=str(number)))
    asking = asyncio.create_task(store.query("manuals", ENDLESS["cross product"], seconds=60, limit=10))
    await asyncio.sleep(1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    async with asyncio.timeout(5):
        while answering():
            await asyncio.sleep(0.05)
    assert (await ask(store, "ASK { ?s ?p ?o }")).boolean


@pytest.mark.parametrize("seconds", [0.0, -1.0])
async def test_no_time_is_no_query(store: TraceStore, seconds: float) -> None:
    with pytest.raises(BadRequest):
        await store.query("manuals", "ASK {}", seconds=seconds, limit=1)
