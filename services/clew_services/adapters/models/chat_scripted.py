"""Models that say what they were told to say: for tests, measurements and demonstrations.

Every double takes a *script*, in one of three forms:

* a list: one entry a call, in the order of the calls; one call too many raises :class:`ScriptExhausted`;
* a function of the port's own arguments: asked at every call;
* a single value: said at every call.

An entry that is an exception is raised. ``calls`` holds the arguments of every call so far, failed ones
included. With ``delay`` seconds each reply takes its time, on the given clock.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Generic, TypeAlias, TypeVar, cast

from pydantic import BaseModel, ValidationError

from clew_schema.agent import AgentStep
from clew_schema.evidence import Evidence, Grade
from clew_services.core.agent import Thought, Tool
from clew_services.core.answer import Draft
from clew_services.core.complexity import PlanReply
from clew_services.core.rewriting import RewriteReply
from clew_services.errors import ModelReplyInvalid
from clew_services.ports import Clock, Completion, Emit, Prompt, Reply, Usage

T = TypeVar("T")

Script: TypeAlias = T | Exception | Sequence[T | Exception] | Callable[..., T | Exception]


class ScriptExhausted(Exception):
    """More calls came than the script has entries: the script is wrong, or the code under test asks too often."""


class _Player(Generic[T]):
    """Hands out a script's entries. ``kind`` is the type of one entry, which tells a value from a list."""

    def __init__(
        self, name: str, kind: tuple[type, ...], script: Script[T], delay: float, clock: Clock | None
    ) -> None:
        if delay and clock is None:
            raise ValueError(f"{name}: a delay of {delay} s needs a clock")
        self._name, self._kind, self._script = name, kind, script
        self._delay, self._clock = delay, clock
        self._taken = 0

    async def play(self, *call: object) -> T:
        # The entry is taken before the delay, so concurrent calls get theirs in the order they came.
        entry = self._take(call)
        if self._clock is not None and self._delay:
            await self._clock.sleep(self._delay)
        if isinstance(entry, Exception):
            raise entry
        return entry

    def _take(self, call: tuple[object, ...]) -> T | Exception:
        script = self._script
        self._taken += 1
        # Values are told from lists by their type first: a text and a tuple of scores are sequences, too.
        if isinstance(script, (*self._kind, Exception)):
            return cast("T | Exception", script)
        if callable(script):
            return script(*call)
        entries = cast("Sequence[T | Exception]", script)
        if self._taken <= len(entries):
            return entries[self._taken - 1]
        raise ScriptExhausted(f"{self._name}: call {self._taken} has no entry in the script")


