# SPDX-License-Identifier: Apache-2.0
"""Tests that default lengths follow from the images' voxels: results in voxels do not depend on the voxels' size."""

import gpuregistration as gr
import numpy as np
import pytest
from command_line import gpureg_json
from conftest import assert_within_record, make_head, turn
from gpuregistration import stages

# Exact in binary numbers, and not.
EXACT = (0.0625, 64.0)
OTHERS = (0.05, 5.0, 25.0, 4e-6)
QUICK = stages.FreeForm(iterations=3, similarity="mean_squares")


def respaced(image, spacing):
    """Returns the same array with voxels of other lengths."""
    spacing = np.broadcast_to(spacing, image.dimension).astype(float)
    return gr.Image(image.array, spacing, image.origin / image.spacing * spacing)


def at_1mm(pair, dimension):
    """Returns both images with voxels of 1 mm, or a slice of each."""
    whole = [respaced(image, 1.0) for image in pair]
    return whole if dimension == 3 else [gr.Image(image.array[20], (1.0, 1.0), image.origin[:2]) for image in whole]


def moves(result, fixed):
    """Returns the displacements of points in the middle of the image, in voxels."""
    index = np.random.default_rng(4).uniform(0.25, 0.75, (200, fixed.dimension)) * (np.array(fixed.size) - 1)
    points = fixed.origin + index * fixed.spacing
    return (result.transform.transform_points(points) - points) / fixed.spacing


def names(result):
    return [level.name for level in result.stages[0].levels]


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("stage", ["rigid", "affine", stages.Global(angles=(-0.4, 0.4)), QUICK], ids=lambda s: getattr(s, "name", s))
def test_same_in_voxels(device, heads, dimension, stage):
    pair = at_1mm(heads, dimension)
    result = gr.register(*pair, stage, device=device)
    known = moves(result, pair[0])
    assert np.abs(known).max() > 0.5
    for edge in EXACT + OTHERS:
        fixed, moving = (respaced(image, edge) for image in pair)
        other = gr.register(fixed, moving, stage, device=device)
        # In a free-form deformation floats are rounded, and each iteration amplifies the errors.
        np.testing.assert_allclose(moves(other, fixed), known, atol=1e-9 if edge in EXACT else 2e-3 if stage is QUICK else 1e-4)
        evaluations = [[level.evaluations for level in one.stages[0].levels] for one in (result, other)]
        assert edge not in EXACT or evaluations[0] == evaluations[1]


def test_exact_factors_give_the_same_bits(device, heads):
    pair = at_1mm(heads, 3)
    for stage in ("affine", QUICK):
        cost = gr.register(*pair, stage, device=device).cost
        for edge in EXACT:
            assert gr.register(*(respaced(image, edge) for image in pair), stage, device=device).cost == cost


@pytest.mark.parametrize(
    "edge, wanted",
    [
        (1.0, ["3 mm", "3 mm", "2 mm", "1 mm, thinned", "1 mm"]),
        (0.05, ["0.15 mm", "0.15 mm", "0.1 mm", "0.05 mm, thinned", "0.05 mm"]),
        (4e-6, ["0.000012 mm", "0.000012 mm", "0.000008 mm", "0.000004 mm, thinned", "0.000004 mm"]),
        (500.0, ["1500 mm", "1500 mm", "1000 mm", "500 mm, thinned", "500 mm"]),
    ],
)
def test_levels_are_named_by_their_voxels(heads, edge, wanted):
    pair = [respaced(image, edge) for image in heads]
    assert names(gr.register(*pair, "rigid", device="host")) == ["pyramid", *wanted]


def test_usual_heads_have_levels_of_8_4_2_and_1_mm():
    """For 181 × 217 voxels of 1 mm, 362 × 434 of 0.5 mm, and a field of view of 400 mm."""
    for size, edge in (((217, 181), 1.0), ((434, 362), 0.5), ((400, 256), 1.0)):
        head = make_head(shape=size, spacing=(edge, edge), origin=-0.5 * edge * np.array(size[::-1]))
        result = gr.register(head, head, "rigid", device="host")
        assert names(result)[1:] == ["8 mm", "4 mm", "2 mm", "1 mm, thinned", "1 mm"], (size, edge)
        spline = gr.register(head, head, stages.FreeForm(levels=1, iterations=1), device="host").transform
        np.testing.assert_allclose(spline.spacing, 5.0)


