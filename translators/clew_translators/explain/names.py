"""The names of what our own graph tells of: entities and activities of a run, agents, and our terms.

Every name begins with the question's URI of its run, except the names of what outlives a run: chunks, documents and
agents. An entity and the activity that generated it never share a name (PROV-O: the classes are disjoint).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from clew_schema.facts import (
    AnswerWritten,
    Concluded,
    EvidenceGraded,
    EvidenceRetrieved,
    QuestionAsked,
    ToolChosen,
    ToolObserved,
)
from clew_translators import uris
from clew_translators.namespaces import CLEW

if TYPE_CHECKING:
    from clew_schema.facts import Fact

# --- classes of urn:clew:ns# ----------------------------------------------------------------------

RUN = CLEW + "Run"
QUESTION = CLEW + "Question"
RETRIEVAL = CLEW + "Retrieval"
EVIDENCE = CLEW + "Evidence"
GRADING = CLEW + "Grading"
GRADE = CLEW + "Grade"
DECISION = CLEW + "Decision"
WRITING = CLEW + "Writing"
ANSWER = CLEW + "Answer"
CITATION = CLEW + "Citation"
THINKING = CLEW + "Thinking"
CHOICE = CLEW + "Choice"
TOOL_USE = CLEW + "ToolUse"
OBSERVATION = CLEW + "Observation"
CONCLUDING = CLEW + "Concluding"
CONCLUSION = CLEW + "Conclusion"
FAILING = CLEW + "Failing"
FAILURE = CLEW + "Failure"

# --- predicates of urn:clew:ns# -------------------------------------------------------------------

COLLECTION = CLEW + "collection"
PARENT = CLEW + "parent"
QUERY = CLEW + "query"
MODE = CLEW + "mode"
TOP_K = CLEW + "topK"
CANDIDATE_COUNT = CLEW + "candidateCount"
DOCUMENT = CLEW + "document"
VERSION = CLEW + "version"
FILENAME = CLEW + "filename"
PAGE = CLEW + "page"
START = CLEW + "start"
END = CLEW + "end"
CONTENT_HASH = CLEW + "contentHash"
RANK = CLEW + "rank"
DENSE_RANK = CLEW + "denseRank"
DENSE_SCORE = CLEW + "denseScore"
BM25_RANK = CLEW + "bm25Rank"
BM25_SCORE = CLEW + "bm25Score"
FUSED_SCORE = CLEW + "fusedScore"
RERANK_SCORE = CLEW + "rerankScore"
RELEVANCE = CLEW + "relevance"
ANSWERABILITY = CLEW + "answerability"
AMBIGUITY = CLEW + "ambiguity"
SUGGESTED_ROUTE = CLEW + "suggestedRoute"
CONFIDENCE = CLEW + "confidence"
MISSING_SLOT = CLEW + "missingSlot"
REASON = CLEW + "reason"
ROUTE = CLEW + "route"
STATUS = CLEW + "status"
RESOLVED_BY = CLEW + "resolvedBy"
OUTCOME = CLEW + "outcome"
CITES = CLEW + "cites"
NUMBER = CLEW + "number"
IN_TOKEN = CLEW + "inToken"
OUT_TOKEN = CLEW + "outToken"
THOUGHT = CLEW + "thought"
FAILED = CLEW + "failed"
TOOL_TRACE = CLEW + "toolTrace"
TERMINATION = CLEW + "termination"
ERROR_TYPE = CLEW + "errorType"
MESSAGE = CLEW + "message"

# --- names of a run -------------------------------------------------------------------------------

# The URIs of RFC 3986, without user names and IP literals: what every RDF library takes for an IRI.
_CHARACTER = r"[A-Za-z0-9._~!$&'()*+,;=:@/?-]"
_AUTHORITY = r"//[A-Za-z0-9._~-]+(?::[0-9]*)?(?=[/?#]|$)"
_URI = re.compile(
    rf"[A-Za-z][A-Za-z0-9+.-]*:(?:{_AUTHORITY}|(?!//))(?:{_CHARACTER}|%[0-9A-Fa-f]{{2}})*"
    rf"(?:#(?:{_CHARACTER}|%[0-9A-Fa-f]{{2}})*)?"
)
_ESCAPE = re.compile(rf"(?!{_CHARACTER}|#|%[0-9A-Fa-f]{{2}}).", re.DOTALL)


def entity_of(fact: Fact, question: str) -> str:  # noqa: PLR0911 - one name per kind
    """The entity that ``fact`` is about: one name per kind, part, pass and iteration of a run."""
    match fact:
        case QuestionAsked():
            return question
        case EvidenceRetrieved():
            return exploration_of(question, fact.part, fact.pass_number)
        case EvidenceGraded():
            return f"{exploration_of(question, fact.part, fact.pass_number)}/grade"
        case AnswerWritten():
            return uris.synthesis_of(question)
        case ToolChosen() | ToolObserved():
            return uris.iteration_of(question, fact.number)
        case Concluded():
            return uris.final_of(question)
        case _:
            return f"{question}/failure"


def exploration_of(question: str, part: int, pass_number: int) -> str:
    """What one retrieval found. The question as a whole (part 0) has the seed's name."""
    return uris.exploration_of(f"{question}/part/{part}" if part else question, pass_number)


def evidence_of(exploration: str, place: int) -> str:
    """The chunk at ``place`` (from 1) of a retrieval, as it was retrieved."""
    return f"{exploration}/evidence/{place}"


def decision_of(exploration: str) -> str:
    """What was decided about a retrieval."""
    return f"{exploration}/decision"


def activity_of(entity: str) -> str:
    """The activity that generated ``entity``."""
    return f"{entity}/activity"


def service_of(name: str) -> str:
    """A service, as an agent."""
    return f"urn:clew:service:{quote(name, safe='')}"


def model_of(name: str) -> str:
    """A model, grader, writer or embedder, as an agent."""
    return f"urn:clew:model:{quote(name, safe='')}"


def chunk_of(chunk_id: str) -> str:
    """A chunk's IRI; an id that is none becomes ``urn:chunk:{id}``, percent-encoded."""
    return safe_iri(chunk_id) or uris.chunk_uri(quote(chunk_id, safe=""))


def document_of(document_id: str) -> str:
    """A document's IRI; an id that is none becomes ``urn:document:{id}``, percent-encoded."""
    return safe_iri(document_id) or f"urn:document:{quote(document_id, safe='')}"


def safe_iri(text: str) -> str:
    """``text`` as an IRI that no store refuses, percent-encoded where it must be; ``""`` when it names nothing.

    A caller's text comes this way into a trace, and one bad name would cost the run its whole batch.
    """
    escaped = _ESCAPE.sub(lambda found: quote(found.group(), safe=""), text)
    return escaped if _URI.fullmatch(escaped) else ""
