"""The embedded reader: a grader and a writer that need no model, no key and no network. See ``core.extractive``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_services.core.answer import GAPS_LINE, OPEN_LINE, Draft
from clew_services.core.extractive import choose, compose, rank_sentences
from clew_services.core.judging import judge
from clew_services.core.sentences import language
from clew_services.core.splitting import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.evidence import Evidence, Grade
    from clew_services.core.extractive import Candidate
    from clew_services.core.sentences import Language
    from clew_services.ports import Emit


class ExtractiveGrader:
    """A Grader: coverage of the question's words and the cosine of the best chunk, against thresholds.

    Deterministic and instant (under 1 ms for 8 chunks). Cosines differ by model, so it is told which one made them.
    """

    name = "extractive"
    prompt_version = ""

    def __init__(self, embedder: str) -> None:
        """``embedder``: the name of the embedder that the evidence was retrieved with."""
        self._embedder = embedder

    async def grade(self, question: str, evidence: Sequence[Evidence]) -> Grade:
        """A grade, of each chunk too, whose reason gives the numbers it rests on. Never raises."""
        return judge(question, evidence, self._embedder)


class ExtractiveWriter:
    """A Writer: the best one to three sentences, word for word, each with its ``[n]`` and its quote.

    Of a question that is several by its form (``core.splitting``) each part gets its best one or two, so that none
    is drowned by another. Gaps and assumptions are named in lines at the end that cite nothing.
    """

    name = "extractive"
    prompt_version = ""

    async def write(
        self,
        question: str,
        evidence: Sequence[Evidence],
        emit: Emit,
        *,
        gaps: Sequence[str] = (),
        assumptions: Sequence[str] = (),
    ) -> Draft:
        """The answer, emitted sentence by sentence; empty when the evidence holds none. Raises what ``emit`` does."""
        pieces, quotes = compose(_chosen(question, evidence, gaps))
        if pieces:
            pieces = (*pieces, *_closing(language(question), gaps, assumptions))
        for piece in pieces:
            await emit(piece)
        return Draft(text="".join(pieces), quotes=quotes)


def _chosen(question: str, evidence: Sequence[Evidence], gaps: Sequence[str]) -> Sequence[Candidate]:
    parts = [part for part in split(question).parts if part not in gaps]
    if not parts:
        return choose(rank_sentences(question, evidence))
    places: dict[tuple[int, int], Candidate] = {}
    for part in parts:
        for candidate in choose(rank_sentences(part, evidence), most=2):
            places.setdefault((candidate.number, candidate.start), candidate)
    return tuple(places.values())


def _closing(spoken: Language, gaps: Sequence[str], assumptions: Sequence[str]) -> tuple[str, ...]:
    """The lines at the end; a blank line before each keeps it apart from what is quoted."""
    joint = "；" if spoken == "zh" else "; "
    lines = ((GAPS_LINE, gaps), (OPEN_LINE, assumptions))
    return tuple(f"\n\n{opening[spoken]}{joint.join(items)}" for opening, items in lines if items)
