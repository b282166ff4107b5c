"""The figures of many judged questions: means with intervals by language, latency, and thresholds to meet."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from clew_services.core import metrics
from clew_services.core.metrics import Mean
from clew_services.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew_services.evaluation.judging import Judged

METRICS: Mapping[str, str] = {
    "recall@8": "share of the wanted evidence among the first 8 pieces",
    "hit@5": "questions with wanted evidence among the first 5 pieces",
    "mrr@10": "1 / the place of the first wanted piece, 0 beyond 10",
    "ndcg@10": "discounted gain of the first 10 pieces, 1 at best",
    "accuracy": "answerable questions whose answer holds a known one",
    "citation_precision": "citations whose chunk holds wanted evidence, mean over answers that cite",
    "supported": "verdicts on citations that are 'supported', mean over answers that were checked",
    "coverage": "sentences of an answer that a citation supports, mean over answers that were checked",
    "abstention": "unanswerable questions that were not answered",
    "false_refusals": "answerable questions that were not answered",
}
"""Every figure and its meaning, in the order of the tables. All lie between 0 and 1."""

TIMES: Mapping[str, str] = {
    "latency_p50": "milliseconds until the answer, of half of the questions at most",
    "latency_p95": "milliseconds until the answer, of 95 in 100 questions at most",
}
COUNTS: Mapping[str, str] = {"errors": "runs that failed"}
LIMITABLE = frozenset({*METRICS, *TIMES, *COUNTS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a set of questions came to. ``groups`` holds ``all`` and each language that was asked in.

    Times are milliseconds. ``outcomes`` counts how runs ended, ``failures`` the types of their errors.
    """

    questions: int
    groups: Mapping[str, Mapping[str, Mean]]
    latency_p50: float
    latency_p95: float
    outcomes: Mapping[str, int]
    failures: Mapping[str, int]

    @property
    def errors(self) -> int:
        """Runs that failed."""
        return sum(self.failures.values())

    def value(self, name: str) -> float | None:
        """The figure ``name`` over all questions; null when it does not apply to this set."""
        if name in TIMES:
            return float(getattr(self, name))
        if name == "errors":
            return float(self.errors)
        found = self.groups["all"].get(name)
        return None if found is None else found.value

    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self) | {"errors": self.errors}


def means(judged: Sequence[Judged]) -> dict[str, Mean]:
    """The mean of each figure over the questions that it applies to, in the order of METRICS."""
    found = {}
    for name in METRICS:
        mean = metrics.mean([one.figures[name] for one in judged if name in one.figures])
        if mean is not None:
            found[name] = mean
    return found


def summarise(judged: Sequence[Judged]) -> Summary:
    """The figures of ``judged``, all together and by language. Raises ValueError for no question."""
    if not judged:
        raise ValueError("no question was judged")
    times = [one.seconds * 1000 for one in judged]
    languages = sorted({one.language for one in judged})
    groups = {"all": means(judged)}
    if len(languages) > 1:
        groups |= {name: means([one for one in judged if one.language == name]) for name in languages}
    else:
        groups[languages[0]] = groups["all"]
    return Summary(
        questions=len(judged),
        groups=groups,
        latency_p50=metrics.percentile(times, 0.5),
        latency_p95=metrics.percentile(times, 0.95),
        outcomes=dict(Counter(one.outcome for one in judged)),
        failures=dict(Counter(one.error.partition(":")[0] for one in judged if one.error)),
    )


@dataclass(frozen=True, slots=True)
class Bound:
    """A figure's least value, or its largest one (``is_most``)."""

    name: str
    value: float
    is_most: bool = False

    def broken_by(self, summary: Summary) -> str:
        """Why ``summary`` does not keep it; empty when it does. A figure that could not be measured keeps none."""
        found, wanted = summary.value(self.name), "at most" if self.is_most else "at least"
        if found is None:
            return f"{self.name} was not measured: no question of the set says what it needs"
        kept = found <= self.value if self.is_most else found >= self.value
        return "" if kept else f"{self.name} is {found:.4g}, wanted {wanted} {self.value:g}"


def bound(text: str, *, is_most: bool = False) -> Bound:
    """The bound ``NAME=VALUE``. Raises BadRequest for another shape, an unknown figure, or no number."""
    name, equals, written = text.partition("=")
    if not equals or name not in LIMITABLE:
        raise BadRequest(
            f"{text!r} is no bound: write NAME=VALUE, NAME one of {', '.join(sorted(LIMITABLE))}"
        )
    try:
        value = float(written)
    except ValueError:
        raise BadRequest(f"{text!r} is no bound: {written!r} is no number") from None
    if value != value:  # noqa: PLR0124 - NaN is what differs from itself, and compares with nothing
        raise BadRequest(f"{text!r} is no bound: NaN compares with nothing")
    return Bound(name, value, is_most)
