"""When a text counts as holding an answer or a passage."""

import pytest

from clew_services.evaluation.matching import holds_answer, holds_passage, normalise, share_of


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The Quick, brown fox [1].", "quick brown fox"),
        ("\uff21\uff22\u3000\uff11\uff12", "ab 12"),  # full width
        ("木兰 许可证，\n第2版。[1, 2]", "木兰许可证第2版"),
        ("an apple a day", "apple day"),
        ("Theatre", "theatre"),
    ],
)
def test_normalised(text: str, normal: str) -> None:
    assert normalise(text) == normal


@pytest.mark.parametrize(
    ("text", "answer", "held"),
    [
        ("They gave up 308 points. [1]", "308", True),
        ("They gave up 1308 points.", "308", False),
        ("They gave up 3080 points.", "308", False),
        ("In 1308 and in 308.", "308", True),
        ("the Broncos won", "The Broncos", True),
        ("Broncosaurus", "Broncos", False),
        ("丢掉了308分。", "308", True),
        ("以中文\n版为准。", "中文版", True),
        ("anything", "the", False),
        ("", "x", False),
    ],
)
def test_an_answer_is_held_as_whole_words(text: str, answer: str, held: bool) -> None:
    assert holds_answer(text, [answer]) is held


def test_any_of_several_answers_will_do() -> None:
    assert holds_answer("It was Newton.", ["Leibniz", "Newton"])
    assert not holds_answer("It was Newton.", [])


def test_a_passage_is_held_when_most_of_it_is_there_in_a_row() -> None:
    passage = "one two three four five six seven"  # five runs of three
    assert share_of(passage, f"before. {passage.upper()}! after") == 1.0
    assert share_of(passage, "two three four five six") == pytest.approx(3 / 5)
    assert holds_passage("two three four five six", passage)
    assert not holds_passage("two three four five", passage)
    assert share_of(passage, "seven six five four three two one") == 0.0, "the same words in another order"


def test_short_passages_and_chinese_ones() -> None:
    assert holds_passage("It says: for good.", "for good")
    assert not holds_passage("It says: for one", "for good")
    assert holds_passage("它说：以中文版为准。", "以中文版为准")
    assert not holds_passage("它说：以英文版为先。", "以中文版为准")
    assert share_of("。", "。") == 0.0, "no word, nothing to compare"
