"""Clients of the Pulsar library: who we are, whom we believe, where it logs, how it ends."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pulsar

from clew_services.adapters.bus.pulsar_calls import CallFailed, call, hand_over

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


EXIT_SECONDS = 3.0
GRACE_SECONDS = 0.02
"""For a thread of the library to leave the interpreter after its last word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PulsarSecurity:
    """How to prove who we are, and whom to believe. Empty values are not sent."""

    token: str = ""
    trust_certificates: str = ""
    """Path of a PEM file with the authorities that sign the broker's certificate."""
    certificate: str = ""
    private_key: str = ""
    check_hostname: bool = True

    def __repr__(self) -> str:
        return f"PulsarSecurity(token={'set' if self.token else 'none'}, certificate={self.certificate!r})"


def client_options(
    security: PulsarSecurity, operation_timeout: float, log_path: Path | None
) -> dict[str, Any]:
    """The keyword arguments of the library's client, from ours."""
    options: dict[str, Any] = {
        "operation_timeout_seconds": max(1, round(operation_timeout)),
        "connection_timeout_ms": max(1, round(operation_timeout * 1000)),
        # Not the library's console logger, which writes to standard output, and not a Python logger, which
        # can lock up the interpreter.
        "logger": pulsar.FileLogger(pulsar.LoggerLevel.Error, _log_file(log_path)),
        "stats_interval_in_seconds": 0,
        "tls_validate_hostname": security.check_hostname,
    }
    if security.token:
        options["authentication"] = pulsar.AuthenticationToken(security.token)
    elif security.certificate:
        options["authentication"] = pulsar.AuthenticationTLS(security.certificate, security.private_key)
    if security.trust_certificates:
        options["tls_trust_certs_file_path"] = security.trust_certificates
    return options


def _log_file(path: Path | None) -> str:
    """``path``, or standard error, or nowhere where standard error cannot be opened by name (a socket, say)."""
    if path is not None:
        return str(path)
    try:
        descriptor = os.open("/dev/stderr", os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    except OSError:
        return os.devnull
    is_socket = stat.S_ISSOCK(os.fstat(descriptor).st_mode)
    os.close(descriptor)
    return os.devnull if is_socket else "/dev/stderr"


def new_client(url: str, options: dict[str, Any]) -> Any:
    """The library's client: the object below ``pulsar.Client``, whose calls are all made with ``call``."""
    return pulsar.Client(url, **options)._client  # noqa: SLF001 - pulsar.asyncio does the same


def close_at_exit(clients: list[Any]) -> None:
    """Close without an event loop; wait at most EXIT_SECONDS for all of them.

    Not with the library's ``shutdown``, which waits for its threads while they wait for Python.
    """
    closed = threading.Semaphore(0)
    for client in clients:
        client.close_async(_LastCallback(_ignore, closed.release))
    limit = time.monotonic() + EXIT_SECONDS
    for _ in clients:
        closed.acquire(timeout=max(0.0, limit - time.monotonic()))
    time.sleep(GRACE_SECONDS)


class _LastCallback:
    """The callback of a client's close, which tells when the library let go of it.

    The library closes a client in a thread of its own, calls back, and then drops the callback, for which it
    needs the interpreter once more. A process that has begun to end by then is aborted. So the close is over
    when this object is gone, and not when it was called.
    """

    __slots__ = ("_answer", "_released")

    def __init__(self, answer: Callable[..., None], released: Callable[[], None]) -> None:
        self._answer = answer
        self._released = released

    def __call__(self, *answer: Any) -> None:
        self._answer(*answer)

    def __del__(self) -> None:
        self._released()


def _ignore(*_answer: Any) -> None:
    """There is nobody left to tell."""


async def close_client(client: Any) -> None:
    """Close; whatever goes wrong with it leaves nothing to be done."""
    loop = asyncio.get_running_loop()
    released = asyncio.Event()

    def start(answer: Callable[..., None]) -> None:
        client.close_async(_LastCallback(answer, partial(hand_over, loop, released.set)))

    try:
        await call(start)
        await asyncio.wait_for(released.wait(), EXIT_SECONDS)
    except TimeoutError:
        return
    except CallFailed:
        return  # closed already, or the broker is gone: in both cases nothing of it is left