class ScriptedChat:
    """A chat model. A reply is text, or for ``structured`` also the value itself.

    Usage counts words: of the prompt in, of the reply out. ``structured`` repairs nothing: a text that is
    no such value raises ModelReplyInvalid.
    """

    def __init__(
        self,
        replies: Script[str | BaseModel],
        *,
        name: str = "scripted",
        delay: float = 0.0,
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self.calls: tuple[Prompt, ...] = ()
        self._player: _Player[str | BaseModel] = _Player(name, (str, BaseModel), replies, delay, clock)

    async def complete(self, prompt: Prompt) -> Completion:
        """The next reply."""
        reply = await self._next(prompt)
        text = _text(reply)
        return Completion(text=text, usage=self._usage(prompt, text))

    async def stream(self, prompt: Prompt) -> AsyncIterator[str | Usage]:
        """The next reply, word by word, then its usage."""
        text = _text(await self._next(prompt))
        for piece in pieces(text):
            yield piece
        yield self._usage(prompt, text)

    async def structured(self, prompt: Prompt, reply: type[Reply]) -> tuple[Reply, Usage]:
        """The next reply as a value."""
        given = await self._next(prompt)
        usage = self._usage(prompt, _text(given))
        if isinstance(given, reply):
            return given, usage
        try:
            return reply.model_validate_json(_text(given)), usage
        except ValidationError as error:
            raise ModelReplyInvalid(
                f"{self.name}: the scripted reply is no {reply.__name__}: {error}"
            ) from error

    async def _next(self, prompt: Prompt) -> str | BaseModel:
        self.calls = (*self.calls, prompt)
        return await self._player.play(prompt)

    def _usage(self, prompt: Prompt, text: str) -> Usage:
        words_in = len(prompt.system.split()) + len(prompt.user.split())
        return Usage(model=self.name, in_token=words_in, out_token=len(text.split()))


class ScriptedPlanner:
    """A planner. ``calls`` holds the questions."""

    def __init__(
        self,
        plans: Script[PlanReply],
        *,
        name: str = "scripted-planner",
        delay: float = 0.0,
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self.prompt_version = "scripted"
        self.calls: tuple[str, ...] = ()
        self._player: _Player[PlanReply] = _Player(name, (PlanReply,), plans, delay, clock)

    async def plan(self, question: str) -> PlanReply:
        """The next plan."""
        self.calls = (*self.calls, question)
        return await self._player.play(question)


class ScriptedRewriter:
    """A rewriter. ``calls`` holds (question, evidence)."""

    def __init__(
        self,
        rewrites: Script[RewriteReply],
        *,
        name: str = "scripted-rewriter",
        delay: float = 0.0,
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self.prompt_version = "scripted"
        self.echoes = False
        self.calls: tuple[tuple[str, tuple[Evidence, ...]], ...] = ()
        self._player: _Player[RewriteReply] = _Player(name, (RewriteReply,), rewrites, delay, clock)

    async def rewrite(self, question: str, evidence: Sequence[Evidence]) -> RewriteReply:
        """The next rewrite."""
        self.calls = (*self.calls, (question, tuple(evidence)))
        return await self._player.play(question, evidence)


class ScriptedGrader:
    """A grader. ``calls`` holds (question, evidence)."""

    def __init__(
        self,
        grades: Script[Grade],
        *,
        name: str = "scripted-grader",
        delay: float = 0.0,
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self.prompt_version = "scripted"
        self.calls: tuple[tuple[str, tuple[Evidence, ...]], ...] = ()
        self._player: _Player[Grade] = _Player(name, (Grade,), grades, delay, clock)

    async def grade(self, question: str, evidence: Sequence[Evidence]) -> Grade:
        """The next grade."""
        self.calls = (*self.calls, (question, tuple(evidence)))
        return await self._player.play(question, evidence)


class ScriptedWriter:
    """A writer. A draft may be given as plain text. ``calls`` holds (question, evidence, gaps, assumptions).

    A function is asked with question and evidence alone.
    """

    def __init__(
        self,
        drafts: Script[str | Draft],
        *,
        name: str = "scripted-writer",
        delay: float = 0.0,
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self.prompt_version = "scripted"
        self.calls: tuple[tuple[str, tuple[Evidence, ...], tuple[str, ...], tuple[str, ...]], ...] = ()
        self._player: _Player[str | Draft] = _Player(name, (str, Draft), drafts, delay, clock)

    async def write(
        self,
        question: str,
        evidence: Sequence[Evidence],
        emit: Emit,
        *,
        gaps: Sequence[str] = (),
        assumptions: Sequence[str] = (),
    ) -> Draft:
        """The next draft; its text goes to ``emit`` word by word."""
        self.calls = (*self.calls, (question, tuple(evidence), tuple(gaps), tuple(assumptions)))
        given = await self._player.play(question, evidence)
        draft = Draft(text=given) if isinstance(given, str) else given
        for piece in pieces(draft.text):
            await emit(piece)
        return draft


class ScriptedThinker:
    """A thinker. ``calls`` holds (question, history, tools)."""

    def __init__(
        self,
        thoughts: Script[Thought],
        *,
        name: str = "scripted-thinker",
        delay: float = 0.0,
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self.prompt_version = "scripted"
        self.calls: tuple[tuple[str, tuple[AgentStep, ...], tuple[Tool, ...]], ...] = ()
        self._player: _Player[Thought] = _Player(name, (Thought,), thoughts, delay, clock)

    async def think(
        self, question: str, history: Sequence[AgentStep], tools: Sequence[Tool], emit: Emit
    ) -> Thought:
        """The next thought; its text goes to ``emit`` word by word."""
        self.calls = (*self.calls, (question, tuple(history), tuple(tools)))
        thought = await self._player.play(question, history, tools)
        for piece in pieces(thought.thought):
            await emit(piece)
        return thought


class ScriptedReranker:
    """A reranker. An entry is a tuple of scores, one per passage. ``calls`` holds (question, passages)."""

    def __init__(
        self,
        scores: Script[tuple[float | None, ...]],
        *,
        name: str = "scripted-reranker",
        delay: float = 0.0,
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self.calls: tuple[tuple[str, tuple[str, ...]], ...] = ()
        self._player: _Player[tuple[float | None, ...]] = _Player(name, (tuple,), scores, delay, clock)

    async def scores(self, question: str, passages: Sequence[str]) -> Sequence[float | None]:
        """The next scores."""
        self.calls = (*self.calls, (question, tuple(passages)))
        return await self._player.play(question, passages)


def pieces(text: str) -> list[str]:
    """``text`` cut before each word; joined they are ``text`` again."""
    return re.findall(r"\s*\S+\s*|\s+", text)


def _text(reply: str | BaseModel) -> str:
    return reply if isinstance(reply, str) else reply.model_dump_json()
