"""``clew ticket`` and the pause in ``clew ask``: processes of a person's, against a service that pauses every question."""

from __future__ import annotations

import asyncio
import os
import pty
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from threading import Thread
from typing import Any

import pytest

from clew_schema import topics
from clew_schema.evidence import CitationCheck
from clew_schema.facts import AnswerWritten, EvidenceRetrieved, RunPaused, RunResumed, TicketCancelled
from clew_schema.grading import GradingResponse
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from clew_services.adapters.stores.ledger_sql import SqlLedger
from clew_services.cli.pause import chosen, iso_of, left, seconds_of
from clew_services.errors import TicketClosed
from clew_services.ports import Closing, Record, Ticket
from clew_services.runtime.brake import Brake
from clew_services.runtime.consume import Consumer
from clew_services.runtime.outcome import Opening, Outcome, Send
from clew_services.runtime.respond import DocumentRagCaller
from clew_services.runtime.step import Step
from clew_services.settings import Settings
from clew_services.wiring import Parts
from clew_translators import bus as wire
from tests.cli.shell import CLEW, Shell, Up

OPTIONS = ("the red clew", "the blue clew")


# --- parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("1", OPTIONS[0]),
        (" 2\n", OPTIONS[1]),
        ("0", "0"),
        ("3", "3"),
        ("2024", "2024"),
        ("9" * 5000, "9" * 5000),
        ("the green one ", "the green one"),
        ("٢", "٢"),
        ("", ""),
    ],
)
def test_a_number_is_an_option_and_everything_else_itself(typed: str, said: str) -> None:
    assert chosen(typed, OPTIONS) == said


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1.0, "expired"),
        (0.0, "expired"),
        (59.9, "59 s left"),
        (60.0, "1 min left"),
        (3599.0, "59 min left"),
        (86340.0, "23 h 59 min left"),
        (3 * 86400.0 + 7200, "3 d 2 h left"),
    ],
)
def test_how_long_is_left(seconds: float, text: str) -> None:
    assert left(seconds) == text


def test_times_are_utc_and_nonsense_is_no_time() -> None:
    assert iso_of(1767225600.9) == "2026-01-01T00:00:00Z"
    assert iso_of(0.0) == ""
    assert seconds_of("2026-01-01T00:00:00Z") == 1767225600.0
    assert seconds_of("") == seconds_of("tomorrow") == 0.0


# --- tickets in a folder where nothing runs -------------------------------------------------------


def ticket(name: str, **changes: Any) -> Ticket:
    now = time.time()
    made = Ticket(
        ticket_id=name,
        session_id=f"run-of-{name}",
        collection="default",
        question="How long is the clew?",
        prompt="Which clew \x1b[31mdo you mean?",
        options=OPTIONS,
        opened_at=now,
        expires_at=now + 7230,
    )
    return replace(made, **changes)


@pytest.fixture
def kept(alone: Shell) -> Shell:
    """A shell over a ledger with tickets of all kinds."""

    async def write() -> None:
        ledger = SqlLedger(f"sqlite:///{alone.data}/ledger.sqlite3")
        now = time.time()
        for one in (
            ticket("aaaa1111-first", opened_at=now - 5),
            ticket("aaaa2222-second", opened_at=now - 4, round=2, options=()),
            ticket("bbbb-late", opened_at=now - 90_000, expires_at=now - 3600),
            ticket("cccc-done", opened_at=now - 3),
            ticket("dddd-theirs", collection="theirs"),
        ):
            await ledger.record(
                Record(step="s", message_id=one.ticket_id, outputs=(), recorded_at=now), opens=one
            )
        done = Closing(ticket_id="cccc-done", state="answered", answer="red", closed_at=now, closed_by="m")
        await ledger.record(Record(step="s", message_id="m", outputs=(), recorded_at=now), closes=done)
        await ledger.close()

    asyncio.run(write())
    return alone


def test_open_tickets_are_listed_newest_first_and_all_on_demand(kept: Shell) -> None:
    said = kept.run("ticket", "list", "--json")
    assert [line["ticket_id"] for line in said.lines] == ["aaaa2222-second", "aaaa1111-first"]
    assert said.lines[1]["options"] == list(OPTIONS)
    assert said.lines[1]["closed_at"] is None
    assert "run" not in said.lines[1]
    states = {
        line["ticket_id"]: line["state"] for line in kept.run("ticket", "list", "--all", "--json").lines
    }
    assert states == {
        "aaaa2222-second": "open",
        "aaaa1111-first": "open",
        "cccc-done": "answered",
        "bbbb-late": "expired",
    }
    theirs = kept.run("ticket", "list", "-c", "theirs", "--json")
    assert [line["ticket_id"] for line in theirs.lines] == ["dddd-theirs"]


