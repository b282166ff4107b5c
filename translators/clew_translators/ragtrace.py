"""RAGTrace: SuperMew's record of how an answer was found, in exactly its 59 fields.

:func:`normalise` is the form in which a trace is stored and handed out: known fields only, evidence reduced
to six of them, types checked, nulls left out, the fields in the order of the schema.
:mod:`clew_translators.ragtrace_steps` makes a trace out of the steps of a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from clew_translators.ragtrace_fields import CHUNK_FIELDS, CHUNK_LISTS, RagSubTrace, RagTrace
from clew_translators.refusal import NotThisMessage

if TYPE_CHECKING:
    from clew_schema.evidence import Evidence

Trace = dict[str, Any]


def normalise(trace: object) -> Trace | None:
    """The trace as it is stored; null for what is no trace at all, ``{}`` for one without a known field.

    A list of evidence or of sub-traces that is no list becomes an empty one, also when it is null. Raises
    NotThisMessage, naming the field, for a value of a wrong type.
    """
    return _normalised(trace, RagTrace)


def normalise_part(trace: object) -> Trace | None:
    """The same for the trace of a part: 58 fields, no traces of further parts in it."""
    return _normalised(trace, RagSubTrace)


def envelope(trace: object, resume_state: Mapping[str, Any] | None = None) -> Trace | None:
    """The stored trace with the snapshot of a pause beside it; null when there is nothing to store."""
    stored = normalise(trace)
    if not stored:
        return None
    return {"rag_trace": stored} | ({"hitl_resume_state": dict(resume_state)} if resume_state else {})


def chunk(evidence: Evidence) -> Trace:
    """The six fields of a piece of evidence; its score is the fused one, else that of the dense leg."""
    return {
        "filename": evidence.filename,
        "page_number": evidence.page,
        "text": evidence.text,
        "score": evidence.dense_score if evidence.fused_score is None else evidence.fused_score,
        "rrf_rank": evidence.rank,
        "rerank_score": evidence.rerank_score,
    }


def _normalised(trace: object, model: type[RagSubTrace]) -> Trace | None:
    if not isinstance(trace, dict) or not trace:
        return None
    kept = {name: trace[name] for name in model.model_fields if name in trace}
    for name in CHUNK_LISTS:
        if name in kept:
            kept[name] = _chunks(kept[name])
    if "sub_traces" in kept:
        kept["sub_traces"] = _sub_traces(kept["sub_traces"])
    try:
        return model.model_validate(kept).model_dump(exclude_none=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise NotThisMessage(model.__name__, ".".join(map(str, first["loc"])), first["msg"]) from error


def _chunks(value: object) -> list[Trace]:
    """Evidence without a filename cannot be shown, so it is left out."""
    return [
        {name: item[name] for name in CHUNK_FIELDS if name in item}
        for item in (value if isinstance(value, list) else [])
        if isinstance(item, dict) and item.get("filename")
    ]


def _sub_traces(value: object) -> list[Trace]:
    parts = map(normalise_part, value if isinstance(value, list) else [])
    return [part for part in parts if part is not None]
