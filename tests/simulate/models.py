"""Models and a retriever that draw what they say, think for a while, and fail; every call is written down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clew_schema.evidence import Grade
from clew_services.adapters.models.chat_scripted import (
    ScriptedChat,
    ScriptedGrader,
    ScriptedPlanner,
    ScriptedRewriter,
    ScriptedThinker,
    ScriptedWriter,
)
from clew_services.adapters.models.retriever_scripted import ScriptedRetriever
from clew_services.core.agent import Thought
from clew_services.core.answer import Draft
from clew_services.core.complexity import PlanReply
from clew_services.core.ranking import numbered
from clew_services.core.rewriting import RewriteReply
from clew_services.errors import EmptyCollection, ModelBusy, ModelFailed, RetrievalFailed
from clew_services.ports import Found
from tests.flow.drawn import POOL, RETRIEVALS
from tests.promise.history import Called, digest
from tests.simulate.world import HANDLED, SimClock, World

STRONG = Grade(relevance="strong", answerability="sufficient", route="answer", confidence=0.9)
WEAK = Grade(relevance="weak", answerability="partial", route="rewrite", confidence=0.4)
NOTHING = Grade(relevance="none", answerability="none", route="no_knowledge")
ASKING = Grade(
    relevance="strong",
    answerability="partial",
    ambiguity="missing_slot",
    route="clarify",
    missing_slots=("which thread",),
    hitl_prompt="Which one?",
    hitl_options=("red", "blue"),
)
LOOK = Thought(thought="Let me look.", action="document-query", arguments={"question": "What is a clew?"})
DONE = Thought(thought="Now I know.", final="A ball of thread.")
SAYS: dict[str, list[Any]] = {
    "retrieve": [Found(evidence=numbered(POOL[:n]), retrieval=RETRIEVALS[0]) for n in (1, 2, 0)],
    "plan": [
        PlanReply(complexity="simple", reason="one thing"),
        PlanReply(complexity="complex", reason="two", sub_questions=("What is a clew?", "Who is Ariadne?")),
    ],
    "grade": [STRONG, STRONG, WEAK, ASKING, NOTHING],
    "rewrite": [
        RewriteReply(method="step_back", step_back_question="What is thread used for?"),
        RewriteReply(method="hyde", hyde_document="A clew is a ball of thread."),
    ],
    "write": [
        Draft(text="A clew is a ball of thread. [1]"),
        Draft(text="Theseus used it. [1] Nobody knows why."),
    ],
    "think": [
        LOOK,
        LOOK,
        DONE,
        Thought(thought="So.", action="text-completion", arguments={"question": "?"}),
    ],
    "chat": ["yes", "no"],
}
TROUBLE = (ModelFailed("it did not answer in time"), ModelBusy("come back", 3.0), RuntimeError("a bug"))
ADRIFT = (RetrievalFailed("the store is away"), EmptyCollection("no document"))


def scripted(world: World, clock: SimClock) -> dict[str, Any]:
    """The parts that are models, by their names in the wiring."""
    takes: Any = {"delay": 0.02, "clock": clock}

    def says(who: str, asked: tuple[object, ...]) -> Any:
        step, cause, since = HANDLED.get()
        key = digest(repr(asked).encode())
        world.add(Called(at=world.now(), step=step, cause=cause, model=who, key=key, since=since))
        if who == "retrieve" and "poison" in str(asked[0]):
            return RetrievalFailed("this question breaks the store")
        if world.happens("models"):
            return world.chance("trouble").choice(ADRIFT if who == "retrieve" else TROUBLE)
        return world.chance(who).choice(SAYS[who])

    def script(who: str) -> Callable[..., Any]:
        return lambda *asked: says(who, asked)

    return {
        "retriever": ScriptedRetriever(script("retrieve")),
        "planner": ScriptedPlanner(script("plan"), **takes),
        "grader": ScriptedGrader(script("grade"), **takes),
        "rewriter": ScriptedRewriter(script("rewrite"), **takes),
        "writer": ScriptedWriter(script("write"), **takes),
        "thinker": ScriptedThinker(script("think"), **takes),
        "chat": ScriptedChat(script("chat"), **takes),
    }
