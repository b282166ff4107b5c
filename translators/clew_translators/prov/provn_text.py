"""The text of a PROV-N document and a place in it: what comes next, and errors that say where."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clew_translators.namespaces import PROV, XSD
from clew_translators.prov.building import NotProv
from clew_translators.prov.qnames import PREFIX, QUALIFIED, unescaped
from clew_translators.refusal import found

if TYPE_CHECKING:
    from collections.abc import Callable

FORMAT = "PROV-N"

_SPACE = re.compile(r"(?:\s+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]+")
_PREFIX = re.compile(PREFIX)
_QUALIFIED = re.compile(QUALIFIED)
_EXISTENTIAL = re.compile(r"_:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?")
_QUOTED_EXISTENTIAL = re.compile(f"'({_EXISTENTIAL.pattern})'")
_QUOTED_NAME = re.compile(rf"'({QUALIFIED})'")
_IRI = re.compile(r"<([^<>\"{}|^`\\\x00-\x20]*)>")
_STRING = re.compile(r'"""((?:"{0,2}(?:[^"\\]|\\.))*)"""|"((?:[^"\\\r\n]|\\.)*)"', re.DOTALL)
_LANGUAGE = re.compile(r"@([A-Za-z]+(?:-[A-Za-z0-9]+)*)")
_INTEGER = re.compile(r"-?[0-9]+(?![\w:.-])")
_TIME = re.compile(
    r"-?[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:[0-9]{2})?"
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}


class Text:
    """A PROV-N text, read from its beginning; every ``take`` skips white space and comments first."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.namespaces: dict[str, str] = {"prov": PROV, "xsd": XSD}
        """Namespaces by their prefix; ``""`` is the default one."""
        self._skip()

    # --- words and signs --------------------------------------------------------------------------

    def peek(self, sign: str) -> bool:
        """Whether ``sign`` comes next."""
        return self._text.startswith(sign, self._at)

    def take(self, sign: str) -> bool:
        """Take ``sign`` if it comes next."""
        taken = self.peek(sign)
        if taken:
            self._move(self._at + len(sign))
        return taken

    def need(self, sign: str) -> None:
        """Take ``sign``, which must come next."""
        if not self.take(sign):
            raise self.problem(f"expected {sign!r}")

    def word(self) -> str:
        """The letters that come next, without taking them."""
        match = _WORD.match(self._text, self._at)
        return match[0] if match else ""

    def ended(self) -> bool:
        """Whether nothing is left."""
        return self._at == len(self._text)

    def problem(self, problem: str, *, instead: bool = True) -> NotProv:
        """An error about the place where the text is, and what stands there ``instead``."""
        line = self._text.count("\n", 0, self._at) + 1
        column = self._at - self._text.rfind("\n", 0, self._at)
        rest = self._text[self._at :].partition("\n")[0].rstrip("\r")
        if instead:
            problem += (
                f", found {found(rest) if rest else 'the end of the line' if not self.ended() else 'the end'}"
            )
        return NotProv(FORMAT, problem, f"line {line}, column {column}")

    # --- names ------------------------------------------------------------------------------------

    def prefix(self) -> str:
        """A prefix that is being declared."""
        return self._match(_PREFIX, "a prefix")[0]

    def iri(self) -> str:
        """An IRI in angle brackets."""
        return self._match(_IRI, "an IRI in angle brackets")[1]

    def name(self) -> str:
        """A qualified name, as its IRI. ``_:label``, which is not PROV-N's, names what is not named."""
        if match := _EXISTENTIAL.match(self._text, self._at):
            self._move(match.end())
            return match[0]
        return self._name(_QUALIFIED, "a qualified name")

    def name_before(self, declarations: Callable[[], None]) -> str:
        """A name that comes before the ``declarations`` that it is to be read by."""
        before = self._at
        if (match := _EXISTENTIAL.match(self._text, before)) is None:
            match = self._match(_QUALIFIED, "a qualified name")
        self._move(match.end())
        declarations()
        after, self._at = self._at, before
        name = self.name()
        self._at = after
        return name

    def quoted_name(self) -> str:
        """A qualified name in apostrophes, as its IRI."""
        if match := _QUOTED_EXISTENTIAL.match(self._text, self._at):
            self._move(match.end())
            return match[1]
        return self._name(_QUOTED_NAME, "a qualified name in apostrophes")

    def _name(self, pattern: re.Pattern[str], what: str) -> str:
        before = self._at
        match = self._match(pattern, what)
        prefix = match["prefix"] or ""
        if prefix not in self.namespaces:
            self._at = before
            told = f"the prefix {prefix!r} is" if prefix else "a default namespace is"
            raise self.problem(f"{told} not declared", instead=False)
        return self.namespaces[prefix] + unescaped(match["local"] or match["alone"] or "")

    # --- values -----------------------------------------------------------------------------------

    def time(self) -> str:
        """An ``xsd:dateTime``, as it is written."""
        return self._match(_TIME, "a time like 2026-01-31T12:00:00Z")[0]

    def take_time(self) -> bool:
        """Take a time if one comes next."""
        match = _TIME.match(self._text, self._at)
        if match:
            self._move(match.end())
        return match is not None

    def integer(self) -> str:
        """A whole number, or ``""`` when none comes next."""
        match = _INTEGER.match(self._text, self._at)
        if match:
            self._move(match.end())
        return match[0] if match else ""

    def string(self) -> str:
        """A string literal, without its quotation marks and escapes."""
        before = self._at
        match = self._match(_STRING, "a string in quotation marks")
        try:
            return _ESCAPE.sub(_character, match[1] if match[1] is not None else match[2])
        except ValueError as error:
            self._at = before
            raise self.problem(str(error), instead=False) from None

    def language(self) -> str:
        """The language of the string that was just read, or ``""``."""
        match = _LANGUAGE.match(self._text, self._at)
        if match:
            self._move(match.end())
        return match[1] if match else ""

    # --- the place --------------------------------------------------------------------------------

    def _match(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        match = pattern.match(self._text, self._at)
        if match is None:
            raise self.problem(f"expected {what}")
        self._move(match.end())
        return match

    def _move(self, at: int) -> None:
        self._at = at
        self._skip()

    def _skip(self) -> None:
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at


def _character(escape: re.Match[str]) -> str:
    if digits := escape[1] or escape[2]:
        code = int(digits, 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise ValueError(f"\\u{digits} is no character")
        return chr(code)
    if escape[3] not in _ESCAPES:
        raise ValueError(f"\\{escape[3]} escapes nothing")
    return _ESCAPES[escape[3]]
