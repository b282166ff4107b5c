"""How Clew's leaves lie in Milvus: names of collections, fields, indexes, and rows to Evidence and back."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from clew_schema.evidence import Evidence
from clew_services.core.stopwords import STOP_WORDS
from clew_services.ports import CollectionInfo, Leaf

if TYPE_CHECKING:
    from pymilvus import CollectionSchema, MilvusClient
    from pymilvus.milvus_client.index import IndexParams

DENSE: Final = "dense"
SPARSE: Final = "sparse"

# milvus-lite accepts any name of an index, and cannot load the collection after its next start: so a closed list.
DENSE_INDEXES: Final[Mapping[str, Mapping[str, int]]] = {
    "HNSW": {"M": 16, "efConstruction": 200},
    "IVF_FLAT": {"nlist": 256},
}

PROPERTY: Final = "clew.collection"
"""The property of a Milvus collection that holds what ``note`` wrote."""

_TEXTS: Final = ("document_id", "version", "filename", "file_type", "parent_id", "content_hash")
_NUMBERS: Final = ("page", "page_end", "start", "end_", "ordinal", "level")
OUTPUT_FIELDS: Final = ("chunk_id", *_TEXTS, *_NUMBERS, "text")
"""Every field of a leaf but its vectors."""
_MAX_ID = 512
_MAX_NAME = 4096
_MAX_TEXT = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What Milvus says about one of our collections. Its analyzer is ``""`` where neither note nor field tell it."""

    info: CollectionInfo
    bm25: bool
    lacks: tuple[str, ...] = ()
    """Fields of a leaf that the collection was made without, by an earlier Clew."""


def collection_name(name: str) -> str:
    """A valid Milvus name for any text: readable where it can be, told apart by 128 bits of SHA-256."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    readable = re.sub(r"[^a-z0-9]+", "_", name.lower())[:40].strip("_")
    return "_".join(part for part in ("clew", readable, digest) if part)


def note(info: CollectionInfo) -> str:
    """What a Milvus collection says about itself, so that a name or an embedder is never mistaken."""
    return json.dumps(asdict(info))


def analyzer(kind: str) -> dict[str, Any]:
    """Parameters of the text field's analyzer. The words that every text has cost time and tell nothing."""
    if kind in {"english", "chinese"}:
        return {"type": kind}  # a server's own, with their stop words
    return {"tokenizer": kind, "filter": ["lowercase", {"type": "stop", "stop_words": sorted(STOP_WORDS)}]}


def schema(client: MilvusClient, info: CollectionInfo, *, words: str | None) -> CollectionSchema:
    """The fields of a collection. ``words`` is the analyzer of its BM25 leg; null makes none."""
    from pymilvus import DataType, Function, FunctionType

    made = client.create_schema(auto_id=False, enable_dynamic_field=False, description=note(info))
    made.add_field("chunk_id", DataType.VARCHAR, max_length=_MAX_ID, is_primary=True)
    for name in _TEXTS:
        made.add_field(name, DataType.VARCHAR, max_length=_MAX_NAME)
    for name in _NUMBERS:
        made.add_field(name, DataType.INT64)
    made.add_field(DENSE, DataType.FLOAT_VECTOR, dim=info.dimensions)
    if words is None:
        made.add_field("text", DataType.VARCHAR, max_length=_MAX_TEXT)
        return made
    made.add_field(
        "text", DataType.VARCHAR, max_length=_MAX_TEXT, enable_analyzer=True, analyzer_params=analyzer(words)
    )
    made.add_field(SPARSE, DataType.SPARSE_FLOAT_VECTOR)
    made.add_function(
        Function(
            name="bm25",
            function_type=FunctionType.BM25,
            input_field_names=["text"],
            output_field_names=[SPARSE],
        )
    )
    return made


def index_params(client: MilvusClient, fields: Sequence[str], dense: str = "HNSW") -> IndexParams:
    """The indexes of ``fields``; ``dense`` is the type of the dense one. Raises KeyError for a type off the list."""
    params = client.prepare_index_params()
    if DENSE in fields:
        params.add_index(
            DENSE, index_type=dense, metric_type="COSINE", params=dict(DENSE_INDEXES[dense]), index_name=DENSE
        )
    if SPARSE in fields:
        params.add_index(
            SPARSE, index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params={}, index_name=SPARSE
        )
    return params


def stored(description: Mapping[str, Any]) -> Stored | None:
    """What ``describe_collection`` said, read; null for a collection that is not of our making."""
    try:
        # milvus-lite keeps properties and forgets descriptions; for old servers it is the other way round.
        said = json.loads(
            description.get("properties", {}).get(PROPERTY) or description.get("description") or ""
        )
        info = CollectionInfo(
            name=said["name"],
            embedder=said["embedder"],
            dimensions=int(said["dimensions"]),
            analyzer=said.get("analyzer") or _analyzer_of(description),
        )
    except (ValueError, KeyError, TypeError):
        return None
    has = {field.get("name") for field in description.get("fields", ())}
    # A server that does not know functions drops this one without a word, and fills nothing.
    return Stored(
        info=info,
        bm25=bool(description.get("functions")),
        lacks=tuple(name for name in OUTPUT_FIELDS if name not in has),
    )


def _analyzer_of(description: Mapping[str, Any]) -> str:
    """What ``analyzer`` was given for the text field: an earlier Clew's notes do not tell."""
    fields = {field.get("name"): field.get("params", {}) for field in description.get("fields", ())}
    params = json.loads(fields.get("text", {}).get("analyzer_params") or "{}")
    return str(params.get("type") or params.get("tokenizer") or "")


def row(leaf: Leaf) -> dict[str, Any]:
    """A leaf as Milvus takes it."""
    evidence = leaf.evidence
    fields = {
        name: getattr(evidence, name) for name in ("chunk_id", *_TEXTS, *_NUMBERS, "text") if name != "end_"
    }
    return fields | {"end_": evidence.end, DENSE: np.asarray(leaf.vector, np.float32)}


def evidence(hit: Mapping[str, Any], leg: str, rank: int) -> Evidence:
    """A hit as Evidence, with its rank and score in ``leg`` (``dense`` or ``bm25``)."""
    fields = dict(hit["entity"])
    fields["end"] = fields.pop("end_")
    score = float(hit["distance"])
    # Rounding takes a cosine a little beyond 1; milvus-lite gives BM25 as a negative distance.
    fields[f"{leg}_score"] = max(-1.0, min(1.0, score)) if leg == "dense" else abs(score)
    fields[f"{leg}_rank"] = rank
    return Evidence.model_validate(fields | {"chunk_id": hit["chunk_id"]})
