# SPDX-License-Identifier: Apache-2.0
"""Files' names: what is handed in as one, how one is shown, and how a library that takes no name but in UTF-8 is led to a file of another.

Linux's names are bytes. Python has those that are no UTF-8 as text with surrogates, which neither SimpleITK nor a terminal takes."""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Iterator, Mapping, Union

from ._engine import BadInputError
from ._making import by_places, reworded
from ._parts import parts_that_are_read
from ._warnings import collect_input_warnings, warn_of_input

PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

_SURROGATES = re.compile("[\ud800-\udfff]")
# In a header that names the file of its values: what one line of text holds as it stands.
_NAMING_HEADERS = (".mhd", ".nhdr")
_UNNAMEABLE = re.compile(r"[\\\x00-\x1f\x7f%\ud800-\udfff]|^[\s~]|\s$")


def readable(text: str) -> str:
    """Returns a text that any stream of UTF-8 takes: a byte of a name that is no UTF-8 becomes \\xe9."""
    return _SURROGATES.sub(lambda found: _escaped(ord(found.group())), text)


def _escaped(code: int) -> str:
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


def name_of(path: PathLike) -> str:
    """Returns a path of any kind as text.

    Raises:
        BadInputError: it is none, or one that no file can have.
    """
    try:
        name = os.fsdecode(path)
        os.fsencode(name)
    except TypeError as error:
        raise BadInputError(
            f"A file's name is of type {type(path).__module__}.{type(path).__qualname__}. Hand in text, bytes or a pathlib.Path."
        ) from error
    except UnicodeEncodeError as error:
        raise BadInputError(f"The name {readable(str(path))} is none that a file can have: {error.reason}. Give another name.") from error
    if not name:
        raise BadInputError("A file's name is empty.")
    if "\0" in name:
        raise BadInputError(f"The name {name!r} has a byte of 0, which no file's name has. Give another name.")
    return name


def has_another_name(name: str) -> bool:
    """Returns whether a name is one that libraries do not take."""
    return _SURROGATES.search(name) is not None


def suffix_of(name: str) -> str:
    """Returns a file's suffix in small letters; of a compressed file, the suffix of its content."""
    lower = name.lower()
    return Path(lower[: -len(".gz")] if lower.endswith(".gz") else lower).suffix


@contextmanager
def to_read(path: PathLike) -> Iterator[str]:
    """Provides a name by which a file or a folder can be read inside: its own name, or, if that is not UTF-8, a link's. Errors and warnings
    name the file as it is shown.

    Raises:
        BadInputError: there is none, it cannot be read, or it is neither a file nor a folder.
    """
    name = name_of(path)
    _check_is_there(name)
    is_folder = os.path.isdir(name)
    if not has_another_name(name) and not (is_folder and any(map(has_another_name, os.listdir(name)))):
        with names_as_shown():
            yield name
        return
    with tempfile.TemporaryDirectory(prefix="gpureg-") as folder:
        links = _link_folder(Path(name), Path(folder)) if is_folder else _link_file(Path(name), Path(folder))
        with names_as_shown(links):
            yield str(next(iter(links)))


@contextmanager
def to_write_in(folder: str) -> Iterator[Path]:
    """Provides a name by which files can be written in a folder inside: its own name, or a link's."""
    if not has_another_name(folder):
        yield Path(folder)
        return
    with tempfile.TemporaryDirectory(prefix="gpureg-") as holder:
        link = Path(holder) / "folder"
        link.symlink_to(os.path.abspath(folder))
        yield link


def check_can_be_written(name: str) -> None:
    """Raises BadInputError if no file of that name can be put there, before any work."""
    target = Path(name)
    try:
        if not target.parent.is_dir():
            raise BadInputError(readable(f"There is no folder {target.parent} to write {target.name} to.{_hint_of_home(name)}"))
        state = target.stat() if os.path.exists(name) else None
        os.lstat(name)
    except FileNotFoundError:
        state = None
    except OSError as error:
        raise BadInputError(f"The file {readable(name)} cannot be written: {error.strerror}. Give another name.") from error
    if state is not None and not stat.S_ISREG(state.st_mode):
        what = "a folder" if stat.S_ISDIR(state.st_mode) else "no file that can be replaced"
        raise BadInputError(f"{readable(name)} is {what}: give a file's name.")
    if target.suffix.lower() in _NAMING_HEADERS and _UNNAMEABLE.search(target.name):
        raise BadInputError(
            f"The name {readable(target.name)!r} cannot stand in a {target.suffix.lower()}, which names the file of its values. Give a "
            "name of plain letters, or write a .mha or a .nrrd."
        )


def plain(name: str) -> str:
    """Returns a name that libraries take, of the same length and with the same suffix."""
    return _SURROGATES.sub("_", name)


def _check_is_there(name: str) -> None:
    try:
        mode = os.stat(name).st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        if os.path.islink(name):
            raise BadInputError(
                readable(f"The file {name} is a link to {os.readlink(name)}, where there is no file. Mend the link.")
            ) from error
        raise BadInputError(readable(f"There is no file {name}. Check the name and the folder.{_hint_of_home(name)}")) from error
    except OSError as error:
        reason = "permission denied" if error.errno == errno.EACCES else str(error.strerror)
        raise BadInputError(f"The file {readable(name)} cannot be read: {reason}.") from error
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise BadInputError(f"{readable(name)} is a pipe or a device, and no file that can be read twice. Write it to a file first.")
    if not os.access(name, os.R_OK):
        raise BadInputError(f"The file {readable(name)} cannot be read: permission denied.")


def _hint_of_home(name: str) -> str:
    return " A ~ is a shell's: write out the home folder." if name.startswith("~") else ""


def _link_folder(target: Path, folder: Path) -> Mapping[Path, Path]:
    """Makes links to a folder's files, in a folder of their own.

    Returns what messages are to name instead of the links: the folder first, and then names of files, without their folder.
    """
    made = folder / "folder"
    made.mkdir()
    links = {made: target}
    for number, name in enumerate(sorted(os.listdir(target))):
        link = name
        if has_another_name(name):
            # Two names may differ only in what is replaced in them. Hidden files stay hidden.
            link = f"{'.' if name.startswith('.') else ''}{number:06}-{plain(name)}"
            links[Path(link)] = Path(name)
        (made / link).symlink_to(os.path.abspath(target / name))
    return links


def _link_file(target: Path, folder: Path) -> Mapping[Path, Path]:
    """Makes links to a file, and to the files that hold its values. Returns the links' targets by link, the file's own first."""
    if not has_another_name(target.name):
        # The link is to the folder, so that a header reaches the files beside it.
        beside = folder / "folder"
        beside.symlink_to(os.path.abspath(target.parent))
        return {beside / target.name: target, beside: target.parent}
    links = {}
    for part in [target, *parts_that_are_read(str(target))[1:]]:
        # A header names what is in a folder below its own, too.
        link = folder / plain(os.path.relpath(part, target.parent))
        if folder not in Path(os.path.normpath(link)).parents:
            continue
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.abspath(part))
        links[link] = part
    return links


@contextmanager
def names_as_shown(links: Mapping[Path, Path] = MappingProxyType({})) -> Iterator[None]:
    """Rewords errors and warnings that are raised inside: they name the links' targets, and files as they are shown to people."""

    def rename(text: str) -> str:
        return readable(by_places(text, links))

    warnings: list[str] = []
    try:
        with collect_input_warnings(warnings):
            yield
    except Exception as error:
        changed: Any = reworded(error, rename)
        if changed is None:
            raise
        raise changed from error
    finally:
        for warning in warnings:
            warn_of_input(rename(warning))
