"""Retrieval: a question in, ranked evidence out. Used by every step that looks something up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from clew_schema.facts import Mode
from clew_schema.limits import CANDIDATE_MULTIPLIER, DOCUMENT_LIMIT, MERGE_THRESHOLD
from clew_services.core import merging, ranking, retrieving
from clew_services.core.candidates import pool
from clew_services.core.fusion import FUSIONS
from clew_services.core.merging import Merging
from clew_services.core.rejecting import rejections
from clew_services.core.retrieving import EMPTY_REPLY, Attempt, Plan, Reranking
from clew_services.errors import (
    EmbedderMismatch,
    EmptyCollection,
    ModelFailed,
    ModelRefused,
    ModelReplyInvalid,
    RetrievalFailed,
    UnknownCollection,
)
from clew_services.ports import Found

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew_schema.evidence import Evidence
    from clew_services.ports import (
        Catalog,
        CollectionInfo,
        Embedder,
        Hits,
        Reranker,
        Search,
        VectorStore,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How questions are looked up. The fields are those of the settings, with their meanings.

    ``candidate_k`` 0: ``doc_limit`` times ``candidate_multiplier``. ``fusion`` auto: by rank in mode strict, else
    by standardised scores. ``reranking`` is what is told of the reranker, and its least score.
    """

    mode: Mode = "improved"
    doc_limit: int = DOCUMENT_LIMIT
    candidate_k: int = 0
    candidate_multiplier: int = CANDIDATE_MULTIPLIER
    fusion: Literal["auto", "rrf", "zscore"] = "auto"
    merge: bool = True
    merge_threshold: int = MERGE_THRESHOLD
    reranking: Reranking = field(default_factory=Reranking)

    @property
    def fused_by(self) -> Literal["rrf", "zscore"]:
        """The fusion that is meant."""
        if self.fusion != "auto":
            return self.fusion
        return "rrf" if self.mode == "strict" else "zscore"

    def plan(self, doc_limit: int, fetch_limit: int, *, reranks: bool) -> Plan:
        """For one question; a limit of 0 is the default, ``fetch_limit`` goes before ``candidate_k``."""
        top_k = doc_limit or self.doc_limit
        configured = fetch_limit or self.candidate_k
        return Plan(
            mode=self.mode,
            top_k=top_k,
            pool=pool(
                top_k,
                configured=str(configured) if configured else None,
                multiplier=str(self.candidate_multiplier),
            ),
            fusion=self.fused_by,
            reranking=self.reranking,
            reranks=reranks,
            merge_enabled=self.merge,
            merge_threshold=self.merge_threshold,
        )


