"""``urn:graph:provenance``: conformant PROV-O, for the runs of ``runs.py`` and for any facts at all."""

from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from prov.model import ProvDocument
from rdflib import PROV, RDF, XSD, Dataset, Graph, Literal, URIRef

from clew_schema.facts import EvidenceRetrieved, Fact, Mechanism, RunFailed
from clew_schema.rdf import Triple, Triples
from clew_translators.explain import explain
from clew_translators.namespaces import GRAPH_PROVENANCE
from clew_translators.prov.constraints import check
from clew_translators.prov.read_rdf import read_quads
from clew_translators.quads import from_nquads, to_nquads
from tests.translators import courses, runs, whole_runs
from tests.translators.run_strategies import ANY_RUN, Steps
from tests.translators.strategies import values

CLEW = "urn:clew:ns#"
RUN = f"urn:trustgraph:docrag:{runs.SESSION}"
FACTS = st.lists(values(Fact), max_size=4)
RUNS = {
    "documents": runs.DOCUMENT_BATCHES,
    "agent": runs.AGENT_BATCHES,
    "partial": runs.DOCUMENT_BATCHES[:1],
    "rewritten": courses.REWRITTEN_BATCHES,
    "resumed": courses.RESUMED_BATCHES,
    "cancelled": courses.CANCELLED_BATCHES,
    "failed while resumed": runs.told((*courses.RESUMED_STEPS[:4], (courses.FAILED_RESUME,))),
    "failed": runs.told(((runs.ASKED, runs.RETRIEVED), (runs.FAILED,))),
    "failed at once": runs.told(((runs.FAILED,),)),
} | {name: runs.told(steps, mechanism) for name, (mechanism, steps) in whole_runs.RUNS.items()}

SPACES = (
    "urn:chunk",
    *(f"urn:clew:{kind}" for kind in ("model", "person", "prompt", "service")),
    *(f"urn:trustgraph:{kind}" for kind in ("agent", "docrag", "question")),
)

# PROV-O: property -> classes of subject and object (https://www.w3.org/TR/prov-o/, cross reference).
SIGNATURES: dict[URIRef, tuple[URIRef | None, URIRef | None]] = {
    PROV.used: (PROV.Activity, PROV.Entity),
    PROV.wasGeneratedBy: (PROV.Entity, PROV.Activity),
    PROV.wasDerivedFrom: (PROV.Entity, PROV.Entity),
    PROV.wasQuotedFrom: (PROV.Entity, PROV.Entity),
    PROV.specializationOf: (PROV.Entity, PROV.Entity),
    PROV.hadMember: (PROV.Collection, PROV.Entity),
    PROV.wasAssociatedWith: (PROV.Activity, PROV.Agent),
    PROV.wasAttributedTo: (PROV.Entity, PROV.Agent),
    PROV.wasInformedBy: (PROV.Activity, PROV.Activity),
    PROV.wasStartedBy: (PROV.Activity, PROV.Entity),
    PROV.qualifiedAssociation: (PROV.Activity, None),
    PROV.agent: (None, PROV.Agent),
    PROV.hadPlan: (None, PROV.Entity),
    PROV.startedAtTime: (PROV.Activity, None),
    PROV.endedAtTime: (PROV.Activity, None),
    PROV.value: (PROV.Entity, None),
}


def provenance(quads: Iterable[Triple]) -> Graph:
    dataset = Dataset()
    dataset.parse(data=to_nquads(quad for quad in quads if quad.g == GRAPH_PROVENANCE), format="nquads")
    graph = Graph()
    for triple in dataset.graph(URIRef(GRAPH_PROVENANCE)):
        graph.add(triple)
    return graph


def run_of(graph: Graph) -> object:
    return next(graph.subjects(RDF.type, URIRef(CLEW + "Run")))


def classes(graph: Graph) -> dict[object, set[object]]:
    """Each node's PROV classes: as typed, and as the properties that it stands on either side of imply."""
    found: dict[object, set[object]] = {}
    for subject, predicate, value in graph:
        if predicate == RDF.type and str(value).startswith(str(PROV)):
            found.setdefault(subject, set()).add(value)
        domain, range_ = SIGNATURES.get(predicate, (None, None))  # type: ignore[call-overload]
        if domain:
            found.setdefault(subject, set()).add(domain)
        if range_:
            found.setdefault(value, set()).add(range_)
    return found


