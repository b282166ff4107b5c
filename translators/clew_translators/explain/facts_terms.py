"""The fields of a fact that its record leaves out, out of the terms that hold them (see ``record.ELSEWHERE``)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from clew_translators import namespaces as ns
from clew_translators.explain import names

if TYPE_CHECKING:
    from clew_translators.trace_quads import Quads

_Fields = dict[str, Any]


def fields_of(known: Quads, activity: str, entity: str, record: _Fields) -> _Fields:
    """What the terms of ``activity``, and of the ``entity`` that it made, hold of the fact with this ``record``.

    Raises KeyError, TypeError or ValueError for a record that does not fit them.
    """
    match record.get("kind"):
        case "question_asked":
            return {
                "query": known.text(f"{activity}/question", ns.PROV_VALUE),
                "traceparent": known.text(activity, names.TRACEPARENT),
            }
        case "evidence_retrieved":
            return {"query": known.text(activity, names.QUERY)} | _found(known, entity, record)
        case "evidence_graded":
            chunks = [
                _chunk_grade(known, names.chunk_grade_of(entity, place))
                for place in range(1, record.get("chunks", 0) + 1)
            ]
            return {"grade": record["grade"] | {"chunks": chunks}}
        case "answer_written":
            return {"text": _text(known, entity, ns.PROV_VALUE, ns.TG_CONTENT)} | _parts(
                known, entity, record
            )
        case "tool_chosen" | "tool_observed" | "concluded" as kind:
            return _of_iteration(known, entity, kind)
        case kind:
            return _of_plan(known, entity, kind, record) | _of_graph(known, entity, kind, record)


def _text(known: Quads, entity: str, ours: str, theirs: str, where: str = "") -> str:
    """A text as our graph holds it, or the page's: of the entity ``where``, if that is another."""
    return known.text(entity, ours) or known.text(where or entity, theirs)


def _found(known: Quads, entity: str, record: _Fields) -> _Fields:
    evidence = enumerate(record["evidence"], start=1)
    rejected = enumerate(record.get("rejected", ()), start=1)
    return {
        "evidence": [_evidence(known, names.evidence_of(entity, place), rest) for place, rest in evidence],
        "rejected": [_rejected(known, names.rejected_of(entity, place), rest) for place, rest in rejected],
    }


def _parts(known: Quads, entity: str, record: _Fields) -> _Fields:
    citations = enumerate(record["citations"], start=1)
    claims = enumerate(record.get("claims", ()), start=1)
    checks = range(1, record["checks"] + 1)
    return {
        "citations": [_citation(known, names.citation_of(entity, place), rest) for place, rest in citations],
        "claims": [_claim(known, names.claim_of(entity, place)) | rest for place, rest in claims],
        "checks": [_check(known, names.check_of(entity, place)) for place in checks],
    }


def _of_iteration(known: Quads, entity: str, kind: str) -> _Fields:
    match kind:
        case "tool_chosen":
            return {
                "thought": _text(known, entity, names.THOUGHT, ns.TG_THOUGHT),
                "action": _text(known, entity, names.ACTION, ns.TG_ACTION),
                "arguments": json.loads(_text(known, entity, names.ARGUMENTS, ns.TG_ARGUMENTS)),
            }
        case "tool_observed":  # the page's analysis holds what its tool said
            analysis = entity.rpartition("/")[0]
            return {
                "observation": _text(known, entity, ns.PROV_VALUE, ns.TG_OBSERVATION, analysis),
                "error": known.text(entity, names.MESSAGE),
            }
        case _:
            return {
                "answer": _text(known, entity, ns.PROV_VALUE, ns.TG_ANSWER),
                "thought": known.text(entity, names.THOUGHT),
            }


def _of_plan(known: Quads, entity: str, kind: object, record: _Fields) -> _Fields:
    match kind:
        case "plan_made":
            steps = range(1, record["steps"] + 1)
            return {
                "steps": [known.text(names.planned_step_of(entity, n), ns.PROV_VALUE) for n in steps],
            }
        case "question_decomposed":
            goals = range(1, record["goals"] + 1)
            return {"goals": [known.text(names.goal_of(entity, n), ns.PROV_VALUE) for n in goals]}
        case "plan_step_done" | "finding_received":
            result = "result" if kind == "plan_step_done" else "answer"
            return {
                "goal": known.text(entity, names.GOAL_TEXT),
                result: known.text(entity, ns.PROV_VALUE),
            }
        case _:
            return {}


