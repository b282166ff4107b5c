"""The JSON of the gateway's services ↔ messages, in both directions.

Spellings are TrustGraph's and stand in ``gateway_services``; fields that are ours alone appear under their own
names, and only when they are set. What does not survive the way out and back: fields that are ``internal``, an error
without a text, the empty text where null would mean the same, and the unused parts of a term.

TrustGraph's defects are not copied: an agent's error is written, history is read as steps, responses can be read,
``parent_uri`` and ``streaming`` are kept, and a request that makes no sense is refused with the key that makes none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from clew_translators.gateway_services import BATCH, KINDS, SERVICES, Service
from clew_translators.gateway_shape import Shape, as_json_text, decode_shape, encode_shape
from clew_translators.refusal import NotThisMessage, clip, found

if TYPE_CHECKING:
    from clew_schema.base import Message
    from clew_schema.rdf import Triples

__all__ = [
    "KINDS",
    "SERVICES",
    "NotThisMessage",
    "Service",
    "decode_request",
    "decode_response",
    "decode_triples",
    "encode_request",
    "encode_response",
    "encode_triples",
    "service",
]

Json = dict[str, Any]


def service(name: str) -> Service:
    """The service of that name or kind; NotThisMessage for any other."""
    known = SERVICES.get(KINDS.get(name, name))
    if known is None:
        raise NotThisMessage(clip(name), "", f"no such service; there are {', '.join(sorted(SERVICES))}")
    return known


def decode_request(name: str, data: object) -> Message:
    """The request to the service ``name`` that ``data`` spells; absent keys have TrustGraph's gateway defaults.

    Raises:
        NotThisMessage: no such service, a key is missing, or one holds something else; ``field`` is the key.
    """
    shape = service(name).request
    if shape.name == "prompt" and isinstance(data, Mapping) and "variables" in data:
        data = {**data, "terms": _terms(data["variables"])}
    message: Message = decode_shape(shape, data)
    return message


def encode_request(name: str, message: Message) -> Json:
    """``message`` as a caller of the gateway would write it. Raises NotThisMessage for another service's message."""
    return encode_shape(_matching(service(name).request, message), message)


def encode_response(name: str, message: Message) -> tuple[Json, bool]:
    """``message`` as the gateway answers, and whether it is the last one (``complete``).

    Raises:
        NotThisMessage: another service's message, or text in it that should be JSON and is none.
    """
    known = service(name)
    written = encode_shape(_matching(known.response, message), message)
    return written, bool(getattr(message, known.final)) if known.final else True


def decode_response(name: str, data: object, *, complete: bool = True) -> Message:
    """The response that ``data`` spells. ``complete`` is the frame's flag; it counts where the body has none.

    Raises:
        NotThisMessage: as for a request.
    """
    known = service(name)
    message: Message = decode_shape(known.response, data)
    hidden = known.final in known.response.internal
    return message.model_copy(update={known.final: complete}) if hidden else message


def encode_triples(batch: Triples) -> Json:
    """A batch of quads as the export socket sends it: ``{"metadata", "triples"}``, triples in the compact form."""
    return encode_shape(BATCH, batch)


def decode_triples(data: object) -> Triples:
    """The batch of quads that ``data`` spells. Raises NotThisMessage."""
    return decode_shape(BATCH, data)


def _matching(shape: Shape[Any], message: Message) -> Shape[Any]:
    if not isinstance(message, shape.model):
        expected = shape.model.__name__
        raise NotThisMessage(shape.name, "", f"should be {expected}, found {type(message).__name__}")
    return shape


def _terms(variables: object) -> dict[str, str]:
    """A prompt's ``variables`` are values; its ``terms`` are the same values as JSON text."""
    if not isinstance(variables, Mapping):
        raise NotThisMessage("prompt", "variables", f"should be an object, found {found(variables)}")
    return {
        name: as_json_text("prompt", f"variables.{clip(name)}", value) for name, value in variables.items()
    }
