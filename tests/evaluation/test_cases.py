"""Files of questions: what is read, and what is refused with its line."""

from pathlib import Path

import pytest

from clew_services.errors import BadRequest
from clew_services.evaluation.cases import Case, read_cases


def written(tmp_path: Path, text: str | bytes) -> Path:
    file = tmp_path / "mine.jsonl"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def test_each_line_is_a_case(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        '\ufeff{"question": "谁?", "answers": ["牛顿", "Newton"], "documents": ["a.txt"]}\r\n\n'
        '{"question": "What?", "unanswerable": true, "id": "7"}\n{"question": "Third", "passages": ["p"]}',
    )
    assert read_cases(file) == [
        Case(question="谁?", answers=("牛顿", "Newton"), documents=("a.txt",)),
        Case(question="What?", unanswerable=True, id="7"),
        Case(question="Third", passages=("p",)),
    ]
    assert [case.question for case in read_cases(file, limit=2)] == ["谁?", "What?"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"{", "line 2: not JSON: Expecting property name enclosed in double quotes at column 2"),
        (b"[]", "line 2: Input should be an object"),
        (b'{"question": 1, "answers": ["a"]}', "line 2: question: Input should be a valid string"),
        (b'{"question": "?", "anwsers": ["a"]}', "line 2: anwsers: Extra inputs are not permitted"),
        (b'{"question": "?", "answers": "a"}', "line 2: answers: Input should be a valid "),
        (b'{"question": "?"}', "line 2: say what is known: answers, documents, passages, or unanswerable"),
        (b'{"question": " ", "answers": ["a"]}', "line 2: the question is blank"),
        (b'{"question": "?", "answers": [""]}', "line 2: answers, documents and passages may not be blank"),
        (
            b'{"question": "?", "answers": ["a"], "unanswerable": true}',
            "line 2: an unanswerable question has no answers",
        ),
        (b'{"question": "\xff"}', "line 2: not UTF-8 (byte 15)"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: bytes, told: str) -> None:
    file = written(tmp_path, b'{"question": "?", "unanswerable": true}\n' + line + b"\n")
    with pytest.raises(BadRequest) as refused:
        read_cases(file)
    assert str(refused.value).startswith(f"mine.jsonl, {told}")


def test_a_file_without_a_question_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"mine\.jsonl holds no question"):
        read_cases(written(tmp_path, "\n \n"))
