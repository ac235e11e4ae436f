# SPDX-License-Identifier: Apache-2.0
"""gpureg ants-commands: writes commands that have the names of ANTs' programs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .errors import DONE
from .output import print_lines

NAME = "ants-commands"

_EPILOG = """\
use:     gpureg ants-commands ants-bin && PATH=$PWD/ants-bin:$PATH antsRegistrationSyN.sh ...
         Only programs that run with that PATH use them. What gpuregistration does not support (docs/ants.md) goes to the next program of
         that name in PATH, with a warning; a wrong argument is an error.
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        NAME,
        help="write commands antsRegistration, antsApplyTransforms and PrintHeader into a folder",
        description="Writes antsRegistration, antsApplyTransforms and PrintHeader into a folder, which is to stand at the front of PATH.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="DIR", help="the folder, which is made if it is not there")


def run(arguments: argparse.Namespace) -> int:
    from .launchers import write_launchers

    print_lines(*map(str, write_launchers(Path(arguments.folder))))
    return DONE
