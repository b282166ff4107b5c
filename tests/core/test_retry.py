"""What becomes of a failed message: every kind of error, and the laws of the delay."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.limits import MAX_ATTEMPTS
from clew_services import errors
from clew_services.core.retry import Answer, Bury, Retry, RetryPolicy, judge

PLAIN = RetryPolicy(jitter=0.0)

POLICIES = st.builds(
    lambda base, more, factor, jitter: RetryPolicy(base=base, cap=base + more, factor=factor, jitter=jitter),
    st.floats(0.001, 10),
    st.floats(0, 1000),
    st.floats(1, 10),
    st.floats(0, 0.99),
)


def kinds(base: type[errors.ClewError]) -> list[type[errors.ClewError]]:
    """``base`` and all below it."""
    return [
        base,
        *(
            kind
            for child in base.__subclasses__()
            if child.__module__ == errors.__name__
            for kind in kinds(child)
        ),
    ]


@pytest.mark.parametrize("kind", kinds(errors.Refused))
@pytest.mark.parametrize("attempt", [1, 2, 99])
def test_a_refusal_is_answered(kind: type[errors.ClewError], attempt: int) -> None:
    assert judge(kind("no"), attempt, PLAIN) == Answer()


@pytest.mark.parametrize("kind", kinds(errors.Defect))
def test_a_defect_is_buried_at_once(kind: type[errors.ClewError]) -> None:
    assert judge(kind("broken"), 1, PLAIN) == Bury(kind.type)


@pytest.mark.parametrize("kind", kinds(errors.Transient))
def test_what_may_pass_is_retried_ever_later_and_then_buried(kind: type[errors.ClewError]) -> None:
    verdicts = [judge(kind("later"), attempt, PLAIN) for attempt in range(1, MAX_ATTEMPTS + 1)]
    assert verdicts == [Retry(0.5), Retry(1.0), Retry(2.0), Retry(4.0), Bury(kind.type)]


@pytest.mark.parametrize("error", [ValueError("bug"), KeyError("bug"), errors.ClewError("of no kind")])
def test_a_bug_is_tried_twice(error: Exception) -> None:
    assert judge(error, 1, PLAIN) == Retry(0.5)
    assert judge(error, 2, PLAIN) == Bury("internal-error")


def test_a_bug_is_tried_once_where_everything_is() -> None:
    assert judge(ValueError("bug"), 1, RetryPolicy(max_attempts=1)) == Bury("internal-error")


@pytest.mark.parametrize(
    ("asked", "waits"),
    [
        (None, 0.5),
        (7.0, 7.0),
        (0.1, 0.5),  # never sooner than the policy says
        (3600.0, 60.0),  # never later than its cap
        (math.inf, 60.0),
        (math.nan, 0.5),
        (-5.0, 0.5),
    ],
)
def test_a_wish_to_come_back_later_is_honoured(asked: float | None, waits: float) -> None:
    assert judge(errors.ModelBusy("busy", asked), 1, PLAIN) == Retry(waits)


def test_an_attempt_beyond_all_limits_is_buried() -> None:
    assert judge(errors.BusFailed("gone"), 10**15, PLAIN) == Bury("bus-failed")


def test_messages_that_failed_together_come_back_apart() -> None:
    policy = RetryPolicy(jitter=0.5)
    waits = [policy.delay(3, f"message-{n}") for n in range(200)]
    assert all(1.0 < wait <= 2.0 for wait in waits)
    assert len(set(waits)) == 200
    assert sum(wait < 1.5 for wait in waits) in range(70, 131)  # spread evenly, give or take four sigma
    busy = [policy.delay(1, f"message-{n}", 10.0) for n in range(200)]
    assert all(10.0 <= wait < 15.0 for wait in busy)
    assert len(set(busy)) == 200


@given(policy=POLICIES, attempt=st.integers(1, 10**9), message_id=st.text())
def test_the_delay_never_shrinks_and_never_exceeds_the_cap(
    policy: RetryPolicy, attempt: int, message_id: str
) -> None:
    now, then = policy.delay(attempt, message_id), policy.delay(attempt + 1, message_id)
    assert 0 < now <= then <= policy.cap


@given(policy=POLICIES, attempt=st.integers(1, 50), message_id=st.text(), asked=st.floats(0, 10_000))
def test_nobody_comes_back_sooner_than_asked_but_for_the_cap(
    policy: RetryPolicy, attempt: int, message_id: str, asked: float
) -> None:
    wait = policy.delay(attempt, message_id, asked)
    assert min(asked, policy.cap) <= wait <= policy.cap
    assert wait == policy.delay(attempt, message_id, asked)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"max_attempts": 0}, "max_attempts"),
        ({"base": 0.0}, "base"),
        ({"base": 90.0}, "cap"),
        ({"cap": math.inf}, "cap"),
        ({"factor": 0.5}, "factor"),
        ({"factor": math.nan}, "factor"),
        ({"jitter": 1.0}, "jitter"),
    ],
)
def test_what_makes_no_policy_is_refused(values: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        RetryPolicy(**values)
