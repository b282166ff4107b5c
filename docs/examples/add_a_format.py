"""A format that Clew does not read, made into one that it does: ``python add_a_format.py FILE.csv``."""

import csv
import io
import sys
from base64 import b64encode
from pathlib import Path

from clew_schema import DocumentLoad


def as_markdown(name: str, data: bytes) -> DocumentLoad:
    """A table as a document: one paragraph for each row, so that a row is not cut from its headings."""
    rows = csv.DictReader(io.StringIO(data.decode("utf-8-sig")))
    paragraphs = ["; ".join(f"{head}: {value}" for head, value in row.items()) for row in rows]
    text = f"# {name}\n\n" + "\n\n".join(paragraphs)
    return DocumentLoad(
        name=name,  # the name that citations show; it stays the caller's
        media_type="text/markdown",  # decides when the ending says nothing
        content=b64encode(text.encode()).decode(),
    )


if __name__ == "__main__":
    source = Path(sys.argv[1])
    print(as_markdown(source.name, source.read_bytes()).model_dump_json())
