"""What a dead letter tells: the message as it came, every attempt, and where the run's trace is."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from clew_schema.envelope import Envelope
from clew_schema.errors import DeadLetter
from clew_schema.retrieval import DocumentRagQuery
from clew_services.core.outgoing import MAX_HEADER_CHARACTERS
from clew_services.errors import ModelFailed, RetrievalFailed
from clew_services.ports import Outgoing
from clew_services.runtime.letter import ATTEMPTS_TOLD, WORDS_TOLD
from clew_translators import bus as wire
from tests.runtime.test_process import QUERY, failing
from tests.runtime.world import Handler, World

RETRIES = "document-rag-request.document-rag.retry"


async def buried(world: World, properties: dict[str, str], payload: bytes = b"") -> DeadLetter:
    """The letter of a message with ``properties``, after as many attempts as it takes."""
    topic = world.space.full("document-rag-request")
    await world.bus.publish(
        Outgoing(topic=topic, payload=payload or wire.encode(QUERY), key="the key", properties=properties)
    )
    for _ in range(6):
        await world.settle()
        await world.clock.advance(61)
    await world.settle()
    (letter,) = world.letters()
    return letter


def down(*errors: Exception) -> Handler:
    return failing(*errors, *(ModelFailed(f"no answer, {n}") for n in range(10)))


async def test_every_attempt_is_told_with_its_time_and_its_reason() -> None:
    async with World(handler=down(RetrievalFailed("the store is away"))) as world:
        letter = await buried(world, {"id": "caller"})
        assert [(one.number, one.error.type, one.error.message) for one in letter.attempts] == [
            (1, "retrieval-failed", "the store is away"),
            *((n, "model-failed", f"no answer, {n - 2}") for n in (2, 3, 4, 5)),
        ]
        assert letter.error == letter.attempts[-1].error
        times = [one.at for one in letter.attempts]
        assert times == sorted(times)
        assert len(set(times)) == 5
        assert times[-1] == letter.buried_at
        assert letter.trace == "urn:trustgraph:docrag:5e1f"


async def test_properties_are_those_that_came_also_the_ones_that_nobody_reads() -> None:
    came = {f"x-{n}": "v" * 2_000 for n in range(3)} | {f"y{n}": "w" for n in range(40)} | {"id": "caller"}
    async with World(handler=down()) as world:
        letter = await buried(world, came)
        assert {name: value for name, value in letter.properties.items() if name != "message-id"} == came
        assert letter.properties["message-id"] == letter.message_id
        assert (letter.key, letter.withheld) == ("the key", ())


async def test_a_token_is_named_and_kept_nowhere() -> None:
    async with World(handler=down()) as world:
        letter = await buried(world, {"id": "caller", "token": "eyJ-the-secret"})
        assert "eyJ-the-secret" not in letter.model_dump_json()
    async with World() as world:
        letter = await buried(world, {"id": "caller", "token": "eyJ-the-secret"}, b"garbage")
        assert letter.withheld == ("token",)
        assert "eyJ-the-secret" not in letter.model_dump_json()


async def test_properties_that_no_copy_could_carry_do_not_stop_the_retries() -> None:
    large = {"x": "v" * (MAX_HEADER_CHARACTERS - 100), "id": "caller"}
    async with World(handler=down()) as world:
        letter = await buried(world, large)
        assert len(letter.attempts) == 5
        assert letter.properties["id"] == "caller"
        assert "x" not in letter.properties


@pytest.mark.parametrize(
    "written",
    [
        "",
        "garbage",
        "[1]",
        '[[1,2,3,"x"]]',
        '[[2,99999999999999999,"t","m"]]',
        "[" * 5_000,
        '[[1,2,"t","\\ud800"]]',
    ],
)
async def test_what_others_write_about_attempts_is_no_history_and_no_error(written: str) -> None:
    async with World() as world:
        delivery = {"id": "caller", "attempt": "3", "failures": written}
        letter = await buried(world, delivery, b"garbage")
        assert [one.error.type for one in letter.attempts][-1] == "unreadable"
        assert letter.attempt == 3


async def test_a_first_attempt_has_no_history_whatever_its_caller_wrote() -> None:
    forged = json.dumps([[1, 1_000, "model-failed", "never happened"]])
    async with World() as world:
        letter = await buried(world, {"id": "caller", "failures": forged}, b"garbage")
        assert [one.error.type for one in letter.attempts] == ["unreadable"]
        assert "failures" not in letter.properties


async def test_the_history_is_bounded_and_keeps_the_newest() -> None:
    errors = [ModelFailed(f"{n} " + "very " * 500) for n in range(30)]
    async with World(handler=failing(*errors)) as world:
        policy = replace(world.processor.policy, max_attempts=20)
        object.__setattr__(world.processor, "policy", policy)
        await world.bus.publish(
            Outgoing(topic=world.space.full("document-rag-request"), payload=wire.encode(QUERY))
        )
        for _ in range(25):
            await world.settle()
            await world.clock.advance(61)
        await world.settle()
        (letter,) = world.letters()
        assert [one.number for one in letter.attempts] == list(range(21 - ATTEMPTS_TOLD, 21))
        assert letter.attempt == 20
        assert all(len(one.error.message) <= WORDS_TOLD for one in letter.attempts[:-1])
        copies = world.bus.messages(world.space.full(RETRIES))
        assert max(len(copy.properties["failures"]) for copy in copies) < 4_096


async def test_the_history_reaches_no_effect() -> None:
    async with World(handler=failing(RetrievalFailed("down"))) as world:
        await world.ask(QUERY, other={"x": "mine"})
        await world.settle()
        await world.clock.advance(1)
        await world.settle()
        ((body, _),) = world.told()
        assert body.response == "yes"
        for topic in ("document-rag-response", "explainability"):
            for message in world.bus.messages(world.space.full(topic)):
                assert not {"failures", "x"} & set(message.properties)


async def test_a_message_that_names_no_collection_is_nobodys() -> None:
    async with World() as world:
        letter = await buried(world, {"id": "caller"}, b"garbage")
        assert letter.collection == ""
    async with World(handler=down()) as world:
        assert (await buried(world, {"id": "caller"})).collection == "c"


async def test_a_run_without_a_trace_has_none_to_name() -> None:
    async with World() as world:
        letter = await buried(world, Envelope(id="c", traced=False).properties(), b"garbage")
        assert letter.trace == ""


async def test_an_answer_to_a_ticket_names_no_trace_of_its_own() -> None:
    async def prose(query: DocumentRagQuery) -> object:
        raise ModelFailed("down") if query.ticket else AssertionError

    async with World(handler=prose) as world:  # type: ignore[arg-type]
        query = QUERY.model_copy(update={"ticket": "t", "answer": "yes"})
        assert (await buried(world, {"id": "c"}, wire.encode(query))).trace == ""
