"""metrics-and-events.md: the closed set of log events with their comments, and the metrics."""

from __future__ import annotations

import inspect
import io
import tokenize
from typing import get_args

from clew_services.runtime import observe, ops, trace_api
from clew_services.runtime.observe import EventName, Metrics
from generators.markdown import code, doc, page, table

LOG = """
Logs go to standard error, one event a line, as JSON (`CLEW_LOG_FORMAT=json`) or for people (`console`). `event` is one
of the names below; `timestamp` is UTC, `level` one of debug, info, warning, error. Events of a step also have `step`,
`session_id`, `message_id`, `attempt`, and `error_type` and `error` when something failed. No event holds a question, an
answer or a secret.
"""


def render() -> str:
    """The page."""
    return page(
        "Metrics, events and health",
        "`clew_services.runtime.observe`, `.ops` and `.trace_api`",
        "## Health",
        doc(ops.ops_app),
        "`CLEW_OPS_HOST` and `CLEW_OPS_PORT` say where; `clew up` and `clew run` print the address.",
        "## Metrics",
        table(["metric", "kind", "labels", "meaning"], _metrics()),
        "A histogram also has `_bucket`, `_sum` and `_count`. Labels are never a session.",
        "## Log events",
        LOG,
        table(["event", "meaning"], [[code(name), meaning] for name, meaning in events()]),
        "## Trace API",
        doc(trace_api),
    )


def events() -> list[tuple[str, str]]:
    """(name, comment) of every event, as they stand in the source; ValueError when one has no comment."""
    source = inspect.getsource(observe)
    block = source[source.index("EventName = Literal[") :]
    found: dict[str, str] = {}
    name = ""
    for token in tokenize.generate_tokens(io.StringIO(block).readline):
        if token.type == tokenize.STRING:
            name = token.string.strip('"')
        elif token.type == tokenize.COMMENT and name:
            found[name] = token.string.lstrip("# ")
            name = ""
        elif token.string == "]":
            break
    if set(found) != set(get_args(EventName)):
        msg = f"events without a comment: {set(get_args(EventName)) ^ set(found)}"
        raise ValueError(msg)
    return list(found.items())


def _metrics() -> list[list[str]]:
    collected = vars(Metrics()).values()
    return [
        [
            code(metric._name + ("_total" if metric._type == "counter" else "")),  # noqa: SLF001 - no public name
            metric._type,  # noqa: SLF001
            ", ".join(map(code, metric._labelnames)),  # noqa: SLF001
            metric._documentation,  # noqa: SLF001
        ]
        for metric in collected
        if hasattr(metric, "_labelnames")
    ]
