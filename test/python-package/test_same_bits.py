# SPDX-License-Identifier: Apache-2.0
"""C++, Python and the command line come to the same bits on one device: beside test/python-package/RegisterByITK.cxx, which
GPUREG_TEST_PROGRAMS has."""

import os
import subprocess

import gpuregistration as gr
import numpy as np
import pytest
from command_line import gpureg_json
from conftest import make_head


@pytest.fixture
def heads(request, moved):
    """Returns the heads of conftest.py in longer voxels, for bits are as equal where they are fewer: 4 mm, and 6 mm for the global search,
    which takes the longest."""
    edge = 6.0 if request.node.callspec.params.get("stage") == "global" else 4.0
    grid = {"shape": [int(length / edge) for length in (80, 96, 88)], "spacing": (edge, edge, edge)}
    return make_head(**grid), make_head(moved.inverse().transform_points, **grid)


def write_heads(folder, heads):
    """Writes the heads, and returns the names of their files."""
    names = [str(folder / name) for name in ("fixed.mha", "moving.mha")]
    for name, image in zip(names, heads):
        gr.write_image(name, image)
    return names


@pytest.fixture
def by_itk(tmp_path, heads):
    """Returns the numbers that the program prints for the two heads, by name."""
    folder = os.environ.get("GPUREG_TEST_PROGRAMS")
    if not folder:
        pytest.skip("GPUREG_TEST_PROGRAMS names no folder of the C++ tests' programs")
    pytest.importorskip("SimpleITK")
    names = write_heads(tmp_path, heads)

    def run(what, device, *more):
        # Both use the same number of the host's threads.
        environment = {**os.environ, "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS": "2"}
        words = [os.path.join(folder, "RegisterByITK"), what, device, *names, *more]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300, env=environment)
        assert done.returncode == 0, done.stderr
        lines = (line.split() for line in done.stdout.splitlines())
        return {name: np.array([float.fromhex(number) for number in numbers]) for name, *numbers in lines}

    gr.set_threads(2)
    yield run
    gr.set_threads(0)


def assert_same_affine(ours, theirs, tolerance=0.0):
    """Asserts equality of matrix, within a tolerance, center, translation, and the image of the point 0."""
    np.testing.assert_allclose(ours.matrix.ravel(), theirs["matrix"], rtol=0, atol=tolerance)
    np.testing.assert_array_equal(ours.center, theirs["centre"])
    np.testing.assert_array_equal(ours.translation, theirs["translation"])
    if tolerance == 0:
        np.testing.assert_array_equal(ours.offset, theirs["offset"])


def assert_same_deformation(ours, theirs):
    """Asserts equality of the coefficients, and of their grid."""
    np.testing.assert_array_equal(np.moveaxis(ours.array, -1, 0).ravel(), theirs["coefficients"])
    size = ours.array.shape[2::-1]
    np.testing.assert_array_equal(np.concatenate([size, ours.origin, ours.spacing, ours.direction.ravel()]), theirs["grid"])


@pytest.mark.parametrize("stage, metric, tolerance", [
    ("global", "correlation_ratio", 0),
    ("affine", "correlation_ratio", 0),
    # ITK's class stores angles, and computes its matrix from them again: the sines or cosines of the angles, and sums of products of three
    # of them, have some eight roundings of 2^-53 at most.
    ("rigid", "mean_squares", 8 * 2**-53),
])  # fmt: skip
def test_linear(by_itk, heads, device, stage, metric, tolerance, tmp_path, capfd):
    theirs = by_itk(stage, device)
    ours = gr.register(*heads, stage, metric, device=device)
    assert_same_affine(ours.transform, theirs, tolerance)
    assert ours.cost == theirs["cost"][0]
    out, transform = tmp_path / "out.mha", tmp_path / "out.h5"
    reported = gpureg_json(
        capfd, "register", *write_heads(tmp_path, heads), "-o", out, "--output-transform", transform, "--transform", stage,
        "--metric", metric, "--device", device,
    )  # fmt: skip
    assert reported["cost"] == ours.cost
    np.testing.assert_array_equal(reported["matrix"], ours.transform.matrix_of())
    found = gr.read_transform(transform)
    assert_same_affine(found, theirs, tolerance)
    np.testing.assert_array_equal(found.matrix, ours.transform.matrix)
    np.testing.assert_array_equal(gr.read_image(out).array, ours.warped.array)


def test_affine_then_free_form(by_itk, heads, device, tmp_path, capfd):
    theirs = by_itk("chain", device, str(tmp_path / "warped.mha"))
    ours = gr.register(*heads, ["affine", "ffd"], device=device)
    deformation, affine = ours.transform.transforms
    assert_same_affine(affine, theirs)
    assert ours.stages[0].cost == theirs["cost"][0]
    np.testing.assert_array_equal(ours.stages[1].levels[-1].costs, theirs["costs"])
    assert_same_deformation(deformation, theirs)
    warped = gr.read_image(tmp_path / "warped.mha").array
    np.testing.assert_array_equal(ours.warped.array, warped)
    out, transform = tmp_path / "out.mha", tmp_path / "out.h5"
    reported = gpureg_json(
        capfd, "register", *write_heads(tmp_path, heads), "-o", out, "--output-transform", transform, "--transform", "affine,ffd",
        "--device", device,
    )  # fmt: skip
    assert reported["stages"][0]["cost"] == theirs["cost"][0]
    assert reported["stages"][1]["levels"][-1]["costs"] == list(theirs["costs"])
    found = gr.read_transform(transform).transforms
    assert_same_deformation(found[0], theirs)
    assert_same_affine(found[1], theirs)
    np.testing.assert_array_equal(gr.read_image(out).array, warped)


@pytest.mark.parametrize("is_masked", [False, True])
def test_free_form(by_itk, heads, device, is_masked, tmp_path, capfd):
    """With a mask, and another metric than the default."""
    mask = heads[0].like((heads[0].array > 40).astype(np.uint8))
    gr.write_image(tmp_path / "mask.mha", mask)
    theirs = by_itk("ffd", device, str(tmp_path / "warped.mha"), *[str(tmp_path / "mask.mha")] * is_masked)
    metric = "mean_squares" if is_masked else "normalized_mutual_information"
    ours = gr.register(*heads, "ffd", metric, fixed_mask=mask if is_masked else None, device=device)
    np.testing.assert_array_equal(ours.stages[0].levels[-1].costs, theirs["costs"])
    assert_same_deformation(ours.transform, theirs)
    warped = gr.read_image(tmp_path / "warped.mha").array
    np.testing.assert_array_equal(ours.warped.array, warped)
    out, transform = tmp_path / "out.mha", tmp_path / "out.h5"
    reported = gpureg_json(
        capfd, "register", *write_heads(tmp_path, heads), "-o", out, "--output-transform", transform, "--transform", "ffd",
        "--metric", metric, "--device", device, *["--mask", tmp_path / "mask.mha"] * is_masked,
    )  # fmt: skip
    assert reported["stages"][0]["levels"][-1]["costs"] == list(theirs["costs"])
    assert_same_deformation(gr.read_transform(transform), theirs)
    np.testing.assert_array_equal(gr.read_image(out).array, warped)
