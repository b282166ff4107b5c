"""What breaks a shape of ``urn:graph:provenance``: the shape, a run that conforms, and a SPARQL update that breaks it."""


def lacks(kind: str, predicate: str) -> str:
    """What ``kind`` has by ``predicate`` is gone."""
    return f"DELETE {{ ?s {predicate} ?o }} WHERE {{ ?s a {kind} ; {predicate} ?o }}"


def more(kind: str, predicate: str, value: str) -> str:
    """``kind`` has ``value`` as well."""
    return f"INSERT {{ ?s {predicate} {value} }} WHERE {{ ?s a {kind} }}"


def instead(kind: str, predicate: str, value: str) -> str:
    """``kind`` has ``value`` for what it had."""
    return f"DELETE {{ ?s {predicate} ?o }} INSERT {{ ?s {predicate} {value} }} WHERE {{ ?s a {kind} ; {predicate} ?o }}"


def makes_nothing(kind: str, made: str) -> str:
    """What an activity made is of no class any more."""
    return f"DELETE {{ ?o a {made} }} WHERE {{ ?s a {kind} . ?o prov:wasGeneratedBy ?s ; a {made} }}"


DOCUMENTS, PEOPLE, REWRITTEN = "documents, whole", "people", "rewritten"
AGENT, PLANNED, SUPERVISED, GRAPH = "an agent, whole", "planned", "supervised", "a graph"

