"""What PROV-CONSTRAINTS says of documents that leave things out, say them twice, or say them of each other."""

import pytest

from clew_translators.prov.constraints import check
from clew_translators.prov.model import Document, Name, Statement, Value
from tests.translators.prov.constraints_notation import EX, PROV, document

T1, T2 = "2024-05-01T10:00:00Z", "2024-05-01T11:00:00Z"


def numbers(text: str) -> list[int]:
    return [violation.constraint for violation in check(document(text))]


# --- derivations ---------------------------------------------------------------------------------


def test_a_derivation_with_an_activity_makes_a_usage_and_a_generation() -> None:
    # The generation `g` of 11 is the one that is stated, so it has its entity and activity.
    assert numbers("wasDerivedFrom(e2, e1, a, g, u) wasGeneratedBy(g; e2, a, -) used(u; a, e1, -)") == []
    assert numbers("wasDerivedFrom(e2, e1, a, g, u) wasGeneratedBy(g; e3, a, -)") == [23]
    assert numbers("wasDerivedFrom(e2, e1, a, g, u) used(u; b, e1, -)") == [23]
    assert numbers("wasDerivedFrom(e2, e1, a, -, -) wasGeneratedBy(h; e2, a, -)") == []


def test_an_activity_that_has_no_name_is_still_one() -> None:
    assert numbers("wasDerivedFrom(d; e2, e1, _:a, -, -) wasDerivedFrom(d; e2, e1, a, g, u)") == []
    assert numbers("wasDerivedFrom(d; e2, e1, _:a, -, -) wasDerivedFrom(d; e2, e1, -, -, -)") == [23]
    # A plan takes part in no event, so a variable may turn out to be none.
    assert numbers("wasAssociatedWith(i; a, ag, _:p) wasAssociatedWith(i; a, ag, -)") == []


def test_a_derivation_without_an_activity_makes_no_event() -> None:
    assert numbers("wasDerivedFrom(e2, e1) wasDerivedFrom(e1, e2) used(a, e1)") == []


def test_a_derivation_circle_is_found_where_generations_are_known_to_exist() -> None:
    circle = "wasDerivedFrom(e2, e1) wasDerivedFrom(e1, e2)"
    assert numbers(f"{circle} entity(e1) entity(e2)") == [42]  # inference 7
    assert numbers(f"{circle} wasAttributedTo(e1, ag) wasAttributedTo(e2, ag)") == [42]  # inference 13
    assert numbers(f"{circle} wasStartedBy(a, e1) wasEndedBy(a, e2)") == [42]  # inferences 9 and 10
    assert numbers(f"{circle} wasDerivedFrom(e2, e1, a, -, -) entity(e1)") == [42]  # inference 11
    assert numbers(f"{circle} entity(e0) specializationOf(e1, e0) specializationOf(e2, e0)") == [42]  # 21
    assert numbers(f"{circle} entity(e1)") == []
    assert numbers("entity(e) wasDerivedFrom(e, e)") == [42]


@pytest.mark.parametrize("type_", ["Revision", "PrimarySource", "Quotation"])
def test_revisions_sources_and_quotations_are_derivations(type_: str) -> None:
    there = f"wasDerivedFrom(e2, e1, [prov:type='prov:{type_}'])"
    back = f"wasDerivedFrom(e1, e2, [prov:type='prov:{type_}'])"
    assert numbers(f"entity(e1) entity(e2) {there}") == []
    assert numbers(f"entity(e1) entity(e2) {there} {back}") == [42]


def test_two_circles_are_two_violations_and_each_is_told_in_full() -> None:
    found = check(
        document(
            "entity(a) entity(b) wasDerivedFrom(a, b) wasDerivedFrom(b, a)"
            " entity(c) entity(d) wasDerivedFrom(c, d) wasDerivedFrom(d, c)"
        )
    )
    assert [sorted(violation.subjects) for violation in found] == [[EX + "a", EX + "b"], [EX + "c", EX + "d"]]
    assert [step.because for step in found[0].evidence] == [
        f"{EX}a was derived from {EX}b",
        f"{EX}b was derived from {EX}a",
    ]
    assert found[0].evidence[0].event == f"the generation of {EX}b"


def test_a_long_circle_is_cut_in_the_message_and_whole_in_the_evidence() -> None:
    ring = " ".join(f"entity(e{n}) wasDerivedFrom(e{n}, e{(n + 1) % 100})" for n in range(100))
    (violation,) = check(document(ring))
    assert len(violation.evidence) == 100
    assert "94 more" in violation.message
    assert violation.message.count(" before ") == 6


# --- who and what --------------------------------------------------------------------------------


