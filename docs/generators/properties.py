"""properties.md: what stands beside a body, from clew_schema.envelope."""

from __future__ import annotations

from clew_schema import envelope
from clew_schema.envelope import Envelope
from generators.markdown import code, doc, page, table

MESSAGE_ID = (
    "identity of the message: what one step did for it is done once in effect, however often it comes. Absent on a "
    "caller's message, it is derived from the broker's own id, so that a redelivery is known as one"
)

MEANING = {
    "ID": ("caller", "correlation id; comes back on every response"),
    "SESSION_ID": ("services", "the run, as in the body"),
    "MESSAGE_ID": ("either", MESSAGE_ID),
    "ATTEMPT": ("services", "which attempt this is, from 1 (left out on the first)"),
    "DUE": ("services", "not before this time; milliseconds since 1970"),
    "REPLY_TO": (
        "caller",
        "topic for the responses, in the same tenant and namespace; not one that a service reads",
    ),
    "TRACEPARENT": ("caller", "W3C trace context; carried on unchanged"),
    "DEADLINE": ("caller", "milliseconds since 1970; a step that would begin later refuses the request"),
    "TRACE": ("either", "`off`: the run leaves no trace"),
    "SEQUENCE": ("services", "on pieces of text and progress: place in the stream, from 0"),
    "STREAM": (
        "services",
        "on pieces of text and progress: the execution that they belong to. When it changes, the text begins again",
    ),
    "ASKED_AT": ("services", "when the run began, on a message that is sent again from a dead letter"),
    "FAILURES": (
        "services",
        "on a delayed copy: number, time, error and message of the newest failed attempts, as JSON",
    ),
}
"""Constant → (who sets it, what it means). A constant that is missing here stops the generator."""


def render() -> str:
    """The page."""
    constants = {
        name: value for name, value in vars(envelope).items() if name.isupper() and isinstance(value, str)
    }
    constants.pop("TYPE_CHECKING", None)
    if set(constants) != set(MEANING):
        msg = f"properties and their meanings differ in {set(constants) ^ set(MEANING)}"
        raise ValueError(msg)
    rows = [[code(value), *MEANING[name]] for name, value in constants.items()]
    return page(
        "Properties",
        "`clew_schema.envelope`",
        doc(envelope),
        table(["property", "set by", "meaning"], rows),
        doc(Envelope),
    )
