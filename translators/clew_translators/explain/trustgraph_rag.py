"""What TrustGraph 2.11 says of questions to documents and graphs, in its order (reference 3.2).

Every function tells one entity, with the selections that belong to it. See
:mod:`clew_translators.explain.trustgraph_agent` for what is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clew_schema.rdf import Term, Triple, iri
from clew_translators import namespaces as ns
from clew_translators import uris
from clew_translators.explain import trustgraph_agent as agent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from clew_translators.explain.statements import Statements


def question(
    say: Statements,
    question_uri: str,
    query: str,
    timestamp: str | None = None,
    parent_uri: str | None = None,
) -> None:
    """A question to a knowledge graph."""
    agent.question(
        say,
        question_uri,
        ns.TG_GRAPH_RAG_QUESTION,
        "GraphRAG Question",
        query,
        timestamp=timestamp,
        parent_uri=parent_uri,
    )


def docrag_question(
    say: Statements,
    question_uri: str,
    query: str,
    timestamp: str | None = None,
    parent_uri: str | None = None,
) -> None:
    """A question to documents."""
    agent.question(
        say,
        question_uri,
        ns.TG_DOC_RAG_QUESTION,
        "DocumentRAG Question",
        query,
        timestamp=timestamp,
        parent_uri=parent_uri,
    )


def grounding(
    say: Statements,
    grounding_uri: str,
    question_uri: str,
    concepts: Iterable[str],
    in_token: int | None = None,
    *,
    out_token: int | None = None,
    model: str | None = None,
) -> None:
    """What the question is about."""
    say.about(grounding_uri, ns.PROV_ENTITY, ns.TG_GROUNDING)
    say.plain(ns.RDFS_LABEL, "Grounding")
    say.link(ns.PROV_WAS_DERIVED_FROM, question_uri)
    for concept in concepts:
        say.plain(ns.TG_CONCEPT, concept)
    agent.tokens(say, in_token, out_token, model)


def exploration(
    say: Statements,
    exploration_uri: str,
    grounding_uri: str,
    edge_count: int,
    entities: Iterable[str] | None = None,
) -> None:
    """The edges that were found, as a count, and the entities around which they lie."""
    _exploration(say, exploration_uri, grounding_uri, ns.TG_EDGE_COUNT, edge_count)
    for entity in entities or ():
        say.link(ns.TG_ENTITY, entity)


def docrag_exploration(
    say: Statements,
    exploration_uri: str,
    grounding_uri: str,
    chunk_count: int,
    chunk_ids: Iterable[str] | None = None,
) -> None:
    """The chunks that were found."""
    _exploration(say, exploration_uri, grounding_uri, ns.TG_CHUNK_COUNT, chunk_count)
    for chunk in chunk_ids or ():
        say.link(ns.TG_SELECTED_CHUNK, chunk)


def _exploration(say: Statements, uri: str, grounding_uri: str, counts: str, count: int) -> None:
    say.about(uri, ns.PROV_ENTITY, ns.TG_EXPLORATION)
    say.plain(ns.RDFS_LABEL, "Exploration")
    say.link(ns.PROV_WAS_DERIVED_FROM, grounding_uri)
    say.plain(counts, str(count))


def focus(
    say: Statements,
    focus_uri: str,
    exploration_uri: str,
    selected_edges_with_reasoning: Sequence[Mapping[str, Any]],
    session_id: str = "",
    *,
    in_token: int | None = None,
    out_token: int | None = None,
    model: str | None = None,
) -> None:
    """The edges that were chosen, each with ``edge`` (subject, predicate, object: terms or IRIs).

    ``concept``, ``score`` and ``reasoning`` of each are optional. One without an edge keeps its number.
    """
    _focus(say, focus_uri, exploration_uri, "Focus")
    for index, chosen in enumerate(selected_edges_with_reasoning):
        if chosen.get("edge"):
            uri = uris.edge_selection_uri(session_id, index)
            say.link(ns.TG_SELECTED_EDGE, uri)
            say.about(uri, ns.TG_EDGE_SELECTION)
            say.quote(ns.TG_EDGE, _edge(*chosen["edge"]))
            say.text(ns.TG_CONCEPT, chosen.get("concept") or "")
            agent.number(say, ns.TG_SCORE, chosen.get("score"))
            say.text(ns.TG_REASONING, chosen.get("reasoning") or "")
            say.about(focus_uri)
    agent.tokens(say, in_token, out_token, model)


def _edge(subject: str | Term, predicate: str | Term, object_: str | Term) -> Triple:
    s, p, o = (iri(each) if isinstance(each, str) else each for each in (subject, predicate, object_))
    return Triple(s=s, p=p, o=o)


def docrag_chunk_selection(
    say: Statements,
    focus_uri: str,
    exploration_uri: str,
    selected_chunks_with_scores: Sequence[Mapping[str, Any]],
    session_id: str = "",
    *,
    under_focus: bool = False,
) -> None:
    """The chunks that were chosen, each with ``chunk_id`` and optionally ``score``. One without an id keeps its number.

    TrustGraph names the selections after the session, for it selects once; ``under_focus`` names them after the focus.
    """
    _focus(say, focus_uri, exploration_uri, "Chunk Selection")
    # Encoding a session costs more than a statement.
    prefix = f"{focus_uri}/" if under_focus else uris.chunk_selection_uri(session_id, 0).removesuffix("0")
    for index, chosen in enumerate(selected_chunks_with_scores):
        if chosen.get("chunk_id"):
            uri = f"{prefix}{index}"
            say.link(ns.TG_SELECTED_CHUNK, uri)
            say.about(uri, ns.TG_CHUNK_SELECTION)
            say.link(ns.TG_DOCUMENT, chosen["chunk_id"])
            agent.number(say, ns.TG_SCORE, chosen.get("score"))
            say.about(focus_uri)


def _focus(say: Statements, uri: str, exploration_uri: str, label: str) -> None:
    say.about(uri, ns.PROV_ENTITY, ns.TG_FOCUS)
    say.plain(ns.RDFS_LABEL, label)
    say.link(ns.PROV_WAS_DERIVED_FROM, exploration_uri)


def synthesis(
    say: Statements,
    synthesis_uri: str,
    focus_uri: str,
    document_id: str | None = None,
    in_token: int | None = None,
    *,
    out_token: int | None = None,
    model: str | None = None,
) -> None:
    """The answer to a question to a graph."""
    agent.synthesis(
        say,
        synthesis_uri,
        focus_uri,
        document_id,
        in_token=in_token,
        out_token=out_token,
        model=model,
    )


def docrag_synthesis(
    say: Statements,
    synthesis_uri: str,
    exploration_uri: str,
    document_id: str | None = None,
    in_token: int | None = None,
    *,
    out_token: int | None = None,
    model: str | None = None,
) -> None:
    """The answer to a question to documents; ``exploration_uri`` is the focus, where there is one."""
    agent.synthesis(
        say,
        synthesis_uri,
        exploration_uri,
        document_id,
        in_token=in_token,
        out_token=out_token,
        model=model,
    )
