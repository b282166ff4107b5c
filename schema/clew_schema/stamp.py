"""What every fact carries: when, by which step of which version, and the seal that ties it to the fact before."""

from clew_schema.base import Message


class Stamp(Message):
    """When and by which step a fact was established. Times are UTC, ISO 8601, as the trace prints them.

    ``version`` is that of the service. ``seal`` is a SHA-256 (hexadecimal) over this fact and the seal of the fact
    before it: whoever changes, adds or removes a fact of a run breaks the chain.
    """

    step: str = ""
    started_at: str = ""
    ended_at: str = ""
    version: str = ""
    seal: str = ""