PROV = (
    ("Activity", DOCUMENTS, more("clew:Grading", "a", "prov:Entity")),
    (
        "Activity",
        DOCUMENTS,
        more("clew:Grading", "prov:startedAtTime", "'2026-01-01T00:00:00Z'^^xsd:dateTime"),
    ),
    ("Activity", DOCUMENTS, instead("clew:Grading", "prov:startedAtTime", "'2026-01-01T00:00:00Z'")),
    ("Activity", DOCUMENTS, more("clew:Grading", "prov:used", "?s")),
    ("Activity", SUPERVISED, instead("clew:Run", "prov:wasInformedBy", "'nobody'")),
    ("Activity", DOCUMENTS, lacks("prov:Agent", "a")),
    ("Order", DOCUMENTS, instead("clew:Grading", "prov:endedAtTime", "'2026-01-01T00:00:00Z'^^xsd:dateTime")),
    ("Entity", DOCUMENTS, more("clew:Grade", "prov:wasGeneratedBy", "<urn:x>")),
    ("Entity", DOCUMENTS, more("clew:Grade", "prov:value", "5")),
    (
        "Entity",
        DOCUMENTS,
        "INSERT { ?s prov:wasDerivedFrom ?a } WHERE { ?s a clew:Grade ; prov:wasGeneratedBy ?a }",
    ),
    ("Entity", DOCUMENTS, instead("clew:Question", "prov:wasAttributedTo", "<urn:x>")),
    ("Agent", DOCUMENTS, lacks("prov:Agent", "rdfs:label")),
    ("Agent", DOCUMENTS, more("prov:Person", "a", "prov:SoftwareAgent")),
    ("Agent", DOCUMENTS, "INSERT DATA { <urn:x> a prov:Agent, prov:Person ; rdfs:label 'x' }"),
    ("Association", DOCUMENTS, lacks("prov:Association", "prov:hadPlan")),
    ("Association", DOCUMENTS, lacks("prov:Association", "prov:agent")),
    ("Association", DOCUMENTS, lacks("clew:Grading", "prov:qualifiedAssociation")),
    ("Prompt", DOCUMENTS, lacks("prov:Plan", "clew:promptVersion")),
)
STEPS = (
    ("Step", DOCUMENTS, lacks("clew:Grading", "clew:position")),
    ("Step", DOCUMENTS, instead("clew:Grading", "clew:position", "0")),
    ("Step", DOCUMENTS, lacks("clew:Grading", "clew:record")),
    ("Step", DOCUMENTS, instead("clew:Grading", "clew:record", "'{}'")),
    ("Seal", DOCUMENTS, instead("clew:Grading", "clew:seal", "'abc'")),
    ("PreviousSeal", DOCUMENTS, more("clew:Grading", "clew:previousSeal", f"'{'0' * 64}'")),
    ("Run", DOCUMENTS, more("clew:Run", "prov:endedAtTime", "'2027-01-01T00:00:00Z'^^xsd:dateTime")),
    ("Run", DOCUMENTS, instead("clew:Run", "clew:position", "2")),
    ("Run", PLANNED, more("clew:Run", "prov:wasStartedBy", "<urn:x>")),
    ("Question", DOCUMENTS, lacks("clew:Question", "prov:value")),
    ("Question", DOCUMENTS, "DELETE { ?s prov:used ?o } WHERE { ?o a clew:Question . ?s prov:used ?o }"),
    ("Retrieval", DOCUMENTS, lacks("clew:Retrieval", "clew:query")),
    ("Retrieval", DOCUMENTS, instead("clew:Retrieval", "clew:mode", "'dense'")),
    ("Retrieval", DOCUMENTS, makes_nothing("clew:Retrieval", "prov:Collection")),
    ("Grading", DOCUMENTS, makes_nothing("clew:Grading", "clew:Grade")),
    ("Grading", DOCUMENTS, lacks("clew:Grading", "prov:used")),
    ("Planning", REWRITTEN, makes_nothing("clew:Planning", "clew:Plan")),
    ("Rewriting", REWRITTEN, makes_nothing("clew:Rewriting", "clew:Rewrite")),
    ("Joining", PEOPLE, makes_nothing("clew:Joining", "clew:Join")),
    ("Stopping", REWRITTEN, makes_nothing("clew:Stopping", "clew:Limit")),
    ("Pausing", PEOPLE, makes_nothing("clew:Pausing", "clew:Ticket")),
    ("Answering", PEOPLE, makes_nothing("clew:Answering", "clew:Reply")),
    ("Answering", PEOPLE, "DELETE { ?s a prov:Person } WHERE { ?s a prov:Person }"),
    ("Cancelling", "withdrawn", makes_nothing("clew:Cancelling", "clew:Cancellation")),
    ("Writing", DOCUMENTS, makes_nothing("clew:Writing", "clew:Answer")),
    ("Thinking", AGENT, makes_nothing("clew:Thinking", "clew:Choice")),
    ("ToolUse", AGENT, makes_nothing("clew:ToolUse", "clew:Observation")),
    ("Concluding", AGENT, makes_nothing("clew:Concluding", "clew:Conclusion")),
    ("Failing", "failing", makes_nothing("clew:Failing", "clew:Failure")),
    ("PatternChoosing", PLANNED, makes_nothing("clew:PatternChoosing", "clew:Pattern")),
    ("PlanMaking", PLANNED, makes_nothing("clew:PlanMaking", "clew:AgentPlan")),
    ("StepDoing", PLANNED, makes_nothing("clew:StepDoing", "clew:StepResult")),
    ("Decomposing", SUPERVISED, makes_nothing("clew:Decomposing", "clew:Decomposition")),
    ("Receiving", SUPERVISED, makes_nothing("clew:Receiving", "clew:Finding")),
    ("Grounding", GRAPH, makes_nothing("clew:Grounding", "clew:Concepts")),
    ("EdgeRetrieval", GRAPH, makes_nothing("clew:EdgeRetrieval", "clew:Edges")),
    ("EdgeSelection", GRAPH, makes_nothing("clew:EdgeSelection", "clew:SelectedEdges")),
)
MADE = (
    ("Relevance", DOCUMENTS, instead("clew:Grade", "clew:relevance", "'high'")),
    ("Answerability", DOCUMENTS, lacks("clew:Grade", "clew:answerability")),
    ("Route", DOCUMENTS, instead("clew:Decision", "clew:route", "'left'")),
    ("Status", DOCUMENTS, more("clew:Decision", "clew:status", "'partial'")),
    ("InToken", DOCUMENTS, instead("clew:Answer", "clew:inToken", "'many'")),
    ("OutToken", DOCUMENTS, more("clew:Answer", "clew:outToken", "99")),
    ("Evidence", DOCUMENTS, lacks("clew:Evidence", "prov:specializationOf")),
    ("Evidence", DOCUMENTS, instead("clew:Evidence", "clew:denseScore", "'0.87'")),
    ("Evidence", DOCUMENTS, lacks("prov:Collection", "prov:hadMember")),
    ("Rejected", DOCUMENTS, instead("clew:Rejected", "clew:reason", "'boring'")),
    ("Rejected", DOCUMENTS, lacks("clew:Rejected", "prov:wasGeneratedBy")),
    ("Grade", DOCUMENTS, instead("clew:Grade", "clew:confidence", "'1.5'^^xsd:double")),
    ("ChunkGrade", DOCUMENTS, lacks("clew:ChunkGrade", "prov:wasDerivedFrom")),
    ("Decision", DOCUMENTS, lacks("clew:Decision", "prov:wasDerivedFrom")),
    ("Plan", REWRITTEN, instead("clew:Plan", "clew:complexity", "'hard'")),
    ("Part", PEOPLE, lacks("clew:Part", "prov:value")),
    ("Rewrite", REWRITTEN, lacks("clew:Rewrite", "clew:method")),
    ("Join", PEOPLE, lacks("clew:Join", "clew:evidenceCount")),
    ("Limit", REWRITTEN, instead("clew:Limit", "clew:budget", "'money'")),
    ("Ticket", PEOPLE, instead("clew:Ticket", "clew:expiresAt", "'soon'")),
    ("Reply", PEOPLE, lacks("clew:Reply", "prov:wasAttributedTo")),
    ("Cancellation", "withdrawn", lacks("clew:Cancellation", "prov:wasAttributedTo")),
    ("Answer", DOCUMENTS, instead("clew:Answer", "clew:outcome", "'done'")),
    ("Answer", DOCUMENTS, more("clew:Answer", "clew:cites", "<urn:x>")),
    ("Citation", DOCUMENTS, lacks("clew:Citation", "prov:wasQuotedFrom")),
    ("Citation", DOCUMENTS, lacks("clew:Citation", "clew:quoteHash")),
    ("Claim", DOCUMENTS, lacks("clew:Claim", "clew:start")),
    ("Claim", DOCUMENTS, instead("clew:Claim", "clew:verdict", "'true'")),
    ("Claim", DOCUMENTS, lacks("clew:Answer", "clew:hasClaim")),
    ("Check", DOCUMENTS, instead("clew:Check", "clew:verdict", "'uncited'")),
    ("Choice", AGENT, lacks("clew:Choice", "clew:number")),
    ("Observation", AGENT, instead("clew:Observation", "clew:failed", "'no'")),
    ("Conclusion", AGENT, lacks("clew:Conclusion", "clew:termination")),
    ("Failure", "failing", lacks("clew:Failure", "clew:attempt")),
    ("Pattern", PLANNED, lacks("clew:Pattern", "prov:wasDerivedFrom")),
    ("AgentPlan", PLANNED, more("clew:AgentPlan", "clew:hasStep", "<urn:x>")),
    ("PlannedStep", PLANNED, lacks("clew:PlannedStep", "clew:number")),
    ("StepResult", PLANNED, lacks("clew:StepResult", "clew:goal")),
    ("Decomposition", SUPERVISED, more("clew:Decomposition", "clew:hasGoal", "'one'")),
    ("Goal", SUPERVISED, lacks("clew:Goal", "prov:value")),
    ("Finding", SUPERVISED, instead("clew:Finding", "clew:toolTrace", "'there'")),
    ("Concepts", GRAPH, more("clew:Concepts", "clew:concept", "<urn:x>")),
    ("Edges", GRAPH, lacks("clew:Edges", "clew:edgeCount")),
    ("SelectedEdges", GRAPH, lacks("clew:SelectedEdges", "prov:wasDerivedFrom")),
    ("SelectedEdge", GRAPH, instead("clew:SelectedEdge", "clew:score", "'good'")),
    ("SelectedEdge", GRAPH, lacks("clew:SelectedEdges", "prov:hadMember")),
)
CASES: tuple[tuple[str, str, str], ...] = (*PROV, *STEPS, *MADE)
