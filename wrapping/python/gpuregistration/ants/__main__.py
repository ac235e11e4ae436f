# SPDX-License-Identifier: Apache-2.0
"""python -m gpuregistration.ants PROGRAM ARGUMENTS…: runs antsRegistration, antsApplyTransforms or PrintHeader."""

from .process import run_process

if __name__ == "__main__":
    run_process()
