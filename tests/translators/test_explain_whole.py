"""``urn:graph:provenance`` of runs with everything: who took part by what, claims, what was left out, plans, edges."""

from hashlib import sha256

import pytest
from rdflib import PROV, RDF, RDFS, Graph, Literal, URIRef

from clew_schema.facts import Fact, QuestionAsked, RunResumed
from clew_translators.explain import names
from clew_translators.explain.telling import entity_at, run_at
from clew_translators.namespaces import PREFIXES
from tests.translators import runs, whole_runs
from tests.translators.test_explain_provenance import CLEW, RUN, provenance

TURTLE = "".join(f"@prefix {prefix}: <{name}> .\n" for prefix, name in PREFIXES.items())
AGENT = f"urn:trustgraph:agent:{runs.SESSION}"
GRAPH = f"urn:trustgraph:question:{runs.SESSION}"
TOOL = whole_runs.TOOL


def told(name: str) -> Graph:
    mechanism, steps = whole_runs.RUNS[name]
    return provenance(runs.quads_of(runs.told(steps, mechanism)))


def expect(graph: Graph, turtle: str, *, ignoring: tuple[str, ...] = ()) -> None:
    """Of each subject in ``turtle``, ``graph`` says that and no more."""
    wanted = Graph().parse(data=TURTLE + turtle, format="turtle")
    ignored = {URIRef(CLEW + name) for name in ("record", "seal", "previousSeal", *ignoring)}
    for subject in set(wanted.subjects()):
        found = {(p, o) for p, o in graph.predicate_objects(subject) if p not in ignored}
        assert found == set(wanted.predicate_objects(subject)), subject


# --- who took part, by what -----------------------------------------------------------------------


def test_who_graded_with_which_prompt() -> None:
    graded = f"{RUN}/exploration/grade/activity"
    expect(
        told("documents, whole"),
        f"""
        <{graded}> a prov:Activity, clew:Grading ; rdfs:label "grading.grade" ;
            prov:startedAtTime "2026-01-31T12:00:01.000001Z"^^xsd:dateTime ;
            prov:endedAtTime "2026-01-31T12:00:01.250001Z"^^xsd:dateTime ;
            prov:wasAssociatedWith <urn:clew:service:grading:1.4.0>, <urn:clew:model:m1> ;
            prov:qualifiedAssociation <{graded}/association/model:m1/9f86d081> ;
            prov:used <{RUN}/question>, <{RUN}/exploration> ; clew:position 3 .
        <{graded}/association/model:m1/9f86d081> a prov:Association ;
            prov:agent <urn:clew:model:m1> ; prov:hadPlan <urn:clew:prompt:9f86d081> .
        <urn:clew:prompt:9f86d081> a prov:Entity, prov:Plan ; clew:promptVersion "9f86d081" .
        <urn:clew:service:grading:1.4.0> a prov:Agent, prov:SoftwareAgent ; rdfs:label "grading" ;
            clew:version "1.4.0" .
        """,
    )


def test_a_writer_that_names_its_model_went_by_the_prompt_with_that() -> None:
    graph = told("documents, whole")
    written = URIRef(f"{RUN}/synthesis/activity")
    assert set(graph.objects(written, PROV.wasAssociatedWith)) == {
        URIRef("urn:clew:service:document-rag:1.4.0"),
        URIRef("urn:clew:model:m1"),
        URIRef("urn:clew:model:m1-2026"),
    }
    (association,) = graph.objects(written, PROV.qualifiedAssociation)
    assert graph.value(association, PROV.agent) == URIRef("urn:clew:model:m1-2026")


def test_services_of_two_versions_are_two_agents() -> None:
    graded = [whole_runs.GRADED.model_copy(update={"version": version}) for version in ("1", "2", "")]
    batches = runs.told(((whole_runs.ASKED, whole_runs.RETRIEVED), *((fact,) for fact in graded)))
    graph = provenance(runs.quads_of(batches))
    versions = {
        (str(agent), str(graph.value(agent, URIRef(names.VERSION))))
        for agent in graph.subjects(RDFS.label, Literal("grading"))
    }
    assert versions == {
        ("urn:clew:service:grading:1", "1"),
        ("urn:clew:service:grading:2", "2"),
        ("urn:clew:service:grading", "None"),
    }


