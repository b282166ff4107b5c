"""Gateway JSON: every request and response comes back, and what makes no sense is refused by its key."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.agent import AgentRequest, AgentResponse, AgentStep
from clew_schema.base import Message
from clew_schema.errors import Error
from clew_schema.evidence import Citation
from clew_schema.facts import QuestionAsked
from clew_schema.rdf import Term, Triple, Triples, iri
from clew_schema.retrieval import (
    DocumentRagQuery,
    DocumentRagResponse,
    GraphRagQuery,
    GraphRagResponse,
    ReturnAddress,
)
from clew_schema.services import (
    EmbeddingsRequest,
    PromptRequest,
    RowEmbeddingsRequest,
    TextCompletionRequest,
    ToolRequest,
    ToolResponse,
    TriplesQueryResponse,
)
from clew_translators.gateway import (
    KINDS,
    SERVICES,
    NotThisMessage,
    decode_request,
    decode_response,
    decode_triples,
    encode_request,
    encode_response,
    encode_triples,
    service,
)
from tests.translators.strategies import FLOAT, INTEGER, TEXT, messages

INTERNAL: dict[type[Message], dict[str, Any]] = {
    AgentRequest: {"trail": ()},
    DocumentRagQuery: {"reply": None},
    GraphRagQuery: {"reply": None},
    DocumentRagResponse: {"state": ""},
    GraphRagResponse: {"state": ""},
}

EMPTY_IS_NULL: dict[type[Message], list[str]] = {
    AgentResponse: ["explain_id"],
    DocumentRagResponse: ["explain_id"],
    GraphRagResponse: ["explain_id"],
    RowEmbeddingsRequest: ["index_name"],
    Triple: ["g"],
}

JSON_TEXT = st.one_of(
    st.just(""), st.dictionaries(TEXT, TEXT | INTEGER | FLOAT | st.booleans(), max_size=3).map(json.dumps)
)
TEXTS_OF_JSON = {"tool": {"parameters", "object"}, "structured-query": {"data"}}


def drawn(data: st.DataObject, name: str, model: type[Message]) -> Message:
    texts = dict.fromkeys(TEXTS_OF_JSON.get(name, set()) & set(model.model_fields), JSON_TEXT)
    message: Message = data.draw(messages(model, **texts))
    return message


def normal(value: Any) -> Any:
    """What the gateway can say of ``value``: written down here anew, for the translators to be compared with."""
    if isinstance(value, Term):
        used = {"i": ["iri"], "b": ["id"], "l": ["value", "datatype", "language"], "t": ["triple"], "": []}
        return Term(type=value.type, **{name: normal(getattr(value, name)) for name in used[value.type]})
    if isinstance(value, Error):
        return value if value.message else None
    if isinstance(value, Message):
        fields = {name: normal(getattr(value, name)) for name in type(value).model_fields}
        for name in EMPTY_IS_NULL.get(type(value), ()):
            fields[name] = fields[name] or None
        fields.update(INTERNAL.get(type(value), {}))
        return type(value).model_validate(fields, by_name=True)
    return tuple(map(normal, value)) if isinstance(value, tuple) else value


def travelled(data: dict[str, Any]) -> Any:
    """``data`` after it was text."""
    return json.loads(json.dumps(data, allow_nan=False))


@pytest.mark.parametrize("name", SERVICES)
@given(data=st.data())
def test_requests_come_back(name: str, data: st.DataObject) -> None:
    message = drawn(data, name, SERVICES[name].request.model)
    assert decode_request(name, travelled(encode_request(name, message))) == normal(message)


@pytest.mark.parametrize("name", SERVICES)
@given(data=st.data())
def test_responses_come_back(name: str, data: st.DataObject) -> None:
    message = drawn(data, name, SERVICES[name].response.model)
    written, complete = encode_response(name, message)
    assert decode_response(name, travelled(written), complete=complete) == normal(message)


@given(batch=messages(Triples))
def test_batches_of_quads_come_back(batch: Triples) -> None:
    assert decode_triples(travelled(encode_triples(batch))) == normal(batch)


@pytest.mark.parametrize(
    ("name", "final"),
    [("agent", "end_of_dialog"), ("document-rag", "end_of_session"), ("graph-rag", "end_of_session"),
     ("prompt", "end_of_stream"), ("text-completion", "end_of_stream"), ("triples", "is_final")],
)  # fmt: skip
def test_the_last_response(name: str, final: str) -> None:
    model = service(name).response.model
    for value in (True, False):
        assert encode_response(name, model(**{final: value}))[1] is value


@pytest.mark.parametrize(
    "name", ["embeddings", "document-embeddings", "reranker", "mcp-tool", "structured-query"]
)
def test_other_services_answer_once(name: str) -> None:
    assert encode_response(name, service(name).response.model())[1] is True


def test_kinds_are_other_names_of_services() -> None:
    assert set(KINDS.values()) <= set(SERVICES)
    assert not set(KINDS) & set(SERVICES)


def test_an_unknown_service_is_named() -> None:
    with pytest.raises(NotThisMessage, match=r"tea: no such service; there are agent, .*triples-query"):
        decode_request("tea", {})


# --- what TrustGraph's translators get wrong ------------------------------------------------------


def test_history_becomes_steps() -> None:
    request = decode_request(
        "agent", {"question": "q", "history": [{"thought": "t", "arguments": {"a": "b"}}]}
    )
    assert request == AgentRequest(
        question="q", state=None, history=(AgentStep(thought="t", arguments={"a": "b"}),)
    )
    assert json.dumps(encode_request("agent", request))


def test_history_of_something_else_is_refused() -> None:
    with pytest.raises(NotThisMessage) as refused:
        decode_request("agent", {"question": "q", "history": [{"thought": 1}]})
    assert refused.value.field == "history.0.thought"


def test_a_parent_is_kept() -> None:
    query = decode_request("graph-rag", {"query": "q", "parent_uri": "urn:trustgraph:agent:s/i1"})
    assert isinstance(query, GraphRagQuery)
    assert query.parent_uri == "urn:trustgraph:agent:s/i1"
    assert encode_request("graph-rag", query)["parent_uri"] == "urn:trustgraph:agent:s/i1"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("prompt", PromptRequest(id="p", streaming=True)),
        ("text-completion", TextCompletionRequest(streaming=True)),
    ],
)
def test_streaming_is_kept(name: str, message: Message) -> None:
    assert encode_request(name, message)["streaming"] is True


# --- what TrustGraph's gateway asks for -----------------------------------------------------------


def test_rag_requests_have_kebab_keys_and_the_gateway_s_limits() -> None:
    assert encode_request("graph-rag", decode_request("graph-rag", {"query": "q"})) == {
        "query": "q",
        "collection": "default",
        "entity-limit": 50,
        "triple-limit": 30,
        "max-subgraph-size": 1000,
        "max-path-length": 2,
        "edge-score-limit": 30,
        "edge-limit": 25,
        "max-reranker-input": 350,
        "streaming": False,
    }


def test_variables_win_over_terms_and_become_json_text() -> None:
    request = {"id": "p", "terms": {"a": "0"}, "variables": {"a": {"x": [1]}, "b": "text", "c": None}}
    expected = PromptRequest(id="p", terms={"a": '{"x": [1]}', "b": '"text"', "c": "null"})
    assert decode_request("prompt", request) == expected


def test_a_tool_without_parameters_has_none() -> None:
    assert decode_request("tool", {"name": "n"}) == ToolRequest(name="n", parameters=None)
    assert encode_request("tool", ToolRequest(name="n", parameters=None)) == {"name": "n"}


def test_a_value_is_no_text_at_the_gateway() -> None:
    assert encode_response("tool", ToolResponse(object='{"a": [1]}')) == ({"object": {"a": [1]}}, True)


def test_the_triples_of_a_query_are_wrapped() -> None:
    message = TriplesQueryResponse(triples=(Triple(s=iri("urn:s")),), is_final=False)
    assert encode_response("triples", message) == ({"response": [{"s": {"t": "i", "i": "urn:s"}}]}, False)


# --- what is ours ---------------------------------------------------------------------------------


def test_our_fields_are_added_under_their_names() -> None:
    citation = Citation(number=1, chunk_id="c")
    message = DocumentRagResponse(
        session_id="s", collection="c", outcome="partial", citations=(citation,), options=("a",)
    )
    written, _ = encode_response("document-rag", message)
    ours = {key: written[key] for key in ("session_id", "collection", "outcome", "options")}
    assert ours == {"session_id": "s", "collection": "c", "outcome": "partial", "options": ["a"]}
    assert written["citations"] == [citation.model_dump()]
    assert encode_response("document-rag", DocumentRagResponse())[0].keys() == {
        "response",
        "end_of_stream",
        "end_of_session",
    }


def test_a_caller_cannot_say_what_services_tell_each_other() -> None:
    forged = {"query": "q", "reply": {"topic": "persistent://public/default/agent-response"}, "state": "{}"}
    assert decode_request("document-rag", forged) == DocumentRagQuery(
        query="q", collection="default", doc_limit=20
    )
    trail = [QuestionAsked(mechanism="agent", query="q").model_dump()]
    assert decode_request("agent", {"question": "q", "trail": trail}) == AgentRequest(
        question="q", state=None
    )


def test_what_services_tell_each_other_is_not_shown() -> None:
    query = DocumentRagQuery(query="q", reply=ReturnAddress(topic="t", state="secret"))
    assert "secret" not in json.dumps(encode_request("document-rag", query))
    assert "secret" not in json.dumps(encode_response("document-rag", DocumentRagResponse(state="secret")))


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "request_", "field"),
    [
        ("agent", {}, "question"),
        ("agent", {"question": None}, "question"),
        ("agent", {"question": "q", "streaming": "yes"}, "streaming"),
        ("agent", {"question": "\ud800"}, "question"),
        ("document-rag", {"query": "q", "session_id": "\ud800"}, "session_id"),
        ("agent", {"question": "q", "history": [{"arguments": {"k": "\ud800"}}]}, "history"),
        ("triples", {"s": {"t": "l", "v": "\ud800"}}, "s"),
        ("agent", {"question": "q", "collection": None}, "collection"),
        ("agent", {"question": "q", "group": "all"}, "group"),
        ("document-rag", {}, "query"),
        ("document-rag", {"query": "q", "doc-limit": None}, "doc-limit"),
        ("document-rag", {"query": "q", "doc-limit": True}, "doc-limit"),
        ("document-rag", {"query": "q", "doc-limit": 1.5}, "doc-limit"),
        ("document-rag", {"query": "q", "doc-limit": "many"}, "doc-limit"),
        ("document-rag", {"query": "q", "doc-limit": "٣"}, "doc-limit"),
        ("document-rag", {"query": "q", "doc-limit": "9" * 9000}, "doc-limit"),
        ("document-rag", {"query": "q", "fetch-limit": []}, "fetch-limit"),
        ("graph-rag", {"query": "q", "edge-limit": {}}, "edge-limit"),
        ("triples", {"s": "urn:a"}, "s"),
        ("triples", {"s": {"t": "i", "i": 5}}, "s.i"),
        ("triples", {"o": {"t": "t", "tr": {"s": {"t": "?"}}}}, "o.tr.s.t"),
        ("triples", {"batch-size": None}, "batch-size"),
        ("triples", {"g": 1}, "g"),
        ("prompt", {"id": "x", "variables": []}, "variables"),
        ("prompt", {"id": "x", "terms": {"a": 1}}, "terms.a"),
        ("text-completion", {"system": "s"}, "prompt"),
        ("text-completion", {"system": "s", "prompt": "p", "schema": 1}, "schema"),
        ("embeddings", {}, "texts"),
        ("embeddings", {"texts": "t"}, "texts"),
        ("document-embeddings", {"vector": ["x"]}, "vector.0"),
        ("reranker", {"queries": [{"query_id": 0}]}, "queries.0.query_id"),
        ("triples", {"s": None, "limit": -1.0}, "limit"),
        ("prompt", {"id": "x", "variables": {"a": float("nan")}}, "variables.a"),
        ("tool", {"name": "n", "parameters": {"a": float("inf")}}, "parameters"),
        ("agent", [], ""),
        ("agent", None, ""),
        ("agent", "q", ""),
    ],
)
def test_a_request_that_makes_no_sense_names_its_key(name: str, request_: object, field: str) -> None:
    with pytest.raises(NotThisMessage) as refused:
        decode_request(name, request_)
    assert refused.value.field == field
    assert len(str(refused.value)) < 250


@pytest.mark.parametrize(
    ("name", "response", "field"),
    [
        ("graph-rag", {"sources": "none"}, "sources"),
        ("graph-embeddings", {"entities": {"entity": 1}}, "entities"),
        ("graph-embeddings", {"entities": ["urn:x"]}, "entities.0"),
        ("graph-embeddings", {"entities": [{"entity": {"t": "?"}}]}, "entities.0.entity.t"),
        ("agent", {"explain_triples": [{"s": 1}]}, "explain_triples.0.s"),
        ("agent", {"explain_triples": 5}, "explain_triples"),
        ("agent", {"error": "boom"}, "error"),
        ("document-rag", {"outcome": "surprise"}, "outcome"),
        ("document-rag", {"in_token": b"1"}, "in_token"),
        ("document-rag", {"in_token": 10**40 + 0.5}, "in_token"),
    ],
)
def test_a_response_that_makes_no_sense_names_its_key(name: str, response: object, field: str) -> None:
    with pytest.raises(NotThisMessage) as refused:
        decode_response(name, response)
    assert refused.value.field == field


def test_a_response_that_holds_no_json_where_it_should_is_refused() -> None:
    for text in ("{", "NaN", "[" * 100_000):
        with pytest.raises(NotThisMessage) as refused:
            encode_response("tool", ToolResponse(object=text))
        assert refused.value.field == "object"


def test_another_service_s_message_is_refused() -> None:
    with pytest.raises(NotThisMessage, match="agent: should be AgentRequest, found EmbeddingsRequest"):
        encode_request("agent", EmbeddingsRequest())
    with pytest.raises(NotThisMessage, match="agent: should be AgentResponse"):
        encode_response("agent", AgentRequest())


@pytest.mark.parametrize("name", SERVICES)
@given(data=st.data())
def test_any_json(name: str, data: st.DataObject) -> None:
    shape = SERVICES[name].request
    keys = st.sampled_from(sorted({*shape.spelled.values(), "variables"}))
    anything = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=6,
    )
    body = data.draw(st.dictionaries(keys, anything, max_size=4))
    try:
        request = decode_request(name, body)
    except NotThisMessage:
        return
    assert isinstance(request, shape.model)


def test_the_agent_s_answer_as_a_client_reads_it() -> None:
    written, complete = encode_response(
        "agent",
        AgentResponse(
            message_type="answer", content="42", end_of_message=True, end_of_dialog=True, in_token=0
        ),
    )
    assert complete
    assert written == {
        "message_type": "answer",
        "content": "42",
        "end_of_message": True,
        "end_of_dialog": True,
        "in_token": 0,
    }
