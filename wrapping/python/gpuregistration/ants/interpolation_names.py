# SPDX-License-Identifier: Apache-2.0
"""What -n takes, for errors and the help, which need no engine."""

INTERPOLATIONS = (
    "Linear, NearestNeighbor, BSpline[order=3], Gaussian[sigma=voxels,alpha=1], GenericLabel[Linear], MultiLabel[sigma=voxels,alpha=4], "
    "LanczosWindowedSinc, CosineWindowedSinc, HammingWindowedSinc, WelchWindowedSinc or BlackmanWindowedSinc"
)
