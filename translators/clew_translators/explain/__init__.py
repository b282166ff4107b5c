"""Facts as triples: what a step decided, in ``urn:graph:retrieval`` (profile) and ``urn:graph:provenance`` (PROV-O).

A batch is a function of its arguments: the same facts of the same run give the same bytes, so a replay changes nothing.
Texts are told as they are. N-Quads and JSON carry every character that a message can hold, control characters
included; XML does not, so whoever writes RDF/XML or PROV-XML removes those there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from clew_schema.rdf import Metadata, Triples
from clew_translators import bus
from clew_translators.explain import names
from clew_translators.explain.provenance import provenance_statements
from clew_translators.explain.spec import retrieval_statements
from clew_translators.uris import question_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.facts import Fact, Mechanism
    from clew_translators.explain.statements import Statements

__all__ = ["Profile", "Told", "entity_uri", "explain", "question_uri", "tell"]

Profile = Literal["spec"]


def explain(
    facts: Sequence[Fact],
    *,
    session_id: str,
    collection: str,
    mechanism: Mechanism,
    profile: Profile = "spec",
    trail: Sequence[Fact] = (),
    retrieval_only: bool = False,
) -> Triples | None:
    """:func:`tell`, as a message; None when there is nothing to say."""
    told = tell(
        facts,
        session_id=session_id,
        collection=collection,
        mechanism=mechanism,
        profile=profile,
        trail=trail,
        retrieval_only=retrieval_only,
    )
    return told.batch() if told else None


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
        triples = ",".join(statement for graph in self.graphs for statement in graph.json())
        text = f'{{"metadata":{self.metadata.model_dump_json()},"triples":[{triples}]}}'
        try:
            return text.encode()
        except UnicodeEncodeError:  # half a character, from a model that was cut: the codec knows what to do
            return bus.encode(self.batch())


def tell(
    facts: Sequence[Fact],
    *,
    session_id: str,
    collection: str,
    mechanism: Mechanism,
    profile: Profile = "spec",
    trail: Sequence[Fact] = (),
    retrieval_only: bool = False,
) -> Told | None:
    """One batch for one step: ``facts`` are what it established, ``trail`` every fact of the run before them.

    ``metadata.id`` is the entity of the last fact, ``metadata.root`` the run's question. None when there are no facts.
    A run may also be told as a whole: all its facts, and no trail. Each quad is told once. ``retrieval_only`` leaves
    the PROV-O graph out, as callers are shown it inline; None when there is nothing to say in the other.
    """
    if not facts:
        return None
    del profile  # one so far
    question = question_uri(session_id, mechanism)
    graphs = [retrieval_statements(facts, question, mechanism, trail)]
    if not retrieval_only:
        graphs.append(provenance_statements(facts, question, collection, trail))
    if not any(graphs):
        return None
    metadata = Metadata(
        id=entity_uri(facts[-1], session_id, mechanism, (*trail, *facts[:-1])),
        root=question,
        collection=collection,
    )
    return Told(metadata, tuple(graphs))


def question_uri(session_id: str, mechanism: Mechanism) -> str:
    """The name of a run: its question."""
    return question_of(mechanism, session_id)


def entity_uri(fact: Fact, session_id: str, mechanism: Mechanism, trail: Sequence[Fact] = ()) -> str:
    """The name of what ``fact`` is about; never empty. ``trail`` is what the run established before it."""
    return names.entity_of(fact, question_uri(session_id, mechanism), trail)
