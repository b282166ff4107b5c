"""Write the pages that are made from the code, and the examples into the pages that show them.

``python docs/generate.py`` writes what changed; ``--check`` writes nothing and ends with 1 when something would change.
The pages name the code they come from. Write there what is missing here.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from generators import asyncapi, cli, errors, examples, messages, observe, properties, settings, topics

ROOT = Path(__file__).resolve().parents[1]

PAGES = {
    "docs/reference/messages.md": messages.render,
    "docs/reference/topics.md": topics.render,
    "docs/reference/properties.md": properties.render,
    "docs/reference/settings.md": settings.render,
    "docs/reference/metrics-and-events.md": observe.render,
    "docs/reference/errors.md": errors.render,
    "docs/reference/cli.md": cli.render,
    "deploy/asyncapi.yaml": asyncapi.render,
}
"""File → the function that says what stands in it."""


def rendered() -> dict[Path, str]:
    """Every file that is generated, whole or in part, with its text."""
    pages = {ROOT / name: make() for name, make in PAGES.items()}
    written = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for path in written:
        if path not in pages:
            pages[path] = examples.included(path.read_text(encoding="utf-8"), ROOT)
    return pages


def main() -> int:
    """Write or compare; the exit status."""
    parser = argparse.ArgumentParser(prog="python docs/generate.py", description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 when something differs")
    check = parser.parse_args().check
    changed = 0
    for path, text in rendered().items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        changed += 1
        print(f"{'differs' if check else 'written'}: {path.relative_to(ROOT)}")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
