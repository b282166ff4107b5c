"""PROV-CONSTRAINTS as the REC writes it, rule by rule, with nothing left out and no thought of time.

Every inference is drawn until nothing new follows, every ordering rule is applied to every pair of events, and the
order is closed under transitivity. It answers only whether an instance is valid. Facts are tuples ``(kind, id, *args)``;
names that begin with ``_`` are variables, ``-`` is the placeholder, and objects have their name as ``id``.
"""

from collections.abc import Iterable, Iterator
from itertools import count

from clew_translators.prov.model import ARGUMENTS, Statement

Fact = tuple[str, ...]

KEYED = [
    "used",
    "wasGeneratedBy",
    "wasInvalidatedBy",
    "wasStartedBy",
    "wasEndedBy",
    "wasInformedBy",
    "wasAttributedTo",
    "wasAssociatedWith",
    "actedOnBehalfOf",
]
UNNAMED = {"specializationOf", "alternateOf", "hadMember"}


class Invalid(Exception):
    """What the REC writes as THEN INVALID."""


class Reference:
    def __init__(self, statements: Iterable[Statement]) -> None:
        self.numbers = count()
        self.facts: set[Fact] = set()
        self.empty: set[tuple[str, str]] = set()
        for statement in statements:
            fact = self.complete(statement)
            self.facts.add(fact)
            if statement.attributes:
                self.empty.add((fact[1], "empty"))

    def new(self) -> str:
        return f"_{next(self.numbers)}"

    def complete(self, statement: Statement) -> Fact:
        args = list(statement.arguments)
        kind = statement.kind
        for place, (name, given) in enumerate(zip(ARGUMENTS[kind], statement.arguments, strict=True)):
            if given is None:
                nothing = name == "plan" or (
                    kind == "wasDerivedFrom" and place >= 2 and statement.arguments[2] is None
                )
                args[place] = "-" if nothing else self.new()
        id_ = "" if kind in UNNAMED else statement.id or self.new()
        return (kind, id_, *(arg or "" for arg in args))

    def all(self, kind: str) -> list[Fact]:
        return [fact for fact in self.facts if fact[0] == kind]

    def valid(self) -> bool:
        try:
            while self.infer() or self.unify():
                pass
            self.typing()
            self.impossible()
        except Invalid:
            return False
        return not self.circular()

    # --- inferences 5-21 -------------------------------------------------------------------------

    def infer(self) -> bool:
        before = len(self.facts), len(self.empty)
        for rule in (self.communications, self.existence, self.starts_and_ends, self.derivations, self.agents,
                     self.influence, self.alternates):  # fmt: skip
            rule()
        return before != (len(self.facts), len(self.empty))

    def communications(self) -> None:
        for _, _, a2, a1 in self.all("wasInformedBy"):
            made = {g[2] for g in self.all("wasGeneratedBy") if g[3] == a1}
            if not any(u[2] == a2 and u[3] in made for u in self.all("used")):
                e = self.new()
                self.facts.add(("wasGeneratedBy", self.new(), e, a1, self.new()))
                self.facts.add(("used", self.new(), a2, e, self.new()))
        for _, _, e, a1, _ in self.all("wasGeneratedBy"):
            for _, _, a2, e2, _ in self.all("used"):
                if e == e2 and not any(i[2:] == (a2, a1) for i in self.all("wasInformedBy")):
                    self.facts.add(("wasInformedBy", self.new(), a2, a1))

    def existence(self) -> None:
        for _, e in self.all("entity"):
            for kind in ("wasGeneratedBy", "wasInvalidatedBy"):
                if not any(f[2] == e for f in self.all(kind)):
                    self.facts.add((kind, self.new(), e, self.new(), self.new()))
        for _, a, t1, t2 in self.all("activity"):
            for kind, t in (("wasStartedBy", t1), ("wasEndedBy", t2)):
                if not any((f[2], f[5]) == (a, t) for f in self.all(kind)):
                    self.facts.add((kind, self.new(), a, self.new(), self.new(), t))

    def starts_and_ends(self) -> None:
        for _, _, _, e, a1, _ in self.all("wasStartedBy") + self.all("wasEndedBy"):
            if not any(g[2:4] == (e, a1) for g in self.all("wasGeneratedBy")):
                self.facts.add(("wasGeneratedBy", self.new(), e, a1, self.new()))

    def derivations(self) -> None:
        for _, _, e2, e1, a, g, u in self.all("wasDerivedFrom"):
            if "-" not in {a, g, u}:
                if not any(f[:4] == ("used", u, a, e1) for f in self.facts):
                    self.facts.add(("used", u, a, e1, self.new()))
                if not any(f[:4] == ("wasGeneratedBy", g, e2, a) for f in self.facts):
                    self.facts.add(("wasGeneratedBy", g, e2, a, self.new()))

    def agents(self) -> None:
        for _, _, e, ag in self.all("wasAttributedTo"):
            by = {g[3] for g in self.all("wasGeneratedBy") if g[2] == e}
            if not any(s[2] in by and s[3] == ag for s in self.all("wasAssociatedWith")):
                a = self.new()
                self.facts.add(("wasGeneratedBy", self.new(), e, a, self.new()))
                self.facts.add(("wasAssociatedWith", self.new(), a, ag, self.new()))
        for _, _, ag2, ag1, a in self.all("actedOnBehalfOf"):
            for ag in (ag2, ag1):
                if not any(s[2:4] == (a, ag) for s in self.all("wasAssociatedWith")):
                    self.facts.add(("wasAssociatedWith", self.new(), a, ag, self.new()))

    def influence(self) -> None:
        for kind in (*KEYED, "wasDerivedFrom"):
            for fact in self.all(kind):
                self.facts.add(("wasInfluencedBy", *fact[1:4]))

    def alternates(self) -> None:
        self.facts |= {("alternateOf", "", e, e) for _, e in self.all("entity")}
        self.facts |= {("alternateOf", "", *fact[2:]) for fact in self.all("specializationOf")}
        self.facts |= {("alternateOf", "", e2, e1) for _, _, e1, e2 in self.all("alternateOf")}
        for kind in ("alternateOf", "specializationOf"):
            for _, _, e1, e2 in self.all(kind):
                self.facts |= {(kind, "", e1, e4) for _, _, e3, e4 in self.all(kind) if e2 == e3}
        for _, _, e2, e1 in self.all("specializationOf"):
            if ("entity", e1) in self.facts:
                self.facts.add(("entity", e2))
            if (e1, "empty") in self.empty:
                self.empty.add((e2, "empty"))

    # --- constraints 22-29 -----------------------------------------------------------------------

    def unify(self) -> bool:
        for pair in self.equal():
            kept, lost = sorted(pair, key=lambda name: name.startswith("_"))
            if kept == lost:
                continue
            if not lost.startswith("_"):
                raise Invalid
            self.facts = {tuple(kept if part == lost else part for part in fact) for fact in self.facts}
            self.empty = {(kept if name == lost else name, word) for name, word in self.empty}
            return True
        return False

    def equal(self) -> Iterator[tuple[str, str]]:
        unique = {
            "wasGeneratedBy": (2, 3),
            "wasInvalidatedBy": (2, 3),
            "wasStartedBy": (2, 4),
            "wasEndedBy": (2, 4),
        }
        for fact in self.facts:
            for other in self.facts:
                if fact[0] == other[0] and fact[1] == other[1] and fact[0] not in UNNAMED:
                    yield from zip(fact, other, strict=True)
                places = unique.get(fact[0], ()) if fact[0] == other[0] else ()
                if places and all(fact[place] == other[place] for place in places):
                    yield fact[1], other[1]
                for kind, place in (("wasStartedBy", 2), ("wasEndedBy", 3)):
                    if fact[0] == "activity" and other[0] == kind and fact[1] == other[2]:
                        yield fact[place], other[5]

    # --- constraints 50-56 -----------------------------------------------------------------------

    def typing(self) -> None:
        places = {
            "entity": [("entity", 1), ("used", 3), ("wasGeneratedBy", 2), ("wasInvalidatedBy", 2), ("wasStartedBy", 3),
                       ("wasEndedBy", 3), ("wasDerivedFrom", 2), ("wasDerivedFrom", 3), ("wasAttributedTo", 2),
                       ("wasAssociatedWith", 4), ("alternateOf", 2), ("alternateOf", 3), ("specializationOf", 2),
                       ("specializationOf", 3), ("hadMember", 2), ("hadMember", 3)],
            "activity": [("activity", 1), ("used", 2), ("wasGeneratedBy", 3), ("wasInvalidatedBy", 3),
                         ("wasInformedBy", 2), ("wasInformedBy", 3), ("wasStartedBy", 2), ("wasStartedBy", 4),
                         ("wasEndedBy", 2), ("wasEndedBy", 4), ("wasDerivedFrom", 4), ("wasAssociatedWith", 2),
                         ("actedOnBehalfOf", 4)],
        }  # fmt: skip
        typed = {
            type_: {fact[place] for kind, place in found for fact in self.all(kind)} - {"-"}
            for type_, found in places.items()
        }
        if typed["entity"] & typed["activity"]:
            raise Invalid
        if any((fact[2], "empty") in self.empty for fact in self.all("hadMember")):
            raise Invalid

    def impossible(self) -> None:
        for _, _, _, _, a, g, u in self.all("wasDerivedFrom"):
            if a == "-" and (g, u) != ("-", "-"):
                raise Invalid
        for fact in self.facts:
            if fact[0] == "specializationOf" and fact[2] == fact[3]:
                raise Invalid
            for other in self.facts:
                if fact[1] == other[1] and fact[0] != other[0]:
                    if fact[0] in KEYED and other[0] in KEYED:
                        raise Invalid
                    objects = {"entity", "activity", "agent"}
                    if fact[0] in objects and other[0] not in objects | UNNAMED:
                        raise Invalid

    # --- constraints 30-49 -----------------------------------------------------------------------

    def circular(self) -> bool:
        weak, strict = set(self.precedes()), set(self.strictly_precedes())
        after: dict[str, set[str]] = {}
        for first, then in weak | strict:
            after.setdefault(first, set()).add(then)
        return any(first in self.reached(after, then) for first, then in strict)

    def reached(self, after: dict[str, set[str]], start: str) -> set[str]:
        found, waiting = {start}, [start]
        while waiting:
            more = after.get(waiting.pop(), set()) - found
            found |= more
            waiting.extend(more)
        return found

    def of(self, kind: str, thing: str, place: int = 2) -> list[str]:
        return [fact[1] for fact in self.all(kind) if fact[place] == thing]

    def strictly_precedes(self) -> Iterator[tuple[str, str]]:
        for fact in self.all("wasDerivedFrom"):
            for first in self.of("wasGeneratedBy", fact[3]):
                for then in self.of("wasGeneratedBy", fact[2]):
                    yield first, then

    def precedes(self) -> Iterator[tuple[str, str]]:
        gen, inv, start, end = "wasGeneratedBy", "wasInvalidatedBy", "wasStartedBy", "wasEndedBy"
        things = {part for fact in self.facts for part in fact[1:]}
        for x in things:
            groups: dict[str, list[str]] = {kind: self.of(kind, x) for kind in (gen, inv, start, end)}
            uses = {"by": self.of("used", x), "of": self.of("used", x, 3), "made": self.of(gen, x, 3)}
            groups |= uses
            for one, other in ((start, end), (start, start), (end, end), (start, "by"), ("by", end), (start, "made"),
                               ("made", end), (gen, inv), (gen, "of"), ("of", inv), (gen, gen), (inv, inv)):  # fmt: skip
                yield from ((first, then) for first in groups[one] for then in groups[other])
            for kind in (start, end):
                for event in self.of(kind, x, 3):
                    yield from ((first, event) for first in groups[gen])
                    yield from ((event, then) for then in groups[inv])
        pairs: dict[str, list[tuple[int, str, int, str]]] = {
            "wasInformedBy": [(3, start, 2, end)],
            "specializationOf": [(3, gen, 2, gen), (2, inv, 3, inv)],
            "wasAssociatedWith": [
                (2, start, 3, inv),
                (3, gen, 2, end),
                (2, start, 3, end),
                (3, start, 2, end),
            ],
            "wasAttributedTo": [(3, gen, 2, gen), (3, start, 2, gen)],
            "actedOnBehalfOf": [(3, gen, 2, inv), (3, start, 2, end)],
        }
        for relation, rules in pairs.items():
            for fact in self.all(relation):
                for place, kind, place2, kind2 in rules:
                    for first in self.of(kind, fact[place]):
                        yield from ((first, then) for then in self.of(kind2, fact[place2]))
        for _, _, _, _, a, g, u in self.all("wasDerivedFrom"):
            if "-" not in {a, g, u}:
                yield u, g
