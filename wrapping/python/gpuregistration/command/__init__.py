# SPDX-License-Identifier: Apache-2.0
"""The command gpureg: main.py runs it. Each subcommand is a module with add_parser(subparsers) and run(arguments), which returns an exit
code.

It imports none of them here: ANTs' commands use some of these modules and start without the others."""
