"""What breaks a shape, one case for each: the shape, a trace that conforms, and a SPARQL update that breaks it."""

SPEC: tuple[tuple[str, str, str], ...] = (
    # --- questions
    ("Question", "document-rag", "INSERT { ?s rdfs:label 'Q' } WHERE { ?s a tg:Question }"),
    ("QuestionType", "document-rag", "DELETE { ?s a prov:Activity } WHERE { ?s a tg:Question }"),
    ("QuestionType", "document-rag", "INSERT { ?s a prov:Entity } WHERE { ?s a tg:Question }"),
    (
        "DocRagQuestion",
        "tool-trace",
        "DELETE { ?s a tg:DocRagQuestion } INSERT { ?s a tg:GraphRagQuestion } WHERE { ?s a tg:Question }",
    ),
    (
        "GraphRagQuestion",
        "graph-rag",
        "DELETE { ?s a tg:GraphRagQuestion } INSERT { ?s a tg:AgentQuestion } WHERE { ?s a tg:Question }",
    ),
    (
        "AgentQuestion",
        "agent-others",
        "DELETE { ?s a tg:AgentQuestion } INSERT { ?s a tg:DocRagQuestion } WHERE { ?s a tg:Question }",
    ),
    ("Query", "agent", "DELETE { ?s tg:query ?o } WHERE { ?s tg:query ?o }"),
    ("Query", "agent", "DELETE { ?s tg:query ?o } INSERT { ?s tg:query 'q'@en } WHERE { ?s tg:query ?o }"),
    ("Query", "agent", "INSERT { ?s tg:query 'another' } WHERE { ?s tg:query ?o }"),
    (
        "StartedAt",
        "agent",
        ("DELETE { ?s ?p ?o } INSERT { ?s ?p '2026-03-01T09:00:00Z'^^xsd:dateTime }"
        " WHERE { ?s ?p ?o FILTER(?p = prov:startedAtTime) }"),
    ),
    (
        "StartedAt",
        "agent",
        "DELETE { ?s ?p ?o } INSERT { ?s ?p 'yesterday' } WHERE { ?s ?p ?o FILTER(?p = prov:startedAtTime) }",
    ),
    ("StartedBy", "tool-trace", "INSERT { ?s prov:wasStartedBy <urn:x> } WHERE { ?s prov:wasStartedBy ?o }"),
    ("StartedBy", "tool-trace", "INSERT { ?o a prov:Activity } WHERE { ?s prov:wasStartedBy ?o }"),
    ("InformedBy", "agent", "INSERT { ?s prov:wasInformedBy <urn:trustgraph:agent:a/i1> } WHERE { ?s a tg:Question }"),
    # --- questions to documents and graphs
    ("Exploration", "document-rag", "INSERT { ?s tg:edgeCount '3' } WHERE { ?s a tg:Exploration }"),
    ("Exploration", "document-rag", "DELETE { ?s tg:chunkCount ?o } WHERE { ?s tg:chunkCount ?o }"),
    ("Exploration", "document-rag", "INSERT { ?s tg:score '1.0' } WHERE { ?s a tg:Exploration }"),
    (
        "Exploration",
        "document-rag-two-passes",
        ("INSERT { <urn:trustgraph:docrag:two-passes/exploration/1> a prov:Entity, tg:Exploration ; tg:chunkCount '0' ;"
        " prov:wasGeneratedBy ?q } WHERE { ?q a tg:Question }"),
    ),
    ("ExplorationType", "document-rag", "DELETE { ?s a prov:Entity } WHERE { ?s a tg:Exploration }"),
    ("GeneratedByQuestion", "document-rag", "DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(?p = prov:wasGeneratedBy) }"),
    (
        "GeneratedByQuestion",
        "document-rag",
        ("INSERT { ?s prov:wasGeneratedBy <urn:trustgraph:docrag:b> . <urn:trustgraph:docrag:b> a prov:Activity,"
        " tg:Question, tg:DocRagQuestion ; tg:query 'b' ; prov:startedAtTime '2026-03-01T09:00:00Z' }"
        " WHERE { ?s a tg:Exploration }"),
    ),
    ("GeneratedByQuestion", "document-rag", "DELETE { ?s ?p ?o } WHERE { ?s a tg:Question ; ?p ?o }"),
    ("ChunkCount", "document-rag", "DELETE { ?s tg:chunkCount ?o } INSERT { ?s tg:chunkCount 5 } WHERE { ?s tg:chunkCount ?o }"),
    ("EdgeCount", "graph-rag", "DELETE { ?s tg:edgeCount ?o } INSERT { ?s tg:edgeCount '012' } WHERE { ?s tg:edgeCount ?o }"),
    ("SelectedChunk", "document-rag", "INSERT { ?s tg:selectedChunk 'chunk-id-1' } WHERE { ?s a tg:Exploration }"),
    ("Focus", "graph-rag", "INSERT { ?s tg:concept 'thread' } WHERE { ?s a tg:Focus }"),
    ("FocusType", "graph-rag", "INSERT { ?s a tg:Answer } WHERE { ?s a tg:Focus }"),
    ("DerivedFromExploration", "graph-rag", "DELETE { ?s prov:wasDerivedFrom ?o } WHERE { ?s a tg:Focus ; prov:wasDerivedFrom ?o }"),
    ("SelectedEdge", "graph-rag", "INSERT { ?s tg:selectedEdge 'an edge' } WHERE { ?s a tg:Focus }"),
    ("Edge", "graph-rag", "INSERT { ?s tg:score '0.9' } WHERE { ?s tg:reasoning ?o }"),
    ("Edge", "graph-rag", "DELETE { ?f tg:selectedEdge ?s } WHERE { ?f tg:selectedEdge ?s . ?s tg:reasoning ?o }"),
    ("QuotedTriple", "graph-rag", "DELETE { ?s rdf:object ?o } WHERE { ?s rdf:object ?o }"),
    ("Synthesis", "document-rag", "INSERT { ?s tg:document <urn:x> } WHERE { ?s a tg:Synthesis }"),
    ("SynthesisType", "document-rag", "INSERT { ?s a tg:Answer } WHERE { ?s a tg:Synthesis }"),
    ("Content", "document-rag", "DELETE { ?s tg:content ?o } WHERE { ?s tg:content ?o }"),
    ("DerivedFromGrounds", "document-rag", "DELETE { ?s prov:wasDerivedFrom ?o } WHERE { ?s a tg:Synthesis ; prov:wasDerivedFrom ?o }"),
    ("DerivedFromGrounds", "document-rag", "INSERT { ?s prov:wasDerivedFrom <urn:chunk:chunk-id-1> } WHERE { ?s a tg:Synthesis }"),
    # --- agents
    ("Analysis", "agent", "INSERT { ?s tg:toolCandidate 't' } WHERE { ?s a tg:Analysis }"),
    (
        "Analysis",
        "agent-others",
        ("INSERT { <urn:trustgraph:agent:others/i0> a prov:Entity, tg:Analysis ; tg:thought '' ; tg:action '' ;"
        " tg:arguments '{}' ; prov:wasDerivedFrom ?q } WHERE { ?q a tg:Question }"),
    ),
    ("AnalysisType", "agent", "INSERT { ?s a tg:ToolUse } WHERE { ?s a tg:Analysis }"),
    ("Thought", "agent", "DELETE { ?s tg:thought ?o } INSERT { ?s tg:thought <urn:x> } WHERE { ?s tg:thought ?o }"),
    ("Action", "agent", "DELETE { ?s tg:action ?o } WHERE { ?s tg:action ?o }"),
    ("Arguments", "agent", "DELETE { ?s tg:arguments ?o } INSERT { ?s tg:arguments 'x=1' } WHERE { ?s tg:arguments ?o }"),
    ("Observation", "agent", "INSERT { ?s tg:observation 'another' } WHERE { ?s tg:observation ?o }"),
    (
        "DerivedFromSteps",
        "agent",
        "DELETE { ?s prov:wasDerivedFrom ?o } WHERE { ?s a tg:Conclusion ; prov:wasDerivedFrom ?o }",
    ),
    (
        "DerivedFromQuestion",
        "agent-dag",
        ("DELETE { ?s prov:wasDerivedFrom ?q } INSERT { ?s prov:wasDerivedFrom <urn:trustgraph:agent:dag/i2> }"
        " WHERE { ?s a tg:Analysis ; prov:wasDerivedFrom ?q . ?q a tg:Question }"),
    ),
    ("Conclusion", "agent", "INSERT { ?s tg:terminationReason 'final-answer' } WHERE { ?s a tg:Conclusion }"),
    ("ConclusionType", "agent", "DELETE { ?s a prov:Entity } WHERE { ?s a tg:Conclusion }"),
    ("Answer", "agent", "INSERT { ?s tg:answer 'another' } WHERE { ?s tg:answer ?o }"),
    # --- nothing else
    ("Typed", "agent", "INSERT { <urn:trustgraph:agent:x/plan> a prov:Entity, tg:Plan } WHERE {}"),
    ("Told", "agent", "INSERT { <urn:trustgraph:agent:x/i1> tg:observation 'of nobody' } WHERE {}"),
)  # fmt: skip

