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


def write_textured(truth):
    """Writes two pairs of a head with waves in it, f and m, and of another contrast f2 and m2, each with noise of its own, into the current folder.
    truth: leads points of the fixed ones to the moving ones."""
    rng = np.random.default_rng(8)
    for name, transform in (("f", truth), ("m", gr.Affine(np.eye(3)))):

        def move(points, transform=transform):
            return transform.transform_points(points.reshape(-1, 3)).reshape(points.shape)

        head = make_head(move)
        index = np.stack(np.meshgrid(*[np.arange(n) for n in head.shape], indexing="ij"), axis=-1)[..., ::-1]
        x, y, z = np.moveaxis(move(index @ head.index_to_point[:-1, :-1].T + head.origin), -1, 0)
        textured = head.array * (1 + 0.3 * np.sin(0.21 * x + 1) * np.cos(0.17 * y) + 0.25 * np.cos(0.23 * z + 0.1 * x))
        for suffix, values in (("", textured), ("2", 120 - 9 * np.sqrt(np.abs(textured)))):
            noisy = values + 0.3 * rng.standard_normal(head.shape)
            gr.write_image(f"{name}{suffix}.nii.gz", head.like(noisy.astype(np.float32)))
