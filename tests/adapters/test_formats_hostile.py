"""Files that are damaged, encrypted, mistaken or meant to do harm: read within bounds, or refused in words."""

from __future__ import annotations

import io
import random
import struct
import tracemalloc
import zipfile
from itertools import pairwise

import docx
import openpyxl
import pptx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pypdf import PdfWriter

from clew_services.adapters.formats.extract import SUFFIXES, extract
from clew_services.errors import DocumentUnreadable, NoText
from tests.adapters import office

MAKERS = {".docx": office.word, ".pptx": office.slides, ".xlsx": office.sheets, ".epub": office.epub}
FILES = {suffix: make() for suffix, make in MAKERS.items()}
archives = pytest.mark.parametrize("suffix", MAKERS)
# The product silences what openpyxl warns of; in a test every warning is an error until the test says otherwise.
quiet = pytest.mark.filterwarnings("ignore::UserWarning:openpyxl")


def refused(name: str, data: bytes) -> str:
    with pytest.raises(DocumentUnreadable) as caught:
        extract(name, data)
    assert str(caught.value).startswith(f"{name}: ")
    return str(caught.value)


def read_or_refused(name: str, data: bytes) -> None:
    try:
        assert extract(name, data).text.strip()
    except DocumentUnreadable as error:
        said = str(error)
    else:
        return
    assert said.startswith(f"{name}: ")


@archives
def test_content_decides_whatever_the_name(suffix: str) -> None:
    assert extract("download", FILES[suffix]).media_type == extract(f"a{suffix}", FILES[suffix]).media_type
    assert extract("a.pdf", FILES[suffix], media_type="text/plain").media_type.startswith("application/")


@archives
def test_a_name_does_not_make_the_format(suffix: str) -> None:
    assert f"named {suffix}, but it does not begin as a {suffix} file does" in refused(
        f"a{suffix}", b"plain text"
    )


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        ("WordDocument", "a binary Word file (.doc); save it as .docx"),
        ("Workbook", "a binary Excel file (.xls); save it as .xlsx"),
        ("PowerPoint Document", "a binary PowerPoint file (.ppt); save it as .pptx"),
        ("EncryptedPackage", "encrypted; save a copy without a password"),
        ("Other", "an Office file of before 2007"),
    ],
)
def test_compound_files_are_told_apart(stream: str, said: str) -> None:
    assert said in refused(
        "a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + stream.encode("utf-16-le")
    )


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"a.txt": "hello"}, "an archive; unpack it and send the files"),
        ({"mimetype": "application/vnd.oasis.opendocument.text"}, "an OpenDocument file; save it as .docx"),
        ({"mimetype": "application/vnd.oasis.opendocument.spreadsheet"}, "save it as .xlsx"),
        (
            {"[Content_Types].xml": "ms-word.document.macroEnabled.main+xml"},
            "with macros (.docm); save it as .docx",
        ),
        ({"[Content_Types].xml": "ms-excel.sheet.binary.macroEnabled.main"}, "a binary workbook (.xlsb)"),
        ({"[Content_Types].xml": "presentationml.slideshow.main+xml"}, "save it as .pptx"),
        ({"[Content_Types].xml": "wordprocessingml.document.main+xml"}, "not a readable Word file"),
        ({"[Content_Types].xml": "presentationml.presentation.main+xml"}, "not a readable PowerPoint file"),
        ({"[Content_Types].xml": "spreadsheetml.sheet.main+xml"}, "not a readable Excel file"),
    ],
)
def test_archives_that_are_something_else(entries: dict[str, str], said: str) -> None:
    assert said in refused("a.zip", office.zipped(entries))


def _blank(suffix: str) -> bytes:
    show = pptx.Presentation()
    show.slides.add_slide(show.slide_layouts[6])
    return {
        ".docx": office.saved(docx.Document()),
        ".pptx": office.saved(show),
        ".xlsx": office.saved(openpyxl.Workbook()),
        ".epub": office.book("<p> </p>"),
    }[suffix]


@archives
def test_files_without_text_say_so(suffix: str) -> None:
    with pytest.raises(NoText, match=f"a{suffix}: no text in it") as caught:
        extract(f"a{suffix}", _blank(suffix))
    assert caught.value.type == "no-text"


def test_a_scanned_pdf_says_that_it_is_one() -> None:
    writer = PdfWriter()
    page = writer.add_blank_page(100, 100)
    assert "no text in its 1 pages: they are empty, or drawn" in refused("a.pdf", _written(writer))
    from pypdf.generic import DictionaryObject, NameObject, StreamObject

    image = StreamObject()
    image.update({NameObject("/Type"): NameObject("/XObject"), NameObject("/Subtype"): NameObject("/Image")})
    held = DictionaryObject({NameObject("/Im0"): writer._add_object(image)})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/XObject"): held})
    with pytest.raises(NoText, match="they hold images only, as a scanner makes them"):
        extract("scan.pdf", _written(writer))


def _written(writer: PdfWriter) -> bytes:
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


@archives
def test_an_encrypted_archive_needs_a_password(suffix: str) -> None:
    assert "needs a password" in refused(f"a{suffix}", office.locked(FILES[suffix]))


