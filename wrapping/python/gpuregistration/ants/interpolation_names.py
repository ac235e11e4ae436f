# SPDX-License-Identifier: Apache-2.0
"""Lists the interpolations that -n takes. Errors and the help need them without the engine."""

INTERPOLATIONS = (
    "Linear, NearestNeighbor, BSpline[order=3], Gaussian[sigma=voxels,alpha=1], GenericLabel[Linear], MultiLabel[sigma=voxels,alpha=4], "
    "LanczosWindowedSinc, CosineWindowedSinc, HammingWindowedSinc, WelchWindowedSinc or BlackmanWindowedSinc"
)