def test_a_question_a_reply_and_a_withdrawal_are_of_a_person() -> None:
    asked, people, withdrawn = told("documents, whole"), told("people"), told("withdrawn")
    ada = URIRef("urn:clew:person:Ada%20Lovelace")
    assert asked.value(URIRef(f"{RUN}/question"), PROV.wasAttributedTo) == ada
    expect(asked, f'<{ada}> a prov:Agent, prov:Person ; rdfs:label "Ada Lovelace" .')
    zoe, reply = URIRef("urn:clew:person:Zo%C3%AB%2FQ"), URIRef(f"{RUN}/pause/1/answer")
    assert people.value(reply, PROV.wasAttributedTo) == zoe
    assert zoe in set(people.objects(URIRef(f"{reply}/activity"), PROV.wasAssociatedWith))
    assert people.value(URIRef(f"{RUN}/question"), PROV.wasAttributedTo) == URIRef(
        "urn:clew:person:anonymous"
    )
    # Who calls themselves anonymous is somebody.
    named = withdrawn.value(URIRef(f"{RUN}/pause/1/cancellation"), PROV.wasAttributedTo)
    assert named == URIRef("urn:clew:person:%61nonymous")
    assert set(withdrawn.objects(named, RDFS.label)) == {Literal("anonymous")}


def test_a_question_that_an_agent_asked_is_no_persons_and_was_started_by_the_agent() -> None:
    planned, supervised = told("planned"), told("supervised")
    assert planned.value(URIRef(f"{AGENT}/question"), PROV.wasAttributedTo) is None
    assert planned.value(URIRef(AGENT), PROV.wasStartedBy) == URIRef(f"{TOOL}/i1")
    assert planned.value(URIRef(AGENT), URIRef(names.PARENT)) == URIRef(f"{TOOL}/i1")
    # A run that asked is an activity, and starts nothing: it informs.
    assert supervised.value(URIRef(AGENT), PROV.wasStartedBy) is None
    assert supervised.value(URIRef(AGENT), PROV.wasInformedBy) == URIRef(TOOL)


@pytest.mark.parametrize(
    ("name", "entity", "run"),
    [
        (f"{TOOL}/i1", True, False),
        (f"{TOOL}/synthesis", True, False),
        (TOOL, False, True),
        (f"{TOOL}/synthesis/activity", False, False),
        (f"{TOOL}/synthesis/activity/association/model:m/p", False, False),
        ("https://example.org/i1", False, False),
        ("", False, False),
    ],
)
def test_what_names_of_other_runs_are(name: str, *, entity: bool, run: bool) -> None:
    assert (entity_at(name), run_at(name)) == (name if entity else "", name if run else "")


def test_the_callers_span_is_told() -> None:
    graph = told("documents, whole")
    assert graph.value(URIRef(RUN), URIRef(names.TRACEPARENT)) == Literal(whole_runs.CALLER)


@pytest.mark.parametrize("name", whole_runs.RUNS)
def test_each_fact_has_its_seal_and_that_of_the_one_before(name: str) -> None:
    graph = told(name)
    facts: list[Fact] = [fact for step in whole_runs.RUNS[name][1] for fact in step]
    before = ""
    for position, fact in enumerate(facts, start=1):
        activity = graph.value(predicate=URIRef(names.POSITION), object=Literal(position))
        assert str(graph.value(activity, URIRef(names.SEAL))) == fact.seal
        assert str(graph.value(activity, URIRef(names.PREVIOUS_SEAL)) or "") == before
        before = fact.seal


# --- evidence and claims --------------------------------------------------------------------------


def test_what_was_found_and_left_out() -> None:
    found = f"{RUN}/exploration"
    expect(
        told("documents, whole"),
        f"""
        <{found}/rejected/1> a prov:Entity, clew:Rejected ; prov:wasGeneratedBy <{found}/activity> ;
            prov:specializationOf <urn:chunk:00000000-0000-4000-8000-000000000003> ;
            clew:reason "below-threshold" ; clew:document <{runs.DOCUMENT}> ; clew:page 7 ; clew:rank 3 ;
            clew:denseScore "0.25"^^xsd:double ; clew:bm25Score "1.5"^^xsd:double ;
            clew:fusedScore "0.0078125"^^xsd:double ; clew:rerankScore "-2.5"^^xsd:double .
        <{found}/rejected/2> a prov:Entity, clew:Rejected ; prov:wasGeneratedBy <{found}/activity> ;
            prov:specializationOf <urn:chunk:4> ; clew:reason "merged-into-parent" ;
            clew:mergedInto <{whole_runs.PARENT}> .
        """,
    )


