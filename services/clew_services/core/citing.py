"""From the ``[n]`` of an answer to the exact span of a document that it stands for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clew_schema.evidence import Citation
from clew_services.core.chunking import PAGE_BREAK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.evidence import Evidence
    from clew_services.core.answer import Draft, Quote

MARK = re.compile(r"[\[【]\s*(\d{1,4}(?:\s*[,，、;；]\s*\d{1,4})*)\s*[\]】]")
"""A citation as it stands in a text: ``[1]``, ``[1, 2]`` or ``【1】``."""


def cited(text: str) -> tuple[int, ...]:
    """The numbers cited in ``text``, each once, in the order of their first mention; ``[1, 2]`` cites two."""
    numbers = (int(number) for mark in MARK.finditer(text) for number in re.findall(r"\d+", mark[1]))
    return tuple(dict.fromkeys(numbers))


def resolve(draft: Draft, evidence: Sequence[Evidence]) -> tuple[Citation, ...]:
    """A Citation for every quote of every number that is cited, in the order of first mention.

    ``[n]`` is the n-th of ``evidence``, from 1. A number with quotes is cited as these, in the draft's
    order; one without stands for its whole chunk. Spans are offsets into the document's text. What is cited
    and does not exist is left out (see :func:`unresolved`). Raises ValueError for a quote outside its chunk.
    """
    known = [number for number in cited(draft.text) if 1 <= number <= len(evidence)]
    return tuple(
        _citation(number, evidence[number - 1], quote)
        for number in known
        for quote in dict.fromkeys(quote for quote in draft.quotes if quote.number == number) or (None,)
    )


def unresolved(draft: Draft, evidence: Sequence[Evidence]) -> tuple[int, ...]:
    """The numbers that ``draft`` cites and that no evidence has: a model made them up."""
    return tuple(number for number in cited(draft.text) if not 1 <= number <= len(evidence))


def disarm(text: str) -> str:
    """``text`` with its own ``[3]`` turned into ``(3)``: quoted, a source's references must not cite our evidence."""
    return MARK.sub(r"(\1)", text)


def _citation(number: int, evidence: Evidence, quote: Quote | None) -> Citation:
    start, end = (quote.start, quote.end) if quote else (0, len(evidence.text))
    if not 0 <= start <= end <= len(evidence.text):
        raise ValueError(
            f"quote {start}:{end} of [{number}] lies outside its chunk of {len(evidence.text)} characters"
        )
    return Citation(
        number=number,
        chunk_id=evidence.chunk_id,
        document_id=evidence.document_id,
        version=evidence.version,
        filename=evidence.filename,
        # A chunk may span pages; the page breaks before the quote tell on which one it begins.
        page=evidence.page + evidence.text.count(PAGE_BREAK, 0, start) if evidence.page else 0,
        start=evidence.start + start,
        end=evidence.start + end,
        quote=evidence.text[start:end],
    )
