"""Cassettes: what was recorded is replayed, and nothing else is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from clew_schema.evidence import Grade
from clew_services.adapters.models.chat_recorded import NotRecorded, RecordingChat, ReplayingChat, prompt_key
from clew_services.adapters.models.chat_scripted import ScriptedChat
from clew_services.errors import Defect, ModelFailed, ModelReplyInvalid
from clew_services.ports import Prompt, Usage

PROMPT = Prompt(name="n", version="1", system="s", user="the secret question")
GRADE = Grade(relevance="weak", answerability="partial", route="clarify", missing_slots=("year",))


async def test_every_kind_of_call_comes_back_as_it_was(tmp_path: Path) -> None:
    cassette = tmp_path / "c.jsonl"
    inner = ScriptedChat(["first \u2028 line\nline", "a b c", GRADE], name="inner")
    recording = RecordingChat(inner, cassette)
    other, third = replace(PROMPT, user="other"), replace(PROMPT, user="third")
    recorded = (
        await recording.complete(PROMPT),
        [piece async for piece in recording.stream(other)],
        await recording.structured(third, Grade),
    )
    replaying = ReplayingChat(cassette)
    replayed = (
        await replaying.complete(PROMPT),
        [piece async for piece in replaying.stream(other)],
        await replaying.structured(third, Grade),
    )
    assert replayed == recorded
    assert replayed[1] == ["a ", "b ", "c", Usage(model="inner", in_token=2, out_token=3)]
    assert len(inner.calls) == 3


async def test_a_cassette_is_one_object_a_line_without_prompts(tmp_path: Path) -> None:
    cassette = tmp_path / "c.jsonl"
    recording = RecordingChat(ScriptedChat("x\ny"), cassette)
    await recording.complete(PROMPT)
    await recording.complete(PROMPT)
    lines = [json.loads(line) for line in cassette.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 2
    assert lines[0] == {
        "key": prompt_key(PROMPT),
        "prompt": "n",
        "version": "1",
        "pieces": ["x\ny"],
        "usage": {"model": "scripted", "in_token": 4, "out_token": 2},
    }
    assert "secret" not in cassette.read_text(encoding="utf-8")


async def test_the_same_prompt_gets_its_replies_in_order_then_the_last_again(tmp_path: Path) -> None:
    recording = RecordingChat(ScriptedChat(["one", "two"]), tmp_path / "c")
    for _ in range(2):
        await recording.complete(PROMPT)
    replaying = ReplayingChat(tmp_path / "c")
    assert [(await replaying.complete(PROMPT)).text for _ in range(4)] == ["one", "two", "two", "two"]


@pytest.mark.parametrize(
    "changed",
    [
        replace(PROMPT, user="?"),
        replace(PROMPT, system="?"),
        replace(PROMPT, max_tokens=1),
        replace(PROMPT, temperature=1.0),
        replace(PROMPT, version="2"),
    ],
)
async def test_another_prompt_is_not_recorded(tmp_path: Path, changed: Prompt) -> None:
    await RecordingChat(ScriptedChat("x"), tmp_path / "c").complete(PROMPT)
    replaying = ReplayingChat(tmp_path / "c")
    with pytest.raises(
        NotRecorded, match=r"no reply to prompt 'n', version '.', key \w{32}: .* record it again"
    ):
        await replaying.complete(changed)
    with pytest.raises(NotRecorded):
        await replaying.structured(PROMPT, Grade)
    assert issubclass(NotRecorded, Defect)  # not retried: the cassette will not change by itself


async def test_errors_and_streams_that_were_left_are_not_recorded(tmp_path: Path) -> None:
    recording = RecordingChat(ScriptedChat([ModelFailed("down"), "a b"]), tmp_path / "c")
    with pytest.raises(ModelFailed):
        await recording.complete(PROMPT)
    stream = recording.stream(PROMPT)
    assert await anext(stream) == "a "
    await stream.aclose()
    assert not (tmp_path / "c").exists()


async def test_a_value_whose_type_changed_is_named(tmp_path: Path) -> None:
    cassette = tmp_path / "c"
    await RecordingChat(ScriptedChat(GRADE), cassette).structured(PROMPT, Grade)
    cassette.write_text(cassette.read_text(encoding="utf-8").replace("weak", "feeble"), encoding="utf-8")
    with pytest.raises(ModelReplyInvalid, match="no Grade; record it again"):
        await ReplayingChat(cassette).structured(PROMPT, Grade)


@pytest.mark.parametrize("line", ["prose", "{}", "[]"])
def test_a_line_that_is_no_entry_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "c").write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="c, line 2: no entry of a cassette"):
        ReplayingChat(tmp_path / "c")
