"""A trace as a person reads it: a question, the steps towards its answer, and the spans of documents they rest on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew_schema.facts import Mechanism

RunState = Literal["running", "answered", "no_knowledge", "needs_input", "cancelled", "failed"]
"""How far a run is. ``needs_input``: it waits for a person. ``running``: also when its end was never told."""

StepKind = Literal[
    "plan",
    "retrieval",
    "grade",
    "rewrite",
    "join",
    "budget",
    "pause",
    "resume",
    "cancelled",
    "answer",
    "analysis",
    "observation",
    "conclusion",
    "failure",
    "other",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What was found about one sentence, ``answer[start:end]``, and the citation in it.

    ``similarity`` is null when it was not measured; ``better`` is the number of the evidence that says what a
    misattributed sentence says, else 0.
    """

    verdict: str
    start: int = 0
    end: int = 0
    lexical: float | None = None
    similarity: float | None = None
    better: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A leaf: a piece of a document, retrieved or quoted.

    ``number`` is the rank of evidence and the ``[n]`` of a citation, 0 when the trace has neither. ``start`` and
    ``end`` are character offsets into the document's text, ``page`` counts from 1 (0: unknown). ``checks`` are those
    of a citation. What a trace does not tell is empty or null: TrustGraph's traces name the chunk and no more.
    """

    uri: str
    chunk: str
    number: int = 0
    document: str = ""
    version: str = ""
    filename: str = ""
    page: int = 0
    start: int = 0
    end: int = 0
    text: str = ""
    content_hash: str = ""
    dense_rank: int | None = None
    dense_score: float | None = None
    bm25_rank: int | None = None
    bm25_score: float | None = None
    fused_score: float | None = None
    rerank_score: float | None = None
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step. ``details`` are names and texts, in the order in which they are worth reading.

    ``part`` is the part of the question that it is about, from 1; 0 means the whole.

    ``traces`` are the runs that a tool made of its own; ``children`` those of them that :func:`graft` put here.
    """

    uri: str
    kind: StepKind
    title: str
    part: int = 0
    started_at: str = ""
    ended_at: str = ""
    details: tuple[tuple[str, str], ...] = ()
    spans: tuple[Span, ...] = ()
    traces: tuple[str, ...] = ()
    children: tuple[TraceTree, ...] = ()

    def detail(self, name: str) -> str:
        """The first detail of that name, or ``""``."""
        return next((text for key, text in self.details if key == name), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceTree:
    """A run. ``parent`` is the step that asked for it, when it is a tool's; ``steps`` are in order."""

    uri: str
    mechanism: Mechanism
    question: str = ""
    asked_at: str = ""
    collection: str = ""
    parent: str = ""
    state: RunState = "running"
    steps: tuple[Step, ...] = ()

    @property
    def answer(self) -> str:
        """The text of the answer or conclusion; ``""`` while there is none, or when the trace does not hold it."""
        return next((text for step in reversed(self.steps) if (text := step.detail("answer"))), "")

    @property
    def citations(self) -> tuple[Span, ...]:
        """What the answer quotes."""
        return tuple(span for step in self.steps if step.kind == "answer" for span in step.spans)

    @property
    def traces(self) -> tuple[str, ...]:
        """The runs that tools made of their own, to be read and grafted by whoever wants them."""
        return tuple(uri for step in self.steps for uri in step.traces)


def graft(tree: TraceTree, runs: Mapping[str, TraceTree]) -> TraceTree:
    """``tree`` with the runs of its tools in their places, as far as ``runs`` has them (by URI).

    Runs are taken as they are: graft them first to go deeper.
    """
    steps = tuple(
        replace(step, children=tuple(runs[uri] for uri in step.traces if uri in runs)) for step in tree.steps
    )
    return replace(tree, steps=steps)


def to_json(tree: TraceTree) -> dict[str, Any]:
    """``tree`` as JSON values. ``details`` is an object; a name that occurs more than once has a list of texts."""
    return {
        "uri": tree.uri,
        "mechanism": tree.mechanism,
        "question": tree.question,
        "asked_at": tree.asked_at,
        "collection": tree.collection,
        "parent": tree.parent,
        "state": tree.state,
        "answer": tree.answer,
        "steps": [_step_json(step) for step in tree.steps],
    }


def _step_json(step: Step) -> dict[str, Any]:
    details: dict[str, Any] = {}
    for name in dict.fromkeys(name for name, _ in step.details):
        texts = [text for key, text in step.details if key == name]
        details[name] = texts if len(texts) > 1 else texts[0]
    return {
        "uri": step.uri,
        "kind": step.kind,
        "title": step.title,
        "part": step.part,
        "started_at": step.started_at,
        "ended_at": step.ended_at,
        "details": details,
        "spans": [asdict(span) | {"checks": [asdict(c) for c in span.checks]} for span in step.spans],
        "traces": list(step.traces),
        "children": [to_json(child) for child in step.children],
    }
