# SPDX-License-Identifier: Apache-2.0
"""OME-Zarr: images that need not fit into memory, block by block, on all of a machine's devices, or on the workers of a Dask scheduler.

from gpuregistration.ome_zarr import resample_zarr
if __name__ == "__main__":  # several workers are processes, which read this file again
    made = resample_zarr("big.zarr", "out.zarr", transform, reference="reference.nii.gz", memory=8 << 30)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .resample import Made, Progress, resample_zarr

__all__ = ["Made", "Progress", "resample_zarr"]


def __getattr__(name: str) -> Any:
    # Names of files are looked at without all of this.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.resample"), name)
