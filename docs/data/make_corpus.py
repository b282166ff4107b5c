"""Typeset two of the corpus's texts: `python docs/data/make_corpus.py MPL-2.0.txt CC0-1.0.txt`.

Writes ``mpl-2.0.pdf`` and ``cc0-1.0.html`` beside the other documents. Every word is the text's own; only
line breaks and drawn lines go. The PDF is written by hand: pages of Helvetica, nothing else.
"""

from __future__ import annotations

import html
import re
import sys
import textwrap
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
LINES_PER_PAGE = 56
COLUMNS = 96
FONT = "/Resources << /Font << /F1 3 0 R >> >>"


def blocks(text: str) -> list[str]:
    """Paragraphs and headings, each on one line, without the rules and boxes that are drawn around them."""
    plain = re.sub(r"(?m)^[*=-]{3,}$|^\*[ *]|[ *]\*$", "", text)
    return [" ".join(block.split()) for block in re.split(r"\n\s*\n", plain) if block.strip()]


def pdf(title: str, text: str) -> bytes:
    """Pages of wrapped lines, as PDF 1.4."""
    lines = [line for block in blocks(text) for line in [*textwrap.wrap(block, COLUMNS), ""]]
    pages = [lines[at : at + LINES_PER_PAGE] for at in range(0, len(lines), LINES_PER_PAGE)]
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< /Title ({escape(title)}) >>",
    ]
    for number, page in enumerate(pages):
        shown = "\n".join(f"({escape(line)}) Tj T*" if line else "T*" for line in page)
        stream = f"BT /F1 10 Tf 13 TL 56 760 Td\n{shown}\nET"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {6 + 2 * number} 0 R {FONT} >>",
            f"<< /Length {len(stream.encode('cp1252'))} >>\nstream\n{stream}\nendstream",
        ]
    return assemble(objects)


def escape(text: str) -> str:
    """A PDF string's inside."""
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def assemble(objects: list[str]) -> bytes:
    """The objects with their cross-reference table; the fourth is the document's information."""
    out = b"%PDF-1.4\n"
    table = "0000000000 65535 f \n"
    for number, body in enumerate(objects, 1):
        table += f"{len(out):010} 00000 n \n"
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + f"xref\n0 {size}\n{table}{trailer}".encode()


def page(title: str, text: str) -> str:
    """A web page: a short block without a full stop is a heading, a numeral or letter begins a list item."""
    body: list[str] = []
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[ivx]+|[a-d])\. )", text):
        line = html.escape(" ".join(block.split()), quote=False)
        heading = len(line) < 60 and not line.endswith((".", ":", ";"))
        tag = "h2" if heading else "li" if re.match(r"(?:[ivx]+|[a-d])\. ", line) else "p"
        if line:
            body.append(f"<{tag}>{line}</{tag}>")
    items = re.sub(r"((?:<li>.*</li>\n?)+)", r"<ul>\n\1</ul>\n", "\n".join(body))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{html.escape(title)}</title>\n</head>\n<body>\n<main>\n<h1>{html.escape(title)}</h1>\n"
        f"{items}\n</main>\n</body>\n</html>\n"
    )


def main(mpl: str, cc0: str) -> None:
    """Write both documents."""
    mpl_text = Path(mpl).read_text(encoding="utf-8")
    (CORPUS / "mpl-2.0.pdf").write_bytes(pdf("Mozilla Public License Version 2.0", mpl_text))
    cc0_text = Path(cc0).read_text(encoding="utf-8")
    (CORPUS / "cc0-1.0.html").write_text(page("CC0 1.0 Universal", cc0_text), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