def violations(graph: Graph) -> list[str]:
    """What PROV-O and PROV-CONSTRAINTS forbid and this graph does."""
    wrong = []
    for node, kinds in classes(graph).items():
        if PROV.Activity in kinds and kinds & {PROV.Entity, PROV.Collection}:
            wrong.append(f"{node} is both entity and activity")
        if PROV.Agent in kinds and kinds & {PROV.Activity}:
            wrong.append(f"{node} is both agent and activity")
    for node, predicate, value in graph:
        known = predicate in SIGNATURES or not str(predicate).startswith(str(PROV))
        if not known:
            wrong.append(f"{predicate} is not among the checked properties")
        if predicate in {PROV.startedAtTime, PROV.endedAtTime} and (
            not isinstance(value, Literal)
            or value.datatype != XSD.dateTime
            or not isinstance(value.toPython(), datetime)
        ):
            wrong.append(f"{node} has the time {value!r}")
        if not isinstance(node, URIRef) or not isinstance(value, (URIRef, Literal)):
            wrong.append(f"{node} or {value} is a blank node")
    for activity in graph.subjects(PROV.endedAtTime):
        ends = [instant(end) for end in graph.objects(activity, PROV.endedAtTime)]
        starts = [instant(start) for start in graph.objects(activity, PROV.startedAtTime)]
        if len(ends) > 1 or len(starts) > 1 or (starts and ends[0] < starts[0]):
            wrong.append(f"{activity} has starts {starts} and ends {ends}")
    return wrong


def instant(value: object) -> datetime:
    assert isinstance(value, Literal)
    found = value.toPython()
    assert isinstance(found, datetime)
    return found


@pytest.mark.parametrize("batches", RUNS.values(), ids=RUNS)
def test_a_run_is_conformant(batches: list[Triples]) -> None:
    graph = provenance(runs.quads_of(batches))
    assert len(graph) > 5
    assert violations(graph) == []


@pytest.mark.parametrize("name", RUNS)
def test_a_run_keeps_the_constraints_of_prov(name: str) -> None:
    assert check(read_quads(runs.quads_of(RUNS[name]))) == ()


@given(run=ANY_RUN)
def test_any_run_keeps_the_constraints_of_prov(run: tuple[Mechanism, Steps]) -> None:
    mechanism, steps = run
    assert check(read_quads(runs.quads_of(runs.told(steps, mechanism)))) == ()


def test_an_agent_and_its_tool_are_together_one_valid_document() -> None:
    agent = runs.told(whole_runs.AGENT, "agent", runs.AGENT_SESSION)
    asked = whole_runs.ASKED.model_copy(
        update={"parent_uri": f"urn:trustgraph:agent:{runs.AGENT_SESSION}/i1", "person": ""}
    )
    tool = runs.told(whole_runs.stamped(((asked, runs.RETRIEVED), (runs.GRADED,), (runs.ANSWERED,))))
    both = runs.quads_of([*agent, *tool])
    assert check(read_quads(both)) == ()
    graph = provenance(both)
    described = set(graph.subjects())
    linked = (PROV.wasStartedBy, PROV.wasInformedBy, PROV.wasDerivedFrom)
    assert {target for p in linked for target in graph.objects(None, p)} <= described
    assert graph.value(URIRef(RUN), PROV.wasStartedBy) == URIRef(
        f"urn:trustgraph:agent:{runs.AGENT_SESSION}/i1"
    )


def test_failures_of_one_step_are_each_a_failure() -> None:
    begin, failed = whole_runs.FAILING
    later = (runs.FAILED.model_copy(update=runs.at("grading.grade", 9)),)
    quads = runs.quads_of(
        [*runs.told((begin, failed)), *runs.told((begin, later)), *RUNS["documents, whole"]]
    )
    assert check(read_quads(quads)) == ()
    assert len(set(provenance(quads).subjects(RDF.type, URIRef(CLEW + "Failure")))) == 2


def test_the_check_finds_what_trustgraph_does_wrong() -> None:
    # Pitfall 1 of the reference: a question that is an entity and has a start time, as a plain string.
    graph = Graph()
    question = URIRef("urn:trustgraph:docrag:x")
    graph.add((question, RDF.type, PROV.Entity))
    graph.add((question, PROV.startedAtTime, Literal("2026-01-01T00:00:00Z")))
    assert len(violations(graph)) == 2


@pytest.mark.parametrize("batches", RUNS.values(), ids=RUNS)
def test_the_whole_dataset_has_no_node_that_is_typed_entity_and_activity(batches: list[Triples]) -> None:
    quads = runs.quads_of(batches)
    typed: dict[str, set[str]] = {}
    for quad in quads:
        assert quad.s is not None
        assert quad.p is not None
        assert quad.o is not None
        if quad.p.iri == str(RDF.type):
            typed.setdefault(quad.s.iri, set()).add(quad.o.iri)
    assert not [node for node, kinds in typed.items() if {str(PROV.Entity), str(PROV.Activity)} <= kinds]


