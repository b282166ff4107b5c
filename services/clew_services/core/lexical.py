"""Words of a text, and BM25 over them: the lexical leg where no search engine is at hand."""

from __future__ import annotations

import heapq
import math
import re
import unicodedata
from collections import Counter

from clew_services.core.stopwords import STOP_WORDS

K1 = 1.2
"""Saturation of term frequency: Milvus's and Lucene's default."""
B = 0.75
"""Weight of a document's length: the same."""

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_KANA_HANGUL = "\u3040-\u30ff\uac00-\ud7af"
_CJK = _HAN + _KANA_HANGUL
_RUNS = re.compile(rf"([{_CJK}]+)|([^\W_{_CJK}]+)")


def terms(text: str) -> list[str]:
    """The words of ``text`` in lower case, and the character bigrams of its Chinese, Japanese and Korean runs.

    A run of one such character is a term by itself. Full-width and compatibility forms are folded (NFKC).
    """
    found: list[str] = []
    for cjk, word in _RUNS.findall(unicodedata.normalize("NFKC", text).lower()):
        if word:
            found.append(word)
        elif len(cjk) == 1:
            found.append(cjk)
        else:
            found.extend(cjk[n : n + 2] for n in range(len(cjk) - 1))
    return found


class Bm25Index:
    """Texts by id, ranked by BM25. Adding and removing cost what the text is long; nothing is rebuilt.

    Stop words are left out on both sides.

    A text's score is the sum over the question's distinct terms of ``idf * tf * (K1 + 1) / (tf + K1 *
    (1 - B + B * length / average length))`` with ``idf = ln(1 + (N - n + 0.5) / (n + 0.5))``: Robertson and
    Zaragoza, "The Probabilistic Relevance Framework", 2009, eq. 3.15, with Lucene's idf, which is never
    negative. So every score is positive, and larger is better.
    """

    def __init__(self) -> None:
        self._postings: dict[str, dict[str, int]] = {}
        self._counts: dict[str, Counter[str]] = {}
        self._lengths: dict[str, int] = {}
        self._total = 0

    def __len__(self) -> int:
        return len(self._counts)

    def add(self, key: str, text: str) -> None:
        """Index ``text`` under ``key``, in place of what was there."""
        self.remove(key)
        counts = Counter(term for term in terms(text) if term not in STOP_WORDS)
        self._counts[key] = counts
        self._lengths[key] = counts.total()
        self._total += counts.total()
        for term, count in counts.items():
            self._postings.setdefault(term, {})[key] = count

    def remove(self, key: str) -> None:
        """Forget ``key``; nothing if it is not there."""
        counts = self._counts.pop(key, None)
        if counts is None:
            return
        self._total -= self._lengths.pop(key)
        for term in counts:
            holders = self._postings[term]
            del holders[key]
            if not holders:
                del self._postings[term]

    def search(self, question: str, limit: int) -> list[tuple[str, float]]:
        """The ``limit`` best keys with their scores, best first, ties by key; only texts that share a term."""
        scores: dict[str, float] = {}
        average = self._total / len(self._counts) if self._counts else 0.0
        for term in set(terms(question)) - STOP_WORDS:
            holders = self._postings.get(term, {})
            idf = math.log(1 + (len(self._counts) - len(holders) + 0.5) / (len(holders) + 0.5))
            for key, count in holders.items():
                saturation = count + K1 * (1 - B + B * self._lengths[key] / average)
                scores[key] = scores.get(key, 0.0) + idf * count * (K1 + 1) / saturation
        return heapq.nsmallest(limit, scores.items(), key=lambda item: (-item[1], item[0]))
