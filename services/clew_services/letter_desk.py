"""The box of dead letters over the bus: an operator's requests, answered one after the other."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_schema import topics
from clew_schema.dead_letters import DeadLetterRequest, DeadLetterResponse
from clew_schema.limits import MAX_MESSAGE_BYTES
from clew_services.dead_letters import DeadLetters, Repair
from clew_services.errors import BadRequest, TooLarge
from clew_services.runtime.handling import iso
from clew_services.runtime.outcome import Outcome, Send
from clew_translators import bus as wire

if TYPE_CHECKING:
    from clew_schema.errors import DeadLetter, Error
    from clew_services.dead_letters import Settled
    from clew_services.ports import Clock, Tell
    from clew_services.runtime.observe import Observer

LISTED_BYTES = MAX_MESSAGE_BYTES // 2
"""Bytes of letters in one answer to ``list``."""

TOLD_EVERY = 100
"""Letters after which a long work tells how far it is."""

FAILURES_TOLD = 100
"""Letters that could not be settled, named in one answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOnLetters:
    """Bound to ``topics.DEAD_LETTER_REQUEST``. Doing a request twice changes nothing more than doing it once."""

    dead: DeadLetters
    clock: Clock
    observer: Observer

    async def __call__(self, request: DeadLetterRequest, tell: Tell) -> Outcome:
        """Look, or work on the box, and answer. Raises BadRequest, TooLarge, Unreadable and BusFailed."""
        if request.action == "list":
            response = await self._list(request)
        elif request.action == "show":
            response = self._one(request, await self.dead.find(request.letter_id, request))
        elif request.letter_id:
            response = await self._work_on_one(request)
        elif request.action != "edit" and request.every:
            response = await self._work_on_all(request, tell)
        else:
            raise BadRequest(
                f"{request.action}: name a letter, or ask for every one that the filter lets through"
            )
        return Outcome(send=(Send(topics.DEAD_LETTER_RESPONSE, response),))

    async def _list(self, request: DeadLetterRequest) -> DeadLetterResponse:
        letters = await self.dead.letters(request)
        shown: list[DeadLetter] = []
        room = LISTED_BYTES
        for letter in letters:
            brief = letter.model_copy(
                update={"payload": "", "properties": {}, "attempts": letter.attempts[-1:]}
            )
            room -= len(wire.encode(brief))
            if room < 0:
                break
            shown.append(brief)
        return DeadLetterResponse(
            action="list", letters=tuple(shown), matched=len(letters), more=len(shown) < len(letters)
        )

    async def _work_on_one(self, request: DeadLetterRequest) -> DeadLetterResponse:
        repair = _repair(request)
        changed = repair.payload is not None or bool(repair.properties)
        if request.action == "drop":
            letter = await self.dead.drop(request.letter_id, request)
        elif request.action == "requeue":
            letter = await self.dead.requeue(
                request.letter_id, repair.payload, properties=repair.properties, wanted=request
            )
        elif changed:
            at = iso(self.clock.now())
            letter = await self.dead.edit(request.letter_id, repair, by=request.user, at=at, wanted=request)
        else:
            raise BadRequest("edit: give another body, or properties to set")
        response = self._one(request, letter)
        self._log(request, done=1, failed=0)
        return response.model_copy(update={"done": 1, "letters": ()})

    async def _work_on_all(self, request: DeadLetterRequest, tell: Tell) -> DeadLetterResponse:
        failed: dict[str, Error] = {}

        async def hear(one: Settled) -> None:
            if one.error is not None and len(failed) < FAILURES_TOLD:
                failed[one.letter.letter_id] = one.error
            if one.done % TOLD_EVERY == 0 and one.done < one.matched:
                news = DeadLetterResponse(
                    action=request.action, matched=one.matched, done=one.done, more=True, end=False
                )
                await tell(topics.DEAD_LETTER_RESPONSE, news)

        work = self.dead.requeue_all if request.action == "requeue" else self.dead.drop_all
        settled = await work(request, hear)
        done = sum(one.error is None for one in settled)
        self._log(request, done=done, failed=len(settled) - done)
        return DeadLetterResponse(action=request.action, matched=len(settled), done=done, failed=failed)

    def _one(self, request: DeadLetterRequest, letter: DeadLetter | None) -> DeadLetterResponse:
        if letter is None:
            raise BadRequest(f"there is no dead letter {request.letter_id[:60]!r} among those that are meant")
        response = DeadLetterResponse(action=request.action, letters=(letter,), matched=1)
        if request.action == "show" and len(wire.encode(response)) > MAX_MESSAGE_BYTES - 1024:
            raise TooLarge(
                f"letter {letter.letter_id} holds {letter.payload_bytes} bytes, more than one answer carries: "
                "read it with `clew dead show`, which asks the broker"
            )
        return response

    def _log(self, request: DeadLetterRequest, *, done: int, failed: int) -> None:
        self.observer.event(
            "letters_settled", action=request.action, user=request.user, done=done, failed=failed
        )


def _repair(request: DeadLetterRequest) -> Repair:
    payload = None
    if request.payload is not None:
        try:
            payload = (
                b64decode(request.payload, validate=True)
                if request.encoding == "base64"
                else request.payload.encode()
            )
        except ValueError as error:
            raise BadRequest("payload: it is no base64, or holds half a character") from error
    return Repair(payload=payload, properties=request.properties or None)


def letters_failed(request: DeadLetterRequest | None, error: Error) -> Send[DeadLetterResponse]:
    """The answer to a request that failed as a whole."""
    action = request.action if request else "list"
    return Send(topics.DEAD_LETTER_RESPONSE, DeadLetterResponse(action=action, error=error))
