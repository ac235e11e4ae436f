# SPDX-License-Identifier: Apache-2.0
"""Cohorts: many pairs of images, on all of a machine's devices, or on the workers of a Dask scheduler.

from gpuregistration.cohort import register_cohort
if __name__ == "__main__":  # workers are processes, which read this file again
    result = register_cohort("pairs.csv", "results", transform=["affine", "ffd"])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import WorkerError
    from .register import Progress, register_cohort
    from .results import Cohort, PairResult
    from .shares import Share

__all__ = ["Cohort", "PairResult", "Progress", "Share", "WorkerError", "register_cohort"]

_MODULES = {
    "Cohort": "results",
    "PairResult": "results",
    "Progress": "register",
    "Share": "shares",
    "WorkerError": "errors",
    "register_cohort": "register",
}


def __getattr__(name: str) -> Any:
    # The command asks for the table's columns alone, and is to be quick to start.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
