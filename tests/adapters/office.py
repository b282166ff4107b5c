"""Small real files of every archive format, made by the libraries that make such files."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from collections.abc import Callable, Mapping

import docx
import openpyxl
import pptx
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from pptx.util import Inches

CONTAINER = (
    '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">'
    '<rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def saved(document: object) -> bytes:
    out = io.BytesIO()
    document.save(out)  # type: ignore[attr-defined]
    return out.getvalue()


def word() -> bytes:
    document = docx.Document()
    document.core_properties.title = "Annual report 年度报告"
    document.add_heading("Results 结果", 1)
    document.add_paragraph("Sales grew.\tA lot.")
    document.add_paragraph("one", style="List Bullet")
    table = document.add_table(3, 3)
    for row, texts in zip(
        table.rows, (("City", "人口", "Area"), ("Paris", "2.1 M", ""), ("北京", "21 M", "16410")), strict=True
    ):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    document.add_paragraph("The end 。")
    return saved(document)


def slides() -> bytes:
    show = pptx.Presentation()
    first = show.slides.add_slide(show.slide_layouts[1])
    assert first.shapes.title is not None
    first.shapes.title.text_frame.text = "Plan 计划"
    first.placeholders[1].text_frame.text = "Build\nTest"
    notes = first.notes_slide.notes_text_frame
    assert notes is not None
    notes.text = "Say hello."
    show.slides.add_slide(show.slide_layouts[6])
    last = show.slides.add_slide(show.slide_layouts[6])
    table = last.shapes.add_table(2, 3, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for row, texts in enumerate((("Who", "What", "When"), ("Ann", "写作", "2024"))):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    return saved(show)


def sheets() -> bytes:
    book = openpyxl.Workbook()
    first = book.active
    assert first is not None
    first.title = "Costs"
    first.append(["Item", "Paid on", "Amount", "Share", "Paid"])
    first.append(["Paper 纸", dt.date(2024, 1, 5), 12.5, 0.25, True])
    first.append(["Ink", dt.datetime.fromisoformat("2024-02-01T13:30"), 3, None, False])
    first["D2"].number_format = "0%"
    book.create_sheet("Empty")
    book.create_sheet("备注").append(["只有一句话。"])
    return saved(book)


def zipped(entries: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return out.getvalue()


def book(*chapters: str, more: Mapping[str, str | bytes] | None = None) -> bytes:
    """An EPUB whose spine is a picture and then ``chapters``, each the inside of a body."""
    head = '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html>'
    items = "".join(
        f'<item id="c{n}" href="text/chapter%20{n}.xhtml" media-type="application/xhtml+xml"/>'
        for n in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>书 Book</dc:title></metadata><manifest>"
        f'<item id="cover" href="cover.svg" media-type="image/svg+xml"/>{items}'
        f'</manifest><spine><itemref idref="cover"/>{spine}</spine></package>'
    )
    texts = {
        f"OEBPS/text/chapter {n}.xhtml": f'{head}<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head>'
        f"<body>{text}</body></html>"
        for n, text in enumerate(chapters)
    }
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OEBPS/book.opf": package,
            "OEBPS/cover.svg": "<svg/>",
            **texts,
            **(more or {}),
        }
    )


def epub() -> bytes:
    return book("<h1>One</h1><p>It began&nbsp;here.</p>", "<h1>二</h1><p>结束了。</p>")


def rewritten(data: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    """The archive with each entry as ``change(name, content)`` makes it."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return zipped({name: change(name, archive.read(name)) for name in archive.namelist()})


def locked(data: bytes) -> bytes:
    """The archive with the flag that says that its first entry is encrypted."""
    found = bytearray(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        directory = archive.start_dir
    found[6] |= 1
    found[directory + 8] |= 1
    return bytes(found)


def element(tag: str, **attributes: str) -> object:
    made = OxmlElement(tag)
    for name, value in attributes.items():
        made.set(qn(name.replace("_", ":")), value)
    return made
