"""A run explained: which sentence rests on what, which chunks were left out, what a person changed. No I/O.

As in :mod:`clew_services.cli.trace_view`, texts of others are shown as they are, on one line, and nothing in them moves
the cursor.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from rich.text import Text
from rich.tree import Tree

from clew_services.cli.trace_compact import LONG
from clew_services.cli.trace_view import clipped, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew_translators.trace_diff import Difference
    from clew_translators.why import Pass, Sentence, Support, Why
    from clew_translators.why_agent import Iteration
    from clew_translators.why_people import Exchange
    from clew_translators.why_rejected import Rejection

_VERDICTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "supported": ("supported", "green"),
        "unsupported": ("NOT SUPPORTED", "bold red"),
        "misattributed": ("WRONG SOURCE", "bold yellow"),
        "uncited": ("NO SOURCE", "bold red"),
        "unchecked": ("not checked", "dim"),
        "": ("not checked", "dim"),
    }
)
_OUTCOMES: Mapping[str, str] = MappingProxyType(
    {
        "answer": "answered",
        "partial": "answered in part",
        "no_knowledge": "nothing reliable is known",
        "needs_clarification": "waits for a person (needs_clarification)",
        "needs_scope_selection": "waits for a person (needs_scope_selection)",
        "cancelled": "withdrawn by a person",
    }
)
_SENTENCE = 300
_QUOTE = 160
_MOST_REJECTED = 12


def render_why(why: Why, sentence: int = 0) -> Tree:
    """``why`` as a tree; with ``sentence``, that one alone and everything that is known of its sources."""
    root = Tree(_head(why), guide_style="dim")
    if sentence:
        chosen = [one for one in why.sentences if one.number == sentence]
        for one in chosen:
            _sentence(root, one, why, whole=True)
        return root
    _course(root, why)
    for exchange in why.exchanges:
        _exchange(root, exchange)
    _iterations(root, why)
    if why.sentences:
        branch = root.add(Text("The answer, sentence by sentence", style="bold"))
        for one in why.sentences:
            _sentence(branch, one, why, whole=False)
    elif why.answer and not why.iterations:
        root.add(Text.assemble(("said  ", "dim"), clipped(why.answer, _SENTENCE)))
    _rejections(root, why.rejected)
    return root


def _head(why: Why) -> Text:
    label = Text(clipped(why.question, _SENTENCE) or "(question not told)", style="bold")
    told = [f"asked by {one_line(why.asked_by)}" if why.asked_by else "", one_line(why.asked_at), why.uri]
    label.append("\n" + " · ".join(part for part in told if part), style="dim")
    label.append("\n→ ", style="dim")
    ended = one_line(_OUTCOMES.get(why.outcome, why.outcome)) or "no end was told"
    label.append(ended, style="bold red" if why.outcome == "failed" else "bold")
    aside = [
        f"rule {one_line(why.decided_by)}" if why.decided_by else "",
        f"written by {one_line(why.writer)}" if why.writer else "",
        f"prompt {one_line(why.prompt_version)}" if why.prompt_version else "",
        "" if why.coverage is None else f"{why.coverage:.0%} of its sentences supported",
    ]
    label.append("".join(f"  {part}" for part in aside if part), style="dim")
    if why.failure:
        label.append(f"\n{clipped(why.failure, _SENTENCE)}", style="red")
    return label


def _course(root: Tree, why: Why) -> None:
    for number, part in enumerate(why.parts, start=1):
        root.add(Text.assemble((f"part {number}  ", "dim"), clipped(part, _SENTENCE)))
    for gap in why.gaps:
        root.add(Text.assemble(("not covered  ", "yellow"), clipped(gap, _SENTENCE)))
    for limit in why.limits:
        root.add(Text.assemble(("limit reached  ", "yellow"), one_line(limit)))


def _sentence(branch: Tree, one: Sentence, why: Why, *, whole: bool) -> None:
    name, style = _VERDICTS.get(one.verdict, (one_line(one.verdict), ""))
    label = Text(f"{one.number}. ", style="bold")
    label.append(clipped(one.text, _SENTENCE))
    label.append(f"  {name}", style=style)
    twig = branch.add(label)
    for support in one.supports:
        leaf = twig.add(_support(support))
        if whole:
            _chain(leaf, support, why)
    if whole and one.uri:
        twig.add(Text(one_line(one.uri), style="dim"))


def _support(support: Support) -> Text:
    label = Text(f"[{support.number}] ", style="bold")
    if support.filename or support.chunk:
        label.append(clipped(support.filename or support.chunk, 60), style="cyan")
        label.append(f" p.{support.page}" if support.page else "")
        label.append(f" {support.start}–{support.end}", style="dim")
        label.append(f"  “{clipped(support.quote, _QUOTE)}”")
    else:
        label.append("there is no such source", style="red")
    if support.verdict:
        name, style = _VERDICTS.get(support.verdict, (one_line(support.verdict), ""))
        label.append(f"  {name}", style=style)
    if support.better:
        label.append(f", but [{support.better}] says so", style="yellow")
    elif support.verdict == "unsupported" and support.chunk:
        label.append(f": {_measured(support)}", style="yellow")
    return label


def _chain(leaf: Tree, support: Support, why: Why) -> None:
    """From the quote back to the question, one step a line."""
    lines = {
        "checked": _measured(support),
        "span": f"sha256 {support.quote_sha256[:16]}… of the quote" if support.quote_sha256 else "",
        "document": " ".join(
            part
            for part in (support.document, f"version {support.version}" if support.version else "")
            if part
        ),
        "chunk": _ranked(support),
        "graded": " ".join(part for part in (support.chunk_grade, support.chunk_reason) if part),
    }
    for name, text in lines.items():
        if text:
            leaf.add(Text.assemble((f"{name}  ", "dim"), clipped(text, _SENTENCE)))
    if support.found_in is not None:
        _pass(leaf, support.found_in, why)


def _measured(support: Support) -> str:
    """What the check of a citation found."""
    words = "" if support.lexical is None else f"{support.lexical:.0%} of the sentence's words stand there"
    meaning = "" if support.similarity is None else f"similarity {support.similarity:.2f}"
    literal = {True: "quoted word for word", False: "what is in quotation marks is not there", None: ""}
    return "; ".join(part for part in (words, meaning, literal[support.quoted]) if part)


def _ranked(support: Support) -> str:
    scores = ", ".join(f"{name} {score:.3g}" for name, score in support.scores)
    rank = f"rank {support.rank}" if support.rank else ""
    return "  ".join(part for part in (support.chunk, rank, scores) if part)


def _pass(leaf: Tree, found: Pass, why: Why) -> None:
    where = f"part {found.part}, pass {found.number}" if found.part else f"pass {found.number}"
    leaf.add(Text.assemble(("searched  ", "dim"), f"{where}: ", clipped(found.query, _SENTENCE)))
    if found.relevance:
        who = " ".join(
            part
            for part in (found.grader, f"with prompt {found.prompt_version}" if found.prompt_version else "")
            if part
        )
        text = f"{found.relevance}, {found.answerability} → {found.route}"
        aside = f"by {who}, rule {found.rule}" if who else f"rule {found.rule}"
        leaf.add(Text.assemble(("decided  ", "dim"), one_line(text), (f"  {one_line(aside)}", "dim")))
        if found.let_in:
            leaf.add(
                Text.assemble(("and yet  ", "dim"), f"answered from it, by rule {one_line(found.let_in)}")
            )
        if found.reason:
            leaf.add(Text.assemble(("because  ", "dim"), clipped(found.reason, _SENTENCE)))
    if 0 < found.part <= len(why.parts):
        leaf.add(Text.assemble(("part  ", "dim"), clipped(why.parts[found.part - 1], _SENTENCE)))
    leaf.add(Text.assemble(("question  ", "dim"), clipped(why.question, _SENTENCE)))


def _exchange(root: Tree, one: Exchange) -> None:
    twig = root.add(Text.assemble(("A person was asked  ", "bold magenta"), clipped(one.asked, _SENTENCE)))
    if one.options:
        twig.add(Text.assemble(("to choose from  ", "dim"), clipped("; ".join(one.options), _SENTENCE)))
    who = one_line(one.person) or "somebody"
    if one.cancelled:
        twig.add(Text(f"{who} withdrew the question", style="red"))
    elif one.reply is None:
        twig.add(Text("nobody has answered yet", style="yellow"))
    else:
        twig.add(Text.assemble((f"{who} said  ", "dim"), (clipped(one.reply, _SENTENCE), "bold")))
        for query in one.searched:
            twig.add(Text.assemble(("so this was searched  ", "dim"), clipped(query, _SENTENCE)))
        if one.status_after:
            change = (
                f"{one.status_before} → {one.status_after}; {one.found} chunks found, {one.new} of them new"
            )
            twig.add(Text.assemble(("which changed  ", "dim"), one_line(change)))


def _iterations(root: Tree, why: Why) -> None:
    """Each iteration with what it thought, asked and saw; of many, the conclusion so, and the others on one line."""
    many = len(why.iterations) > LONG
    for one in why.iterations:
        if many and one.number:
            root.add(_one_line(one, why))
        else:
            _iteration(root, one, why)


def _one_line(one: Iteration, why: Why) -> Text:
    uses = f" builds on {', '.join(map(str, one.uses))}" if one.uses else ""
    label = Text(no_wrap=True, overflow="ellipsis")
    label.append(f"Step {one.number}: {clipped(one.action, 40)}", style="bold yellow")
    label.append(uses, style="dim")
    if one.trace in why.tools:
        label.append(f"  its run: {why.tools[one.trace].outcome}", style="dim")
    label.append(f"  {clipped(one.observation, _SENTENCE)}", style="red" if one.failed else "")
    return label


def _iteration(root: Tree, one: Iteration, why: Why) -> None:
    uses = f"  builds on {', '.join(map(str, one.uses))}" if one.uses else ""
    name = f"Step {one.number}: {clipped(one.action, 60)}" if one.number else "Conclusion"
    twig = root.add(Text.assemble((name, "bold yellow" if one.number else "bold green"), (uses, "dim")))
    if one.thought:
        twig.add(Text.assemble(("thought  ", "dim"), clipped(one.thought, _SENTENCE)))
    if one.number:
        arguments = ", ".join(f"{key}: {value}" for key, value in one.arguments.items())
        if arguments:
            twig.add(Text.assemble(("asked  ", "dim"), clipped(arguments, _SENTENCE)))
        style = "red" if one.failed else ""
        twig.add(Text.assemble(("saw  ", "dim"), (clipped(one.observation, _SENTENCE), style)))
    else:
        twig.add(Text.assemble(("said  ", "dim"), clipped(why.answer, _SENTENCE)))
    if (child := why.tools.get(one.trace)) is not None:
        twig.children.append(render_why(child))


def _rejections(root: Tree, rejected: tuple[Rejection, ...]) -> None:
    if not rejected:
        return
    branch = root.add(Text(f"Found and not cited: {len(rejected)}", style="bold"))
    # What was read or graded says more than what the search itself left behind, of which there may be much.
    for one in sorted(rejected, key=lambda one: one.stage == "retrieval")[:_MOST_REJECTED]:
        label = Text(clipped(one.filename or one.chunk, 60), style="cyan")
        label.append(f" p.{one.page}" if one.page else "")
        if one.text:
            label.append(f"  “{clipped(one.text, 48)}”")
        label.append(f"  {clipped(one.reason, 120)}", style="yellow")
        branch.add(label)
    if len(rejected) > _MOST_REJECTED:
        branch.add(Text(f"and {len(rejected) - _MOST_REJECTED} more: --json has them all", style="dim"))


def render_diff(differences: tuple[Difference, ...]) -> Tree:
    """What is otherwise in the second run, step by step."""
    root = Tree(Text(f"{len(differences)} differences", style="bold"), guide_style="dim")
    branches: dict[str, Tree] = {}
    for one in differences:
        if not one.field:
            style = "green" if one.how == "added" else "red"
            root.add(Text.assemble((f"{one.how}  ", style), one_line(one.step)))
            continue
        if one.step not in branches:
            branches[one.step] = root.add(Text(one_line(one.step), style="bold"))
        label = Text(f"{one_line(one.field)}  ", style="cyan")
        match one.how:
            case "added":
                label.append(f"+ {_value(one.after)}", style="green")
            case "removed":
                label.append(f"- {_value(one.before)}", style="red")
            case "moved":
                label.append(f"from place {one.before} to place {one.after}", style="yellow")
            case "changed":
                label.append(f"{_value(one.before)}", style="red")
                label.append(" → ")
                label.append(f"{_value(one.after)}", style="green")
        branches[one.step].add(label)
    return root


def _value(value: object) -> str:
    if isinstance(value, dict):
        value = value.get("text") or value.get("quote") or value.get("chunk_id") or value
    return clipped("none" if value is None or value == "" else str(value), 120)