def test_the_table_says_what_is_asked_and_how_long_there_is(kept: Shell) -> None:
    said = kept.run("ticket", "list", COLUMNS="200")
    assert said.code == 0
    row = next(line for line in said.out.splitlines() if "aaaa1111" in line)
    for part in ("1", "How long is the clew?", "1. the red clew; 2. the blue clew", "2 h 0 min"):
        assert part in row
    assert "\x1b" not in said.out
    assert "nobody is waited for in 'empty'" in kept.run("ticket", "list", "-c", "empty").out
    assert "bbbb-lat" in kept.run("ticket", "list", "--all").out


def test_a_ticket_is_shown_by_the_beginning_of_its_id(kept: Shell) -> None:
    said = kept.run("ticket", "show", "aaaa1")
    assert said.code == 0, said.err
    for part in (
        "aaaa1111-first",
        "How long is the clew?",
        "2. the blue clew",
        "open",
        "run-of-aaaa1111-first",
    ):
        assert part in said.out
    assert "\x1b" not in said.out
    assert kept.run("ticket", "show", "cccc", "--json").lines[0]["answer"] == "red"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("answer", "zzzz", "red"), "error unknown-ticket: there is no ticket 'zzzz'"),
        (("answer", "", "red"), "error unknown-ticket"),
        (("answer", "aaaa", "red"), "error bad-request: several tickets begin with 'aaaa'"),
        (("answer", "bbbb", "red"), "error ticket-expired: ticket bbbb-late expired at 20"),
        (("answer", "cccc", "red"), "error ticket-closed: ticket cccc-done was answered at 20"),
        (("cancel", "cccc"), "error ticket-closed"),
        (("cancel", "%"), "error unknown-ticket"),
        (("show", "_"), "error unknown-ticket"),
        (("answer", "aaaa1"), "error bad-request: say your answer in words"),
        (("answer", "aaaa1", "red", "--option", "1"), "error bad-request: say your answer in words"),
        (("answer", "aaaa1", "--option", "3"), "has 2 options, and no number 3"),
        (("answer", "aaaa2", "--option", "1"), "has 0 options, and no number 1"),
        (("answer", "aaaa1", "red"), "error bus-failed: nothing runs over"),
    ],
)
def test_what_cannot_be_answered_is_said_and_ends_with_1(
    kept: Shell, arguments: tuple[str, ...], says: str
) -> None:
    said = kept.run("ticket", *arguments)
    assert (said.code, said.out) == (1, "")
    assert says in said.err


def test_without_a_ledger_it_says_where_to_look(alone: Shell) -> None:
    said = alone.run("ticket", "list")
    assert said.code == 1
    assert "error store-failed: there is no ledger in" in said.err
    assert not (alone.data / "ledger.sqlite3").exists()


# --- a service that pauses ------------------------------------------------------------------------


@dataclass(frozen=True)
class Pausing:
    """Asks which clew is meant, once or twice, then answers with what it was told."""

    store: SqlLedger

    async def __call__(self, query: DocumentRagQuery) -> Outcome:
        if not query.ticket:
            rest = GradingResponse(session_id=query.session_id, collection=query.collection, query=query)
            return _pause(rest, f"1-{query.session_id}", query.user)
        waiting = await self.store.ticket(query.ticket)
        if waiting is None or waiting.state != "open":
            raise TicketClosed(f"ticket {query.ticket} was answered")
        rest = wire.decode(GradingResponse, waiting.run)
        closes = Closing(
            ticket_id=waiting.ticket_id,
            state="cancelled" if query.cancel else "answered",
            answer=query.answer,
            closed_at=time.time(),
            closed_by="",
        )
        if query.answer == "again":
            again = _pause(rest, f"2-{rest.session_id}")
            return replace(again, run=rest, closes=closes)
        if query.cancel:
            fact: Any = TicketCancelled(ticket=waiting.ticket_id)
            final = _final(rest, query.user, outcome="cancelled", ticket=waiting.ticket_id)
            return Outcome(send=(final,), facts=(fact,), run=rest, closes=closes)
        said = f"{query.user}, it" if query.user else "It"
        text = f"{said} is {query.answer} [1]. It is long [2]."
        check = CitationCheck(
            number=2, start=len(text) - 15, end=len(text), verdict="misattributed", better=1
        )
        final = _final(rest, text, outcome="answer", checks=(check,), coverage=0.5)
        resumed = RunResumed(
            ticket=waiting.ticket_id,
            answer=query.answer,
            from_route="clarify",
            from_status="needs_clarification",
        )
        found = EvidenceRetrieved(query=query.answer, pass_number=2)
        written = AnswerWritten(outcome="answer", text=text)
        return Outcome(send=(final,), facts=(resumed, found, written), run=rest, closes=closes)


