"""topics.md: every topic, who publishes, who reads, and its names in both profiles."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import clew_services
from clew_schema.topics import RESPONSES, TOPICS, Topic, TopicSpace
from clew_services.subscriptions import READERS, subscriptions
from generators.markdown import cell, code, doc, page, table

HANDLERS = Path(clew_services.__file__).parent / "handlers"

OUTSIDE = {
    "agent-request": ("callers",),
    "document-rag-request": ("callers",),
    "graph-rag-request": ("callers",),
    "document-load": ("callers",),
    "agent-observation": ("document-rag (by return address)",),
    "explainability": ("every step of a run (the runtime)",),
    "dead-letter": ("every step (the runtime)",),
    "dead-letter-request": ("operators",),
    "dead-letter-response": ("dead-letters",),
    "cancel-request": ("callers",),
    "cancel-response": ("cancel",),
}
"""Publishers that no handler's code names."""

SHARED = {"answering": "document-rag", "pausing": "document-rag"}
"""Modules of handlers that are parts of a service of another name."""

READERS_OUTSIDE = {
    "agent-response": "callers",
    "document-rag-response": "callers",
    "graph-rag-response": "callers",
    "document-status": "callers",
    "dead-letter": "`clew dead`, subscription `dead-letter.inbox`",
    "dead-letter-response": "operators",
    "cancel-response": "callers",
}

INTRO = """
A topic is a typed value in `clew_schema.topics`: its name, the type of its bodies, and the field whose value is the
partition key. All topics are persistent. `clew topics list` prints them with your tenant and namespace, `clew topics
create` makes them on a broker.
"""

SUBSCRIPTIONS = """
Subscriptions are `Shared`, start at the earliest message, and have the name of the step that reads. The graph topics
have their place; their service comes with its own issue.
"""

NAMES = """
Tenant and namespace are `CLEW_TENANT` and `CLEW_NAMESPACE` (here `public/default`), TrustGraph's workspace and flow are
`CLEW_TRUSTGRAPH_WORKSPACE` and `CLEW_TRUSTGRAPH_FLOW` (here `default`).
"""

REPLIES = """
## Where answers go

Responses go to the shared response topic, and to nobody else: filter by the property `id`. A caller that sets the
property `reply-to` to a topic of the same tenant and namespace gets them there instead; any other address is refused as
`forbidden`. A caller in profile `trustgraph` may also name a topic of `tg/response`.

A service that asks another puts a [`ReturnAddress`](messages.md#returnaddress) into the query. Then only the final
response is sent, to the address's topic, with the address's `state` in it.
"""


def render() -> str:
    """The page."""
    return page(
        "Topics",
        "`clew_schema.topics`, `clew_services.subscriptions` and the handlers",
        INTRO,
        "## What travels",
        table(["topic", "body", "key", "carries"], [_what(topic) for topic in TOPICS]),
        "## Who publishes, who reads",
        table(
            ["topic", "published by", "read by (subscription)"],
            [[code(t.name), _list(publishers(t)), _list(readers(t))] for t in TOPICS],
        ),
        SUBSCRIPTIONS,
        REPLIES,
        "## Full names",
        doc(TopicSpace),
        table(["topic", "profile `clew`", "profile `trustgraph`"], [_names(topic) for topic in TOPICS]),
        NAMES,
        "## Retry topics",
        "A failure that may pass is published again on `<topic>.<service>.retry`, with `attempt` and `due` in its "
        "properties. See [How a message is settled](../explanation/how-a-message-is-settled.md).",
        table(["retry topic", "read by"], _retries()),
    )


def publishers(topic: Topic[Any]) -> list[str]:
    """Who publishes on ``topic``: services by their handlers' code, then everybody else."""
    named = {service for service, names in sent().items() if topic.name in names}
    if topic in RESPONSES:
        named |= {reader.partition(".")[0] for reader, _ in READERS if _answers(reader, topic)}
    return [*sorted(named), *OUTSIDE.get(topic.name, ())]


def readers(topic: Topic[Any]) -> list[str]:
    """Which steps read ``topic``, then everybody else."""
    outside = READERS_OUTSIDE.get(topic.name)
    return [*(code(step) for step, read in READERS if read == topic), *([outside] if outside else [])]


def sent() -> dict[str, set[str]]:
    """Service → names of the topics that its handlers send to or tell, as their code says."""
    by_constant = {topic.name.replace("-", "_").upper(): topic.name for topic in TOPICS}
    found: dict[str, set[str]] = {}
    for path in sorted(HANDLERS.glob("[a-z]*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in {"Send", "tell"}
                and isinstance(node.args[0], ast.Attribute)
            ):
                service = SHARED.get(path.stem, path.stem.replace("_", "-"))
                found.setdefault(service, set()).add(by_constant[node.args[0].attr])
    return found


def _answers(step: str, topic: Topic[Any]) -> bool:
    """Whether ``step`` tells a caller of ``topic`` that it failed."""
    family = topic.name.removesuffix("-response")
    return step.startswith(family) or (family == "document-rag" and step.startswith("grading"))


def _what(topic: Topic[Any]) -> list[str]:
    name = topic.body.__name__
    return [code(topic.name), f"[`{name}`](messages.md#{name.lower()})", code(topic.key), topic.about]


def _names(topic: Topic[Any]) -> list[str]:
    names = (TopicSpace().full(topic.name), TopicSpace(profile="trustgraph").full(topic.name))
    return [code(topic.name), *map(code, names)]


def _retries() -> list[list[str]]:
    found = subscriptions(TopicSpace())
    return [[code(name), _list(map(code, steps))] for name, steps in found.items() if name.endswith(".retry")]


def _list(names: Iterable[str]) -> str:
    return cell(", ".join(names)) or "nobody yet"
