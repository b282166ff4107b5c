"""What holds of every document: the verdict is the REC's, and does not depend on how the document is written."""

import random
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from clew_translators.prov.constraints import check
from clew_translators.prov.model import ARGUMENTS, TIMES, Document, Kind, Name, Statement
from tests.translators.prov.constraints_notation import EX, PROV
from tests.translators.prov.constraints_reference import Reference

_NAMES = {
    "entity": ("e1", "e1", "e2", "e2", "e3", "_:e"),
    "activity": ("a1", "a1", "a2", "_:a"),
    "agent": ("ag", "e1", "e3", "a1", "a2"),
    "generation": ("g1", "g2", "_:g"),
    "usage": ("u1", "u2", "_:u"),
}
_SORT = {
    **dict.fromkeys(("entity", "trigger", "usedEntity", "generatedEntity", "specificEntity", "generalEntity"), "entity"),
    **dict.fromkeys(("alternate1", "alternate2", "collection", "plan"), "entity"),
    **dict.fromkeys(("activity", "starter", "ender", "informed", "informant"), "activity"),
    **dict.fromkeys(("agent", "delegate", "responsible"), "agent"),
    "generation": "generation",
    "usage": "usage",
    "influencee": "entity",
    "influencer": "activity",
}  # fmt: skip
_REQUIRED = {
    "entity", "generatedEntity", "usedEntity", "specificEntity", "generalEntity", "alternate1", "alternate2",
    "collection", "informed", "informant", "delegate", "responsible", "influencee", "influencer",
}  # fmt: skip
_OFTEN: tuple[Kind, ...] = (
    "wasDerivedFrom",
    "wasDerivedFrom",
    "wasDerivedFrom",
    "wasStartedBy",
    "wasGeneratedBy",
    "entity",
)
_KINDS: tuple[Kind, ...] = tuple(kind for kind in ARGUMENTS if kind != "mentionOf")
_INSTANTS = ("2024-05-01T10:00:00Z", "2024-05-01T12:00:00+02:00", "2024-05-01T11:00:00Z")


@st.composite
def _statement(draw: st.DrawFn) -> Statement:
    kind = draw(st.sampled_from(_KINDS + _OFTEN * 2))
    arguments = tuple(draw(_argument(kind, name)) for name in ARGUMENTS[kind])
    if kind in {"entity", "activity", "agent"}:
        return Statement(
            kind=kind,
            id=_full(draw(st.sampled_from(_NAMES[kind]))),
            arguments=arguments,
            attributes=((PROV + "type", Name(PROV + "EmptyCollection")),)
            if kind == "entity" and draw(st.integers(0, 19)) == 0
            else (),
        )
    if kind == "wasDerivedFrom" and arguments[2] is None and draw(st.integers(0, 14)):
        arguments = (*arguments[:2], None, None, None)  # or nearly all would break 51
    own = {"wasGeneratedBy": _NAMES["generation"], "used": _NAMES["usage"]}.get(
        kind, (f"{kind}1", f"{kind}2", "_:id")
    )
    named = draw(st.sampled_from((None, None, None, *own)))
    shared = draw(st.integers(0, 29)) == 0
    return Statement(kind=kind, id=EX + "x" if shared else _full(named), arguments=arguments)


def _argument(kind: Kind, name: str) -> st.SearchStrategy[str | None]:
    if name in TIMES:
        return st.sampled_from((None, None, None, *_INSTANTS))
    given_ = st.sampled_from(_NAMES[_SORT[name]]).map(_full)
    required = name in _REQUIRED or (kind, name) in {
        ("used", "activity"),
        ("wasStartedBy", "activity"),
        ("wasEndedBy", "activity"),
        ("wasAssociatedWith", "activity"),
        ("wasAttributedTo", "agent"),
    }
    return given_ if required and kind != "used" else st.one_of(st.none(), given_)


def _full(name: str | None) -> str | None:
    return name if name is None or name.startswith("_:") else EX + name


_DOCUMENTS = st.lists(_statement(), max_size=9).map(tuple)


def _valid(statements: Sequence[Statement]) -> bool:
    return not check(Document(tuple(statements)))


@given(_DOCUMENTS)
def test_the_verdict_is_that_of_the_rec_applied_word_by_word(statements: tuple[Statement, ...]) -> None:
    reference = Reference(map(_canonical_times, statements))
    assert _valid(statements) == reference.valid()


def _canonical_times(statement: Statement) -> Statement:
    arguments = tuple(
        _INSTANTS[0] if argument == _INSTANTS[1] else argument for argument in statement.arguments
    )
    return Statement(
        kind=statement.kind, id=statement.id, arguments=arguments, attributes=statement.attributes
    )


@given(_DOCUMENTS, st.randoms(use_true_random=False))
def test_order_and_repetition_say_nothing(statements: tuple[Statement, ...], dice: random.Random) -> None:
    # Named statements and those between objects alone may be said again; two unnamed events may be two.
    again = [one for one in statements if dice.random() < 0.5]
    shuffled = [*statements, *again]
    dice.shuffle(shuffled)
    assert _valid(shuffled) == _valid(statements)


@given(_DOCUMENTS)
def test_other_names_give_the_same_verdict(statements: tuple[Statement, ...]) -> None:
    def renamed(name: str | None) -> str | None:
        if name is None or name in _INSTANTS:
            return name
        return f"_:b{name[2:]}" if name.startswith("_:") else f"urn:other:{name[::-1]}"

    others = [
        Statement(
            kind=one.kind,
            id=renamed(one.id),
            arguments=tuple(renamed(argument) for argument in one.arguments),
            attributes=one.attributes,
        )
        for one in statements
    ]
    found, expected = check(Document(tuple(others))), check(Document(statements))
    assert [violation.constraint for violation in found] == [violation.constraint for violation in expected]


@given(_DOCUMENTS, _DOCUMENTS)
def test_a_part_of_a_valid_document_is_valid(
    some: tuple[Statement, ...], more: tuple[Statement, ...]
) -> None:
    if _valid(some + more):
        assert _valid(some)
        assert _valid(more)


@given(_DOCUMENTS)
def test_a_bundle_is_judged_as_the_same_statements_outside_one(statements: tuple[Statement, ...]) -> None:
    outside = check(Document(statements))
    inside = check(Document((), {"urn:bundle": statements}))
    assert [one.message for one in inside] == [one.message for one in outside]
    assert {one.bundle for one in inside} <= {"urn:bundle"}