TRUSTGRAPH: tuple[tuple[str, str, str], ...] = (
    ("Label", "graphrag", "DELETE { ?s rdfs:label ?o } WHERE { ?s a tg:Grounding ; rdfs:label ?o }"),
    ("Document", "agent_react_nosid", "INSERT { ?s tg:document 'text' } WHERE { ?s a tg:Thought }"),
    ("InToken", "graphrag", "DELETE { ?s tg:inToken ?o } INSERT { ?s tg:inToken 12 } WHERE { ?s tg:inToken ?o }"),
    ("OutToken", "graphrag", "INSERT { ?s tg:outToken '999' } WHERE { ?s tg:outToken ?o }"),
    ("LlmModel", "graphrag", "INSERT { ?s tg:llmModel 'm2' } WHERE { ?s tg:llmModel ?o }"),
    ("TerminationReason", "work", "INSERT { ?s tg:terminationReason 'tired' } WHERE { ?s a tg:Conclusion }"),
    ("Score", "docrag_rerank", "DELETE { ?s tg:score ?o } INSERT { ?s tg:score 'high' } WHERE { ?s tg:score ?o }"),
    ("Goal", "work", "DELETE { ?s tg:subagentGoal ?o } WHERE { ?s a tg:Finding ; tg:subagentGoal ?o }"),
    ("OneSource", "work", "INSERT { ?s prov:wasDerivedFrom ?q } WHERE { ?s a tg:StepResult . ?q a tg:Question }"),
    ("OneSourceAnywhere", "work", "DELETE { ?s prov:wasDerivedFrom ?o } WHERE { ?s a tg:Finding ; prov:wasDerivedFrom ?o }"),
    ("Question", "graphrag", "INSERT { ?s tg:content 'x' } WHERE { ?s a tg:Question }"),
    ("QuestionType", "graphrag", "INSERT { ?s a prov:Activity } WHERE { ?s a tg:Question }"),
    (
        "DocRagQuestion",
        "docrag_rerank",
        "DELETE { ?s rdfs:label ?o } INSERT { ?s rdfs:label 'Question' } WHERE { ?s a tg:Question ; rdfs:label ?o }",
    ),
    ("GraphRagQuestion", "graphrag", "DELETE { ?s a tg:GraphRagQuestion } INSERT { ?s a tg:AgentQuestion } WHERE { ?s a tg:Question }"),
    ("AgentQuestion", "work", "DELETE { ?s a tg:AgentQuestion } INSERT { ?s a tg:DocRagQuestion } WHERE { ?s a tg:Question }"),
    ("StartedAt", "graphrag", "DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(?p = prov:startedAtTime) }"),
    ("Query", "graphrag", "DELETE { ?s tg:query ?o } WHERE { ?s tg:query ?o }"),
    ("Asker", "graphrag", "INSERT { ?s prov:wasDerivedFrom <urn:another> } WHERE { ?s a tg:Question }"),
    ("Grounding", "graphrag", "INSERT { ?s tg:concept 'refund'@en } WHERE { ?s a tg:Grounding }"),
    ("Exploration", "docrag_rerank", "INSERT { ?s tg:entity <urn:x> } WHERE { ?s a tg:Exploration }"),
    ("ChunkCount", "docrag_rerank", "DELETE { ?s tg:chunkCount ?o } INSERT { ?s tg:chunkCount 'three' } WHERE { ?s tg:chunkCount ?o }"),
    ("EdgeCount", "graphrag", "INSERT { ?s tg:edgeCount '2' } WHERE { ?s tg:edgeCount ?o }"),
    ("Focus", "docrag_rerank", "DELETE { ?s rdfs:label ?o } INSERT { ?s rdfs:label 'Focus' } WHERE { ?s a tg:Focus ; rdfs:label ?o }"),
    ("EdgeSelection", "graphrag", "DELETE { ?s tg:edge ?o } WHERE { ?s tg:edge ?o }"),
    ("QuotedTriple", "graphrag", "DELETE { ?s rdf:subject ?o } WHERE { ?s rdf:subject ?o }"),
    ("ChunkSelection", "docrag_rerank", "DELETE { ?s tg:document ?o } WHERE { ?s a tg:ChunkSelection ; tg:document ?o }"),
    ("Synthesis", "docrag_rerank", "DELETE { ?s a tg:Answer } WHERE { ?s a tg:Synthesis }"),
    ("FromRetrieval", "docrag_rerank", "INSERT { ?s prov:wasDerivedFrom <urn:chunk:a> } WHERE { ?s a tg:Synthesis }"),
    ("FromWork", "work", "INSERT { ?s prov:wasDerivedFrom <urn:nowhere> } WHERE { ?s a tg:Synthesis }"),
    (
        "FromWhateverFailed",
        "work",
        ("DELETE { ?s tg:terminationReason ?o } INSERT { ?s prov:wasDerivedFrom <urn:nowhere> }"
        " WHERE { ?s a tg:Synthesis ; tg:terminationReason ?o }"),
    ),
    ("PatternDecision", "work", "DELETE { ?s tg:pattern ?o } WHERE { ?s tg:pattern ?o }"),
    ("Analysis", "agent_react_nosid", "DELETE { ?s a tg:ToolUse } WHERE { ?s a tg:Analysis }"),
    (
        "Analysis",
        "agent_react_nosid",
        ("DELETE { ?s prov:wasDerivedFrom ?q } INSERT { ?s prov:wasDerivedFrom <urn:x> }"
        " WHERE { ?s a tg:Analysis ; prov:wasDerivedFrom ?q . ?q a tg:Question }"),
    ),
    ("Action", "agent_react_nosid", "DELETE { ?s tg:action ?o } WHERE { ?s tg:action ?o }"),
    ("Arguments", "agent_react_nosid", "DELETE { ?s tg:arguments ?o } INSERT { ?s tg:arguments '' } WHERE { ?s tg:arguments ?o }"),
    ("StepNumber", "agent_react_nosid", "DELETE { ?s tg:stepNumber ?o } INSERT { ?s tg:stepNumber '0' } WHERE { ?s tg:stepNumber ?o }"),
    ("Thought", "agent_react_nosid", "INSERT { ?s a prov:Entity } WHERE { ?s a tg:Thought }"),
    ("Observation", "agent_react_nosid", "INSERT { ?s a tg:Error } WHERE { ?s a tg:Observation }"),
    ("Observation", "agent_react_nosid", "INSERT { ?s tg:toolError 'broken' } WHERE { ?s a tg:Observation }"),
    ("Conclusion", "agent_react_nosid", "INSERT { ?s tg:answer 'text' } WHERE { ?s a tg:Conclusion }"),
    ("Plan", "work", "DELETE { ?s rdfs:label ?o } INSERT { ?s rdfs:label 'A plan' } WHERE { ?s a tg:Plan ; rdfs:label ?o }"),
    ("StepResult", "work", "DELETE { ?s tg:planStep ?o } WHERE { ?s a tg:StepResult ; tg:planStep ?o }"),
    ("Decomposition", "work", "INSERT { ?s tg:subagentGoal 3 } WHERE { ?s a tg:Decomposition }"),
    ("Finding", "work", "DELETE { ?s a tg:Answer } WHERE { ?s a tg:Finding }"),
    ("Told", "graphrag", "INSERT { <urn:x> tg:score '1' } WHERE {}"),
    ("Told", "graphrag", "INSERT { ?s a tg:Synthesis } WHERE { ?s a tg:Grounding }"),
)  # fmt: skip