@archives
def test_a_bomb_is_refused_before_it_is_unpacked(suffix: str) -> None:
    def bomb(name: str, content: bytes) -> bytes:
        return content + b" " * (80 * 1024 * 1024) if name in MAIN else content

    data = office.rewritten(FILES[suffix], bomb)
    assert len(data) < 1_000_000
    tracemalloc.start()
    said = refused(f"a{suffix}", data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "when unpacked; at most 67108864 are read" in said
    assert peak < 8_000_000


MAIN = {"word/document.xml", "ppt/presentation.xml", "xl/workbook.xml", "OEBPS/book.opf"}


def test_a_bomb_that_lies_about_its_size_ends_where_it_said() -> None:
    data = bytearray(office.rewritten(FILES[".docx"], lambda n, c: c + b" " * 1_000_000 if n in MAIN else c))
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        true = archive.getinfo("word/document.xml").file_size
    place = data.rfind(struct.pack("<I", true))
    data[place : place + 4] = struct.pack("<I", 100)
    said = refused("a.docx", bytes(data))
    assert "damaged" in said


def test_too_many_entries_and_unusual_packing_are_refused() -> None:
    many = office.zipped({f"{n}": "" for n in range(10_001)})
    assert "10001 entries in the archive; at most 10000" in refused("a.docx", many)
    assert "packed in a way" in refused("a.docx", office.zipped({"a": "x" * 99}, zipfile.ZIP_LZMA))


LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in pairwise("abcdefghij"))
    + '<!ENTITY file SYSTEM "file:///etc/hostname">]>'
)


def _declaring(content: bytes, entity: str) -> bytes:
    start = content.index(b"?>") + 2 if content.startswith(b"<?xml") else 0
    head, rest = content[:start], content[start:].replace(b"<!DOCTYPE html>", b"")
    for tag in (b"</w:t>", b"</p>", b"</dc:title>"):
        rest = rest.replace(tag, entity.encode() + tag)
    return head + LAUGHS.encode() + rest


@archives
@pytest.mark.parametrize("entity", ["&j;", "&file;"])
def test_an_office_file_or_a_book_that_declares_entities(suffix: str, entity: str) -> None:
    data = office.rewritten(FILES[suffix], lambda n, c: _declaring(c, entity) if n in MAIN else c)
    if suffix != ".epub":
        assert "declares a document type; refused" in refused(f"a{suffix}", data)
    elif entity == "&j;":
        assert "OEBPS/book.opf in it is no XML" in refused("a.epub", data)
    else:
        assert extract("a.epub", data).title == "书 Book"


@pytest.mark.parametrize("entity", ["&j;", "&file;"])
def test_nothing_is_expanded_in_a_chapter(entity: str) -> None:
    """XHTML begins with a document type, so it is not refused for one."""
    changed = office.rewritten(
        FILES[".epub"], lambda n, c: _declaring(c, entity) if n.endswith("xhtml") else c
    )
    found = extract("a.epub", changed).text
    assert entity in found
    assert "haha" not in found


def test_a_declaration_in_a_wide_encoding_is_seen() -> None:
    def widen(name: str, content: bytes) -> bytes:
        if name not in MAIN:
            return content
        return f'<?xml version="1.0" encoding="UTF-16"?>{LAUGHS}<x/>'.encode("utf-16")

    assert "declares a document type" in refused("a.docx", office.rewritten(FILES[".docx"], widen))


@quiet
@archives
@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_file_is_read_or_refused(suffix: str, seed: int) -> None:
    """Its bytes are changed, or those of an entry in it, so that the parsers behind the archive see them."""
    chance = random.Random(seed)

    def damage(_name: str, content: bytes) -> bytes:
        if chance.random() > 0.3 or not content:
            return content
        found = bytearray(content)
        for _ in range(chance.randint(1, 8)):
            at = chance.randrange(len(found))
            if chance.random() < 0.4:
                del found[at : at + chance.randint(1, 60)]
            else:
                found[at] = chance.randrange(256)
            if not found:
                break
        return bytes(found)

    data = bytearray(office.rewritten(FILES[suffix], damage))
    if seed % 3 == 0:
        for _ in range(chance.randint(1, 20)):
            data[chance.randrange(4, len(data))] = chance.randrange(256)
    read_or_refused(f"a{suffix}", bytes(data))


@archives
def test_a_file_that_was_cut_off_is_refused(suffix: str) -> None:
    assert "a damaged archive" in refused(f"a{suffix}", FILES[suffix][: len(FILES[suffix]) // 2])


STARTS = (
    b"",
    b"PK\x03\x04",
    b"%PDF-1.7\n",
    b"<html>",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    b"\xff\xfe",
    b'"',
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(SUFFIXES)), st.sampled_from(STARTS), st.binary(max_size=300))
@example(".html", b"", b"<table>")
@example(".csv", b"", b'"\x00')
def test_any_bytes_are_read_or_refused(suffix: str, start: bytes, data: bytes) -> None:
    read_or_refused(f"a{suffix}", start + data)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([".csv", ".tsv", ".html", ".xhtml", ".md"]), st.text(max_size=200))
@example(".html", "<table><tr><td>a<td>b<table>")
@example(".html", "<title/><p>x")
def test_any_text_is_read_or_refused(suffix: str, text: str) -> None:
    read_or_refused(f"a{suffix}", text.encode())
