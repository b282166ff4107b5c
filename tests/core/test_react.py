"""The ReAct reader: TrustGraph's vectors, leniency, and independence from how the text was cut."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clew_services.core.agent import Thought
from clew_services.core.react import (
    ActionChosen,
    Event,
    FinalText,
    ReactError,
    ReactParser,
    ThoughtText,
    parse,
)

DATA = Path(__file__).parent.parent / "data" / "trustgraph" / "react.jsonl"
VECTORS = {v["n"]: v for v in map(json.loads, DATA.read_text(encoding="utf-8").splitlines())}
WHOLE = [v for v in VECTORS.values() if v["area"] == "react-parse-nonstreaming"]
STREAMED = [v for v in VECTORS.values() if v["area"] == "react-parse-streaming"]


def read(chunks: list[str]) -> tuple[Thought, list[Event]]:
    parser = ReactParser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    events += parser.close()
    return parser.result(), events


def cut(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def outcome(chunks: list[str]) -> tuple[Thought, str, list[ActionChosen], str] | str:
    """All that must not depend on the cuts."""
    try:
        thought, events = read(chunks)
    except ReactError as error:
        return str(error)
    return (
        thought,
        "".join(e.text for e in events if isinstance(e, ThoughtText)),
        [e for e in events if isinstance(e, ActionChosen)],
        "".join(e.text for e in events if isinstance(e, FinalText)),
    )


def expected(ok: dict[str, Any]) -> Thought:
    if ok["kind"] == "Final":
        return Thought(thought=ok["thought"], final=ok["final"])
    # Arguments are strings with us: nested values are JSON, where TrustGraph's history has Python's repr.
    arguments = {k: v if isinstance(v, str) else json.dumps(v) for k, v in ok["arguments"].items()}
    return Thought(thought=ok["thought"], action=ok["name"], arguments=arguments)


def test_all_vectors_are_here() -> None:
    assert {v["n"] for v in WHOLE} == {161, 163, 164, 168}
    assert {v["n"] for v in STREAMED} == {170, 172, 174}


@pytest.mark.parametrize("vector", WHOLE, ids=lambda v: v["n"])
def test_trustgraphs_whole_replies(vector: dict[str, Any]) -> None:
    assert parse(vector["input"]) == expected(vector["expected"]["ok"])


def test_trustgraphs_streamed_reply() -> None:
    vector = VECTORS[170]
    thought, events = read(cut(vector["input"]["text"], vector["input"]["chunk"]))
    assert thought == expected(vector["expected"]["ok"])
    assert "".join(e.text for e in events if isinstance(e, FinalText)) == "hello world again\nline2"
    # It came in pieces, not at the end.
    assert sum(isinstance(e, FinalText) for e in events) > 3


def test_a_brace_inside_a_string_is_text() -> None:
    """Vector 172: TrustGraph counts it as the end of the arguments and ends the session."""
    vector = VECTORS[172]
    assert "raises" in vector["expected"]
    thought, _ = read(cut(vector["input"]["text"], vector["input"]["chunk"]))
    assert thought == Thought(thought="use it", action="t", arguments={"q": "a } b"})


def test_prose_is_an_error_that_tells_the_model_what_is_missing() -> None:
    """Vector 174: TrustGraph raises as well; with us the thinker then asks the model again."""
    vector = VECTORS[174]
    assert "raises" in vector["expected"]
    with pytest.raises(ReactError, match=r"neither an 'Action:' nor a 'Final Answer:'"):
        parse(vector["input"]["text"])


def test_spaces_at_the_borders_of_chunks_are_kept() -> None:
    """TrustGraph's streamed thought reads "I needthe knowledge base" (its defect 18)."""
    thought, events = read(["Thought: I need", " the knowledge", " ", "base \n", "Final Answer: x"])
    assert thought == Thought(thought="I need the knowledge base", final="x")
    assert "".join(e.text for e in events if isinstance(e, ThoughtText)) == "I need the knowledge base"


CALL = Thought(thought="a", action="t", arguments={"q": "x"})


