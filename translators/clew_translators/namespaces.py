"""The vocabulary, once: every IRI of a namespace, class, predicate and named graph that a trace uses.

Terms are plain strings, so ``iri(TG_QUESTION)`` is a term and ``TG_QUESTION`` compares with ``term.iri``. A
constant is its namespace's prefix and the term's name in capitals: ``tg:inToken`` is ``TG_IN_TOKEN``.
Where a class and a predicate differ only in case, TrustGraph's short name is the predicate and the class
ends in ``_TYPE`` (``TG_ANSWER``, ``TG_ANSWER_TYPE``); in PROV, where the classes are what everybody uses, the
predicate ends in ``_PROPERTY``.
"""

from collections.abc import Mapping
from types import MappingProxyType

# --- namespaces -----------------------------------------------------------------------------------

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
XSD = "http://www.w3.org/2001/XMLSchema#"
PROV = "http://www.w3.org/ns/prov#"
DC = "http://purl.org/dc/elements/1.1/"
DCTERMS = "http://purl.org/dc/terms/"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SCHEMA = "https://schema.org/"
TG = "https://trustgraph.ai/ns/"
CLEW = "urn:clew:ns#"

PREFIXES: Mapping[str, str] = MappingProxyType(
    {
        "clew": CLEW,
        "dc": DC,
        "dcterms": DCTERMS,
        "prov": PROV,
        "rdf": RDF,
        "rdfs": RDFS,
        "schema": SCHEMA,
        "skos": SKOS,
        "tg": TG,
        "xsd": XSD,
    }
)
"""The prefixes that documents and exports use."""

# --- named graphs ---------------------------------------------------------------------------------

GRAPH_RETRIEVAL = "urn:graph:retrieval"
"""How answers came about, in the vocabulary of the seed's page and of TrustGraph."""

GRAPH_SOURCE = "urn:graph:source"
"""Where documents, pages and chunks came from."""

GRAPH_PROVENANCE = "urn:graph:provenance"
"""How answers came about, in conformant PROV-O."""

# --- rdf, rdfs, dc, xsd, schema, skos -------------------------------------------------------------

RDF_TYPE = RDF + "type"
RDF_LANG_STRING = RDF + "langString"
RDFS_LABEL = RDFS + "label"
RDFS_COMMENT = RDFS + "comment"

XSD_STRING = XSD + "string"
XSD_BOOLEAN = XSD + "boolean"
XSD_INTEGER = XSD + "integer"
XSD_DECIMAL = XSD + "decimal"
XSD_DOUBLE = XSD + "double"
XSD_DATE_TIME = XSD + "dateTime"

DC_TITLE = DC + "title"
DC_SOURCE = DC + "source"
DC_DATE = DC + "date"
DC_CREATOR = DC + "creator"

SCHEMA_NAME = SCHEMA + "name"
SCHEMA_DESCRIPTION = SCHEMA + "description"
SKOS_DEFINITION = SKOS + "definition"
SKOS_PREF_LABEL = SKOS + "prefLabel"

# --- PROV-O (https://www.w3.org/TR/prov-o/) -------------------------------------------------------

PROV_ENTITY = PROV + "Entity"
PROV_ACTIVITY = PROV + "Activity"
PROV_AGENT = PROV + "Agent"
PROV_PERSON = PROV + "Person"
PROV_SOFTWARE_AGENT = PROV + "SoftwareAgent"
PROV_PLAN = PROV + "Plan"
PROV_ASSOCIATION = PROV + "Association"
PROV_USAGE = PROV + "Usage"
PROV_DERIVATION = PROV + "Derivation"
PROV_BUNDLE = PROV + "Bundle"
PROV_WAS_DERIVED_FROM = PROV + "wasDerivedFrom"
PROV_WAS_GENERATED_BY = PROV + "wasGeneratedBy"
PROV_WAS_ASSOCIATED_WITH = PROV + "wasAssociatedWith"
PROV_WAS_ATTRIBUTED_TO = PROV + "wasAttributedTo"
PROV_WAS_INFORMED_BY = PROV + "wasInformedBy"
PROV_WAS_STARTED_BY = PROV + "wasStartedBy"
PROV_WAS_ENDED_BY = PROV + "wasEndedBy"
PROV_WAS_INVALIDATED_BY = PROV + "wasInvalidatedBy"
PROV_WAS_REVISION_OF = PROV + "wasRevisionOf"
PROV_WAS_QUOTED_FROM = PROV + "wasQuotedFrom"
PROV_HAD_PRIMARY_SOURCE = PROV + "hadPrimarySource"
PROV_HAD_PLAN = PROV + "hadPlan"
PROV_HAD_MEMBER = PROV + "hadMember"
PROV_HAD_ACTIVITY = PROV + "hadActivity"
PROV_SPECIALIZATION_OF = PROV + "specializationOf"
PROV_ALTERNATE_OF = PROV + "alternateOf"
PROV_ACTED_ON_BEHALF_OF = PROV + "actedOnBehalfOf"
PROV_USED = PROV + "used"
PROV_GENERATED = PROV + "generated"
PROV_INVALIDATED = PROV + "invalidated"
PROV_STARTED_AT_TIME = PROV + "startedAtTime"
PROV_ENDED_AT_TIME = PROV + "endedAtTime"
PROV_GENERATED_AT_TIME = PROV + "generatedAtTime"
PROV_INVALIDATED_AT_TIME = PROV + "invalidatedAtTime"
PROV_AT_TIME = PROV + "atTime"
PROV_VALUE = PROV + "value"
PROV_AT_LOCATION = PROV + "atLocation"
PROV_QUALIFIED_ASSOCIATION = PROV + "qualifiedAssociation"
PROV_QUALIFIED_USAGE = PROV + "qualifiedUsage"
PROV_QUALIFIED_DERIVATION = PROV + "qualifiedDerivation"
PROV_AGENT_PROPERTY = PROV + "agent"
PROV_ENTITY_PROPERTY = PROV + "entity"
PROV_ACTIVITY_PROPERTY = PROV + "activity"

