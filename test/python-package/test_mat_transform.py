# SPDX-License-Identifier: Apache-2.0
"""Tests affine maps in .mat files as ITK and ANTs have them, beside SimpleITK."""

import gpuregistration as gr
import numpy as np
import pytest
import SimpleITK as sitk
from gpuregistration._mat_transform import read_mat_transform, write_mat_transform


def make(d, seed=1):
    rng = np.random.default_rng(seed)
    return gr.Affine(np.eye(d) + 0.1 * rng.normal(size=(d, d)), 20 * rng.normal(size=d), 1000 * rng.normal(size=d))


def assert_same(read, map_):
    np.testing.assert_array_equal(read.matrix, map_.matrix)
    np.testing.assert_array_equal(read.translation, map_.translation)
    np.testing.assert_array_equal(read.center, map_.center)


@pytest.mark.parametrize("d", [2, 3])
def test_what_is_written_is_read(tmp_path, d):
    path = str(tmp_path / "a.mat")
    write_mat_transform(path, make(d))
    assert_same(read_mat_transform(path), make(d))
    assert_same(gr.read_transform(path), make(d))


@pytest.mark.parametrize("d", [2, 3])
def test_simpleitks_files_are_read_as_simpleitk_reads_them(tmp_path, d):
    written = sitk.AffineTransform(make(d).matrix.ravel().tolist(), make(d).translation.tolist(), make(d).center.tolist())
    sitk.WriteTransform(written, str(tmp_path / "a.mat"))
    read = read_mat_transform(str(tmp_path / "a.mat"))
    assert_same(read, make(d))
    point = np.linspace(-30, 50, d)
    np.testing.assert_allclose(read.transform_points(point[None])[0], written.TransformPoint(point.tolist()), rtol=1e-13)


def test_numbers_of_32_bits_are_read(tmp_path):
    write_mat_transform(str(tmp_path / "a.mat"), make(3))
    content = bytearray((tmp_path / "a.mat").read_bytes())
    name = b"AffineTransform_float_3_3\0"
    numbers = make(3).parameters.astype("<f4")
    first = np.array([10, 12, 1, 0, len(name)], "<i4").tobytes() + name + numbers.tobytes()
    second = np.array([10, 3, 1, 0, 6], "<i4").tobytes() + b"fixed\0" + make(3).center.astype("<f4").tobytes()
    assert len(content) > len(first + second)
    (tmp_path / "f.mat").write_bytes(first + second)
    np.testing.assert_array_equal(read_mat_transform(str(tmp_path / "f.mat")).parameters, numbers.astype(np.float64))


def test_other_transforms_are_left_to_simpleitk(tmp_path):
    turned = sitk.Euler3DTransform((1, 2, 3), 0.1, 0.2, 0.3, (4, 5, 6))
    sitk.WriteTransform(turned, str(tmp_path / "e.mat"))
    assert read_mat_transform(str(tmp_path / "e.mat")) is None
    read = gr.read_transform(tmp_path / "e.mat")
    np.testing.assert_allclose(read.transform_points(np.array([[7.0, 8.0, 9.0]]))[0], turned.TransformPoint((7, 8, 9)), rtol=1e-12)


@pytest.mark.parametrize("keeps", [0, 10, 20, 60, 150, -1])
def test_a_file_that_is_cut_off_is_an_error(tmp_path, keeps):
    write_mat_transform(str(tmp_path / "a.mat"), make(3))
    content = (tmp_path / "a.mat").read_bytes()
    (tmp_path / "cut.mat").write_bytes(content[:keeps])
    with pytest.raises(gr.Error):
        gr.read_transform(tmp_path / "cut.mat")
