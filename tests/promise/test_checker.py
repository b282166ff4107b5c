"""The checker catches each violation that it claims to catch, in histories made by hand; and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.promise.checker import KINDS, NOTHING, summary, table, violations
from tests.promise.history import (
    Acked,
    Asked,
    Batch,
    Boxed,
    Buried,
    Called,
    Ended,
    Event,
    Fault,
    Heard,
    History,
    Published,
    Recorded,
    Recovered,
    Traced,
    line,
    read,
)

STEP = "document-rag.plan"


def good(n: int = 0) -> list[Event]:
    """One question that is answered, in order."""
    end: dict[str, Any] = {"topic": "answers", "message_id": f"m{n}", "digest": "d1"}
    asked = Asked(at=1, id=f"q{n}", topic="questions", session_id=f"s{n}", collection="c", digest="d0")
    return [
        asked,
        Called(at=2, step=STEP, cause=f"c{n}", model="planner", key="k"),
        Recorded(at=3, step=STEP, cause=f"c{n}", digest="r"),
        Published(at=4, attempt=1, **end),
        Published(at=4, attempt=1, **end),
        Batch(at=4, run=f"urn:{n}", name=f"b{n}", digest="t"),
        Batch(at=4, run=f"urn:{n}", name=f"b{n}", digest="t"),
        Acked(at=5, step=STEP, topic="questions", broker_id="1", cause=f"c{n}"),
        Acked(at=5, step="grading.grade", topic="t", broker_id="2", cause="unrecorded step"),
        Buried(at=5, letter_id=f"l{n}", cause="x", step=STEP, digest="b"),
        Boxed(at=6, letter_id=f"l{n}", digest="b"),
        Heard(at=6, id=f"q{n}", **end),
        Heard(at=6, id=f"q{n}", outcome="answer", **end),
        Heard(at=7, id=f"q{n}", outcome="answer", **end),
        Traced(at=8, run=f"urn:{n}", session_id=f"s{n}", ended=True),
    ]


END = Ended(at=9, backlog={"sub": 0})


def kinds(events: list[Event]) -> set[str]:
    return {each.kind for each in violations(events)}


def test_a_good_history_has_nothing_against_it() -> None:
    """Deliveries, publications and batches that come twice are the same ones."""
    events = [*good(0), *good(1), END]
    assert violations(events) == ()
    assert summary(events) == replace(NOTHING, tried=2)
    untraced = Asked(at=1, id="silent", topic="t", session_id="", collection="c", digest="d")
    assert (
        kinds(
            [
                *events,
                untraced,
                Heard(at=2, id="silent", topic="t", message_id="m", digest="d", outcome="refusal"),
            ]
        )
        == set()
    )


def without(kind: type) -> list[Event]:
    return [each for each in good() if not isinstance(each, kind)]


def changed(kind: type, **changes: Any) -> list[Event]:
    """With one more event of ``kind``, changed, after the last one of it."""
    events = good()
    last = max(n for n, each in enumerate(events) if isinstance(each, kind))
    return [*events[: last + 1], replace(events[last], **changes), *events[last + 1 :]]


def instead(kind: type, **changes: Any) -> list[Event]:
    return [replace(each, **changes) if isinstance(each, kind) else each for each in good()]


def _failed(error: str, **buried: str) -> list[Event]:
    """The end of a request that failed, and the letter of another one or its own."""
    end = Heard(at=6, id="q0", topic="answers", message_id="m0", digest="d1", outcome="error", error=error)
    letter = Buried(at=5, letter_id="l0", cause="x", step=STEP, digest="b", **buried)
    return [letter, Boxed(at=6, letter_id="l0", digest="b"), end]


BAD: dict[str, list[list[Event]]] = {
    "lost": [without(Heard), instead(Heard, outcome=None)],
    "twice": [changed(Heard, message_id="m9")],
    "changed": [changed(Published, digest="d9"), changed(Heard, digest="d9"), changed(Batch, digest="t9")],
    "unasked": [without(Asked), changed(Heard, id="q9")],
    "empty": [changed(Heard, empty=True)],
    "paid-twice": [[*good(), Called(at=9, step=STEP, cause="c0", model="planner", key="k")]],
    "recorded-twice": [changed(Recorded, digest="r9")],
    "early-ack": [
        [*good()[:2], good()[7], *good()[2:7], *good()[8:]],
        changed(Acked, step=STEP, cause="never recorded"),
    ],
    "unburied": [[*good()[:-4], *_failed("model-failed"), *good()[-1:]]],
    "letter-lost": [without(Boxed), instead(Boxed, letter_id="another")],
    "letter-changed": [instead(Boxed, digest="cut")],
    "untraced": [without(Traced), instead(Traced, session_id="another")],
    "trace-cut": [instead(Traced, ended=False)],
    "trace-invalid": [instead(Traced, findings=("constraint 30: …",))],
    "batch-lost": [instead(Traced, run="urn:another"), without(Traced)],
}


@pytest.mark.parametrize(
    ("kind", "number"), [(kind, n) for kind, all_ in BAD.items() for n in range(len(all_))]
)
def test_each_violation_is_caught(kind: str, number: int) -> None:
    found = kinds([*BAD[kind][number], END])
    assert kind in found
    assert not violations([*good(), END])


def test_backlog_and_a_missing_end_are_caught_and_every_kind_has_its_history() -> None:
    assert kinds([*good(), Ended(at=9, backlog={"a": 0, "b": 2})]) == {"backlog"}
    assert kinds(good()) == {"unended"}
    assert set(BAD) | {"backlog", "unended"} == set(KINDS)


def test_a_failure_has_its_letter_and_a_refusal_needs_none() -> None:
    start, trace = good()[:-4], good()[-1:]
    assert kinds([*start, *_failed("model-failed", id="q0"), *trace, END]) == set()
    assert kinds([*start, *_failed("bad-request"), *trace, END]) == set()


def test_two_who_handle_one_message_at_once_know_nothing_of_each_other() -> None:
    late = Called(at=9, step=STEP, cause="c0", model="planner", key="k", since=2.5)
    assert kinds([*good(), late, END]) == set()
    assert kinds([*good(), replace(late, since=3.5), END]) == {"paid-twice"}


def test_an_attempt_that_is_repeated_is_settled_by_its_own_record() -> None:
    again = [replace(each, cause="c0/1") if isinstance(each, Recorded) else each for each in good()]
    assert kinds([*again, END]) == set()


def test_a_letter_that_left_the_box_on_purpose_is_not_lost() -> None:
    assert kinds([*instead(Boxed, gone=True, digest="another"), END]) == set()


SPOILERS: dict[str, Any] = {
    "lost": lambda n: lambda e: None if isinstance(e, Heard) and e.id == f"q{n}" else e,
    "untraced": lambda n: lambda e: None if isinstance(e, Traced) and e.run == f"urn:{n}" else e,
    "letter-lost": lambda n: lambda e: None if isinstance(e, Boxed) and e.letter_id == f"l{n}" else e,
    "trace-cut": lambda n: (
        lambda e: replace(e, ended=False) if isinstance(e, Traced) and e.run == f"urn:{n}" else e
    ),
    "unasked": lambda n: lambda e: None if isinstance(e, Asked) and e.id == f"q{n}" else e,
}


@given(count=st.integers(1, 5), kind=st.sampled_from(sorted(SPOILERS)), data=st.data())
def test_one_spoiled_run_among_many_is_found_and_named(count: int, kind: str, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, count - 1))
    whole: list[Event] = [event for n in range(count) for event in good(n)]
    spoil = SPOILERS[kind](number)
    spoiled = [each for each in map(spoil, whole) if each is not None]
    found = violations([*spoiled, END])
    assert kind in {each.kind for each in found}
    assert all(str(number) in each.where for each in found)


def test_a_summary_counts_and_is_a_row() -> None:
    events = [*good(), Fault(at=1, what="kill", whom="a"), Recovered(at=2, whom="a", seconds=1.5), END]
    lost = summary([*without(Heard), Recovered(at=2, whom="a", seconds=0.5), END])
    assert (lost.lost, lost.duplicated, lost.invalid) == (1, 0, 0)
    both = summary(events) + lost
    assert (both.tried, both.lost, both.faults, both.recovery) == (2, 1, 1, (1.5, 0.5))
    told = table({"lite": both, "none": NOTHING}, lite={"seeds/s": "12"}).splitlines()
    assert told[0].split() == [
        "tried",
        "lost",
        "duplicated",
        "invalid",
        "traces",
        "faults",
        "recovered",
        "in,",
        "p50",
        "max",
        "seeds/s",
    ]
    assert told[1].split() == ["lite", "2", "1", "0", "0", "1", "1.00", "s", "1.50", "s", "12"]
    assert told[2].split() == ["none", "0", "0", "0", "0", "0", "-", "-"]


def test_a_history_is_read_as_it_was_written_even_if_its_writer_was_killed(tmp_path: Path) -> None:
    events = [*good(), Fault(at=1, what="kill", whom="a"), Recovered(at=2, whom="a", seconds=1.5), END]
    history = History(tmp_path / "history")
    for each in events:
        history.add(each)
    history.close()
    text = (tmp_path / "history").read_text()
    assert list(read(text.splitlines())) == events
    assert list(read((text + line(END)[:-9]).splitlines())) == events
    with pytest.raises(ValueError, match="no event"):
        list(read([line(END)[:-9], line(END)]))
    with pytest.raises(ValueError, match="no event"):
        list(read(['{"kind":"unheard of"}', line(END)]))
