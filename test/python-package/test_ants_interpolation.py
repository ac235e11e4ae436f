# SPDX-License-Identifier: Apache-2.0
"""The interpolations of ANTs: against formulas, SimpleITK and, where it is installed, ANTs itself."""

import math

import gpuregistration as gr
import numpy as np
import pytest
from conftest import relative_difference, turn
from gpuregistration.ants import apply_flags
from gpuregistration.ants.interpolation import Interpolation, read_interpolation, resample_by
from gpuregistration.ants.programs import main
from gpuregistration.ants.syntax import read_values

sitk = pytest.importorskip("SimpleITK")

AFFINE = gr.Affine(1.05 * turn(8.0), [3.0, -2.0, 1.0], [2.0, 1.0, 3.0])
WINDOWS = {
    "lanczoswindowedsinc": lambda x: np.sinc(x / 3),
    "cosinewindowedsinc": lambda x: np.cos(np.pi * x / 6),
    "hammingwindowedsinc": lambda x: 0.54 + 0.46 * np.cos(np.pi * x / 3),
    "welchwindowedsinc": lambda x: 1 - x**2 / 9,
    "blackmanwindowedsinc": lambda x: 0.42 + 0.5 * np.cos(np.pi * x / 3) + 0.08 * np.cos(2 * np.pi * x / 3),
}


def read(text):
    return read_interpolation(read_values(["-n", text], apply_flags.FLAGS)["interpolation"][0])


def make_images(rng, dimension=3):
    """Returns an image with noise and a grid that reaches beyond it, both oblique."""
    spacing, shape = (3.0, 4.0, 5.0)[:dimension], (12, 14, 13)[-dimension:]
    image = gr.Image(100 * rng.standard_normal(shape), spacing, (-17.0, -26.0, -28.0)[:dimension], turn(11.0, dimension))
    grid = gr.Image(np.zeros((15, 16, 17)[-dimension:]), (2.7, 3.9, 4.3)[:dimension], (-20.0, -30.0, -30.0)[:dimension], turn(5.0, dimension))
    return image, grid


def places(image, grid, transform):
    """Returns the index in the image of each voxel of the grid, along x, y (and z)."""
    index = np.moveaxis(np.indices(grid.shape), 0, -1)[..., ::-1].reshape(-1, grid.dimension)
    points = transform.transform_points(index @ grid.index_to_point[:-1, :-1].T + grid.origin)
    return (points - image.origin) @ np.linalg.inv(image.index_to_point[:-1, :-1]).T


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("dimension", [2, 3])
def test_windowed_sincs_have_their_formula(device, rng, name, dimension):
    image, grid = make_images(rng, dimension)
    transform = gr.Affine(turn(8.0, dimension), (1.0, -2.0, 0.7)[:dimension])
    made = resample_by(image, transform, grid, Interpolation(name), -7.0, device).array.reshape(-1)
    padded = np.pad(image.array, 4)
    checked = 0
    for value, at in zip(made, places(image, grid, transform)):
        if not ((at >= -0.5) & (at < np.array(image.size) - 0.5)).all():
            assert value == -7
            continue
        below = np.floor(at).astype(int)
        taps = [n + np.arange(-2, 4) for n in below]
        weights = [np.sinc(x - n) * WINDOWS[name](x - n) for x, n in zip(at, taps)]
        part = padded[np.ix_(*(n + 4 for n in taps[::-1]))]
        for weight in weights:
            part = part @ weight
        assert value == pytest.approx(part, abs=1e-4)
        checked += 1
    assert checked > 30


def weigh_labels(image, at):
    """Returns the weight of each label at an index of an image, as itk::LabelImageGaussianInterpolateImageFunction weighs it by sigmas of one voxel
    that are cut off there: the sum of the Gaussian's integrals over the label's voxels."""
    taps, weights = [], []
    for x, count in zip(at, image.size):
        begin, end = max(0, int(np.floor(x + 0.5 - 1))), min(count, int(np.ceil(x + 0.5 + 1)))
        taps.append(np.arange(begin, end))
        weights.append(np.diff([math.erf((edge - 0.5 - x) / math.sqrt(2)) for edge in range(begin, end + 1)]))
    labels = image.array[np.ix_(*taps[::-1])]
    products = np.einsum("z,y,x->zyx", *weights[::-1])
    return {label: products[labels == label].sum() for label in np.unique(labels)}