def test_each_chunk_has_its_grade() -> None:
    found = f"{RUN}/exploration"
    expect(
        told("documents, whole"),
        f"""
        <{found}/grade/chunk/1> a prov:Entity, clew:ChunkGrade ; prov:wasGeneratedBy <{found}/grade/activity> ;
            prov:wasDerivedFrom <{found}/evidence/1> ; clew:number 1 ;
            clew:relevance "strong" ; clew:reason "It names the days." .
        <{found}/grade/chunk/2> a prov:Entity, clew:ChunkGrade ; prov:wasGeneratedBy <{found}/grade/activity> ;
            prov:wasDerivedFrom <{found}/evidence/2> ; clew:number 2 ; clew:relevance "none" .
        <{found}/grade/chunk/3> a prov:Entity, clew:ChunkGrade ; prov:wasGeneratedBy <{found}/grade/activity> ;
            prov:wasDerivedFrom <{found}> ; clew:number 9 ;
            clew:relevance "weak" ; clew:reason "There is no ninth." .
        """,
    )


def test_claims_lead_to_what_supports_them_and_to_what_does_not() -> None:
    answer = f"{RUN}/synthesis"
    expect(
        told("documents, whole"),
        f"""
        <{answer}/claim/1> a prov:Entity, clew:Claim ; prov:wasGeneratedBy <{answer}/activity> ;
            clew:number 1 ; clew:start 0 ; clew:end 19 ; clew:verdict "supported" ;
            clew:cites <{answer}/citation/1> ; prov:wasDerivedFrom <{answer}/citation/1> ;
            clew:hasCheck <{answer}/check/1> .
        <{answer}/claim/2> a prov:Entity, clew:Claim ; prov:wasGeneratedBy <{answer}/activity> ;
            clew:number 2 ; clew:start 20 ; clew:end 33 ; clew:verdict "misattributed" ;
            clew:cites <{answer}/citation/2> ; clew:hasCheck <{answer}/check/2> .
        <{answer}/claim/3> a prov:Entity, clew:Claim ; prov:wasGeneratedBy <{answer}/activity> ;
            clew:number 3 ; clew:start 34 ; clew:end 41 ; clew:verdict "uncited" .
        <{answer}/check/2> a prov:Entity, clew:Check ; prov:wasGeneratedBy <{answer}/activity> ;
            prov:wasDerivedFrom <{answer}/citation/2>, <{answer}/claim/2> ;
            clew:number 2 ; clew:start 20 ; clew:end 33 ; clew:verdict "misattributed" ;
            clew:lexical "0"^^xsd:double ; clew:quoted false ; clew:better 1 .
        """,
    )


def test_a_path_in_prov_leads_from_a_supported_claim_to_its_chunk_and_from_no_other() -> None:
    graph = told("documents, whole")
    claims = sorted(graph.subjects(RDF.type, URIRef(names.CLAIM)), key=str)
    chunks = [
        {chunk for source in graph.transitive_objects(claim, PROV.wasDerivedFrom)
         for chunk in graph.objects(source, PROV.specializationOf)}
        for claim in claims
    ]  # fmt: skip
    assert chunks == [{URIRef(runs.CHUNKS[0])}, set(), set()]


def test_a_claim_that_nobody_checked_derives_from_what_it_cites() -> None:
    unchecked = whole_runs.ANSWERED.model_copy(
        update={
            "checks": (),
            "claims": (whole_runs.ANSWERED.claims[0].model_copy(update={"verdict": "unchecked"}),),
        }
    )
    graph = provenance(runs.quads_of(runs.told(((whole_runs.ASKED, whole_runs.RETRIEVED), (unchecked,)))))
    claim, citation = URIRef(f"{RUN}/synthesis/claim/1"), URIRef(f"{RUN}/synthesis/citation/1")
    assert graph.value(claim, PROV.wasDerivedFrom) == citation


def test_a_quotation_has_its_hash() -> None:
    quoted = told("documents, whole").value(URIRef(f"{RUN}/synthesis/citation/2"), URIRef(names.QUOTE_HASH))
    assert quoted == Literal(sha256(b"Shipping is free.").hexdigest())


def test_a_failure_names_its_letter_and_the_attempt() -> None:
    failure = f"{RUN}/failure/20260131T120001000001Z"
    expect(
        told("failing"),
        f"""
        <{failure}> a prov:Entity, clew:Failure ; prov:wasGeneratedBy <{failure}/activity> ;
            clew:errorType "model-failed" ; clew:message "no answer in 30 s" ;
            clew:deadLetter "b2a6e9d4-5f4e-5d0a-9f0e-0123456789ab" ; clew:attempt 3 .
        """,
    )