@runtime_checkable
class RepliesRaw(Protocol):
    """A reranker that also hands out its service's reply as it came: what mode strict reads, quirks included."""

    async def reply(self, question: str, passages: Sequence[str], limit: int) -> object:
        """The body of the reply. Raises as Reranker does."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRetriever:
    """The Retriever port over a catalog, a vector store and models.

    Both legs are asked, what no ready version of a document holds is left out, the rest is fused, merged into
    parents, reranked, cut to the limit and held against the least score. Without ``reranker`` the fused order stands;
    so it does when the reranker fails, which is told in ``Retrieval.rerank`` and is no failure of the
    retrieval. Only a store that has no BM25 leg is asked by meaning alone (``dense_fallback``).

    One question costs one call of the catalog, and at most two more when parents are looked up; raises StoreFailed
    when that does not answer, beside what the port says. In mode strict ``rank`` is the place before reranking,
    as SuperMew counts; each leg is asked for twice ``candidate_k``, of which ``candidate_k`` stay when fused.
    """

    catalog: Catalog
    vectors: VectorStore
    embedder: Embedder
    reranker: Reranker | None = None
    policy: Policy = Policy()
    _known: dict[str, CollectionInfo] = field(default_factory=dict)

    async def retrieve(
        self, collection: str, search: Search, *, doc_limit: int = 0, fetch_limit: int = 0
    ) -> Found:
        """The best pieces of evidence, at most ``doc_limit``."""
        info = await self._collection(collection)
        plan = self.policy.plan(doc_limit, fetch_limit, reranks=self.reranker is not None)
        hits = await self._hits(collection, search, plan)
        is_hybrid = hits.bm25 is not None
        serving = await self._serving(collection, hits)
        dense = _of_versions(hits.dense, serving)
        recalled = FUSIONS[self.policy.fused_by](
            dense, _of_versions(hits.bm25, serving) if hits.bm25 is not None else None
        )
        fused = recalled
        if self.policy.mode == "strict":
            recalled = recalled[: plan.pool.candidate_k]
        if not is_hybrid:
            plan = replace(plan, fusion="cosine")
        merged = await self._merged(collection, recalled, serving, plan)
        candidates = merged.candidates
        if self.policy.mode == "improved":
            candidates = merging.without_contained(candidates)
        attempt = await self._reranked(search.rerank, candidates, plan)
        ranked = retrieving.rank(plan, candidates, attempt)
        told = retrieving.succeeded(
            plan,
            "hybrid" if is_hybrid else "dense_fallback",
            recalled=len(recalled),
            merging=merged,
            given=len(candidates),
            ranked=ranked,
        )
        legs = ("dense", "bm25") if is_hybrid else ("dense",)
        told = told.model_copy(update={"embedder": info.embedder, "legs": legs} | _own_words(search))
        rejected = rejections(
            fused,
            merging=merged,
            candidates=candidates,
            returned=ranked.evidence,
            ranked_out=ranked.rejected,
            limit=plan.pool.candidate_k,
        )
        return Found(evidence=ranked.evidence, retrieval=told, rejected=rejected)

    async def _hits(self, collection: str, search: Search, plan: Plan) -> Hits:
        vector = await self.embedder.query(search.dense)
        each = plan.pool.candidate_k * (2 if plan.mode == "strict" else 1)
        try:
            return await self.vectors.search(collection, vector=vector, text=search.sparse, limit=each)
        except UnknownCollection as error:
            # The catalog knows it, so somebody took it away from the store: a fault there, and no news of the caller's.
            self._known.pop(collection, None)
            raise RetrievalFailed(
                f"the vector store holds nothing for collection {collection!r}, which the catalog knows: ingest again"
            ) from error

    async def _serving(self, collection: str, hits: Hits) -> Mapping[str, str]:
        """The ready version of each document that was hit: leaves of others may be in the store.

        Asked after the search, because a version is noted as building before its first leaf is written. Finding
        nothing that serves is EmptyCollection, or RetrievalFailed when the catalog knows of chunks: the dense leg
        finds something in any store that has them.
        """
        found = [*hits.dense, *(hits.bm25 or ())]
        documents = {each.document_id for each in found}
        serving = await self.catalog.serving(collection, documents) if found else {}
        if any(serving.get(each.document_id) == each.version for each in found):
            return serving
        ready = [each for each in await self.catalog.documents(collection) if each.state == "ready"]
        if not ready:
            raise EmptyCollection(f"collection {collection!r} holds no document: ingest one first")
        if any(each.chunks for each in ready):
            raise RetrievalFailed(
                f"the vector store finds no chunk of the {len(ready)} documents of collection {collection!r}: it is "
                "behind, or its data was lost; if this stays, ingest the documents again"
            )
        return serving

    async def _merged(
        self, collection: str, recalled: tuple[Evidence, ...], serving: Mapping[str, str], plan: Plan
    ) -> Merging:
        """Both passes. A parent of another version than the one that serves is none."""
        state = Merging(candidates=recalled)
        for _ in range(merging.PASSES if plan.merge_enabled else 0):
            needed = merging.needed_parents(state.candidates, plan.merge_threshold)
            if not needed:
                break
            found = merging.families(state.candidates)
            parents = {
                key: parent.evidence
                for key, parent in (await self.catalog.parents(collection, needed)).items()
                if serving.get(parent.evidence.document_id) == parent.evidence.version
                and (plan.mode == "strict" or merging.is_most(found[key], parent.children))
            }
            after = merging.merge(state, parents, plan.merge_threshold)
            if after is state:
                break
            state = after
        return state

    async def _reranked(self, question: str, candidates: tuple[Evidence, ...], plan: Plan) -> Attempt | None:
        """What the reranker says; its failure is told, not raised."""
        if self.reranker is None or not candidates:
            return None
        passages = [each.text for each in candidates]
        try:
            if plan.mode == "strict" and isinstance(self.reranker, RepliesRaw):
                body = await self.reranker.reply(question, passages, min(plan.top_k, len(passages)))
                lines = ranking.read_rerank(body, len(passages))
            else:
                scores = await self.reranker.scores(question, passages)
                lines = ranking.by_rerank(scores, len(passages))
        except (ModelFailed, ModelRefused, ModelReplyInvalid) as error:
            return Attempt(error=str(error), error_code=error.type)
        if not lines:
            return Attempt(error=EMPTY_REPLY, error_code=ModelReplyInvalid.type)
        return Attempt(lines=lines)

    async def _collection(self, name: str) -> CollectionInfo:
        """The collection; known ones are remembered, unknown ones are asked for every time."""
        info = self._known.get(name)
        if info is None:
            info = await self.catalog.collection(name)
            if info is None:
                raise UnknownCollection(f"there is no collection {name!r}: ingest documents into it first")
            await self.vectors.ensure(info)
            self._known[name] = info
        if info.embedder != self.embedder.name:
            raise EmbedderMismatch(
                f"collection {name!r} was made with {info.embedder}, this service embeds with "
                f"{self.embedder.name}: use the same embedder, or ingest into another collection"
            )
        return info


def _own_words(search: Search) -> dict[str, str]:
    """What the legs and the reranker were asked, where that is not the question."""
    asked = {"dense": search.dense, "sparse": search.sparse, "rerank": search.rerank}
    return {f"{name}_query": words for name, words in asked.items() if words != search.question}


def _of_versions(found: Sequence[Evidence], serving: Mapping[str, str]) -> list[Evidence]:
    return [each for each in found if serving.get(each.document_id) == each.version]