def _of_graph(known: Quads, entity: str, kind: object, record: _Fields) -> _Fields:
    if kind != "edges_selected":
        return {}
    places = enumerate(record["edges"], start=1)
    return {"edges": [_edge(known, names.edge_of(entity, place)) | {"edge": edge} for place, edge in places]}


def _edge(known: Quads, name: str) -> _Fields:
    return {
        "concept": known.text(name, names.CONCEPT),
        "score": known.double(name, names.SCORE),
        "reasoning": known.text(name, names.REASON),
    }


def _chunk_grade(known: Quads, name: str) -> _Fields:
    return {
        "place": known.integer(name, names.NUMBER),
        "relevance": known.text(name, names.RELEVANCE),
        "reason": known.text(name, names.REASON),
    }


def _rejected(known: Quads, name: str, rest: _Fields) -> _Fields:
    return {
        "chunk_id": known.link(name, ns.PROV_SPECIALIZATION_OF),
        "reason": known.text(name, names.REASON),
        "document_id": known.link(name, names.DOCUMENT),
        "page": known.integer(name, names.PAGE) or 0,
        "rank": known.integer(name, names.RANK) or 0,
        "into": known.link(name, names.MERGED_INTO),
        **_scores(known, name),
        **rest,
    }


def _scores(known: Quads, name: str) -> _Fields:
    return {
        "dense_score": known.double(name, names.DENSE_SCORE),
        "bm25_score": known.double(name, names.BM25_SCORE),
        "fused_score": known.double(name, names.FUSED_SCORE),
        "rerank_score": known.double(name, names.RERANK_SCORE),
    }


def _claim(known: Quads, name: str) -> _Fields:
    return {
        "number": known.integer(name, names.NUMBER),
        "start": known.integer(name, names.START),
        "end": known.integer(name, names.END),
        "verdict": known.text(name, names.VERDICT),
    }


def _evidence(known: Quads, name: str, rest: _Fields) -> _Fields:
    return {
        "chunk_id": known.link(name, ns.PROV_SPECIALIZATION_OF),
        **_place(known, name),
        "text": known.text(name, ns.PROV_VALUE),
        "level": known.integer(name, names.LEVEL),
        "parent_id": known.link(name, names.PARENT_CHUNK),
        "merged_children": known.integer(name, names.MERGED_CHILDREN) or 0,
        "content_hash": known.text(name, names.CONTENT_HASH),
        "rank": known.integer(name, names.RANK),
        "dense_rank": known.integer(name, names.DENSE_RANK),
        "bm25_rank": known.integer(name, names.BM25_RANK),
        **_scores(known, name),
        **rest,
    }


def _citation(known: Quads, name: str, rest: _Fields) -> _Fields:
    return {
        "number": known.integer(name, names.NUMBER),
        "chunk_id": known.link(name, ns.PROV_WAS_QUOTED_FROM),
        **_place(known, name),
        "quote": known.text(name, ns.PROV_VALUE),
        **rest,
    }


def _place(known: Quads, name: str) -> _Fields:
    return {
        "document_id": known.link(name, names.DOCUMENT),
        "version": known.text(name, names.VERSION),
        "filename": known.text(name, names.FILENAME),
        "page": known.integer(name, names.PAGE) or 0,
        "start": known.integer(name, names.START),
        "end": known.integer(name, names.END),
    }


def _check(known: Quads, name: str) -> _Fields:
    quoted = known.text(name, names.QUOTED)
    return {
        "number": known.integer(name, names.NUMBER),
        "start": known.integer(name, names.START),
        "end": known.integer(name, names.END),
        "verdict": known.text(name, names.VERDICT),
        "lexical": known.double(name, names.LEXICAL),
        "similarity": known.double(name, names.SIMILARITY),
        "quoted": quoted == "true" if quoted else None,
        "better": known.integer(name, names.BETTER) or 0,
    }
