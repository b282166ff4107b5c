"""The JSON Schema of every topic's body, as files: ``python -m clew_schema.export [--check] [DIRECTORY]``.

The files in ``schema/frozen`` are the contract as it was last agreed. Writing them again after a change shows that
change in a diff; ``--check`` writes nothing and ends with 1 when a file would change.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clew_schema.topics import TOPICS, Topic

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FROZEN = Path(__file__).parents[1] / "frozen"
"""Where the files stand in a checkout; an installed package has none."""


def body_schema(topic: Topic[Any]) -> dict[str, Any]:
    """What a reader of ``topic`` accepts, as JSON Schema; absent fields have the defaults named there."""
    return {
        "$schema": DIALECT,
        "$id": f"urn:clew:topic:{topic.name}",
        "x-partition-key": topic.key,
        **topic.body.model_json_schema(by_alias=True),
    }


def rendered() -> Mapping[str, str]:
    """File name → text, for every topic."""
    return {
        f"{topic.name}.json": json.dumps(body_schema(topic), indent=2, ensure_ascii=False) + "\n"
        for topic in TOPICS
    }


def differences(directory: Path, files: Mapping[str, str]) -> Sequence[str]:
    """The names of files in ``directory`` that are missing, differ from ``files``, or should not be there."""
    present = {path.name: path.read_text(encoding="utf-8") for path in directory.glob("*.json")}
    return sorted(name for name in {*present, *files} if present.get(name) != files.get(name))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or compare the files; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m clew_schema.export", description="JSON Schemas of all topics."
    )
    parser.add_argument("directory", nargs="?", type=Path, help="default: schema/frozen, in a checkout")
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 when something differs")
    chosen = parser.parse_args(arguments)
    directory = chosen.directory or FROZEN
    if chosen.directory is None and not FROZEN.is_dir():
        parser.error("this is no checkout of the repository: name a directory")
    files = rendered()
    changed = differences(directory, files)
    if not chosen.check:
        directory.mkdir(parents=True, exist_ok=True)
        for name in changed:
            if name in files:
                (directory / name).write_text(files[name], encoding="utf-8")
            else:
                (directory / name).unlink()
    verb = "differs" if chosen.check else "written"
    sys.stdout.writelines(f"{verb}: {name}\n" for name in changed)
    return 1 if chosen.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
