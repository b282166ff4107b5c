"""Text that others wrote, made safe to show to a model: it stays data, whatever it says.

Two things are done. A *boundary* is made that occurs in none of the texts, so that no text can end the
block it stands in. And characters that a reader does not see, but a model or its server may obey, are
made visible.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import count

_UNSEEN = re.compile(
    "["
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls, except tab and line ends
    "\u200b\u2060\ufeff"  # spaces of no width
    "\u202a-\u202e\u2066-\u2069"  # text written right to left to be read otherwise
    "\U000e0000-\U000e007f"  # tags: a second alphabet that no font shows
    "]"
)
_SPECIAL_TOKEN = re.compile(r"<\|")
_SPACES = re.compile(r"\s+")


def boundary(texts: Iterable[str]) -> str:
    """A short word that occurs in none of ``texts``, in no case, and is a function of them alone.

    Twelve hexadecimal digits of SHA-256 over a number and the texts; the first number that will do.
    """
    known = "\0".join(texts)
    digests = (sha256(f"{number}\0{known}".encode(errors="replace")).hexdigest() for number in count())
    return first_absent((digest[:12] for digest in digests), known)


def first_absent(words: Iterable[str], text: str) -> str:
    """The first of ``words`` (lower case) that does not occur in ``text``, in any case; StopIteration if all do."""
    folded = text.casefold()
    return next(word for word in words if word not in folded)


def visible(text: str) -> str:
    """``text`` with unseen characters shown as U+FFFD and chat templates' ``<|`` broken up.

    Lengths may change: never take offsets from the result.
    """
    return _SPECIAL_TOKEN.sub("< |", _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text))


def block(kind: str, text: str, mark: str, attributes: Mapping[str, str | int] | None = None) -> str:
    """``text`` between ``<kind-mark …>`` and ``</kind-mark>``, each on a line of its own.

    ``mark`` must come from :func:`boundary` over everything untrusted in the prompt. Raises ValueError if
    ``mark`` occurs in the text or in an attribute: then the block could be ended from inside.
    """
    named = {name: _attribute(str(value)) for name, value in (attributes or {}).items()}
    if any(mark in part.casefold() for part in (text, *named.values())):
        raise ValueError(f"the boundary {mark!r} occurs in the text of a {kind} block")
    opening = " ".join([f"<{kind}-{mark}", *(f'{name}="{value}"' for name, value in named.items())])
    return f"{opening}>\n{visible(text)}\n</{kind}-{mark}>"


def _attribute(value: str) -> str:
    """A value that cannot leave its quotes or its line."""
    flat = _SPACES.sub(" ", visible(value)).strip()
    return flat.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
