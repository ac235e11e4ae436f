# SPDX-License-Identifier: Apache-2.0
"""The blocks of code of the pages beside this file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple, Optional, Sequence

FOLDER = Path(__file__).parent


class Block(NamedTuple):
    """A block of code.

    Attributes:
        language: what stands behind the opening fence.
        file: the name of the file that it is, which stands behind that; "" where it is none.
        text: its lines.
        line: where in the page it begins, from 1 on.
    """

    language: str
    file: str
    text: str
    line: int


def pages() -> list[Path]:
    """The pages that are each about one task, by name."""
    return sorted(path for path in FOLDER.glob("*.md") if path.name not in ("README.md", "guide.md", "limits.md", "formats.md"))


def blocks(page: Path) -> list[Block]:
    """A page's blocks of code, in order."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(m[1], m[2] or "", m[3], text.count("\n", 0, m.start()) + 1) for m in found]


def run(page: Path, folder: Path, some: Optional[Sequence[Block]] = None) -> None:
    """Runs a page's blocks of sh and of python, in order, in a folder that holds the files that they read. Blocks of python go on from
    each other, as a program's parts; blocks that are files are written.

    Args:
        some: the blocks that are run; None: all that the page has.

    Raises:
        Exception: what a block ends with.
    """
    bin_folder = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": bin_folder + os.pathsep + os.environ.get("PATH", "")}
    names: dict = {"__name__": "__main__"}
    before = Path.cwd()
    os.chdir(folder)
    try:
        for block in blocks(page) if some is None else some:
            if block.file:
                Path(block.file).write_text(block.text, encoding="utf-8")
            elif block.language == "sh":
                subprocess.run(["bash", "-euc", block.text], env=environment, check=True, stdin=subprocess.DEVNULL)
            elif block.language == "python":
                # Padded, so that an error's line is the page's.
                exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
    finally:
        os.chdir(before)
