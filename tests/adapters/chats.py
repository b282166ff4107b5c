"""The chat adapter, connected to a model service of this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx

from clew_services.adapters.models.chat_openai import OpenAIChat
from clew_services.adapters.models.model_http import ModelClient
from clew_services.ports import Prompt, Usage
from clew_services.runtime.clock import ManualClock
from tests.modelserver import Fault, ModelServer

KEY = "sk-verysecret-0123456789"
PROMPT = Prompt(name="greeting", system="Be kind.", user="Hello, wörld", max_tokens=50)


def chat_to(
    transport: httpx.AsyncBaseTransport, *, clock: ManualClock | None = None, **options: Any
) -> OpenAIChat:
    clock = clock or ManualClock()
    client = ModelClient(
        base_url="http://model.test/v1", clock=clock, api_key=KEY, transport=transport, **options
    )
    return OpenAIChat(client, model="tiny")


def chat_of(*script: str | dict[str, Any] | Fault, **options: Any) -> tuple[OpenAIChat, ModelServer]:
    server = ModelServer(list(script))
    return chat_to(httpx.ASGITransport(server.app()), **options), server


def chat_saying(handler: Callable[[httpx.Request], httpx.Response], **options: Any) -> OpenAIChat:
    return chat_to(httpx.MockTransport(handler), **options)


async def streamed(chat: OpenAIChat, prompt: Prompt = PROMPT) -> list[str | Usage]:
    return [piece async for piece in chat.stream(prompt)]
