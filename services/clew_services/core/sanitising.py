"""Text as it is kept: in NFC, without characters that nobody can see. Pure."""

from __future__ import annotations

import re
import unicodedata

_UNSEEN = re.compile(
    "["
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls, C0 but tab, line feed, carriage return; and C1
    "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"  # soft hyphen, zero width, direction
    "\ue000-\uf8ff\U000f0000-\U0010ffff"  # private use
    "\ud800-\udfff"  # surrogates: half a character
    "]"
)
_UNSEEN_STRICT = re.compile(
    "[\u200b-\u200d\ufeff\u200f\u202a-\u202e\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ue000-\uf8ff\ud800-\udfff]"
)


def sanitise(text: str) -> str:
    """``text`` in NFC, lines ended by line feeds, without what nobody can see.

    Removed: control characters but tab and line feed, zero-width and direction marks, soft hyphens,
    private-use characters and surrogates. What a removed character kept apart is composed.
    """
    return unicodedata.normalize("NFC", _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def sanitise_strict(text: str) -> str:
    """``text`` as SuperMew 0.1.0 stores it: NFC first, then fewer characters go than in :func:`sanitise`.

    C1 controls, carriage returns, soft hyphens, U+200E, word joiners and the private planes stay (quirk Q39), and
    what a removed character kept apart stays apart: on such text doing it twice may change it again.
    """
    return _UNSEEN_STRICT.sub("", unicodedata.normalize("NFC", text))
