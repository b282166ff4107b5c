"""Spans as OTLP 1 in its JSON form: ids in hexadecimal, 64-bit numbers as texts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew_translators.spans import AttributeValue, TraceSpan


def otlp(told: Sequence[TraceSpan], *, service: str = "clew", version: str = "") -> dict[str, object]:
    """``told`` as an ``ExportTraceServiceRequest``, as JSON values."""
    resource: dict[str, AttributeValue] = {"service.name": service}
    if version:
        resource["service.version"] = version
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(resource)},
                "scopeSpans": [
                    {
                        "scope": {"name": "clew_translators.spans"}
                        | ({"version": version} if version else {}),
                        "spans": [_otlp_span(span) for span in told],
                    }
                ],
            }
        ]
    }


_STATUS = {"unset": 0, "ok": 1, "error": 2}
_INTERNAL = 1


def _otlp_span(span: TraceSpan) -> dict[str, object]:
    out: dict[str, object] = {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "name": span.name,
        "kind": _INTERNAL,
        "startTimeUnixNano": str(span.started),
        "endTimeUnixNano": str(span.ended),
        "attributes": _attributes(span.attributes),
        "status": {"code": _STATUS[span.status]} | ({"message": span.message} if span.message else {}),
    }
    if span.parent_id:
        out["parentSpanId"] = span.parent_id
    if span.events:
        out["events"] = [
            {
                "name": event.name,
                "timeUnixNano": str(event.nanoseconds),
                "attributes": _attributes(event.attributes),
            }
            for event in span.events
        ]
    return out


def _attributes(values: Mapping[str, AttributeValue]) -> list[dict[str, object]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value not in ("", ())]


def _value(value: AttributeValue) -> dict[str, object]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case tuple():
            return {"arrayValue": {"values": [{"stringValue": _text(one)} for one in value]}}
        case str():
            return {"stringValue": _text(value)}


def _text(text: str) -> str:
    """Half a character is no UTF-8, and a collector refuses the whole request for it."""
    return text.encode("utf-8", "replace").decode()


def to_json(told: Sequence[TraceSpan], *, version: str = "") -> str:
    """:func:`otlp` as a JSON text."""
    return json.dumps(otlp(told, version=version), ensure_ascii=False)
