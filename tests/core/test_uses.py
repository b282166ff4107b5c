"""Which observations a step builds on: named ones, else those it repeats; in English and Chinese."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.agent import AgentStep
from clew_services.core.uses import uses

HARBOUR = "A night at the Harbour Hotel costs 140 euros, breakfast included [1]."
GARDEN = "A night at the Garden Hotel costs 155 CHF. Dogs may come along [12]."
RATE = "One euro buys 0.95 francs today."
HOTELS = (HARBOUR, GARDEN, RATE)

RETURNS = "自收货之日起三十天内可以无理由退货，详见《退货政策》。[1]"
SHIPPING = "国际运费由买家承担，境内订单满99元免运费。"
HOURS = "客服热线每天九点至十八点开通。"
SHOP = (RETURNS, SHIPPING, HOURS)


def history(*observations: str) -> tuple[AgentStep, ...]:
    return tuple(AgentStep(observation=text) for text in observations)


def test_the_first_step_builds_on_nothing_and_the_second_on_the_first() -> None:
    assert uses((), "observation 1 says 140") == ()
    assert uses(history(HARBOUR), "I do something else.") == (1,)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", (3,)),
        ("Now I compare them.", (3,)),
        pytest.param("Observation 1 gives the price.", (1, 3), id="named"),
        pytest.param("From step 2 I know more.", (2, 3), id="named as a step"),
        pytest.param("Steps 1 and 2 agree.", (1, 2, 3), id="two named"),
        pytest.param("observations 1, 2 and 3 agree", (1, 2, 3), id="three named"),
        pytest.param("see iterations 1-2", (1, 2, 3), id="a range"),
        pytest.param("see steps 1 to 2", (1, 2, 3), id="a range in words"),
        pytest.param("observation #1, of course", (1, 3), id="a number sign"),
        pytest.param("Observation 4 and step 0 and step 99", (3,), id="no such steps"),
        pytest.param("step 1.5 of the scale", (3,), id="no whole number"),
        pytest.param("Observation 1, though 155 was more.", (1, 3), id="named ones count alone"),
        pytest.param("So 140 it is.", (1, 3), id="a number"),
        pytest.param("So 1,40 it is.", (3,), id="another number"),
        pytest.param("140 times 0.95 is 133, and 155 is more.", (1, 2, 3), id="three numbers"),
        pytest.param("1 or 2 nights", (3,), id="small numbers are no sign"),
        pytest.param("It is cited as [12].", (3,), id="a mark of a citation is no number"),
        pytest.param("what does Garden offer", (2, 3), id="a name"),
        pytest.param("Garden rooms are larger", (2, 3), id="a name that starts the sentence here"),
        pytest.param("prices in CHF", (2, 3), id="capitals"),
        pytest.param("the Hotel of one night", (3,), id="a name that two observations have"),
        pytest.param("a night it costs", (3,), id="common words"),
        pytest.param("They say that dogs may come along.", (2, 3), id="four words in a row"),
        pytest.param("come along may dogs", (3,), id="the same words in another order"),
        pytest.param("One thing is left to do. Breakfast!", (3,), id="words that start sentences"),
    ],
)
def test_english(text: str, expected: tuple[int, ...]) -> None:
    assert uses(history(*HOTELS), text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我还需要再查一下。", (3,)),
        pytest.param("根据观察1，可以退货。", (1, 3), id="named"),
        pytest.param("观察结果２说明了运费。", (2, 3), id="named, full width"),
        pytest.param("第一步已经说明。", (1, 3), id="named in words"),
        pytest.param("第1、2步的结果一致。", (1, 2, 3), id="two named"),
        pytest.param("步骤1至2都有用", (1, 2, 3), id="a range"),
        pytest.param("满９９元就免", (2, 3), id="a number"),
        pytest.param("所以三十天内可以无理由退货。", (1, 3), id="six characters in a row"),
        pytest.param("可以退货的日子", (3,), id="fewer"),
        pytest.param("再看「退货政策」", (1, 3), id="a title, in other quotation marks"),
        pytest.param("国际运费由买家承担，而且三十天内可以无理由退货。", (1, 2, 3), id="two"),
    ],
)
def test_chinese(text: str, expected: tuple[int, ...]) -> None:
    assert uses(history(*SHOP), text) == expected


def test_what_the_question_said_is_no_sign() -> None:
    steps = history(HARBOUR, GARDEN, RATE)
    assert uses(steps, "Is 140 right for the Harbour one?") == (1, 3)
    assert uses(steps, "Is 140 right for the Harbour one?", "Does the Harbour Hotel cost 140?") == (3,)


@pytest.mark.parametrize("observation", ["Step 1: pull. Step 2: turn.", "第1步：拉。第2步：转。"])
def test_the_steps_of_a_manual_are_no_steps_of_the_agent(observation: str) -> None:
    steps = history("Nothing.", observation, "Nothing else.")
    assert uses(steps, "The user asks about step 1. 第1步") == (3,)
    assert uses(steps, "Look up step 1", "How do I do step 1?") == (3,)


def test_what_two_observations_say_points_to_neither() -> None:
    assert uses(history("It costs 140.", "Indeed, 140.", "Nothing."), "140 then") == (3,)
    assert uses(history("It costs 140.", "Nothing.", "Indeed, 140."), "140 then") == (3,)


def test_thousands_may_have_commas() -> None:
    assert uses(history("It has 1,234,567 parts.", "2,345", "Nothing."), "all 1234567 parts") == (1, 3)
    assert uses(history("It has 1234567 parts.", "2,345", "Nothing."), "1,234,567") == (1, 3)


def test_scripts_without_capitals_have_no_names() -> None:
    assert uses(history("서울 은 큽니다", "부산 은 작습니다", "끝"), "서울 은") == (3,)


@given(st.lists(st.text(max_size=40), max_size=5), st.text(max_size=80), st.text(max_size=40))
def test_any_texts_give_earlier_steps_in_order_and_the_last_one(
    observations: list[str], text: str, question: str
) -> None:
    found = uses(history(*observations), text, question)
    assert list(found) == sorted(set(found))
    assert set(found) <= set(range(1, len(observations) + 1))
    assert (len(observations) in found) is bool(observations)


@pytest.mark.parametrize(
    "piece",
    [
        "The Harbour Hotel costs 140 euros a night. ",
        "自收货之日起可以无理由退货",
        " ",
        "《",
        "A",
        "1,",
        "step 1-999, 2 and ",
        "observation  ",
        "第1、",
        "a-",
    ],
)
def test_time_is_linear_in_the_texts(piece: str) -> None:
    def seconds(characters: int) -> float:
        text = (piece * characters)[:characters]
        steps = history(text, text + "x", text)
        began = process_time()
        uses(steps, text, text)
        return process_time() - began

    seconds(1_000)
    short, long = seconds(25_000), seconds(200_000)
    assert long < 8 * 4 * short + 0.05, "eight times the text takes more than four times its share"
    assert long < 5, "six texts of 200 kB"
