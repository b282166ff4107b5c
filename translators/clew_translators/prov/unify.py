"""Terms of a PROV instance, and which of them are one: unification as PROV-CONSTRAINTS 6.1 has it.

A term is an IRI, an existential variable (``_:`` and a label: something that exists and is not named), the placeholder
``-`` or an instant. Two different IRIs, and two different instants, never are one; a variable may be anything; ``-``
is like an IRI of its own.
"""

from __future__ import annotations

from clew_translators.prov.instants import instant

Term = str

PLACEHOLDER: Term = "-"
"""What stands where nothing is known to exist."""

_VARIABLE = "_:"
_FRESH = "_: "  # no syntax of PROV allows a space in a label, so nobody else's variable has this name
_INSTANT = "@"  # no IRI begins with it


class Clash(Exception):
    """``first`` and ``second`` had to be one, and cannot be."""

    def __init__(self, first: Term, second: Term) -> None:
        super().__init__(f"{first} and {second} are two")
        self.first = first
        self.second = second


class Terms:
    """The terms of one instance: each is in one class, and a class has at most one constant."""

    def __init__(self) -> None:
        self._parent: dict[Term, Term] = {}
        self._size: dict[Term, int] = {}
        self._value: dict[Term, Term] = {}
        self._written: dict[Term, str] = {}
        self._variables = 0

    def fresh(self) -> Term:
        """A variable that nobody has used."""
        self._variables += 1
        return f"{_FRESH}{self._variables}"

    def time(self, text: str) -> Term:
        """The instant that an ``xsd:dateTime`` says."""
        term = _INSTANT + instant(text)
        self._written.setdefault(term, text.strip())
        return term

    def root(self, term: Term) -> Term:
        """The same for all terms that are one; of use as a key until two classes are united."""
        parent = self._parent
        if term not in parent:
            return term
        root = parent[term]
        while root in parent:
            root = parent[root]
        while term != root:
            parent[term], term = root, parent[term]
        return root

    def value(self, term: Term) -> Term:
        """What the class is known as: its constant, or else a variable that the document named, or any."""
        root = self.root(term)
        return self._value.get(root, root)

    def absent(self, term: Term) -> bool:
        """True for the placeholder: nothing is known to be there."""
        return self.value(term) == PLACEHOLDER

    def named(self, term: Term) -> bool:
        """True if the document has a name for it, be it that of a variable."""
        value = self.value(term)
        return not value.startswith(_FRESH) and value != PLACEHOLDER

    def constant(self, term: Term) -> bool:
        """True if it has a name of its own, which is not that of a variable."""
        return self.named(term) and not self.value(term).startswith(_VARIABLE)

    def shown(self, term: Term) -> str:
        """For people: a name, or a time as it was written; ``something unnamed`` for what has none."""
        value = self.value(term)
        if value == PLACEHOLDER:
            return "none"
        return self._written.get(value, value) if self.named(value) else "something unnamed"

    def names(self, *terms: Term) -> tuple[str, ...]:
        """The names among them that the document gives, each once; a time is none."""
        values = (self.value(term) for term in terms if self.named(term))
        return tuple(dict.fromkeys(value for value in values if not value.startswith(_INSTANT)))

    def unify(self, first: Term, second: Term) -> Term | None:
        """Make them one, and return the root that is none any longer (None: they were one). Raises Clash."""
        one, other = self.root(first), self.root(second)
        if one == other:
            return None
        kept, lost = self.value(one), self.value(other)
        if _rank(kept) < _rank(lost):
            kept, lost = lost, kept
        if not lost.startswith(_VARIABLE):
            raise Clash(first, second)
        if self._size.get(one, 1) < self._size.get(other, 1):
            one, other = other, one
        self._parent[other] = one
        self._size[one] = self._size.get(one, 1) + self._size.get(other, 1)
        self._value[one] = kept
        return other


def _rank(term: Term) -> int:
    """How much a term says: a constant more than a variable, a named variable more than another."""
    return 0 if term.startswith(_FRESH) else 1 if term.startswith(_VARIABLE) else 2
