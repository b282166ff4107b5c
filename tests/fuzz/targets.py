"""What reads bytes of others: for each the real things it reads, and the errors it may answer with."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from clew_schema import topics
from clew_schema.documents import DocumentLoad
from clew_schema.envelope import Envelope
from clew_schema.rdf import Triple
from clew_schema.retrieval import DocumentRagQuery
from clew_services.adapters.formats.extract import extract
from clew_services.adapters.models.json_reply import find_object
from clew_services.adapters.models.sse import SseDecoder
from clew_services.adapters.stores.sparql_text import check_question
from clew_services.core.bounds import check_bounds
from clew_services.errors import BadRequest, DocumentUnreadable, TooLarge
from clew_services.settings import Settings
from clew_translators import bus as wire
from clew_translators import gateway
from clew_translators.explain.facts import facts_of
from clew_translators.exports import FORMATS, export
from clew_translators.quads import NotRdf, from_nquads
from clew_translators.trace import TraceUnreadable, read_trace
from clew_translators.validating import validate
from tests.adapters import office
from tests.translators import runs

CORPUS = Path(__file__).parents[2] / "docs" / "data" / "corpus"


@dataclass(frozen=True)
class Target:
    """``read`` is given bytes; it may raise ``answers`` and nothing else. ``heavy``: it is tried less often."""

    read: Callable[[bytes], object]
    seeds: Callable[[], Sequence[bytes]]
    answers: tuple[type[Exception], ...] = ()
    heavy: int = 1
    more: Mapping[str, str] = field(default_factory=dict)


@cache
def trace() -> tuple[Triple, ...]:
    return tuple(runs.quads_of(list(runs.told(runs.DOCUMENT_STEPS, session_id="S"))))


def _messages(topic: topics.Topic[Any]) -> Callable[[], Sequence[bytes]]:
    def seeds() -> Sequence[bytes]:
        found = [wire.encode(topic.body())] if topic is not topics.DEAD_LETTER else []
        if topic is topics.DOCUMENT_RAG_REQUEST:
            found.append(wire.encode(DocumentRagQuery(query="What is a clew?", session_id="S", doc_limit=5)))
        if topic is topics.EXPLAINABILITY:
            found += [wire.encode(batch) for batch in runs.told(runs.DOCUMENT_STEPS, session_id="S")]
        if topic is topics.DOCUMENT_LOAD:
            found.append(wire.encode(DocumentLoad(name="a.md", content="QSBjbGV3", collection="c")))
        return found or [b'{"letter_id":"l","payload":"x","error":{"type":"t","message":"m"}}']

    return seeds


def _decode(topic: topics.Topic[Any]) -> Callable[[bytes], object]:
    def read(data: bytes) -> object:
        body = wire.decode(topic.body, data)
        check_bounds(body)
        return wire.encode(body)

    return read


def _exported(name: str) -> Callable[[], Sequence[bytes]]:
    return lambda: [export(trace(), name).encode()]


def _properties(data: bytes) -> object:
    text = data.decode(errors="surrogateescape")
    pairs = [piece.partition("=") for piece in text.split("\n")]
    return Envelope.of({name: value for name, _, value in pairs}).properties()


def _sse(data: bytes) -> object:
    decoder, middle = SseDecoder(), len(data) // 2
    return [*decoder.feed(data[:middle]), *decoder.feed(data[middle:]), *decoder.close()]


def _gateway(data: bytes) -> object:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return [
        decode(value)
        for decode in (
            lambda given: gateway.decode_request("document-rag", given),
            lambda given: gateway.decode_request("agent", given),
            gateway.decode_triples,
        )
        if _answered(decode, value)
    ]


def _answered(decode: Callable[[object], object], value: object) -> bool:
    try:
        decode(value)
    except ValueError:  # what a gateway's caller is told
        return False
    return True


def _files(name: str) -> Callable[[bytes], object]:
    return lambda data: extract(name, data)


def _corpus(ending: str) -> Callable[[], Sequence[bytes]]:
    return lambda: [path.read_bytes()[:60_000] for path in sorted(CORPUS.rglob(f"*.{ending}"))[:3]] or [b"x"]


def _trace(data: bytes) -> object:
    quads = from_nquads(data.decode(errors="replace"))
    facts_of(quads)
    return read_trace(quads)


UNREADABLE = (DocumentUnreadable, TooLarge, BadRequest)
TARGETS: dict[str, Target] = {
    **{
        f"topic {topic.name}": Target(_decode(topic), _messages(topic), (wire.NotThisMessage, BadRequest))
        for topic in topics.TOPICS
    },
    "properties": Target(
        _properties, lambda: [b"id=a\nattempt=2\ndue=17\ndeadline=9\ntrace=off\nx=y\nreply-to=t"]
    ),
    "gateway": Target(
        _gateway, lambda: [b'{"query":"q","doc-limit":5,"streaming":true}', b'{"question":"q","history":[]}']
    ),
    "server-sent events": Target(
        _sse, lambda: [b'data: {"a": 1}\n\nevent: x\ndata: y\r\n\r\n: c\ndata: [DONE]\n\n']
    ),
    "reply of a model": Target(
        lambda data: find_object(data.decode(errors="replace")),
        lambda: [b'<think>{</think>```json\n{"a": [1, {"b": 2}]}\n```'],
    ),
    "sparql": Target(
        lambda data: check_question(data.decode(errors="replace")),
        lambda: [
            b"PREFIX a: <urn:a> SELECT * { ?s a:b 'x' . FILTER(?s = 1) } # c",
            b"ASK { GRAPH ?g { ?s ?p ?o } }",
        ],
        (BadRequest,),
    ),
    "trace": Target(_trace, _exported("nquads"), (NotRdf, TraceUnreadable), heavy=4),
    **{
        f"document {name}": Target(validate, _exported(name), heavy=40)
        for name in FORMATS
        if name not in {"otlp", "spans"}
    },
    **{
        f"file {ending}": Target(_files(f"a.{ending}"), seeds, UNREADABLE, heavy=heavy)
        for ending, seeds, heavy in (
            ("txt", _corpus("md"), 1),
            ("md", _corpus("md"), 2),
            ("html", _corpus("html"), 4),
            ("pdf", _corpus("pdf"), 20),
            ("csv", lambda: [b'a,b\n1,2\n"x\ny",3\n'], 1),
            ("docx", lambda: [office.word()], 8),
            ("pptx", lambda: [office.slides()], 8),
            ("xlsx", lambda: [office.sheets()], 8),
            ("epub", lambda: [office.epub()], 8),
        )
    },
    "settings": Target(
        lambda data: Settings.model_validate(
            {
                name: data.decode(errors="replace")
                for name in ("width", "database_url", "chunk_sizes", "otlp_headers", "mode")
            }
        ),
        lambda: [b"32", b"postgresql://u:p@h/d", b"[1,2,3]", b"a=b,c=d"],
        (ValidationError,),
    ),
}
"""By name, as the table shows them."""
