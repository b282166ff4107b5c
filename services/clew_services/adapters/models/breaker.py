"""A circuit breaker: after some failures in a row, do not call for a while."""

from __future__ import annotations

from clew_services.errors import ModelBusy
from clew_services.ports import Clock


class Breaker:
    """Opens after ``failures`` failures in a row, for ``pause`` seconds; then one call may try.

    While that one is under way the others still fail fast; its success closes the circuit, its failure
    opens it again. For one event loop.
    """

    def __init__(self, clock: Clock, *, failures: int = 5, pause: float = 10.0) -> None:
        if failures < 1 or pause <= 0:
            raise ValueError(f"expected failures >= 1 and pause > 0, got {failures} and {pause}")
        self._clock, self._limit, self._pause = clock, failures, pause
        self._failures = 0
        self._open_until = 0.0

    def admit(self, what: str) -> None:
        """Return if a call may be made, else raise ModelBusy with the seconds until one may; ``what`` is named."""
        if self._failures < self._limit:
            return
        left = self._open_until - self._clock.now()
        if left > 0:
            raise ModelBusy(
                f"{what} failed {self._failures} times in a row; not called for another {left:.1f} s",
                retry_after=left,
            )
        self._open_until = self._clock.now() + self._pause

    def succeeded(self) -> None:
        """The other side answered, be it with a refusal."""
        self._failures = 0

    def failed(self) -> None:
        """The other side did not answer, or could not."""
        self._failures += 1
        if self._failures >= self._limit:
            self._open_until = self._clock.now() + self._pause
