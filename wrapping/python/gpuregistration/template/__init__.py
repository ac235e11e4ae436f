# SPDX-License-Identifier: Apache-2.0
"""Templates: an unbiased mean image of several people, on all of a machine's devices, or on the workers of a Dask scheduler.

from gpuregistration.template import build_template
if __name__ == "__main__":  # workers are processes, which read this file again
    result = build_template("people.csv", "results", transform=["affine", "greedy"], rounds=4)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .build import Progress, build_template
    from .errors import TemplateError
    from .results import Person, Round, Template

__all__ = ["Person", "Progress", "Round", "Template", "TemplateError", "build_template"]

_MODULES = {
    "Person": "results",
    "Progress": "build",
    "Round": "results",
    "Template": "results",
    "TemplateError": "errors",
    "build_template": "build",
}


def __getattr__(name: str) -> Any:
    # The command asks for the table's columns alone, and is to be quick to start.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
