# SPDX-License-Identifier: Apache-2.0
"""python -m gpuregistration: the command gpureg."""

from .command.main import run_process

if __name__ == "__main__":
    run_process()
