"""SuperMew's vectors of chunks: the long page that their shorthand stands for, and what is compared."""

from __future__ import annotations

from typing import Any

from clew_services.core.chunking_strict import split_document

LONG_PAGE = "".join(f"第{n}句话，这里是一些用于测试的中文内容。" for n in range(1, 140))
"""What ``<2950 chars: 第1句…>`` stands for, as the title of CH-02 says."""


def chunks(given: Any) -> list[list[Any]]:
    """Level, id, parent's id, index, length and the first four characters of each chunk."""
    pages = [(None if number == "absent" else number, _text(text)) for number, text in given["pages"]]
    return [
        [each.level, each.chunk_id, each.parent_id, each.index, len(each.text), each.text[:4]]
        for each in split_document(given["filename"], pages)
    ]


def _text(written: str) -> str:
    if written.startswith("<"):
        assert written == f"<{len(LONG_PAGE)} chars: {LONG_PAGE[:3]}…>"
        return LONG_PAGE
    return written