def _final(rest: GradingResponse, text: str, **changes: Any) -> Send[DocumentRagResponse]:
    body = DocumentRagResponse(
        response=text, end_of_session=True, end_of_stream=True, message_type="end", **changes
    )
    return Send(topics.DOCUMENT_RAG_RESPONSE, body, to=rest.query.reply)


def _pause(rest: GradingResponse, name: str, user: str = "") -> Outcome:
    made = ticket(name, session_id=rest.session_id, collection=rest.collection, question=rest.query.query)
    until = iso_of(made.expires_at)
    final = _final(
        rest,
        f"Which clew do you mean{user and ', '}{user}?",
        outcome="needs_clarification",
        ticket=name,
        options=OPTIONS,
        expires_at=until,
    )
    found = EvidenceRetrieved(query=rest.query.query)
    fact = RunPaused(ticket=name, route="clarify", status="needs_clarification", prompt="Which clew?")
    return Outcome(send=(final,), facts=(found, fact), opens=Opening(ticket=made, rest=rest))


async def serve(stack: Up, ready: Any, stop: asyncio.Event) -> None:
    settings = Settings(data=stack.data, embedder="hashing")
    parts = Parts(settings, broker_url=stack.run_file["broker"], quiet=True)
    ledger: Any = await parts.ledger()
    step = Step(
        name="document-rag.plan",
        topic=topics.DOCUMENT_RAG_REQUEST,
        handle=Pausing(ledger),
        caller=DocumentRagCaller(),
    )
    consumer = Consumer(step, await parts.processor(), Brake())
    await consumer.start()
    ready()
    await stop.wait()
    await consumer.stop()
    await parts.close()


