"""PowerPoint presentations into the text of their slides, with python-pptx."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pptx
from pptx.exc import PythonPptxError

from clew_services.adapters.formats.archive import DAMAGED
from clew_services.adapters.formats.table import lines
from clew_services.errors import DocumentUnreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pptx.slide import Slide

_INVENTED = {"PowerPoint Presentation"}
"""The title of a presentation that nobody gave one: PowerPoint's, and the library's."""


def read_pptx(name: str, data: bytes, *, max_slides: int) -> tuple[str, list[str]]:
    """The title ("" if none) and the text of every slide, in order, hidden ones too; one without text gives "".

    A slide's title is a heading, its tables are lines (see :mod:`table`), its notes come last. Raises
    DocumentUnreadable for a file that is damaged or has too many slides.
    """
    try:
        show = pptx.Presentation(io.BytesIO(data))
        count = len(show.slides)
        if count > max_slides:
            raise DocumentUnreadable(
                f"{name}: {count} slides; at most {max_slides} are read. Split the file."
            )
        title = (show.core_properties.title or "").strip()
        return ("" if title in _INVENTED else title), ["\n\n".join(_slide(slide)) for slide in show.slides]
    except (*DAMAGED, PythonPptxError) as error:
        raise DocumentUnreadable(
            f"{name}: not a readable PowerPoint file ({type(error).__name__}: {error})."
        ) from error


def _slide(slide: Slide) -> Iterator[str]:
    title = slide.shapes.title
    if title is not None and (text := _plain(title.text_frame.text).replace("\n", " ")):
        yield f"# {text}"
    for shape in _flat(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            yield from _shape(shape)
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None and (text := _plain(notes.text)):
        yield text


def _flat(shapes: Iterable[Any]) -> Iterator[Any]:
    """Shapes in order, groups opened; iterative, for groups may lie in groups."""
    pending = list(reversed(list(shapes)))
    while pending:
        shape = pending.pop()
        if hasattr(shape, "shapes"):
            pending.extend(reversed(list(shape.shapes)))
        else:
            yield shape


def _shape(shape: Any) -> Iterator[str]:
    if getattr(shape, "has_table", False):
        table = shape.table
        rows = ([_plain(cell.text_frame.text) for cell in row.cells] for row in table.rows)
        # That the first row looks like a head is the default of every table: a narrow one is rather a list of pairs.
        text = "\n".join(lines(rows, head=None if table.first_row else False, least=3))
    elif shape.has_text_frame:
        text = _plain(shape.text_frame.text)
    else:
        text = ""
    if text:
        yield text


def _plain(text: str) -> str:
    """Line breaks within a paragraph, which come as vertical tabs, are line breaks."""
    return text.replace("\v", "\n").strip()
