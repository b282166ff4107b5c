"""A question of several parts, taken apart by its form: comparisons, several questions in one, enumerations.

English and Chinese. Every part is a question that can be searched by itself and has words of the question only; a
question whose form says nothing is one question.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from clew_schema.limits import MAX_PARTS
from clew_services.core.sentences import language, words

_ASKS = r"(?:what|when|where|who|whom|whose|which|how|why)"
_ASKS_NEXT = rf"(?:{_ASKS}\b|(?:is|are|was|were|do|does|did|can|may|must|has|have)\s+(?:it|they|there|the)\b)"
_ASKS_ZH = r"什么|谁|哪|几|多少|如何|怎么|怎样|为何|何时|何地|是否|吗|多[长大久高远]"
_POINTS_BACK = re.compile(
    rf"\b(?:it|its|they|them|their|he|she|his|her|this|these|that|those)\b|[它他她其]|^(?:{_ASKS_ZH})",
    re.IGNORECASE,
)
"""A pronoun; or, in Chinese, a question word in front: then the subject is left out."""
_END = " ?？.。!！"

_SEVERAL = re.compile(r"\?+\s+(?=[^\W\d_])|？+\s*(?![\"'”’」』）)\]])")
_CLAUSES = re.compile(rf",?\s+and\s+(?:also\s+)?(?={_ASKS_NEXT})|;\s*(?={_ASKS_NEXT})", re.IGNORECASE)
_CLAUSES_ZH = re.compile(r"[，,；;]\s*(?:以及|并且|同时|还有|另外|而且|和|又)?")

_SUBJECTS = r"(?:both\s+|the\s+)?(?P<a>.+?)\s+(?:and|with|to|from|versus|vs\.?)\s+(?P<b>.+?)"
_OF = r"in terms of|with respect to|with regard to|regarding|concerning|when it comes to|about|on"
_ASPECT = rf"(?:,?\s+(?:{_OF})\s+(?P<x>.+))?"
_SHARED = r"of|from|in|at|on|by|with|live|located|released|published|born|made|have|share|both|all|use|under"
_COMPARISONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?:please\s+)?(?:compare|contrast)\s+{_SUBJECTS}{_ASPECT}$",
        rf"^(?:what|which|explain|describe|list|summari[sz]e)\b.*?\b(?:differences?|similarit(?:y|ies)|comparison)\s+between\s+{_SUBJECTS}{_ASPECT}$",
        rf"^(?:how|in what way)\s+(?:do|does|did)\s+(?P<a>.+?)\s+differ\s+from\s+(?P<b>.+?){_ASPECT}$",
        rf"^(?:how|in what way)\s+(?:do|does|did)\s+{_SUBJECTS}\s+(?:differ|compare){_ASPECT}$",
        rf"^how\s+(?:is|are|was|were)\s+(?P<a>.+?)\s+different\s+from\s+(?P<b>.+?){_ASPECT}$",
        rf"^how\s+(?:are|were)\s+{_SUBJECTS}\s+different{_ASPECT}$",
        rf"^(?!{_ASKS}\b)(?P<a>.+?)\s+(?:versus|vs\.?)\s+(?P<b>.+?){_ASPECT}$",
    )
)
_SAME = re.compile(
    rf"^(?:are|were|is|was|do|does|did|have|has)\s+(?:both\s+)?(?P<a>.+?)\s+and\s+(?P<b>.+?)\s+"
    rf"(?:(?:{_SHARED})\s+){{0,3}}(?:the\s+)?same\s+(?P<x>.+)$",
    re.IGNORECASE,
)
_AND_ZH = r"\s*(?:和|与|跟|同|及|以及|、)\s*"
_DIFFER_ZH = r"(?:区别|差异|不同|差别|异同)"
_HAVE_ZH = r"(?:有什么|有何|有哪些|有啥|是否有)"
_COMPARISONS_ZH = (
    re.compile(
        rf"^(?:请)?(?:比较|对比)(?:一下)?(?P<a>.+?){_AND_ZH}(?P<b>.+?)"
        rf"(?:(?:在|的)(?P<x>(?!{_DIFFER_ZH}).+?)(?:方面|上)?)?(?:的?{_DIFFER_ZH})?$"
    ),
    re.compile(
        rf"^(?P<a>.+?){_AND_ZH}(?P<b>.+?)(?:之间)?(?:在(?P<x>.+?)(?:方面|上))?的?{_HAVE_ZH}?(?:主要|[一两几]个)?的?"
        rf"{_DIFFER_ZH}(?:之处|点)?(?:是什么|在哪里?|有哪些|是)?$"
    ),
)
_VERBS = (
    "say|says|state|states|require|requires|define|defines|allow|allows|permit|permits|grant|grants|treat|treats|"
    "handle|handles|mean|means|cover|covers|work|works|differ|cost|costs|contain|contains|provide|provides|regulate"
)
_SUBJECT_LIST = re.compile(
    rf"^(?P<head>(?:what|how|when|where|why|which\s+\w+)\s+(?:do|did|are|were|can|must|should|would)\s+)"
    rf"(?P<list>.+?\s+and\s+.+?)(?P<tail>\s+(?:{_VERBS})\b.*)$",
    re.IGNORECASE,
)
_OBJECT_LIST = re.compile(
    r"^(?P<head>.*\b(?:say|says|said|state|states|stated|known|know)\s+(?:about|regarding)\s+)(?P<list>.+?(?:,|\s+and)\s+.+?)(?P<tail>)$",
    re.IGNORECASE,
)
_LIST_ZH = (
    re.compile(rf"^(?P<head>)(?P<list>.+?{_AND_ZH}[^的]+?)(?P<tail>(?:的.+?)?)(?:分别|各自|各)(?P<rest>.+)$"),
    re.compile(
        r"^(?P<head>.*?(?:关于|有关|对于|对))(?P<list>[^，]+?、[^，]+?)(?P<tail>)(?P<rest>(?:有|是|作|的|如何|怎).+)$"
    ),
)
_ITEMS = re.compile(r",\s*and\s+|,\s*|\s+and\s+", re.IGNORECASE)
_ITEMS_ZH = re.compile(r"\s*(?:、|以及|和|与|及)\s*")


@dataclass(frozen=True, slots=True)
class Split:
    """``parts`` (2 to MAX_PARTS, or none) and the form that was seen: what the trace gives as the reason."""

    form: str
    parts: tuple[str, ...] = ()


def split(question: str) -> Split:
    """The parts of ``question`` by the first form that fits; more than MAX_PARTS are put together into the last."""
    plain = " ".join(question.split())
    for form, find in _FORMS:
        parts = tuple(dict.fromkeys(find(plain)))
        if len(parts) > 1:
            return Split(form, _bounded(parts))
    return Split("one question")


def _bounded(parts: tuple[str, ...]) -> tuple[str, ...]:
    if len(parts) <= MAX_PARTS:
        return parts
    return (*parts[: MAX_PARTS - 1], " ".join(parts[MAX_PARTS - 1 :]))


def _several(question: str) -> list[str]:
    """Questions one after the other; one that points back is given the first beside it."""
    pieces = [piece.strip(_END) for piece in _SEVERAL.split(question)]
    return _standing_alone([piece for piece in pieces if words(piece)], question)


def _clauses(question: str) -> list[str]:
    if language(question) == "zh":
        pieces, waiting = [], ""
        for piece in _CLAUSES_ZH.split(question.strip(_END)):
            waiting = f"{waiting}，{piece}" if waiting else piece
            if re.search(_ASKS_ZH, piece):
                pieces.append(waiting)
                waiting = ""
        return _standing_alone(pieces, question) if not waiting else []
    pieces = _CLAUSES.split(question.strip(_END))
    asking = re.match(rf"(?:\w+\s+){{0,2}}?{_ASKS}\b", pieces[0], re.IGNORECASE)
    return _standing_alone(pieces, question) if asking and all(words(piece) for piece in pieces) else []


def _standing_alone(pieces: list[str], question: str) -> list[str]:
    is_chinese = language(question) == "zh"
    mark, opening, closing = ("？", "（", "）") if is_chinese else ("?", " (", ")")
    return [
        f"{piece[:1].upper()}{piece[1:]}{mark}"
        + (f"{opening}{pieces[0]}{closing}" if place and _POINTS_BACK.search(piece) else "")
        for place, piece in enumerate(pieces)
    ]


def _comparison(question: str) -> list[str]:
    plain = question.strip(_END)
    is_chinese = language(question) == "zh"
    if same := _SAME.match(plain):
        return [f"What is the {same['x']} of {same[side]}?" for side in "ab"]
    for pattern in _COMPARISONS_ZH if is_chinese else _COMPARISONS:
        found = pattern.match(plain)
        if found:
            sides = [found["a"].strip(" ,"), found["b"].strip(" ,")]
            aspect = (found["x"] or "").strip()
            ask = _ask_zh if is_chinese else _ask
            return [ask(side, aspect) for side in sides] if all(words(side) for side in sides) else []
    return []


def _ask(side: str, aspect: str) -> str:
    aspect = re.sub(r"^(?:the|their|its)\s+", "", aspect, flags=re.IGNORECASE)
    return (
        f"What is known about the {aspect} of {side}?"
        if aspect
        else f"What are the characteristics of {side}?"
    )


def _ask_zh(side: str, aspect: str) -> str:
    return f"{side}的{aspect}是什么？" if aspect else f"{side}有哪些特点？"


def _enumeration(question: str) -> list[str]:
    plain = question.strip(_END)
    if language(question) == "zh":
        for pattern in _LIST_ZH:
            found = pattern.match(plain)
            if found:
                items = _ITEMS_ZH.split(found["list"])
                return [
                    f"{found['head']}{item}{found['tail']}{found['rest']}？" for item in items if words(item)
                ]
        return []
    found = _SUBJECT_LIST.match(plain) or _OBJECT_LIST.match(plain)
    if not found:
        return []
    items = [item.strip() for item in _ITEMS.split(found["list"])]
    if len(items) == 2 and found.re is _OBJECT_LIST and all(item[:1].isupper() for item in items):
        return []  # "War and Peace"
    return [f"{found['head']}{re.sub('^both ', '', item)}{found['tail']}?" for item in items if item]


_FORMS: tuple[tuple[str, Callable[[str], list[str]]], ...] = (
    ("several questions", _several),
    ("comparison", _comparison),
    ("several clauses that ask", _clauses),
    ("enumeration", _enumeration),
)
