"""A second query from the question and its own evidence."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.evidence import Evidence
from clew_services.core.feedback import relevance_model, step_back, supposed

LICENCE = Evidence(
    chunk_id="a",
    filename="apache-2.0.txt",
    text="Each Contributor grants You a patent license. It was published in January 2004 by the foundation.",
)
PENGUINS = Evidence(chunk_id="b", text="Penguins feed on krill. Krill is small. They live in the south.")
CHINESE = Evidence(chunk_id="c", text="企鹅以磷虾为食。本许可证不提供商标许可。")
EVIDENCE = (LICENCE, PENGUINS, CHINESE)


@pytest.mark.parametrize(
    ("question", "general"),
    [
        ("Who may use the trade names of Acme Corp in version 3.1?", "Who may use the trade names?"),
        (
            "What did the foundation say about trademarks in 2019?",
            "What did the foundation say about trademarks?",
        ),
        ('Which trademarks does the "Model X" licence name?', "Which trademarks does the licence name?"),
        ("企鹅在2019年吃什么？", "企鹅吃什么？"),
        ("《木兰》许可证对商标有什么规定？", "许可证对商标有什么规定？"),
        # What the evidence knows is not too special.
        ("What was published in January 2004 by the foundation?", ""),
        ("What does apache-2.0 grant?", ""),
        # Too little would be left.
        ("Who is Ada Lovelace?", ""),
        ("2019?", ""),
    ],
)
def test_step_back_leaves_out_what_the_evidence_does_not_know(question: str, general: str) -> None:
    assert step_back(question, EVIDENCE) == general


def test_the_relevance_model_is_the_documented_one() -> None:
    # Two chunks of two words; "krill" is in the first only. Background: krill 1/4, small 1/4, south 2/4.
    # P(krill|first) = .5*.5 + .5*.25 = .375, P(krill|second) = .5*0 + .5*.25 = .125: shares .75 and .25.
    # P(krill|R) = .75*.5 = .375 = P(small|R), P(south|R) = .25*1 < .5: only the first two are commoner than usual,
    # with equal weights, so each has a quarter, and krill the half of the question besides.
    found = relevance_model("krill", ["krill small", "south south"])
    assert found == pytest.approx({"krill": 0.75, "small": 0.25})


def test_the_supposed_answer_is_the_evidence_nearest_to_the_question() -> None:
    assert (
        supposed("How are patents licensed?", EVIDENCE, 60) == "Each Contributor grants You a patent license."
    )
    assert supposed("What is krill?", EVIDENCE, 25) == "Krill is small."
    assert supposed("企鹅吃什么？", EVIDENCE, 10) == "企鹅以磷虾为食。"
    assert supposed("What?", (Evidence(chunk_id="x", text="***"),), 100) == ""


@given(
    st.text(alphabet="abc 中许A1.?", max_size=20),
    st.lists(st.text(alphabet="abc 中许.。\n1", max_size=40), max_size=4),
    st.integers(1, 60),
)
def test_laws(question: str, texts: list[str], longest: int) -> None:
    evidence = [Evidence(chunk_id=str(n), text=text) for n, text in enumerate(texts)]
    document = supposed(question, evidence, longest)
    assert document == supposed(question, evidence, longest)
    assert len(document) <= longest
    assert len(step_back(question, evidence)) <= len(question)
    weights = relevance_model(question, texts)
    assert all(weight >= 0 and math.isfinite(weight) for weight in weights.values())
    # The question's half and the neighbourhood's; either may be missing.
    whole = math.fsum(weights.values())
    assert any(whole == pytest.approx(sum_) for sum_ in (0.0, 0.5, 1.0))
