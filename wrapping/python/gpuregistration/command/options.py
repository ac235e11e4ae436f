# SPDX-License-Identifier: Apache-2.0
"""Options that several subcommands have."""

from __future__ import annotations

import argparse
import re
import textwrap

from .parser import Once, OnceWithCommas


def add_device(parser: argparse.ArgumentParser, several: str = "") -> None:
    """Adds --device. several: the end of the help's sentence, of a command that takes several devices."""
    parser.add_argument(
        "--device",
        metavar="NAME",
        action=OnceWithCommas if several else Once,
        help=f'the device, such as "cuda:0" or "host"{several}; gpureg devices lists them (default: the best)',
    )


def add_stages(parser: argparse.ArgumentParser, default: str, help: str) -> None:
    """Adds --transform, which names stages, and --metric. help: of --transform, without the default."""
    parser.add_argument("--transform", metavar="STAGES", action=OnceWithCommas, default=default, help=f"{help} (default: {default})")
    parser.add_argument(
        "--metric",
        metavar="NAME",
        action=OnceWithCommas,
        help="the metric that compares the images, such as mean_squares; or one for each stage, with commas",
    )


def add_default(parser: argparse.ArgumentParser, image: str) -> None:
    """Adds --default, the value outside of an image of a name."""
    parser.add_argument(
        "--default", type=float, default=0.0, metavar="VALUE", help=f"the value outside of {image}, which its type of values must hold (default: 0)"
    )


def add_channel(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--channel", metavar="N", type=int, help="the number of the colour or other component that is used, from 0 on"
    )


def add_memory(parser: argparse.ArgumentParser, what: str) -> None:
    """Adds --memory, in bytes; None unless it is given."""
    parser.add_argument("--memory", metavar="SIZE", type=_size, help=what)


def _size(text: str) -> int:
    """Reads a number of bytes, such as 500M, 8G or 8GiB."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kMGT]?)(iB|B)?", text)
    count = 0
    if found is not None:
        base = 1024 if found[3] == "iB" else 1000
        count = int(float(found[1]) * base ** ("kMGT".index(found[2]) + 1 if found[2] else 0))
    if count < 1:
        raise argparse.ArgumentTypeError(f"{text} is not possible: give a number of bytes, such as 500M, 8G or 8GiB")
    return count


def add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=_seed, default=1, help="seed of the random numbers of stages that use some (default: 1)")


def _seed(text: str) -> int:
    from .._checks import MOST_SEED

    number = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= number <= MOST_SEED:
        raise argparse.ArgumentTypeError(f"{text} is not possible: give a whole number from 0 to {MOST_SEED}")
    return number


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object with all figures on standard output")


def add_quiet(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="print nothing but what is asked for, and errors")


def add_printing(parser: argparse.ArgumentParser) -> None:
    """Adds --json, --times and --quiet."""
    add_json(parser)
    parser.add_argument("--times", action="store_true", help="print on standard error how long each part took")
    add_quiet(parser)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Adds --devices, --workers-per-device and --scheduler."""
    parser.add_argument(
        "--devices", metavar="NAMES", action=OnceWithCommas, help="the devices, such as cuda:0,cuda:1 (default: all GPUs, or else the host)"
    )
    parser.add_argument(
        "--workers-per-device", metavar="N", type=int, help="processes that share a device (default: 1; on the host 1 for 4 cores)"
    )
    parser.add_argument("--scheduler", metavar="ADDRESS", help="address of a Dask scheduler, such as tcp://node7:8786, whose workers do the work")


def read_workers(arguments: argparse.Namespace) -> list[str] | None:
    """Returns the names of the devices that --devices names; None if it is not given. Raises WrongUse for what add_workers() has added."""
    from .errors import WrongUse

    if arguments.scheduler is not None and (arguments.devices is not None or arguments.workers_per_device is not None):
        raise WrongUse("--devices and --workers-per-device are of workers that are started here: leave them, or --scheduler, out")
    if arguments.workers_per_device is not None and arguments.workers_per_device < 1:
        raise WrongUse("--workers-per-device is to be 1 or more")
    if arguments.devices is None:
        return None
    devices = [choose_device(name) for name in arguments.devices.split(",")]
    if len(set(devices)) < len(devices):
        raise WrongUse("--devices names one twice: --workers-per-device has several processes share one")
    return devices


def wrapped(head: str, text: str) -> str:
    """Returns a paragraph of the help behind its head."""
    return textwrap.fill(text, 130, initial_indent=head, subsequent_indent=" " * len(head)) + "\n"


def choose_device(name: str | None) -> str:
    """Returns the name of the device that is to compute. Raises WrongUse if there is no such device."""
    from .. import _devices
    from .._engine import DeviceError
    from .errors import WrongUse, one_line

    if name is not None and "," in name:
        raise WrongUse(f"--device {name} names several devices, and gpureg register alone uses several: name one")
    try:
        return _devices.choose_device(name)
    except DeviceError as error:
        raise WrongUse(one_line(error)) from error


def choose_devices(names: str | None) -> list[str]:
    """Returns the names of the devices that are to compute together, with commas between them in `names`. Raises WrongUse if there is no
    such device."""
    return [choose_device(name) for name in ([None] if names is None else names.split(","))]
