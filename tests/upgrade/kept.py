"""Messages of a release, kept: what is on topics and in databases when the next one is rolled out.

``python -m tests.upgrade.kept`` writes those of the present version, made by the product's own services, once: what
stands under ``schema/frozen/messages/VERSION`` is never written anew, because nobody can change what was published.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from clew_schema import topics
from clew_schema.cancelling import CancelRequest
from clew_schema.dead_letters import DeadLetterRequest
from clew_schema.evidence import Grade
from clew_services.adapters.models.chat_scripted import ScriptedGrader
from clew_services.core.agent import Thought
from clew_services.ports import Outgoing
from tests.flow.house import CLEW, GOOD, House

FOLDER = Path(__file__).parents[2] / "schema" / "frozen" / "messages"
MOST = 3
"""Messages of a topic."""
QUESTION = "What is a clew?"
ASKING = Grade(
    relevance="strong",
    answerability="partial",
    ambiguity="missing_slot",
    route="clarify",
    missing_slots=("which",),
    hitl_prompt="Which one?",
)
NOT_OURS = {"graph-rag-request", "graph-rag-response"}
"""Topics that no service of ours uses yet."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A message as it was published: ``topic`` is its short name."""

    release: str
    topic: str
    key: str
    properties: Mapping[str, str]
    payload: bytes

    def __repr__(self) -> str:
        return f"{self.release} {self.topic} {self.properties.get('message-id', '')[:8]}"


def releases() -> list[str]:
    """Those of which messages are kept, the oldest first."""
    return sorted(each.name for each in FOLDER.iterdir() if each.is_dir())


def kept(release: str) -> list[Kept]:
    """Every message of a release."""
    found = []
    for file in sorted((FOLDER / release).glob("*.json")):
        for each in json.loads(file.read_text()):
            payload = json.dumps(each["body"], ensure_ascii=False).encode()
            found.append(Kept(release, file.stem, each["key"], each["properties"], payload))
    return found


def looking() -> list[Thought]:
    """An agent that asks the documents, and then knows."""
    look = Thought(thought="Let me look.", action="document-query", arguments={"question": QUESTION})
    return [look, Thought(thought="Now I know.", final="A ball of thread.")]


async def make(folder: Path) -> Mapping[str, Sequence[Outgoing]]:
    """Runs of every kind; what they published, by topic."""
    grader = ScriptedGrader(lambda question, *_: ASKING if "which" in question else GOOD)
    async with House(folder, grader=grader, thinker=looking()) as house:
        await house.load("clew.md", CLEW)
        await house.ask(QUESTION, session_id="plain", user="Ada")
        await house.hear(QUESTION, session_id="streamed")
        paused = await house.ask("which clew is it?", session_id="paused")
        await house.ask("", ticket=paused.ticket, answer="the red one", session_id="")
        await house.agent(QUESTION, session_id="agent")
        await house.client.cancel(CancelRequest(session_id="nobody", reason="a mistake"), timeout=10)
        await house.bus.publish(
            Outgoing(
                topic=house.settings.space.full("grading-request"), payload=b"no json", properties={"id": "x"}
            )
        )
        async for _ in house.client.dead_letters(DeadLetterRequest(all_collections=True), timeout=10):
            pass
        space = house.settings.space
        return {
            topic.name: house.bus.messages(space.full(topic.name))
            for topic in topics.TOPICS
            if topic.name not in NOT_OURS
        }


def described(message: Outgoing) -> dict[str, Any] | None:
    """A message as the file has it; null for what is no JSON."""
    try:
        body = json.loads(message.payload)
    except ValueError:
        return None
    return {"key": message.key, "properties": dict(sorted(message.properties.items())), "body": body}


def main() -> int:
    """Write the present version's, unless they are there."""
    release = version("clew-schema")
    folder = FOLDER / release
    if folder.exists():
        print(f"messages of {release} are kept already, and stay as they are")
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        made = asyncio.run(make(Path(scratch)))
    folder.mkdir(parents=True)
    for name, messages in made.items():
        told = [each for each in map(described, messages) if each is not None]
        chosen = [*told[: MOST - 1], *told[MOST - 1 :][-1:]]
        (folder / f"{name}.json").write_text(json.dumps(chosen, indent=1, ensure_ascii=False) + "\n")
        print(f"{len(chosen)} of {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
