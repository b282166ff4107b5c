"""HTML into text: what a reader of the page reads, block by block, headings marked as in Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml import etree

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

    Menus, forms, scripts and the like are left out; if the page has one ``main`` or ``article``, only
    that is read. Raises DocumentUnreadable when the parser finds no element at all.
    """
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError) as error:
        raise DocumentUnreadable(f"{name}: not readable as HTML ({error}).") from error
    if root is None:
        raise DocumentUnreadable(f"{name}: not readable as HTML (no element in it).")
    title = root.find(".//title")
    return _SPACE.sub(" ", (title.text or "") if title is not None else "").strip(), _linear(_body(root))


def _body(root: etree._Element) -> etree._Element:
    for path in (".//main", ".//article", ".//body"):
        found = root.findall(path)
        if len(found) == 1 and "".join(map(str, found[0].itertext())).strip():
            return found[0]
    return root


def _linear(root: etree._Element) -> str:
    page = _Page()
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        tag = str(element.tag)
        if event == "start" and tag in _UNREAD:
            walk.skip_subtree()
        elif event == "start":
            _open(page, tag)
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
