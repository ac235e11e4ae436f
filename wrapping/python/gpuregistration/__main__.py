# SPDX-License-Identifier: Apache-2.0
"""python -m gpuregistration: the command gpureg."""

from .command import run_process

if __name__ == "__main__":
    run_process()
