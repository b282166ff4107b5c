"""What is read of a query before an engine sees it: keywords wherever they stand, in time that grows with the text."""

from __future__ import annotations

import time

import pytest

from clew_services.adapters.stores.sparql_text import LONGEST_QUERY, check_question
from clew_services.errors import BadRequest, ClewError


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { SERVICE <urn:x> {} }",
        "ASK { ?s ?p true.SERVICE <urn:x> {} }",
        "ASK { ?s ?p 1.SERVICE <urn:x> {} }",
        "ASK { ?s ?p 1.0e1.SERVICE<urn:x>{} }",
        "ASK { ?s ?p ?o.SERVICE <urn:x> {} }",
        'ASK { ?s ?p "x"@en.SERVICE <urn:x> {} }',
        "ASK { ?s ?p 'x'SERVICE <urn:x> {} }",
        "ASK { ?s a:b\tSERVICE <urn:x> {} }",
        "ASK { ?s ?p _:b SERVICE <urn:x> {} }",
        "ASK { ?s ?p ()SERVICE <urn:x> {} }",
        "ASK { {}SERVICE <urn:x> {} }  # '",
        "ASK { ?s ?p 'it\\'s' SERVICE <urn:x> {} }",
        "ASK { ?s ?p '''it's''''' SERVICE <urn:x> {} }",
        "ASK { ?s ?p ?o FILTER(1 < 2) SERVICE <urn:x> {} FILTER(2 > 1) }",
        # What follows is no SPARQL, and pyoxigraph takes it for some.
        "ASK { SERVICESILENT<urn:x>{ ?s ?p ?o } }",
        "PREFIX : <urn:x> ASK { SERVICE:x { ?s ?p ?o } }",
        "ASK { ?s ?p trueSERVICE:x {} }",
        "ASK { ?s ?p trueService<urn:x> {} }",
        "ASK { ?s ?p 1e1SERVICE<urn:x> {} }",
        "ASK { ?s ?p ex:.SERVICE <urn:x> {} }",
        "ASK { OPTIONAL { ?s ?p ex:a\\' } SERVICE <urn:x> {} #'\n }",
        "ASK { ?s ?p ?o FILTER(?o<1)SERVICE:x#>\n{ ?s ?p ?o } }",
        "SELECT * { ?s e:a\\' ?o SERVICE <urn:x> {} } #'",
        "SELECT * { ?s :a\\' ?o SERVICE <urn:x> {} } #'",
    ],
)
def test_a_keyword_is_found_wherever_it_stands(text: str) -> None:
    with pytest.raises(BadRequest, match="SERVICE is refused"):
        check_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "PREFIX load: <urn:service#> SELECT * { ?SERVICE load:from load:SERVICE.load }",
        "PREFIX from: <urn:x#> ASK { ?s from:x :LOAD ; <http://x/(service)> 'customer service' }",
        "PREFIX e: <urn:x#> ASK { ?s e:it\\'s e:SERVICE\\(1\\) }",
        "BASE <urn:SERVICE> ASK { <SERVICE> $from 'SERVICE \\' LOAD'@SERVICE }  # SERVICE",
    ],
)
def test_names_and_texts_are_no_keywords(text: str) -> None:
    check_question(text)


@pytest.mark.parametrize("text", ["ASK { ?s ?p 'x }", 'ASK { ?s ?p "x\\" }', "ASK { ?s ?p 'x\n' }"])
def test_a_text_that_is_not_closed_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="not closed: it begins at character 13"):
        check_question(text)


N = LONGEST_QUERY


@pytest.mark.parametrize(
    "text",
    [
        "1" * N,
        "1." * (N // 2),
        "_-" * (N // 2),
        "é" * N,
        "a:" * (N // 2),
        ":" * N,
        "<" * N,
        "<a" * (N // 2),
        "<" + "a" * (N - 1),
        "'" * N,
        '"\\' * (N // 2),
        '"""' + 'a""' * (N // 3 - 1),
        "\\u0041" * (N // 6),
        "#" * N,
        "?" * N,
        "{" * N,
    ],
    ids=lambda text: text[:8],
)
def test_no_text_takes_long_to_look_at(text: str) -> None:
    began = time.process_time()
    with pytest.raises(ClewError):
        check_question(text)
    # 0.1 s where nobody else computes; what grows with the square takes minutes
    assert time.process_time() - began < 2
