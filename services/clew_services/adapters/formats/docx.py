"""Word documents into text: python-docx opens the package and knows its styles, the text is read from its tree.

The library's own paragraphs leave out what stands in content controls, tracked insertions and text boxes.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import docx
from docx.exceptions import PythonDocxError
from docx.opc.exceptions import OpcError
from docx.oxml.ns import qn
from lxml import etree

from clew_services.adapters.formats.archive import DAMAGED, parse_xml
from clew_services.adapters.formats.table import lines
from clew_services.errors import DocumentUnreadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from docx.document import Document

_PARAGRAPH, _TABLE, _ROW, _CELL = qn("w:p"), qn("w:tbl"), qn("w:tr"), qn("w:tc")
_TEXT, _NOTE_ID = qn("w:t"), qn("w:id")
_GIVEN = {qn("w:tab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}
_NOTES = {qn("w:footnoteReference"): "footnotes", qn("w:endnoteReference"): "endnotes"}
_NOTE = {"footnotes": qn("w:footnote"), "endnotes": qn("w:endnote")}
_PROPERTIES = frozenset(map(qn, ("w:pPr", "w:rPr", "w:tblPr", "w:trPr", "w:tcPr", "w:sdtPr", "w:sectPr")))
_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
# What was struck out or moved away, and a second rendering of what is there already.
_LEFT_OUT = _PROPERTIES | {qn("w:del"), qn("w:moveFrom"), qn("w:instrText"), _COMPATIBILITY + "Fallback"}
_NESTED = frozenset({_PARAGRAPH, _TABLE})
_HEADING = re.compile(r"(?:heading|标题)\s*([1-9])", re.IGNORECASE)
_INVENTED = {"Word Document"}
"""The title that the library gives a document without one."""


def read_docx(name: str, data: bytes) -> tuple[str, str]:
    """The title ("" if none) and the text: paragraphs apart by blank lines, headings marked as in Markdown.

    Tables are lines (see :mod:`table`), list items begin with "- ", notes follow the paragraph that refers to
    them first.
    Headers and footers are left out. Raises DocumentUnreadable for a file that is damaged.
    """
    try:
        document = docx.Document(io.BytesIO(data))
        title = (document.core_properties.title or "").strip()
        text = _Reader(document).text()
    except (*DAMAGED, OpcError, PythonDocxError) as error:
        raise DocumentUnreadable(
            f"{name}: not a readable Word file ({type(error).__name__}: {error})."
        ) from error
    return ("" if title in _INVENTED else title), text


class _Reader:
    def __init__(self, document: Document) -> None:
        self._body = document.element.body
        self._levels = _levels(document)
        self._notes = _notes(document)

    def text(self) -> str:
        parts: list[str] = []
        was_item = False
        for block, is_item in self._blocks(self._body):
            if parts:
                parts.append("\n" if was_item and is_item else "\n\n")
            parts.append(block)
            was_item = is_item
        return "".join(parts).strip()

    def _blocks(self, root: etree._Element) -> Iterator[tuple[str, bool]]:
        """Each paragraph and table below ``root`` that says anything, and whether it is an item of a list."""
        for element in _outermost(root, _NESTED):
            if element.tag == _TABLE:
                text = "\n".join(lines(self._rows(element), head=_marked(element), least=3))
                if text:
                    yield text, False
                continue
            text = self._line(element)
            if text:
                level = self._level(element)
                is_item = not level and element.find(f"{qn('w:pPr')}/{qn('w:numPr')}") is not None
                yield ("#" * level + " " if level else "- " if is_item else "") + text, is_item
            yield from self._blocks(element)  # text boxes
            for note in self._noted(element):
                yield note, False

    def _rows(self, table: etree._Element) -> Iterator[list[str]]:
        for row in _outermost(table, frozenset({_ROW})):
            cells = _outermost(row, frozenset({_CELL}))
            yield [" ".join(text for text, _ in self._blocks(cell)) for cell in cells]

    def _line(self, paragraph: etree._Element) -> str:
        parts = []
        for element in _walk(paragraph, _NESTED):
            if element.tag == _TEXT:
                parts.append(element.text or "")
            else:
                parts.append(_GIVEN.get(str(element.tag), ""))
        return "".join(parts).strip()

    def _noted(self, paragraph: etree._Element) -> Iterator[str]:
        for element in _walk(paragraph, _NESTED):
            if element.tag in _NOTES:
                note = self._notes.pop((_NOTES[str(element.tag)], str(element.get(_NOTE_ID))), None)
                if note is not None and (
                    text := " ".join(t for p in _outermost(note, _NESTED) if (t := self._line(p)))
                ):
                    yield text

    def _level(self, paragraph: etree._Element) -> int:
        """Of a heading, 1 to 6; 0 for any other paragraph."""
        outline = paragraph.find(f"{qn('w:pPr')}/{qn('w:outlineLvl')}")
        if outline is not None and str(outline.get(qn("w:val"))) in "012345":
            return int(str(outline.get(qn("w:val")))) + 1
        style = paragraph.find(f"{qn('w:pPr')}/{qn('w:pStyle')}")
        return 0 if style is None else self._levels.get(str(style.get(qn("w:val"))), 0)


def _levels(document: Document) -> Mapping[str, int]:
    """Levels of headings by the id of their style; the title of a document is one of the first level."""
    found = {}
    for style in document.styles:
        name = style.name or ""
        match = _HEADING.fullmatch(name.strip())
        if match or name.lower() == "title":
            found[style.style_id] = min(6, int(match[1])) if match else 1
    return found


def _notes(document: Document) -> dict[tuple[str, str], etree._Element]:
    """Foot- and endnotes by kind and id."""
    found = {}
    for relation in document.part.rels.values():
        kind = relation.reltype.rpartition("/")[2]
        if kind in _NOTE and not relation.is_external:
            for note in parse_xml(relation.target_part.blob).iter(_NOTE[kind]):
                found[kind, str(note.get(_NOTE_ID))] = note
    return found


def _marked(table: etree._Element) -> bool | None:
    """Whether the first row is marked to be repeated on every page; false where cells are merged: columns shift."""
    if any(True for _ in table.iter(qn("w:gridSpan"), qn("w:vMerge"))):
        return False
    return True if table.find(f"{_ROW}/{qn('w:trPr')}/{qn('w:tblHeader')}") is not None else None


def _outermost(root: etree._Element, tags: frozenset[str]) -> Iterator[etree._Element]:
    """Elements of ``tags`` below ``root`` that lie in no other of them, in order."""
    return (element for element in _walk(root, tags, meet=True) if element.tag in tags)


def _walk(root: etree._Element, stop: frozenset[str], *, meet: bool = False) -> Iterator[etree._Element]:
    """What is below ``root``, in order, but nothing within what is left out or in ``stop``, which is met or not."""
    pending = list(reversed(root))
    while pending:
        element = pending.pop()
        tag = str(element.tag)
        if tag in _LEFT_OUT or (tag in stop and not meet):
            continue
        yield element
        if tag not in stop:
            pending.extend(reversed(element))
