"""What waits on a Pulsar, asked of its admin API. The port Backlogs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clew_services.adapters.bus.pulsar_admin import PulsarAdmin


class PulsarBacklogs:
    """Counts what a subscription could hand out now: not what is handed out, and not what is delayed."""

    def __init__(self, admin: PulsarAdmin) -> None:
        """``admin`` is closed with this."""
        self._admin = admin

    async def ready(self, topic: str, subscription: str) -> int:
        """Messages that wait; 0 for a subscription that is not there. Raises BusFailed."""
        found = (await self._admin.stats(topic)).subscriptions.get(subscription)
        return max(0, found.backlog - found.unacked - found.delayed) if found else 0

    async def close(self) -> None:
        """Release the connections."""
        await self._admin.close()
