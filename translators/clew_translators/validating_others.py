"""What other people's validators say of a trace of ours: SHACL by pyshacl, and the ``prov`` package's reader.

Both are imported when they are first asked: a program that only writes traces needs neither.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from rdflib import SH, Graph

from clew_translators.export_trig import to_trig
from clew_translators.memo import remembered
from clew_translators.prov.building import ELEMENTS, NotExpressible
from clew_translators.prov.qnames import Prefixes
from clew_translators.quads import NotRdf
from clew_translators.refusal import clip
from clew_translators.shapes import shaped_graph, shapes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rdflib.term import Node

    from clew_schema.rdf import Triple
    from clew_translators.prov.model import Document
    from clew_translators.shapes import ShapedProfile


def shape_problems(triples: Sequence[Triple], profile: ShapedProfile) -> Iterator[tuple[str, str, str]]:
    """Shape, message and focus of each result of holding ``triples``, one graph, against the shapes of ``profile``."""
    from pyshacl import validate

    try:
        graph = shaped_graph(triples)
    except NotRdf as error:
        yield "RDF", str(error), ""
        return
    try:
        conforms, results, _text = validate(graph, shacl_graph=_shapes(profile))
    except TypeError as error:  # of two literals that cannot be compared, which pyshacl does all the same
        yield "RDF", f"a value is not of its datatype, so that it cannot be compared: {error}", ""
        return
    if conforms:
        return
    found = {
        (
            _last(results.value(result, SH.sourceShape)),
            _message(results, result),
            str(results.value(result, SH.focusNode) or ""),
        )
        for result in results.objects(None, SH.result)
    }
    yield from sorted(found, key=lambda problem: (problem[2], *problem[:2]))


def _parsed(profile: str) -> Graph:
    return Graph().parse(data=shapes_of(profile), format="turtle")  # type: ignore[arg-type]


_shapes = remembered(_parsed, entries=4)


def _message(results: Graph, result: Node) -> str:
    """What is wrong, of which property, with which value."""
    texts = sorted(str(text) for text in results.objects(result, SH.resultMessage))
    parts = [clip(text.partition("\n")[0], 300) for text in texts] or ["it does not have this shape"]
    path, value = results.value(result, SH.resultPath), results.value(result, SH.value)
    if path is not None:
        parts.append(f"property {_last(path)}")
    if value is not None:
        parts.append(f"value {clip(str(value), 80)!r}")
    return "; ".join(parts)


def _last(node: Node | None) -> str:
    """A short name for a shape or property: what follows the last # of its IRI."""
    return "" if node is None else str(node).rpartition("#")[2]


def prov_problems(triples: Sequence[Triple], document: Document) -> Iterator[tuple[str, str]]:
    """What the ``prov`` package loses or refuses of ``triples``, one graph; message, and of what.

    ``document`` is what we read from them: every entity, activity and agent in it must be one for that package, too.
    """
    from prov import Error
    from prov.model import ProvDocument

    try:
        # Its names are qualified names: each needs a namespace that has a prefix.
        prefixes = "".join(f"@prefix {prefix}: <{iri}> .\n" for prefix, iri in Prefixes(document).items())
        text = prefixes + to_trig([triple.model_copy(update={"g": None}) for triple in triples])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about names that it shortens in its own way
            read = ProvDocument.deserialize(content=text, format="rdf", rdf_format="turtle")
    except (Error, NotExpressible, NotRdf, ValueError, TypeError, LookupError, AttributeError) as error:
        yield f"the prov package cannot read it: {clip(str(error) or type(error).__name__, 300)}", ""
        return
    known = {
        (record.get_type().localpart, record.identifier.uri)
        for record in read.get_records()
        if record.is_element() and record.identifier is not None
    }
    for each in document.statements:
        if each.kind in ELEMENTS and (each.kind.capitalize(), each.id) not in known:
            yield f"the prov package reads no {each.kind} here", each.id or ""
