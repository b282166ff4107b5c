r"""The one builder of Milvus filter expressions: typed, escaped, and for known fields alone.

Values never become syntax: strings are quoted with ``\``, ``"`` and line breaks escaped, in the way that both
Milvus's and milvus-lite's grammars read back. Filter templates would be nicer, but milvus-lite and servers
before 2.5 do not have them.
"""

from __future__ import annotations

from typing import Final

FIELDS: Final[dict[str, type[str | int]]] = {
    "chunk_id": str,
    "document_id": str,
    "version": str,
    "filename": str,
    "file_type": str,
    "parent_id": str,
    "content_hash": str,
    "page": int,
    "page_end": int,
    "start": int,
    "end_": int,
    "ordinal": int,
    "level": int,
}
"""The scalar fields that may be filtered on, and their types."""

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def quoted(value: str) -> str:
    """``value`` as a string literal."""
    return f'"{value.translate(_ESCAPES)}"'


def equals(**fields: str | int) -> str:
    """The expression that holds where every named field has the given value; ``""`` for no field: all rows.

    Raises ValueError for a field that is not known, TypeError for a value of another type.
    """
    return " and ".join(f"{name} == {_literal(name, value)}" for name, value in fields.items())


def _literal(name: str, value: str | int) -> str:
    expected = FIELDS.get(name)
    if expected is None:
        raise ValueError(f"no field {name!r} to filter on; there are {', '.join(FIELDS)}")
    if isinstance(value, str) and expected is str:
        return quoted(value)
    # A bool is an int to Python, but `page == True` is no comparison that anybody meant.
    if isinstance(value, int) and not isinstance(value, bool) and expected is int:
        return str(value)
    raise TypeError(f"field {name!r} is compared with {expected.__name__}, not with {type(value).__name__}")
