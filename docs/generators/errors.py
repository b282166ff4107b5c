"""errors.md: every error type, and what becomes of a message that meets it, as ``core.retry`` decides."""

from __future__ import annotations

import inspect

from clew_schema.limits import MAX_ATTEMPTS
from clew_services import errors
from clew_services.core import retry
from clew_services.core.retry import Answer, Bury, Retry, RetryPolicy, judge
from clew_services.errors import ClewError
from generators.markdown import code, doc, page, summary, table

INTRO = """
A caller reads `error.type` and `error.message` in the response. An error ends the run: `end_of_stream` and
`end_of_session` are set (for the agent `end_of_message` and `end_of_dialog`), and the run's trace says what failed.
A service that could not reach a store or a model never says that nothing is known: it is retried, then reported.
"""


POLICY = """
*Retried* means up to {attempts} attempts in all (`CLEW_MAX_ATTEMPTS`). The waits after a failed attempt are at most
{waits}, shortened by up to {jitter:.0%} so that messages which failed together come back apart. A model that asks for a
later time gets it, up to {cap:g} s. An error of no known kind is a bug: it is tried {bugs} times, its text stays in the
log, and the caller reads `{type}`.
"""


def render() -> str:
    """The page."""
    rows = [_row(kind) for kind in _tree(ClewError)]
    policy = RetryPolicy()
    even = RetryPolicy(jitter=0)
    waits = ", ".join(f"{even.delay(n):g} s" for n in range(1, MAX_ATTEMPTS))
    return page(
        "Errors",
        "`clew_services.errors` and `clew_services.core.retry`",
        INTRO,
        "## Types",
        table(["`error.type`", "class", "meaning", "retried", "dead letter"], rows),
        POLICY.format(
            attempts=MAX_ATTEMPTS,
            waits=waits,
            jitter=policy.jitter,
            cap=policy.cap,
            bugs=retry.MAX_BUG_ATTEMPTS,
            type=ClewError.type,
        ),
        "## Tree",
        "```text\n" + _drawn() + "\n```",
        "## How it is decided",
        doc(judge),
    )


def _tree(kind: type[ClewError]) -> list[type[ClewError]]:
    """``kind`` and what is below it in ``clew_services.errors``; an adapter's own kinds have its parents' types."""
    children = [child for child in kind.__subclasses__() if child.__module__ == errors.__name__]
    return [kind, *(below for child in children for below in _tree(child))]


def _row(kind: type[ClewError]) -> list[str]:
    policy = RetryPolicy()
    first, last = (judge(kind("example"), attempt, policy) for attempt in (1, policy.max_attempts))
    retried = "yes" if isinstance(first, Retry) else "no"
    letter = {Answer: "no", Bury: "at once" if first == last else "after the last attempt"}[type(last)]
    if kind is ClewError:
        retried, letter = "once", "after the last attempt"
    return [code(kind.type), code(kind.__name__), summary(kind), retried, letter]


def _drawn() -> str:
    text = inspect.getdoc(errors) or ""
    lines = text.partition("::\n")[2].splitlines()
    return inspect.cleandoc("\n".join(lines))
