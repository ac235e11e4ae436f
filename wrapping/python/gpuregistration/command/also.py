# SPDX-License-Identifier: Apache-2.0
"""Further pairs of images, as a command line has them: --also FIXED MOVING metric=mean_squares weight=0.5."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Sequence

from .._stage_words import writable_settings
from .errors import WrongUse
from .stages import read_value, refuse_repeated

if TYPE_CHECKING:
    from .._also import ImagePair
    from .._image import Image
    from ..stages import Stage

#: The masks of a pair, by the settings that name their files.
_MASKS = {"mask": "fixed_mask", "moving_mask": "moving_mask"}


@dataclass
class AskedPair:
    """Describes the pair that one --also asks for.

    Attributes:
        files: the files of the images and masks, by the arguments of ImagePair.
        settings: the other arguments of ImagePair.
    """

    files: dict[str, str]
    settings: dict[str, Any] = field(default_factory=dict)

    def read(self, read: Callable[[str], Image]) -> ImagePair:
        """Reads the files, each by read()."""
        from .._also import ImagePair

        images: dict[str, Any] = {which: read(path) for which, path in self.files.items()}
        return ImagePair(**images, **self.settings)


def add_also(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--also",
        metavar=("FIXED2", "MOVING2"),
        nargs="+",
        action="append",
        default=[],
        help="images that stages which deform, or linear stages alone, compare beside FIXED and MOVING, in the same spaces, such as T2-weighted ones; may "
        "be repeated, behind FIXED and MOVING. Settings may follow: metric=NAME weight=0.5 mask=FILE moving_mask=FILE bins=32 radius=2 fixed_range=all "
        "moving_range=0x100. FIXED and MOVING have the weight 1",
    )


def read_also(asked: Sequence[Sequence[str]]) -> list[AskedPair]:
    """Reads what all --also ask for.

    Raises:
        WrongUse: there are not two files, or there is no such setting.
    """
    return [_read_one(words) for words in asked]


def _read_one(words: Sequence[str]) -> AskedPair:
    from .._also import ImagePair

    where = f"--also {' '.join(words)}"
    if len(words) < 2:
        raise WrongUse(f"{where}: give two files, FIXED2 and MOVING2")
    fields = {one.name: one for one in writable_settings(ImagePair)}
    pair = AskedPair({"fixed": words[0], "moving": words[1]})
    refuse_repeated(where, words[2:])
    for word in words[2:]:
        key, equals, value = word.partition("=")
        if equals and key in _MASKS:
            pair.files[_MASKS[key]] = value
        elif equals and key in fields:
            pair.settings[key] = read_value(where, word, fields[key], value)
        else:
            raise WrongUse(f'{where}: there is no setting "{word}"; there are: {", ".join([*fields, *_MASKS])}')
    return pair


def describe_what_ignores(asked: Sequence[AskedPair], stages: Sequence[Stage]) -> list[str]:
    """Returns a line on the stages that compare FIXED and MOVING alone; none if there are no further pairs, or no such stages."""
    from .._also import compares_several

    alone = [stage.name for stage in stages if not compares_several(stage, stages)] if asked else []
    return [f"gpureg: --also is not of {', '.join(alone)}: FIXED and MOVING alone are compared there"] if alone else []
