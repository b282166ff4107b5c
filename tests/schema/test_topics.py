"""Topics, where they live, and what travels beside a body."""

import pytest

from clew_schema import (
    TOPICS,
    AgentRequest,
    DocumentRagQuery,
    DocumentRagResponse,
    Envelope,
    GradingRequest,
    GraphRagQuery,
    Triples,
)
from clew_schema.ids import derive, is_uuid, message_id, session_id
from clew_schema.rdf import Metadata
from clew_schema.topics import AGENT_REQUEST, EXPLAINABILITY, TopicSpace


def test_names_are_unique_and_every_body_is_described() -> None:
    assert len({topic.name for topic in TOPICS}) == len(TOPICS)
    assert all(topic.about and topic.body.__doc__ for topic in TOPICS)


def test_the_key_orders_the_messages_of_a_run() -> None:
    assert AGENT_REQUEST.key_of(AgentRequest(session_id="s")) == "s"
    assert EXPLAINABILITY.key_of(Triples(metadata=Metadata(root="urn:q"))) == "urn:q"
    assert EXPLAINABILITY.key_of(Triples()) == ""


def test_topics_of_our_own() -> None:
    space = TopicSpace(tenant="acme", namespace="clew")
    assert space.full("agent-request") == "persistent://acme/clew/agent-request"
    assert space.full("persistent://a/b/c") == "persistent://a/b/c"
    assert space.retry("grading-request", "grading") == "persistent://acme/clew/grading-request.grading.retry"


def test_topics_of_trustgraph() -> None:
    space = TopicSpace(profile="trustgraph", workspace="w", flow="f")
    assert space.full("agent-request") == "non-persistent://tg/request/agent:w:f"
    assert space.full("explainability") == "persistent://tg/flow/triples-store:w:f"
    assert space.full("grading-request") == "persistent://public/default/grading-request"


@pytest.mark.parametrize(
    ("topic", "clew", "trustgraph"),
    [
        ("persistent://public/default/mine", True, True),
        ("non-persistent://tg/response/agent:w:f", False, True),
        ("non-persistent://tg/request/agent:w:f", False, False),
        ("persistent://public/default2/mine", False, False),
        ("persistent://other/default/mine", False, False),
        ("mine", False, False),
        ("", False, False),
    ],
)
def test_what_a_caller_may_name_as_reply_to(topic: str, clew: bool, trustgraph: bool) -> None:
    assert TopicSpace().owns(topic) is clew
    assert TopicSpace(profile="trustgraph").owns(topic) is trustgraph


def test_who_wants_a_stream() -> None:
    assert AgentRequest(streaming=True).wants_stream
    assert GraphRagQuery(streaming=True).wants_stream
    assert GradingRequest(query=DocumentRagQuery(streaming=True)).wants_stream
    assert DocumentRagQuery(streaming=True).wants_stream
    assert not GradingRequest().wants_stream
    assert not DocumentRagResponse().wants_stream


# --- properties -----------------------------------------------------------------------------------


def test_properties_come_back() -> None:
    envelope = Envelope(
        id="caller", session_id="s", message_id="m", attempt=3, due=5, reply_to="t", traceparent="tp", deadline=9,
        traced=False, other={"x": "y"},
    )  # fmt: skip
    assert Envelope.of(envelope.properties()) == envelope


def test_absent_properties_are_not_written() -> None:
    assert Envelope.of({}) == Envelope()
    assert Envelope().properties() == {}


@pytest.mark.parametrize("text", ["", "soon", "-1", "1.5", "٣", "9" * 16, "0x10", " 1"])
def test_a_number_that_is_none_counts_as_absent(text: str) -> None:
    envelope = Envelope.of({"attempt": text, "due": text, "deadline": text})
    assert (envelope.attempt, envelope.due, envelope.deadline) == (1, 0, 0)


def test_an_effect_has_the_same_caller_and_a_fresh_start() -> None:
    cause = Envelope(id="caller", message_id="m", attempt=4, due=7, deadline=9, other={"x": "y"})
    assert cause.effect("m2", "s") == Envelope(id="caller", message_id="m2", session_id="s", deadline=9)


def test_a_retry_is_the_same_message_later() -> None:
    cause = Envelope(id="caller", message_id="m", attempt=2, other={"x": "y"})
    assert cause.retry(99) == Envelope(id="caller", message_id="m", attempt=3, due=99, other={"x": "y"})


# --- ids ------------------------------------------------------------------------------------------


def test_ids_are_functions_of_what_they_name() -> None:
    assert derive("a", "bc") == derive("a", "bc") != derive("ab", "c")
    assert message_id("m", "step", 0) != message_id("m", "step", 1)
    assert session_id("m") != derive("m")
    assert all(map(is_uuid, (derive("a"), message_id("m", "s", 0), session_id("m"))))


@pytest.mark.parametrize(
    "text", ["", "x", "00000000-0000-4000-8000-00000000000", "{00000000-0000-4000-8000-000000000001}"]
)
def test_other_texts_are_no_uuids(text: str) -> None:
    assert not is_uuid(text)
