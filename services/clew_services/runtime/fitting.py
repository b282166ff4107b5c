"""A message that is too large for any bus leaves out what its reader finds elsewhere, and says so by its absence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic_core import PydanticSerializationError

from clew_schema.limits import MAX_MESSAGE_BYTES
from clew_translators import bus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.base import Message
    from clew_translators.explain.statements import Statements

SPARE = ("explain_triples", "rag_trace", "ext", "checks", "claims")
"""What a trace store holds too, in the order in which it goes. The answer and its citations never go."""

_NONE = b'"explain_triples":[]'
"""As a key it stands before the fields whose keys others choose; inside of a text its quotes are escaped."""


def encode(body: Message, graphs: Sequence[Statements] = ()) -> bytes:
    """``body`` as it travels, without as many of its spare parts as it takes to fit; whole when nothing helps.

    ``graphs`` are its ``explain_triples``, which are told as JSON at once: models of hundreds of them cost more than
    all the rest of a message.
    """
    payload = bus.encode(body)
    if graphs:
        whole = _with_triples(body, payload, graphs)
        payload = whole if len(whole) <= MAX_MESSAGE_BYTES else payload
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


def _with_triples(body: Message, payload: bytes, graphs: Sequence[Statements]) -> bytes:
    try:
        triples = ",".join(statement for graph in graphs for statement in graph.json()).encode()
    except (
        UnicodeEncodeError,
        PydanticSerializationError,
    ):  # half a character, from a model that was cut: the codec knows what to do
        found = tuple(triple for graph in graphs for triple in graph.triples)
        return bus.encode(body.model_copy(update={"explain_triples": found}))
    return payload.replace(_NONE, b'"explain_triples":[' + triples + b"]", 1)