WORK = """
# From the reference's tables of entities and chains: an agent with a pattern, a plan, and others that it asked.
<urn:trustgraph:agent:P/pattern-decision> a prov:Entity, tg:PatternDecision ; rdfs:label "Pattern: supervisor" ;
    tg:pattern "supervisor" ; tg:taskType "general" ; prov:wasDerivedFrom <urn:trustgraph:agent:P> .
<urn:trustgraph:agent:P> a prov:Entity, tg:Question, tg:AgentQuestion ; rdfs:label "Agent Question" ;
    tg:query "Q?" ; prov:startedAtTime "2026-01-01T00:00:00Z" .
<urn:trustgraph:agent:P/plan> a prov:Entity, tg:Plan ; rdfs:label "Plan with 2 steps" ; tg:planStep "a", "b" ;
    prov:wasDerivedFrom <urn:trustgraph:agent:P/pattern-decision> ; tg:inToken "0" .
<urn:trustgraph:agent:P/step/0> a prov:Entity, tg:StepResult, tg:Answer ; rdfs:label "Step result: a" ; tg:planStep "a" ;
    prov:wasDerivedFrom <urn:trustgraph:agent:P/plan> ; tg:document <urn:trustgraph:agent:P/step/0/doc> .
<urn:trustgraph:agent:P/decompose> a prov:Entity, tg:Decomposition ; rdfs:label "Decomposed into 1 research threads" ;
    tg:subagentGoal "g" ; prov:wasDerivedFrom <urn:trustgraph:agent:P/pattern-decision> .
<urn:trustgraph:agent:P/finding/0> a prov:Entity, tg:Finding, tg:Answer ; rdfs:label "Finding: g" ; tg:subagentGoal "g" ;
    prov:wasDerivedFrom <urn:trustgraph:agent:sub/final> ; tg:document <urn:trustgraph:agent:P/finding/0/doc> .
<urn:trustgraph:agent:P/synthesis> a prov:Entity, tg:Synthesis, tg:Answer ; rdfs:label "Synthesis" ;
    prov:wasDerivedFrom <urn:trustgraph:agent:P/finding/0> ; tg:document <urn:trustgraph:agent:P/synthesis/doc> ;
    tg:terminationReason "subagents-complete" .
<urn:trustgraph:agent:P/final> a prov:Entity, tg:Conclusion, tg:Answer ; rdfs:label "Conclusion" ;
    prov:wasDerivedFrom <urn:trustgraph:agent:P/finding/0> .
"""
