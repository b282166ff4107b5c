"""What values of settings look like: addresses, and lists of headers."""

from __future__ import annotations

from pydantic import SecretStr

_HTTP = ("http://", "https://")
MILVUS = (*_HTTP, "tcp://", "unix:")
"""What the address of a Milvus begins with."""

ADDRESSES = {
    "pulsar_url": ("pulsar://", "pulsar+ssl://"),
    "pulsar_admin_url": _HTTP,
    "database_url": ("sqlite:", "postgresql"),
    "embedding_url": _HTTP,
    "chat_url": _HTTP,
    "traces_url": _HTTP,
    "trace_sparql_query": _HTTP,
    "trace_sparql_update": _HTTP,
    "rerank_url": _HTTP,
    "otlp_endpoint": _HTTP,
}
"""What the value of a setting begins with, unless it is empty."""


def headers_of(value: SecretStr) -> dict[str, str]:
    """``NAME=VALUE,NAME=VALUE`` as headers. Raises ValueError, without the value, for what is none."""
    pairs = [pair.strip() for pair in value.get_secret_value().split(",") if pair.strip()]
    headers: dict[str, str] = {}
    for number, pair in enumerate(pairs, start=1):
        name, equals, text = pair.partition("=")
        if not equals or not name.strip().isascii() or not text.strip().isascii() or not pair.isprintable():
            raise ValueError(f"pair {number} of {len(pairs)} is not NAME=VALUE in ASCII")
        headers[name.strip()] = text.strip()
    return headers
