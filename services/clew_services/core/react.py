"""The ReAct text form, read while it comes.

::

    Thought: why            Thought: why
    Action: tool            Final Answer: text
    Args: {"name": "value"}

Read leniently: a missing ``Thought:``, code fences, bold labels, quoted tool names, ``Args`` over several
lines, none at all or under the name ``Action Input`` are all understood; what follows a complete call (an
observation the model made up) is ignored. Whitespace inside texts is kept, line ends included; around
them it is removed. How the text was cut into chunks never changes what is read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum, auto

from clew_services.core.agent import Thought

_LABELS = {
    "thought": "thought",
    "action": "action",
    "args": "args",
    "arguments": "args",
    "action input": "args",
    "final answer": "final",
    "observation": "observation",
}
_FORMS = {
    form.format(spelling): label
    for spelling, label in _LABELS.items()
    for form in ("{}:", "{}：", "**{}:**", "**{}**:")
}
_NO_ARGUMENTS = {"", "none", "null", "n/a", "()"}
_JSON = json.JSONDecoder(strict=False)  # models write line ends into strings


class ReactError(ValueError):
    """The text is not in ReAct form. The message tells the model what was wrong."""


@dataclass(frozen=True, slots=True)
class ThoughtText:
    """A piece of the thought; the pieces joined are the thought."""

    text: str


@dataclass(frozen=True, slots=True)
class ActionChosen:
    """The call is complete. Values that are not strings are JSON text."""

    name: str
    arguments: dict[str, str]


@dataclass(frozen=True, slots=True)
class FinalText:
    """A piece of the final answer; the pieces joined are the answer."""

    text: str


Event = ThoughtText | ActionChosen | FinalText


class _State(Enum):
    OPENING = auto()
    THOUGHT = auto()
    NAME = auto()
    CALL = auto()
    ARGS = auto()
    FINAL = auto()
    DONE = auto()


class _Text:
    """A text that grows. Whitespace at its end, and a line that may close the reply's code fence, wait for more."""

    def __init__(self) -> None:
        self.text = ""
        self._held = ""

    def add(self, piece: str, *, fenced: bool) -> str:
        """What can be shown now that ``piece`` has come."""
        held = self._held + piece
        if not self.text:
            held = held.lstrip()
        shown = held.rstrip()
        before, line_end, last = shown.rpartition("\n")
        if fenced and last.strip(" \t") in {"`", "``", "```"} and (line_end or not self.text):
            shown = before.rstrip()
        self._held = held[len(shown) :]
        self.text += shown
        return shown


