"""A PROV instance whose statements are complete: definitions 1-4 and the inferences that a constraint can see.

What an omitted argument means (definition 4, table 3 of PROV-CONSTRAINTS): something that exists and is not named.
Not so the plan of an association, the activity of a derivation, and the generation and usage of a derivation without
an activity: there nothing is known to exist, and the placeholder ``-`` stays.

Inferences that are not drawn here, because nothing that is checked can depend on them:

* 5, 6: the events of a communication lie inside its activities, and the activities of a generation and a usage are
  ordered through the two events (33, 34, 37), which is all that 35 asks of the communication;
* 8: an unknown start has nothing before it and an unknown end nothing after it; their times are those of 28 and 29;
* 12, 16, 17, 18, 20: an alternate is an entity, which the statement that it comes from says already;
* the association of 13: its activity is unknown, so it has no start or end;
* 7, 13 (generation), 19, 21: drawn after terms are merged, see :mod:`clew_translators.prov.inference`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from clew_translators.prov.model import ARGUMENTS, TIMES, Kind, Name, Statement, Value
from clew_translators.prov.rules import PROV
from clew_translators.prov.unify import PLACEHOLDER, Term, Terms

OBJECTS: tuple[Kind, ...] = ("entity", "activity", "agent")

WITHOUT_IDENTIFIER: frozenset[Kind] = frozenset({"specializationOf", "alternateOf", "hadMember", "mentionOf"})
"""Relations that PROV-DM gives no identifier."""

_XSD = "http://www.w3.org/2001/XMLSchema#"
_QUALIFIED_NAMES = frozenset({_XSD + "QName", PROV + "QUALIFIED_NAME"})


@dataclass(eq=False, slots=True)
class Fact:
    """A statement with all its arguments. ``inference`` is the rule that says it; 0 if the document does."""

    kind: Kind
    id: Term
    args: tuple[Term, ...]
    inference: int = 0


@dataclass(eq=False, slots=True)
class Instance:
    """What is stated in one bundle or outside all: facts by kind, their terms, and the collections said to be empty."""

    terms: Terms = field(default_factory=Terms)
    facts: defaultdict[Kind, list[Fact]] = field(default_factory=lambda: defaultdict(list))
    empty: list[Term] = field(default_factory=list)

    def add(self, kind: Kind, args: tuple[Term, ...], *, inference: int, id_: Term | None = None) -> None:
        """A fact that follows; without ``id_`` it is about something that has no name."""
        self.facts[kind].append(Fact(kind, id_ or self.terms.fresh(), args, inference))

    def everything(self) -> Iterator[Fact]:
        """All facts, kind by kind."""
        for facts in self.facts.values():
            yield from facts


def instance_of(statements: Iterable[Statement]) -> Instance:
    """``statements`` in full, with what follows from them. ``mentionOf`` says nothing here: PROV-LINKS is no REC."""
    instance = Instance()
    for statement in statements:
        if statement.kind != "mentionOf":
            instance.facts[statement.kind].append(_complete(statement, instance.terms))
            if statement.kind == "entity" and _is_empty_collection(statement):
                instance.empty.append(instance.facts["entity"][-1].id)
    _infer(instance)
    return instance


def _complete(statement: Statement, terms: Terms) -> Fact:
    names = ARGUMENTS[statement.kind]
    if len(names) != len(statement.arguments):
        raise ValueError(
            f"{statement.kind}({statement.id or '-'}): {len(statement.arguments)} arguments, where PROV-DM has"
            f" {len(names)}: {', '.join(names) or 'none'}; give None for what is left out"
        )
    args = tuple(
        _argument(terms, name, given, statement)
        for name, given in zip(names, statement.arguments, strict=True)
    )
    named = statement.id if statement.kind not in WITHOUT_IDENTIFIER else None
    return Fact(statement.kind, named or terms.fresh(), args)


def _argument(terms: Terms, name: str, given: str | None, statement: Statement) -> Term:
    if given is not None:
        return terms.time(given) if name in TIMES else given
    if name == "plan":
        return PLACEHOLDER
    # Without an activity it is not known whether there was one, or several, so there is no event to speak of.
    if statement.kind == "wasDerivedFrom" and name in {"activity", "generation", "usage"}:
        return PLACEHOLDER if statement.argument("activity") is None else terms.fresh()
    return terms.fresh()


def _is_empty_collection(statement: Statement) -> bool:
    return any(
        key == PROV + "type" and _iri(value) == PROV + "EmptyCollection"
        for key, value in statement.attributes
    )


def _iri(value: Value | Name) -> str:
    """What ``value`` names: PROV-N writes a name also as a literal that is one."""
    if isinstance(value, Name):
        return value.iri
    if value.datatype in _QUALIFIED_NAMES and value.text.startswith("prov:"):
        return PROV + value.text.removeprefix("prov:")
    return value.text if value.datatype == _XSD + "anyURI" else ""


def _infer(instance: Instance) -> None:
    """Inferences 9, 10, 11 and 14. They feed no one of them, so once is enough."""
    terms, facts = instance.terms, instance.facts
    ends: tuple[tuple[int, Kind], ...] = ((9, "wasStartedBy"), (10, "wasEndedBy"))
    for inference, kind in ends:
        for fact in facts[kind]:
            _, trigger, starter, _ = fact.args
            instance.add("wasGeneratedBy", (trigger, starter, terms.fresh()), inference=inference)
    for fact in facts["wasDerivedFrom"]:
        generated, used, activity, generation, usage = fact.args
        if PLACEHOLDER not in {activity, generation, usage}:
            instance.add("used", (activity, used, terms.fresh()), inference=11, id_=usage)
            instance.add("wasGeneratedBy", (generated, activity, terms.fresh()), inference=11, id_=generation)
    for fact in facts["actedOnBehalfOf"]:
        delegate, responsible, activity = fact.args
        for agent in (delegate, responsible):
            instance.add("wasAssociatedWith", (activity, agent, terms.fresh()), inference=14)