def test_a_communication_orders_the_start_of_one_and_the_end_of_the_other() -> None:
    # The REC lets everything be at one instant, so two activities may inform each other whatever else is known.
    text = "wasInformedBy(b, a) wasInformedBy(a, b) wasStartedBy(a, e) wasEndedBy(a, e) wasStartedBy(b, e) wasEndedBy(b, e)"
    assert numbers(text) == []


def test_an_entity_whose_invalidation_comes_first_is_wrong_only_if_something_is_derived_meanwhile() -> None:
    text = "wasInvalidatedBy(i; e, a, -) used(u; b, e, -) wasGeneratedBy(g; e, c, -)"
    assert numbers(text) == []
    assert numbers(f"{text} wasStartedBy(s; b, f, -, -) wasDerivedFrom(e, f)") == []


def test_the_agent_of_an_attribution_was_there_before_the_entity() -> None:
    assert numbers("wasAttributedTo(e, ag) entity(ag) wasDerivedFrom(ag, e)") == [42]
    assert (
        numbers("wasAttributedTo(e, ag) agent(ag) wasDerivedFrom(ag, e)") == []
    )  # nobody says that it was generated


def test_delegates_and_those_they_act_for_are_associated_with_the_activity() -> None:
    # 14 associates b and e2, so e2 was generated before a ended (47); `x` is that end and the generation of e1.
    ends = "wasEndedBy(x; a, -, -, -) wasGeneratedBy(x; e1, c, -) entity(e2) wasDerivedFrom(e2, e1)"
    assert numbers(f"{ends} actedOnBehalfOf(b, e2, a)") == [42, 53]
    assert numbers(f"{ends} actedOnBehalfOf(e2, b, a)") == [42, 53]
    assert numbers(f"{ends} actedOnBehalfOf(b, e2, other)") == [53]


def test_the_trigger_was_generated_by_the_starter() -> None:
    # 9: e was generated by b, so b started before; and b itself is started by what was derived from e.
    text = "wasStartedBy(a, e, b) wasStartedBy(b, f) wasDerivedFrom(f, e)"
    assert numbers(text) == [42]
    assert numbers(text.replace("wasStartedBy(a, e, b)", "wasStartedBy(a, e)")) == []
    assert numbers(text.replace("wasStartedBy(a", "wasEndedBy(a")) == [42]  # 10


def test_a_starter_precedes_what_it_starts_even_if_the_trigger_is_not_named() -> None:
    text = "wasStartedBy(a, -, b) wasStartedBy(b, f) wasGeneratedBy(e, a) wasDerivedFrom(f, e)"
    assert numbers(text) == [42]


def test_alternates_are_symmetric_and_of_oneself_without_harm() -> None:
    assert numbers("alternateOf(e1, e2) alternateOf(e2, e1) alternateOf(e1, e1) entity(e1)") == []


def test_specialization_is_transitive_where_nothing_is_known_of_the_one_between() -> None:
    chain = (
        "wasGeneratedBy(g; top, a, -) specializationOf(m, top) specializationOf(n, m) specializationOf(e, n)"
    )
    (violation,) = check(document(f"{chain} wasGeneratedBy(h; e, b, -) wasDerivedFrom(top, e)"))
    strict, back = violation.evidence
    assert (strict.constraint, strict.because) == (42, f"{EX}top was derived from {EX}e")
    assert (back.constraint, back.because) == (45, f"{EX}e is a specialization of {EX}top")
    assert (back.event, back.then) == (strict.then, strict.event)
    assert set(violation.subjects) >= {EX + "g", EX + "h"}


def test_so_are_invalidations() -> None:
    # The two invalidations are also generations by name (53), so that something follows them.
    chain = "wasInvalidatedBy(i; e, a, -) specializationOf(e, m) specializationOf(m, top) wasInvalidatedBy(j; top, a, -)"
    names = "wasGeneratedBy(i; late, a, -) wasGeneratedBy(j; early, a, -) wasDerivedFrom(late, early)"
    order, *_ = check(document(f"{chain} {names}"))
    assert [(step.constraint, step.because) for step in order.evidence] == [
        (42, f"{EX}late was derived from {EX}early"),
        (46, f"{EX}e is a specialization of {EX}top"),
    ]


def test_two_events_may_be_ordered_strictly_and_otherwise() -> None:
    # `x` is the start of a and the generation of e1 (53), so 34 puts it before g, and 42 strictly.
    text = "wasStartedBy(x; a, t, -, -) wasGeneratedBy(x; e1, b, -) wasGeneratedBy(g; e2, a, -)"
    assert numbers(f"{text} wasDerivedFrom(e2, e1) specializationOf(e1, e2)") == [42, 53]


