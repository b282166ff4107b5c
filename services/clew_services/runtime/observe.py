"""What the runtime tells operators: one event per decision, names from a closed set, and metrics.

Never a question, an answer or a secret: ids, types, counts and times.
"""

from __future__ import annotations

import logging
import sys
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, Literal

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from clew_services.core.bounds import clip
from clew_services.errors import ClewError, told
from clew_services.redaction import hide, hide_in_log

if TYPE_CHECKING:
    from clew_services.runtime.handling import Handling
    from clew_services.runtime.outcome import Outcome
    from clew_services.runtime.step import Step

EventName = Literal[
    "step_done",  # a message was handled and its outcome recorded
    "step_replayed",  # a message was handled before; its record is published again
    "step_refused",  # the caller was told that the request cannot be served
    "step_retried",  # a failure that may pass: a delayed copy was published
    "step_buried",  # a failure that needs a person: a dead letter was published
    "settle_failed",  # ledger or broker failed while settling; the message comes again
    "consumer_started",  # a subscription was opened
    "consumer_lost",  # a subscription broke and is opened again
    "consumer_stuck",  # nothing came although something waits on the broker; it is subscribed anew
    "consumer_stopped",  # a consumer drained and closed
    "brake_on",  # too many dead letters in a row; the consumer stopped taking
    "brake_probe",  # one message is let through, to see whether the next ones would do
    "brake_off",  # a probe ended well, or an operator took the brake off; the consumer takes again
    "broker_started",  # the embedded broker answers
    "broker_restarted",  # the embedded broker died and was started again
    "service_ready",  # every consumer is subscribed
    "service_stopping",  # SIGTERM or Ctrl-C: finish what is in hand
    "service_stopped",  # everything is closed
    "ledger_pruned",  # old records were forgotten
    "traces_swept",  # runs past their retention were erased
    "sweep_failed",  # the trace store did not erase them; the next round tries again
    "document_ready",  # a document version serves
    "letters_settled",  # an operator edited dead letters, sent them again or dropped them, over the bus
    "document_failed",  # a document could not be taken in; the old version still serves
]

Level = Literal["debug", "info", "warning", "error"]


class Metrics:
    """Prometheus metrics of one process. Labels are steps and outcomes, never a session."""

    def __init__(self) -> None:
        """In a registry of their own, so that two runtimes in one process do not collide."""
        self.registry = CollectorRegistry()
        self.seconds = Histogram(
            "clew_step_seconds",
            "Time a handler took, by step",
            ["step"],
            registry=self.registry,
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120),
        )
        self.messages = Counter(
            "clew_messages_total",
            "Messages settled, by step and outcome (done, replayed, refused, retried, buried, settle_failed)",
            ["step", "outcome"],
            registry=self.registry,
        )
        self.in_flight = Gauge(
            "clew_in_flight", "Messages in hand, by step", ["step"], registry=self.registry
        )
        self.oldest = Gauge(
            "clew_oldest_in_flight_seconds",
            "Age of the oldest message in hand, by step",
            ["step"],
            registry=self.registry,
        )
        self.stuck = Counter(
            "clew_consumer_stuck_total",
            "How often a step's consumer got nothing although something waited, and was subscribed anew",
            ["step"],
            registry=self.registry,
        )
        self.braked = Gauge(
            "clew_brake_on",
            "1 while a step's consumer is stopped by its brake",
            ["step"],
            registry=self.registry,
        )

    def text(self) -> bytes:
        """The exposition format that Prometheus scrapes."""
        return generate_latest(self.registry)


class Observer:
    """Says what was decided, to the log and to the metrics."""

    def __init__(self, metrics: Metrics | None = None, log: Any = None) -> None:
        """``log`` is a structlog logger."""
        self.metrics = metrics or Metrics()
        self._log = log if log is not None else structlog.get_logger("clew")

    def event(self, name: EventName, level: Level = "info", **values: object) -> None:
        """Log ``name`` with ``values``."""
        getattr(self._log, level)(name, **values)

    def done(self, handling: Handling, outcome: Outcome) -> None:
        """A message was handled."""
        step = handling.step.name
        took = handling.ended - handling.started
        self.metrics.messages.labels(step, "done").inc()
        self.metrics.seconds.labels(step).observe(took)
        self.event(
            "step_done",
            "debug",
            step=step,
            session_id=handling.session_id,
            message_id=handling.cause,
            attempt=handling.envelope.attempt,
            ms=round(took * 1000, 2),
            facts=[fact.kind for fact in outcome.facts],
        )

    def replayed(self, step: Step[Any], cause: str) -> None:
        """A record is published again."""
        self.metrics.messages.labels(step.name, "replayed").inc()
        self.event("step_replayed", step=step.name, message_id=cause)

    def refused(self, handling: Handling, error: Exception) -> None:
        """The caller was told no; of a step that has none, nobody but the log hears of it."""
        told = handling.step.caller or handling.step.on_failure
        self._failed("step_refused", "refused", "info" if told else "warning", handling, error)

    def retried(self, handling: Handling, error: Exception, after: float) -> None:
        """A delayed copy was published."""
        self._failed("step_retried", "retried", "warning", handling, error, after_seconds=round(after, 3))

    def buried(self, handling: Handling, error: Exception) -> None:
        """A dead letter was published."""
        self._failed("step_buried", "buried", "error", handling, error)

    def settle_failed(self, step: Step[Any], cause: str, error: Exception) -> None:
        """Settling itself failed."""
        self.metrics.messages.labels(step.name, "settle_failed").inc()
        self.event(
            "settle_failed",
            "warning",
            step=step.name,
            message_id=cause,
            error_type=told(error).type,
            error=_words(error),
        )

    def stuck(self, step: str, topic: str, waiting: int, quiet: float) -> None:
        """A consumer gets nothing although something waits."""
        self.metrics.stuck.labels(step).inc()
        self.event(
            "consumer_stuck",
            "warning",
            step=step,
            topic=topic,
            waiting=waiting,
            quiet_seconds=round(quiet, 1),
        )

    def _failed(
        self,
        name: EventName,
        outcome: str,
        level: Level,
        handling: Handling,
        error: Exception,
        **values: object,
    ) -> None:
        news = told(error)
        self.metrics.messages.labels(handling.step.name, outcome).inc()
        bug = news.type == "internal-error"
        self.event(
            name,
            level,
            step=handling.step.name,
            session_id=handling.session_id,
            message_id=handling.cause,
            attempt=handling.envelope.attempt,
            error_type=news.type,
            error=_words(error),
            **({"frames": _frames(error)} if bug else {}),
            **values,
        )


def _words(error: Exception) -> str:
    """What a log may say of ``error``. The words of a caller's mistake, or of a bug, may be the caller's own text."""
    if isinstance(error, ClewError) and not error.callers_fault:
        return clip(hide(str(error)), 500)
    return type(error).__name__


def _frames(error: Exception) -> list[str]:
    """Where a bug was, the innermost last: places, never values."""
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in extract_tb(error.__traceback__)][
        -12:
    ]


def configure_logging(level: str = "info", *, form: Literal["json", "console"] = "console") -> None:
    """Set structlog up once per process: JSON lines, or a console for people; on standard error."""
    number = logging.getLevelNamesMapping()[level.upper()]
    processors: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if form == "json":
        # Never the locals of a traceback: they hold questions, documents and keys.
        frames = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        processors += [
            structlog.processors.ExceptionRenderer(frames),
            hide_in_log,
            structlog.processors.JSONRenderer(),
        ]
    else:
        plain = structlog.dev.plain_traceback
        processors.append(hide_in_log)
        processors.append(
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)
        )
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
