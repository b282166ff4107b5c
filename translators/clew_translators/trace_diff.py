"""How two runs differ: in what was asked, found, decided and said. A pure function over their facts.

Steps are held against each other by what they are (the grade of the second pass of part 1), not by when they came.
Times, versions of services and names that every run has for itself (tickets, dead letters, seals, tools' traces) are
no difference.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from clew_translators import uris

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clew_schema.facts import Fact

How = Literal["added", "removed", "changed", "moved"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference: in which ``step``, in which ``field`` of it, and the values before and after.

    ``added`` has no value before, ``removed`` none after (both null). ``moved`` is a place among others: its values
    are places from 1. Values are JSON values.
    """

    step: str
    field: str
    how: How
    before: Any = None
    after: Any = None


_OWN = frozenset({"kind", "step", "started_at", "ended_at", "version", "seal", "traceparent", "parent_uri"}) | {
    "ticket", "expires_at", "trace_uri", "trace_end", "letter", "attempt",
}  # fmt: skip
_PLACED = ("part", "pass_number", "number", "round")
"""What says which of several facts of one kind a fact is."""

_KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "evidence": ("chunk_id",),
        "rejected": ("chunk_id",),
        "citations": ("number", "chunk_id", "start"),
        "claims": ("number",),
        "checks": ("start", "number"),
        "gaps": ("part",),
        "chunks": ("place",),
        "questions": ("part",),
    }
)
"""By what the members of a list are held against each other; of other lists the whole is compared."""

_PLACES = frozenset({"rank", "place"})
"""Of lists whose members are others, or stand otherwise, these follow from that; else they are as good as any field."""


def diff(before: Sequence[Fact], after: Sequence[Fact]) -> tuple[Difference, ...]:
    """What is otherwise in the run ``after`` than in ``before``: nothing when they say the same."""
    old, new = _by_step(before), _by_step(after)
    found: list[Difference] = []
    for step in dict.fromkeys((*old, *new)):
        if step not in old:
            found.append(Difference(step=step, field="", how="added", after=new[step]))
        elif step not in new:
            found.append(Difference(step=step, field="", how="removed", before=old[step]))
        else:
            found.extend(_compared(step, "", old[step], new[step]))
    return tuple(found)


def _by_step(facts: Sequence[Fact]) -> dict[str, dict[str, Any]]:
    """Each fact as JSON values, under a name that says what it is: ``evidence graded, part 1, pass 2``."""
    told: dict[str, dict[str, Any]] = {}
    seen: Counter[str] = Counter()
    for fact in facts:
        fields = {k: v for k, v in fact.model_dump(mode="json").items() if k not in _OWN}
        places = [
            f"{place.removesuffix('_number')} {value}"
            for place in _PLACED
            if isinstance(value := getattr(fact, place, None), int) and not (place == "part" and value == 0)
        ]
        name = ", ".join((fact.kind.replace("_", " "), *places))
        seen[name] += 1
        told[name if seen[name] == 1 else f"{name} ({seen[name]})"] = fields
    return told


def _compared(step: str, field: str, old: Any, new: Any) -> Iterator[Difference]:
    """The differences of two values under one name."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            yield from _compared(step, f"{field}.{name}" if field else name, old.get(name), new.get(name))
        return
    keys = _KEYS.get(field.rpartition(".")[2])
    if keys and isinstance(old, list) and isinstance(new, list) and _are_objects(*old, *new):
        yield from _lists(step, field, keys, old, new)
        return
    if _unnamed(old) != _unnamed(new):
        yield Difference(step=step, field=field, how="changed", before=old, after=new)


def _are_objects(*members: object) -> bool:
    return all(isinstance(member, dict) for member in members)


def _unnamed(value: Any) -> Any:
    """A text that names a run of Clew stands for any such name: each run has its own."""
    return uris.run_of(value)[0] if isinstance(value, str) and uris.run_of(value) else value  # type: ignore[index]


def _lists(
    step: str, field: str, keys: tuple[str, ...], old: list[dict[str, Any]], new: list[dict[str, Any]]
) -> Iterator[Difference]:
    """Members of two lists, held against each other by their keys."""
    olds, news = _keyed(old, keys), _keyed(new, keys)
    stood = {key: place for place, key in enumerate((k for k in olds if k in news), start=1)}
    stands = {key: place for place, key in enumerate((k for k in news if k in olds), start=1)}
    moved = list(olds) != list(news)
    for key in dict.fromkeys((*olds, *news)):
        name = f"{field}[{key}]"
        if key not in olds:
            yield Difference(step=step, field=name, how="added", after=news[key])
        elif key not in news:
            yield Difference(step=step, field=name, how="removed", before=olds[key])
        else:
            if stood[key] != stands[key]:
                yield Difference(step=step, field=name, how="moved", before=stood[key], after=stands[key])
            follow = _PLACES if moved else frozenset[str]()
            rest = ({k: v for k, v in side[key].items() if k not in follow} for side in (olds, news))
            yield from _compared(step, name, *rest)


def _keyed(members: list[dict[str, Any]], keys: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Each member by its keys; the second one with the same keys has a number behind them."""
    told: dict[str, dict[str, Any]] = {}
    for member in members:
        key = ", ".join(str(member.get(name)) for name in keys)
        place = 2
        name = key
        while name in told:
            name, place = f"{key} ({place})", place + 1
        told[name] = member
    return told
