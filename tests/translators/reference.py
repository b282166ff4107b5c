"""What was observed of TrustGraph: vectors, captured messages, golden traces (see tests/data/trustgraph)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew_schema.agent import AgentRequest, AgentResponse
from clew_schema.base import Message
from clew_schema.rdf import Triples
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse, GraphRagResponse

DATA = Path(__file__).parents[1] / "data" / "trustgraph"

BODIES: dict[str, type[Message]] = {
    "request:tg:agent:default:default": AgentRequest,
    "response:tg:agent:default:default": AgentResponse,
    "request:tg:document-rag:default:default": DocumentRagQuery,
    "response:tg:document-rag:default:default": DocumentRagResponse,
    "flow:tg:triples-store:default:default": Triples,
}
"""The body that travels on each of the captured queues."""

_GOLDEN: dict[str, dict[str, type[Message]]] = {
    "agent_react_nosid": {"explainability": Triples, "response": AgentResponse, "next": AgentRequest},
    "docrag_rerank": {"explainability": Triples, "response": DocumentRagResponse},
    "graphrag": {"explainability": Triples, "response": GraphRagResponse},
}


@dataclass(frozen=True)
class Vector:
    area: str
    id: str
    input: Any
    expected: Any


@dataclass(frozen=True)
class Observed:
    """A body as it stood on a topic."""

    queue: str
    topic: str
    body: type[Message]
    payload: bytes


def vectors(*areas: str) -> list[Vector]:
    rows = json.loads((DATA / "vectors.json").read_text(encoding="utf-8"))
    chosen = [
        Vector(row["area"], row["id"], row["input"], row["expected"]) for row in rows if row["area"] in areas
    ]
    assert {vector.area for vector in chosen} == set(areas)
    return chosen


def captured() -> Iterator[Observed]:
    for path in sorted((DATA / "capture").glob("*.json")):
        for row in json.loads(path.read_text(encoding="utf-8"))["messages"]:
            yield Observed(row["queue"], row["topic"], BODIES[row["queue"]], row["payload"].encode())


def golden() -> Iterator[Observed]:
    """The messages of the golden traces; what the librarian stored is no message and is left out."""
    for name, bodies in _GOLDEN.items():
        text = (DATA / "golden" / f"{name}.messages.jsonl").read_text(encoding="utf-8")
        for row in map(json.loads, filter(str.strip, text.splitlines())):
            if row["topic"] != "librarian":
                yield Observed("", row["topic"], bodies[row["topic"]], json.dumps(row["payload"]).encode())
