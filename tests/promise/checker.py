"""The promise, judged: what a history shows of it, and what contradicts it.

Pure: events in, violations out. Each kind of violation has a hand-made history in test_checker.py that must show it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from tests.promise.history import (
    Acked,
    Asked,
    Batch,
    Boxed,
    Buried,
    Called,
    Ended,
    Event,
    Fault,
    Heard,
    Published,
    Recorded,
    Recovered,
    Traced,
)


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """What contradicts the promise. ``kind`` is one of KINDS; ``where`` names the request, the step, the letter."""

    kind: str
    where: str
    what: str


KINDS = {
    "lost": "a request without a final answer",
    "twice": "a request with more than one final answer",
    "changed": "one message id, two contents",
    "unasked": "a final answer that nobody asked for",
    "empty": "a final answer that says nothing",
    "paid-twice": "a model asked again for what was recorded",
    "recorded-twice": "two records of one message in one step",
    "early-ack": "a message acknowledged before its effects were recorded",
    "unburied": "a failure that needs a person, and no dead letter of it",
    "letter-lost": "a dead letter that is no longer in the box",
    "letter-changed": "a dead letter that keeps another body than was buried",
    "untraced": "a request whose run has no trace",
    "trace-cut": "a trace that does not tell how its run ended",
    "trace-invalid": "a trace that breaks a rule of its profile or of PROV",
    "batch-lost": "a request's batches that are not what the store was given",
    "backlog": "messages that nobody acknowledged in the end",
    "unended": "a history that stops before its end",
}
REFUSALS = frozenset(
    {
        *(
            "refused",
            "bad-request",
            "unknown-collection",
            "empty-collection",
            "analyzer-mismatch",
            "forbidden",
        ),
        *(
            "unknown-ticket",
            "ticket-expired",
            "ticket-closed",
            "deadline-exceeded",
            "cancelled",
            "unauthenticated",
        ),
    }
)
"""Errors that are answers: nothing is to be repaired. Every other one leaves a dead letter."""
LOST = frozenset(
    {"lost", "unburied", "letter-lost", "untraced", "trace-cut", "batch-lost", "backlog", "unended"}
)
DUPLICATED = frozenset({"twice", "unasked", "paid-twice", "recorded-twice"})


def violations(events: Iterable[Event]) -> tuple[Violation, ...]:
    """Everything in ``events`` that contradicts the promise, sorted."""
    told = tuple(events)
    found = [each for judge in _JUDGES for each in judge(told)]
    return tuple(sorted(set(found)))


def _answers(events: Sequence[Event]) -> Iterator[Violation]:
    """One request, one final answer: two deliveries of the same message are one."""
    asked = {each.id for each in events if isinstance(each, Asked)}
    finals: defaultdict[str, set[str]] = defaultdict(set)
    for each in events:
        if not isinstance(each, Heard) or each.outcome is None:
            continue
        finals[each.id].add(each.message_id)
        if each.empty:
            yield Violation("empty", each.id, f"{each.outcome} {each.message_id} says nothing")
    for name in asked - finals.keys():
        yield Violation("lost", name, "no final answer came")
    for name, ids in finals.items():
        if name not in asked:
            yield Violation("unasked", name, f"answers {sorted(ids)}")
        elif len(ids) > 1:
            yield Violation("twice", name, f"final answers {sorted(ids)}")


def _contents(events: Sequence[Event]) -> Iterator[Violation]:
    """Whatever comes again under its name is the same, byte by byte."""
    seen: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for each in events:
        if isinstance(each, Published | Heard) and each.message_id:
            attempt = str(each.attempt) if isinstance(each, Published) else "heard"
            seen[each.topic, each.message_id, attempt].add(each.digest)
        elif isinstance(each, Batch):
            seen["batch", each.run, each.name].add(each.digest)
    for name, digests in seen.items():
        if len(digests) > 1:
            yield Violation("changed", " ".join(name), f"contents {sorted(digests)}")


def _records(events: Sequence[Event]) -> Iterator[Violation]:
    """In this order: asked a model, recorded, acknowledged. What was recorded is never asked again."""
    recorded: dict[tuple[str, str], str] = {}
    settled: set[tuple[str, str]] = set()
    kept_at: dict[tuple[str, str], float] = {}
    keeping = {each.step for each in events if isinstance(each, Recorded)}
    for each in events:
        if isinstance(each, Recorded):
            before = recorded.setdefault((each.step, each.cause), each.digest)
            kept_at.setdefault((each.step, each.cause), each.at)
            settled.add(
                (each.step, each.cause.partition("/")[0])
            )  # an attempt that is repeated is settled, too
            if before != each.digest:
                yield Violation(
                    "recorded-twice", f"{each.step} {each.cause}", f"{before}, then {each.digest}"
                )
        elif isinstance(each, Called) and kept_at.get((each.step, each.cause), each.at) < (
            each.since or each.at
        ):
            yield Violation("paid-twice", f"{each.step} {each.cause}", f"{each.model} asked {each.key}")
        elif isinstance(each, Acked) and each.step in keeping and (each.step, each.cause) not in settled:
            yield Violation("early-ack", f"{each.step} {each.cause}", f"message {each.broker_id}")


def _letters(events: Sequence[Event]) -> Iterator[Violation]:
    """What failed for good was buried, and lies in the box with its body, or left it on purpose."""
    buried = {each.id for each in events if isinstance(each, Buried)}
    for each in events:
        final = isinstance(each, Heard) and each.outcome == "error"
        if isinstance(each, Heard) and final and each.error not in REFUSALS and each.id not in buried:
            yield Violation("unburied", each.id, each.error)
    boxed: defaultdict[str, set[str]] = defaultdict(set)
    gone: set[str] = set()
    for each in events:
        if isinstance(each, Boxed):
            boxed[each.letter_id].add(each.digest)
            gone |= {each.letter_id} if each.gone else set()
    for each in events:
        if not isinstance(each, Buried) or each.letter_id in gone:
            continue
        if each.letter_id not in boxed:
            yield Violation("letter-lost", each.letter_id, f"of {each.step} {each.cause}")
        elif each.digest not in boxed[each.letter_id]:
            yield Violation("letter-changed", each.letter_id, f"{each.digest} became {boxed[each.letter_id]}")


def _traces(events: Sequence[Event]) -> Iterator[Violation]:
    """Every run that was asked for has one trace, whole and valid. ``session_id`` empty: asked without a trace."""
    traced = {each.session_id for each in events if isinstance(each, Traced)}
    stored = {each.run for each in events if isinstance(each, Traced)}
    for each in events:
        if isinstance(each, Asked) and each.session_id and each.session_id not in traced:
            yield Violation("untraced", each.id, f"session {each.session_id}")
        elif isinstance(each, Traced):
            if not each.ended:
                yield Violation("trace-cut", each.run, "it does not tell how the run ended")
            for finding in each.findings:
                yield Violation("trace-invalid", each.run, finding)
        elif isinstance(each, Batch) and each.run not in stored:
            yield Violation(
                "batch-lost", each.run, f"batch {each.name} was published, and no trace is stored"
            )


def _ends(events: Sequence[Event]) -> Iterator[Violation]:
    ends = [each for each in events if isinstance(each, Ended)]
    if not ends:
        yield Violation("unended", "", "no event says that the run is over")
    for each in ends:
        for name, count in each.backlog.items():
            if count:
                yield Violation("backlog", name, f"{count} messages")


_JUDGES = (_answers, _contents, _records, _letters, _traces, _ends)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A run in a line. ``recovery`` holds the seconds of each recovery."""

    tried: int
    lost: int
    duplicated: int
    invalid: int
    faults: int
    recovery: tuple[float, ...] = ()
    violations: tuple[Violation, ...] = ()

    def __add__(self, other: Summary) -> Summary:
        """Two runs together."""
        return Summary(
            tried=self.tried + other.tried,
            lost=self.lost + other.lost,
            duplicated=self.duplicated + other.duplicated,
            invalid=self.invalid + other.invalid,
            faults=self.faults + other.faults,
            recovery=self.recovery + other.recovery,
            violations=self.violations + other.violations,
        )

    def row(self) -> dict[str, str]:
        """Heading → value."""
        known = bool(self.recovery)
        return {
            "tried": str(self.tried),
            "lost": str(self.lost),
            "duplicated": str(self.duplicated),
            "invalid traces": str(self.invalid),
            "faults": str(self.faults),
            "recovered in, p50": f"{median(self.recovery):.2f} s" if known else "-",
            "max": f"{max(self.recovery):.2f} s" if known else "-",
        }


NOTHING = Summary(tried=0, lost=0, duplicated=0, invalid=0, faults=0)


def summary(events: Iterable[Event]) -> Summary:
    """What ``events`` show, judged."""
    told = tuple(events)
    found = violations(told)
    kinds = Counter(each.kind for each in found)
    known = sum(kinds[kind] for kind in LOST | DUPLICATED)
    return Summary(
        tried=len({each.id for each in told if isinstance(each, Asked)}),
        lost=sum(kinds[kind] for kind in LOST),
        duplicated=sum(kinds[kind] for kind in DUPLICATED),
        invalid=len(found) - known,
        faults=sum(isinstance(each, Fault) for each in told),
        recovery=tuple(each.seconds for each in told if isinstance(each, Recovered)),
        violations=found,
    )


def table(rows: dict[str, Summary], **more: dict[str, str]) -> str:
    """The summaries under each other, as text for a terminal: the row's name first, ``more`` columns last."""
    lines = [{"": name} | each.row() | more.get(name, {}) for name, each in rows.items()]
    headings = list(dict.fromkeys(heading for line in lines for heading in line))
    cells = [headings, *([line.get(heading, "") for heading in headings] for line in lines)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells
    )