# --- tg: what happened while a question was answered ----------------------------------------------

TG_QUESTION = TG + "Question"
TG_GRAPH_RAG_QUESTION = TG + "GraphRagQuestion"
TG_DOC_RAG_QUESTION = TG + "DocRagQuestion"
TG_AGENT_QUESTION = TG + "AgentQuestion"
TG_GROUNDING = TG + "Grounding"
TG_EXPLORATION = TG + "Exploration"
TG_FOCUS = TG + "Focus"
TG_EDGE_SELECTION = TG + "EdgeSelection"
TG_CHUNK_SELECTION = TG + "ChunkSelection"
TG_SYNTHESIS = TG + "Synthesis"
TG_ANSWER_TYPE = TG + "Answer"
TG_ANALYSIS = TG + "Analysis"
TG_TOOL_USE = TG + "ToolUse"
TG_REFLECTION = TG + "Reflection"
TG_THOUGHT_TYPE = TG + "Thought"
TG_OBSERVATION_TYPE = TG + "Observation"
TG_ERROR = TG + "Error"
TG_CONCLUSION = TG + "Conclusion"
TG_PATTERN_DECISION = TG + "PatternDecision"
TG_PLAN = TG + "Plan"
TG_STEP_RESULT = TG + "StepResult"
TG_DECOMPOSITION = TG + "Decomposition"
TG_FINDING = TG + "Finding"

# --- tg: documents and what was extracted from them -----------------------------------------------

TG_DOCUMENT_TYPE = TG + "Document"
TG_PAGE = TG + "Page"
TG_SECTION = TG + "Section"
TG_CHUNK = TG + "Chunk"
TG_IMAGE = TG + "Image"
TG_SUBGRAPH = TG + "Subgraph"

# --- tg: predicates of retrieval ------------------------------------------------------------------

TG_QUERY = TG + "query"
TG_CONCEPT = TG + "concept"
TG_ENTITY = TG + "entity"
TG_EDGE_COUNT = TG + "edgeCount"
TG_SELECTED_EDGE = TG + "selectedEdge"
TG_EDGE = TG + "edge"
TG_REASONING = TG + "reasoning"
TG_CHUNK_COUNT = TG + "chunkCount"
TG_SELECTED_CHUNK = TG + "selectedChunk"
TG_SCORE = TG + "score"
TG_DOCUMENT = TG + "document"
TG_CONTENT = TG + "content"

# --- tg: predicates of agents and models ----------------------------------------------------------
# The spec has texts as literals (thought, observation, answer); TrustGraph's code points to documents instead,
# so ``tg:thought`` has a literal in the one profile and an IRI in the other.

TG_THOUGHT = TG + "thought"
TG_ACTION = TG + "action"
TG_ARGUMENTS = TG + "arguments"
TG_OBSERVATION = TG + "observation"
TG_ANSWER = TG + "answer"
TG_TOOL_CANDIDATE = TG + "toolCandidate"
TG_STEP_NUMBER = TG + "stepNumber"
TG_LLM_DURATION_MS = TG + "llmDurationMs"
TG_TOOL_DURATION_MS = TG + "toolDurationMs"
TG_TOOL_ERROR = TG + "toolError"
TG_PATTERN = TG + "pattern"
TG_TASK_TYPE = TG + "taskType"
TG_PLAN_STEP = TG + "planStep"
TG_SUBAGENT_GOAL = TG + "subagentGoal"
TG_TERMINATION_REASON = TG + "terminationReason"
TG_IN_TOKEN = TG + "inToken"
TG_OUT_TOKEN = TG + "outToken"
TG_LLM_MODEL = TG + "llmModel"

# --- tg: predicates of extraction -----------------------------------------------------------------

TG_CONTAINS = TG + "contains"
TG_ONTOLOGY = TG + "ontology"
TG_PAGE_COUNT = TG + "pageCount"
TG_MIME_TYPE = TG + "mimeType"
TG_PAGE_NUMBER = TG + "pageNumber"
TG_CHUNK_INDEX = TG + "chunkIndex"
TG_CHAR_OFFSET = TG + "charOffset"
TG_CHAR_LENGTH = TG + "charLength"
TG_CHUNK_SIZE = TG + "chunkSize"
TG_CHUNK_OVERLAP = TG + "chunkOverlap"
TG_COMPONENT_VERSION = TG + "componentVersion"
TG_ELEMENT_TYPES = TG + "elementTypes"
TG_TABLE_COUNT = TG + "tableCount"
TG_IMAGE_COUNT = TG + "imageCount"
