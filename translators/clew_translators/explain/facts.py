"""Facts out of triples: the inverse of :func:`clew_translators.explain.tell`.

Every activity of a run carries the record of its fact (:mod:`clew_translators.explain.record`) and its place among the
facts. What a record leaves out is read from the terms that hold it. The order of the quads does not matter.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from clew_schema.facts import Fact
from clew_translators import namespaces as ns
from clew_translators.explain import names
from clew_translators.trace import TraceUnreadable
from clew_translators.trace_quads import Quads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew_schema.rdf import Triple

_FACT: TypeAdapter[Fact] = TypeAdapter(Fact)
_Fields = dict[str, Any]


class FactsUnreadable(TraceUnreadable):
    """These quads do not hold the facts of a run."""


def facts_of(quads: Iterable[Triple]) -> tuple[Fact, ...]:
    """The facts that ``quads``, all of one run, tell of, in the order in which they were established.

    Of a run that is not told to its end, the facts so far. A fact that was told twice (a step that failed was tried
    again and began anew) comes once. Raises FactsUnreadable for quads without a record: another system's trace, one
    of a Clew that kept none, or the retrieval graph alone; and for a record that does not fit its terms.
    """
    known = Quads(quads)
    found = [
        (known.integer(activity, names.POSITION) or 0, record.get("kind") != "run_failed", activity, record)
        for activity in known.subjects
        for record in _records(known, activity)
    ]
    if not found:
        msg = (
            "no record of a fact among these quads: give all quads of one run of Clew,"
            " its graph urn:graph:provenance included"
        )
        raise FactsUnreadable(msg)
    # Whoever fails and is tried again stands where the step stands that succeeded later: the failure was before.
    found.sort(key=lambda one: (*one[:2], str(one[3].get("started_at", "")), one[2]))
    return tuple(_fact(known, activity, record) for _, _, activity, record in found)


def _records(known: Quads, activity: str) -> list[_Fields]:
    """The records on ``activity``: one, or that of each failure at the same place of a run."""
    records = [_read(activity, text) for text in known.texts(activity, names.RECORD)]
    return records if all(record.get("kind") == "run_failed" for record in records) else records[:1]


def _read(activity: str, text: str) -> _Fields:
    try:
        record = json.loads(text)
    except ValueError as error:
        raise FactsUnreadable(f"the record of {activity} is no JSON: {error}") from error
    if not isinstance(record, dict):
        raise FactsUnreadable(f"the record of {activity} is no JSON object")
    return record


def _fact(known: Quads, activity: str, record: _Fields) -> Fact:
    entity = activity.removesuffix("/activity")
    try:
        return _FACT.validate_json(json.dumps(record | _elsewhere(known, activity, entity, record)))
    except (KeyError, TypeError, ValueError) as error:
        raise FactsUnreadable(
            f"the record of {activity} does not fit what is told with it: {error!r}"
        ) from error


def _elsewhere(known: Quads, activity: str, entity: str, record: _Fields) -> _Fields:
    """What the terms hold: the fields of :data:`clew_translators.explain.record.ELSEWHERE`."""
    match record.get("kind"):
        case "question_asked":
            return {"query": known.text(f"{activity}/question", ns.PROV_VALUE)}
        case "evidence_retrieved":
            rests = enumerate(record["evidence"], start=1)
            return {
                "query": known.text(activity, names.QUERY),
                "evidence": [
                    _evidence(known, names.evidence_of(entity, place), rest) for place, rest in rests
                ],
            }
        case "answer_written":
            rests = enumerate(record["citations"], start=1)
            return {
                "text": known.text(entity, ns.TG_CONTENT),
                "citations": [
                    _citation(known, names.citation_of(entity, place), rest) for place, rest in rests
                ],
                "checks": [
                    _check(known, names.check_of(entity, place)) for place in range(1, record["checks"] + 1)
                ],
            }
        case kind:
            return _of_agent(known, entity, kind)


def _of_agent(known: Quads, entity: str, kind: object) -> _Fields:
    match kind:
        case "tool_chosen":
            return {
                "thought": known.text(entity, ns.TG_THOUGHT),
                "action": known.text(entity, ns.TG_ACTION),
                "arguments": json.loads(known.text(entity, ns.TG_ARGUMENTS)),
            }
        case "tool_observed":  # the page's analysis holds what its tool said
            return {"observation": known.text(entity.rpartition("/")[0], ns.TG_OBSERVATION)}
        case "concluded":
            return {
                "answer": known.text(entity, ns.TG_ANSWER),
                "thought": known.text(entity, names.THOUGHT),
            }
        case _:
            return {}


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
        "dense_score": known.double(name, names.DENSE_SCORE),
        "bm25_rank": known.integer(name, names.BM25_RANK),
        "bm25_score": known.double(name, names.BM25_SCORE),
        "fused_score": known.double(name, names.FUSED_SCORE),
        "rerank_score": known.double(name, names.RERANK_SCORE),
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
