"""Real messages and files, spoilt: what a broken disk, a hasty script or an attacker makes of them."""

from __future__ import annotations

import random
from collections.abc import Callable

TOKENS = (
    *(
        b"\x00",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b"\\ud800",
        b"\\u0000",
        b"\x1b[31m",
        b"\xe2\x80\xae",
    ),
    *(b"NaN", b"-Infinity", b"1e999", b"9" * 400, b"-0", b"null", b"true", b'""', b"[]", b"{}", b'"', b"\\"),
    *(
        b"[" * 2_000,
        b'{"a":' * 2_000,
        b"<" * 50,
        b"<!ENTITY a 'b'>",
        b"<!DOCTYPE x>",
        b"&a;",
        b"]]>",
        b"<?xml?>",
    ),
    *(
        b"' OR 1=1 --",
        b"; DROP ALL",
        b"SERVICE <http://x>",
        b"../../etc/passwd",
        b"%00",
        b"$(id)",
        b"{{7*7}}",
    ),
    *(b"A" * 70_000, b"\xf0\x9f\xa7\xb5" * 1_000, b"\r\n\r\n", b"\t" * 300),
)


def mutated(seed: bytes, dice: random.Random) -> bytes:
    """``seed`` after one to six changes; a few times it is something else altogether."""
    data = bytearray(seed)
    for _ in range(dice.choice([1, 1, 2, 3, 6])):
        dice.choice(_CHANGES)(data, dice)
    return bytes(data[:400_000])


def _place(data: bytearray, dice: random.Random) -> int:
    return dice.randrange(len(data) + 1)


def _flip(data: bytearray, dice: random.Random) -> None:
    for _ in range(dice.choice([1, 4, 32])):
        if data:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def _cut(data: bytearray, dice: random.Random) -> None:
    begin = _place(data, dice)
    del data[begin : begin + dice.choice([1, 8, 200, len(data)])]


def _insert(data: bytearray, dice: random.Random) -> None:
    place = _place(data, dice)
    data[place:place] = dice.choice(TOKENS)


def _replace(data: bytearray, dice: random.Random) -> None:
    """A value, as JSON and XML have them, by something else."""
    token, place = dice.choice(TOKENS), _place(data, dice)
    ends = [end for end in (data.find(sign, place) for sign in (b",", b"}", b"]", b"<", b"\n")) if end >= 0]
    data[place : min(ends, default=len(data))] = token


def _splice(data: bytearray, dice: random.Random) -> None:
    begin = _place(data, dice)
    piece = data[begin : begin + dice.choice([4, 40, 400])]
    place = _place(data, dice)
    data[place:place] = piece * dice.choice([1, 2, 20])


def _swap(data: bytearray, dice: random.Random) -> None:
    """Types: numbers become texts, texts lists, and so on."""
    pairs = ((b'":', b'":['), (b'"', b"1"), (b"[", b"{"), (b"{", b"["), (b"0", b'"0"'), (b"true", b'"true"'))
    old, new = dice.choice(pairs)
    place = data.find(old, _place(data, dice))
    if place >= 0:
        data[place : place + len(old)] = new


def _else(data: bytearray, dice: random.Random) -> None:
    if dice.random() < 0.2:
        data[:] = dice.randbytes(dice.randrange(300))


_CHANGES: tuple[Callable[[bytearray, random.Random], None], ...] = (
    *(_flip, _cut, _insert, _insert, _replace, _replace, _splice, _swap, _else),
)
