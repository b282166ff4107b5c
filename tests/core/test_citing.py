"""From [n] to a span: what is cited, what is quoted, on which page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.evidence import Citation, Evidence
from clew_services.core.answer import Draft, Quote
from clew_services.core.citing import cited, disarm, resolve, unresolved

DOCUMENT = "Zero. First sentence.\fSecond sentence. Third."
EVIDENCE = (
    Evidence(
        chunk_id="urn:chunk:a",
        document_id="urn:document:d",
        version="v",
        filename="f.pdf",
        page=4,
        page_end=5,
        start=6,
        end=45,
        text=DOCUMENT[6:],
    ),
    Evidence(chunk_id="urn:chunk:b", filename="g.txt", start=100, end=104, text="Text"),
)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("A [2]. B [1][2], C [1, 3].", (2, 1, 3)),
        ("中文【1，2】。", (1, 2)),
        ("see [Smith] [] [a1] [1a] (3) [12345]", ()),
        ("", ()),
    ],
)
def test_what_is_cited(text: str, numbers: tuple[int, ...]) -> None:
    assert cited(text) == numbers


def test_a_quote_becomes_a_span_of_the_document_on_the_page_it_begins_on() -> None:
    draft = Draft(text="Second sentence. [1]", quotes=(Quote(number=1, start=16, end=32),))
    assert resolve(draft, EVIDENCE) == (
        Citation(
            number=1,
            chunk_id="urn:chunk:a",
            document_id="urn:document:d",
            version="v",
            filename="f.pdf",
            page=5,
            start=22,
            end=38,
            quote="Second sentence.",
        ),
    )
    assert DOCUMENT[22:38] == "Second sentence."


def test_a_number_without_quotes_stands_for_its_chunk_and_a_format_without_pages_has_none() -> None:
    (citation,) = resolve(Draft(text="X [2]"), EVIDENCE)
    assert (citation.start, citation.end, citation.quote, citation.page) == (100, 104, "Text", 0)


def test_every_quote_of_a_number_is_cited_once_in_the_order_of_first_mention() -> None:
    first, second = Quote(number=1, start=0, end=5), Quote(number=1, start=6, end=9)
    draft = Draft(text="T [2]. S [1]. F [1].", quotes=(second, first, second))
    assert [(c.number, c.start) for c in resolve(draft, EVIDENCE)] == [(2, 100), (1, 12), (1, 6)]


def test_what_does_not_exist_is_left_out_and_told() -> None:
    draft = Draft(text="A [3], B [1], C [0].", quotes=(Quote(number=2, start=0, end=1),))
    assert [c.number for c in resolve(draft, EVIDENCE)] == [1]
    assert unresolved(draft, EVIDENCE) == (3, 0)


@pytest.mark.parametrize(("start", "end"), [(0, 5), (-1, 2), (3, 2)])
def test_a_quote_outside_its_chunk_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match=r"of \[2\] lies outside its chunk of 4"):
        resolve(Draft(text="[2]", quotes=(Quote(number=2, start=start, end=end),)), EVIDENCE)


def test_a_source_with_its_own_references_does_not_cite_ours() -> None:
    assert disarm("As shown [3] and [a] [1, 2].") == "As shown (3) and [a] (1, 2)."


@given(st.text(alphabet="[]12, 【】a"))
def test_laws(text: str) -> None:
    draft = Draft(text=text)
    citations = resolve(draft, EVIDENCE)
    assert {c.number for c in citations} | set(unresolved(draft, EVIDENCE)) == set(cited(text))
    assert all(c.quote == EVIDENCE[c.number - 1].text for c in citations)
    assert cited(disarm(text)) == () or "[[" in text or "【[" in text or "[【" in text