# --- agents and graphs ----------------------------------------------------------------------------


def test_steps_of_an_agent_form_a_dag() -> None:
    graph = told("an agent, whole")
    first, second, third = (URIRef(f"{AGENT}/i{n}/observation") for n in (1, 2, 3))
    pattern = URIRef(f"{AGENT}/pattern-decision")
    wanted = {
        f"{AGENT}/i1": {URIRef(f"{AGENT}/question")},
        f"{AGENT}/i2": {first},
        f"{AGENT}/i3": {first, second},
        f"{AGENT}/final": {first, third},
    }
    for entity, sources in wanted.items():
        assert set(graph.objects(URIRef(entity), PROV.wasDerivedFrom)) == sources
        used = set(graph.objects(URIRef(f"{entity}/activity"), PROV.used))
        assert used == sources | ({pattern} if "/i" in entity else set())


def test_a_choice_an_observation_and_a_conclusion() -> None:
    expect(
        told("an agent, whole"),
        f"""
        <{AGENT}/i1> a prov:Entity, clew:Choice ; prov:wasGeneratedBy <{AGENT}/i1/activity> ;
            prov:wasDerivedFrom <{AGENT}/question> ; clew:number 1 ;
            clew:candidate "document-query", "text-completion" ; clew:inToken 7 ; clew:outToken 3 .
        <{AGENT}/i1/observation> a prov:Entity, clew:Observation ;
            prov:wasGeneratedBy <{AGENT}/i1/observation/activity> ; clew:number 1 ; clew:failed false ;
            prov:wasDerivedFrom <{AGENT}/i1>, <{TOOL}/synthesis> ;
            clew:toolTrace <{TOOL}> ; clew:traceEnd <{TOOL}/synthesis> .
        <{AGENT}/i2/observation> a prov:Entity, clew:Observation ;
            prov:wasGeneratedBy <{AGENT}/i2/observation/activity> ; clew:number 2 ; clew:failed true ;
            prov:wasDerivedFrom <{AGENT}/i2> ; clew:message "out of order" .
        <{AGENT}/final> a prov:Entity, clew:Conclusion ; prov:wasGeneratedBy <{AGENT}/final/activity> ;
            prov:wasDerivedFrom <{AGENT}/i1/observation>, <{AGENT}/i3/observation> ;
            clew:termination "final-answer" ; clew:thought "Enough." ; clew:inToken 7 ; clew:outToken 3 .
        """,
    )
    used = told("an agent, whole").objects(URIRef(f"{AGENT}/i1/observation/activity"), PROV.used)
    assert set(used) == {URIRef(f"{AGENT}/i1"), URIRef(f"{TOOL}/synthesis")}


def test_a_plan_its_steps_and_what_they_came_to() -> None:
    plan = f"{AGENT}/plan"
    expect(
        told("planned"),
        f"""
        <{plan}> a prov:Entity, clew:AgentPlan ; prov:wasGeneratedBy <{plan}/activity> ;
            prov:wasDerivedFrom <{AGENT}/question> ; clew:inToken 1 ; clew:outToken 2 ;
            clew:hasStep <{plan}/step/1>, <{plan}/step/2> .
        <{plan}/step/2> a prov:Entity, clew:PlannedStep ; prov:wasGeneratedBy <{plan}/activity> ;
            prov:wasDerivedFrom <{AGENT}/question> ; clew:number 2 ; prov:value "sum up" .
        <{AGENT}/step/1> a prov:Entity, clew:StepResult ; prov:wasGeneratedBy <{AGENT}/step/1/activity> ;
            prov:wasDerivedFrom <{plan}/step/2> ; clew:number 2 ; clew:goal "sum up" ; prov:value "It is 42." .
        """,
    )
    graph = told("planned")
    assert set(graph.objects(URIRef(f"{AGENT}/step/1/activity"), PROV.used)) == {
        URIRef(f"{plan}/step/2"),
        URIRef(f"{AGENT}/step/0"),
    }
    assert set(graph.objects(URIRef(f"{AGENT}/final"), PROV.wasDerivedFrom)) == {
        URIRef(f"{AGENT}/step/0"),
        URIRef(f"{AGENT}/step/1"),
    }


