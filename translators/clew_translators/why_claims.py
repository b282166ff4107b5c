"""The sentences of an answer, and which of the spans that are cited for one it means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_schema.evidence import Claim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.evidence import Citation, CitationCheck
    from clew_schema.facts import AnswerWritten


def claims_of_checks(written: AnswerWritten) -> tuple[Claim, ...]:
    """The sentences that cite, for a run that was told before claims were: a verdict as good as its best check."""
    order = ("supported", "misattributed", "unsupported")
    spans: dict[tuple[int, int], list[CitationCheck]] = {}
    for check in written.checks:
        spans.setdefault((check.start, check.end), []).append(check)
    return tuple(
        Claim(
            number=place,
            start=start,
            end=end,
            verdict=min((c.verdict for c in checks), key=order.index),
            citations=tuple(dict.fromkeys(c.number for c in checks)),
        )
        for place, ((start, end), checks) in enumerate(spans.items(), start=1)
    )


def repeated(cited: Sequence[Citation], sentence: str) -> Sequence[Citation]:
    """Of several spans of one number those that ``sentence`` repeats word for word, if it does that: it means these."""
    said = "".join(sentence.split())
    found = [one for one in cited if (quote := "".join(one.quote.split())) and quote in said]
    return found or cited
