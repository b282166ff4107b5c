"""The brake: on after burials in a row, off after a probe that ends well, or by command."""

from __future__ import annotations

from clew_schema.retrieval import DocumentRagQuery
from clew_services.errors import ModelFailed, ModelReplyInvalid
from clew_services.runtime.brake import Brake
from clew_services.runtime.outcome import Outcome
from tests.runtime.world import World, answered

QUERY = DocumentRagQuery(query="What is a clew?", session_id="S", collection="c")


def states(world: World) -> tuple[bool, bool]:
    """Whether the brake is on, and whether the consumer is ready; asked anew each time."""
    return world.brake.on, world.consumer.ready


class Model:
    """Answers prose until it is mended."""

    def __init__(self) -> None:
        self.broken = True
        self.error: Exception = ModelReplyInvalid("prose")

    async def __call__(self, query: DocumentRagQuery) -> Outcome:
        if self.broken:
            raise self.error
        return answered(query)


async def wave(world: World, count: int) -> None:
    for number in range(count):
        await world.ask(QUERY, id=str(number))
    await world.settle()


async def later(world: World, seconds: float) -> None:
    await world.clock.advance(seconds)
    await world.settle()


async def test_a_wave_of_poison_stops_it_and_a_probe_finds_the_model_mended() -> None:
    model = Model()
    async with World(handler=model, brake=Brake(limit=50), width=4) as world:
        await wave(world, 60)
        assert states(world) == (True, False)
        buried = len(world.letters())
        assert 50 <= buried <= 53
        await later(world, 59)
        assert len(world.letters()) == buried, "not before its time"
        model.broken = False
        await later(world, 2)
        assert states(world) == (False, True)
        assert world.backlog() == 0
        assert len(world.told()) == 60, "those that waited were handled"
        names = world.log.names()
        assert [n for n in names if n.startswith("brake")] == ["brake_on", "brake_probe", "brake_off"]
        await world.ask(QUERY, id="next")
        await world.settle()
        assert len(world.told()) == 61


async def test_a_probe_that_fails_costs_one_message_and_the_next_comes_after_twice_the_time() -> None:
    model = Model()
    async with World(handler=model, brake=Brake(limit=3, pause=10, longest=25), width=1) as world:
        await wave(world, 10)
        assert len(world.letters()) == 3
        for wait in (10, 20, 25, 25):
            before = len(world.letters())
            await later(world, wait - 1)
            assert len(world.letters()) == before, wait
            await later(world, 2)
            assert len(world.letters()) == before + 1, wait
            assert states(world) == (True, False)
        model.broken = False
        await later(world, 30)
        assert states(world) == (False, True)
        assert world.brake.wait == 10, "the next time begins anew"
        assert len(world.told()) == 10


async def test_a_probe_that_may_yet_succeed_decides_nothing() -> None:
    """A failure that passes is no burial, and nothing that ended well."""
    model = Model()
    async with World(handler=model, brake=Brake(limit=3, pause=10), width=1) as world:
        await wave(world, 6)
        model.error = ModelFailed("no answer in time")
        await later(world, 11)
        assert states(world) == (True, False)
        assert len(world.letters()) == 3
        model.broken = False
        for _ in range(6):
            await later(world, 60)
        assert states(world) == (False, True)
        assert world.backlog() == 0
        assert len(world.told()) == 6


async def test_an_operator_takes_it_off() -> None:
    model = Model()
    async with World(handler=model, brake=Brake(limit=3), width=1) as world:
        await wave(world, 6)
        assert states(world) == (True, False)
        model.broken = False
        assert world.consumer.release_brake()
        await world.settle()
        assert len(world.told()) == 6
        assert states(world) == (False, True)
        assert not world.consumer.release_brake(), "it is off"
        off = [values for _, name, values in world.log.events if name == "brake_off"]
        assert [values["by"] for values in off] == ["an operator"]


async def test_what_is_wrong_still_pulls_it_again_and_that_is_told_again() -> None:
    async with World(handler=Model(), brake=Brake(limit=3), width=1) as world:
        await wave(world, 9)
        world.consumer.release_brake()
        await world.settle()
        assert states(world) == (True, False)
        assert len(world.letters()) == 6
        assert world.log.names().count("brake_on") == 2


def test_what_was_in_hand_when_it_came_on_takes_it_not_off() -> None:
    brake = Brake(limit=2)
    states = []
    for change in (brake.pull, brake.pull, brake.release):
        change()
        states.append(brake.on)
    brake.probing = True
    brake.release()
    assert [*states, brake.on, brake.probing] == [False, True, True, False, False]


async def test_stopping_with_the_brake_on_hands_back_what_waited() -> None:
    model = Model()
    async with World(handler=model, brake=Brake(limit=3), width=1) as world:
        await wave(world, 6)
    assert world.backlog() == 3
