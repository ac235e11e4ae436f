# SPDX-License-Identifier: Apache-2.0
"""Cohorts: many pairs of images, on all of a machine's devices, or on the workers of a Dask scheduler.

from gpuregistration.cohort import register_cohort
if __name__ == "__main__":  # workers are processes, which read this file again
    result = register_cohort("pairs.csv", "results", transform=["affine", "ffd"])
"""

from .register import Progress, register_cohort
from .results import Cohort, PairResult
from .schedule import WorkerError
from .shares import Share

__all__ = ["Cohort", "PairResult", "Progress", "Share", "WorkerError", "register_cohort"]
