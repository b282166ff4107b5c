"""A format that Clew does not read, made into one that it does: ``python add_a_format.py FILE.eml``."""

import sys
from base64 import b64encode
from email import message_from_bytes, policy
from pathlib import Path

from clew_schema import DocumentLoad


def as_markdown(name: str, data: bytes) -> DocumentLoad:
    """A mail as a document: its subject is the title, and who wrote it when can be asked for too."""
    mail = message_from_bytes(data, policy=policy.default)
    body = mail.get_body(("plain",))
    head = "\n".join(f"{field}: {mail[field]}" for field in ("From", "To", "Date") if mail[field])
    text = f"# {mail['Subject'] or name}\n\n{head}\n\n{body.get_content() if body else ''}"
    return DocumentLoad(
        name=name,  # the name that citations show; it stays the caller's
        media_type="text/markdown",  # decides when the ending says nothing
        content=b64encode(text.encode()).decode(),
    )


if __name__ == "__main__":
    source = Path(sys.argv[1])
    print(as_markdown(source.name, source.read_bytes()).model_dump_json())