@pytest.fixture(scope="module")
def pausing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A shell over a stack whose document service is the one above."""
    shell = Shell(tmp_path_factory.mktemp("pausing") / "data", {"CLEW_SERVICES": "trace-store"})
    with shell.up() as running:
        loop, stop = asyncio.new_event_loop(), asyncio.Event()
        began: list[bool] = []
        thread = Thread(
            target=loop.run_until_complete, args=(serve(running, lambda: began.append(True), stop),)
        )
        thread.start()
        while not began:
            assert thread.is_alive()
            time.sleep(0.02)
        yield shell
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        loop.close()


@pytest.mark.slow
def test_ask_tells_what_it_needs_and_how_to_answer(pausing: Shell) -> None:
    said = pausing.run("ask", "How long is the clew?", "--session", "ask-1")
    assert said.code == 0, said.err
    assert said.out == "Which clew do you mean?\n  1. the red clew\n  2. the blue clew\n"
    assert "ticket: 1-ask-1, open until 20" in said.err
    assert "(2 h 0 min left)" in said.err
    assert "answer: clew ticket answer 1-ask-1 --option N\n" in said.err
    assert "or nothing to leave it open" not in said.err, "nobody sits here"
    elsewhere = pausing.run("ask", "x", "--session", "ask-1b", "-d", pausing.data)
    assert f"answer: clew ticket answer 1-ask-1b -d {pausing.data} --option N" in elsewhere.err
    (last,) = [
        line for line in pausing.run("ask", "x", "--session", "ask-1c", "--json").lines if line["ticket"]
    ]
    assert (last["ticket"], last["options"]) == ("1-ask-1c", list(OPTIONS))


@pytest.mark.slow
def test_an_answer_continues_the_run_and_is_told_as_ask_tells(pausing: Shell) -> None:
    pausing.run("ask", "How long is the clew?", "--session", "ask-2")
    assert "1-ask-2" in [line["ticket_id"] for line in pausing.run("ticket", "list", "--json").lines]
    said = pausing.run("ticket", "answer", "1-ask-2", "--option", "2")
    assert said.code == 0, said.err
    assert said.out.splitlines() == [
        "It is the blue clew [1]. It is long [2].",
        "  [2] does not support, but [1] does: “It is long [2].”",
        "  citations support 50% of the sentences",
    ]
    steps = [line for line in said.err.splitlines() if line.startswith("●")]
    assert any("Retrieval" in line for line in steps), "steps after the pause are told"
    assert len([line for line in steps if "Retrieval" in line]) == 1, "and those before it are not"
    assert "trace: clew trace show ask-2" in said.err
    (shown,) = pausing.run("ticket", "show", "1-ask-2", "--json").lines
    assert (shown["state"], shown["answer"]) == ("answered", "the blue clew")
    again = pausing.run("ticket", "answer", "1-ask-2", "red")
    assert (again.code, "error ticket-closed" in again.err) == (1, True)


@pytest.mark.slow
def test_an_answer_in_words_and_a_second_pause(pausing: Shell) -> None:
    pausing.run("ask", "How long is the clew?", "--session", "ask-3")
    said = pausing.run("ticket", "answer", "1-ask-3", "again")
    assert (said.code, said.out.splitlines()[0]) == (0, "Which clew do you mean?")
    assert "answer: clew ticket answer 2-ask-3" in said.err
    final = pausing.run("ticket", "answer", "2-ask-3", "线团", "--json")
    assert final.lines[-1]["response"] == "It is 线团 [1]. It is long [2]."
    assert final.lines[-1]["session_id"] == "ask-3"


@pytest.mark.slow
def test_a_question_is_withdrawn(pausing: Shell) -> None:
    pausing.run("ask", "How long is the clew?", "--session", "ask-4")
    said = pausing.run("ticket", "cancel", "1-ask-4")
    assert (said.code, said.out) == (0, "the question was withdrawn\n")
    assert "answer: " not in said.err
    (shown,) = pausing.run("ticket", "show", "1-ask-4", "--json").lines
    assert (shown["state"], shown["answer"]) == ("cancelled", "")
    assert "was cancelled at" in pausing.run("ticket", "answer", "1-ask-4", "red").err


@pytest.mark.slow
def test_who_asks_answers_or_withdraws_may_say_who_they_are(pausing: Shell) -> None:
    asked = pausing.run("ask", "How long?", "--session", "ask-8", "--user", "Ada")
    assert asked.out.splitlines()[0] == "Which clew do you mean, Ada?"
    answered = pausing.run("ticket", "answer", "1-ask-8", "red", "--user", "Bo")
    assert answered.out.splitlines()[0] == "Bo, it is red [1]. It is long [2]."
    pausing.run("ask", "How long?", "--session", "ask-9")
    assert pausing.run("ticket", "cancel", "1-ask-9", "--user", "Cy").out.splitlines()[0] == "Cy"


def typed(shell: Shell, *arguments: object, keys: dict[str, str]) -> str:
    """What a terminal shows of the command, when a person types each of ``keys`` once its prompt stands there."""
    above, below = pty.openpty()
    environment = shell.environment | {"TERM": "dumb", "COLUMNS": "200"}
    process = subprocess.Popen(
        [CLEW, *map(str, arguments)], env=environment, stdin=below, stdout=below, stderr=below, close_fds=True
    )
    os.close(below)
    sent, left_over = b"", dict(keys)
    while True:
        try:
            piece = os.read(above, 65536)
        except OSError:
            break  # the other end was closed
        if not piece:
            break
        sent += piece
        for prompt in [prompt for prompt in left_over if prompt.encode() in sent]:
            os.write(above, left_over.pop(prompt).encode())
    os.close(above)
    assert process.wait(10) == 0, sent.decode()
    assert not left_over, sent.decode()
    return sent.decode().replace("\r\n", "\n")


@pytest.mark.slow
def test_who_sits_at_a_terminal_answers_at_once(pausing: Shell) -> None:
    shown = typed(
        pausing, "ask", "How long?", "--session", "ask-5", keys={"or nothing to leave it open: ": "1\n"}
    )
    assert "It is the red clew [1]." in shown
    assert shown.count("ticket: ") == 1
    (ticket_,) = pausing.run("ticket", "show", "1-ask-5", "--json").lines
    assert ticket_["answer"] == "the red clew"


@pytest.mark.slow
@pytest.mark.parametrize(("session", "keys"), [("ask-6", "\n"), ("ask-7", "\x04")])
def test_nothing_typed_leaves_it_open(pausing: Shell, session: str, keys: str) -> None:
    shown = typed(
        pausing, "ask", "How long?", "--session", session, keys={"or nothing to leave it open: ": keys}
    )
    assert f"trace: clew trace show {session}" in shown
    assert pausing.run("ticket", "show", f"1-{session}", "--json").lines[0]["state"] == "open"
