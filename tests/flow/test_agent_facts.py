"""What an agent's run establishes: tools it could choose, observations it builds on, traces of tools, what went wrong."""

from __future__ import annotations

from pathlib import Path

import pyshacl
from rdflib import Graph, URIRef

from clew_schema import ids
from clew_schema.agent import AgentRequest, AgentStep
from clew_schema.facts import Concluded, Fact, Outcome, ToolChosen, ToolObserved
from clew_schema.retrieval import DocumentRagResponse
from clew_services.adapters.models.chat_scripted import ScriptedChat, ScriptedThinker
from clew_services.adapters.models.rule_thinker import RuleThinker
from clew_services.core.agent import Thought
from clew_services.errors import ModelRefused
from clew_services.handlers.agent import TOO_MANY, Observe, Think
from clew_translators.explain.facts import facts_of
from clew_translators.namespaces import GRAPH_RETRIEVAL, PROV_WAS_DERIVED_FROM
from clew_translators.shapes import shaped_graph, shapes_of
from tests.flow.house import CLEW, House

LOOK = Thought(
    thought="I should look it up.", action="document-query", arguments={"question": "What is a clew?"}
)
DONE = Thought(thought="Now I know.", final="A clew is a ball of thread.")


def said(text: str, **given: str) -> Thought:
    return Thought(thought=text, action="text-completion", arguments=given)


async def run(house: House, *, collection: str = "default") -> tuple[Fact, ...]:
    """The facts of one run, as its published batches tell them."""
    await house.agent("What is it?", session_id="S", collection=collection)
    batches = house.batches("urn:trustgraph:agent:S")
    return facts_of(quad for batch in batches for quad in batch.triples)


def step(*facts: Fact) -> list[dict[str, object]]:
    """Facts without what the runtime stamps."""
    stamps = {"step", "started_at", "ended_at", "version", "seal"}
    return [fact.model_dump(exclude=stamps) for fact in facts]


async def test_a_step_names_the_tools_there_were_and_what_it_builds_on(tmp_path: Path) -> None:
    thoughts = [
        said("First the harbour.", question="price of one"),
        said("Then the garden.", question="price of two"),
        said("I must change money.", question="140 in francs"),
        Thought(
            thought="Compare.",
            final="133 is less than 155.",
            model="m1",
            in_token=5,
            out_token=2,
        ),
    ]
    chat = ScriptedChat(["It costs 140 euros.", "It costs 155 francs.", "That is 133."])
    async with House(tmp_path, thinker=thoughts, chat=chat) as house:
        facts = await run(house)
    chosen = [fact for fact in facts if isinstance(fact, ToolChosen)]
    assert [fact.uses for fact in chosen] == [(), (1,), (1, 2)]
    assert {fact.candidates for fact in chosen} == {("document-query", "text-completion")}
    assert {fact.prompt_version for fact in chosen} == {"scripted"}
    assert step(facts[-1]) == step(
        Concluded(
            answer="133 is less than 155.",
            after=3,
            thought="Compare.",
            uses=(2, 3),
            prompt_version="scripted",
            model="m1",
            in_token=5,
            out_token=2,
        )
    )


async def test_the_trace_of_a_tool_leads_from_the_observation_to_its_end_and_back(tmp_path: Path) -> None:
    async with House(tmp_path, thinker=[LOOK, DONE]) as house:
        await house.load("clew.md", CLEW)
        facts = await run(house)
        tool = f"urn:trustgraph:docrag:{ids.derive('tool', 'S', 1)}"
        (observed,) = (fact for fact in facts if isinstance(fact, ToolObserved))
        assert (observed.trace_uri, observed.trace_end) == (tool, f"{tool}/synthesis")
        assert (observed.failed, observed.error) == (False, "")
        batches = [*house.batches("urn:trustgraph:agent:S"), *house.batches(tool)]
        both = shaped_graph(quad for batch in batches for quad in batch.triples if quad.g == GRAPH_RETRIEVAL)
        links = {
            (str(s).removeprefix("urn:trustgraph:"), str(p).rpartition("#")[2], str(o)) for s, p, o in both
        }
        conforms, _, text = pyshacl.validate(both, shacl_graph=Graph().parse(data=shapes_of("spec")))
        assert conforms, text
        assert ("agent:S/i1", "wasDerivedFrom", tool) in links
        assert ("agent:S/i1", "wasDerivedFrom", f"{tool}/synthesis") in links
        assert (tool.removeprefix("urn:trustgraph:"), "wasStartedBy", "urn:trustgraph:agent:S/i1") in links


