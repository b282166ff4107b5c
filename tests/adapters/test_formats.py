"""Bytes into text, for every supported format, and what is said about the rest."""

import io
import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter

from clew_services.adapters.formats.extract import Extracted, Limits, extract
from clew_services.core.sanitising import sanitise
from clew_services.errors import DocumentUnreadable


def pdf(*pages: str, title: str = "") -> bytes:
    """A PDF by hand: each page shows its lines in Helvetica."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        shown = "".join(f"({line}) Tj T* " for line in text.split("\n")) if text else ""
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td {shown}ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append(f"<< /Title ({title}) >>")
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    trailer = f"trailer << /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>"
    tail = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}\nstartxref\n{len(out)}\n%%EOF"
    return out + tail.encode()


def refused(name: str, data: bytes, limits: Limits | None = None) -> str:
    with pytest.raises(DocumentUnreadable) as caught:
        extract(name, data, limits=limits)
    assert str(caught.value).startswith(f"{name}: ")
    return str(caught.value)


def test_plain_text_is_kept_but_for_line_ends_and_what_nobody_sees() -> None:
    assert extract("a.txt", b"\xef\xbb\xbfOne\r\ntwo\x00".replace(b"\x00", b"\x07")) == Extracted(
        text="One\ntwo", media_type="text/plain", title="a.txt"
    )


def test_a_name_without_an_extension_is_plain_text() -> None:
    assert extract("LICENSE", b"Terms.").media_type == "text/plain"


def test_markdown_is_titled_by_its_first_heading() -> None:
    found = extract("a.MD", b"intro\n\n# The *title* #\n\ntext")
    assert (found.title, found.media_type) == ("The *title*", "text/markdown")
    assert found.text == "intro\n\n# The *title* #\n\ntext"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("café naïve".encode("cp1252"), "café naïve"),
        ("木兰宽松许可证，第2版".encode("gb18030"), "木兰宽松许可证，第2版"),
        ("été 中".encode("utf-16"), "été 中"),
    ],
)
def test_older_encodings_are_recognised(data: bytes, expected: str) -> None:
    assert extract("a.txt", data).text == expected


def test_html_reads_as_its_reader_does() -> None:
    page = (
        b"<!doctype html><html><head><title> The\n page </title><style>p {}</style></head><body><nav>Menu</nav>"
        b"<main><h1>Head</h1><p>Some <b>bold</b>\n text.<br>Next line.<script>x()</script><ul><li>one<li>two</ul>"
        b"<pre>  kept\n   so</pre><table><tr><td>a<td>b</tr><tr><td>c</td></tr></table>end</main>foot</body></html>"
    )
    found = extract("a.html", page)
    assert found.text == (
        "# Head\n\nSome bold text.\nNext line.\n\n- one\n- two\n\n  kept\n   so\n\na | b\nc\n\nend"
    )
    assert (found.title, found.media_type, found.pages) == ("The page", "text/html", ())


def test_a_table_of_data_is_lines_and_one_for_the_layout_is_text() -> None:
    head = b"<tr><th>City<th>People</tr><tr><td>Paris<td>2.1 M<tr><td>\xe5\x8c\x97\xe4\xba\xac<td></tr>"
    assert extract("a.html", b"<table><caption>Big</caption>" + head + b"</table>").text == (
        "Big\nCity | People\nCity: Paris | People: 2.1 M\nCity: 北京"
    )
    spanned = b"<table><tr><th colspan=2>A<th>B<tr><td>1<td>2<td>3</table>"
    assert extract("a.html", spanned).text == "A | B\n1 | 2 | 3"
    pairs = b"<table><tr><th>Name<td>Ann<tr><th>Age<td>30</table>"
    assert extract("a.html", pairs).text == "Name | Ann\nAge | 30"
    layout = b"<table><tr><td><p>Menu<td><table><tr><td>x<td>y</table></table>"
    assert extract("a.html", layout).text == "Menu\n\nx | y"


def test_a_small_main_is_not_the_page() -> None:
    page = b"<html><body><main>Share</main><div>" + b"The text of the page. " * 9 + b"</div></body></html>"
    assert extract("a.html", page).text.startswith("Share\n\nThe text")
    assert "text" not in extract("a.html", page.replace(b"Share", b"Share " * 20)).text


def test_an_element_that_closes_itself_takes_nothing_in() -> None:
    page = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x"/></head>'
    assert extract("a.xhtml", f"{page}<body><iframe/><p>Kept</p></body></html>".encode()).text == "Kept"


def test_html_is_recognised_by_its_content_and_read_in_its_own_encoding() -> None:
    page = '<html><head><meta charset="gb18030"></head><body><p>许可证</p></body></html>'
    assert extract("page.txt", page.encode("gb18030")) == Extracted(
        text="许可证", media_type="text/html", title="page.txt"
    )


def test_deep_html_does_not_exhaust_the_stack() -> None:
    assert extract("a.html", b"<div>" * 1500 + b"deep").text == "deep"


def test_pdf_pages_are_spans_set_apart_by_form_feeds() -> None:
    found = extract("a.bin.pdf", pdf("First page.\nSecond line.", "", "Third page.", title="A title"))
    assert found.text == "First page.\nSecond line.\f\fThird page."
    assert found.title == "A title"
    assert [(p.number, found.text[p.start : p.end]) for p in found.pages] == [
        (1, "First page.\nSecond line."),
        (2, ""),
        (3, "Third page."),
    ]


def test_a_pdf_is_recognised_whatever_its_name() -> None:
    assert extract("report.txt", pdf("Text.")).media_type == "application/pdf"


def test_what_cannot_be_read_is_said() -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf("Secret."))))
    writer.encrypt("password", algorithm="RC4-128")
    locked = io.BytesIO()
    writer.write(locked)

    assert "supported are .txt, .md" in refused("a.exe", b"MZ")
    assert "supported are .txt, .md" in refused("a.txt", b"\x7fELF\x00\x00")
    assert "is empty" in refused("a.txt", b" \n")
    assert "no text" in refused("a.html", b"<html><body><script>x</script></body></html>")
    assert "no text" in refused("scan.pdf", pdf("", ""))
    assert "does not begin" in refused("a.pdf", b"hello")
    assert "not a readable PDF" in refused("a.pdf", b"%PDF-1.4 hello")
    assert "password" in refused("a.pdf", locked.getvalue())
    assert "save it as UTF-8" in refused("a.txt", b"\x81 \x8d x")


def test_the_type_that_is_said_decides_over_the_extension() -> None:
    assert extract("a", b"<p>x", media_type="text/html; charset=utf-8").text == "x"
    assert extract("a.md", b"# x", media_type="application/octet-stream").media_type == "text/markdown"


def test_what_is_too_large_is_said() -> None:
    assert "at most 3 are read" in refused("a.txt", b"1234", limits=Limits(size=3))
    assert "2 pages; at most 1" in refused("a.pdf", pdf("a", "b"), limits=Limits(pages=1))
    assert "more than 3 characters" in refused("a.pdf", pdf("ab", "cd"), limits=Limits(characters=3))
    assert "4 characters; at most 3" in refused("a.txt", b"1234", limits=Limits(characters=3))


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_pdf_is_read_or_refused(seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(pdf("Some text here.", "And more.", title="T"))
    for _ in range(chance.randint(1, 40)):
        data[chance.randrange(9, len(data))] = chance.randrange(256)
    try:
        said = extract("a.pdf", bytes(data)).text
    except DocumentUnreadable as error:
        said = str(error)
    assert said


@given(st.text(alphabet=st.characters(codec=None), max_size=60))
def test_sanitised_text_is_clean_and_stays_so(text: str) -> None:
    clean = sanitise(text)
    assert sanitise(clean) == clean
    assert clean == unicodedata.normalize("NFC", clean)
    kinds = {unicodedata.category(char) for char in clean if char not in "\t\n"}
    assert not kinds & {"Cc", "Cs", "Co"}
    assert not set(clean) & set("\u200b\u200d\u202e\u2066\ufeff")
    clean.encode()


def test_a_mark_split_from_its_letter_by_nothing_visible_is_composed() -> None:
    assert sanitise("e\u200b\u0301") == "é"
