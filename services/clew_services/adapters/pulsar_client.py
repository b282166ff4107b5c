"""Options of the Pulsar client: who we are, whom we believe, where it logs."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulsar
import pulsar.asyncio
from pulsar.asyncio import PulsarException

if TYPE_CHECKING:
    from pathlib import Path


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


async def close_client(client: pulsar.asyncio.Client) -> None:
    """Close; whatever goes wrong with it leaves nothing to be done."""
    try:
        await client.close()
    except PulsarException:
        return  # closed already, or the broker is gone: in both cases nothing of it is left
