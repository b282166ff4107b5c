"""How two runs differ: steps against steps, chunks against chunks, and nothing that every run has for itself."""

from clew_schema.evidence import Evidence
from clew_schema.facts import EvidenceGraded, EvidenceRetrieved, RunPaused
from clew_translators.trace_diff import Difference, diff
from tests.translators import courses, runs

RUN = tuple(fact for step in runs.DOCUMENT_STEPS for fact in step)
REWRITTEN = tuple(fact for step in courses.REWRITTEN_STEPS for fact in step)


def test_a_run_does_not_differ_from_itself() -> None:
    for facts in (RUN, REWRITTEN, ()):
        assert diff(facts, facts) == ()


def test_what_every_run_has_for_itself_is_no_difference() -> None:
    later = tuple(
        fact.model_copy(
            update={
                "started_at": "2027-01-01T00:00:00Z",
                "ended_at": "2027-01-01T00:00:01Z",
                "version": "9.9",
                "seal": "x",
                "step": "elsewhere",
            }
        )
        for fact in RUN
    )
    assert diff(RUN, later) == ()
    paused = RunPaused(ticket="a", route="clarify", status="needs_clarification", prompt="Which one?")
    again = paused.model_copy(update={"ticket": "b", "expires_at": "2027-01-01T00:00:00Z"})
    assert diff((paused,), (again,)) == ()


def changed(facts: tuple[object, ...], kind: type, **update: object) -> tuple[object, ...]:
    return tuple(f.model_copy(update=update) if isinstance(f, kind) else f for f in facts)  # type: ignore[attr-defined]


def test_another_decision_is_told_by_its_fields() -> None:
    after = changed(RUN, EvidenceGraded, route="no_knowledge", resolved_by="R3")
    assert diff(RUN, after) == (  # type: ignore[arg-type]
        Difference(
            step="evidence graded, pass 1",
            field="route",
            how="changed",
            before="answer",
            after="no_knowledge",
        ),
        Difference(
            step="evidence graded, pass 1", field="resolved_by", how="changed", before="R1", after="R3"
        ),
    )


def test_chunks_are_held_against_each_other_by_their_names() -> None:
    first, second = runs.EVIDENCE
    swapped = changed(RUN, EvidenceRetrieved, evidence=(second, first))
    step = "evidence retrieved, pass 1"
    assert [(d.step, d.how, d.before, d.after) for d in diff(RUN, swapped)] == [  # type: ignore[arg-type]
        (step, "moved", 1, 2),
        (step, "moved", 2, 1),
    ]
    scored = changed(RUN, EvidenceRetrieved, evidence=(first.model_copy(update={"dense_score": 0.5}), second))
    (difference,) = diff(RUN, scored)  # type: ignore[arg-type]
    assert (difference.field, difference.before, difference.after) == (
        f"evidence[{first.chunk_id}].dense_score",
        0.87,
        0.5,
    )
    (gone,) = diff(RUN, changed(RUN, EvidenceRetrieved, evidence=(first,)))  # type: ignore[arg-type]
    assert (gone.field, gone.how, gone.after) == (f"evidence[{second.chunk_id}]", "removed", None)
    assert gone.before["text"] == second.text


def test_a_chunk_that_is_there_twice_is_there_twice() -> None:
    first, _ = runs.EVIDENCE
    once = changed(RUN, EvidenceRetrieved, evidence=(first,))
    twice = changed(RUN, EvidenceRetrieved, evidence=(first, first))
    (difference,) = diff(once, twice)  # type: ignore[arg-type]
    assert (difference.field, difference.how) == (f"evidence[{first.chunk_id} (2)]", "added")


def test_steps_that_only_one_of_them_took() -> None:
    names = {(d.step, d.how) for d in diff(RUN, REWRITTEN) if not d.field}
    assert ("query rewritten, pass 2", "added") in names
    assert ("evidence retrieved, pass 2", "added") in names
    assert ("budget exhausted", "added") in names
    back = {(d.step, d.how) for d in diff(REWRITTEN, RUN) if not d.field}
    assert back == {(step, "removed") for step, _ in names}


def test_a_difference_has_a_mirror_image() -> None:
    there, back = diff(RUN, REWRITTEN), diff(REWRITTEN, RUN)
    mirrored = {
        (
            d.step,
            d.field,
            {"added": "removed", "removed": "added"}.get(d.how, d.how),
            repr(d.after),
            repr(d.before),
        )
        for d in back
    }
    assert {(d.step, d.field, d.how, repr(d.before), repr(d.after)) for d in there} == mirrored


def test_another_rank_at_the_same_place_is_a_difference() -> None:
    """Mode strict ranks before it reranks."""
    ranks = [
        EvidenceRetrieved(
            query="q", evidence=(Evidence(chunk_id="a", rank=rank), Evidence(chunk_id="b", rank=2))
        )
        for rank in (1, 3)
    ]
    (one,) = diff(ranks[:1], ranks[1:])
    assert (one.field, one.how, one.before, one.after) == ("evidence[a].rank", "changed", 1, 3)
