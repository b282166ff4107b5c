"""Bus JSON: every type comes back as it went, and whatever else arrives ends in one exception."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema import AgentRequest, AgentResponse, AgentStep, DocumentRagQuery, GradingRequest
from clew_schema.base import Message
from clew_schema.services import TextCompletionRequest
from clew_schema.topics import AGENT_REQUEST, TOPICS
from clew_translators.bus import NotThisMessage, decode, encode
from tests.translators.strategies import MESSAGES, messages

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def names(model: type[Message]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


@pytest.mark.parametrize("model", MESSAGES, ids=lambda model: model.__name__)
@given(data=st.data())
def test_round_trip(model: type[Message], data: st.DataObject) -> None:
    message = data.draw(messages(model))
    payload = encode(message)
    assert decode(model, payload) == message
    assert set(json.loads(payload)) == names(model)


def test_every_body_of_a_topic_is_among_the_types() -> None:
    assert {topic.body for topic in TOPICS} <= set(MESSAGES)
    assert len(MESSAGES) > 60


def test_a_topic_says_what_travels_there() -> None:
    assert decode(AGENT_REQUEST, b'{"question":"Why?"}') == AgentRequest(question="Why?")


def test_unknown_fields_are_ignored_and_absent_ones_have_defaults() -> None:
    assert decode(DocumentRagQuery, b'{"query":"q","since":"2031","more":{"deep":[1]}}') == DocumentRagQuery(
        query="q"
    )


def test_text_is_utf_8_not_escaped() -> None:
    assert "答案".encode() in encode(AgentRequest(question="答案"))


def test_half_a_character_does_not_lose_the_message() -> None:
    message = AgentRequest(
        question="cut \ud83d", history=(AgentStep(arguments={"\ude00": "a\ud83d\ude00b"}),)
    )
    step = AgentStep(arguments={"\ufffd": "a😀b"})
    assert decode(AgentRequest, encode(message)) == AgentRequest(question="cut \ufffd", history=(step,))
    completion = TextCompletionRequest(schema_text="\ud83d")
    assert decode(TextCompletionRequest, encode(completion)).schema_text == "\ufffd"


def test_the_field_that_is_called_schema() -> None:
    message = TextCompletionRequest(prompt="p", schema_text="{}")
    assert json.loads(encode(message))["schema"] == "{}"
    assert json.loads(message.model_dump_json())["schema"] == "{}"
    assert decode(TextCompletionRequest, b'{"schema":"{}","prompt":"p"}') == message


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        (b"", ""),
        (b"\x00\xff\xfe", ""),
        (b"hello", ""),
        (b"[]", ""),
        (b"null", ""),
        (b"NaN", ""),
        (b'"text"', ""),
        (b'{"question":"q"', ""),
        (b'{"question":"q"}{}', ""),
        (b'{"question":"\xff"}', ""),
        (b'{"question":"\\ud800"}', ""),
        (b"\xef\xbb\xbf{}", ""),
        ('{"question":"q"}'.encode("utf-16"), ""),
        (b'{"question":5}', "question"),
        (b'{"question":null}', "question"),
        (b'{"streaming":"no"}', "streaming"),
        (b'{"streaming":1}', "streaming"),
        (b'{"history":null}', "history"),
        (b'{"history":{}}', "history"),
        (b'{"history":[{"thought":7}]}', "history.0.thought"),
        (b'{"group":[1]}', "group.0"),
        (b'{"expected_siblings":1.5}', "expected_siblings"),
        (b'{"expected_siblings":1e400}', "expected_siblings"),
        (b'{"expected_siblings":true}', "expected_siblings"),
        (b'{"expected_siblings":' + b"9" * 5000 + b"}", ""),
        (b'{"unknown":' + b"9" * 5000 + b"}", ""),
        (b"[" * 100_000, ""),
        (b'{"unknown":' + b"[" * 100_000, ""),
        (b'{"unknown":' + b'{"a":' * 5000 + b"1" + b"}" * 5001, ""),
        (b'{"trail":[{"kind":"invented"}]}', "trail.0"),
        (b'{"trail":[{}]}', "trail.0"),
        (b'{"trail":[{"kind":"question_asked","query":"q"}]}', "trail.0.question_asked.mechanism"),
    ],
    ids=lambda value: repr(value[:40]),
)
def test_what_is_no_message_is_refused_with_its_place(payload: bytes, field: str) -> None:
    with pytest.raises(NotThisMessage) as refused:
        decode(AgentRequest, payload)
    assert refused.value.message_type == "AgentRequest"
    assert refused.value.field == field
    assert str(refused.value).startswith(f"AgentRequest: {field}" if field else "AgentRequest: ")


def test_of_a_key_that_stands_twice_the_last_counts_and_what_is_unknown_may_be_anything() -> None:
    assert decode(AgentRequest, b'{"question":"a","question":"b","unknown":NaN}').question == "b"
    assert decode(AgentRequest, b'{"history":[{"arguments":{"k":"1","k":"2"}}]}').history[0].arguments == {
        "k": "2"
    }


def test_the_largest_integers_pass() -> None:
    for number in (2**63 - 1, -(2**63)):
        assert decode(AgentRequest, b'{"expected_siblings":%d}' % number).expected_siblings == number


def test_long_digits_in_a_text_are_no_number() -> None:
    digits = "9" * 40
    assert decode(AgentRequest, encode(AgentRequest(question=digits))).question == digits


@pytest.mark.parametrize(
    "payload",
    [
        {"question": ["SECRET" * 1000]},
        {"question": {"SECRET" * 1000: 1}},
        {"streaming": "SECRET" * 1000},
        {"history": "SECRET" * 1000},
        {"history": [{"arguments": {"SECRET" * 1000: 5}}]},
        {"history": [{"arguments": {"k": ["SECRET" * 1000]}}]},
        {"trail": [{"kind": "SECRET" * 1000}]},
        {"trail": [{"kind": "answer_written", "outcome": "SECRET" * 1000, "text": ""}]},
    ],
)
def test_no_more_than_a_few_words_of_the_body_are_quoted(payload: object) -> None:
    with pytest.raises(NotThisMessage) as refused:
        decode(AgentRequest, json.dumps(payload).encode())
    assert str(refused.value).count("SECRET") <= 80 // len("SECRET")
    assert len(str(refused.value)) < 400


@given(payload=st.binary(max_size=200))
def test_any_bytes(payload: bytes) -> None:
    with pytest.raises(NotThisMessage):
        decode(AgentResponse, b"\x00" + payload)


@given(value=JSON, data=st.data())
def test_any_value_in_any_field(value: object, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(names(GradingRequest))))
    refused_or_read(GradingRequest, json.dumps({name: value}).encode())


@given(data=st.data())
def test_a_damaged_message(data: st.DataObject) -> None:
    payload = bytearray(encode(data.draw(messages(AgentRequest))))
    for _ in range(data.draw(st.integers(1, 3))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    refused_or_read(AgentRequest, bytes(payload[: data.draw(st.integers(0, len(payload)))]))


def refused_or_read(model: type[Message], payload: bytes) -> None:
    """Either a message that survives another round, or the one exception."""
    try:
        message = decode(model, payload)
    except NotThisMessage:
        return
    assert decode(model, encode(message)) == message
