# SPDX-License-Identifier: Apache-2.0
"""gpureg devices: what can compute here."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from . import options
from .errors import DONE
from .output import print_json, print_lines, print_table

NAME = "devices"


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        NAME,
        help="list the devices of this machine",
        description="Lists the devices of this machine, the best first, and what is wrong with drivers that have none.",
    )
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from .._devices import choose_device, devices
    from .._engine import device_complaints

    found = devices()
    complaints = list(device_complaints())
    default = choose_device()
    if arguments.json:
        print_json({"devices": [dataclasses.asdict(one) for one in found], "default": default, "complaints": complaints})
        return DONE
    rows = [
        [("* " if one.name == default else "  ") + one.name, f"{one.memory / 2**30:.1f} GiB", one.description]
        for one in found
    ]
    print_table(["  device", "memory", "what"], rows)
    print_lines(*complaints)
    return DONE