class ReactParser:
    """Reads one reply. ``feed`` chunks, then ``close``; both return what became known."""

    def __init__(self) -> None:
        self._state = _State.OPENING
        self._buffer = ""
        self._line_start = True
        self._fenced = False
        self._closing = False
        self._thought = _Text()
        self._final = _Text()
        self._name = ""
        self._events: list[Event] = []
        self._call: ActionChosen | None = None

    def feed(self, chunk: str) -> list[Event]:
        """Read on. Never raises for a text that may still become valid; ReactError when it cannot."""
        self._buffer += chunk.replace("\r", "")
        return self._run()

    def close(self) -> list[Event]:
        """The text has ended. Raises ReactError if it neither acts nor concludes."""
        self._closing = True
        events = self._run()
        if self._state in {_State.NAME, _State.CALL, _State.ARGS}:
            self._settle_args({})
            events += self._take()
        if self._call is None and not self._final.text:
            raise ReactError(self._lack())
        return events

    def result(self) -> Thought:
        """What was read, once ``close`` returned."""
        thought = self._thought.text
        if self._call is None:
            return Thought(thought=thought, final=self._final.text)
        return Thought(thought=thought, action=self._call.name, arguments=self._call.arguments)

    def _run(self) -> list[Event]:
        steps = {
            _State.OPENING: self._opening,
            _State.THOUGHT: self._in_thought,
            _State.NAME: self._in_name,
            _State.CALL: self._in_call,
            _State.ARGS: self._in_args,
            _State.FINAL: self._in_final,
            _State.DONE: self._after,
        }
        while self._buffer and steps[self._state]():
            pass
        return self._take()

    def _take(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    # Each step below takes something off the buffer and returns True, or returns False to wait for more.

    def _opening(self) -> bool:
        self._buffer = self._buffer.lstrip()
        if "```".startswith(self._buffer[:3]) and not self._buffer.startswith("```") and not self._closing:
            return False
        if self._buffer.startswith("```"):
            if self._line() is None:
                return False
            self._fenced = True
        self._state = _State.THOUGHT
        return True

    def _in_thought(self) -> bool:
        if not self._line_start:
            end = self._buffer.find("\n") + 1
            piece, self._buffer = (self._buffer[:end], self._buffer[end:]) if end else (self._buffer, "")
            self._line_start = bool(end)
            if shown := self._thought.add(piece, fenced=False):
                self._events.append(ThoughtText(shown))
            return True
        label = self._label("thought", "action", "final")
        if label is None:
            return False
        if label in {"action", "final"}:
            self._state = _State.NAME if label == "action" else _State.FINAL
        self._line_start = False
        return True

    def _in_name(self) -> bool:
        if self._line_start:
            label = self._label(*_LABELS.values())
            if label is None:
                return False
            if label:
                self._settle_args({})
            self._line_start = False
        elif (line := self._line()) is None:
            return False
        else:
            self._name = line.strip(" \t`\"'*")
            self._state = _State.CALL if self._name else _State.NAME
            self._line_start = True
        return True

    def _in_call(self) -> bool:
        self._buffer = self._buffer.lstrip()
        if self._buffer.startswith("{"):
            self._state = _State.ARGS
            return True
        label = self._label(*_LABELS.values())
        if label is None:
            return False
        if label == "args":
            self._state = _State.ARGS
        elif label:
            self._settle_args({})
        else:
            return self._line() is not None
        return True

    def _in_args(self) -> bool:
        self._buffer = self._buffer.lstrip()
        if not self._buffer:
            return False
        if not self._buffer.startswith("{"):
            line = self._line()
            if line is None:
                return False
            if not line.startswith("```"):
                self._no_arguments(line)
            return True
        try:
            value, _ = _JSON.raw_decode(self._buffer)
        except (ValueError, RecursionError) as error:
            # An incomplete object and a wrong one look alike until the text ends.
            if not self._closing:
                return False
            raise ReactError(f"Args of {self._name!r} is no JSON object: {error}") from error
        self._settle_args(value)
        return True

    def _in_final(self) -> bool:
        piece, self._buffer = self._buffer, ""
        if shown := self._final.add(piece, fenced=self._fenced):
            self._events.append(FinalText(shown))
        return True

    def _after(self) -> bool:
        self._buffer = ""
        return False

    def _no_arguments(self, line: str) -> None:
        if line.strip().lower() not in _NO_ARGUMENTS:
            raise ReactError(f"Args of {self._name!r} is no JSON object but: {line.strip()[:80]!r}")
        self._settle_args({})

    def _settle_args(self, values: dict[str, object]) -> None:
        if not self._name:
            raise ReactError("after 'Action:' there is no tool's name")
        arguments = {
            key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for key, value in values.items()
        }
        self._call = ActionChosen(self._name, arguments)
        self._events.append(self._call)
        self._state = _State.DONE

    def _line(self) -> str | None:
        """Take a whole line; null while its end has not come."""
        line, end, rest = self._buffer.partition("\n")
        if not end and not self._closing:
            return None
        self._buffer = rest
        return line

    def _label(self, *expected: str) -> str | None:
        """Take a label at the start of the line; ``""`` if none of ``expected`` is there, null while that is open."""
        start = self._buffer.lstrip(" \t")
        text = start[:24].lower()
        for form, label in _FORMS.items():
            if label in expected and text.startswith(form):
                self._buffer = start[len(form) :]
                return label
        if not self._closing and any(form.startswith(text) for form in _FORMS):
            return None
        return ""

    def _lack(self) -> str:
        if self._state is _State.FINAL:
            return "after 'Final Answer:' there is no text"
        return "there is neither an 'Action:' nor a 'Final Answer:' at the start of a line"


def parse(text: str) -> Thought:
    """Read a whole reply. Raises ReactError."""
    parser = ReactParser()
    parser.feed(text)
    parser.close()
    return parser.result()
