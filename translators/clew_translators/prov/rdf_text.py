"""RDF in any syntax → quads.

N-Quads and N-Triples are read as they are written. The others are read by rdflib, which writes numbers and times in
its own way (``…00Z`` becomes ``…00+00:00``) and names blank nodes anew. Nothing is fetched: a JSON-LD context must
stand in the document.
"""

from __future__ import annotations

import json
import re
from types import MappingProxyType
from typing import TYPE_CHECKING
from xml.sax import SAXException

from rdflib import BNode, Dataset
from rdflib.exceptions import Error as RdflibError
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

from clew_translators.prov.building import NotProv
from clew_translators.prov.rdf_quoted import unreified, with_quotes, without_quotes
from clew_translators.quads import NotRdf, from_nquads, from_rdflib
from clew_translators.refusal import clip

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew_schema.rdf import Triple

PARSERS: Mapping[str, str] = MappingProxyType(
    {
        "trig": "trig",
        "turtle": "turtle",
        "rdfxml": "xml",
        "jsonld": "json-ld",
        "n3": "n3",
        "trix": "trix",
        "hext": "hext",
    }
)
"""Our name of a syntax → rdflib's."""

BASE = "http://document.invalid/"
"""What a relative name in a document is relative to: it has no address of its own."""

_WHY = re.compile(r"at line (\d+) of .*?Bad syntax \((.*?)\) at ", re.DOTALL)
_WRONG = (
    RdflibError,
    SAXException,
    ValueError,
    SyntaxError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
    RecursionError,
)
"""What rdflib's parsers raise for texts that are none of theirs."""


def read_rdf_text(text: str, format: str) -> tuple[Triple, ...]:  # noqa: A002 - the word for it
    """The quads of ``text`` in ``nquads``, ``ntriples`` or one of :data:`PARSERS`. Raises NotProv with the line."""
    try:
        if format in {"nquads", "ntriples"}:
            return from_nquads(text)
        if format == "jsonld":
            _refuse_remote(json.loads(text))
        dataset = Dataset(default_union=False)
        if format in {"trig", "turtle"}:  # of which the other is a part
            dataset.parse(data=without_quotes(text), format="trig", publicID=BASE)
        else:
            dataset.parse(data=text, format=PARSERS[format], publicID=BASE)
        default = dataset.graph(DATASET_DEFAULT_GRAPH_ID)
        for graph in list(dataset.graphs()):
            if isinstance(
                graph.identifier, BNode
            ):  # nobody can refer to it: no more than a part of the document
                default += graph
                dataset.remove_graph(graph)
        quads = from_rdflib(dataset)
        return unreified(quads) if format == "jsonld" else with_quotes(quads)
    except NotRdf as error:
        line, _, problem = (
            str(error).partition(": ") if str(error).startswith("line ") else ("", "", str(error))
        )
        raise NotProv(format, problem, line) from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise NotProv(format, f"no JSON: {error.msg}", place) from None
    except _WRONG as error:
        raise _told(format, error) from None


def _told(format_: str, error: Exception) -> NotProv:
    """What rdflib complains of, in our words."""
    if isinstance(error, NotProv):
        return error
    line = getattr(error, "getLineNumber", lambda: None)()
    if line is not None:
        return NotProv(format_, str(getattr(error, "getMessage", lambda: error)()), f"line {line}")
    if match := _WHY.search(str(error)):
        return NotProv(format_, match[2], f"line {match[1]}")
    return NotProv(format_, clip(str(error) or type(error).__name__, 200))


def _refuse_remote(value: object) -> None:
    """Refuse a context that stands elsewhere: rdflib would fetch it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            contexts = inner if isinstance(inner, list) else [inner]
            if key == "@import" or (key == "@context" and any(isinstance(each, str) for each in contexts)):
                raise NotProv("jsonld", f"{key} leads to another document; write the context into this one")
            _refuse_remote(inner)
    elif isinstance(value, list):
        for inner in value:
            _refuse_remote(inner)
