"""Questions that are several, taken apart by their form; and those that are one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.limits import MAX_PARTS
from clew_services.core.splitting import split

COMPARED = ["What are the characteristics of Apache 2.0?", "What are the characteristics of BSD?"]


@pytest.mark.parametrize(
    "question",
    [
        "Compare Apache 2.0 and BSD.",
        "compare the Apache 2.0 with BSD",
        "What is the difference between Apache 2.0 and BSD?",
        "How do Apache 2.0 and BSD differ?",
        "How does Apache 2.0 differ from BSD?",
        "How is Apache 2.0 different from BSD?",
        "Apache 2.0 vs. BSD",
    ],
)
def test_english_comparisons(question: str) -> None:
    found = split(question)
    assert (found.form, [*found.parts]) == ("comparison", COMPARED)


@pytest.mark.parametrize(
    "question",
    ["木兰和麒麟的区别是什么？", "木兰与麒麟有什么不同？", "比较木兰和麒麟", "对比一下木兰与麒麟的差异。"],
)
def test_chinese_comparisons(question: str) -> None:
    assert split(question).parts == ("木兰有哪些特点？", "麒麟有哪些特点？")


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "Compare MPL and BSD in terms of the trademarks",
            ["What is known about the trademarks of MPL?", "What is known about the trademarks of BSD?"],
        ),
        (
            "Were Scott Derrickson and Ed Wood of the same nationality?",
            ["What is the nationality of Scott Derrickson?", "What is the nationality of Ed Wood?"],
        ),
        (
            "What does MPL say about patents, and when was it published?",
            ["What does MPL say about patents?", "When was it published? (What does MPL say about patents)"],
        ),
        ("Who made MPL? Who made BSD?", ["Who made MPL?", "Who made BSD?"]),
        (
            "What does the license say about trademarks, patents and liability?",
            [f"What does the license say about {x}?" for x in ("trademarks", "patents", "liability")],
        ),
        (
            "What do both MPL and BSD require of contributors?",
            ["What do MPL require of contributors?", "What do BSD require of contributors?"],
        ),
        ("比较木兰与麒麟在专利方面的差异", ["木兰的专利是什么？", "麒麟的专利是什么？"]),
        ("木兰、麒麟和龙的价格分别是多少？", [f"{x}的价格是多少？" for x in ("木兰", "麒麟", "龙")]),
        (
            "木兰许可证对专利、商标有什么规定？",
            ["木兰许可证对专利有什么规定？", "木兰许可证对商标有什么规定？"],
        ),
        ("木兰是什么，什么时候发布的？", ["木兰是什么？", "什么时候发布的？（木兰是什么）"]),
        ("谁写的？何时发布？", ["谁写的？", "何时发布？（谁写的）"]),
    ],
)
def test_the_predicate_is_kept(question: str, parts: list[str]) -> None:
    assert [*split(question).parts] == parts


@pytest.mark.parametrize(
    "question",
    [
        "",
        "???",
        "What is copyleft?",
        "Is it MIT or BSD?",
        "Which is more permissive, MPL or Apache?",
        "Who wrote War and Peace?",
        "What does Sky say about War and Peace?",
        "When did Simon and Garfunkel split up?",
        "How many people live in New York and Boston?",
        "How many points did they score versus Pittsburgh?",
        'Was "Is Google Making Us Stupid?" a finalist?',
        "What should a contributor do when they find and report a bug?",
        "什么是专利许可？",
        "和平与战争的作者是谁？",
        "许可证的有效期多长？",
    ],
)
def test_one_question_stays_one(question: str) -> None:
    assert split(question).parts == ()
    assert split(question).form == "one question"


def test_what_is_too_much_is_in_the_last_part() -> None:
    parts = split("What does it say about one, two, three, four, five and six?").parts
    assert len(parts) == MAX_PARTS
    assert [word in parts[-1] for word in ("three", "four", "five", "six")] == [False, True, True, True]


@given(st.text(alphabet="abAB 和与的、，？?.，什么区别 and", max_size=60))
def test_laws(question: str) -> None:
    found = split(question)
    assert found == split(question)
    assert len(found.parts) != 1
    assert len(found.parts) <= MAX_PARTS
    assert all(part.strip() for part in found.parts)
    assert len(set(found.parts)) == len(found.parts)
