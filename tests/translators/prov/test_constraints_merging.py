"""Constraints 22-29 where one merge depends on another, and where what is merged has no name."""

import pytest

from clew_translators.prov.constraints import check
from tests.translators.prov.constraints_notation import document

T1, T2 = "2024-05-01T10:00:00Z", "2024-05-01T11:00:00Z"


def numbers(text: str) -> list[int]:
    return [violation.constraint for violation in check(document(text))]


def test_two_partial_generations_of_an_entity_by_an_activity_are_one() -> None:
    assert (
        numbers(f"wasGeneratedBy(g; e, a, -) wasGeneratedBy(-; e, a, {T1}) wasGeneratedBy(g; e, a, {T1})")
        == []
    )


def test_their_times_must_then_agree_although_neither_has_a_name() -> None:
    assert numbers(f"wasGeneratedBy(e, a, {T1}) wasGeneratedBy(e, a, {T2})") == [23]


def test_usages_without_names_may_be_as_many_as_one_likes() -> None:
    assert numbers(f"used(a, e) used(a, e) used(a, e, {T1}) used(a, e, {T2})") == []


def test_a_merge_may_cause_the_next() -> None:
    # The shared name of the usage makes _:x and e one; so both generations are of e by a, and have one time too many.
    text = f"used(u; b, _:x, -) used(u; b, e, -) wasGeneratedBy(_:x, a, {T1}) wasGeneratedBy(e, a, {T2})"
    assert numbers(text) == [23]
    assert numbers(text.replace(T2, T1)) == []
    assert numbers(text.replace("used(u; b, e, -)", "")) == []


def test_merges_reach_it_also_where_each_waits_for_the_one_before() -> None:
    same = "used({0}; b, {1}, -) used({0}; b, {2}, -)"
    early = " ".join(same.format(f"u{n}", "e", variable) for n, variable in enumerate(("_:p", "_:q", "_:r")))
    # That _:x5 is _:y5 follows from _:x0 being _:y0 in five steps, and only then is e what _:z and _:w are.
    steps = " ".join(f"wasAttributedTo(_:{v}{n}; f, _:{v}{n + 1})" for n in range(5) for v in "xy")
    ends = "wasAttributedTo(k; f, _:x0) wasAttributedTo(k; f, _:y0)"
    last = "wasAttributedTo(_:x5; _:z, ag) wasAttributedTo(_:y5; e, ag)"
    for variable in ("_:z", "_:w"):
        times = f"wasGeneratedBy({variable}, a, {T1}) wasGeneratedBy(e, a, {T2})"
        assert numbers(f"{early} {same.format('v', '_:z', '_:w')} {times} {last} {steps} {ends}") == [23]
        assert numbers(f"{early} {same.format('v', '_:z', '_:w')} {times} {last} {steps}") == []


def test_a_variable_is_whatever_it_must_be_but_one_thing_only() -> None:
    assert numbers("used(u; _:x, e, -) used(u; a, e, -)") == []
    assert numbers("used(u; _:x, e, -) used(u; a, e, -) used(v; _:x, e, -) used(v; b, e, -)") == [23]


def test_named_and_blank_events_are_merged_into_the_named_one() -> None:
    assert (
        numbers("wasGeneratedBy(_:g; e, a, -) wasGeneratedBy(g; e, a, -) wasGeneratedBy(_:h; e, a, -)") == []
    )
    assert numbers("wasGeneratedBy(_:g; e, a, -) wasGeneratedBy(g; e, a, -) entity(_:g)") == [54]


def test_an_influence_of_the_same_name_is_between_the_same_two() -> None:
    assert numbers("wasAssociatedWith(i; a, ag, p) wasInfluencedBy(i; a, ag)") == []
    assert numbers("wasInfluencedBy(i; a, other) wasAssociatedWith(i; a, ag, p)") == [23]
    assert numbers("wasStartedBy(i; a, e, b, -) wasInfluencedBy(i; a, b)") == [
        23
    ]  # its trigger influenced it


def test_a_document_stated_twice_is_no_worse() -> None:
    text = f"activity(a, {T1}, -) used(a, e) wasGeneratedBy(f, a) wasDerivedFrom(f, e) wasAttributedTo(f, ag)"
    assert numbers(f"{text} {text}") == []


@pytest.mark.parametrize("text", ["wasStartedBy({id}; a, {e}, b, {t})", "wasEndedBy({id}; a, {e}, b, {t})"])
def test_starts_by_one_starter_have_one_trigger_and_one_time(text: str) -> None:
    named = text.format(id="-", e="e", t="-")
    assert numbers(f"{named} {text.format(id='s', e='-', t=T1)} {named}") == []
    assert numbers(f"{named} {text.format(id='s', e='f', t='-')}") == [23]
    assert numbers(f"{text.format(id='-', e='e', t=T1)} {text.format(id='-', e='e', t=T2)}") == [23]
