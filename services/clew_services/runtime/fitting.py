"""A message that is too large for any bus leaves out what its reader finds elsewhere, and says so by its absence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_schema.limits import MAX_MESSAGE_BYTES
from clew_translators import bus

if TYPE_CHECKING:
    from clew_schema.base import Message

SPARE = ("explain_triples", "rag_trace", "ext", "checks")
"""What a trace store holds too, in the order in which it goes. The answer and its citations never go."""


def encode(body: Message) -> bytes:
    """``body`` as it travels, without as many of its spare parts as it takes to fit; whole when nothing helps."""
    payload = bus.encode(body)
    if len(payload) <= MAX_MESSAGE_BYTES:
        return payload
    lighter = body
    for name in SPARE:
        field = type(body).model_fields.get(name)
        if field is None:
            continue
        lighter = lighter.model_copy(update={name: field.get_default(call_default_factory=True)})
        shorter = bus.encode(lighter)
        if len(shorter) <= MAX_MESSAGE_BYTES:
            return shorter
    return payload
