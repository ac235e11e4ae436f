# SPDX-License-Identifier: Apache-2.0
"""Runs scripts that import ITK with this module, one after the other: run_scripts.py SCRIPT…

Each is a process of its own, forked from one that has imported ITK's and this module's classes, which takes longer than most scripts. Ends
with the first script that fails, and names it."""

import os
import runpy
import sys

import numpy

numpy.bool = bool  # which ITK before 5.3 asks for and numpy since 1.24 has not

import itk  # noqa: E402

# ITK imports a module, and those that it depends on, when one of its classes is first named. No device is looked for.
itk.GPUDevice

for script in sys.argv[1:]:
    print(script, flush=True)
    process = os.fork()
    if process == 0:
        runpy.run_path(script, run_name="__main__")
        sys.exit()
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if code != 0:
        sys.exit(f"{script} failed: exit code {code}")
