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
    from collections.abc import Mapping

LONGEST_QUERY = 100_000
"""Characters of a query."""

FORMS = frozenset({"SELECT", "ASK", "CONSTRUCT", "DESCRIBE"})

_UPDATES = ("INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH", "USING")
_WHY: Mapping[str, str] = MappingProxyType(
    {
        "SERVICE": "it asks another server",
        "FROM": "the dataset is the collection's; name one of its graphs with GRAPH",
        **dict.fromkeys(_UPDATES, "traces are only read here"),
    }
)

# SPARQL 1.1, 19.8: what is no keyword, so that only bare words are left. Long strings go before short ones.
_TOKENS = re.compile(
    r"""
      <[^<>"{}|^`\\\x00-\x20]*>
    | \"{3}(?:(?:\"|\"\")?(?:[^"\\]|\\.))*\"{3}
    | '{3}(?:(?:'|'')?(?:[^'\\]|\\.))*'{3}
    | "(?:[^"\\\n\r]|\\.)*"
    | '(?:[^'\\\n\r]|\\.)*'
    | \#[^\n\r]*
    | [?$@][\w-]*
    | (?:\w[\w.-]*)?:[\w:.%\\-]*
    | (?P<word>[A-Za-z]\w*)
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_CODEPOINT = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")


def check_question(sparql: str) -> None:
    """Return when ``sparql`` is a SELECT, ASK, CONSTRUCT or DESCRIBE about the dataset at hand, else raise BadRequest.

    Whether it is well formed is for the engine to say.
    """
    if len(sparql) > LONGEST_QUERY:
        raise BadRequest(f"a query of more than {LONGEST_QUERY} characters: ask for less at once")
    # An engine may take \u0053ERVICE for the keyword, or for an error: both readings must be harmless.
    for text in {sparql, _CODEPOINT.sub(_character, sparql)}:
        _check(text)


def _check(text: str) -> None:
    words = [found["word"].upper() for found in _TOKENS.finditer(text) if found["word"]]
    form = next((word for word in words if word not in {"BASE", "PREFIX", "VERSION"}), "")
    refused = next((word for word in words if word in _WHY), "")
    if refused:
        raise BadRequest(f"SPARQL {refused} is refused: {_WHY[refused]}")
    if form not in FORMS:
        raise BadRequest(f"a query begins with SELECT, ASK, CONSTRUCT or DESCRIBE, not {form or 'nothing'}")


def _character(found: re.Match[str]) -> str:
    code = int(found[1] or found[2], 16)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else found[0]