@pytest.mark.parametrize(
    ("text", "thought"),
    [
        ('Thought: a\nAction: t\nArgs: {"q": "x"}', CALL),
        ('a\nAction: t\nArgs: {"q": "x"}', CALL),  # TrustGraph's streaming parser ends the session
        ('  thought:a\n  ACTION:t\n  args:{"q": "x"}', CALL),
        ('\r\nThought: a\r\n\r\nAction: t\r\nArgs:\r\n{"q":\r\n"x"}\r\n', CALL),
        ('**Thought:** a\n**Action**: `t`\n**Args:** {"q": "x"}', CALL),
        ('Thought：a\nAction：t\nArgs：{"q": "x"}', CALL),
        ('Thought: a\nAction: t\nAction Input: {"q": "x"}', CALL),
        ('Thought: a\nAction: t\n{"q": "x"}', CALL),
        ('Thought: a\nAction:\nt\nArgs: {"q": "x"}', CALL),
        ('Thought: a\nAction: t\nArgs:\n```json\n{"q": "x"}\n```', CALL),
        ('```text\nThought: a\nAction: t\nArgs: {"q": "x"}\n```', CALL),
        ('Thought: a\nAction: t\nArgs: {"q": "x"}\nObservation: made up\nFinal Answer: made up', CALL),
        ('Thought: a\nAction: t\nin other words\nArgs: {"q": "x"}', CALL),
        ("Thought: a\nAction: t", Thought(thought="a", action="t")),
        ("Thought: a\nAction: t\nArgs:", Thought(thought="a", action="t")),
        ("Thought: a\nAction: t\nArgs: None", Thought(thought="a", action="t")),
        ("Thought: a\nAction: t\nObservation: made up", Thought(thought="a", action="t")),
        ("Thought: a\nAction: t\nFinal Answer: made up", Thought(thought="a", action="t")),
        (
            'Action: t\nArgs: {"n": 1, "b": true, "z": null, "l": ["é"], "o": {"a": 1}, "s": "1\n2"}',
            Thought(
                thought="",
                action="t",
                arguments={"n": "1", "b": "true", "z": "null", "l": '["é"]', "o": '{"a": 1}', "s": "1\n2"},
            ),
        ),
        ("Thought: a\n\n  b\nThought: c\nFinal Answer: d", Thought(thought="a\n\n  b\n c", final="d")),
        (
            "Thought: Args: none\nArgs: are text here\nFinal Answer: d",
            Thought(thought="Args: none\nArgs: are text here", final="d"),
        ),
        ("Final Answer: a\n\n```\ncode\n```", Thought(thought="", final="a\n\n```\ncode\n```")),
        ("```\nFinal Answer: a\n```\ncode\n```\n```\n", Thought(thought="", final="a\n```\ncode\n```")),
        ("Final Answer: Thought: x\nAction: y", Thought(thought="", final="Thought: x\nAction: y")),
    ],
)
def test_what_is_understood(text: str, thought: Thought) -> None:
    assert parse(text) == thought
    assert outcome(list(text)) == outcome([text])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "neither"),
        (" \n ", "neither"),
        ("Thought: only", "neither"),
        ("Thought: a Final Answer: b", "neither"),
        ("Final Answer:  \n ", "no text"),
        ("```\nFinal Answer:\n```", "no text"),
        ("Action:", "no tool's name"),
        ("Action: ``\nArgs: {}", "no tool's name"),
        ("Action: t\nArgs: q=x", "no JSON object but: 'q=x'"),
        ("Action: t\nArgs: [1]", "no JSON object"),
        ('Action: t\nArgs: {"q": "x"', "Args of 't' is no JSON object"),
        ("Action: t\nArgs: {'q': 'x'}", "Args of 't' is no JSON object"),
        ("Action: t\nArgs: " + '{"a":' * 100_000, "no JSON object"),
    ],
)
def test_what_is_not_is_named(text: str, said: str) -> None:
    with pytest.raises(ReactError, match=said):
        parse(text)


def test_text_is_shown_before_the_reply_is_whole() -> None:
    parser = ReactParser()
    assert parser.feed("Thought: I loo") == [ThoughtText("I loo")]
    assert parser.feed("k\nAct") == [ThoughtText("k")]
    assert parser.feed("ion: t\nArgs: {") == []
    assert parser.feed('"q": "}"}') == [ActionChosen("t", {"q": "}"})]
    assert parser.feed("\nObservation: x") == parser.close() == []


PARTS = st.sampled_from([
    "Thought:", "Action:", "Args:", "Final Answer:", "Action Input:", "**Thought:**", "Observation:", "thought",
    "\n", "\r\n", " ", "\t", "```", "```json\n", "`", '{"q": "a } b"}', '{"q": {"n": [1]}}', "{", "}", '"', "t",
    "search", "words and more", "none", "：", "é", "答案",
])  # fmt: skip


@st.composite
def texts_and_cuts(draw: st.DrawFn) -> list[str]:
    text = "".join(draw(st.lists(PARTS | st.text(max_size=4), max_size=14)))
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


@given(chunks=texts_and_cuts())
@example(chunks=["```\nFinal Answer: a\n``", "`x"])
@example(chunks=["Final ", "Answer", ": a"])
def test_cuts_change_nothing(chunks: list[str]) -> None:
    whole = outcome(["".join(chunks)])
    assert outcome(chunks) == whole
    assert outcome(list("".join(chunks))) == whole


@given(chunks=texts_and_cuts())
def test_what_was_shown_is_what_was_read(chunks: list[str]) -> None:
    read_out = outcome(chunks)
    if isinstance(read_out, tuple):
        thought, shown_thought, calls, shown_final = read_out
        assert shown_thought == thought.thought
        assert shown_final == (thought.final or "")
        assert [(c.name, c.arguments) for c in calls] == (
            [(thought.action, thought.arguments)] if thought.action else []
        )
        assert bool(calls) != (thought.final is not None)


@given(
    thought=st.text("abc é.{}", min_size=1).map(str.strip).filter(bool),
    arguments=st.dictionaries(st.text(min_size=1, max_size=5), st.text(max_size=20), max_size=3),
)
def test_a_call_comes_back_as_it_was_written(thought: str, arguments: dict[str, str]) -> None:
    text = f"Thought: {thought}\nAction: search\nArgs: {json.dumps(arguments)}"
    assert parse(text) == Thought(thought=thought, action="search", arguments=arguments)
