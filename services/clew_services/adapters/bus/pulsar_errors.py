"""What the Pulsar client says, in words that tell a person what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_services.errors import BusFailed, ClewError, TooLarge

if TYPE_CHECKING:
    from clew_services.adapters.bus.pulsar_calls import CallFailed

_QUOTA = "the backlog quota of the namespace is used up: let consumers catch up, or raise it"
_ADVICE = {
    "Timeout": (
        "the broker did not answer in time: is it running and reachable? Towards a client without a token "
        "a broker that demands authentication is silent, too: check the token"
    ),
    "ConnectError": "the broker cannot be reached: check the address, TLS settings, and that it runs",
    "RetryableError": "the broker is not ready: check that it runs",
    "NotConnected": "the connection was lost; the client reconnects by itself",
    "AuthenticationError": "the broker does not accept the token or certificate: check it",
    "AuthorizationError": "the broker does not let this role do that: grant it the permission on this topic",
    "TopicNotFound": "the topic, its namespace or its tenant does not exist: run `clew topics create`",
    "SubscriptionNotFound": "the subscription does not exist: run `clew topics create`",
    "BrokerMetadataError": "tenant or namespace may be missing: run `clew topics create`",
    "LookupError": "no broker serves the topic now; if it never did, run `clew topics create`",
    "ServiceUnitNotReady": "the topic is being moved to another broker; it is tried again",
    "TooManyLookupRequestException": "the broker is busy; it is tried again",
    "ConsumerBusy": "the subscription is in use in another mode: all consumers of Clew use Shared",
    "ProducerBusy": "a producer of this name exists: give each process its own",
    "ProducerBlockedQuotaExceededError": _QUOTA,
    "ProducerBlockedQuotaExceededException": _QUOTA,
    "InvalidTopicName": "this is no topic name: persistent://TENANT/NAMESPACE/NAME is one",
    "InvalidUrl": "this is no broker address: pulsar://HOST:6650 is one",
    "TopicTerminated": "the topic was closed for good: delete it and run `clew topics create`",
    "AlreadyClosed": "this side closed it; subscribe or connect again",
}

ALIVE = frozenset({"TopicNotFound", "AuthorizationError", "BrokerMetadataError", "NotAllowedError"})
"""Results that only a broker that lives can give."""


def translated(error: CallFailed, doing: str) -> ClewError:
    """BusFailed, or TooLarge when the broker would not carry it.

    Args:
        error: what the library said.
        doing: what was being done and where, for the text: "publishing to persistent://…".
    """
    name, detail = error.name, str(error)
    if name == "MessageTooBig":
        return TooLarge(
            f"{doing}: the broker refuses a message of this size ({detail}); send less, or send it by reference"
        )
    missing = (
        "not found" in detail.lower() or "does not exist" in detail.lower() or "not exist" in detail.lower()
    )
    advice = _ADVICE["TopicNotFound"] if missing else _ADVICE.get(name, "see the broker's log")
    return BusFailed(f"{doing} failed ({detail}): {advice}")
