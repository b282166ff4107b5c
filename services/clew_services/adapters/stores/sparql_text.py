"""What of a SPARQL text may be asked of a trace store: questions, about the collection at hand and nothing else.

Engines are told to read only as well. This says beforehand what is refused and why, in the same words whatever the
engine, and keeps from it what it would do for others' sake: fetch from elsewhere.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from clew_services.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LONGEST_QUERY = 100_000
"""Characters of a query."""

FORMS = frozenset({"SELECT", "ASK", "CONSTRUCT", "DESCRIBE"})
"""The queries that only read."""

_UPDATES = ("INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH", "USING")
REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "SERVICE": "it asks another server",
        "FROM": "the dataset is the collection's; name one of its graphs with GRAPH",
        **dict.fromkeys(_UPDATES, "traces are only read here"),
    }
)

# SPARQL 1.1, 19.8: what is no keyword, so that only bare words are left. Long strings go before short ones. Each
# character is read a few times at most, however a text is made: whoever checks it has other things to do.
_TOKENS = re.compile(
    r"""
      (?P<iri><[^<>"{}|^`\\\x00-\x20]*+>)
    | \"{3}(?:(?:\"|\"\")?(?:[^"\\]|\\.))*\"{3}
    | '{3}(?:(?:'|'')?(?:[^'\\]|\\.))*'{3}
    | "(?:[^"\\\n\r]|\\.)*+"
    | '(?:[^'\\\n\r]|\\.)*+'
    | (?P<unclosed>["'])
    | \#[^\n\r]*+
    | [?$@][\w-]*+
    | (?P<name>\w[\w.-]*+)?+:
      (?:(?:[\w:%]|\\[_~.!$&'()*+,;=/?\#@%-])(?:[\w:.%-]|\\[_~.!$&'()*+,;=/?\#@%-])*+)?+
    | (?P<word>\w[\w.-]*+)
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_WORD = re.compile(r"[A-Za-z]\w*+")
_CODEPOINT = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")


def check_question(sparql: str) -> None:
    """Return when ``sparql`` is a SELECT, ASK, CONSTRUCT or DESCRIBE about the dataset at hand, else raise BadRequest.

    Whether it is well formed is for the engine to say.
    """
    if len(sparql) > LONGEST_QUERY:
        raise BadRequest(f"a query of more than {LONGEST_QUERY} characters: ask for less at once")
    # An engine may take \u0053ERVICE for the keyword, or for an error: both readings must be harmless.
    for text in {sparql, unescaped(sparql)}:
        _check(text)


def _check(text: str) -> None:
    words = [word.upper() for word in _words(text)]
    form = next((word for word in words if word not in {"BASE", "PREFIX", "VERSION"}), "")
    # An engine need not want blanks between words: SERVICESILENT, 1e0SERVICE and trueSERVICE:x are calls, too.
    fetches = next((each for word in words for each in ("SERVICE", "FROM") if each in word), "")
    refused = fetches or next((word for word in words if word in REFUSED), "")
    if refused:
        raise BadRequest(f"SPARQL {refused} is refused: {REFUSED[refused]}")
    if form not in FORMS:
        raise BadRequest(
            f"a query begins with SELECT, ASK, CONSTRUCT or DESCRIBE, not {form[:40] or 'nothing'}"
        )


def _words(text: str) -> Iterator[str]:
    """The bare words of ``text``, and what else an engine may take for one. Raises BadRequest."""
    for found in _TOKENS.finditer(text):
        if found["unclosed"]:
            raise BadRequest(f"a text in the query is not closed: it begins at character {found.start() + 1}")
        if found["word"]:
            yield from _WORD.findall(found["word"])
        elif found["name"] and "SERVICE" in found["name"].upper():
            yield "SERVICE"  # as the name of a prefix
        elif found["iri"] and ")" in found["iri"]:
            yield from _WORD.findall(found["iri"].partition(")")[2])  # it may be less than, and more than


def unescaped(sparql: str) -> str:
    """``sparql`` with its codepoint escapes (19.2) read, as an engine may that reads them before there are tokens."""
    return _CODEPOINT.sub(_character, sparql)


def _character(found: re.Match[str]) -> str:
    code = int(found[1] or found[2], 16)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else found[0]
