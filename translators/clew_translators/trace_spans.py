"""The leaves of a trace: which pieces of which documents a step retrieved, selected or quoted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clew_translators import namespaces as ns
from clew_translators.explain import names
from clew_translators.trace_tree import Check, Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew_translators.trace_quads import Quads


def spans_of(known: Quads, step: str) -> tuple[Span, ...]:
    """What ``step`` cites, else the evidence it found, else the chunks it selected (TrustGraph tells no more)."""
    if cited := known.links(step, names.CITES):
        checks = known.links(step, names.HAS_CHECK)
        return _by_number(_checked(known, _described(known, uri, names.NUMBER), checks) for uri in cited)
    if found := known.links(step, ns.PROV_HAD_MEMBER):
        return _by_number(_described(known, uri, names.RANK) for uri in found)
    return tuple(_selected(known, uri) for uri in known.links(step, ns.TG_SELECTED_CHUNK))


def _checked(known: Quads, span: Span, checks: Iterable[str]) -> Span:
    """``span`` with the verdicts about its number."""
    found = tuple(
        Check(
            verdict=known.text(uri, names.VERDICT),
            start=known.integer(uri, names.START) or 0,
            end=known.integer(uri, names.END) or 0,
            lexical=known.double(uri, names.LEXICAL),
            similarity=known.double(uri, names.SIMILARITY),
            better=known.integer(uri, names.BETTER) or 0,
        )
        for uri in checks
        if known.integer(uri, names.NUMBER) == span.number
    )
    return replace(span, checks=found)


def _by_number(spans: Iterable[Span]) -> tuple[Span, ...]:
    return tuple(sorted(spans, key=lambda span: span.number))  # stable: names decide among equals


def _described(known: Quads, uri: str, number: str) -> Span:
    """A span of ours. Evidence is a chunk in one retrieval, a citation is quoted from one."""
    return Span(
        uri=uri,
        chunk=known.link(uri, ns.PROV_SPECIALIZATION_OF) or known.link(uri, ns.PROV_WAS_QUOTED_FROM),
        number=known.integer(uri, number) or 0,
        document=known.link(uri, names.DOCUMENT),
        version=known.text(uri, names.VERSION),
        filename=known.text(uri, names.FILENAME),
        page=known.integer(uri, names.PAGE) or 0,
        start=known.integer(uri, names.START) or 0,
        end=known.integer(uri, names.END) or 0,
        text=known.text(uri, ns.PROV_VALUE),
        content_hash=known.text(uri, names.CONTENT_HASH),
        dense_rank=known.integer(uri, names.DENSE_RANK),
        dense_score=known.double(uri, names.DENSE_SCORE),
        bm25_rank=known.integer(uri, names.BM25_RANK),
        bm25_score=known.double(uri, names.BM25_SCORE),
        fused_score=known.double(uri, names.FUSED_SCORE),
        rerank_score=known.double(uri, names.RERANK_SCORE),
    )


def _selected(known: Quads, uri: str) -> Span:
    """A chunk, or TrustGraph's selection of one with the reranker's score."""
    chunk = known.link(uri, ns.TG_DOCUMENT) or uri
    return Span(uri=uri, chunk=chunk, rerank_score=known.double(uri, ns.TG_SCORE))
