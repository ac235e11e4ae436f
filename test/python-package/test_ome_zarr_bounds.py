# SPDX-License-Identifier: Apache-2.0
"""Tests that no voxel which a block needs is missed, and that few are read which it does not need."""

import os

import numpy as np
import pytest

import gpuregistration as gr
from conftest import turn
from gpuregistration.ome_zarr import plan
from gpuregistration.ome_zarr.bounds import find_part
from gpuregistration.ome_zarr.plan import cut
from zarr_data import image_of, make_transforms, make_values


def needed(transform, grid, block, moving):
    """The voxels that a block's positions lie between, by mapping each of them."""
    index = np.moveaxis(np.indices(block.shape), 0, -1).reshape(-1, len(block.shape)) + block.first
    points = index[:, ::-1] @ grid.index_to_point[:-1, :-1].T + grid.origin
    points = points if transform is None else transform.transform_points(points)
    back = np.linalg.inv(moving.index_to_point)
    places = points @ back[:-1, :-1].T + back[:-1, -1]
    size = np.array(moving.size)
    inside = places[((places >= -0.5) & (places < size - 0.5)).all(axis=1)]
    if not len(inside):
        return None
    return np.clip(np.floor(inside.min(axis=0)), 0, size - 1), np.clip(np.floor(inside.max(axis=0)) + 1, 0, size - 1) + 1


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("name", ["none", "affine", "spline", "field", "field after affine", "all"])
def test_no_voxel_is_missed(name, dimension, rng):
    scale = (5.0, 4.0, 3.0)[3 - dimension :]
    translation = (10.0, 20.0, 30.0)[3 - dimension :]
    moving = image_of(make_values((25, 31, 28)[3 - dimension :]), scale=scale, translation=translation)
    grid = gr.Image(np.zeros((24, 30, 33)[3 - dimension :]), moving.spacing * 1.3, moving.origin - 5 * moving.spacing, turn(20, dimension)[:dimension, :dimension])
    transform = make_transforms(moving, int(rng.integers(1000)))[name]
    read, wanted = 0, 0
    for block in cut(grid.shape, (7,) * dimension):
        found = find_part(transform, grid, block.first[::-1], block.shape[::-1], moving)
        expected = needed(transform, grid, block, moving)
        if expected is not None:
            assert found is not None
            assert (found[0] <= expected[0]).all() and (found[1] >= expected[1]).all(), (block, found, expected)
            wanted += np.prod(expected[1] - expected[0])
        read += 0 if found is None else np.prod(found[1] - found[0])
    assert wanted > 0
    # Vectors of a spline reach as far as its control points, a bound that its values do not come to.
    assert read <= (2.0 if name in ("none", "affine") else 12.0) * wanted


def test_an_affine_map_needs_its_box_alone():
    """To the voxel: M and t are carried through all maps, and no box is put into a box."""
    moving = image_of(make_values((64, 64, 64)))
    grid = gr.Image(np.zeros((64, 64, 64)), moving.spacing, moving.origin)
    quarter = gr.Affine(turn(30), center=moving.origin + 32 * moving.spacing)
    there_and_back = gr.Composite([quarter, gr.Affine(turn(17)), gr.Affine(turn(-17)), quarter.inverse()])
    first, end = find_part(there_and_back, grid, (16, 16, 16), (16, 16, 16), moving)
    assert first.tolist() == [15, 15, 15] and end.tolist() == [33, 33, 33]


def test_a_field_is_looked_at_where_a_block_is():
    """One long vector far from a block does not make the block read more."""
    moving = image_of(make_values((32, 32, 32)))
    vectors = np.zeros((32, 32, 32, 3))
    vectors[30, 30, 30] = 20 * moving.spacing
    field = gr.DisplacementField(vectors, moving.spacing, moving.origin)
    first, end = find_part(field, moving, (0, 0, 0), (8, 8, 8), moving)
    assert first.tolist() == [0, 0, 0] and end.tolist() == [9, 9, 9]
    # Beside the vector, its whole length counts.
    first, end = find_part(field, moving, (8, 8, 8), (22, 22, 22), moving)
    assert first.tolist() == [7, 7, 7] and end.tolist() == [32, 32, 32]


def test_blocks_outside_need_nothing():
    moving = image_of(make_values((16, 16, 16)))
    away = gr.Affine(np.eye(3), 40 * moving.spacing)
    assert find_part(away, moving, (0, 0, 0), (16, 16, 16), moving) is None


def test_a_quarter_of_what_a_process_may_use_is_usual(monkeypatch):
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < plan.usual_memory() <= physical // 4
    monkeypatch.setattr(plan, "get_host_memory_limit", lambda: 4003)
    assert plan.usual_memory() == 1000
