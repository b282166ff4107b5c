"""What the services need from the world, as protocols. Adapters implement them; fakes ship in ``adapters``.

Every method may raise the errors named in its protocol's text and no library's own: library
exceptions stop at the adapter. All methods may be called concurrently from one event loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from clew_schema.facts import Mechanism
from clew_translators.trace_tree import RunState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping, Sequence

    from pydantic import BaseModel

    from clew_schema.agent import AgentStep
    from clew_schema.base import Message
    from clew_schema.evidence import Evidence, Grade, Rejected, Retrieval, RetrievalStatus, Route
    from clew_schema.rdf import Term, Triple, Triples
    from clew_schema.topics import Topic
    from clew_services.core.agent import Thought, Tool
    from clew_services.core.answer import Draft
    from clew_services.core.complexity import PlanReply
    from clew_services.core.rewriting import RewriteReply

Reply = TypeVar("Reply", bound="BaseModel")


# --- time -----------------------------------------------------------------------------------------


class Clock(Protocol):
    """Time, so that tests own it."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after ``seconds``; at once for zero or less."""
        ...


# --- the bus --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A message to be published: full topic name, body, partition key, properties.

    ``deliver_at`` (milliseconds since 1970, 0: now) is a hint; a broker may deliver earlier.
    """

    topic: str
    payload: bytes
    key: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)
    deliver_at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A message that was received and not yet settled. ``broker_id`` stays the same when it is delivered again."""

    topic: str
    payload: bytes
    key: str
    properties: Mapping[str, str]
    broker_id: str
    handle: object = None
    """The adapter's own; opaque to everybody else."""


Position = Literal["earliest", "latest"]


class Subscription(Protocol):
    """One consumer's place on one topic, shared with the other consumers of the same name.

    Each message is given to one of them, at least once: it comes again after a lost connection, a
    restarted broker or process, until it was acknowledged. Raises BusFailed.
    """

    async def receive(self) -> Delivery:
        """The next message. A cancelled call loses none: the next call returns what it would have."""
        ...

    async def ack(self, delivery: Delivery) -> None:
        """Settled: do not deliver again. May be forgotten by a broker that dies right after."""
        ...

    async def nack(self, delivery: Delivery) -> None:
        """Not settled here: give it to somebody again after the broker's delay."""
        ...

    async def close(self) -> None:
        """Hand back what is not settled, keep the subscription. Idempotent. A waiting receive raises BusFailed."""
        ...


class Bus(Protocol):
    """Topics with durable subscriptions."""

    async def publish(self, message: Outgoing) -> None:
        """Return once the broker has the message. Raises BusFailed, or TooLarge for a body beyond the limit."""
        ...

    async def subscribe(
        self, topic: str, subscription: str, *, width: int, position: Position = "earliest"
    ) -> Subscription:
        """Open a shared subscription, made if it does not exist yet; at most ``width`` messages are held unsettled.

        ``position`` counts for a new subscription only. Raises BusFailed.
        """
        ...

    async def unsubscribe(self, topic: str, subscription: str) -> None:
        """Forget a subscription of our own making (a client's private one); never a service's."""
        ...

    async def ping(self) -> None:
        """Return if the broker answers, else raise BusFailed."""
        ...

    async def close(self) -> None:
        """Close consumers, then producers, then the connection. Idempotent."""
        ...


class Backlogs(Protocol):
    """What waits on the broker, asked of it beside the connection that delivers."""

    async def ready(self, topic: str, subscription: str) -> int:
        """How many messages the subscription could hand out now and did not. Raises BusFailed."""
        ...


# --- the ledger -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a step decided to publish because of a message: written once, published as often as needed."""

    step: str
    message_id: str
    outputs: tuple[Outgoing, ...]
    recorded_at: float
    """Seconds since 1970."""