@pytest.mark.parametrize(("name", "of_simpleitk", "factor", "alpha"), [("gaussian", "sitkGaussian", 0.8, 4), ("multilabel", "sitkLabelGaussian", 1, 1)])
def test_gaussians_are_itks(device, rng, name, of_simpleitk, factor, alpha):
    image, grid = make_images(rng)
    if name == "multilabel":
        image = image.like(np.digitize(image.array, [-60, 0, 80]) * 3.0)
    # SimpleITK has these sigmas, and cuts them off there.
    interpolation = Interpolation(name, sigmas=tuple(factor * image.spacing), alpha=alpha)
    made = resample_by(image, AFFINE, grid, interpolation, -7.0, device).array
    likes = [sitk.GetImageFromArray(one.array) for one in (image, grid)]
    for like, one in zip(likes, (image, grid)):
        like.SetSpacing(one.spacing.tolist())
        like.SetOrigin(one.origin.tolist())
        like.SetDirection(one.direction.reshape(-1).tolist())
    expected = sitk.GetArrayFromImage(sitk.Resample(*likes, AFFINE.to_simpleitk(), getattr(sitk, of_simpleitk), -7.0))
    assert (made == -7).any() and (made != -7).sum() > 200
    if name == "multilabel":
        assert len(np.unique(made)) == 5
        # Rounding decides between two labels of the same weight.
        for n in np.flatnonzero(made != expected):
            weights = weigh_labels(image, places(image, grid, AFFINE)[n])
            assert weights[made.flat[n]] == pytest.approx(weights[expected.flat[n]], rel=1e-6)
    else:
        assert relative_difference(made, expected) < 1e-7


@pytest.mark.parametrize("window", ["Lanczos", "Cosine", "Hamming", "Welch"])
def test_windowed_sincs_are_itks(device, rng, window):
    """Away from the edge, beyond which ITK continues an image, and ANTs takes 0. SimpleITK's have a radius of 5 voxels, and ITK's for Python
    have no window of Blackman."""
    itk = pytest.importorskip("itk", reason="ITK for Python is not there: pip install itk")
    image, _ = make_images(rng)
    inside = gr.Image(np.zeros((5, 6, 4)), (1.3, 1.7, 1.9), image.origin + image.index_to_point[:-1, :-1] @ [3.4, 3.2, 3.3], image.direction)
    made = resample_by(image, None, inside, Interpolation(f"{window.lower()}windowedsinc"), 0.0, device).array.ravel()
    classes = itk.WindowedSincInterpolateImageFunction
    (kind,) = [key for key in classes.keys() if key[0] is itk.Image[itk.D, 3] and key[1] == 3 and key[2].__name__ == f"itk{window}WindowFunction3"]
    interpolator = classes[kind].New()
    interpolator.SetInputImage(itk.image_from_array(image.array))
    at = places(image, inside, gr.Affine())
    assert (at > 2.9).all() and (at < np.array(image.size) - 3.9).all()
    # Its image has voxels of 1 mm, so that points are indices.
    expected = [interpolator.Evaluate(one.tolist()) for one in at]
    assert relative_difference(made, np.array(expected)) < 1e-7


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_labels_beside_each_other(device, kind):
    """The label with the largest integral of a Gaussian over its voxels wins; of several with the same one the least."""
    values = np.zeros((1, 1, 12), kind)
    values[..., 4:] = 7
    values[..., 8] = 9
    image = gr.Image(np.repeat(np.repeat(values, 8, axis=0), 8, axis=1))
    grid = gr.Image(np.zeros((1, 1, 5), kind), (1.0, 1.0, 1.0), (2.9, 3.0, 3.0))
    made = resample_by(image, None, grid, Interpolation("multilabel", sigmas=(0.5,), alpha=4), 0.0, device).array
    assert made.dtype == kind and made.ravel().tolist() == [0, 7, 7, 7, 7]
    half = gr.Image(np.zeros((1, 1, 1), kind), (1.0, 1.0, 1.0), (3.5, 3.0, 3.0))
    assert resample_by(image, None, half, Interpolation("multilabel", sigmas=(0.5,), alpha=1), 0.0, device).array.item() == 0


@pytest.mark.parametrize("dimension", [2, 3])
def test_labels_in_long_rows_are_itks(device, rng, dimension):
    """Labels lie in rows of any length: equal ones are counted in one step."""
    shape, spacing = ((5, 6, 400)[-dimension:], (1.0, 1.3, 1.7)[:dimension])
    labels = np.repeat(rng.integers(0, 5, (*shape[:-1], 8)), np.array([1, 2, 3, 5, 9, 30, 150, 200]), axis=-1).astype(np.float64)
    image = gr.Image(labels, spacing)
    # No voxel's edge lies where the Gaussian is cut off.
    grid = gr.Image(np.zeros((4, 5, 311)[-dimension:]), (1.21, 1.4, 1.9)[:dimension], (0.37, 0.41, 0.43)[:dimension])
    made = resample_by(image, None, grid, Interpolation("multilabel", sigmas=tuple(image.spacing), alpha=1), 0.0, device).array
    likes = [sitk.GetImageFromArray(one.array) for one in (image, grid)]
    for like, one in zip(likes, (image, grid)):
        like.SetSpacing(one.spacing.tolist())
        like.SetOrigin(one.origin.tolist())
    expected = sitk.GetArrayFromImage(sitk.Resample(*likes, sitk.Transform(dimension, sitk.sitkIdentity), sitk.sitkLabelGaussian, 0.0))
    assert len(np.unique(expected)) == 5 and (made == expected).all()


