"""Examples: files that run, shown in pages word for word.

A page names a file in a comment, and the block below the comment is the file without its docstring::

    <!-- example: docs/examples/ask_in_python.py -->
    ```python
    ...
    ```
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

_BLOCK = re.compile(r"(<!-- example: (\S+) -->\n)```(\w+)\n.*?^```$", re.DOTALL | re.MULTILINE)


def included(text: str, root: Path) -> str:
    """``text`` with every example block replaced by what stands in its file."""

    def block(found: re.Match[str]) -> str:
        return f"{found[1]}```{found[3]}\n{body(root / found[2])}```"

    return _BLOCK.sub(block, text)


def body(path: Path) -> str:
    """The file, without the docstring of a Python module: the page says in its own words what it is."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        first = ast.parse(text).body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            text = "".join(text.splitlines(keepends=True)[first.end_lineno :]).lstrip("\n")
    return text
