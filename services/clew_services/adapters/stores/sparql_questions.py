"""A caller's SPARQL query, made one about a single collection on a server that holds many.

The text is read token by token, by SPARQL 1.1's own terminals (19.8), and written anew from these: what is none is
refused, so that nothing can hide in what we and the server would read differently. SERVICE, FROM and updates are too.
A graph that is named becomes the collection's graph that stands for it; a variable that ranges over graphs ranges over
what they stand for. Which graphs there are at all is said beside the query, by the protocol's parameters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from clew_services.adapters.stores.sparql_index import STANDS_FOR
from clew_services.adapters.stores.sparql_text import FORMS, REFUSED, check_question, unescaped
from clew_services.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew_services.adapters.stores.sparql_index import Place

DEEPEST = 100
"""How deep groups may be in groups."""

HIDDEN = "clew_graph_"
"""How the variables begin that are put into a query."""

_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\r\n]+ | \#[^\n\r]*)
    | (?P<iri><[^<>"{}|^`\\\x00-\x20]*>)
    | (?P<string>
          \"{3}(?:\"{0,2}(?:[^"\\]|\\[tbnrf\\"']))*\"{3}
        | '{3}(?:'{0,2}(?:[^'\\]|\\[tbnrf\\"']))*'{3}
        | "(?:[^"\\\n\r]|\\[tbnrf\\"'])*"
        | '(?:[^'\\\n\r]|\\[tbnrf\\"'])*' )
    | (?P<variable>[?$][\w\u00b7]+)
    | (?P<tag>@[A-Za-z]+(?:-[A-Za-z0-9]+)*(?:--[a-z]+)?)
    | (?P<pname>(?:[^\W\d_][\w.\-\u00b7]{0,255}+(?<!\.))?+ :
          (?:(?:[\w:]|%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%])
             (?:(?:[\w\-\u00b7:.]|%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%])*
                (?:[\w\-\u00b7:]|%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%]))?)?)
    | (?P<blank>_:\w(?:[\w.\-\u00b7]*[\w\-\u00b7])?)
    | (?P<number>[0-9]+\.[0-9]*[eE][+-]?[0-9]+ | [0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)? | [0-9]+(?:[eE][+-]?[0-9]+)?)
    | (?P<word>[A-Za-z][A-Za-z0-9_]*)
    | (?P<sign><<\(|\)>>|<<|>>|\{\||\|\}|\^\^|&&|\|\||!=|<=|>=|[{}()\[\];,.=<>!*/+\-^|?~])
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a query: its kind, as in the grammar above, and its text.

    ``tight``: written without a space before it. A number's sign is part of it, and Oxigraph 0.5 reads ``CONCAT (`` as
    an error.
    """

    kind: str
    text: str
    tight: bool = False

    @property
    def word(self) -> str:
        """The keyword that it is, if any."""
        return self.text.upper() if self.kind == "word" else ""


@dataclass(frozen=True, slots=True)
class Question:
    """What is sent: the text, and which form it has."""

    form: str
    text: str


def question(sparql: str, place: Place, *, limit: int) -> Question:
    """``sparql`` about the graphs of ``place``; a SELECT gives at most ``limit`` rows. Raises BadRequest."""
    check_question(sparql)  # what an engine may read otherwise than we do below
    if unescaped(sparql) != sparql:
        # Of the two ways to read an escape, before or after there are tokens, neither may hide anything.
        _check([*_words(unescaped(sparql))])
        raise BadRequest("a query with \\u escapes: write the characters themselves")
    tokens = [*_words(sparql)]
    form = _check(tokens)
    if form == "SELECT":
        tokens = _bounded(tokens, limit)
    return Question(form=form, text="".join(_Rewriting(place, tokens).run()))


def _words(sparql: str) -> Iterator[Token]:
    at, sign, word = 0, False, False
    while at < len(sparql):
        found = _TOKEN.match(sparql, at)
        if found is None or found.end() == at:
            raise BadRequest(f"no SPARQL at character {at + 1}: {sparql[at : at + 20]!r}")
        if found.lastgroup != "space":
            tight = (sign and found.lastgroup == "number") or (word and found.group() == "(")
            word = found.lastgroup == "word"
            yield Token(found.lastgroup or "", found.group(), tight=tight)
        sign = found.group() in {"+", "-"}
        at = found.end()


