"""A batch as it is told: what it is about, and its statements, graph by graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic_core import PydanticSerializationError

from clew_schema.rdf import Metadata, Triples
from clew_translators import bus

if TYPE_CHECKING:
    from clew_translators.explain.statements import Statements


@dataclass(frozen=True, slots=True)
class Told:
    """A batch: what it is about, and its statements, graph by graph."""

    metadata: Metadata
    graphs: tuple[Statements, ...]

    def batch(self) -> Triples:
        """As the message that travels."""
        return Triples(
            metadata=self.metadata, triples=tuple(t for graph in self.graphs for t in graph.triples)
        )

    def encode(self) -> bytes:
        """The body of that message: what the bus's codec makes of :meth:`batch`, without making it."""
        try:
            triples = ",".join(statement for graph in self.graphs for statement in graph.json())
            text = f'{{"metadata":{self.metadata.model_dump_json()},"triples":[{triples}]}}'
            return text.encode()
        except (
            UnicodeEncodeError,
            PydanticSerializationError,
        ):  # half a character, from a model that was cut: the codec knows what to do
            return bus.encode(self.batch())
