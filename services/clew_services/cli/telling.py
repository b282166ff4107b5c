"""A document question told to a person: the steps while they happen, the answer as it is written, its citations."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.padding import Padding
from rich.text import Text

from clew_services.cli.common import say
from clew_services.cli.trace_view import clipped, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from clew_schema.evidence import Citation, CitationCheck
    from clew_schema.rdf import Triple
    from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
    from clew_services.client import Client
    from clew_translators.trace_tree import Step

_OPEN = {"uncited": "cites nothing", "unchecked": "could not be checked"}
"""What is said of a claim whose citations, if it has any, were not found to fail."""

QUOTE = 240
"""Characters of a quote that are shown; the trace and ``--json`` have all of them."""


class Telling:
    """Tells a person of one document question: steps on ``steps``, the answer on ``answer``."""

    def __init__(self, steps: Console, answer: Console) -> None:
        """``triples`` collects what was explained inline."""
        self.triples: list[Triple] = []
        self._steps = steps
        self._answer = answer
        self._began = time.monotonic()
        self._shown = 0
        self._stream = ""
        self._text = ""
        self._line = Line(answer)

    def recall(self, triples: Iterable[Triple]) -> None:
        """What a run did before it paused: known from now on, and not told again."""
        self.triples += triples
        self._shown = len(self._known())

    async def follow(
        self, client: Client, query: DocumentRagQuery, *, timeout: float = 120.0
    ) -> DocumentRagResponse:
        """Ask ``query`` and tell until it ends; its last response, whose error is not told. Raises as ``ask`` does."""
        self._began = time.monotonic()
        self._text = self._stream = ""
        async for heard in client.ask(query, timeout=timeout):
            body = heard.body
            if body.message_type == "explain":
                self._explained(body)
            elif body.message_type == "chunk":
                self._chunk(body.response or "", heard.stream)
            if body.end_of_session:
                self._ended(body)
                return body
        raise AssertionError("unreachable: a call ends with its last response")

    def _explained(self, body: DocumentRagResponse) -> None:
        self.triples += body.explain_triples
        steps = self._known()
        for step in steps[self._shown :]:
            if step.kind not in {"answer", "failure"}:
                self._step(step.title)
        self._shown = len(steps)

    def _known(self) -> Sequence[Step]:
        from clew_translators.trace import TraceUnreadable, read_trace

        try:
            return read_trace(self.triples).steps
        except TraceUnreadable:
            return ()  # more of it will come

    def _step(self, title: str) -> None:
        """A line with the seconds since the question was asked."""
        if self._text:
            return  # the answer is being written: a step that is told late must not stand in its middle
        took = time.monotonic() - self._began
        say(self._steps, ("● ", "green"), (f"{took:6.2f} s  ", "dim"), one_line(title))

    def _chunk(self, text: str, stream: str) -> None:
        if self._stream and stream != self._stream:
            self._line.end()
            say(self._answer, ("the answer begins again: its service was restarted", "yellow"))
            self._text = ""
        self._stream = stream
        self._text += text
        self._line.write(text)

    def _ended(self, body: DocumentRagResponse) -> None:
        self._line.end()
        if body.error is not None:
            return
        if body.response and body.response.strip() != self._text.strip():
            self._line.write(body.response)
            self._line.end()
        if body.outcome == "cancelled":
            say(self._answer, "the question was withdrawn")
        for number, option in enumerate(body.options, 1):
            say(self._answer, f"  {number}. {one_line(option)}")
        for citation in body.citations:
            self._cited(citation)
        self._checked(body)

    def _checked(self, body: DocumentRagResponse) -> None:
        """Sentences that their citations do not support, or that have none, if there are any."""
        text = body.response or ""
        open_ = {(claim.start, claim.end): claim.verdict for claim in body.claims if claim.verdict in _OPEN}
        doubts = [
            ((check.start, check.end), f"[{check.number}] does not support" + _instead(check))
            for check in body.checks
            if check.verdict != "supported" and (check.start, check.end) not in open_
        ]
        doubts += [(span, _OPEN[verdict]) for span, verdict in open_.items()]
        for (start, end), doubt in sorted(doubts, key=lambda each: each[0]):
            say(self._answer, (f"  {doubt}: ", "yellow"), f"“{clipped(text[start:end], QUOTE)}”")
        if doubts and body.coverage is not None:
            say(self._answer, (f"  citations support {body.coverage:.0%} of the sentences", "dim"))

    def _cited(self, citation: Citation) -> None:
        page = f", page {citation.page}" if citation.page else ""
        say(
            self._answer,
            (f"  [{citation.number}] ", "bold"),
            (one_line(citation.filename), "cyan"),
            f"{page}, characters {citation.start}–{citation.end}",
        )
        quote = f"“{clipped(citation.quote, QUOTE)}”"
        if self._answer.is_terminal:
            self._answer.print(Padding(Text(quote, style="dim italic"), (0, 0, 0, 6)))
        else:
            say(self._answer, f"      {quote}")


def _instead(check: CitationCheck) -> str:
    return f", but [{check.better}] does" if check.better else ""


class Line:
    """Text that arrives in pieces, on a console: broken between words on a terminal, left as it is in a pipe."""

    def __init__(self, console: Console) -> None:
        """Nothing is printed yet."""
        self._console = console
        self._column = 0
        self._held = ""
        self._inside = False
        """Whether the last thing printed was the beginning of a word, which goes on in the next piece."""

    def write(self, text: str) -> None:
        """Print ``text`` up to its last whole word; the rest waits for what comes."""
        if not self._console.is_terminal:
            self._column += len(text)
            self._print(text)
            return
        self._held += text
        words = re.findall(r"\s+|\S+", self._held)
        # The last word may go on in the next piece, unless it is too long to wait for (a language without blanks).
        self._held = words.pop() if words and len(words[-1]) < self._console.width // 2 else ""
        for word in words:
            self._word(word)

    def end(self) -> None:
        """Print what is held, and begin a new line unless we are on one."""
        if self._held:
            self._word(self._held)
            self._held = ""
        self._inside = False
        if self._column:
            self._console.print()
            self._column = 0

    def _word(self, word: str) -> None:
        """Print a word, or the white space between two."""
        width = self._console.width
        inside, self._inside = self._inside, not word.isspace()
        if word.isspace():
            breaks, _, blanks = word.rpartition("\n")
            if breaks or word.startswith("\n"):
                self._print("\n" * (breaks.count("\n") + 1))
                self._column = 0
            word = blanks[
                : max(0, width - self._column)
            ]  # none at the edge: there the next word breaks the line
        elif self._column and not inside and self._column + cell_len(word) > width:
            self._print("\n")
            self._column = 0
        self._print(word)
        self._column += cell_len(word)
        if self._column > width:  # one word longer than a line: the terminal breaks it
            self._column = (self._column - 1) % width + 1

    def _print(self, text: str) -> None:
        say(self._console, text, end="", whole=True)
