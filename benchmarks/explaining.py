"""``python -m benchmarks.explaining [--seconds S]``: what telling a step costs, and what is made of a trace.

Processor time, single-threaded, on runs that the tests know: a plain one, one of eight chunks with everything that a
fact can hold (rejected chunks, a grade for each, claims, prompts, seals), an agent of thirty iterations. Each figure is
the best of five rounds of at least ``S`` seconds; the best is what the code costs when nothing else runs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from clew_schema.evidence import ChunkGrade, CitationCheck, Claim, Evidence, Rejected
from clew_schema.facts import Concluded, Fact, Mechanism, ToolChosen, ToolObserved
from clew_schema.rdf import Triple
from clew_translators.explain import Profile, tellings
from clew_translators.explain.facts import facts_of
from clew_translators.explain.seal import sealed
from clew_translators.exports import FORMATS, export
from clew_translators.spans import spans
from clew_translators.trace_diff import diff
from clew_translators.validating import validate
from clew_translators.why import why
from tests.translators import courses, runs

Steps = Sequence[Sequence[Fact]]


@dataclass(frozen=True)
class Course:
    """A run, step by step, sealed as the runtime seals it."""

    name: str
    mechanism: Mechanism
    steps: Steps


def sealed_steps(steps: Steps) -> Steps:
    out: list[tuple[Fact, ...]] = []
    trail: tuple[Fact, ...] = ()
    for step in steps:
        facts = sealed(step, trail)
        trail += facts
        out.append(facts)
    return out


def rich() -> Steps:
    text = "The gearbox assembly of the second stage uses a planetary reduction of five to one. " * 7
    chunks = tuple(
        Evidence(
            chunk_id=f"urn:chunk:00000000-0000-4000-8000-00000000{n:04}",
            document_id="urn:document:00000000-0000-4000-8000-0000000000dd",
            version="3",
            filename="gearbox.pdf",
            page=n,
            start=n * 600,
            end=n * 600 + len(text),
            content_hash="c0ffee",
            text=text,
            rank=n,
            dense_rank=n,
            dense_score=0.9 - n / 100,
            bm25_rank=n,
            bm25_score=9.0 - n,
            fused_score=0.03,
        )
        for n in range(1, 9)
    )
    left_out = tuple(
        Rejected(chunk_id=f"urn:chunk:r{n}", reason="beyond-limit", rank=8 + n, fused_score=0.01)
        for n in range(1, 17)
    )
    opinions = tuple(ChunkGrade(place=n, relevance="weak", reason="coverage 0.5") for n in range(1, 9))
    retrieved = runs.RETRIEVED.model_copy(update={"evidence": chunks, "rejected": left_out})
    grade = runs.GRADED.grade.model_copy(update={"chunks": opinions})
    graded = runs.GRADED.model_copy(update={"grade": grade, "prompt_version": "1f0c33aa"})
    answered = runs.ANSWERED.model_copy(
        update={
            "citations": tuple(
                runs.CITATION.model_copy(update={"number": n, "chunk_id": chunks[n - 1].chunk_id})
                for n in range(1, 4)
            ),
            "claims": tuple(
                Claim(number=n, start=n, end=n + 1, verdict="supported", citations=(n,)) for n in range(1, 4)
            ),
            "checks": tuple(
                CitationCheck(number=n, start=n, end=n + 1, verdict="supported", lexical=0.9)
                for n in range(1, 4)
            ),
            "prompt_version": "77aa01bc",
        }
    )
    return ((runs.ASKED, retrieved), (graded,), (answered,))


def agent(iterations: int) -> Steps:
    steps: list[tuple[Fact, ...]] = [(runs.AGENT_RUN[0],)]
    for number in range(1, iterations + 1):
        uses = tuple(range(max(1, number - 3), number))
        chosen = ToolChosen(
            number=number,
            thought="Look it up.",
            action="document-query",
            arguments={"question": "?"},
            uses=uses,
        )
        steps.append((chosen, ToolObserved(number=number, observation="It is 42. " * 20)))
    return (*steps, (Concluded(answer="42", after=iterations),))


def courses_() -> tuple[Course, ...]:
    return (
        Course("plain, 2 chunks", "document-rag", sealed_steps(runs.DOCUMENT_STEPS)),
        Course("rewritten, 2 passes", "document-rag", sealed_steps(courses.REWRITTEN_STEPS)),
        Course("8 chunks, all fields", "document-rag", sealed_steps(rich())),
        Course("agent, 30 iterations", "agent", sealed_steps(agent(30))),
    )


def best(work: Callable[[], object], seconds: float) -> float:
    """Milliseconds of processor time that one call of ``work`` takes, at best."""
    work()
    found = []
    for _ in range(5):
        count, began = 0, time.process_time()
        while (spent := time.process_time() - began) < seconds:
            work()
            count += 1
        found.append(spent / count * 1000)
    return min(found)


def told(course: Course, profile: Profile) -> list[bytes]:
    """Every batch of the run, step by step, as it travels."""
    out: list[bytes] = []
    trail: tuple[Fact, ...] = ()
    for facts in course.steps:
        batches = tellings(
            facts,
            session_id=runs.SESSION,
            collection="manuals",
            mechanism=course.mechanism,
            profile=profile,
            trail=trail,
        )
        out.extend(one.encode() for one in batches)
        trail = (*trail, *facts)
    return out


def whole(course: Course, profile: Profile) -> tuple[tuple[Fact, ...], list[Triple]]:
    facts = tuple(fact for step in course.steps for fact in step)
    batches = tellings(
        facts, session_id=runs.SESSION, collection="manuals", mechanism=course.mechanism, profile=profile
    )
    return facts, [quad for one in batches for quad in one.batch().triples]


def telling(seconds: float) -> None:
    print("telling a step, sealed and encoded, ms of processor time (aim 0.1)")
    print(f"  {'run':22} {'steps':>5} {'quads':>6} {'spec':>7} {'trustgraph':>11} {'sealing':>8}")
    for course in courses_():
        count = len(course.steps)
        _, quads = whole(course, "spec")
        spec = best(partial(told, course, "spec"), seconds) / count
        other = best(partial(told, course, "trustgraph"), seconds) / count
        seals = best(partial(sealed_steps, course.steps), seconds) / count
        print(f"  {course.name:22} {count:5} {len(quads):6} {spec:7.3f} {other:11.3f} {seals:8.3f}")


def afterwards(seconds: float) -> None:
    course = courses_()[1]
    facts, quads = whole(course, "spec")
    print(f"\na run of {len(quads)} quads ({course.name}), ms of processor time")
    uri = f"urn:trustgraph:docrag:{runs.SESSION}"
    works: dict[str, Callable[[], object]] = {
        "facts from quads": partial(facts_of, quads),
        "why": partial(why, facts, uri),
        "diff with itself": partial(diff, facts, facts),
        "spans": partial(
            spans, facts, session_id=runs.SESSION, collection="manuals", mechanism="document-rag"
        ),
        "validate, all of it": partial(validate, quads),
        **{f"export {name}": partial(export, quads, name) for name in FORMATS},
    }
    for name, work in works.items():
        print(f"  {name:22} {best(work, seconds):8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.explaining", description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.3, help="least length of a round")
    chosen = parser.parse_args()
    telling(chosen.seconds)
    afterwards(chosen.seconds)


if __name__ == "__main__":
    main()
