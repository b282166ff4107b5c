"""SuperMew's vectors, and what their shorthand means: chunks as texts, `$R` as a retrieval's figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from clew_schema.evidence import Evidence
from clew_services.errors import ModelRefused, ModelReplyInvalid
from clew_translators.refusal import NotThisMessage

FILE = Path(__file__).parent.parent / "data" / "supermew" / "vectors.json"
DOCUMENT = json.loads(FILE.read_text(encoding="utf-8"))
VECTORS: list[dict[str, Any]] = DOCUMENT["vectors"]

ERRORS: dict[str, tuple[type[Exception], ...]] = {
    "ValidationError": (ValidationError, NotThisMessage, ModelReplyInvalid),
    "ValueError": (ModelReplyInvalid,),
    "RuntimeError": (ModelRefused,),
}
"""What our functions raise where SuperMew's raised an exception of that name."""


def figures(count: int) -> dict[str, Any]:
    """What the stub retrieval reports of `count` documents."""
    fields = DOCUMENT["R_macro"]["fields_for_n"]
    meaning = {"n": count, "n==0": count == 0}
    return {
        name: meaning.get(value, value) if isinstance(value, str) else value for name, value in fields.items()
    }


def evidence(doc: dict[str, Any]) -> Evidence:
    return Evidence(
        chunk_id=doc.get("chunk_id") or "",
        filename=doc.get("filename") or "",
        page=doc.get("page_number") or 0,
        text=doc.get("text") or "",
        fused_score=doc.get("score"),
        rank=doc.get("rrf_rank") or 0,
        rerank_score=doc.get("rerank_score"),
    )


def shorthand(trace: dict[str, Any]) -> dict[str, Any]:
    """The trace with each chunk as the vectors write it: text#rank, and @score of the reranker."""

    def short(chunk: dict[str, Any]) -> str:
        score = chunk.get("rerank_score")
        return f"{chunk['text']}#{chunk['rrf_rank']}" + ("" if score is None else f"@{score:g}")

    return {
        name: [short(each) for each in value]
        if name.endswith("retrieved_chunks")
        else [shorthand(each) for each in value]
        if name == "sub_traces"
        else value
        for name, value in trace.items()
    }


def longhand(trace: dict[str, Any]) -> dict[str, Any]:
    """The expected trace with `$R` written out, in it and in its parts."""
    written = {name: value for name, value in trace.items() if name not in {"$R", "sub_traces"}}
    if "$R" in trace:
        written |= figures(trace["$R"])
    if "sub_traces" in trace:
        written["sub_traces"] = [longhand(part) for part in trace["sub_traces"]]
    return written
