# SPDX-License-Identifier: Apache-2.0
"""Gives people who use ANTs its interface: the commands antsRegistration and antsApplyTransforms, and ANTsPy's functions.

>>> from gpuregistration import ants
>>> found = ants.registration(fixed, moving, type_of_transform="SyN")
>>> warped = ants.apply_transforms(fixed, moving, found["fwdtransforms"])
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .functions import apply_transforms, registration

__all__ = ["apply_transforms", "registration"]


def __getattr__(name: str) -> Any:
    """Imports the functions when the first of them is used, so that the commands start without what they need not."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import functions

    return getattr(functions, name)
