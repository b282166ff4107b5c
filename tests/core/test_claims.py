"""Numbers, negations and quotations of a sentence."""

import pytest

from clew_services.core import claims


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("In 1868, 1,234,567 of 3.5 m", {"1868", "1234567", "3.5"}),
        ("pages 1,2 and 007", {"1,2", "7"}),
        ("２０２４年５月", {"2024", "5"}),
        ("none", set()),
        ("0 and 00", {"0"}),
    ],
)
def test_numbers(text: str, found: set[str]) -> None:
    assert claims.numbers(text) == found


def test_a_source_may_spell_its_numbers() -> None:
    assert claims.numbers_stated("Twelve of them in May 1990; someone stayed") == {"12", "5", "1990"}
    assert claims.numbers_stated("三次") == {"3"}


@pytest.mark.parametrize(
    ("sentence", "source", "missing"),
    [
        ("It has none.", "There are 12 of 30.", set()),
        ("It takes 12 of 30.", "There are 30 in all, and 12 of them go.", set()),
        ("It takes 12 of 31.", "There are 30 in all, and 12 of them go.", {"31"}),
        ("It takes 3 days.", "It takes three days.", set()),
        ("It takes 3 days.", "It takes four days.", {"3"}),
    ],
)
def test_unstated_numbers(sentence: str, source: str, missing: set[str]) -> None:
    assert claims.unstated(sentence, source) == missing


@pytest.mark.parametrize(
    ("text", "denies"),
    [
        ("It does not apply", True),
        ("It doesn't apply", True),
        ("They never came", True),
        ("A note on knots and nobility", False),
        ("不适用", True),
        ("没有授权", True),
        ("未来非常不同", False),
        ("不仅如此，不断增长", False),
    ],
)
def test_denies(text: str, denies: bool) -> None:
    assert claims.denies(text) is denies


@pytest.mark.parametrize(
    ("sentence", "source", "contrary"),
    [
        ("You may use the names.", "You may not use the names.", True),
        ("You may not use the names.", "You may use the names.", True),
        ("You may not use the names.", "You may not use the names, ever.", False),
        ("It is prohibited.", "It is not allowed.", False),
        ("It grants a patent license.", "It grants a license but not a trademark.", False),
        ("本许可证提供商标许可。", "本许可证不提供商标许可。", True),
        ("本许可证不提供商标许可。", "本许可证提供商标许可。", True),
        ("本许可证不提供商标许可。", "本“许可证”不提供对商标的许可。", False),
    ],
)
def test_contradicts(sentence: str, source: str, contrary: bool) -> None:
    assert claims.contradicts(sentence, source) is contrary


def test_quotations_in_four_kinds_of_marks() -> None:
    text = 'He said “as is,” and "where is" of 「商标」 and 『名称。』 in 《书》 and “”.'
    assert claims.quotations(text) == ("as is", "where is", "商标", "名称")
