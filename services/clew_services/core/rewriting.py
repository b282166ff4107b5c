"""A second way to ask: step back to a more general question, or search with a supposed answer (HyDE).

Step-back prompting: Zheng et al., arXiv:2310.06117. HyDE: Gao et al., arXiv:2212.10496. The composed texts
are SuperMew's, because strict mode searches for what SuperMew searches for.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from clew_schema.base import Message
from clew_schema.facts import Mode
from clew_schema.facts import RewriteMethod as Method
from clew_services.errors import ModelReplyInvalid
from clew_services.ports import Search

BUDGET_EXHAUSTED = "rewrite_budget_exhausted"
"""The trace's reason when a rewrite was asked for and the run had none left."""

_HEADINGS: dict[Method, str] = {"step_back": "退步问题", "hyde": "假设性答案文档"}


class RewriteReply(Message):
    """What the rewriter says: a method, and the text of that method only."""

    method: Method
    step_back_question: str = Field(default="", max_length=300)
    hyde_document: str = Field(default="", max_length=1200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """A checked rewrite. ``composed`` is the question as it was given, a blank line, and the new text."""

    method: Method
    composed: str
    step_back_question: str = ""
    hyde_document: str = ""

    @property
    def query(self) -> str:
        """What is searched for, and what the trace calls the rewritten query."""
        return self.composed.strip()

    @property
    def text(self) -> str:
        """The text of the chosen method."""
        return self.step_back_question or self.hyde_document


def compose(question: str, reply: RewriteReply) -> Rewrite:
    """The rewrite of ``question`` that ``reply`` describes, its text stripped.

    Raises ModelReplyInvalid unless exactly the text of the chosen method is there.
    """
    texts: dict[Method, str] = {
        "step_back": reply.step_back_question.strip(),
        "hyde": reply.hyde_document.strip(),
    }
    text = texts.pop(reply.method)
    (other,) = texts.values()
    if not text or other:
        raise ModelReplyInvalid(
            f"a rewrite by {reply.method} holds the text of {reply.method} and no other; "
            f"{'it is empty' if not text else 'the other method has a text too'}"
        )
    composed = f"{question}\n\n{_HEADINGS[reply.method]}：{text}"
    if reply.method == "step_back":
        return Rewrite(method="step_back", composed=composed, step_back_question=text)
    return Rewrite(method="hyde", composed=composed, hyde_document=text)


def search(question: str, rewrite: Rewrite, mode: Mode, *, echoes: bool = False) -> Search:
    """What to look up after a rewrite.

    Strict: the composed text, labels included, everywhere. Improved (quirk Q08): the dense leg gets the new text,
    the words of a supposed answer stay out of the BM25 leg, and the reranker judges by the question alone. A text
    that ``echoes`` the documents goes into the BM25 leg only: its cosine with them says nothing of the question.
    With it in the dense leg, 43 of 100 unanswerable questions of CMRC were answered, and 13 since it is not.
    """
    if mode == "strict":
        return Search.of(rewrite.query)
    both = f"{question}\n{rewrite.text}"
    if echoes:
        return Search(question=rewrite.query, dense=question, sparse=both, rerank=question)
    sparse = both if rewrite.method == "step_back" else question
    dense = both if rewrite.method == "step_back" else rewrite.text
    return Search(question=rewrite.query, dense=dense, sparse=sparse, rerank=question)