def test_lengths_that_are_given_stay(heads):
    pair = [respaced(image, 0.05) for image in heads]
    given = gr.register(*pair, stages.Rigid(finest_edge=0.1), device="host")
    assert names(given)[-1] == "0.1 mm"
    spline = gr.register(*pair, stages.FreeForm(levels=1, iterations=1, spacing=0.4), device="host").transform
    np.testing.assert_allclose(spline.spacing, 0.4)
    spline = gr.register(*pair, stages.FreeForm(levels=1, iterations=1), device="host").transform
    np.testing.assert_allclose(spline.spacing, 0.25)


def test_by_command(capfd, tmp_path, heads):
    """A mouse's voxels and a slide's: the same as by Python."""
    pytest.importorskip("SimpleITK")
    pair = at_1mm(heads, 3)
    known = moves(gr.register(*pair, "affine", device="host"), pair[0])
    for edge in (0.05, 25.0):
        files = []
        for name, image in zip(("fixed", "moving"), pair):
            files.append(tmp_path / f"{name}-{edge}.nii.gz")
            gr.write_image(files[-1], respaced(image, edge))
        out, found = tmp_path / f"{edge}.nii.gz", tmp_path / f"{edge}.tfm"
        words = ("register", *files, "-o", out, "--device", "host", "--transform", "affine", "--output-transform", found)
        gpureg_json(capfd, *words)
        fixed = gr.read_image(files[0])
        points = fixed.origin + np.random.default_rng(4).uniform(0.25, 0.75, (200, 3)) * (np.array(fixed.size) - 1) * edge
        led = gr.read_transform(found).transform_points(points)
        # A header stores floats.
        np.testing.assert_allclose((led - points) / edge, known, atol=0.01)


def skewed(kind):
    """Returns a known map in voxels, about the head's middle."""
    skew = np.tan(np.radians(3.0))
    matrix = np.array([[1.0, skew, 0.0], [0.0, 1.0, skew], [0.0, 0.0, 1.0]])
    if kind == "turned":
        matrix = turn(5.0) @ np.diag([1.05, 0.97, 1.04]) @ np.array([[1.0, 0.05, -0.04], [0.0, 1.0, 0.06], [0.0, 0.0, 1.0]])
    return matrix, np.array([0.5, -1.0, 0.75])


# The error of record, in voxels.
@pytest.mark.parametrize(
    "cost, record",
    [("correlation_ratio", 0.0309), ("mean_squares", 0.0315), ("correlation", 0.0278), ("normalized_mutual_information", 0.183)],
)
@pytest.mark.parametrize("kind", ["skewed", "turned"])
@pytest.mark.parametrize("edges", [(1.0, 1.0, 1.0), (1.0, 1.0, 4.0), (1.0, 4.0, 1.0), (4.0, 1.0, 1.0)], ids=str)
def test_affine_of_anisotropic_voxels(device, edges, kind, cost, record):
    """A skew is found to a tenth of a voxel, for any ratio of the voxels' edges: a rotation and a skew move a long object in nearly the same way.
    The minimum of mutual information is 0.17 voxels from the truth, for cubic voxels, too."""
    matrix, offset = skewed(kind)
    edges = np.array(edges)
    # The map and the head are stretched like the voxels.
    truth = gr.Affine(np.diag(edges) @ matrix @ np.diag(1 / edges), offset * edges, np.array([1.5, 1.0, 2.0]) * edges)
    in_voxels = gr.Affine(matrix, offset * 2, np.array([3.0, 2.0, 4.0]))
    fixed, moving = (respaced(image, edges) for image in (make_head(), make_head(in_voxels.inverse().transform_points)))
    found = gr.register(fixed, moving, stages.Affine(cost=cost), device=device)
    index = np.argwhere(fixed.array > fixed.array.mean())[::17, ::-1]
    points = fixed.origin + index * fixed.spacing
    apart = (found.transform.transform_points(points) - truth.transform_points(points)) / edges
    error = np.linalg.norm(apart, axis=1).mean()
    assert_within_record(error, record)
    assert error < 0.25
