"""Server-sent events: read as the standard says, wherever the bytes are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_services.adapters.models.sse import SseDecoder


def decoded(chunks: list[bytes]) -> list[str]:
    decoder = SseDecoder()
    return [data for chunk in chunks for data in decoder.feed(chunk)] + decoder.close()


@pytest.mark.parametrize(
    ("raw", "events"),
    [
        (b"data: a\n\ndata:b\n\n", ["a", "b"]),
        (b"data: a\r\n\r\ndata: b\r\rdata: c", ["a", "b", "c"]),
        (b"data: a\r\ndata: b\r\n\r\n", ["a\nb"]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b"event: x\nid: 1\n: hello\nretry: 5\ndata: a\ndata: b\n\n: bye\n\n", ["a\nb"]),
        ("data: \u2028\x85\x0b\n\n".encode(), ["\u2028\x85\x0b"]),
        (b"data\n\n", [""]),
        (b"data:  two\n\n", [" two"]),
        (b"data: \xff\n\n", ["\ufffd"]),
        (b"\n\n\n", []),
    ],
)
def test_events_are_read_as_the_standard_says(raw: bytes, events: list[str]) -> None:
    assert decoded([raw]) == events
    assert decoded([raw[i : i + 1] for i in range(len(raw))]) == events


@given(
    lines=st.lists(
        st.sampled_from(["data: é", "data:世", ": c", "", "event: e", "data"]) | st.text(max_size=5),
        max_size=8,
    ),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    places=st.lists(st.integers(0, 60), max_size=6),
)
def test_cuts_between_bytes_change_nothing(lines: list[str], end: str, places: list[int]) -> None:
    raw = end.join(lines).encode()
    cuts = [0, *sorted(min(p, len(raw)) for p in places), len(raw)]
    assert decoded([raw[a:b] for a, b in pairwise(cuts)]) == decoded([raw])
