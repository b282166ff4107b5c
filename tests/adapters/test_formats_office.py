"""Word, PowerPoint, Excel, EPUB and CSV: what is read of them, page by page and table row by table row."""

from __future__ import annotations

import datetime as dt

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn

from clew_services.adapters.formats import table
from clew_services.adapters.formats.extract import Extracted, Limits, extract
from clew_services.errors import DocumentUnreadable
from tests.adapters import office


def pages(found: Extracted) -> list[str]:
    assert [page.number for page in found.pages] == list(range(1, len(found.pages) + 1))
    return [found.text[page.start : page.end] for page in found.pages]


def test_a_word_document_has_no_pages_and_its_tables_are_rows_that_stand_alone() -> None:
    found = extract("a.docx", office.word())
    assert found.text == (
        "# Results 结果\n\nSales grew.\tA lot.\n\none\n\n"
        "City | 人口 | Area\nCity: Paris | 人口: 2.1 M\nCity: 北京 | 人口: 21 M | Area: 16410\n\nThe end 。"
    )
    assert (found.title, found.pages) == ("Annual report 年度报告", ())
    assert found.media_type == "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def test_a_word_document_without_a_title_is_named_by_its_file() -> None:
    document = docx.Document()
    document.add_paragraph("x")
    assert extract("report.docx", office.saved(document)).title == "report.docx"


