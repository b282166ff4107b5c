"""What the decision core costs in processor time; run by ``make bench-decisions``, and never by ``make test``.

Three sums of one question with one rewrite (see ``decisions.py``: no bus, no store, no model, no text seen before):

* *decisions*: the core's functions alone: the run read from its facts four times, what is packed for the grader
  and the writer, routes, the rewrite, the citations resolved and verified;
* *decisions and RAGTrace*: the handlers with all that, the facts and messages that they make, RAGTrace and ``ext``.
  This is what is meant by "the decision core with one rewrite, trace included"; it may cost 1 ms;
* *explaining*: the same facts as RDF, step by step, to the bytes that the bus gets. It is not in that sum: explaining
  costs more than deciding, and the runtime does it beside the handlers, only for runs that are traced.

Each round times a fixed piece of work as well, and what is compared is the ratio of the two medians, which differs
little from one machine to the next. A ratio that is 30 % above the committed one fails, and so does a millisecond
that is exceeded on the machine of the baseline.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.conftest import Baseline
from benchmarks.decisions import Steps, decide, evidence, explain, unit

GROWTH = 1.3
"""How much of the committed ratio is allowed: what two runs on a busy machine differ by, and a little."""
LIMIT_MS = 1.0
"""What deciding and recording may cost."""

TRAIL = Steps(evidence()).answer().trail


def _decide() -> Callable[[], object]:
    (cited,) = evidence(passes=1)
    return lambda: decide(TRAIL, cited)


def _answer() -> Callable[[], object]:
    return Steps(evidence()).answer


def _explain() -> Callable[[], object]:
    answered = Steps(evidence()).answer()
    return lambda: explain(answered)


SUMS: dict[str, Callable[[], Callable[[], object]]] = {
    "decisions": _decide,
    "decisions and RAGTrace": _answer,
    "explaining": _explain,
}


@pytest.mark.benchmark(timer=time.process_time)
@pytest.mark.parametrize("name", SUMS)
def test_costs_what_it_did(name: str, benchmark: BenchmarkFixture, baseline: Baseline) -> None:
    milliseconds, ratio, units = _measure(SUMS[name], benchmark)
    baseline.seen[name] = ratio
    baseline.units.append(units)
    known, unit_ms = (ratio, units) if baseline.is_new else (baseline.ratios[name], baseline.unit_ms)
    print(
        f"{name}: {milliseconds:.2f} ms, {ratio:.2f} units of {units:.3f} ms; "
        f"baseline {known:.2f} units of {unit_ms:.3f} ms"
    )
    assert ratio <= known * GROWTH, (
        f"{name} costs {ratio / known:.2f} times what it did: make it cheaper, or say why and run "
        "`make bench-decisions NEW=1`"
    )
    if name == "decisions and RAGTrace":
        assert ratio * unit_ms <= LIMIT_MS


def _measure(
    prepare: Callable[[], Callable[[], object]], benchmark: BenchmarkFixture
) -> tuple[float, float, float]:
    """Milliseconds, their multiple of the fixed work's, and those; each the median of all rounds."""
    took: list[float] = []

    def setup() -> tuple[tuple[Callable[[], object]], dict[str, Any]]:
        begun = time.process_time()
        unit()
        took.append(time.process_time() - begun)
        return (prepare(),), {}

    pedantic: Callable[..., object] = benchmark.pedantic  # which ships without types
    pedantic(lambda work: work(), setup=setup, rounds=500, warmup_rounds=50)
    assert benchmark.stats is not None, "benchmarks are disabled"
    own = median(benchmark.stats.stats.data)
    unit_of_this_run = median(took)
    benchmark.extra_info["ratio"] = own / unit_of_this_run
    return own * 1000, own / unit_of_this_run, unit_of_this_run * 1000
