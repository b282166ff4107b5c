"""Traces on a terminal: what a person reads, and that what others wrote stays text."""

from rich.console import Console, RenderableType

from clew_schema.facts import EvidenceRetrieved, Mechanism
from clew_services.cli.trace_view import one_line, render, render_list
from clew_services.ports import TraceRow
from clew_translators.trace import read_trace
from clew_translators.trace_tree import RunState, TraceTree, graft
from tests.translators import courses, runs

DOCUMENTS = read_trace(runs.quads_of(runs.DOCUMENT_BATCHES))
AGENT = read_trace(runs.quads_of(runs.AGENT_BATCHES))


def shown(thing: RenderableType, width: int = 150) -> str:
    console = Console(width=width, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(thing)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def test_a_document_run() -> None:
    # 12:00:00.000001 to 12:00:02.250001 are 2.25 seconds.
    assert shown(render(DOCUMENTS)) == (
        "What is the return policy?\n"
        "DocumentRAG · answered · 2026-01-31T12:00:00.000001Z · 2.2 s ·"
        f" urn:trustgraph:docrag:{runs.SESSION}\n"
        "├── Retrieval: 2 chunks  hybrid  of 24 candidates  250 ms\n"
        "│   ├── [1] returns.pdf p.3 120–164  “Returns are accepted within 30 days. “OK” 退货”"
        "  dense #1 0.87 · bm25 #2 7.25\n"
        "│   └── [2] returns.pdf 400–420  “Shipping is free.”  bm25 #1 8\n"
        "├── Grade: strong / sufficient → answer  answerable  confidence 0.90  rule R1  250 ms\n"
        "│   └── reason  It says so.\n"
        "└── Answer  answer  250 ms\n"
        "    ├── answer  Within 30 days [1].\n"
        "    └── [1] returns.pdf p.3 120–156  “Returns are accepted within 30 days.”"
    )


def test_an_agent_run_holds_its_tools_run() -> None:
    text = shown(render(graft(AGENT, {DOCUMENTS.uri: DOCUMENTS})))
    lines = text.splitlines()
    assert lines[0] == "How long may I wait?"
    assert "├── Step 1: document-query  250 ms" in lines
    assert '│   ├── arguments  {"question": "What is the return policy?"}' in lines
    assert "│   └── What is the return policy?" in lines
    assert "│       ├── Retrieval: 2 chunks  hybrid  of 24 candidates  250 ms" in lines
    assert "│   └── tool failed  true" in lines
    assert lines[-1] == "    └── answer  30 days."


def test_a_tools_run_that_is_not_there_is_named() -> None:
    assert f"its own trace  urn:trustgraph:docrag:{runs.SESSION}" in shown(render(AGENT))


def test_a_rewritten_query_is_shown() -> None:
    again = EvidenceRetrieved(query="return policy days", pass_number=2)
    tree = read_trace(runs.quads_of(runs.told((*runs.DOCUMENT_STEPS[:2], (again,)))))
    assert shown(render(tree)).splitlines()[-2:] == [
        "└── Retrieval: 0 chunks  hybrid  of 0 candidates",
        "    └── query  return policy days",
    ]


def test_verdicts_stand_beside_citations_and_coverage_beside_the_answer() -> None:
    lines = shown(render(read_trace(runs.quads_of(courses.REWRITTEN_BATCHES)))).splitlines()
    assert lines[-5:] == [
        "└── Answer  partial  coverage 0.50  250 ms",
        "    ├── answer  Within 30 days [1]. For free [2].",
        "    ├── gap  Who pays?",
        "    ├── [1] returns.pdf p.3 120–156  “Returns are accepted within 30 days.”  supported",
        "    └── [2] returns.pdf p.3 120–156  “Returns are accepted within 30 days.”  misattributed, see [1]",
    ]
    assert "├── Rewritten: step_back  250 ms" in lines
    assert "├── No more rewrites: 1 spent → answer  partial  rule R9  250 ms" in lines


def test_what_was_found_for_a_part_stands_below_it_until_a_person_is_asked() -> None:
    lines = shown(render(read_trace(runs.quads_of(courses.RESUMED_BATCHES)))).splitlines()
    second = lines.index("│   └── Part 2  Who pays for shipping?")
    assert lines[second + 1] == "│       ├── Retrieval: 1 chunk  hybrid  of 24 candidates  250 ms"
    asked = lines.index("├── Waits for a person: ticket t-1  250 ms")
    assert lines[asked + 1 : asked + 4] == [
        "│   ├── asks  To which country?",
        "│   ├── option  Austria",
        "│   ├── option  elsewhere",
    ]
    assert "├── Part 2 · Retrieval: 1 chunk  hybrid  of 24 candidates  250 ms" in lines[asked:]
    assert "│   └── reply  Austria" in lines[asked:]


def test_a_failure_and_a_run_that_has_not_told_its_question() -> None:
    failed = read_trace(runs.quads_of(runs.told(((runs.FAILED,),))))
    assert "Failed: model-failed" in shown(render(failed))
    assert "no answer in 30 s" in shown(render(failed))
    empty = TraceTree(uri="urn:x", mechanism="agent")
    assert shown(render(empty)).splitlines() == ["(question not told yet)", "Agent · running · urn:x"]


def test_arguments_are_shown_as_they_are_meant() -> None:
    chosen = runs.CHOSEN.model_copy(update={"arguments": {"question": "退货"}})
    tree = read_trace(runs.quads_of(runs.told(((runs.AGENT_ASKED, chosen),), "agent", runs.AGENT_SESSION)))
    assert 'arguments  {"question": "退货"}' in shown(render(tree))


def test_what_others_wrote_is_text_on_one_line() -> None:
    hostile = "[red]x[/red]\x1b[31m\x07 \u202egnp\nsecond line [/] [link=http://x]y"
    found = runs.EVIDENCE[0].model_copy(update={"text": hostile, "filename": hostile})
    asked = runs.ASKED.model_copy(update={"query": hostile})
    retrieved = EvidenceRetrieved(query=hostile, evidence=(found,))
    text = shown(render(read_trace(runs.quads_of(runs.told(((asked, retrieved),))))), width=300)
    assert not set("\x1b\x07\u202e") & set(text)
    assert text.count("[red]x[/red]\ufffd[31m\ufffd \ufffdgnp second line") == 3
    row = TraceRow(
        session_uri=hostile,
        mechanism="agent",
        query=hostile,
        asked_at=hostile,
        collection="c",
        state="failed",
    )
    table = shown(render_list([row]), width=300)
    assert not set("\x1b\x07\u202e") & set(table)
    assert "[red]x[/red]" in table


def test_the_list_names_types_and_sessions() -> None:
    def row(name: str, mechanism: Mechanism, state: RunState) -> TraceRow:
        return TraceRow(
            session_uri=f"urn:trustgraph:{name}:{runs.SESSION}",
            mechanism=mechanism,
            query="Why?",
            asked_at="2026-01-31T12:00:00.000001Z",
            collection="c",
            state=state,
        )

    rows = [
        row("agent", "agent", "running"),
        row("docrag", "document-rag", "answered"),
        row("question", "graph-rag", "no_knowledge"),
    ]
    named = runs.SESSION[:8]
    for width in (80, 110):
        lines = shown(render_list(rows), width=width).splitlines()
        assert [line.split() for line in lines if "01-31" in line] == [
            ["01-31", "12:00:00", "Agent", "running", named, "Why?"],
            ["01-31", "12:00:00", "DocumentRAG", "answered", named, "Why?"],
            ["01-31", "12:00:00", "GraphRAG", "no_knowledge", named, "Why?"],
        ]


def test_a_run_is_one_line_however_long_its_question_and_its_id_is_whole() -> None:
    long = TraceRow(
        session_uri=f"urn:trustgraph:docrag:{runs.SESSION}",
        mechanism="document-rag",
        query="why " * 2_000,
        asked_at="2026-01-31T12:00:00.000001Z",
        collection="c",
        state="no_knowledge",
    )
    lines = [line for line in shown(render_list([long]), width=80).splitlines() if "01-31" in line]
    assert len(lines) == 1
    assert "no_knowledge" in lines[0]
    assert runs.SESSION[:8] in lines[0]
    assert "why why" in lines[0]


def test_one_line() -> None:
    assert one_line("  a\n\tb\x00c\u200bd  ") == "a b\ufffdc\ufffdd"
