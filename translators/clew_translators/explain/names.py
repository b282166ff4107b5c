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
    BudgetExhausted,
    Concluded,
    EdgesRetrieved,
    EdgesSelected,
    EvidenceGraded,
    EvidenceRetrieved,
    FindingReceived,
    PartsJoined,
    PatternChosen,
    PlanMade,
    PlanStepDone,
    QueryRewritten,
    QuestionAsked,
    QuestionDecomposed,
    QuestionGrounded,
    QuestionPlanned,
    RunFailed,
    RunPaused,
    RunResumed,
    TicketCancelled,
    ToolChosen,
    ToolObserved,
)
from clew_translators import uris
from clew_translators.memo import remembered
from clew_translators.namespaces import CLEW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.facts import Fact

# --- classes of urn:clew:ns# ----------------------------------------------------------------------

RUN = CLEW + "Run"
QUESTION = CLEW + "Question"
PLANNING = CLEW + "Planning"
PLAN = CLEW + "Plan"
PART = CLEW + "Part"
RETRIEVAL = CLEW + "Retrieval"
EVIDENCE = CLEW + "Evidence"
GRADING = CLEW + "Grading"
GRADE = CLEW + "Grade"
DECISION = CLEW + "Decision"
REWRITING = CLEW + "Rewriting"
REWRITE = CLEW + "Rewrite"
JOINING = CLEW + "Joining"
JOIN = CLEW + "Join"
STOPPING = CLEW + "Stopping"
LIMIT = CLEW + "Limit"
PAUSING = CLEW + "Pausing"
TICKET = CLEW + "Ticket"
ANSWERING = CLEW + "Answering"
REPLY = CLEW + "Reply"
CANCELLING = CLEW + "Cancelling"
CANCELLATION = CLEW + "Cancellation"
WRITING = CLEW + "Writing"
ANSWER = CLEW + "Answer"
CITATION = CLEW + "Citation"
CHECK = CLEW + "Check"
THINKING = CLEW + "Thinking"
CHOICE = CLEW + "Choice"
TOOL_USE = CLEW + "ToolUse"
OBSERVATION = CLEW + "Observation"
CONCLUDING = CLEW + "Concluding"
CONCLUSION = CLEW + "Conclusion"
FAILING = CLEW + "Failing"
FAILURE = CLEW + "Failure"

# --- predicates of urn:clew:ns# -------------------------------------------------------------------

POSITION = CLEW + "position"
RECORD = CLEW + "record"
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
LEVEL = CLEW + "level"
PARENT_CHUNK = CLEW + "parentChunk"
MERGED_CHILDREN = CLEW + "mergedChildren"
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

PROMPT_VERSION = CLEW + "promptVersion"
COMPLEXITY = CLEW + "complexity"
DROPPED = CLEW + "dropped"
HAS_PART = CLEW + "hasPart"
ASKS = CLEW + "asks"
KEEPS = CLEW + "keeps"
EVIDENCE_COUNT = CLEW + "evidenceCount"
STAGE = CLEW + "stage"
METHOD = CLEW + "method"
OMITTED = CLEW + "omitted"
TRUNCATED = CLEW + "truncated"
BUDGET = CLEW + "budget"
SPENT = CLEW + "spent"
TICKET_ID = CLEW + "ticketId"
OPTION = CLEW + "option"
EXPIRES_AT = CLEW + "expiresAt"
HAS_CHECK = CLEW + "hasCheck"
VERDICT = CLEW + "verdict"
LEXICAL = CLEW + "lexical"
SIMILARITY = CLEW + "similarity"
QUOTED = CLEW + "quoted"
BETTER = CLEW + "better"
COVERAGE = CLEW + "coverage"
GAP = CLEW + "gap"

# --- names of a run -------------------------------------------------------------------------------

# The URIs of RFC 3986, without user names and IP literals: what every RDF library takes for an IRI.
_CHARACTER = r"[A-Za-z0-9._~!$&'()*+,;=:@/?-]"
_AUTHORITY = r"//[A-Za-z0-9._~-]+(?::[0-9]*)?(?=[/?#]|$)"
_URI = re.compile(
    rf"[A-Za-z][A-Za-z0-9+.-]*:(?:{_AUTHORITY}|(?!//))(?:{_CHARACTER}|%[0-9A-Fa-f]{{2}})*"
    rf"(?:#(?:{_CHARACTER}|%[0-9A-Fa-f]{{2}})*)?"
)
_ESCAPE = re.compile(rf"(?!{_CHARACTER}|#|%[0-9A-Fa-f]{{2}}).", re.DOTALL)


