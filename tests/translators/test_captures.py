"""Messages that TrustGraph sent, read and written by us: nothing of theirs is lost or changed."""

import json
from typing import Any

import pytest

from clew_schema.topics import TOPICS, TopicSpace
from clew_translators import bus
from clew_translators.quads import from_nquads, to_nquads
from tests.translators.reference import DATA, Observed, captured, golden

CAPTURED = list(captured())
GOLDEN = list(golden())


def contains(ours: Any, theirs: Any) -> bool:
    """Whether every key and value of ``theirs`` stands in ``ours``."""
    if isinstance(theirs, dict):
        return isinstance(ours, dict) and all(
            key in ours and contains(ours[key], theirs[key]) for key in theirs
        )
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(contains, ours, theirs))
    return type(ours) is type(theirs) and bool(ours == theirs)


@pytest.mark.parametrize("seen", [*CAPTURED, *GOLDEN], ids=lambda seen: seen.body.__name__)
def test_every_key_and_value_survives(seen: Observed) -> None:
    message = bus.decode(seen.body, seen.payload)
    written = bus.encode(message)
    assert contains(json.loads(written), json.loads(seen.payload))
    assert bus.decode(seen.body, written) == message


def test_nothing_was_left_out() -> None:
    assert len(CAPTURED) == 14 + 12 + 20
    assert len(GOLDEN) > 30


def test_our_topics_have_their_names() -> None:
    space = TopicSpace(profile="trustgraph")
    ours = {space.full(topic.name): topic.body for topic in TOPICS}
    assert CAPTURED
    assert all(ours[seen.topic] is seen.body for seen in CAPTURED)


@pytest.mark.parametrize("name", ["agent_react_nosid", "docrag_rerank"])
def test_golden_traces_are_read_and_written_byte_by_byte(name: str) -> None:
    text = (DATA / "golden" / f"{name}.nq").read_text(encoding="utf-8")
    assert to_nquads(from_nquads(text)) == text


def test_a_golden_trace_with_quoted_triples_keeps_its_statements() -> None:
    text = (DATA / "golden" / "graphrag.nq").read_text(encoding="utf-8")
    triples = from_nquads(text)
    assert sum(triple.o is not None and triple.o.type == "t" for triple in triples) == text.count("<< ")
    assert to_nquads(triples).replace("<<( ", "<< ").replace(" )>>", " >>") == text
    assert from_nquads(to_nquads(triples)) == triples
