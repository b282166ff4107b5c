"""HTML into text: what a reader of the page reads, block by block, headings marked as in Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml import etree

from clew_services.adapters.formats.table import lines
from clew_services.errors import DocumentUnreadable

_NOT_READ = "button canvas form head iframe math nav noscript object script select style svg template"
_UNREAD = frozenset(_NOT_READ.split())
_SET_APART = (
    "address article aside blockquote body dd details div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr "
    "html legend li main ol p pre section summary table tbody tfoot thead tr ul"
)
_BLOCKS = frozenset(_SET_APART.split())
_LOOSE = _BLOCKS - {"li", "tr", "dd", "dt", "thead", "tbody", "tfoot"}
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_SPACE = re.compile(r"\s+")
# In XHTML an element may close itself; read as HTML, one of these would then take in the rest of the page.
_CLOSED = re.compile(rf"<((?:{_NOT_READ.replace(' ', '|')}|title|textarea)\b[^<>]*)/>", re.IGNORECASE)
_XHTML = re.compile(r"\s*<\?xml|[^>]*<html[^>]+http://www\.w3\.org/1999/xhtml", re.IGNORECASE)

LEAST_SHARE = 0.22
"""Of the page's text, to be in ``main`` or ``article``, for that to be the page (SuperMew's figure)."""

LONGEST_CELL = 500
"""Characters in a cell of a table of data; with longer ones a table is there for the layout."""


@dataclass(slots=True)
class _Page:
    """The text so far. White space is collapsed outside ``pre``; a pending break is written before the next text."""

    parts: list[str] = field(default_factory=list)
    pending: str = ""
    verbatim: int = 0

    def add(self, text: str) -> None:
        if not self.verbatim:
            text = _SPACE.sub(" ", text)
            if self.pending or not self.parts or self.parts[-1].endswith((" ", "\n")):
                text = text.lstrip()
        if text:
            self.parts += [self.pending if self.parts else "", text]
            self.pending = ""

    def separate(self, separator: str) -> None:
        if len(separator) > len(self.pending):
            self.pending = separator


def read_html(name: str, text: str) -> tuple[str, str]:
    """The title ("" if none) and the readable text. Blocks are set apart by blank lines, list items by lines.

    Menus, forms, scripts and the like are left out; if the page has one ``main`` or ``article`` that holds a fair share
    of its text, only that is read. A table of data is lines (see :mod:`table`); one that only arranges the page is
    text like any other. Raises DocumentUnreadable when the parser finds no element at all.
    """
    if _XHTML.match(text[:2000]):
        text = _CLOSED.sub(lambda found: f"<{found[1]}></{found[1].split()[0]}>", text)
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError) as error:
        raise DocumentUnreadable(f"{name}: not readable as HTML ({error}).") from error
    if root is None:
        raise DocumentUnreadable(f"{name}: not readable as HTML (no element in it).")
    found = root.find(".//title")
    title = _SPACE.sub(" ", (found.text or "") if found is not None else "").strip()
    etree.strip_elements(root, *_UNREAD, with_tail=False)
    return title, _linear(_body(root))


def _body(root: etree._Element) -> etree._Element:
    bodies = root.findall(".//body")
    body = bodies[0] if len(bodies) == 1 else root
    for path in (".//main", ".//article"):
        found = root.findall(path)
        if len(found) == 1 and _length(found[0]) > LEAST_SHARE * _length(body):
            return found[0]
    return body


def _length(element: etree._Element) -> int:
    return len("".join("".join(map(str, element.itertext())).split()))


def _linear(root: etree._Element) -> str:
    page = _Page()
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        tag = str(element.tag)
        if event == "start":
            _open(page, tag)
            if tag == "table" and (table := _table(element)):
                page.verbatim += 1
                page.add(table)
                page.verbatim -= 1
                walk.skip_subtree()
            else:
                page.add(element.text or "")
        if event == "end":
            _close(page, tag)
            if element is not root:
                page.add(element.tail or "")
    return "".join(page.parts).strip()


def _open(page: _Page, tag: str) -> None:
    if tag in _BLOCKS:
        page.separate("\n\n" if tag in _LOOSE else "\n")
    if tag == "br":
        page.separate("\n")
    elif tag == "li":
        page.add("- ")
    elif tag in _HEADINGS:
        page.add(_HEADINGS[tag])
    page.verbatim += tag == "pre"


def _close(page: _Page, tag: str) -> None:
    page.verbatim -= tag == "pre"
    if tag in _BLOCKS:
        page.separate("\n\n" if tag in _LOOSE else "\n")
    elif tag in {"td", "th"}:
        page.add(" ")


def _table(table: etree._Element) -> str:
    """A table of data as lines; "" for one that arranges the page: it has a table in it, one column, or long cells."""
    if table.find(".//table") is not None:
        return ""
    rows = [[cell for cell in row if cell.tag in {"td", "th"}] for row in table.iter("tr")]
    texts = [[_linear(cell) for cell in row] for row in rows]
    if max(map(len, texts), default=0) < 2 or max(len(text) for row in texts for text in row) > LONGEST_CELL:
        return ""
    heads = [[cell.tag == "th" for cell in row] for row in rows if row]
    spans = any(cell.get(span, "1") != "1" for row in rows for cell in row for span in ("colspan", "rowspan"))
    head = False if spans else all(heads[0]) or (False if any(map(any, heads)) else None)
    caption = table.find("caption")
    told = [_linear(caption)] if caption is not None else []
    return "\n".join([*told, *lines(texts, head=head, least=3)])