ANONYMOUS = "urn:clew:person:anonymous"
"""The person who answers a run that waits: nobody asks for a name, so all of them share this one."""


def entity_of(fact: Fact, question: str, trail: Sequence[Fact] = ()) -> str:  # noqa: C901, PLR0911, PLR0912 - a name per kind
    """The entity that ``fact`` is about: one name per kind, part, pass, round and iteration of a run.

    ``trail`` is what the run established before: what may happen more than once is numbered by it.
    """
    match fact:
        case QuestionAsked():
            return question
        case QuestionPlanned():
            return f"{question}/plan"
        case EvidenceRetrieved():
            return exploration_of(question, fact.part, fact.pass_number)
        case EvidenceGraded():
            return f"{exploration_of(question, fact.part, fact.pass_number)}/grade"
        case QueryRewritten():
            return f"{exploration_of(question, fact.part, fact.pass_number)}/rewrite"
        case PartsJoined():
            return f"{question}/joined/{_count(PartsJoined, trail)}"
        case BudgetExhausted():
            return f"{question}/limit/{_count(BudgetExhausted, trail)}"
        case RunPaused():
            return pause_of(question, fact.round)
        case RunResumed():
            return f"{_waiting(fact.ticket, question, trail)}/answer"
        case TicketCancelled():
            return f"{_waiting(fact.ticket, question, trail)}/cancellation"
        case AnswerWritten():
            return uris.synthesis_of(question)
        case ToolChosen() | ToolObserved():
            return uris.iteration_of(question, fact.number)
        case Concluded():
            return uris.final_of(question)
        case PatternChosen():
            return f"{question}/pattern-decision"
        case PlanMade():
            return f"{question}/plan"
        case PlanStepDone():
            return f"{question}/step/{fact.number - 1}"
        case QuestionDecomposed():
            return f"{question}/decompose"
        case FindingReceived():
            return f"{question}/finding/{fact.number - 1}"
        case QuestionGrounded():
            return uris.grounding_of(question)
        case EdgesRetrieved():
            return uris.exploration_of(question)
        case EdgesSelected():
            return uris.focus_of(question)
        case RunFailed():
            paused = max((earlier.round for earlier in trail if isinstance(earlier, RunPaused)), default=0)
            return f"{pause_of(question, paused) if paused else question}/failure"


def pause_of(question: str, round_: int) -> str:
    """What a person was asked in the ``round_``-th pause of a run, from 1."""
    return f"{question}/pause/{round_}"


def _waiting(ticket: str, question: str, trail: Sequence[Fact]) -> str:
    """The pause that ``ticket`` names; the first one of a run that was told of none."""
    rounds = [fact.round for fact in trail if isinstance(fact, RunPaused) and fact.ticket == ticket]
    return pause_of(question, rounds[-1] if rounds else 1)


def _count(kind: type[Fact], trail: Sequence[Fact]) -> int:
    return 1 + sum(isinstance(earlier, kind) for earlier in trail)


def part_of(question: str, number: int) -> str:
    """One of the questions that a question was taken apart into, from 1."""
    return f"{question}/part/{number}"


def exploration_of(question: str, part: int, pass_number: int) -> str:
    """What one retrieval found. The question as a whole (part 0) has the seed's name."""
    return uris.exploration_of(part_of(question, part) if part else question, pass_number)


def evidence_of(exploration: str, place: int) -> str:
    """The chunk at ``place`` (from 1) of a retrieval, as it was retrieved."""
    return f"{exploration}/evidence/{place}"


def decision_of(exploration: str) -> str:
    """What was decided about a retrieval."""
    return f"{exploration}/decision"


def citation_of(answer: str, place: int) -> str:
    """The citation at ``place`` (from 1) of an answer."""
    return f"{answer}/citation/{place}"


def check_of(answer: str, place: int) -> str:
    """The verdict at ``place`` (from 1) about an answer."""
    return f"{answer}/check/{place}"


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
    return _safe_iri(text)


def _made_safe(text: str) -> str:
    escaped = _ESCAPE.sub(lambda found: quote(found.group(), safe=""), text)
    return escaped if _URI.fullmatch(escaped) else ""


_safe_iri = remembered(_made_safe, entries=1024)  # a chunk and its document are named by several statements
