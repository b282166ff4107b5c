"""Which analyzer splits the texts of a collection into words: asked for by name, or chosen from its first document.

What each is good at, where BM25 is asked:

============  ===========================================  ====================================================
``standard``  words between spaces and punctuation          no stemming; a Chinese clause is one word: not for it
``jieba``     Chinese by dictionary, words of A to Z        letters with accents and other alphabets fall apart
``english``   as standard, and stemmed (on a server)        English alone
``chinese``   as jieba (on a server)                        keeps the case of Latin letters: Chinese alone
============  ===========================================  ====================================================
"""

from __future__ import annotations

import re
from collections.abc import Collection

from clew_services.errors import AnalyzerMismatch, BadRequest

AUTO = "auto"

SAMPLE = 200_000
"""Characters of a document that are looked at."""
SOME = 0.01
"""The share of letters from which a script counts as used; below it are names and quotations."""
ALMOST_ALL = 0.9
"""The share of Han characters from which a text counts as Chinese alone."""

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_LATIN = re.compile("[A-Za-z]")
_LETTER = re.compile(r"[^\W\d_]")


def choose(asked: str, text: str, offered: Collection[str], store: str) -> str:
    """The analyzer of a new collection whose first document has ``text``, of those that ``store`` offers.

    ``auto`` looks at the scripts. Han characters: ``chinese`` where they are almost all and the store has it, else
    ``jieba``. Letters beyond A to Z: ``standard``. Else ``english`` where the store has it, else ``jieba``, which
    splits English as well and serves Chinese documents that come later; so it is for a text without letters.
    Raises BadRequest for one that the store does not offer.
    """
    if asked != AUTO:
        if asked not in offered:
            raise BadRequest(
                f"there is no analyzer {asked!r} on {store}: it offers {', '.join(sorted(offered))}, or auto"
            )
        return asked
    return next((name for name in _fitting(text[:SAMPLE]) if name in offered), "standard")


def _fitting(text: str) -> tuple[str, ...]:
    """The analyzers that suit ``text``, best first."""
    letters = len(_LETTER.findall(text))
    if not letters:
        return ("jieba",)
    han = len(_HAN.findall(text)) / letters
    if han >= SOME:
        return ("chinese", "jieba") if han >= ALMOST_ALL else ("jieba", "chinese")
    beyond = 1 - han - len(_LATIN.findall(text)) / letters
    return ("standard",) if beyond >= SOME else ("english", "jieba")


def check(collection: str, has: str, asked: str) -> None:
    """Raise AnalyzerMismatch when ``asked`` names another analyzer than the one ``collection`` was made with.

    ``auto`` and ``""`` ask for none; ``has`` is ``""`` where nobody knows.
    """
    if asked not in ("", AUTO) and has not in ("", asked):
        raise AnalyzerMismatch(
            f"collection {collection!r} was made with the analyzer {has}, not {asked}: leave the analyzer out, or "
            "ingest into another collection"
        )