def _check(tokens: Sequence[Token]) -> str:
    """The form of a query that may be asked. Raises BadRequest for what may not."""
    prologue, form, depth = {"BASE", "PREFIX", "VERSION"}, "", 0
    for token in tokens:
        if token.word in REFUSED:
            raise BadRequest(f"SPARQL {token.word} is refused: {REFUSED[token.word]}")
        form = form or (token.word if token.word not in prologue else "")
        depth += {"{": 1, "}": -1}.get(token.text, 0) if token.kind == "sign" else 0
        if not 0 <= depth <= DEEPEST:
            raise BadRequest("a query whose braces do not match, or that is nested too deep")
    if form not in FORMS:
        raise BadRequest(f"a query begins with SELECT, ASK, CONSTRUCT or DESCRIBE, not {form or 'nothing'}")
    if depth:
        raise BadRequest("a query whose last group does not end")
    return form


def _bounded(tokens: list[Token], limit: int) -> list[Token]:
    """The same SELECT with a LIMIT of its own or ``limit``, whichever is less."""
    depth, after, values = 0, False, len(tokens)
    for at, token in enumerate(tokens):
        if token.kind == "sign":
            depth += {"{": 1, "}": -1}.get(token.text, 0)
            after = after or depth > 0
        if after and depth == 0 and token.word == "LIMIT" and at + 1 < len(tokens):
            given = tokens[at + 1].text
            least = str(min(int(given), limit)) if given.isascii() and given.isdigit() else given
            return [*tokens[: at + 1], Token("number", least), *tokens[at + 2 :]]
        if after and depth == 0 and token.word == "VALUES":
            values = min(values, at)
    return [*tokens[:values], Token("word", "LIMIT"), Token("number", str(limit)), *tokens[values:]]


@dataclass(slots=True)
class _Rewriting:
    """A walk over tokens that puts GRAPH into terms of a collection's graphs."""

    place: Place
    tokens: Sequence[Token]
    at: int = 0
    base: str = ""
    prefixes: dict[str, str] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)

    def run(self) -> list[str]:
        written: list[str] = []
        while self.at < len(self.tokens):
            written += self._next()
        return written

    def _next(self) -> list[str]:
        token = self._take()
        if token.word == "PREFIX" and self.at + 1 < len(self.tokens):
            name, target = self.tokens[self.at], self.tokens[self.at + 1]
            self.prefixes[name.text.removesuffix(":")] = target.text[1:-1]
        elif token.word == "BASE" and self.at < len(self.tokens):
            self.base = self.tokens[self.at].text[1:-1]
        elif token.word == "GRAPH" and self.at < len(self.tokens):
            return self._graph(token)
        return [token.text if token.tight else f" {token.text}"]

    def _graph(self, keyword: Token) -> list[str]:
        name = self._take()
        if name.kind in {"iri", "pname"}:
            return [f" {keyword.text} {self.place.graph(self._resolved(name))}"]
        if name.kind != "variable":
            return [f" {keyword.text} {name.text}"]
        own = f"?{HIDDEN}{next(self.numbers)}"
        opening = f" {{ GRAPH {self.place.names} {{ {own} {STANDS_FOR} {name.text} }}"
        return [f"{opening} {keyword.text} {own}", *self._group(), " }"]

    def _group(self) -> list[str]:
        """All up to the end of the group that begins here."""
        written: list[str] = []
        depth = 0
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            depth += {"{": 1, "}": -1}.get(token.text, 0) if token.kind == "sign" else 0
            written += self._next()
            if depth <= 0:
                break
        return written

    def _resolved(self, name: Token) -> str:
        if name.kind == "iri":
            value = name.text[1:-1]
            return value if ":" in value else urljoin(self.base, value)
        prefix, _, local = name.text.partition(":")
        if prefix not in self.prefixes:
            raise BadRequest(f"the prefix {prefix}: is not declared")
        return self.prefixes[prefix] + re.sub(r"\\(.)", r"\1", local)

    def _take(self) -> Token:
        token = self.tokens[self.at]
        self.at += 1
        return token