def test_what_other_agents_were_asked_and_what_they_found() -> None:
    goals = f"{AGENT}/decompose"
    expect(
        told("supervised"),
        f"""
        <{AGENT}/pattern-decision> a prov:Entity, clew:Pattern ; clew:pattern "supervisor" ;
            prov:wasGeneratedBy <{AGENT}/pattern-decision/activity> ; prov:wasDerivedFrom <{AGENT}/question> .
        <{goals}> a prov:Entity, clew:Decomposition ; prov:wasGeneratedBy <{goals}/activity> ;
            prov:wasDerivedFrom <{AGENT}/question> ; clew:outToken 4 ;
            clew:hasGoal <{goals}/goal/1>, <{goals}/goal/2> .
        <{goals}/goal/1> a prov:Entity, clew:Goal ; prov:wasGeneratedBy <{goals}/activity> ;
            prov:wasDerivedFrom <{AGENT}/question> ; clew:number 1 ; prov:value "one" .
        <{AGENT}/finding/0> a prov:Entity, clew:Finding ; prov:wasGeneratedBy <{AGENT}/finding/0/activity> ;
            prov:wasDerivedFrom <{goals}/goal/1> ; clew:number 1 ; clew:goal "one" ; prov:value "good" ;
            clew:toolTrace <urn:trustgraph:agent:first> .
        """,
    )
    graph = told("supervised")
    informed = graph.value(URIRef(f"{AGENT}/finding/0/activity"), PROV.wasInformedBy)
    assert informed == URIRef("urn:trustgraph:agent:first")


def test_concepts_and_edges() -> None:
    graph = told("a graph")
    expect(
        graph,
        f"""
        <{GRAPH}/grounding> a prov:Entity, clew:Concepts ; prov:wasGeneratedBy <{GRAPH}/grounding/activity> ;
            prov:wasDerivedFrom <{GRAPH}/question> ; clew:concept "thread", "Ariadne" ; clew:inToken 2 .
        <{GRAPH}/exploration> a prov:Entity, clew:Edges ; clew:edgeCount 12 ; clew:entity <urn:e:a> ;
            prov:wasGeneratedBy <{GRAPH}/exploration/activity> .
        <{GRAPH}/focus> a prov:Entity, prov:Collection, clew:SelectedEdges ;
            prov:wasGeneratedBy <{GRAPH}/focus/activity> ; prov:wasDerivedFrom <{GRAPH}/exploration> ;
            prov:hadMember <{GRAPH}/focus/edge/1>, <{GRAPH}/focus/edge/2> .
        <{GRAPH}/focus/edge/1> a prov:Entity, clew:SelectedEdge ; prov:wasGeneratedBy <{GRAPH}/focus/activity> ;
            prov:wasDerivedFrom <{GRAPH}/exploration> ; clew:concept "thread" ;
            clew:score "0.875"^^xsd:double ; clew:reason "It says so." .
        """,
    )
    assert graph.value(URIRef(f"{GRAPH}/synthesis"), PROV.wasDerivedFrom) == URIRef(f"{GRAPH}/focus")
    assert URIRef(f"{GRAPH}/grounding") in set(
        graph.objects(URIRef(f"{GRAPH}/exploration/activity"), PROV.used)
    )


# --- texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["documents, whole", "an agent, whole"])
def test_texts_stand_here_where_the_retrieval_graph_has_none(name: str) -> None:
    mechanism, steps = whole_runs.RUNS[name]
    graph = provenance(runs.quads_of(runs.told(steps, mechanism, profile="trustgraph")))
    plain = told(name)
    texts = {
        "documents, whole": {(f"{RUN}/synthesis", PROV.value, whole_runs.TEXT)},
        "an agent, whole": {
            (f"{AGENT}/i1", URIRef(names.THOUGHT), "The policy."),
            (f"{AGENT}/i1", URIRef(names.ACTION), "document-query"),
            (f"{AGENT}/i1", URIRef(names.ARGUMENTS), '{"question":"What is the return policy?","“":"退货"}'),
            (f"{AGENT}/i1/observation", PROV.value, "Within 30 days [1]."),
            (f"{AGENT}/final", PROV.value, "30 days."),
        },
    }[name]
    for subject, predicate, text in texts:
        assert str(graph.value(URIRef(subject), predicate)) == text
        assert plain.value(URIRef(subject), predicate) is None
    assert set(plain) < set(graph)


def test_people_without_a_name_are_one_agent() -> None:
    asked = QuestionAsked(mechanism="document-rag", query="")
    resumed = RunResumed(ticket="t", answer="", from_route="clarify", from_status="needs_clarification")
    graph = provenance(runs.quads_of(runs.told(((asked,), (resumed,)))))
    assert set(graph.subjects(RDF.type, PROV.Person)) == {URIRef(names.ANONYMOUS)}
