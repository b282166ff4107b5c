"""A brake: a queue that is wholly dead-lettered means a bad deploy, not bad messages."""

from dataclasses import dataclass, field

PAUSE = 60.0
"""Seconds until the first probe."""

LONGEST = 900.0
"""Seconds between probes at most."""


@dataclass(slots=True)
class Brake:
    """Counts burials in a row; at ``limit`` the consumer stops taking and readiness fails.

    After ``pause`` seconds one message is let through, as a probe: if it ends well, the brake is off; else the next
    probe comes after twice the time, at most ``longest`` seconds. An operator may take it off as well. The idea of the
    limit is arroyo's ``DlqLimit``, that of the probe a circuit breaker's half-open state. Anything that ends well, a
    refusal included, begins the count anew.
    """

    limit: int = 50
    pause: float = PAUSE
    longest: float = LONGEST
    on: bool = False
    probing: bool = False
    _burials: int = 0
    _wait: float = field(default=0.0)

    @property
    def wait(self) -> float:
        """Seconds until the next probe."""
        return self._wait or self.pause

    def pull(self) -> None:
        """One more burial."""
        self._burials += 1
        self.on = self.on or self._burials >= self.limit

    def release(self) -> None:
        """Something ended well. What was in hand when the brake came on says nothing: only the probe takes it off."""
        self._burials = 0
        if self.probing:
            self.open()

    def open(self) -> None:
        """Take it off."""
        self.on = self.probing = False
        self._burials, self._wait = 0, 0.0

    def probed(self) -> bool:
        """The probe is over: whether it took the brake off. If not, the next one comes later."""
        self.probing = False
        if self.on:
            self._wait = min(self.longest, self.wait * 2)
        return not self.on
