"""Cassettes: a chat model's replies, recorded once and replayed without it.

A cassette is a text file with one JSON object a line::

    {"key": "…", "prompt": "grading", "version": "1f0c33aa", "pieces": ["…"],
     "usage": {"model": "…", "in_token": 1, "out_token": 2}}

``key`` is a hash of everything the model is given; the prompt itself is not kept, and no key or address.
The replies are: a cassette is as confidential as they are.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from clew_services.adapters.models.streams import closing
from clew_services.errors import ModelRefused, ModelReplyInvalid
from clew_services.ports import Chat, Completion, Prompt, Reply, Usage


class NotRecorded(ModelRefused):
    """The cassette has no reply to this prompt."""


class _Usage(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)
    model: str
    in_token: int | None = None
    out_token: int | None = None


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True)
    key: str
    prompt: str
    version: str = ""
    pieces: tuple[str, ...]
    usage: _Usage


def prompt_key(prompt: Prompt, reply: str = "") -> str:
    """32 hexadecimal digits of SHA-256 over all the prompt's fields, and the type's name of a structured reply."""
    told = json.dumps([asdict(prompt), reply], sort_keys=True, ensure_ascii=True)
    return sha256(told.encode()).hexdigest()[:32]


class RecordingChat:
    """Asks ``inner`` and appends every whole reply to the cassette at ``path``. Errors are passed on, not recorded."""

    def __init__(self, inner: Chat, path: Path) -> None:
        self.name = inner.name
        self._inner = inner
        self._path = path

    async def complete(self, prompt: Prompt) -> Completion:
        """As ``inner`` does."""
        completion = await self._inner.complete(prompt)
        self._append(prompt, "", (completion.text,), completion.usage)
        return completion

    async def stream(self, prompt: Prompt) -> AsyncGenerator[str | Usage]:
        """As ``inner`` does; recorded once it has ended."""
        pieces: list[str] = []
        usage = Usage(model=self.name)
        async with closing(self._inner.stream(prompt)) as stream:
            async for piece in stream:
                if isinstance(piece, Usage):
                    usage = piece
                else:
                    pieces.append(piece)
                yield piece
        self._append(prompt, "", tuple(pieces), usage)

    async def structured(self, prompt: Prompt, reply: type[Reply]) -> tuple[Reply, Usage]:
        """As ``inner`` does; the value is recorded as JSON, after all repairs."""
        value, usage = await self._inner.structured(prompt, reply)
        self._append(prompt, reply.__name__, (value.model_dump_json(),), usage)
        return value, usage

    def _append(self, prompt: Prompt, reply: str, pieces: tuple[str, ...], usage: Usage) -> None:
        entry = _Entry(
            key=prompt_key(prompt, reply),
            prompt=prompt.name,
            version=prompt.version,
            pieces=pieces,
            usage=_Usage(**asdict(usage)),
        )
        with self._path.open("a", encoding="utf-8") as cassette:
            cassette.write(entry.model_dump_json() + "\n")


class ReplayingChat:
    """Replies from the cassette at ``path`` and asks nobody. Raises ValueError for a line that is no entry.

    A prompt that was asked several times gets its replies in their order, then the last one again. One
    that was never asked raises NotRecorded. ``complete`` and ``stream`` replay each other's recordings.
    """

    def __init__(self, path: Path, *, name: str = "replay") -> None:
        self.name = name
        self._path = path
        self._entries: dict[str, list[_Entry]] = {}
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if line.strip():
                entry = _read(line, f"{path}, line {number}")
                self._entries.setdefault(entry.key, []).append(entry)

    async def complete(self, prompt: Prompt) -> Completion:
        """The recorded reply."""
        entry = self._next(prompt)
        return Completion(text="".join(entry.pieces), usage=_usage(entry))

    async def stream(self, prompt: Prompt) -> AsyncGenerator[str | Usage]:
        """The recorded reply in the pieces it came in, then its usage."""
        entry = self._next(prompt)
        for piece in entry.pieces:
            yield piece
        yield _usage(entry)

    async def structured(self, prompt: Prompt, reply: type[Reply]) -> tuple[Reply, Usage]:
        """The recorded value; ModelReplyInvalid if ``reply`` has changed so that it no longer fits."""
        entry = self._next(prompt, reply.__name__)
        try:
            return reply.model_validate_json("".join(entry.pieces)), _usage(entry)
        except ValidationError as error:
            raise ModelReplyInvalid(
                f"{self._path}: the recorded reply to {prompt.name} is no {reply.__name__}; record it again"
            ) from error

    def _next(self, prompt: Prompt, reply: str = "") -> _Entry:
        key = prompt_key(prompt, reply)
        entries = self._entries.get(key, [])
        if not entries:
            raise NotRecorded(
                f"{self._path}: no reply to prompt {prompt.name!r}, version {prompt.version!r}, key {key}: "
                "it was never asked, or its wording, evidence or limits changed; record it again"
            )
        return entries.pop(0) if len(entries) > 1 else entries[0]


def _read(line: str, where: str) -> _Entry:
    try:
        return _Entry.model_validate_json(line)
    except ValidationError as error:
        raise ValueError(f"{where}: no entry of a cassette; remove the line, or record again") from error


def _usage(entry: _Entry) -> Usage:
    return Usage(**entry.usage.model_dump())
