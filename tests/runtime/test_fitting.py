"""What is left out of a message that no bus would carry."""

from __future__ import annotations

import json

import pytest

from clew_schema.evidence import Citation
from clew_schema.limits import MAX_MESSAGE_BYTES
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from clew_services.runtime.fitting import encode
from clew_translators import bus
from clew_translators.explain.statements import Statements
from clew_translators.namespaces import GRAPH_RETRIEVAL

LARGE = "x" * (MAX_MESSAGE_BYTES // 2)


def response(**fields: object) -> DocumentRagResponse:
    cited = Citation(number=1, chunk_id="c", quote="q")
    return DocumentRagResponse.model_validate({"response": "text", "citations": (cited,)} | fields)


def test_what_fits_is_whole() -> None:
    whole = response(rag_trace={"query": "q"}, ext={"version": 1})
    assert DocumentRagResponse.model_validate_json(encode(whole)) == whole


def test_the_record_goes_before_what_cannot_be_found_elsewhere() -> None:
    sent = DocumentRagResponse.model_validate_json(
        encode(response(rag_trace={"a": LARGE, "b": LARGE}, ext={"version": 1}))
    )
    assert (sent.rag_trace, sent.ext) == (None, {"version": 1})
    assert (sent.response, sent.citations[0].quote) == ("text", "q")


def test_as_much_goes_as_it_takes() -> None:
    sent = json.loads(encode(response(rag_trace={"a": LARGE}, ext={"a": LARGE + LARGE})))
    assert (sent["rag_trace"], sent["ext"]) == (None, None)


def test_where_nothing_helps_it_stays_whole_to_be_refused() -> None:
    assert len(encode(DocumentRagQuery(query=LARGE + LARGE))) > MAX_MESSAGE_BYTES
    assert len(encode(response(response=LARGE + LARGE + LARGE))) > MAX_MESSAGE_BYTES


def graph(text: str) -> Statements:
    said = Statements(GRAPH_RETRIEVAL)
    said.about("urn:s", "urn:Type")
    said.text("urn:p", text)
    return said


@pytest.mark.parametrize("text", ['"explain_triples":[]', "half \ud83d", "\x00 答案"])
def test_triples_told_as_json_are_the_bytes_of_their_models(text: str) -> None:
    said = graph(text)
    body = response(response=text, rag_trace={"explain_triples": []}, state=text)
    models = body.model_copy(update={"explain_triples": said.triples})
    assert encode(body, (said,)) == bus.encode(models)
    assert len(DocumentRagResponse.model_validate_json(encode(body, (said,))).explain_triples) == 2


def test_triples_that_do_not_fit_go_before_the_record() -> None:
    body = response(rag_trace={"a": LARGE})
    assert encode(body, (graph(LARGE),)) == bus.encode(body)
