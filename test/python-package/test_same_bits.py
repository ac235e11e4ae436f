# SPDX-License-Identifier: Apache-2.0
"""C++, Python and the command line come to the same bits on one device: beside test/python-package/RegisterByITK.cxx, which
GPUREG_TEST_PROGRAMS has."""

import os
import subprocess

import gpuregistration as gr
import numpy as np
import pytest
from command_line import gpureg_json


def write_heads(folder, heads):
    """The names of their files."""
    names = [str(folder / name) for name in ("fixed.mha", "moving.mha")]
    for name, image in zip(names, heads):
        gr.write_image(name, image)
    return names


@pytest.fixture
def by_itk(tmp_path, heads):
    """What the program prints of the two heads, by name."""
    folder = os.environ.get("GPUREG_TEST_PROGRAMS")
    if not folder:
        pytest.skip("GPUREG_TEST_PROGRAMS names no folder of the C++ tests' programs")
    pytest.importorskip("SimpleITK")
    names = write_heads(tmp_path, heads)

    def run(what, device, *more):
        # Both take as many threads of the host.
        environment = {**os.environ, "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS": "2"}
        words = [os.path.join(folder, "RegisterByITK"), what, device, *names, *more]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300, env=environment)
        assert done.returncode == 0, done.stderr
        lines = (line.split() for line in done.stdout.splitlines())
        return {name: np.array([float.fromhex(number) for number in numbers]) for name, *numbers in lines}

    gr.set_threads(2)
    yield run
    gr.set_threads(0)


def test_global_search(by_itk, heads, device):
    theirs = by_itk("global", device)
    ours = gr.register(*heads, "global", device=device)
    np.testing.assert_array_equal(ours.transform.matrix.ravel(), theirs["numbers"])
    assert ours.cost == theirs["cost"][0]


def test_affine(by_itk, heads, device, tmp_path, capfd):
    theirs = by_itk("affine", device)
    ours = gr.register(*heads, "affine", device=device)
    np.testing.assert_array_equal(ours.transform.matrix.ravel(), theirs["numbers"])
    assert ours.cost == theirs["cost"][0]
    out = tmp_path / "out.mha"
    told = gpureg_json(capfd, "register", *write_heads(tmp_path, heads), "-o", out, "--transform", "affine", "--device", device)
    np.testing.assert_array_equal(np.array(told["matrix"])[:3, :3].ravel(), theirs["numbers"])
    np.testing.assert_array_equal(told["matrix"], ours.transform.matrix_of())
    assert told["cost"] == ours.cost
    np.testing.assert_array_equal(gr.read_image(out).array, ours.warped.array)


def test_affine_then_free_form(by_itk, heads, device, tmp_path, capfd):
    theirs = by_itk("chain", device, str(tmp_path / "warped.mha"))
    ours = gr.register(*heads, ["affine", "ffd"], device=device)
    deformation, affine = ours.transform.transforms
    np.testing.assert_array_equal(affine.matrix.ravel(), theirs["matrix"])
    np.testing.assert_array_equal(affine.matrix_of()[:3, 3], theirs["offset"])
    np.testing.assert_array_equal(ours.stages[1].levels[-1].costs, theirs["cost"])
    np.testing.assert_array_equal(np.moveaxis(deformation.array, -1, 0).ravel(), theirs["numbers"])
    warped = gr.read_image(tmp_path / "warped.mha").array
    np.testing.assert_array_equal(ours.warped.array, warped)
    out, transform = tmp_path / "out.mha", tmp_path / "out.h5"
    told = gpureg_json(
        capfd, "register", *write_heads(tmp_path, heads), "-o", out, "--output-transform", transform, "--transform", "affine,ffd",
        "--device", device,
    )  # fmt: skip
    assert told["stages"][1]["levels"][-1]["costs"] == list(theirs["cost"])
    found = gr.read_transform(transform).transforms
    np.testing.assert_array_equal(np.moveaxis(found[0].array, -1, 0).ravel(), theirs["numbers"])
    np.testing.assert_array_equal(found[1].matrix.ravel(), theirs["matrix"])
    np.testing.assert_array_equal(gr.read_image(out).array, warped)


def test_rigid_by_another_metric(by_itk, heads, device):
    theirs = by_itk("rigid", device)
    ours = gr.register(*heads, "rigid", "mean_squares", device=device)
    assert ours.cost == theirs["cost"][0]
    # ITK's class keeps angles, and makes its matrix of them again.
    np.testing.assert_allclose(ours.transform.matrix.ravel(), theirs["numbers"], rtol=0, atol=4e-16)


def test_free_form_in_a_mask_by_another_metric(by_itk, heads, device, tmp_path):
    mask = heads[0].like((heads[0].array > 40).astype(np.uint8))
    gr.write_image(tmp_path / "mask.mha", mask)
    theirs = by_itk("ffd", device, str(tmp_path / "warped.mha"), str(tmp_path / "mask.mha"))
    ours = gr.register(*heads, "ffd", "mean_squares", fixed_mask=mask, device=device)
    np.testing.assert_array_equal(ours.stages[0].levels[-1].costs, theirs["cost"])
    np.testing.assert_array_equal(np.moveaxis(ours.transform.array, -1, 0).ravel(), theirs["numbers"])
    np.testing.assert_array_equal(ours.warped.array, gr.read_image(tmp_path / "warped.mha").array)


def test_free_form(by_itk, heads, device, tmp_path):
    theirs = by_itk("ffd", device, str(tmp_path / "warped.mha"))
    ours = gr.register(*heads, "ffd", device=device)
    np.testing.assert_array_equal(ours.stages[0].levels[-1].costs, theirs["cost"])
    np.testing.assert_array_equal(np.moveaxis(ours.transform.array, -1, 0).ravel(), theirs["numbers"])
    np.testing.assert_array_equal(ours.warped.array, gr.read_image(tmp_path / "warped.mha").array)