async def test_what_is_wrong_with_a_tool_is_an_error_and_an_observation(tmp_path: Path) -> None:
    fly = Thought(thought="fly", action="fly", arguments={})
    thoughts = [said("say it", question="x"), fly, LOOK, DONE]
    chat = ScriptedChat([ModelRefused("no such key")])
    async with House(tmp_path, thinker=thoughts, chat=chat) as house:
        facts = await run(house, collection="nowhere")
    seen = [fact for fact in facts if isinstance(fact, ToolObserved)]
    assert [fact.failed for fact in seen] == [True, True, True]
    assert [fact.observation for fact in seen] == [f"Error: {fact.error}" for fact in seen]
    assert seen[0].error == "no such key"
    assert seen[1].error.startswith("there is no tool 'fly'")
    assert seen[2].error.startswith("there is no collection 'nowhere'")
    assert seen[2].trace_uri
    assert seen[2].trace_end == "", "what failed has no answer"


async def test_a_question_that_waits_for_a_person_has_no_end_yet() -> None:
    chosen = ToolChosen(number=1, thought="", action="document-query")
    request = AgentRequest(question="q", session_id="S", trail=(chosen,))
    outcomes: tuple[tuple[Outcome | None, bool], ...] = (
        ("answer", True),
        ("partial", True),
        ("no_knowledge", True),
        ("needs_clarification", False),
        ("needs_scope_selection", False),
        ("cancelled", False),
        (None, False),
    )
    for outcome, ended in outcomes:
        result = DocumentRagResponse(
            session_id="T", response="r", outcome=outcome, state=request.model_dump_json()
        )
        (fact,) = (await Observe()(result)).facts
        assert isinstance(fact, ToolObserved)
        assert fact.trace_end == ("urn:trustgraph:docrag:T/synthesis" if ended else "")


async def test_a_loop_that_is_ended_builds_on_its_last_observation() -> None:
    history = (AgentStep(observation="one"), AgentStep(observation="two"))
    think = Think(thinker=ScriptedThinker([]), max_iterations=2)
    outcome = await think(AgentRequest(question="q", session_id="S", history=history))
    assert outcome.facts == (Concluded(answer=TOO_MANY, after=2, reason="max-iterations", uses=(2,)),)


async def test_a_thinker_without_a_prompt_has_no_version_of_one() -> None:
    outcome = await Think(thinker=RuleThinker())(AgentRequest(question="q", session_id="S"))
    (chosen,) = outcome.facts
    assert isinstance(chosen, ToolChosen)
    assert (chosen.prompt_version, chosen.candidates, chosen.uses) == ("", ("document-query",), ())


async def test_a_run_that_begins_with_a_history_of_its_callers_has_a_question_to_lead_back_to(
    tmp_path: Path,
) -> None:
    history = (AgentStep(observation="one"), AgentStep(observation="two"))
    ask = said("ask", question="x")
    async with House(tmp_path, thinker=[ask, DONE], chat=ScriptedChat("yes")) as house:
        await house.agent("What is it?", session_id="S", history=history)
        batches = house.batches("urn:trustgraph:agent:S")
    facts = facts_of(quad for batch in batches for quad in batch.triples)
    assert [fact.kind for fact in facts] == ["question_asked", "tool_chosen", "tool_observed", "concluded"]
    graph = shaped_graph(quad for batch in batches for quad in batch.triples if quad.g == GRAPH_RETRIEVAL)
    derived = {
        (str(s).rpartition(":")[2], str(o).rpartition(":")[2])
        for s, o in graph.subject_objects(URIRef(PROV_WAS_DERIVED_FROM))
    }
    assert derived == {("S/i3", "S"), ("S/final", "S/i3")}
    assert [fact.uses for fact in facts if isinstance(fact, ToolChosen)] == [(2,)]
