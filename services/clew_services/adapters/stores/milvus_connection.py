"""A connection to Milvus or milvus-lite: calls in threads, one writer, errors as ours, one repair of each kind.

pymilvus's asynchronous client gains nothing on milvus-lite, whose server shares our interpreter, and cannot
create indexes; so every call is a synchronous one in a thread.
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from clew_services.errors import ClewError, EmbedderMismatch, RetrievalFailed, UnknownCollection

if TYPE_CHECKING:
    from pymilvus import MilvusClient

T = TypeVar("T")

THREADS = 8
"""Calls that are under way at once."""
_NOT_LOADED = 101
_NO_COLLECTION = {4, 100}  # before and since 2.3
_CLOSED = ("closed channel", "should create connection first")
_QUIET_CHANNEL = {"grpc.keepalive_time_ms": 3_600_000, "grpc.keepalive_permit_without_calls": False}
"""pymilvus asks every 10 s whether the server lives; milvus-lite takes that for an attack after some minutes, and
ends the connection with a line on standard error. It lives as long as we do: it is a thread of ours."""
_EAGER_CHANNEL = {"grpc.initial_reconnect_backoff_ms": 200, "grpc.max_reconnect_backoff_ms": 1_000}
"""gRPC tries a server that is away ever more seldom, in the end every two minutes, and until then every call fails,
also when the server is back. After an outage of 20 s that was 7 s; with these it is under one."""

_SERVERS = ("http://", "https://", "tcp://", "unix:")


class MilvusConnection:
    """One client for ``uri``, made on first use: a path that ends in ``.db`` is milvus-lite, a URL a server.

    Of milvus-lite a process owns the whole directory until ``close``; a second process is refused with an error
    that says so. Raises ValueError for another kind of ``uri``.
    """

    def __init__(self, uri: str, *, token: str = "", timeout: float = 30.0) -> None:
        self.lite = not uri.startswith(_SERVERS)
        if self.lite and not uri.endswith(".db"):
            raise ValueError(
                f"{uri!r} is neither the URL of a Milvus server nor a milvus-lite path ending in .db"
            )
        self.uri = str(Path(uri).absolute()) if self.lite else uri
        self.timeout = timeout
        self.writing = asyncio.Lock()
        """Held by whoever writes: milvus-lite wants one writer at a time."""
        self._token = token
        self._client: MilvusClient | None = None
        self._making = threading.Lock()
        self._executor = ThreadPoolExecutor(THREADS, thread_name_prefix="clew-milvus")
        self._closing: asyncio.Task[None] | None = None

    async def call(self, work: Callable[[MilvusClient], T], *, loads: str = "") -> T:
        """``work`` done with the client. Raises RetrievalFailed, UnknownCollection or EmbedderMismatch.

        When the server says that collection ``loads`` is not loaded, it is loaded and ``work`` done once more.
        When the channel was closed under us, the client is made anew, once.
        """
        if self._closing is not None:
            raise RetrievalFailed("the vector store is closed")
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._work, work, loads)

    async def close(self) -> None:
        """Wait for calls under way, disconnect, give milvus-lite's lock back. Idempotent."""
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self._executor.shutdown)
        if self._client is not None:
            await asyncio.to_thread(self._release)

    # --- in a thread ------------------------------------------------------------------------------

    def _work(self, work: Callable[[MilvusClient], T], loads: str) -> T:
        import grpc  # type: ignore[import-untyped]  # it ships no types, and one exception is all we use
        from pymilvus.exceptions import MilvusException

        client = self._connected()
        try:
            try:
                return work(client)
            except MilvusException as error:
                if error.code == _NOT_LOADED and loads:
                    client.load_collection(loads, timeout=self.timeout)
                    return work(client)
                if not _closed(error):
                    raise
            except ValueError as error:  # this is what grpc raises
                if not _closed(error):
                    raise
            return work(self._connected(instead_of=client))
        except (MilvusException, grpc.RpcError, ValueError) as error:
            raise self._translated(error) from error

    def _connected(self, instead_of: MilvusClient | None = None) -> MilvusClient:
        from pymilvus import MilvusClient
        from pymilvus.exceptions import MilvusException

        with self._making:
            if self._client is not None and self._client is not instead_of:
                return self._client
            # Both log every error that they raise, traceback and all; ours tell the same once.
            for name in ("pymilvus", "milvus_lite"):
                logging.getLogger(name).setLevel(logging.CRITICAL)
            if self.lite:
                if importlib.util.find_spec("milvus_lite") is None:
                    raise RetrievalFailed(
                        f"{self.uri} needs milvus-lite: pip install 'clew-services[embedded]'"
                    )
                Path(self.uri).parent.mkdir(parents=True, exist_ok=True)
            try:
                options = _QUIET_CHANNEL if self.lite else _EAGER_CHANNEL
                self._client = MilvusClient(
                    self.uri, token=self._token, timeout=self.timeout, grpc_options=options
                )
            except (MilvusException, ValueError) as error:
                raise RetrievalFailed(self._cannot_open(error)) from error
            return self._client

    def _cannot_open(self, error: Exception) -> str:
        if not self.lite:
            return f"no answer from Milvus at {self.uri}: {_text(error)}"
        if _locked(Path(self.uri)):
            return (
                f"{self.uri} is open in another process, and milvus-lite allows one. Stop that process, or share the "
                f"data: run `milvus-lite server --data-dir {self.uri} --port 19530` and set the URI of all to "
                "http://127.0.0.1:19530"
            )
        return f"milvus-lite cannot open {self.uri}: {_text(error)}"

    def _translated(self, error: Exception) -> ClewError:
        text = _text(error)
        if getattr(error, "code", None) in _NO_COLLECTION:
            return UnknownCollection(f"Milvus at {self.uri}: {text}")
        if "dim" in text and ("expected dim" in text or "dimension" in text):
            return EmbedderMismatch(f"Milvus at {self.uri}: {text}")
        return RetrievalFailed(f"Milvus at {self.uri}: {text}")

    def _release(self) -> None:
        assert self._client is not None
        self._client.close()
        if self.lite:
            # Closing the client leaves the server, and with it the lock on the directory.
            from milvus_lite.server_manager import server_manager_instance

            server_manager_instance.release_server(self.uri)


def _closed(error: Exception) -> bool:
    return any(sign in str(error) for sign in _CLOSED)


def _text(error: Exception) -> str:
    """What the server or the transport said, in one line and without the wrapping."""
    said = getattr(error, "message", "") or getattr(error, "details", lambda: "")() or str(error)
    return " ".join(str(said).split())[:500]


def _locked(directory: Path) -> bool:
    """Whether another process holds milvus-lite's lock: pymilvus does not tell why it could not open."""
    import fcntl

    from milvus_lite.db import LOCK_FILENAME

    try:
        with (directory / LOCK_FILENAME).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