@pytest.mark.parametrize("batches", RUNS.values(), ids=RUNS)
def test_everything_that_was_used_or_derived_from_is_described_in_the_run(batches: list[Triples]) -> None:
    graph = provenance(runs.quads_of(batches))
    described = set(graph.subjects())
    for predicate in (
        PROV.used,
        PROV.wasDerivedFrom,
        PROV.wasGeneratedBy,
        PROV.wasAssociatedWith,
        PROV.hadMember,
    ):
        for _, target in graph.subject_objects(predicate):
            own = str(target).startswith(str(run_of(graph)))
            assert target in described or not own, (predicate, target)


@pytest.mark.parametrize("batches", RUNS.values(), ids=RUNS)
def test_the_prov_package_reads_it(batches: list[Triples]) -> None:
    graph = provenance(runs.quads_of(batches))
    # PROV-DM names things by qualified names.
    prefixes = (f"@prefix p{number}: <{space}:> .\n" for number, space in enumerate(SPACES))
    document = ProvDocument.deserialize(
        content="".join(prefixes) + graph.serialize(format="nt"), format="rdf", rdf_format="turtle"
    )
    activities = {str(node) for node in graph.subjects(RDF.type, PROV.Activity)}
    entities = {str(node) for node in graph.subjects(RDF.type, PROV.Entity)}
    read = {
        record.identifier.uri: record.get_type().localpart
        for record in document.get_records()
        if record.is_element() and record.identifier is not None
    }
    assert {uri for uri, kind in read.items() if kind == "Activity"} == activities
    assert entities <= {uri for uri, kind in read.items() if kind == "Entity"}


def test_evidence_grade_decision_answer_and_citation() -> None:
    graph = provenance(runs.quads_of(runs.DOCUMENT_BATCHES))
    exploration = f"{RUN}/exploration"
    expected = f"""
    @prefix prov: <http://www.w3.org/ns/prov#> .
    @prefix clew: <{CLEW}> .
    @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    <{exploration}/evidence/1> a prov:Entity, clew:Evidence ;
        prov:specializationOf <{runs.CHUNKS[0]}> ;
        clew:document <{runs.DOCUMENT}> ; clew:version "3" ; clew:filename "returns.pdf" ; clew:page 3 ;
        clew:start 120 ; clew:end 164 ; clew:contentHash "c0ffee" ; clew:level 3 ; clew:rank 1 ;
        clew:denseRank 1 ; clew:denseScore "0.87"^^xsd:double ; clew:bm25Rank 2 ; clew:bm25Score "7.25"^^xsd:double ;
        clew:fusedScore "0.0325"^^xsd:double ;
        prov:value "Returns are accepted within 30 days. \\n“OK” 退货" .
    <{exploration}/grade> a prov:Entity, clew:Grade ;
        prov:wasGeneratedBy <{exploration}/grade/activity> ; prov:wasDerivedFrom <{exploration}> ;
        clew:relevance "strong" ; clew:answerability "sufficient" ; clew:ambiguity "none" ;
        clew:suggestedRoute "answer" ; clew:confidence "0.9"^^xsd:double ; clew:reason "It says so." .
    <{exploration}/decision> a prov:Entity, clew:Decision ;
        prov:wasGeneratedBy <{exploration}/grade/activity> ; prov:wasDerivedFrom <{exploration}/grade> ;
        clew:route "answer" ; clew:status "answerable" ; clew:resolvedBy "R1" .
    <{RUN}/synthesis> a prov:Entity, clew:Answer ;
        prov:wasGeneratedBy <{RUN}/synthesis/activity> ;
        prov:wasDerivedFrom <{exploration}>, <{exploration}/decision> ;
        clew:outcome "answer" ; clew:inToken 100 ; clew:outToken 9 ; clew:cites <{RUN}/synthesis/citation/1> .
    <{RUN}/synthesis/citation/1> a prov:Entity, clew:Citation ;
        prov:wasGeneratedBy <{RUN}/synthesis/activity> ; clew:number 1 ;
        prov:wasQuotedFrom <{runs.CHUNKS[0]}> ; prov:wasDerivedFrom <{exploration}/evidence/1> ;
        clew:document <{runs.DOCUMENT}> ; clew:version "3" ; clew:filename "returns.pdf" ; clew:page 3 ;
        clew:start 120 ; clew:end 156 ; prov:value "Returns are accepted within 30 days." ;
        clew:quoteHash "{sha256(runs.CITATION.quote.encode()).hexdigest()}" .
    <{exploration}/grade/activity> a prov:Activity, clew:Grading ;
        <http://www.w3.org/2000/01/rdf-schema#label> "grading.grade" ;
        prov:startedAtTime "2026-01-31T12:00:01.000001Z"^^xsd:dateTime ;
        prov:endedAtTime "2026-01-31T12:00:01.250001Z"^^xsd:dateTime ;
        prov:wasAssociatedWith <urn:clew:service:grading>, <urn:clew:model:lexical> ;
        prov:used <{RUN}/question>, <{exploration}> ; clew:position 3 .
    """
    wanted = Graph().parse(data=expected, format="turtle")
    graph.remove((None, URIRef(CLEW + "record"), None))  # read back in test_explain_facts
    for subject in set(wanted.subjects()):
        assert set(graph.predicate_objects(subject)) == set(wanted.predicate_objects(subject)), subject