class Ledger(Protocol):
    """Which messages were handled, and what was published for them. Raises StoreFailed."""

    async def lookup(self, step: str, message_id: str) -> Record | None:
        """The record of this step for this message, if it was handled before."""
        ...

    async def record(
        self, record: Record, *, opens: Ticket | None = None, closes: Closing | None = None
    ) -> Record:
        """Write ``record`` durably, or return the one that somebody wrote first. Whoever wrote first wins.

        In the same transaction the ticket ``opens`` is written and the one that ``closes`` names is closed; neither
        when somebody was first. Raises TicketClosed, and writes nothing, when that ticket is not open (any more).
        """
        ...

    async def prune(self, before: float) -> int:
        """Forget records older than ``before`` (seconds since 1970); how many went."""
        ...

    async def close(self) -> None:
        """Release everything. Idempotent."""
        ...


TicketState = Literal["open", "answered", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A pause that waits for a person. Times are seconds since 1970; after ``expires_at`` no answer is taken.

    ``run`` is the message in which the run rests, its whole trail included, as JSON. ``answer``, ``closed_at`` and
    ``closed_by`` (the message that did it) are those of a ticket that is no longer ``open``.
    """

    ticket_id: str
    session_id: str
    collection: str
    question: str
    prompt: str
    options: tuple[str, ...] = ()
    route: Route = "clarify"
    status: RetrievalStatus = "needs_clarification"
    round: int = 1
    opened_at: float
    expires_at: float
    state: TicketState = "open"
    run: bytes = b""
    answer: str = ""
    closed_at: float = 0.0
    closed_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """What ends a ticket: an answer, or a person who withdraws. ``closed_by`` is the id of the message that said so."""

    ticket_id: str
    state: TicketState
    answer: str = ""
    closed_at: float
    closed_by: str


class Tickets(Protocol):
    """Pauses, as the ledger keeps them. Raises StoreFailed."""

    async def ticket(self, ticket_id: str) -> Ticket | None:
        """The ticket, open or not."""
        ...

    async def tickets(
        self, collection: str, *, limit: int = 100, only_open: bool = False
    ) -> Sequence[Ticket]:
        """The newest tickets of a collection, newest first, without the message in which they rest."""
        ...


# --- documents ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionInfo:
    """A collection: its name, the embedder whose vectors it holds, and the analyzer that splits its texts into words.

    No ``analyzer``: nobody asked for one, or an earlier Clew made it; the vector store then takes its own choice.
    """

    name: str
    embedder: str
    dimensions: int
    analyzer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentInfo:
    """A document version as the catalog knows it."""

    document_id: str
    collection: str
    name: str
    version: str
    media_type: str
    state: Literal["building", "ready", "retired", "failed"]
    chunks: int
    characters: int
    pages: int
    ingested_at: float
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """A chunk of level 1 or 2: its evidence fields, and how many chunks of the level below lie in it."""

    evidence: Evidence
    children: int


class Catalog(Protocol):
    """Collections, documents with their versions and parents, vectors by content hash; in SQL. Raises StoreFailed."""

    async def collection(self, name: str) -> CollectionInfo | None:
        """The collection, if somebody made it."""
        ...

    async def create_collection(self, info: CollectionInfo) -> CollectionInfo:
        """Make it, or return the one that exists."""
        ...

    async def collections(self) -> Sequence[CollectionInfo]:
        """All, by name."""
        ...

    async def put_document(self, info: DocumentInfo) -> None:
        """Write a version; ``ready`` retires the version that was ready before, in the same transaction."""
        ...

    async def documents(self, collection: str) -> Sequence[DocumentInfo]:
        """The ready and the failed ones of a collection, by name."""
        ...

    async def document(self, collection: str, document_id: str) -> DocumentInfo | None:
        """The ready version of a document."""
        ...

    async def serving(self, collection: str, document_ids: Collection[str]) -> Mapping[str, str]:
        """The ready version of each of these documents, by document id; those that have none are absent."""
        ...

    async def retired(self, collection: str) -> Sequence[DocumentInfo]:
        """Versions that were replaced and whose chunks may still be in the vector store."""
        ...

    async def drop_version(self, collection: str, document_id: str, version: str) -> None:
        """Forget one version (``""``: all) with its parents, and the vectors that no other version uses."""
        ...

    async def put_parents(self, collection: str, parents: Sequence[Parent]) -> None:
        """Write parents by chunk id; a second write of an id replaces the first."""
        ...

    async def parents(self, collection: str, chunk_ids: Sequence[str]) -> Mapping[str, Parent]:
        """These parents, by chunk id; missing ones are absent. Never those of another collection."""
        ...

    async def count_parents(self, collection: str, document_id: str = "", version: str = "") -> int:
        """How many parents the collection, a document or one version of it has."""
        ...

    async def versions(self, collection: str, document_id: str) -> Sequence[DocumentInfo]:
        """Every version of a document that is known, in any state."""
        ...

    async def use_vectors(
        self, collection: str, document_id: str, version: str, embedder: str, hashes: Sequence[str]
    ) -> None:
        """Note that a version uses the vectors of these content hashes; before the first of them is remembered."""
        ...

    async def vectors(self, embedder: str, hashes: Sequence[str]) -> Mapping[str, Sequence[float]]:
        """Vectors computed before, by content hash; missing ones are absent."""
        ...

    async def put_vectors(self, embedder: str, vectors: Mapping[str, Sequence[float]]) -> None:
        """Remember vectors by content hash."""
        ...

    async def close(self) -> None:
        """Release everything. Idempotent."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a vector store can do, from its version and a probe, never from the absence of an error.

    ``analyzers`` are those that a collection may be made with.
    """

    dense: bool = True
    bm25: bool = True
    server: str = ""
    analyzers: tuple[str, ...] = ("standard", "jieba")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A chunk to be stored: its evidence fields and its vector."""

    evidence: Evidence
    vector: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """What each leg returned, best first, ranks and raw scores set in each Evidence for that leg.

    ``bm25`` is null when the store has no such leg. Scores: cosine similarity for dense, BM25 (positive,
    larger is better) for bm25.
    """

    dense: Sequence[Evidence]
    bm25: Sequence[Evidence] | None


class VectorStore(Protocol):
    """Leaves by meaning and by words, one store collection per Clew collection. Raises RetrievalFailed.

    A collection that is not there is UnknownCollection; one of another embedder, EmbedderMismatch; one of another
    analyzer than is asked for, AnalyzerMismatch.

    Names of collections are any text; the adapter encodes them. No call ever reads another collection.
    """

    async def capabilities(self) -> Capabilities:
        """What this store can do."""
        ...

    async def ensure(self, info: CollectionInfo) -> None:
        """Make the store's collection if it is missing, and load it.

        Raises BadRequest for one to be made with an analyzer that the store does not offer.
        """
        ...

    async def upsert(self, collection: str, leaves: Sequence[Leaf]) -> None:
        """Write leaves by ``chunk_id``; a second write of an id replaces the first."""
        ...

    async def flush(self, collection: str) -> None:
        """Return once what was written is found by a search."""
        ...

    async def search(self, collection: str, *, vector: Sequence[float], text: str, limit: int) -> Hits:
        """The ``limit`` best leaves of each leg among all versions that were not deleted."""
        ...

    async def count(self, collection: str, document_id: str = "", version: str = "") -> int:
        """How many leaves the collection, a document or one version of it has; strongly consistent."""
        ...

    async def delete(self, collection: str, document_id: str, *, version: str = "") -> None:
        """Delete a document's leaves, or those of one version."""
        ...

    async def drop(self, collection: str) -> None:
        """Delete the store's collection; nothing if it does not exist."""
        ...

    async def close(self) -> None:
        """Release everything, locks included. Idempotent."""
        ...


# --- models ---------------------------------------------------------------------------------------


class Embedder(Protocol):
    """Text to unit vectors. ``name`` says which model made them. Raises RetrievalFailed."""

    name: str
    dimensions: int

    async def query(self, text: str) -> Sequence[float]:
        """The vector of a question."""
        ...

    async def passages(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The vectors of passages, in order."""
        ...


class Reranker(Protocol):
    """How well passages answer a question. Raises ModelFailed, ModelBusy, ModelRefused, ModelReplyInvalid."""

    name: str

    async def scores(self, question: str, passages: Sequence[str]) -> Sequence[float | None]:
        """One score per passage, in order; larger is better. Null: the model left this one out."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a chat model is asked: instructions, and the text to work on. ``name`` and ``version`` go into the trace."""

    name: str
    system: str
    user: str
    max_tokens: int = 1024
    temperature: float = 0.0
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a call cost; null when the service did not say."""

    model: str
    in_token: int | None = None
    out_token: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A model's whole reply."""

    text: str
    usage: Usage


class Chat(Protocol):
    """A chat model. Raises ModelFailed, ModelBusy, ModelRefused, ModelReplyInvalid."""

    name: str

    async def complete(self, prompt: Prompt) -> Completion:
        """The whole reply."""
        ...

    def stream(self, prompt: Prompt) -> AsyncIterator[str | Usage]:
        """The reply in pieces, then its usage."""
        ...

    async def structured(self, prompt: Prompt, reply: type[Reply]) -> tuple[Reply, Usage]:
        """The reply as a value of ``reply``, repaired within a bound, else ModelReplyInvalid."""
        ...


class Emit(Protocol):
    """Show a piece of text to a caller who streams. What is emitted is never the only copy."""

    async def __call__(self, text: str) -> None:
        """Send ``text`` on."""
        ...


class Tell(Protocol):
    """Publish a message on the way to an outcome: progress. What is told is never the only copy of anything."""

    async def __call__(self, topic: Topic[Any], body: Message) -> None:
        """Publish ``body`` to whoever listens to ``topic``."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What to look up. ``question`` is what the trace calls the query; each leg and the reranker has its own words."""

    question: str
    dense: str
    sparse: str
    rerank: str

    @classmethod
    def of(cls, question: str) -> Search:
        """The same words for all."""
        return cls(question=question, dense=question, sparse=question, rerank=question)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search found, best first and numbered from 1, and how it went.

    ``rejected`` is what was found and left out, at most as many as one leg gives candidates, without texts.
    """

    evidence: tuple[Evidence, ...]
    retrieval: Retrieval
    rejected: tuple[Rejected, ...] = ()


class Retriever(Protocol):
    """Looks questions up in one collection at a time.

    Raises RetrievalFailed (store or embedder did not answer: never an empty result), UnknownCollection,
    EmptyCollection, EmbedderMismatch. A limit of 0 is the default; ``fetch_limit`` is the number of
    candidates taken from each leg.
    """

    async def retrieve(
        self, collection: str, search: Search, *, doc_limit: int = 0, fetch_limit: int = 0
    ) -> Found:
        """The best pieces of evidence, at most ``doc_limit``."""
        ...


class Planner(Protocol):
    """Says whether a question is one question or several. Raises as Chat does."""

    name: str
    prompt_version: str

    async def plan(self, question: str) -> PlanReply:
        """Simple, or complex with its parts."""
        ...


class Rewriter(Protocol):
    """Finds another way to ask. Raises as Chat does.

    ``echoes``: its texts are the documents' own words, so that a dense search for them would find just those.
    """

    name: str
    prompt_version: str
    echoes: bool

    async def rewrite(self, question: str, evidence: Sequence[Evidence]) -> RewriteReply:
        """Step back, or a supposed answer; ``evidence`` is what the question itself found."""
        ...


class Grader(Protocol):
    """Whether evidence answers a question. Raises as Chat does; a failing grader is an error, not an opinion."""

    name: str
    prompt_version: str

    async def grade(self, question: str, evidence: Sequence[Evidence]) -> Grade:
        """A grade; ``evidence`` is not empty."""
        ...


class Writer(Protocol):
    """Writes an answer from evidence and from nothing else, citing it as [n]. Raises as Chat does."""

    name: str
    prompt_version: str

    async def write(
        self,
        question: str,
        evidence: Sequence[Evidence],
        emit: Emit,
        *,
        gaps: Sequence[str] = (),
        assumptions: Sequence[str] = (),
    ) -> Draft:
        """The answer; pieces of it go to ``emit`` as they come. [n] is the n-th of ``evidence``, from 1.

        ``gaps`` are parts of the question that the evidence does not cover, and ``assumptions`` conditions that
        the question leaves open: the answer says so.
        """
        ...


class Thinker(Protocol):
    """Decides an agent's next act. Raises as Chat does."""

    name: str
    prompt_version: str

    async def think(
        self, question: str, history: Sequence[AgentStep], tools: Sequence[Tool], emit: Emit
    ) -> Thought:
        """What to do next: use one of ``tools``, or conclude. Thought text goes to ``emit`` as it comes."""
        ...


# --- traces ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRow:
    """One run in a list of traces. ``asked_at`` is as the trace has it; ``state`` says how the run ended so far.

    ``person`` is who asked, if anybody was named.
    """

    session_uri: str
    mechanism: Mechanism
    query: str
    asked_at: str
    collection: str
    state: RunState
    person: str = ""

    @property
    def cursor(self) -> str:
        """Where this row stands in a list: give it as ``after`` to go on below it."""
        return f"{self.asked_at} {self.session_uri}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFilter:
    """Which runs are wanted: those for which every field that is not empty holds.

    ``mechanisms`` and ``states`` are alternatives. ``person`` asked, or answered a question of the run.
    ``since`` (inclusive) and ``until`` (exclusive) are beginnings of ISO 8601 times in UTC, compared as text with
    ``asked_at``. ``text`` stands in the question, whatever its case. ``tools``: also runs that a tool asked for.
    """

    mechanisms: frozenset[Mechanism] = frozenset()
    states: frozenset[RunState] = frozenset()
    person: str = ""
    since: str = ""
    until: str = ""
    text: str = ""
    tools: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """What a SPARQL query found. ``rows`` are solutions in the order of ``variables``, null where one is unbound.

    ``boolean`` is the answer to ASK, else null; ``triples`` those of CONSTRUCT and DESCRIBE. ``truncated``: there were
    more rows or triples than were wanted.
    """

    variables: tuple[str, ...] = ()
    rows: tuple[tuple[Term | None, ...], ...] = ()
    boolean: bool | None = None
    triples: tuple[Triple, ...] = ()
    truncated: bool = False


class TraceStore(Protocol):
    """The triples of runs, by collection: nothing of one collection is found, listed or queried from another.

    Raises StoreFailed.
    """

    async def add(self, batches: Sequence[Triples]) -> None:
        """Write batches durably. Writing one twice changes nothing, and neither does the order in which they come.

        Raises Forbidden for a batch of a run that was told in another collection.
        """
        ...

    async def list(
        self, collection: str, *, limit: int = 50, where: TraceFilter = TraceFilter(), after: str = ""
    ) -> Sequence[TraceRow]:
        """The runs of a collection, newest first, by ``asked_at`` and then by name; a tool's own runs on demand.

        ``after`` is the ``cursor`` of the last row of the page before: runs that begin meanwhile do not move a page.
        """
        ...

    async def run(self, collection: str, session_uri: str) -> Sequence[Triple]:
        """All quads of one run; none when it does not exist in ``collection``."""
        ...

    async def collections(self) -> Sequence[str]:
        """The collections that have runs, in order."""
        ...

    async def erase(self, collection: str, session_uris: Sequence[str]) -> int:
        """Erase runs, and the runs of their tools, so that nothing of them is left. How many runs that were.

        What other runs tell too (an agent, a document) stays while one of them does. An unknown run is no error.
        """
        ...

    async def erase_collection(self, collection: str) -> int:
        """Erase all runs of a collection. How many they were."""
        ...

    async def query(self, collection: str, sparql: str, *, seconds: float, limit: int) -> QueryResult:
        """SELECT, ASK, CONSTRUCT or DESCRIBE over the quads of one collection; the default graph is their union.

        Raises BadRequest for what is no such query, for updates and for SERVICE; DeadlineExceeded after ``seconds``.
        """
        ...

    async def close(self) -> None:
        """Release everything, locks included. Idempotent."""
        ...
