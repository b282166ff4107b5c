"""What no output may hold: the secrets of the settings, hidden in every text that leaves the process.

A secret gets into a text through libraries: an error that quotes the address it could not reach, a traceback, the
``repr`` of something. So it is looked for by its value, in one place for each way out: what callers, traces and dead
letters are told of an error, log lines, what a command prints of an error, and a crash's traceback.
"""

from __future__ import annotations

import sys
import threading
import traceback
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import TracebackType

HIDDEN = "***"
"""What stands in the place of a secret."""

SHORTEST = 4
"""Characters: what is shorter than that is in every other text by chance, and guards nothing."""

_TELLING = ("password", "passwd", "secret", "token", "key")
"""Parts of the names of parameters in an address whose values are secrets."""


class Secrets:
    """The secrets that a process knows."""

    def __init__(self) -> None:
        """None yet."""
        self._known: tuple[str, ...] = ()

    def learn(self, secrets: Iterable[str]) -> None:
        """Hide these as well from now on, as they are and as an address or JSON writes them."""
        spelled = {way for secret in secrets for way in (secret, quote(secret, safe=""), _in_json(secret))}
        more = {way for way in spelled if len(way) >= SHORTEST}
        # The longest first: one secret may be a part of another.
        self._known = tuple(sorted({*self._known, *more}, key=lambda each: (-len(each), each)))

    def hide(self, text: str) -> str:
        """``text`` without any of them."""
        for secret in self._known:
            if secret in text:
                text = text.replace(secret, HIDDEN)
        return text


SECRETS = Secrets()
"""Those of this process: learned when its settings are read."""


def hide(text: str) -> str:
    """``text`` without a secret of this process."""
    return SECRETS.hide(text)


def secrets_of(values: Mapping[str, object]) -> Iterator[str]:
    """The secrets in the values of settings: every SecretStr, and what an address says of a password or a key."""
    for value in values.values():
        reveal = getattr(value, "get_secret_value", None)  # a SecretStr; the help does without pydantic
        if reveal is not None:
            whole: str = reveal()
            yield whole
            # NAME=VALUE,NAME=VALUE: the values travel alone.
            yield from (pair.partition("=")[2].strip() for pair in whole.split(",") if "=" in pair)
        elif isinstance(value, str) and "://" in value:
            yield from _in_address(value)


def without_secrets(address: str) -> str:
    """``address`` as it may be shown."""
    own = Secrets()
    own.learn(_in_address(address))
    return own.hide(address)


def hide_in_log(_logger: object, _method: str, event: dict[str, Any]) -> dict[str, Any]:
    """A structlog processor."""
    return {name: _hidden(value) for name, value in event.items()}


def guard_tracebacks() -> None:
    """From now on an exception that nobody catches is printed without secrets, in threads as well."""

    def tell(_kind: type[BaseException], error: BaseException, _where: TracebackType | None) -> None:
        tell_crash(error)

    def tell_of_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and args.exc_type is not SystemExit:
            tell_crash(args.exc_value)

    sys.excepthook = tell
    threading.excepthook = tell_of_thread


def tell_crash(error: BaseException) -> None:
    """Print the traceback of ``error`` on standard error, without secrets."""
    sys.stderr.write(hide("".join(traceback.format_exception(error))))


def _hidden(value: object) -> object:
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, list | tuple):
        return [_hidden(each) for each in value]
    if isinstance(value, dict):
        return {name: _hidden(each) for name, each in value.items()}
    return value


def _in_address(address: str) -> Iterator[str]:
    try:
        parts = urlsplit(address)
        password, query = parts.password, parts.query
    except ValueError:  # no address: whoever reads the setting says so
        return
    if password:
        yield from (password, unquote(password))
    for name, value in parse_qsl(query):
        if any(word in name.lower() for word in _TELLING):
            yield value


def _in_json(secret: str) -> str:
    return secret.replace("\\", "\\\\").replace('"', '\\"')
