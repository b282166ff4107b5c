"""A brake: a queue that is wholly dead-lettered means a bad deploy, not bad messages."""

from dataclasses import dataclass


@dataclass(slots=True)
class Brake:
    """Counts burials in a row; at ``limit`` the consumer stops taking and readiness fails.

    The idea is arroyo's ``DlqLimit``. Anything that ends well, a refusal included, releases it.
    """

    limit: int = 50
    _burials: int = 0

    def pull(self) -> None:
        """One more burial."""
        self._burials += 1

    def release(self) -> None:
        """Something ended well."""
        self._burials = 0

    @property
    def on(self) -> bool:
        """Whether the consumer has to stop."""
        return self._burials >= self.limit
