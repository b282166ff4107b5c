"""``urn:graph:provenance`` of what happens between a question and its answer: rewrites, parts, pauses, verdicts."""

from rdflib import PROV, RDF, Literal, URIRef

from tests.translators import courses, runs
from tests.translators.test_explain_provenance import CLEW, RUN, RUNS, provenance


def test_a_rewrite_stands_between_a_decision_and_the_next_pass() -> None:
    graph = provenance(runs.quads_of(courses.REWRITTEN_BATCHES))
    rewrite, second = URIRef(f"{RUN}/exploration/2/rewrite"), URIRef(f"{RUN}/exploration/2")
    decision = URIRef(f"{RUN}/exploration/decision")
    assert decision in set(graph.objects(URIRef(f"{rewrite}/activity"), PROV.used))
    assert rewrite in set(graph.objects(URIRef(f"{second}/activity"), PROV.used))
    assert graph.value(rewrite, URIRef(CLEW + "method")) == Literal("step_back")
    # The second pass said less, so the answer rests on the first, and on the limit that was met.
    assert set(graph.objects(URIRef(f"{RUN}/synthesis"), PROV.wasDerivedFrom)) == {
        URIRef(f"{RUN}/exploration"),
        URIRef(f"{RUN}/exploration/2/decision"),
        URIRef(f"{RUN}/limit/1"),
    }
    assert graph.value(URIRef(f"{RUN}/exploration/2/decision"), URIRef(CLEW + "keeps")) == URIRef(
        f"{RUN}/exploration"
    )


def test_verdicts_and_coverage_stand_at_the_answer() -> None:
    graph = provenance(runs.quads_of(courses.REWRITTEN_BATCHES))
    answer = URIRef(f"{RUN}/synthesis")
    assert graph.value(answer, URIRef(CLEW + "coverage")) == Literal(0.5)
    checks = sorted(graph.objects(answer, URIRef(CLEW + "hasCheck")), key=str)
    assert [str(graph.value(check, URIRef(CLEW + "verdict"))) for check in checks] == [
        "supported",
        "misattributed",
    ]
    assert [graph.value(check, PROV.wasDerivedFrom) for check in checks] == [
        URIRef(f"{answer}/citation/1"),
        URIRef(f"{answer}/citation/2"),
    ]
    assert graph.value(checks[0], URIRef(CLEW + "similarity")) == Literal(0.5)
    assert graph.value(checks[1], URIRef(CLEW + "similarity")) is None


def test_a_person_answers_and_the_next_retrieval_used_that() -> None:
    graph = provenance(runs.quads_of(courses.RESUMED_BATCHES))
    ticket, reply = URIRef(f"{RUN}/pause/1"), URIRef(f"{RUN}/pause/1/answer")
    person = URIRef("urn:clew:person:anonymous")
    assert set(graph.objects(person, RDF.type)) == {PROV.Agent, PROV.Person}
    assert graph.value(reply, PROV.wasAttributedTo) == person
    assert person in set(graph.objects(URIRef(f"{reply}/activity"), PROV.wasAssociatedWith))
    assert ticket in set(graph.objects(URIRef(f"{reply}/activity"), PROV.used))
    assert graph.value(ticket, PROV.wasDerivedFrom) == URIRef(f"{RUN}/joined/1")
    assert graph.value(reply, PROV.value) == Literal("Austria")
    targeted = URIRef(f"{RUN}/part/2/exploration/2/activity")
    assert set(graph.objects(targeted, PROV.used)) == {
        URIRef(f"{RUN}/question"),
        URIRef(f"{RUN}/part/2"),
        URIRef(f"{RUN}/part/2/exploration/decision"),
        reply,
    }
    assert graph.value(URIRef(f"{RUN}/synthesis"), PROV.wasDerivedFrom) == URIRef(f"{RUN}/joined/2")


def test_a_failure_after_a_pause_is_another_than_one_before() -> None:
    graph = provenance(runs.quads_of(RUNS["failed while resumed"]))
    failure = URIRef(f"{RUN}/pause/1/failure/20260131T120031000001Z")
    assert (failure, RDF.type, URIRef(CLEW + "Failure")) in graph
