# SPDX-License-Identifier: Apache-2.0
"""Tests the arithmetic of templates against formulas, SimpleITK and known maps."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import gpuregistration as gr
import numpy as np
import pytest
from conftest import turn
from gpuregistration._vectors import range_of_vectors
from gpuregistration.template import average, images


def test_mean_of_images_is_the_mean_of_divided_ones(rng):
    several = [rng.random((4, 5, 6)).astype(np.float32) * factor for factor in (1.0, 20.0, 3.0)]
    levels = [average.level_of(image) for image in several]
    wanted = np.mean([image.astype(np.float64) / level for image, level in zip(several, levels)], axis=0) * np.mean(levels)
    found = average.mean_of_images(several, levels)
    assert found.dtype == np.float64 and np.abs(found - wanted).max() < 1e-13 * wanted.max()
    plain = average.mean_of_images(several)
    assert np.abs(plain - np.mean(np.array(several, dtype=np.float64), axis=0)).max() < 1e-14 * plain.max()


def test_mean_of_large_values_keeps_the_digits_of_doubles():
    """Sums in floats would lose the small values beside 2^24."""
    several = [np.full((2, 2, 2), value, np.float32) for value in (2.0**24, 1.0, 1.0, 1.0)]
    assert (average.mean_of_images(several) == (2.0**24 + 3) / 4).all()


@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (2.0, 1.5, 0.7)])
def test_sharpening_is_that_of_itk(rng, spacing):
    sitk = pytest.importorskip("SimpleITK")
    array = (100 * rng.random((12, 14, 16))).astype(np.float32)
    image = sitk.GetImageFromArray(array)
    image.SetSpacing(spacing[::-1])
    wanted = sitk.GetArrayFromImage(sitk.LaplacianSharpening(image, True))
    found = average.sharpen_by_laplacian(array, spacing)
    assert np.abs(found - wanted).max() < 1e-6 * np.ptp(wanted)
    # It does something.
    assert np.abs(found - array).max() > 0.1 * np.ptp(array)


def test_the_unsharp_mask_is_that_of_itk(rng):
    """The unsharp mask has an amount of 0.5 and a Gaussian of one voxel along each axis."""
    from gpuregistration.template.mean import _sharpened

    sitk = pytest.importorskip("SimpleITK")
    spacing = (1.0, 1.5, 2.0)
    grid = gr.Image((100 * rng.random((12, 14, 16))).astype(np.float32), spacing)
    image = sitk.GetImageFromArray(grid.array)
    image.SetSpacing(spacing)
    wanted = sitk.GetArrayFromImage(sitk.UnsharpMask(image, sigmas=spacing, amount=0.5, threshold=0.0))
    found = _sharpened(grid.array.astype(np.float64), grid, spacing[::-1], "unsharp", "host")
    assert np.abs(found - wanted).max() < 1e-5 * np.ptp(wanted)


def test_sharpening_leaves_what_has_no_edges():
    flat = np.full((3, 4, 5), 7.0)
    assert (average.sharpen_by_laplacian(flat, (1, 1, 1)) == flat).all()


def test_mean_stretch_of_symmetric_maps_is_their_geometric_mean():
    found = average.mean_stretch([np.diag([2.0, 1.0, 0.5]), np.diag([0.5, 4.0, 0.5])])
    np.testing.assert_allclose(found, np.diag([1.0, 2.0, 0.5]), atol=1e-14)


def test_mean_stretch_does_not_depend_on_how_people_lie(rng):
    """Rotations behind the maps change nothing; without them there is nothing but a rotation to mean."""
    stretches = []
    for _ in range(4):
        half = np.eye(3) + 0.2 * rng.standard_normal((3, 3))
        stretches.append(half @ half.T)
    turned = [turn(40.0 * n) @ stretch for n, stretch in enumerate(stretches)]
    np.testing.assert_allclose(average.mean_stretch(turned), average.mean_stretch(stretches), atol=1e-12)
    np.testing.assert_allclose(average.mean_stretch([turn(170.0), turn(-30.0)]), np.eye(3), atol=1e-12)


def test_mean_stretch_of_maps_and_their_inverses_is_the_identity(rng):
    half = np.eye(3) + 0.2 * rng.standard_normal((3, 3))
    stretch = half @ half.T
    np.testing.assert_allclose(average.mean_stretch([stretch, np.linalg.inv(stretch)]), np.eye(3), atol=1e-12)


@pytest.mark.parametrize("matrix", [np.diag([-1.0, 1.0, 1.0]), np.diag([0.0, 1.0, 1.0])])
def test_mirrored_maps_have_no_mean(matrix):
    with pytest.raises(gr.BadInputError, match="mirrors, or has no inverse"):
        average.mean_stretch([np.eye(3), matrix])


def test_about_leaves_the_centre():
    matrix, centre = np.diag([1.2, 0.9, 1.0]) @ turn(10.0), np.array([3.0, -4.0, 50.0])
    whole = average.about(matrix, centre)
    np.testing.assert_allclose(whole @ [*centre, 1.0], [*centre, 1.0], atol=1e-12)
    assert (whole[:3, :3] == matrix).all()


@pytest.mark.parametrize("dimension", [2, 3])
def test_centre_of_mass(rng, dimension):
    shape = (6, 7, 8)[:dimension]
    direction = turn(20.0, dimension)
    image = gr.Image(rng.random(shape) + 5.0, [1.0, 2.0, 3.0][:dimension], [4.0, 5.0, -6.0][:dimension], direction)
    index = np.stack(np.meshgrid(*[np.arange(n) for n in shape], indexing="ij"), axis=-1)[..., ::-1].reshape(-1, dimension)
    weights = (image.array - image.array.min()).ravel()
    wanted = image.index_to_point[:-1, :-1] @ (weights @ index / weights.sum()) + image.origin
    np.testing.assert_allclose(average.centre_of_mass(image.array, image.index_to_point), wanted, atol=1e-10)
    np.testing.assert_allclose(average.centre_of_mass(np.ones(shape), image.index_to_point), image.corners.mean(axis=0), atol=1e-12)


def test_sharpness_is_a_share_of_the_intensity_per_mm():
    """A ramp of 2 a voxel of 4 mm, between 100 and 138: its gradient is 0.5 per mm."""
    ramp = np.broadcast_to(100 + 2.0 * np.arange(20), (8, 8, 20))
    assert average.sharpness(ramp, (1.0, 1.0, 4.0)) == pytest.approx(0.5 / 119, rel=1e-12)
    assert average.sharpness(10 * ramp, (1.0, 1.0, 4.0)) == pytest.approx(0.5 / 119, rel=1e-12)
    grain = (100 + 20 * np.random.default_rng(1).random((12, 12, 12))).astype(np.float32)
    dull = gr.smooth(gr.Image(grain), 1.0, device="host").array
    assert average.sharpness(dull, (1.0, 1.0, 1.0)) < 0.5 * average.sharpness(grain, (1.0, 1.0, 1.0))


@pytest.mark.parametrize("shape", [(1, 7), (9, 8), (1, 6, 7), (2, 5, 6), (23, 12, 13)])
def test_bits_do_not_depend_on_threads(shape, rng):
    """Each thread has some slices, and looks at their neighbours."""
    array = rng.random(shape)
    several = [rng.random(shape, dtype=np.float32) for _ in range(5)]
    spacing = (1.0, 2.0, 1.5)[: len(shape)]
    found = []
    for threads in (1, 2, 7):
        gr.set_threads(threads)
        arrays = average.mean_of_images(several, [1, 2, 3, 1, 2]), average.laplacian(array, spacing), average.sharpen_by_laplacian(array, spacing)
        found.append([*(one.tobytes() for one in arrays), average.sharpness(array, spacing)])
    gr.set_threads(0)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("count", [1, 1000, 1024, 3000])
def test_range_of_vectors(count, rng):
    vectors = rng.normal(size=(count, 1, 3)).astype(np.float32)
    least, greatest = range_of_vectors(vectors)
    assert (least == vectors.min(axis=(0, 1))).all() and (greatest == vectors.max(axis=(0, 1))).all()


def test_threads_that_want_the_same_file_read_it_once(tmp_path, monkeypatch, rng):
    gr.write_image(tmp_path / "mean.nii", gr.Image(rng.random((4, 5, 6)).astype(np.float32)))
    reads, both_ask = [], threading.Barrier(2)
    read = images._read

    def slowly(path):
        reads.append(path)
        time.sleep(0.2)
        return read(path)

    def ask(path):
        both_ask.wait(30)
        return images.read(path)

    monkeypatch.setattr(images, "_read", slowly)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(ask, [str(tmp_path / "mean.nii")] * 2)
    assert first is second and len(reads) == 1


def test_a_file_that_could_not_be_read_is_read_again(tmp_path, rng):
    path = tmp_path / "mean.nii"
    path.write_bytes(b"no image")
    for _ in range(2):
        with pytest.raises(gr.BadInputError):
            images.read(str(path))
    gr.write_image(path, gr.Image(rng.random((4, 5, 6)).astype(np.float32)))
    assert images.read(str(path)).size == (6, 5, 4)
