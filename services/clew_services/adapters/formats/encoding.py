"""Bytes into characters, for files that say nothing of their encoding."""

from __future__ import annotations

import re

from clew_services.adapters.formats.kinds import SUPPORTED
from clew_services.errors import DocumentUnreadable


def decode(name: str, data: bytes) -> str:
    """Text from bytes: a byte order mark, else UTF-8, else the legacy encoding that the bytes look like.

    Raises DocumentUnreadable for binary data, and for text in an encoding that is none of these.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif b"\x00" in data:
        raise DocumentUnreadable(f"{name}: binary, not text; supported are {SUPPORTED}.")
    else:
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            encoding = _legacy(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise DocumentUnreadable(f"{name}: neither UTF-8 nor {encoding}; save it as UTF-8.") from error


def _legacy(data: bytes) -> str:
    """GB 18030 sets high bytes in pairs; in a Western text they stand alone between letters."""
    high = sum(byte >= 0x80 for byte in data)
    paired = 2 * len(re.findall(rb"[\x81-\xfe][\xa1-\xfe]", data))
    return "gb18030" if paired >= 0.8 * high else "cp1252"
