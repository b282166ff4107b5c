"""Server-sent events, as the HTML standard reads them: bytes in, data out."""

from __future__ import annotations

import codecs
import re

# Only these end a line. `str.splitlines` also knows U+2028 and others, which occur inside JSON strings.
_LINE_END = re.compile(r"\r\n|\n|\r")


class SseDecoder:
    """Collects the ``data`` of events. Bytes may be cut anywhere, inside a character too."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
        self._rest = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[str]:
        """The data of the events that are now complete; lines of one event are joined by line ends."""
        return self._lines(self._decode(chunk), last=False)

    def close(self) -> list[str]:
        """The data of an event whose blank line never came; servers forget it after the last one."""
        return self._lines(self._decode(b"", True) + "\n\n", last=True)

    def _lines(self, text: str, *, last: bool) -> list[str]:
        text = self._rest + text
        # A carriage return at the end may be half of a line end.
        held = "\r" if text.endswith("\r") and not last else ""
        *lines, self._rest = _LINE_END.split(text.removesuffix(held) if held else text)
        self._rest += held
        events = []
        for line in lines:
            name, _, value = line.partition(":")
            if not line and self._data:
                events.append("\n".join(self._data))
                self._data = []
            elif name == "data":
                self._data.append(value.removeprefix(" "))
        return events
