"""What TrustGraph 2.11 says of documents and of what is extracted from them (``urn:graph:source``; reference 3.2).

In its order; all literals plain, numbers as ``str()`` has them. TrustGraph makes up an activity and a time itself;
here both are arguments, and no time is told where none is given.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from clew_translators import namespaces as ns
from clew_translators import uris
from clew_translators.explain.trustgraph_agent import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clew_schema.rdf import Triple
    from clew_translators.explain.statements import Statements


def document(
    say: Statements,
    doc_uri: str,
    title: str | None = None,
    source: str | None = None,
    date: str | None = None,
    *,
    creator: str | None = None,
    page_count: int | None = None,
    mime_type: str | None = None,
) -> None:
    """A document as it was given; ``source`` is an IRI."""
    say.about(doc_uri, ns.PROV_ENTITY, ns.TG_DOCUMENT_TYPE)
    say.text(ns.DC_TITLE, title or "")
    say.text(ns.RDFS_LABEL, title or "")
    say.link(ns.DC_SOURCE, source or "")
    say.text(ns.DC_DATE, date or "")
    say.text(ns.DC_CREATOR, creator or "")
    number(say, ns.TG_PAGE_COUNT, page_count)
    say.text(ns.TG_MIME_TYPE, mime_type or "")


def derived_entity(
    say: Statements,
    entity_uri: str,
    parent_uri: str,
    component_name: str,
    component_version: str,
    *,
    label: str | None = None,
    page_number: int | None = None,
    section: bool = False,
    image: bool = False,
    chunk_index: int | None = None,
    char_offset: int | None = None,
    char_length: int | None = None,
    chunk_size: int | None = None,
    chunk_overlap: int | None = None,
    mime_type: str | None = None,
    element_types: str | None = None,
    table_count: int | None = None,
    image_count: int | None = None,
    timestamp: str | None = None,
    activity: str,
) -> None:
    """A page, section, chunk or image of ``parent_uri``; ``activity`` is the id of the extraction that made it."""
    say.about(entity_uri, ns.PROV_ENTITY)
    if image:
        say.about(entity_uri, ns.TG_IMAGE)
    elif section:
        say.about(entity_uri, ns.TG_SECTION)
    elif page_number is not None:
        say.about(entity_uri, ns.TG_PAGE)
    elif chunk_index is not None:
        say.about(entity_uri, ns.TG_CHUNK)
    _derived(say, parent_uri, component_name, component_version, timestamp=timestamp, activity=activity)
    say.about(entity_uri)
    say.text(ns.RDFS_LABEL, label or "")
    number(say, ns.TG_PAGE_NUMBER, page_number)
    number(say, ns.TG_CHUNK_INDEX, chunk_index)
    number(say, ns.TG_CHAR_OFFSET, char_offset)
    number(say, ns.TG_CHAR_LENGTH, char_length)
    say.about(uris.activity_uri(activity))
    number(say, ns.TG_CHUNK_SIZE, chunk_size)
    number(say, ns.TG_CHUNK_OVERLAP, chunk_overlap)
    say.about(entity_uri)
    say.text(ns.TG_MIME_TYPE, mime_type or "")
    say.text(ns.TG_ELEMENT_TYPES, element_types or "")
    number(say, ns.TG_TABLE_COUNT, table_count)
    number(say, ns.TG_IMAGE_COUNT, image_count)


def subgraph_provenance(
    say: Statements,
    subgraph: str,
    extracted: Iterable[Triple],
    chunk: str,
    component: str,
    *,
    version: str,
    llm_model: str | None = None,
    ontology: str | None = None,
    timestamp: str | None = None,
    activity: str,
) -> None:
    """What was extracted from a chunk, each triple quoted; ``ontology`` is an IRI."""
    say.about(subgraph)
    for triple in extracted:
        say.quote(ns.TG_CONTAINS, triple)
    say.about(subgraph, ns.PROV_ENTITY, ns.TG_SUBGRAPH)
    _derived(say, chunk, component, version, timestamp=timestamp, activity=activity)
    say.about(uris.activity_uri(activity))
    say.text(ns.TG_LLM_MODEL, llm_model or "")
    say.link(ns.TG_ONTOLOGY, ontology or "")


def _derived(
    say: Statements,
    parent: str,
    component: str,
    version: str,
    *,
    timestamp: str | None,
    activity: str,
) -> None:
    extraction, agent = uris.activity_uri(activity), uris.agent_uri(component)
    say.link(ns.PROV_WAS_DERIVED_FROM, parent)
    say.link(ns.PROV_WAS_GENERATED_BY, extraction)
    say.about(extraction, ns.PROV_ACTIVITY)
    say.plain(ns.RDFS_LABEL, f"{component} extraction")
    say.link(ns.PROV_USED, parent)
    say.link(ns.PROV_WAS_ASSOCIATED_WITH, agent)
    say.text(ns.PROV_STARTED_AT_TIME, timestamp or "")
    say.plain(ns.TG_COMPONENT_VERSION, version)
    say.about(agent, ns.PROV_AGENT)
    say.plain(ns.RDFS_LABEL, component)


# --- the labels of the vocabulary -----------------------------------------------------------------

_PROV_TERMS = "Entity Activity Agent wasDerivedFrom wasGeneratedBy used wasAssociatedWith startedAtTime"
_TG_CLASSES = (
    "Document Page Chunk Subgraph Grounding Answer Reflection Thought Observation Decomposition Finding Plan"
    " StepResult EdgeSelection"
)
_TG_PREDICATES = (
    "contains pageCount mimeType pageNumber chunkIndex charOffset charLength chunkSize chunkOverlap"
    " componentVersion llmModel ontology embeddingModel sourceText sourceCharOffset sourceCharLength"
    " concept entity subagentGoal planStep score"
)
_TERMS = (
    (ns.PROV, _PROV_TERMS),
    (ns.DC, "title source date creator"),
    (ns.SCHEMA, "DigitalDocument description keywords name"),
    (ns.SKOS, "definition"),
    (ns.TG, _TG_CLASSES),
    (ns.TG, _TG_PREDICATES),
)
_BY_HAND: Mapping[str, str] = MappingProxyType(
    {"startedAtTime": "started at", "mimeType": "MIME type", "llmModel": "LLM model"}
)
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def vocabulary(say: Statements) -> None:
    """The labels that TrustGraph gives a new collection: of a term, its name in words."""
    for namespace, names in _TERMS:
        for name in names.split():
            say.about(namespace + name)
            say.plain(ns.RDFS_LABEL, _BY_HAND.get(name) or _words(name))


def _words(name: str) -> str:
    words = _HUMP.split(name)
    if name[0].isupper():
        return " ".join(words)
    return " ".join("character" if word.lower() == "char" else word.lower() for word in words)
