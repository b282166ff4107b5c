"""The fate of a message whose handling failed: a function of the error, the attempt and a policy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from hashlib import sha256

from clew_schema.limits import MAX_ATTEMPTS
from clew_services.errors import ClewError, Defect, Refused, Transient

MAX_BUG_ATTEMPTS = 2
"""Attempts for an error of no known kind: a bug. The second tells a race from a certainty."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Tell the caller and let go: nothing is to be repaired, trying again would change nothing."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again, not before ``after_seconds`` have passed."""

    after_seconds: float


@dataclass(frozen=True, slots=True)
class Bury:
    """Keep the message as a dead letter and tell the caller. ``reason`` is the error's ``type``."""

    reason: str


Verdict = Answer | Retry | Bury


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how patiently. Times in seconds; ``jitter`` is a share of the delay, 0 to below 1.

    Raises ValueError for values that make no policy.
    """

    max_attempts: int = MAX_ATTEMPTS
    base: float = 0.5
    factor: float = 2.0
    cap: float = 60.0
    jitter: float = 0.2

    def __post_init__(self) -> None:
        """Refuse what would retry never, at once, or ever sooner."""
        if self.max_attempts < 1:
            raise ValueError(f"max_attempts must be at least 1, not {self.max_attempts}")
        if not 0 < self.base <= self.cap < math.inf:
            raise ValueError(f"expected 0 < base <= cap, got base={self.base}, cap={self.cap}")
        if not 1 <= self.factor < math.inf:
            raise ValueError(f"factor must be 1 or more, not {self.factor}")
        if not 0 <= self.jitter < 1:
            raise ValueError(f"jitter must be from 0 to below 1, not {self.jitter}")

    def delay(self, attempt: int, message_id: str = "", retry_after: float | None = None) -> float:
        """Seconds to wait after failed attempt number ``attempt`` (from 1).

        ``min(cap, base * factor ** (attempt - 1)) * (1 - jitter * u)``, where u in [0, 1) is a hash of
        ``message_id``: messages that failed together come back apart, and one message always waits the
        same. If the other side asked for ``retry_after`` seconds, the wait is at least
        ``retry_after * (1 + jitter * u)``, but never more than ``cap``. Never shrinks from one attempt
        to the next.
        """
        u = _share(message_id)
        steps = max(0, attempt - 1)
        # The comparison is made in logarithms, because the power may exceed every float.
        capped = steps * math.log(self.factor) >= math.log(self.cap / self.base)
        grown = self.cap if capped else min(self.cap, self.base * self.factor**steps)
        wait = grown * (1 - self.jitter * u)
        if retry_after is None or not retry_after > 0:
            return wait
        return max(wait, min(self.cap, retry_after * (1 + self.jitter * u)))


def judge(error: Exception, attempt: int, policy: RetryPolicy, *, message_id: str = "") -> Verdict:
    """What becomes of a message that failed with ``error`` in attempt number ``attempt`` (from 1).

    ===================  ==========================================================
    Refused              Answer
    Defect               Bury, at the first attempt
    Transient            Retry until ``policy.max_attempts``, then Bury
    anything else        a bug: Retry until two attempts, then Bury as internal-error
    ===================  ==========================================================
    """
    if isinstance(error, Refused):
        return Answer()
    if isinstance(error, Defect):
        return Bury(error.type)
    if isinstance(error, Transient):
        reason, limit, retry_after = error.type, policy.max_attempts, error.retry_after
    else:
        reason, limit, retry_after = ClewError.type, min(policy.max_attempts, MAX_BUG_ATTEMPTS), None
    if attempt >= limit:
        return Bury(reason)
    return Retry(policy.delay(attempt, message_id, retry_after))


def _share(message_id: str) -> float:
    """A number in [0, 1) that is a function of ``message_id``, the same in every process."""
    return int.from_bytes(sha256(message_id.encode()).digest()[:6]) / 2**48
