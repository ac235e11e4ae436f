# SPDX-License-Identifier: Apache-2.0
"""Two heads with noise, in files, that this package's antsRegistration and ANTs' own register."""

import gpuregistration as gr
import numpy as np
from conftest import make_head

GRID = {"shape": (24, 27, 25), "spacing": (3.5, 3.5, 3.5)}


def write_heads(rng):
    """Writes f.nii.gz and m.nii.gz into the current folder; yields each file's name before its suffix, and the head without noise."""
    # Noise leaves no voxel whose neighborhood is flat, where rounding decides. A length of voxels that floats hold leaves none that ITK rounds out
    # of the inside.
    fixed, moving = make_head(**GRID), make_head(lambda points: points - [1.0, -1.0, 0.5] - 2.0 * np.sin(0.08 * points[..., ::-1]), **GRID)
    for name, image in (("f", fixed), ("m", moving)):
        gr.write_image(f"{name}.nii.gz", image.like((image.array + 2 * rng.standard_normal(image.shape)).astype(np.float32)))
        yield name, image
