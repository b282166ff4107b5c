"""Terms and triples in two spellings: the long one of the bus (our models) and the compact one of the gateway.

===============  =================================================
IRI              ``{"t": "i", "i": IRI}``
blank node       ``{"t": "b", "d": label}``
literal          ``{"t": "l", "v": value, "dt"?: IRI, "ln"?: tag}``
quoted triple    ``{"t": "t", "tr": triple}``
triple           ``{"s", "p", "o", "g"?}``, absent where nothing is
===============  =================================================

What a term's type does not use is not written, and a graph ``""`` is none: reading back gives the same
term without them. TrustGraph keeps a ``t`` that it does not know; we refuse it, for nobody could use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew_schema.rdf import Term, Triple
from clew_translators.refusal import NotThisMessage, found

Json = dict[str, Any]

MAX_NESTING = 64
"""How deep triples may be quoted in triples."""


def term_to_compact(term: Term) -> Json:
    """The compact form of ``term``."""
    match term.type:
        case "i":
            return {"t": "i", "i": term.iri}
        case "b":
            return {"t": "b", "d": term.id}
        case "l":
            literal = {"t": "l", "v": term.value, "dt": term.datatype, "ln": term.language}
            return {key: value for key, value in literal.items() if value or key == "v"}
        case "t":
            return {"t": "t"} | ({} if term.triple is None else {"tr": triple_to_compact(term.triple)})
    return {"t": ""}


def triple_to_compact(triple: Triple) -> Json:
    """The compact form of ``triple``."""
    terms = {"s": triple.s, "p": triple.p, "o": triple.o}
    compact: Json = {key: term_to_compact(term) for key, term in terms.items() if term is not None}
    return compact | ({"g": triple.g} if triple.g else {})


def term_from_compact(data: object, field: str = "", depth: int = 0) -> Term:
    """The term that ``data`` spells.

    Raises:
        NotThisMessage: for anything else; ``field`` is where ``data`` stands, for its text.
    """
    compact = _object("Term", data, field, depth)
    kind = _text(compact, "t", field)
    match kind:
        case "i":
            return Term(type="i", iri=_text(compact, "i", field))
        case "b":
            return Term(type="b", id=_text(compact, "d", field))
        case "l":
            value, datatype, language = (_text(compact, key, field) for key in ("v", "dt", "ln"))
            return Term(type="l", value=value, datatype=datatype, language=language)
        case "t":
            inside = compact.get("tr")
            triple = None if inside is None else triple_from_compact(inside, _join(field, "tr"), depth)
            return Term(type="t", triple=triple)
        case "":
            return Term()
    raise NotThisMessage("Term", _join(field, "t"), f"should be i, b, l or t, found {found(kind)}")


def triple_from_compact(data: object, field: str = "", depth: int = 0) -> Triple:
    """The triple that ``data`` spells; a position that is absent or null holds nothing. Raises as for a term."""
    compact = _object("Triple", data, field, depth)
    terms = {
        key: term_from_compact(compact[key], _join(field, key), depth + 1)
        for key in ("s", "p", "o")
        if compact.get(key) is not None
    }
    graph = None if compact.get("g") is None else _text(compact, "g", field)
    return Triple(**terms, g=graph)


def _object(name: str, data: object, field: str, depth: int) -> Mapping[str, Any]:
    if depth > MAX_NESTING:
        raise NotThisMessage(name, "", f"triples are quoted in triples more than {MAX_NESTING} deep")
    if not isinstance(data, Mapping):
        raise NotThisMessage(name, field, f"should be an object, found {found(data)}")
    return data


def _text(compact: Mapping[str, Any], key: str, field: str) -> str:
    value = compact.get(key, "")
    if not isinstance(value, str):
        raise NotThisMessage("Term", _join(field, key), f"should be text, found {found(value)}")
    return value


def _join(field: str, key: str) -> str:
    return f"{field}.{key}" if field else key
