"""The analyzer of a collection, chosen from the scripts of a text or asked for by name."""

from __future__ import annotations

import pytest

from clew_services.core.analyzers import SAMPLE, check, choose
from clew_services.errors import AnalyzerMismatch, BadRequest

LITE = ("standard", "jieba")
SERVER = ("standard", "jieba", "english", "chinese")
ENGLISH = "You may reproduce and distribute copies of the Work in any medium, under these conditions: "
CHINESE = "每个“贡献者”根据“本许可证”授予您永久性的、全球性的、免费的版权许可。"


@pytest.mark.parametrize(
    ("text", "lite", "server"),
    [
        (ENGLISH, "jieba", "english"),
        (CHINESE, "jieba", "chinese"),
        (CHINESE + ENGLISH, "jieba", "jieba"),
        (ENGLISH * 5 + "木兰", "jieba", "english"),  # a name makes no Chinese text: 2 of 370 letters
        ("Жил-был серенький козлик. ", "standard", "standard"),
        ("Größere Straßen führen über die Brücke. ", "standard", "standard"),
        ("이 문서는 한국어로 쓰여 있습니다. ", "standard", "standard"),
        ("東京タワーは高いです。", "jieba", "jieba"),
        ("", "jieba", "jieba"),
        ("1, 2, 3 … 2026-12-01", "jieba", "jieba"),
        (ENGLISH * (SAMPLE // len(ENGLISH) + 1) + CHINESE * 10_000, "jieba", "english"),
    ],
)
def test_auto_looks_at_the_scripts_of_the_first_document(text: str, lite: str, server: str) -> None:
    assert choose("auto", text, LITE, "lite") == lite
    assert choose("auto", text, SERVER, "server") == server


@pytest.mark.parametrize("text", [ENGLISH, CHINESE, "", "Жил-был"])
def test_without_jieba_there_is_one_left(text: str) -> None:
    assert choose("auto", text, ("standard",), "lite") == "standard"


@pytest.mark.parametrize("asked", SERVER)
def test_what_is_asked_for_is_taken_whatever_the_text(asked: str) -> None:
    assert choose(asked, CHINESE, SERVER, "server") == asked


@pytest.mark.parametrize("asked", ["english", "chinese", "", "JIEBA"])
def test_what_the_store_does_not_have_is_refused_with_what_it_has(asked: str) -> None:
    with pytest.raises(BadRequest) as raised:
        choose(asked, ENGLISH, LITE, "milvus_lite-3.2.2")
    assert (
        str(raised.value)
        == f"there is no analyzer {asked!r} on milvus_lite-3.2.2: it offers jieba, standard, or auto"
    )


@pytest.mark.parametrize(
    ("has", "asked"), [("jieba", "jieba"), ("jieba", ""), ("jieba", "auto"), ("", "standard"), ("", "")]
)
def test_who_asks_for_the_same_or_for_nothing_gets_what_is_there(has: str, asked: str) -> None:
    check("c", has, asked)


def test_who_asks_for_another_is_told_which_it_is_and_what_to_do() -> None:
    with pytest.raises(AnalyzerMismatch, match=r"'c'.*jieba, not standard.*leave .* out, or .*another"):
        check("c", "jieba", "standard")