def test_specialization_of_a_derived_entity_may_go_either_way_but_not_in_a_circle() -> None:
    assert numbers("entity(e1) entity(e2) specializationOf(e2, e1) alternateOf(e2, e1)") == []
    assert numbers("specializationOf(_:x, e) specializationOf(e, _:x)") == [52]
    assert numbers(
        "specializationOf(a, b) specializationOf(b, a) specializationOf(c, d) specializationOf(d, c)"
    ) == [52, 52]


def test_a_member_of_what_specializes_an_empty_collection_at_two_removes() -> None:
    empty = "entity(c, [prov:type='prov:EmptyCollection'])"
    assert numbers(f"{empty} specializationOf(b, c) specializationOf(a, b) hadMember(a, e)") == [56]
    assert numbers(f"{empty} specializationOf(c, b) hadMember(b, e)") == []
    assert numbers(f"{empty} activity(c)") == [55]


@pytest.mark.parametrize(
    ("value", "empty"),
    [
        (Name(PROV + "EmptyCollection"), True),
        (Value("prov:EmptyCollection", "http://www.w3.org/2001/XMLSchema#QName"), True),
        (Value(PROV + "EmptyCollection", "http://www.w3.org/2001/XMLSchema#anyURI"), True),
        (Value("prov:EmptyCollection"), False),
        (Name(EX + "EmptyCollection"), False),
    ],
)
def test_how_a_collection_is_said_to_be_empty(value: Name | Value, empty: bool) -> None:
    statements = (
        Statement(kind="entity", id=EX + "c", attributes=((PROV + "type", value),)),
        Statement(kind="hadMember", arguments=(EX + "c", EX + "e")),
    )
    assert [violation.constraint for violation in check(Document(statements))] == ([56] if empty else [])


def test_one_name_for_three_kinds_breaks_all_that_it_breaks() -> None:
    assert numbers("entity(x) activity(x) used(x; a, e, -) wasGeneratedBy(x; e, a, -)") == [55, 53, 54]


# --- documents -----------------------------------------------------------------------------------


def test_bundles_are_judged_each_by_itself() -> None:
    clash = "wasGeneratedBy(g1; e, a, -)", "wasGeneratedBy(g2; e, a, -)"
    assert check(document(clash[0], one=clash[1])) == ()
    assert check(document("", one=clash[0], two=clash[1])) == ()
    assert check(document("entity(x)", one="activity(x)", two="used(x; a, e, -)")) == ()
    found = check(document("entity(y) activity(y)", good="entity(x)", bad=" ".join(clash)))
    assert [(violation.constraint, violation.bundle) for violation in found] == [(55, ""), (24, EX + "bad")]


def test_a_mention_says_nothing() -> None:
    assert numbers("mentionOf(e, e, b) activity(e) mentionOf(e, f, c)") == []


def test_an_empty_document_is_valid() -> None:
    assert check(Document()) == ()


def test_a_statement_that_lacks_arguments_is_refused_by_name() -> None:
    odd = Statement(kind="used", id=EX + "u", arguments=(EX + "a",))
    with pytest.raises(
        ValueError, match=r"used\(https://example.org/u\): 1 arguments, .* 3: activity, entity, time"
    ):
        check(Document((odd,)))


def test_messages_say_what_is_wrong_and_between_what() -> None:
    (violation,) = check(document("wasGeneratedBy(g1; e, a, -) wasGeneratedBy(g2; e, a, -)"))
    assert violation.message.replace(EX, "") == (
        "e was generated by a in one event, but it is stated as two: g1 and g2."
    )
    assert violation.subjects == (EX + "e", EX + "a", EX + "g1", EX + "g2")
    (violation,) = check(document("entity(e1) entity(e2) wasDerivedFrom(e2, e1) specializationOf(e1, e2)"))
    assert violation.message.replace(EX, "") == (
        "These events cannot be put in order:"
        " the generation of e1 is before the generation of e2 (e2 was derived from e1);"
        " the generation of e2 is not after the generation of e1 (e1 is a specialization of e2)."
    )
    assert (violation.name, violation.constraints) == ("derivation-generation-generation-ordering", (42, 45))
    (violation,) = check(document(f"activity(a, {T1}, -) wasStartedBy(a, -, -, {T2})"))
    assert violation.message.replace(EX, "") == (
        f"a has one startTime, but it is stated as {T1} and, by wasStartedBy, as {T2}."
    )
    (violation,) = check(document("agent(x) used(x, e) entity(x)"))
    assert violation.message.replace(EX, "") == (
        "x is both an entity (by its statement entity) and an activity (by used with e): nothing can be."
    )
