"""The parts of the checker by themselves: instants, terms, cycles, and the precedences that each rule demands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_translators.prov.constraints import RULES
from clew_translators.prov.cycles import components, shortest_path
from clew_translators.prov.instance import instance_of
from clew_translators.prov.instants import instant
from clew_translators.prov.merging import merge
from clew_translators.prov.precedence import Events, precedences
from clew_translators.prov.unify import PLACEHOLDER, Clash, Terms
from tests.translators.prov.constraints_notation import EX, statements


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2024-05-01T10:00:00Z", "2024-05-01T10:00:00+00:00"),
        ("2024-05-01T10:00:00Z", "2024-05-01T10:00:00.000Z"),
        ("2024-05-01T10:00:00Z", " 2024-05-01T12:00:00+02:00\n"),
        ("2024-05-01T00:30:00Z", "2024-04-30T19:00:00-05:30"),
        ("2024-02-29T24:00:00", "2024-03-01T00:00:00"),
        ("2023-12-31T23:30:00-01:00", "2024-01-01T00:30:00Z"),
        ("-0001-12-31T24:00:00Z", "0000-01-01T00:00:00Z"),
        ("2024-05-01T10:00:00.5", "2024-05-01T10:00:00.50"),
        ("yesterday", " yesterday"),
    ],
)
def test_one_instant_written_twice(one: str, other: str) -> None:
    assert instant(one) == instant(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2024-05-01T10:00:00Z", "2024-05-01T10:00:00"),
        ("2024-05-01T10:00:00Z", "2024-05-01T10:00:00.0000001Z"),
        ("2024-05-01T10:00:00Z", "2024-05-01T10:00:00+02:00"),
        ("2024-02-28T24:00:00", "2024-03-01T00:00:00"),
        ("2023-02-29T00:00:00", "2023-03-01T00:00:00"),  # no such day, so no instant
        ("2024-05-01T24:00:01", "2024-05-02T00:00:01"),
        ("yesterday", "Yesterday"),
    ],
)
def test_two_instants(one: str, other: str) -> None:
    assert instant(one) != instant(other)


@given(st.datetimes(), st.timedeltas())
def test_instants_are_as_far_apart_as_the_calendar_says(start: object, apart: object) -> None:
    try:
        end = start + apart  # type: ignore[operator]
    except OverflowError:
        return
    seconds = [int(instant(f"{at:%Y-%m-%dT%H:%M:%S}".rjust(19, "0")).split(".")[0]) for at in (start, end)]
    whole = end.replace(microsecond=0) - start.replace(microsecond=0)  # type: ignore[attr-defined]
    assert seconds[1] - seconds[0] == whole.total_seconds()


def test_constants_clash_and_variables_give_way() -> None:
    terms = Terms()
    variable, other = terms.fresh(), "_:x"
    assert terms.unify(variable, other) is not None
    assert terms.value(variable) == other
    terms.unify("ex:a", variable)
    assert terms.value(other) == "ex:a"
    assert terms.unify(other, "ex:a") is None
    with pytest.raises(Clash):
        terms.unify(variable, "ex:b")
    with pytest.raises(Clash):
        terms.unify(PLACEHOLDER, "ex:a")
    assert terms.value("ex:b") == "ex:b"


def test_a_variable_may_turn_out_to_be_nothing() -> None:
    terms = Terms()
    variable = terms.fresh()
    assert not terms.named(variable)
    terms.unify(variable, PLACEHOLDER)
    assert terms.absent(variable)


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30))
def test_components_are_what_reaches_each_other(edges: list[tuple[int, int]]) -> None:
    after: list[list[int]] = [[] for _ in range(12)]
    for first, then in edges:
        after[first].append(then)
    reached = [{node} for node in range(12)]
    for _ in range(12):
        for first, then in edges:
            reached[first] |= reached[then]
    found = components(after)
    for one in range(12):
        for other in range(12):
            assert (found[one] == found[other]) == (other in reached[one] and one in reached[other])


def test_a_path_is_a_shortest_one() -> None:
    assert shortest_path([[1, 2], [3], [4], [4], []], 0, 4) == [0, 2, 4]
    assert shortest_path([[0]], 0, 0) == [0]


def test_a_component_may_be_deeper_than_the_stack_of_python() -> None:
    size = 50_000
    after = [[(node + 1) % size] for node in range(size)]
    assert set(components(after)) == {0}
    assert len(shortest_path(after, 1, 0)) == size


def test_the_rules_have_the_numbers_of_the_rec() -> None:
    assert list(RULES) == list(range(1, 57))
    assert len(set(RULES.values())) == 56
    assert (RULES[5], RULES[21]) == (
        "communication-generation-use-inference",
        "specialization-attributes-inference",
    )
    assert (RULES[22], RULES[30], RULES[50]) == ("key-object", "start-precedes-end", "typing")
    assert RULES[56] == "membership-empty-collection"


PRECEDENCES = (
    (30, "wasStartedBy(s; a, -, -, -) wasEndedBy(n; a, -, -, -)", "s<n"),
    (31, "wasStartedBy(s; a, -, -, -) wasStartedBy(r; a, -, -, -)", "s<r r<s"),
    (32, "wasEndedBy(n; a, -, -, -) wasEndedBy(m; a, -, -, -)", "n<m m<n"),
    (33, "wasStartedBy(s; a, -, -, -) used(u; a, e, -) wasEndedBy(n; a, -, -, -)", "s<u u<n"),
    (34, "wasStartedBy(s; a, -, -, -) wasGeneratedBy(g; e, a, -) wasEndedBy(n; a, -, -, -)", "s<g g<n"),
    (35, "wasInformedBy(b, a) wasStartedBy(s; a, -, -, -) wasEndedBy(n; b, -, -, -)", "s<n"),
    (36, "wasGeneratedBy(g; e, a, -) wasInvalidatedBy(i; e, a, -)", "g<i"),
    (37, "wasGeneratedBy(g; e, a, -) used(u; b, e, -)", "g<u"),
    (38, "used(u; a, e, -) wasInvalidatedBy(i; e, a, -)", "u<i"),
    (39, "wasGeneratedBy(g; e, a, -) wasGeneratedBy(h; e, b, -)", "g<h h<g"),
    (40, "wasInvalidatedBy(i; e, a, -) wasInvalidatedBy(j; e, b, -)", "i<j j<i"),
    (41, "wasDerivedFrom(e2, e1, a, g, u)", "u<g"),
    (42, "wasDerivedFrom(e2, e1) wasGeneratedBy(g; e1, a, -) wasGeneratedBy(h; e2, b, -)", "g<h"),
    (43, "wasGeneratedBy(g; e, b, -) wasStartedBy(s; a, e, b, -) wasInvalidatedBy(i; e, c, -)", "g<s s<i"),
    (44, "wasGeneratedBy(g; e, b, -) wasEndedBy(n; a, e, b, -) wasInvalidatedBy(i; e, c, -)", "g<n n<i"),
    (45, "specializationOf(s, e) wasGeneratedBy(g; e, a, -) wasGeneratedBy(h; s, b, -)", "g<h"),
    (46, "specializationOf(s, e) wasInvalidatedBy(i; e, a, -) wasInvalidatedBy(j; s, b, -)", "j<i"),
    (47, "wasAssociatedWith(a, ag) wasStartedBy(s; a, -, -, -) wasInvalidatedBy(i; ag, b, -)", "s<i"),
    (47, "wasAssociatedWith(a, ag) wasEndedBy(n; a, -, -, -) wasGeneratedBy(g; ag, b, -)", "g<n"),
    (47, "wasAssociatedWith(a, ag) wasStartedBy(s; a, -, -, -) wasEndedBy(n; ag, -, -, -)", "s<n"),
    (47, "wasAssociatedWith(a, ag) wasStartedBy(s; ag, -, -, -) wasEndedBy(n; a, -, -, -)", "s<n"),
    (48, "wasAttributedTo(e, ag) wasGeneratedBy(g; e, a, -) wasGeneratedBy(h; ag, b, -)", "h<g"),
    (48, "wasAttributedTo(e, ag) wasGeneratedBy(g; e, a, -) wasStartedBy(s; ag, -, -, -)", "s<g"),
    (49, "actedOnBehalfOf(b, c) wasInvalidatedBy(i; b, a, -) wasGeneratedBy(g; c, a, -)", "g<i"),
    (49, "actedOnBehalfOf(b, c) wasEndedBy(n; b, -, -, -) wasStartedBy(s; c, -, -, -)", "s<n"),
)


@pytest.mark.parametrize(("rule", "text", "order"), PRECEDENCES, ids=[f"C{n}-{o}" for n, _, o in PRECEDENCES])
def test_a_rule_orders_just_these_events(rule: int, text: str, order: str) -> None:
    instance = instance_of(statements(text))
    assert list(merge(instance)) == []
    value = instance.terms.value
    found = {
        f"{value(edge.first)}<{value(edge.then)}".replace(EX, "")
        for edge in precedences(instance, Events(instance))
        if edge.rule == rule and instance.terms.constant(edge.first) and instance.terms.constant(edge.then)
    }
    assert {edge for edge in found if len(edge) == 3} == set(order.split())
