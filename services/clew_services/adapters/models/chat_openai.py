"""A chat model behind an OpenAI-compatible HTTP interface: OpenAI, vLLM, Ollama, llama.cpp and many more."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Literal

from pydantic import ValidationError

from clew_services.adapters.models.json_reply import find_object, strict_schema, tell
from clew_services.adapters.models.model_http import HttpRefused, ModelClient
from clew_services.adapters.models.usage import total
from clew_services.errors import ModelFailed, ModelRefused, ModelReplyInvalid
from clew_services.ports import Completion, Prompt, Reply, Usage

_PATH = "chat/completions"
_MAX_REPAIRED = 4000
_MAYBE_NO_SCHEMAS = {400, 404, 422}

Messages = list[dict[str, str]]


class OpenAIChat:
    """The Chat port over HTTP. A reply that was cut at ``max_tokens`` is an error, never half an answer.

    ``structured`` asks for the value by JSON schema. A service that refuses that (HTTP 400, 404, 422) is
    asked with the schema in the prompt instead, and for the rest of this object's life. A reply that is no
    such value is sent back with what is wrong with it, at most ``repairs`` times.

    ``limit_field`` is where the service wants the limit of tokens (OpenAI's reasoning models take
    ``max_completion_tokens`` only). ``extra`` is added to every request; null takes a field out, as
    ``{"temperature": None}`` for those that allow none.
    """

    def __init__(
        self,
        client: ModelClient,
        *,
        model: str,
        repairs: int = 2,
        limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens",
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = model
        self._limit_field = limit_field
        self._extra = dict(extra or {})
        self._client = client
        self._repairs = repairs
        self._knows_schemas = True

    async def complete(self, prompt: Prompt) -> Completion:
        """The whole reply."""
        answer = await self._client.post(_PATH, self._body(prompt, _messages(prompt)))
        return Completion(text=self._text(answer, prompt), usage=self._usage(answer))

    async def stream(self, prompt: Prompt) -> AsyncGenerator[str | Usage]:
        """The reply in pieces, then its usage, always, also if the service did not tell it."""
        body = self._body(prompt, _messages(prompt))
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        usage = Usage(model=self.name)
        reason: object = None
        said = False
        async with aclosing(self._client.events(_PATH, body)) as events:
            async for event in events:
                usage = self._usage(event) if event.get("usage") else usage
                choice = _first_choice(event)
                reason = choice.get("finish_reason") or reason
                self._check_end(reason, choice.get("delta"), prompt)
                if piece := _content(choice.get("delta"), "content"):
                    said = said or bool(piece.strip())
                    yield piece
        if reason is None:
            raise ModelFailed(f"{self._client.where}: the stream ended before the reply did")
        if not said:
            raise ModelReplyInvalid(f"{self.name}: an empty reply to {prompt.name}")
        yield usage

    async def structured(self, prompt: Prompt, reply: type[Reply]) -> tuple[Reply, Usage]:
        """The reply as a value of ``reply``; usage is the sum over all repairs."""
        schema = strict_schema(reply)
        told = json.dumps(schema, ensure_ascii=False)
        plain = f"{prompt.system}\n\nReply with one JSON object of this schema, and nothing else:\n{told}"
        by_prompt: Messages = [{"role": "system", "content": plain}, *_messages(prompt)[1:]]
        extra: Messages = []
        usage = Usage(model=self.name)
        problem = ""
        for _ in range(1 + self._repairs):
            answer = await self._ask(prompt, schema, reply.__name__, by_prompt, extra)
            usage = total(usage, self._usage(answer))
            text = self._text(answer, prompt)
            try:
                return reply.model_validate_json(find_object(text)), usage
            except ValidationError as error:
                problem = tell(error)
            told = f"That is not valid: {problem}. Reply with the corrected JSON object only."
            extra = [
                {"role": "assistant", "content": text[:_MAX_REPAIRED]},
                {"role": "user", "content": told},
            ]
        raise ModelReplyInvalid(
            f"{self.name}: no {reply.__name__} for {prompt.name} in {1 + self._repairs} replies; last: {problem}"
        )

    async def _ask(
        self, prompt: Prompt, schema: dict[str, Any], name: str, by_prompt: Messages, extra: Messages
    ) -> dict[str, Any]:
        """One reply, asked for by schema if the service knows schemas."""
        if self._knows_schemas:
            form = {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": True}}
            try:
                body = self._body(prompt, _messages(prompt) + extra) | {"response_format": form}
                return await self._client.post(_PATH, body)
            except HttpRefused as refusal:
                if refusal.status not in _MAYBE_NO_SCHEMAS:
                    raise
        answer = await self._client.post(_PATH, self._body(prompt, by_prompt + extra))
        self._knows_schemas = False
        return answer

    def _body(self, prompt: Prompt, messages: Messages) -> dict[str, Any]:
        body = {
            "model": self.name,
            "messages": messages,
            self._limit_field: prompt.max_tokens,
            "temperature": prompt.temperature,
        }
        return {field: value for field, value in (body | self._extra).items() if value is not None}

    def _text(self, answer: Mapping[str, Any], prompt: Prompt) -> str:
        choice = _first_choice(answer)
        self._check_end(choice.get("finish_reason"), choice.get("message"), prompt)
        text = _content(choice.get("message"), "content")
        if not text.strip():
            raise ModelReplyInvalid(f"{self.name}: an empty reply to {prompt.name}")
        return text

    def _check_end(self, reason: object, message: object, prompt: Prompt) -> None:
        if reason == "content_filter" or _content(message, "refusal"):
            raise ModelRefused(f"{self.name}: the service refused the content of {prompt.name}")
        if reason == "length":
            raise ModelReplyInvalid(
                f"{self.name}: the reply to {prompt.name} was cut off at max_tokens={prompt.max_tokens}"
            )

    def _usage(self, answer: Mapping[str, Any]) -> Usage:
        usage, model = answer.get("usage"), answer.get("model")
        counts = usage if isinstance(usage, dict) else {}
        return Usage(
            model=model if isinstance(model, str) and model else self.name,
            in_token=_count(counts.get("prompt_tokens")),
            out_token=_count(counts.get("completion_tokens")),
        )


def _messages(prompt: Prompt) -> Messages:
    return [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]


def _first_choice(answer: Mapping[str, Any]) -> dict[str, Any]:
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _content(message: object, field: str) -> str:
    text = message.get(field) if isinstance(message, dict) else None
    return text if isinstance(text, str) else ""


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
