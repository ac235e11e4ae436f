# SPDX-License-Identifier: Apache-2.0
"""Options that several subcommands have."""

from __future__ import annotations

import argparse


def add_device(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--device", metavar="NAME", help='what computes, such as "cuda:0" or "host"; gpureg devices lists them (default: the best)'
    )


def add_printing(parser: argparse.ArgumentParser) -> None:
    """--json, --times and --quiet."""
    parser.add_argument("--json", action="store_true", help="print one JSON object with all figures on standard output")
    parser.add_argument("--times", action="store_true", help="print on standard error how long each part took")
    parser.add_argument("--quiet", action="store_true", help="print nothing but what is asked for, and errors")


def choose_device(name: str | None) -> str:
    """The name of the device that is to compute. Raises WrongUse if there is none of that name."""
    from .. import _devices
    from .._engine import DeviceError
    from .errors import WrongUse, one_line

    try:
        return _devices.choose_device(name)
    except DeviceError as error:
        raise WrongUse(one_line(error)) from error