def test_a_gaussian_reaches_so_far_at_most(rng):
    image, grid = make_images(rng)
    with pytest.raises(gr.UnsupportedError, match="a Gaussian reaches 75.0* voxels to each side, and more than 63 are not possible"):
        resample_by(image, None, grid, Interpolation("gaussian", sigmas=(75.0 * image.spacing[0],), alpha=1))


def test_along_a_deformation_it_is_the_same(rng):
    image, grid = make_images(rng)
    points = np.moveaxis(np.indices(grid.shape), 0, -1)[..., ::-1]
    field = gr.DisplacementField(2.0 * np.sin(0.3 * points), grid.spacing, grid.origin, grid.direction)
    interpolation = Interpolation("lanczoswindowedsinc")
    moved = resample_by(image, gr.Composite([field, AFFINE]), grid, interpolation, 0.0, "host").array
    at = places(image, grid, gr.Composite([field, AFFINE])).reshape(*grid.shape, 3)
    for voxel in [(7, 8, 8), (5, 9, 7), (8, 6, 9)]:
        point = gr.Image(np.zeros((1, 1, 1)), origin=image.origin + image.index_to_point[:-1, :-1] @ at[voxel])
        assert moved[voxel] == pytest.approx(resample_by(image, None, point, interpolation).array.item(), abs=1e-3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BSpline[ 2 ]", Interpolation("bspline", 2, given="BSpline[2]")),
        ("gaussian", Interpolation("gaussian", given="gaussian")),
        ("Gaussian[1.5]", Interpolation("gaussian", sigmas=(1.5,), given="Gaussian[1.5]")),
        ("Gaussian[1x2x3,2]", Interpolation("gaussian", sigmas=(1, 2, 3), alpha=2, given="Gaussian[1x2x3,2]")),
        ("MultiLabel[0.8,4.0]", Interpolation("multilabel", sigmas=(0.8,), alpha=4, given="MultiLabel[0.8,4.0]")),
        ("GenericLabel[Linear]", Interpolation("genericlabel", given="GenericLabel[Linear]")),
    ],
)
def test_reads_parameters(text, expected):
    found = read(text)
    assert found == expected or (found.name == "multilabel" and found.alpha == 4 and found.sigmas == expected.sigmas)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Sinc", "LanczosWindowedSinc"),
        ("Linear[1]", "Linear without parameters"),
        ("LanczosWindowedSinc[4]", "without parameters"),
        ("BSpline[6]", "from 0 to 5"),
        ("BSpline[order=2]", "from 0 to 5"),
        ("BSpline[2,3]", "from 0 to 5"),
        ("GenericLabel[BSpline]", "no other one"),
        ("Gaussian[0]", "above 0"),
        ("Gaussian[1xa]", "above 0"),
        ("Gaussian[1,2,3]", "above 0"),
        ("MultiLabel[1,2]", "4 sigmas, whatever is given"),
    ],
)
def test_says_which_parameter_is_wrong(text, part):
    with pytest.raises(gr.BadInputError, match="^-n/--interpolation .*: expected ") as raised:
        read(text)
    assert part in str(raised.value)


def test_as_many_sigmas_as_axes(rng):
    image, grid = make_images(rng)
    with pytest.raises(gr.BadInputError, match="it has 2 sigmas; expected one, or 3"):
        resample_by(image, None, grid, read("Gaussian[1x2]"))


@pytest.mark.parametrize(
    "text",
    ["LanczosWindowedSinc", "CosineWindowedSinc", "HammingWindowedSinc", "WelchWindowedSinc", "BlackmanWindowedSinc", "BSpline[2]"]
    + ["Gaussian", "Gaussian[2x3x4,3]", "Linear", "NearestNeighbor", "GenericLabel", "MultiLabel", "MultiLabel[3x2x5,4]"],
)
def test_values_are_those_of_ants(tmp_path, monkeypatch, rng, text):
    internal = pytest.importorskip("ants.internal", reason="ANTsPy is not there: pip install antspyx")
    monkeypatch.chdir(tmp_path)
    image, grid = make_images(rng)
    if "Label" in text:
        image = image.like(np.digitize(image.array, [-60, 0, 80]) * 3.0)
    gr.write_image("i.nii.gz", image)
    gr.write_image("r.nii.gz", grid)
    gr.write_transform("a.mat", AFFINE)
    line = f"-d 3 -i i.nii.gz -r r.nii.gz -o O.nii.gz -t a.mat -f -7 -n {text}"
    assert main("antsApplyTransforms", line.replace("O.", "ours.").split()) == 0
    assert internal.get_lib_fn("antsApplyTransforms")(line.replace("O.", "ants.").split()) == 0
    ours, theirs = gr.read_image("ours.nii.gz").array, gr.read_image("ants.nii.gz").array
    assert relative_difference(ours, theirs) < (1e-9 if "Label" in text else 2e-5) and ours.dtype == theirs.dtype