def test_word_text_that_the_library_passes_over_is_read_too() -> None:
    document = docx.Document()
    names = nsdecls("w")
    for inside in (
        (
            "<w:r><w:t>kept </w:t></w:r><w:ins><w:r><w:t>inserted </w:t></w:r></w:ins>"
            "<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del><w:sdt><w:sdtContent><w:r><w:t>controlled</w:t></w:r>"
            "</w:sdtContent></w:sdt>"
        ),
        "<w:r><w:t>beside</w:t><w:pict><w:txbxContent><w:p><w:r><w:t>in a box</w:t></w:r></w:p></w:txbxContent></w:pict></w:r>",
        '<w:pPr><w:outlineLvl w:val="1"/></w:pPr><w:r><w:t>outlined</w:t><w:br/><w:t>two</w:t></w:r>',
    ):
        document.element.body.insert(0, parse_xml(f"<w:p {names}>{inside}</w:p>"))
    block = (
        f"<w:sdt {names}><w:sdtContent><w:p><w:r><w:t>in a control</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    )
    document.element.body.insert(0, parse_xml(block))
    assert extract("a.docx", office.saved(document)).text == (
        "in a control\n\n## outlined\ntwo\n\nbeside\n\nin a box\n\nkept inserted controlled"
    )


def test_footnotes_follow_the_paragraph_that_refers_to_them() -> None:
    document = docx.Document()
    document.add_paragraph("A claim").add_run()._r.append(
        parse_xml(f'<w:footnoteReference {nsdecls("w")} w:id="2"/>')
    )
    document.add_paragraph("Next.")
    note = f'<w:footnotes {nsdecls("w")}><w:footnote w:id="2"><w:p><w:r><w:t>See 注 1.</w:t></w:r></w:p></w:footnote></w:footnotes>'
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"

    def change(name: str, content: bytes) -> bytes:
        if name == "word/_rels/document.xml.rels":
            link = f'<Relationship Id="rId99" Type="{kind}" Target="numbering.xml"/></Relationships>'
            return content.replace(b"</Relationships>", link.encode())
        return note.encode() if name == "word/numbering.xml" else content

    text = extract("a.docx", office.rewritten(office.saved(document), change)).text
    assert text == "A claim\n\nSee 注 1.\n\nNext."


def test_word_tables_without_a_head_that_can_be_told_are_their_cells() -> None:
    document = docx.Document()
    pairs = document.add_table(2, 2)
    merged = document.add_table(2, 3)
    marked = document.add_table(2, 2)
    for each in (pairs, merged, marked):
        for r, row in enumerate(each.rows):
            for c, cell in enumerate(row.cells):
                cell.text = f"{'ab'[r]}{'xyz'[c]}"
    merged.cell(0, 0).merge(merged.cell(0, 1)).text = "wide"
    row = marked.rows[0]._tr.get_or_add_trPr()
    row.append(office.element("w:tblHeader"))
    text = extract("a.docx", office.saved(document)).text
    assert text == "ax | ay\nbx | by\n\nwide | az\nbx | by | bz\n\nax | ay\nax: bx | ay: by"
    assert qn("w:tblHeader") in {each.tag for each in row}


def test_a_table_in_a_cell_is_told_in_its_cell() -> None:
    document = docx.Document()
    cell = document.add_table(1, 2).cell(0, 1)
    cell.text = "before"
    cell.add_table(1, 2).cell(0, 0).text = "inner"
    assert extract("a.docx", office.saved(document)).text == "| before inner"


def test_slides_are_pages() -> None:
    found = extract("a.pptx", office.slides())
    assert pages(found) == [
        "# Plan 计划\n\nBuild\nTest\n\nSay hello.",
        "",
        "Who | What | When\nWho: Ann | What: 写作 | When: 2024",
    ]
    assert found.title == "a.pptx", "the library's own title is nobody's"


def test_shapes_in_groups_are_read() -> None:
    show = pptx.Presentation()
    group = show.slides.add_slide(show.slide_layouts[6]).shapes.add_group_shape()
    group.shapes.add_group_shape().shapes.add_textbox(0, 0, 9, 9).text_frame.text = "深处"
    assert extract("a.pptx", office.saved(show)).text == "深处"


def test_sheets_are_pages_and_each_row_names_its_columns() -> None:
    found = extract("a.xlsx", office.sheets())
    assert pages(found) == [
        (
            "# Costs\n\nItem | Paid on | Amount | Share | Paid\n"
            "Item: Paper 纸 | Paid on: 2024-01-05 | Amount: 12.5 | Share: 25% | Paid: TRUE\n"
            "Item: Ink | Paid on: 2024-02-01 13:30:00 | Amount: 3 | Paid: FALSE"
        ),
        "",
        "# 备注\n\n只有一句话。",
    ]


def test_a_formula_gives_the_value_that_was_saved_with_it() -> None:
    made = openpyxl.Workbook()
    sheet = made.active
    assert sheet is not None
    sheet.append(["Sum", "=1+1"])
    saved = office.rewritten(
        office.saved(made),
        lambda _, content: content.replace(b"<v></v>", b"<v>2</v>").replace(b"<v />", b"<v>2</v>"),
    )
    assert extract("a.xlsx", saved).text == "# Sheet\n\nSum | 2"


def test_times_and_fractions_in_cells() -> None:
    made = openpyxl.Workbook()
    sheet = made.active
    assert sheet is not None
    sheet.append([dt.time(9, 5), 0.1 + 0.2, 1e21, -4])
    assert extract("a.xlsx", office.saved(made)).text == "# Sheet\n\n09:05:00 | 0.3 | 1e+21 | -4"


def test_a_sheet_that_claims_to_be_huge_is_read_and_one_that_is_huge_is_refused() -> None:
    made = openpyxl.Workbook()
    sheet = made.active
    assert sheet is not None
    sheet.append(["a", "b"])
    data = office.saved(made)
    claims = office.rewritten(
        data, lambda _, content: content.replace(b'<dimension ref="A1:B1"', b'<dimension ref="A1:XFD1048576"')
    )
    assert claims != data
    assert extract("a.xlsx", claims).text == "# Sheet\n\na | b"
    sheet["XFD900000"] = "far"
    assert "XFD" not in extract("a.xlsx", office.saved(made)).text
    far = office.rewritten(
        data,
        lambda _, content: content.replace(b'<row r="1"', b'<row r="999999999"').replace(
            b'"A1"', b'"A999999999"'
        ),
    )
    with pytest.raises(DocumentUnreadable, match="row 1048577 of a sheet; Excel knows 1048576"):
        extract("a.xlsx", far)
    for row in range(10):
        sheet.cell(2 + row, 16_000).value = "wide"
    with pytest.raises(DocumentUnreadable, match="more cells than are read"):
        extract("a.xlsx", office.saved(made), limits=Limits(cells=100_000))


def test_a_text_that_many_cells_share_counts_as_often_as_it_is_read() -> None:
    made = openpyxl.Workbook()
    sheet = made.active
    assert sheet is not None
    for _ in range(300):
        sheet.append(["long " * 6_000])
    data = office.saved(made)
    assert len(data) < 30_000
    with pytest.raises(DocumentUnreadable, match="more characters than are read"):
        extract("a.xlsx", data)


def test_chapters_are_pages() -> None:
    found = extract("a.epub", office.epub())
    assert pages(found) == ["", "# One\n\nIt began here.", "# 二\n\n结束了。"]
    assert (found.title, found.media_type) == ("书 Book", "application/epub+zip")


def test_a_chapter_that_is_listed_twice_is_told_once() -> None:
    twice = office.rewritten(
        office.epub(), lambda _, content: content.replace(b'<itemref idref="c1"/>', b'<itemref idref="c0"/>')
    )
    assert pages(extract("a.epub", twice)) == ["", "# One\n\nIt began here.", ""]


def test_a_protected_book_and_a_broken_one_are_refused() -> None:
    locks = '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><CipherReference URI="{}"/></encryption>'
    font = {"META-INF/encryption.xml": locks.format("OEBPS/font.otf")}
    chapter = {"META-INF/encryption.xml": locks.format("OEBPS/text/chapter%200.xhtml")}
    assert "text" in extract("a.epub", office.book("<p>text</p>", more=font)).text
    for more, said in (
        (chapter, "protected against copying"),
        ({"OEBPS/book.opf": "<package/>"}, "nothing to read"),
        ({"OEBPS/book.opf": "no XML"}, "OEBPS/book.opf in it is no XML"),
        ({"META-INF/container.xml": "<container/>"}, "does not say where its package is"),
    ):
        with pytest.raises(DocumentUnreadable, match=said):
            extract("a.epub", office.book("<p>text</p>", more=more))
    with pytest.raises(DocumentUnreadable, match="3 chapters; at most 2"):
        extract("a.epub", office.epub(), limits=Limits(pages=2))


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("a.csv", "城市,人口\n北京,2100万\n".encode("gb18030"), "城市 | 人口\n城市: 北京 | 人口: 2100万"),
        ("a.csv", b'\xef\xbb\xbfid;note\n1;"a; b\nc"\n\n2;\n', "id | note\nid: 1 | note: a; b c\nid: 2"),
        ("a.tsv", b"x\ty\n1,5\t2\n", "x | y\nx: 1,5 | y: 2"),
        ("a.csv", b"1,2\n3,4\n", "1 | 2\n3 | 4"),
        ("a.csv", b"a,b\n1,2,3\n", "a | b\na: 1 | b: 2 | 3"),
        ("a.csv", b"just text\nmore\n", "just text\nmore"),
        ("a.csv", "é|à\n1|2\n".encode("utf-16"), "é | à\né: 1 | à: 2"),
    ],
)
def test_csv(name: str, data: bytes, text: str) -> None:
    assert extract(name, data).text == text


