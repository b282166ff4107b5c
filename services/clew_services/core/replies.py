"""What the agent's tool and the chat around it are told: numbered evidence, a pause, or that nothing is known."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from clew_schema.evidence import Evidence, RetrievalStatus, Route

TITLE_CHARACTERS = 16
UNTITLED = "新会话"
NOTE_AFTER = 6
"""Messages that a conversation may have before a note of it is kept."""

LIMIT_REACHED = (
    "TOOL_CALL_LIMIT_REACHED: the knowledge base was searched already in this turn; answer from what it gave."
)


def context(evidence: Iterable[Evidence]) -> str:
    """The evidence as one text, numbered from 1, with the file and page of each piece where it has them."""
    return "\n\n---\n\n".join(
        f"[{number}] {each.filename or 'Unknown'} (Page {each.page or 'N/A'}):\n{each.text}"
        for number, each in enumerate(evidence, 1)
    )


def tool_text(
    *,
    evidence: Sequence[Evidence],
    route: Route | None,
    status: RetrievalStatus | None,
    prompt: str = "",
    options: Sequence[str] = (),
) -> str:
    """What a search of the knowledge base tells the agent: a pause before evidence; a partial answer is not marked."""
    if route == "scope_select" or status == "needs_scope_selection":
        listed = f"\nOptions: {'; '.join(options)}" if options else ""
        return f"NEEDS_SCOPE_SELECTION: {prompt}{listed}"
    if route == "clarify" or status == "needs_clarification":
        return f"NEEDS_CLARIFICATION: {prompt}"
    if evidence:
        return f"Retrieved Chunks:\n{context(evidence)}"
    return "NO_KNOWLEDGE: nothing reliable about this was found in the knowledge base."


def title(message: str) -> str:
    """A conversation's name from its first message: at most 16 characters, no punctuation at the edges."""
    words = " ".join(message.split())
    inside = [
        place for place, sign in enumerate(words) if not unicodedata.category(sign).startswith(("P", "Z"))
    ]
    if not inside:
        return UNTITLED
    return words[inside[0] : inside[-1] + 1][:TITLE_CHARACTERS]


def note_is_due(message_count: int, note: str) -> bool:
    """Whether a conversation's note is written anew: when it has one, or grew beyond six messages."""
    return bool(note) or message_count > NOTE_AFTER
