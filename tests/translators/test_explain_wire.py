"""A batch told straight as JSON is, byte for byte, the message that the codec would have made of it."""

from hypothesis import example, given
from hypothesis import strategies as st

from clew_schema.facts import Fact, QuestionAsked
from clew_schema.rdf import Triples
from clew_translators import bus
from clew_translators.explain import explain, tell
from tests.translators import runs
from tests.translators.test_explain_provenance import FACTS


@given(
    facts=FACTS,
    trail=FACTS,
    session=st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    part=st.booleans(),
)
@example(facts=list(runs.DOCUMENT_RUN), trail=[], session=runs.SESSION, part=False)
def test_both_tellings_are_the_same_bytes(
    facts: list[Fact], trail: list[Fact], session: str, part: bool
) -> None:
    told = tell(
        facts, session_id=session, collection="c", mechanism="document-rag", trail=trail, retrieval_only=part
    )
    batch = explain(
        facts, session_id=session, collection="c", mechanism="document-rag", trail=trail, retrieval_only=part
    )
    assert (told is None) is (batch is None)
    if told is not None and batch is not None:
        assert told.encode() == bus.encode(batch)
        assert bus.decode(Triples, told.encode()) == batch


def test_half_a_character_is_told_as_the_codec_tells_it() -> None:
    fact = QuestionAsked(mechanism="agent", query="cut \ud83d")
    told = tell([fact], session_id="s", collection="c", mechanism="agent")
    assert told is not None
    assert told.encode() == bus.encode(told.batch())
    assert "cut \ufffd".encode() in told.encode()
