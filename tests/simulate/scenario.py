"""What happens in one seed: who asks what and when, who dies, what fails. Plain data, so that it can be shrunk."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

from tests.simulate.world import Rates

Kind = Literal["document", "stream", "agent", "poison", "late", "silent", "garbage", "unknown"]
KINDS: tuple[Kind, ...] = (
    *("document", "document", "document", "stream", "agent", "agent", "agent"),
    *("poison", "late", "silent", "garbage", "unknown"),
)
PROCESSES = 2


@dataclass(frozen=True, slots=True)
class Request:
    """``number`` names it; ``twice``: the caller was not sure and published it again."""

    number: int
    kind: Kind
    after: float
    twice: bool = False


@dataclass(frozen=True, slots=True)
class Kill:
    """At so many steps of the loop a process dies, wherever it is, and is started again ``down`` seconds later."""

    at_step: int
    process: int
    down: float


@dataclass(frozen=True, slots=True)
class Drop:
    """At so many steps of the loop a connection breaks."""

    at_step: int
    process: int
    which: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Everything that the seed decides, but for the order of steps and the dice of the calls."""

    seed: int
    requests: tuple[Request, ...]
    kills: tuple[Kill, ...] = ()
    drops: tuple[Drop, ...] = ()
    rates: Rates = field(default_factory=Rates)
    skews: tuple[float, ...] = (0.0,) * PROCESSES
    honour_delays: bool = True
    fifo: float = 0.5

    def lines(self) -> Iterator[str]:
        """For a person."""
        yield f"seed {self.seed}, delays {'kept' if self.honour_delays else 'ignored'} by the broker, skews {self.skews}"
        yield from (f"  {each}" for each in (*self.requests, *self.kills, *self.drops))
        yield f"  {', '.join(f'{name} {share:g}' for name, share in asdict(self.rates).items() if share) or 'no failing call'}"


def scenario(seed: int) -> Scenario:
    """The scenario of ``seed``. Half of them fail in one way only, which shows more than everything at once."""
    dice = random.Random(f"scenario {seed}")
    requests = tuple(
        Request(number, dice.choice(KINDS), dice.random() * 3, dice.random() < 0.15)
        for number in range(dice.randint(1, 4))
    )
    kills = tuple(
        Kill(int(60 * 2 ** (dice.random() * 6)), dice.randrange(PROCESSES), dice.choice([0.0, 0.3, 5.0]))
        for _ in range(dice.choice([0, 1, 1, 2, 3]))
    )
    drops = tuple(
        Drop(int(60 * 2 ** (dice.random() * 6)), dice.randrange(PROCESSES), dice.randrange(20))
        for _ in range(dice.choice([0, 0, 1, 3]))
    )
    names = [name for name in asdict(Rates()) if name != "delay"]
    failing = dice.sample(names, dice.choice([0, 1, 1, 2, len(names)]))
    shares = {name: dice.choice([0.02, 0.1, 0.25]) for name in failing}
    return Scenario(
        seed=seed,
        requests=requests,
        kills=kills,
        drops=drops,
        rates=Rates(**shares, delay=dice.choice([0.0, 0.05, 2.0])),
        skews=tuple(dice.choice([0.0, 0.0, -3.0, 45.0]) for _ in range(PROCESSES)),
        honour_delays=dice.random() < 0.5,
        fifo=dice.choice([0.2, 0.5, 0.9]),
    )


def smaller(one: Scenario) -> Iterator[Scenario]:
    """Scenarios with one thing less."""
    for name in ("requests", "kills", "drops"):
        things = getattr(one, name)
        for place in range(len(things)):
            yield replace(one, **{name: things[:place] + things[place + 1 :]})
    for name, share in asdict(one.rates).items():
        if share:
            yield replace(one, rates=replace(one.rates, **{name: 0.0}))
    if any(one.skews):
        yield replace(one, skews=(0.0,) * PROCESSES)
    for place, request in enumerate(one.requests):
        if request.twice:
            calmer = (*one.requests[:place], replace(request, twice=False), *one.requests[place + 1 :])
            yield replace(one, requests=calmer)
    if one.fifo < 1:
        yield replace(one, fifo=1.0)


def shrink(one: Scenario, fails: Callable[[Scenario], bool]) -> Scenario:
    """The smallest scenario that is found by taking one thing away after the other, and that still ``fails``."""
    while True:
        found = next((each for each in smaller(one) if each.requests and fails(each)), None)
        if found is None:
            return one
        one = found
