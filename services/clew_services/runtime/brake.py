"""A brake: a queue that is wholly dead-lettered means a bad deploy, not bad messages."""

from dataclasses import dataclass


@dataclass(slots=True)
class Brake:
    """Counts burials in a row; at ``limit`` the consumer stops taking and readiness fails, until a restart.

    The idea is arroyo's ``DlqLimit``. Anything that ends well, a refusal included, begins the count
    anew; a brake that is on stays on, because somebody has to look.
    """

    limit: int = 50
    on: bool = False
    _burials: int = 0

    def pull(self) -> None:
        """One more burial."""
        self._burials += 1
        self.on = self.on or self._burials >= self.limit

    def release(self) -> None:
        """Something ended well."""
        self._burials = 0
