# SPDX-License-Identifier: Apache-2.0
"""The command gpureg. Each subcommand is a module with add_parser(subparsers) and run(arguments), which returns an exit code."""

from .main import main, run_process

__all__ = ["main", "run_process"]
