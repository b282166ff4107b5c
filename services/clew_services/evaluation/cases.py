"""Questions with known answers, as a file of JSON lines: read, and refused by line where it makes no sense."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from clew_schema.limits import MAX_QUERY_CHARACTERS
from clew_services.errors import BadRequest

if TYPE_CHECKING:
    from pathlib import Path


class Case(BaseModel):
    """A question, and what is known of its answer; everything but the question may be missing.

    ``answers`` are texts one of which a right answer holds. ``documents`` are the names of documents that answer
    it, as they were ingested, and ``passages`` texts from them that do: all of them are wanted as evidence. A
    question that is ``unanswerable`` from the collection has none of these: the right answer is that nothing is known.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    question: str = Field(min_length=1, max_length=MAX_QUERY_CHARACTERS)
    answers: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    unanswerable: bool = False
    id: str = ""

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if not self.question.strip():
            raise ValueError("the question is blank")
        known = self.answers + self.documents + self.passages
        if any(not text.strip() for text in known):
            raise ValueError("answers, documents and passages may not be blank")
        if self.unanswerable and known:
            raise ValueError("an unanswerable question has no answers, documents or passages")
        if not self.unanswerable and not known:
            raise ValueError("say what is known: answers, documents, passages, or unanswerable")
        return self


def read_cases(path: Path, *, limit: int = 0) -> list[Case]:
    """The questions of the file, one a line; blank lines are passed over; ``limit`` 0 means all.

    Raises BadRequest, naming file and line, for the first line that is no case, and for a file without any; OSError
    when the file cannot be read.
    """
    cases: list[Case] = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if line.strip():
            cases.append(_case(line, f"{path.name}, line {number}"))
        if limit and len(cases) == limit:
            break
    if not cases:
        raise BadRequest(f'{path.name} holds no question: write one JSON object a line, {{"question": …}}')
    return cases


def _case(line: bytes, where: str) -> Case:
    try:
        text = line.decode("utf-8-sig")
        json.loads(text)  # its messages name the column; pydantic's parser has others
        return Case.model_validate_json(text)
    except UnicodeDecodeError as error:
        raise BadRequest(f"{where}: not UTF-8 (byte {error.start + 1})") from None
    except json.JSONDecodeError as error:
        raise BadRequest(f"{where}: not JSON: {error.msg} at column {error.colno}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        told = first["msg"].removeprefix("Value error, ")
        raise BadRequest(f"{where}: {field}: {told}" if field else f"{where}: {told}") from None