def test_a_failure_ends_the_trace_and_a_run_that_could_not_be_read_still_has_a_beginning() -> None:
    graph = provenance(runs.quads_of(RUNS["failed at once"]))
    failure, run = URIRef(f"{RUN}/failure/20260131T120001000001Z"), URIRef(RUN)
    assert graph.value(failure, URIRef(CLEW + "errorType")) == Literal("model-failed")
    assert graph.value(failure, URIRef(CLEW + "message")) == Literal("no answer in 30 s")
    assert graph.value(failure, PROV.wasGeneratedBy) == URIRef(f"{failure}/activity")
    assert set(graph.objects(run, RDF.type)) == {PROV.Activity, URIRef(CLEW + "Run")}
    # When it began nobody knows: what failed may be a later step, and a run has one start.
    assert graph.value(run, PROV.startedAtTime) is None


def test_a_tool_points_to_its_own_trace_and_that_trace_to_the_tool() -> None:
    graph = provenance(runs.quads_of(runs.AGENT_BATCHES))
    agent = f"urn:trustgraph:agent:{runs.AGENT_SESSION}"
    seen = URIRef(f"{agent}/i1/observation")
    assert graph.value(seen, URIRef(CLEW + "toolTrace")) == URIRef(RUN)
    assert graph.value(URIRef(f"{seen}/activity"), PROV.wasInformedBy) == URIRef(RUN)
    asked = runs.ASKED.model_copy(update={"parent_uri": f"{agent}/i1"})
    sub = provenance(runs.quads_of(runs.told(((asked,),))))
    assert sub.value(URIRef(RUN), URIRef(CLEW + "parent")) == URIRef(f"{agent}/i1")


def test_the_second_pass_used_the_decision_about_the_first() -> None:
    again = EvidenceRetrieved(query="rewritten", pass_number=2, **runs.at("document-rag.plan", 3))
    graph = provenance(runs.quads_of(runs.told((*runs.DOCUMENT_STEPS[:2], (again,)))))
    used = set(graph.objects(URIRef(f"{RUN}/exploration/2/activity"), PROV.used))
    assert used == {URIRef(f"{RUN}/question"), URIRef(f"{RUN}/exploration/decision")}
    assert violations(graph) == []


@pytest.mark.parametrize(
    ("started", "ended", "kept"),
    [
        ("2026-01-01T00:00:01Z", "2026-01-01T00:00:00Z", {"startedAtTime"}),  # the clock was set back
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", {"startedAtTime", "endedAtTime"}),
        ("yesterday", "2026-01-01T00:00:00Z", {"endedAtTime"}),
        ("2026-02-30T00:00:00Z", "", set()),
    ],
)
def test_only_times_that_can_be_are_told(started: str, ended: str, kept: set[str]) -> None:
    fact = RunFailed(mechanism="agent", error_type="e", message="m", started_at=started, ended_at=ended)
    graph = provenance(runs.quads_of(runs.told(((runs.AGENT_ASKED,), (fact,)), "agent", runs.AGENT_SESSION)))
    (activity,) = graph.subjects(RDF.type, URIRef(CLEW + "Failing"))
    times = {str(p).rpartition("#")[2] for p in graph.predicates(activity) if str(p).endswith("AtTime")}
    assert times == kept


@given(facts=FACTS, trail=FACTS, session=st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
@example(facts=list(runs.DOCUMENT_RUN), trail=[], session=runs.SESSION)
def test_any_facts_make_a_batch_that_n_quads_carry_and_prov_allows(
    facts: list[Fact], trail: list[Fact], session: str
) -> None:
    first, again = (
        explain(facts, session_id=session, collection="c", mechanism="document-rag", trail=trail)
        for _ in range(2)
    )
    if first is None or again is None:
        assert facts == []
        return
    assert first.model_dump_json() == again.model_dump_json()
    text = to_nquads(first.triples)
    assert from_nquads(text) == first.triples
    assert len(set(text.split("\n")[:-1])) == len(first.triples)
    kinds = classes(provenance(first.triples))
    assert not [node for node, found in kinds.items() if PROV.Activity in found and PROV.Entity in found]
