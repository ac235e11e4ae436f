# SPDX-License-Identifier: Apache-2.0
"""Image registration on GPUs, or on the host's threads.

>>> import gpuregistration
>>> result = gpuregistration.register(fixed, moving, transform=["affine", "ffd"])
>>> result.warped, result.transform, result.displacement_field

Images are NumPy arrays (with gpuregistration.Image for their geometry), SimpleITK's, ITK's, nibabel's and ANTsPy's, and what comes out is
of the kind that came in. Points are ITK's: mm, x first, the patient's left, posterior and superior.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._public import *  # noqa: F403

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Imports what the package offers when the first of its names is used, so that the command can start a device before NumPy."""
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _public

    for offered in _public.__all__:
        globals()[offered] = getattr(_public, offered)
    globals()["__all__"] = _public.__all__
    try:
        return globals()[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    __getattr__("__all__")
    return sorted(globals())
