"""What a step says while it works: nothing of it is recorded, and nothing depends on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from clew_schema.base import Message
    from clew_schema.topics import Topic
    from clew_services.runtime.handling import Handling
    from clew_services.runtime.process import Processor


class Aside:
    """What one handling says before its outcome: pieces of text, and progress. None of it is recorded.

    Pieces are numbered, so that a client can restart a broken stream: a second execution of the same
    step is another ``stream``, and a client shows the newest only.
    """

    def __init__(self, processor: Processor, handling: Handling) -> None:
        """For the caller of ``handling``."""
        self._processor = processor
        self._handling = handling
        self._stream = ""
        self._sequence = 0
        caller, run = handling.step.caller, handling.run
        self._heard = bool(caller and run and run.wants_stream and caller.address(run) is None)

    async def emit(self, text: str) -> None:
        """Publish ``text`` to a caller who streams."""
        if not self._heard or not text:
            return
        sequence, stream = self._place()
        message = self._processor.packer.chunk(self._handling, text, sequence, stream)
        await self._processor.bus.publish(message)

    async def tell(self, topic: Topic[Any], body: Message) -> None:
        """Publish progress."""
        sequence, stream = self._place()
        message = self._processor.packer.progress(self._handling, topic, body, sequence, stream)
        await self._processor.bus.publish(message)

    def _place(self) -> tuple[int, str]:
        """The number of the next piece, and the name of this execution; most executions need neither."""
        self._stream = self._stream or uuid4().hex
        self._sequence += 1
        return self._sequence - 1, self._stream
