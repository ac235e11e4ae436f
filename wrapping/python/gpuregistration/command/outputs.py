# SPDX-License-Identifier: Apache-2.0
"""Files that a subcommand writes: all of them, or none."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Optional, Sequence

from .._making import reworded_by_places
from .._parts import parts_that_are_written
from .errors import CommandError, WrongUse, one_line

TRANSFORMS = (".tfm", ".txt", ".h5", ".mat")
REPORTS = (".html", ".htm")


def check_name(path: str, suffixes: Sequence[str], what: str) -> None:
    """Raises WrongUse if a name ends on none of the suffixes."""
    if not path.lower().endswith(tuple(suffixes)):
        raise WrongUse(f"{path} is no name of {what}: let it end on one of {' '.join(suffixes)}")


class Outputs:
    """Where files are written until all are there: a folder beside each, so that they are then renamed, and no more.

    Args:
        paths: the files; None is none.

    Raises:
        CommandError: a folder is not there, or cannot be written in; before any work.
        WrongUse: two files of the same name.
    """

    def __init__(self, paths: Sequence[Optional[str]]) -> None:
        self._folders: dict[Path, Path] = {}
        # A link stays one: the file that it leads to is replaced.
        self._targets = {path: Path(os.path.realpath(path)) for path in paths if path is not None}
        taken: set[Path] = set()
        for path in paths:
            parts = {Path(os.path.realpath(part)) for part in parts_that_are_written(path)} if path is not None else set()
            if parts & taken:
                raise WrongUse(f"{min(parts & taken)} is to be of two outputs at once: give each a name of its own")
            taken |= parts
        try:
            for path, target in self._targets.items():
                self._make_folder(path, target)
        except BaseException:
            self._remove()
            raise

    def place(self, path: str) -> str:
        """Returns the temporary place at which to write the file of a name."""
        target = self._targets[path]
        return str(self._folders[target.parent] / target.name)

    def commit(self) -> None:
        """Puts all files in their places. Formats of two files bring the second one along. If one of them cannot be put there, those before
        it are taken away again, and what they replaced is put back."""
        placed: list[tuple[Path, Optional[Path]]] = []
        try:
            for target_folder, folder in self._folders.items():
                for made in sorted(folder.iterdir()):
                    target = target_folder / made.name
                    placed.append((target, _keep(target, folder)))
                    os.replace(made, target)
        except BaseException:
            for target, before in reversed(placed):
                if before is None:
                    target.unlink(missing_ok=True)
                else:
                    os.replace(before, target)
            raise

    def __enter__(self) -> "Outputs":
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._remove()
        renamed = reworded_by_places(error, {folder: target for target, folder in self._folders.items()})
        if renamed is not None:
            raise renamed from error

    def _make_folder(self, path: str, target: Path) -> None:
        if target.is_dir():
            raise CommandError(f"{path} is a folder: give a file's name")
        if not target.parent.is_dir():
            raise CommandError(f"there is no folder {target.parent} to write {target.name} to: make it, or give another name")
        if target.exists() and not target.is_file():
            raise CommandError(f"{path} is no file that can be replaced: give another name")
        if target.parent not in self._folders:
            try:
                self._folders[target.parent] = Path(tempfile.mkdtemp(prefix=".gpureg-", dir=target.parent))
            except OSError as error:
                raise CommandError(
                    f"{path} cannot be written: {error.strerror or one_line(error)}; give a folder that you may write in"
                ) from error

    def _remove(self) -> None:
        for folder in self._folders.values():
            shutil.rmtree(folder, ignore_errors=True)


def _keep(target: Path, folder: Path) -> Optional[Path]:
    """Gives a file that is about to be replaced a second name in a folder of the same file system. Returns that; None if there is no such
    file."""
    if not target.exists():
        return None
    kept = Path(tempfile.mkdtemp(prefix="before-", dir=folder)) / target.name
    try:
        os.link(target, kept)
    except OSError:
        # A file system without second names.
        os.replace(target, kept)
    return kept