def test_csv_beyond_the_bounds_is_refused() -> None:
    with pytest.raises(DocumentUnreadable, match="more than 5 cells"):
        extract("a.csv", b"a,b\n" * 3, limits=Limits(cells=5))
    with pytest.raises(DocumentUnreadable, match="not readable as CSV"):
        extract("a.csv", b'"' + b"x" * 200_000)


def test_rows_are_told_as_they_can_be_understood() -> None:
    assert list(table.lines([["", ""], ["k", "v"], ["", "1"], ["z", "z", "3"]])) == [
        "k | v",
        "v: 1",
        "k: z | v: z | 3",
    ]
    assert list(table.lines([["2023", "2024"], ["1", "2"]])) == ["2023 | 2024", "1 | 2"]
    assert list(table.lines([["a", "a"], ["1", "2"]])) == ["a | a", "1 | 2"]
    assert list(table.lines([["2023", "2024"], ["1", "2"]], head=True)) == [
        "2023 | 2024",
        "2023: 1 | 2024: 2",
    ]
    assert list(table.lines([["a", "b"], ["1", ""]], head=False)) == ["a | b", "1"]


def test_a_long_first_row_is_no_head_whatever_is_said() -> None:
    assert list(table.lines([["x" * 101, "y"], ["1", "2"]], head=True)) == ["x" * 101 + " | y", "1 | 2"]


def test_a_package_that_names_a_file_outside_of_itself_reads_none() -> None:
    link = (
        '<Relationship Id="rId98" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes" '
        'Target="file:///etc/passwd" TargetMode="External"/></Relationships>'
    )

    def change(name: str, content: bytes) -> bytes:
        return content.replace(b"</Relationships>", link.encode()) if "document.xml.rels" in name else content

    assert "root:" not in extract("a.docx", office.rewritten(office.word(), change)).text
