# SPDX-License-Identifier: Apache-2.0
"""Vectors, tensors, channels and series that transforms move, by antsApplyTransforms of this package and ANTsPy's function."""

import gpuregistration as gr
import numpy as np
import pytest
from conftest import relative_difference, turn
from gpuregistration import ants
from gpuregistration.ants.programs import main

sitk = pytest.importorskip("SimpleITK")
nibabel = pytest.importorskip("nibabel")

SHAPE, SPACING = (14, 16, 18), (2.0, 2.0, 2.0)
LOWER = [0, 1, 3, 2, 4, 5]
OBLIQUE = turn(25.0) @ np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])
A = gr.Affine(turn(30.0) @ np.diag([1.1, 0.9, 1.05]), [1.0, -2.0, 0.5])
B = gr.Affine(np.array([[1.0, 0, 0], [0, 0.8, -0.6], [0, 0.6, 0.8]]))


def centered(shape, spacing, direction):
    """Returns the geometry of a grid whose middle is the point 0."""
    return spacing, direction @ (-0.5 * np.array(spacing) * (np.array(shape[::-1]) - 1.0)), direction


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Goes to a folder of its own, with a reference r.nii.gz, an oblique one o.nii.gz, and transforms a.mat, b.mat, warp.nii.gz, and a smaller
    warp, small.nii.gz."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ITK_GPU_DEVICE", "host")
    gr.write_image("r.nii.gz", gr.Image(np.zeros(SHAPE, np.float32), *centered(SHAPE, SPACING, np.eye(3))))
    gr.write_image("o.nii.gz", gr.Image(np.zeros((9, 8, 7), np.float32), *centered((9, 8, 7), (2.5,) * 3, OBLIQUE)))
    gr.write_transform("a.mat", A)
    gr.write_transform("b.mat", B)
    shape = (36, 36, 36)
    spacing, origin, direction = centered(shape, (1.5,) * 3, np.eye(3))
    points = np.moveaxis(np.indices(shape), 0, -1)[..., ::-1] * 1.5 + origin
    gr.write_transform("warp.nii.gz", gr.DisplacementField(displace(points), spacing, origin, direction))
    gr.write_transform("small.nii.gz", gr.DisplacementField(0.25 * displace(points), spacing, origin, direction))
    return tmp_path


def displace(points):
    """A smooth deformation: its displacements."""
    return 2.0 * np.sin(0.08 * points[..., [1, 2, 0]])


def jacobians(points):
    """The Jacobian matrices of points + displace(points)."""
    made = np.tile(np.eye(3), (*points.shape[:-1], 1, 1))
    for row, column in enumerate((1, 2, 0)):
        made[..., row, column] += 0.16 * np.cos(0.08 * points[..., column])
    return made


def rotations(matrices):
    left, _, right = np.linalg.svd(matrices)
    return left @ right


def points_of(image):
    index = np.moveaxis(np.indices(image.shape), 0, -1)[..., ::-1]
    return index @ image.index_to_point[:-1, :-1].T + image.origin


def reorient(matrices, backward):
    """Keeps the principal direction of tensors (Alexander et al. 2001), by its definition."""
    sizes, axes = np.linalg.eigh(matrices)
    first = np.einsum("...ij,...j->...i", backward, axes[..., 2])
    first /= np.linalg.norm(first, axis=-1, keepdims=True)
    second = np.einsum("...ij,...j->...i", backward, axes[..., 1])
    second -= (second * first).sum(-1, keepdims=True) * first
    second /= np.linalg.norm(second, axis=-1, keepdims=True)
    parts = zip((0, 1, 2), (np.cross(first, second), second, first))
    return sum(sizes[..., n, None, None] * axis[..., :, None] * axis[..., None, :] for n, axis in parts)


def to_numbers(matrices):
    return matrices[..., [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]


def to_matrices(numbers):
    return numbers[..., [[0, 1, 2], [1, 3, 4], [2, 4, 5]]]


def apply(line, code=0):
    assert main("antsApplyTransforms", line.split()) == code


CHAINS = {
    "": lambda points: np.eye(3),
    "-t a.mat": lambda points: np.linalg.inv(A.matrix_of()[:3, :3]),
    "-t [a.mat,1]": lambda points: A.matrix_of()[:3, :3],
    # The first one is applied first to points of the reference, and so a direction is led back by the last one first.
    "-t a.mat -t b.mat": lambda points: np.linalg.inv(A.matrix_of()[:3, :3]) @ np.linalg.inv(B.matrix_of()[:3, :3]),
    "-t warp.nii.gz": lambda points: np.linalg.inv(jacobians(points)),
    "-t warp.nii.gz -t a.mat": lambda points: np.linalg.inv(A.matrix_of()[:3, :3] @ jacobians(points)),
}


@pytest.mark.parametrize("chain", list(CHAINS))
@pytest.mark.parametrize("reference", ["r", "o"])
@pytest.mark.parametrize("kind", [1, 6])
def test_vectors_are_turned_and_keep_their_length(here, kind, reference, chain):
    vector = np.array([1.0, 2.0, 3.0])
    # An image that is large enough to be everywhere.
    grid = centered((12, 12, 12), (9.0,) * 3, OBLIQUE)
    gr.write_image("v.nii.gz", gr.Image(np.tile(vector, (12, 12, 12, 1)), *grid, is_vector=True))
    apply(f"-d 3 -e {kind} -i v.nii.gz -r {reference}.nii.gz -o made.nii.gz {chain}")
    made, target = gr.read_image("made.nii.gz"), gr.read_image(f"{reference}.nii.gz")
    turns = rotations(CHAINS[chain](points_of(target)))
    expected = turns @ vector if kind == 6 else (turns @ OBLIQUE @ vector) @ target.direction
    assert made.array.dtype == np.float64 and made.has_grid_of(target)
    # A field of 1.5 mm, between whose voxels the deformation is linear.
    assert np.abs(made.array - expected).max() < (5e-3 if "warp" in chain else 1e-6)
    assert np.abs(np.linalg.norm(made.array, axis=-1) - np.linalg.norm(vector)).max() < 1e-6


@pytest.mark.parametrize("chain", list(CHAINS))
@pytest.mark.parametrize("reference", ["r", "o"])
def test_tensors_keep_their_eigenvalues_and_main_direction(here, reference, chain):
    axes = turn(40.0) @ B.matrix_of()[:3, :3]
    tensor = axes @ np.diag([1.7e-3, 0.8e-3, 0.3e-3]) @ axes.T
    grid = centered((12, 12, 12), (9.0,) * 3, OBLIQUE)
    gr.write_image("t.mha", gr.Image(np.tile(to_numbers(tensor), (12, 12, 12, 1)), *grid, is_vector=True))
    apply(f"-d 3 -e 2 -i t.mha -r {reference}.nii.gz -o made.mha {chain}")
    target = gr.read_image(f"{reference}.nii.gz")
    made = to_matrices(gr.read_image("made.mha").array)
    physical = OBLIQUE @ tensor @ OBLIQUE.T
    expected = target.direction.T @ reorient(physical, CHAINS[chain](points_of(target))) @ target.direction
    assert np.abs(made - expected).max() < 1.7e-3 * (5e-3 if "warp" in chain else 1e-6)
    np.testing.assert_allclose(np.linalg.eigvalsh(made)[..., ::-1], np.broadcast_to([1.7e-3, 0.8e-3, 0.3e-3], (*target.shape, 3)), rtol=1e-6)


def test_logarithms_of_tensors_are_interpolated(here):
    # Halfway between two tensors stands their geometric mean, where the mean of numbers would be 5.5e-3.
    values = np.zeros((4, 5, 2, 6))
    values[..., [0, 3, 5]] = 1e-3
    values[:, :, 1] *= 10.0
    gr.write_image("t.mha", gr.Image(values, is_vector=True))
    gr.write_image("half.nii.gz", gr.Image(np.zeros((4, 5, 1), np.float32), origin=[0.5, 0.0, 0.0]))
    apply("-d 3 -e 2 -i t.mha -r half.nii.gz -o made.mha")
    np.testing.assert_allclose(gr.read_image("made.mha").array[..., [0, 3, 5]], np.sqrt(10) * 1e-3, rtol=1e-6)


@pytest.mark.parametrize("interpolation", ["Linear", "NearestNeighbor", "BSpline"])
def test_voxels_without_a_tensor(here, interpolation):
    values = np.tile(to_numbers(np.diag([1.7e-3, 0.8e-3, 0.3e-3])), (*SHAPE, 1))
    values[:7] = 0.0
    values[8, 8, 8] = np.nan if interpolation != "BSpline" else 0.0
    gr.write_image("t.mha", gr.Image(values, *centered(SHAPE, SPACING, np.eye(3)), is_vector=True))
    line = f"-d 3 -e 2 -i t.mha -r r.nii.gz -n {interpolation} -o made.mha"
    apply(line)
    made = gr.read_image("made.mha").array
    assert not made[:7].any() and not made[8, 8, 8].any()
    np.testing.assert_allclose(made[10], values[10], rtol=1e-6, atol=1e-12)
    apply(f"{line} -f 0.0007 -t [a.mat,1]")
    outside = gr.read_image("made.mha").array[0, 0, 0]
    np.testing.assert_allclose(outside, [7e-4, 0, 0, 7e-4, 0, 7e-4], rtol=1e-6, atol=1e-12)


def test_tensors_of_nifti_are_lower_triangles(here):
    rng = np.random.default_rng(2)
    matrices = rng.standard_normal((*SHAPE, 3, 3))
    numbers = to_numbers(1e-3 * matrices @ np.swapaxes(matrices, -1, -2) + 1e-4 * np.eye(3))
    image = gr.Image(numbers, *centered(SHAPE, SPACING, np.eye(3)), is_vector=True)
    gr.write_image("upper.nii.gz", image)
    stored = nibabel.load("upper.nii.gz")
    stored.header.set_intent("symmetric matrix")
    nibabel.save(nibabel.Nifti1Image(np.asarray(stored.dataobj)[..., LOWER], stored.affine, stored.header), "lower.nii.gz")
    for name in ("upper.nii.gz", "lower.nii.gz"):
        apply(f"-d 3 -e 2 -i {name} -r r.nii.gz -o made.nii.gz --float 1")
        made = nibabel.load("made.nii.gz")
        assert made.header.get_intent()[0] == "symmetric matrix" and made.shape == (18, 16, 14, 1, 6) and made.get_data_dtype() == np.float32
        assert relative_difference(np.asarray(made.dataobj)[..., 0, :][..., LOWER].transpose(2, 1, 0, 3), numbers) < 1e-5
    # The written file is read, with the same values. As in ANTs -u has no effect.
    for kind in ("float", "short"):
        apply(f"-d 3 -e 2 -i made.nii.gz -r r.nii.gz -o again.nrrd -u {kind}")
        again = gr.read_image("again.nrrd").array
        assert again.dtype == np.float64 and relative_difference(again, numbers) < 1e-5


def test_channels_are_moved_and_not_turned(here):
    values = np.random.default_rng(1).standard_normal((*SHAPE, 4))
    image = gr.Image(values, *centered(SHAPE, SPACING, np.eye(3)), is_vector=True)
    gr.write_image("c.nii.gz", image)
    apply("-d 3 -e 4 -i c.nii.gz -r o.nii.gz -o made.nii.gz -t a.mat -f 2")
    made = gr.read_image("made.nii.gz").array
    for channel in range(4):
        expected = gr.resample(image.like(values[..., channel]), A, gr.read_image("o.nii.gz"), default=2.0).array
        assert np.abs(made[..., channel] - expected).max() < 1e-6


def test_images_of_two_dimensions(here):
    rng = np.random.default_rng(4)
    plane = gr.Image(np.tile([1.0, 2.0], (12, 10, 1)), (1.5, 2.0), is_vector=True)
    gr.write_image("v.mha", plane)
    gr.write_image("f.mha", gr.Image(np.zeros((6, 5), np.float32), (1.0, 1.0), (6.0, 8.0)))
    turned = turn(30.0)[:2, :2]
    gr.write_transform("t.mat", gr.Affine(turned, center=[6.0, 9.0]))
    apply("-d 2 -e 1 -i v.mha -r f.mha -o made.mha -t t.mat")
    assert np.abs(gr.read_image("made.mha").array - turned.T @ [1.0, 2.0]).max() < 1e-6
    # A series of planes is a volume.
    volume = gr.Image(rng.standard_normal((3, 12, 10)), (1.5, 2.0, 4.0), (0.0, 0.0, 7.0))
    gr.write_image("s.mha", volume)
    apply("-d 2 -e 3 -i s.mha -r f.mha -o made.mha -t t.mat")
    made = gr.read_image("made.mha")
    target = gr.read_image("f.mha")
    for one, before in zip(made.array, volume.array):
        expected = gr.resample(gr.Image(before, (1.5, 2.0)), gr.Affine(turned, center=[6.0, 9.0]), target).array
        assert np.abs(one - expected).max() < 1e-6
    assert made.shape == (3, 6, 5) and made.spacing[2] == 4.0 and made.origin[2] == 7.0
    apply("-d 2 -e 3 -i s.mha -r f.mha -o one.mha -t t.mat --time-index 2")
    assert (gr.read_image("one.mha").array == made.array[2]).all()


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("-e 1 -i six.mha", "-e/--input-image-type 1: six.mha has 6 numbers a voxel; expected 4 for channels"),
        ("-e 0 -i three.mha", "three.mha has 3 numbers a voxel; expected 1 for vectors, or 4 for channels"),
        ("-e 6 -i r.nii.gz", "r.nii.gz has 1 number a voxel; expected 0 for scalars"),
        ("-e 2 -i three.mha", "three.mha has 3 dimensions and 3 numbers a voxel; tensors are volumes of six numbers"),
        ("-e 2 -i six.mha -f -1", "-f/--default-value -1: expected 0 or more with -e 2"),
        ("-e five-dimensional -i six.mha", "--input-image-type 5"),
        ("-e 7 -i six.mha", "-e/--input-image-type 7: expected 0 (scalars)"),
        ("-e 2 -i six.mgz", "tensors in FreeSurfer's format (six.mgz)"),
        ("-d 2 -e 3 -i six.mha", "2"),
    ],
)
def test_says_what_is_no_image_of_the_type(here, capfd, monkeypatch, line, part):
    monkeypatch.setenv("PATH", "/usr/bin")
    for name, numbers in (("three", 3), ("six", 6)):
        gr.write_image(f"{name}.mha", gr.Image(np.ones((4, 5, 6, numbers)), is_vector=True))
    before = sorted(path.name for path in here.iterdir())
    apply(f"{line} -r r.nii.gz -o made.nii.gz", 1)
    err = capfd.readouterr().err
    assert err.startswith("antsApplyTransforms: ") and err.count("\n") == 1 and part in err, err
    assert sorted(path.name for path in here.iterdir()) == before


def make_images(rng):
    """Writes v.nii.gz, t.nii.gz, c.nii.gz and s.nii.gz: vectors, tensors, channels and a series, on an oblique grid."""
    grid = centered(SHAPE, SPACING, OBLIQUE)
    points = points_of(gr.Image(np.zeros(SHAPE), *grid))
    waves = np.sin(0.1 * points @ rng.standard_normal((3, 6))) + 1.5
    gr.write_image("v.nii.gz", gr.Image(waves[..., :3], *grid, is_vector=True))
    matrices = rng.standard_normal((*SHAPE, 3, 3))
    numbers = to_numbers(1e-3 * matrices @ np.swapaxes(matrices, -1, -2) + 1e-4 * np.eye(3))
    numbers[:3] = 0
    gr.write_image("t.nii.gz", gr.Image(numbers, *grid, is_vector=True))
    gr.write_image("c.nii.gz", gr.Image(waves[..., :4], *grid, is_vector=True))
    series = sitk.JoinSeries([sitk.GetImageFromArray(np.ascontiguousarray(waves[..., n])) for n in range(3)], 0.0, 2.0)
    series.SetSpacing([*SPACING, 2.5])
    series.SetOrigin([*grid[1], 0.0])
    direction = np.eye(4)
    direction[:3, :3] = OBLIQUE
    series.SetDirection(direction.ravel().tolist())
    sitk.WriteImage(series, "s.nii.gz")


KINDS = ["-e 1 -i v.nii.gz", "-e 2 -i t.nii.gz", "-e 3 -i s.nii.gz", "-e 4 -i c.nii.gz", "-e 6 -i v.nii.gz"]


@pytest.mark.parametrize(
    "chain", ["", "-t a.mat", "-t [a.mat,1] -n NearestNeighbor", "-t a.mat -f 0.0007", "-t small.nii.gz", "-t small.nii.gz -t small.mat"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_beside_ants(here, kind, chain):
    internal = pytest.importorskip("ants.internal", reason="ANTsPy is not there: pip install antspyx")
    make_images(np.random.default_rng(7))
    gr.write_transform("small.mat", gr.Affine(turn(3.0)))
    for reference in ("r", "o"):
        line = f"-d 3 {kind} -r {reference}.nii.gz -o ours.nii.gz {chain}"
        apply(line)
        assert internal.get_lib_fn("antsApplyTransforms")(line.replace("ours", "ants").split()) == 0
        ours, theirs = (nibabel.load(f"{name}.nii.gz") for name in ("ours", "ants"))
        assert ours.shape == theirs.shape and ours.header["intent_code"] == theirs.header["intent_code"]
        assert ours.get_data_dtype() == theirs.get_data_dtype() and np.allclose(ours.affine, theirs.affine, atol=1e-4)
        values = [np.asarray(one.dataobj) for one in (ours, theirs)]
        apart = np.abs(values[0] - values[1]) / np.ptp(values[1])
        # ITK takes a deformation's inverse for the mirror of its displacements, at the field's nearest voxel, and ANTs turns by a chain's parts in the
        # other order.
        is_turned = "small.nii" in chain and kind[3] in "126"
        assert apart.mean() < (2e-3 if is_turned else 1e-6) and apart.max() < (0.01 if is_turned else 1e-5), (reference, apart.mean(), apart.max())


@pytest.mark.parametrize("imagetype", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("files", [["a.mat"], ["small.nii.gz"]])
def test_antspys_function_beside_antspy(here, imagetype, files):
    antspy = pytest.importorskip("ants", reason="ANTsPy is not there: pip install antspyx")
    make_images(np.random.default_rng(8))
    fixed = antspy.image_read("o.nii.gz")
    names = {1: "v", 2: "t", 3: "s", 4: "c", 6: "v"}
    if imagetype == 3:
        moving = antspy.image_read("s.nii.gz", dimension=4)
    else:
        image = gr.read_image(f"{names[imagetype]}.nii.gz")
        values = np.ascontiguousarray(image.array.transpose(2, 1, 0, 3)).astype(np.float32)
        moving = antspy.from_numpy(values, image.origin.tolist(), image.spacing.tolist(), image.direction, has_components=True)
    theirs = antspy.apply_transforms(fixed, moving, files, imagetype=imagetype)
    ours = ants.apply_transforms(fixed, moving, files, imagetype=imagetype)
    assert type(ours) is type(theirs) and ours.dimension == theirs.dimension and ours.pixeltype == theirs.pixeltype
    for what in ("spacing", "origin", "direction"):
        np.testing.assert_allclose(getattr(ours, what), getattr(theirs, what), atol=1e-5)
    is_turned = "small.nii.gz" in files and imagetype in (1, 2, 6)
    # ANTsPy 0.6.3 has other tensors in the first column than ANTs' program, which test_beside_ants() runs.
    values = [one.numpy()[1:, 1:] if imagetype == 2 else one.numpy() for one in (ours, theirs)]
    apart = np.abs(values[0] - values[1]) / np.ptp(values[1])
    assert apart.mean() < (2e-3 if is_turned else 1e-5) and apart.max() < (0.01 if is_turned else 1e-4), (apart.mean(), apart.max())


def test_the_function_takes_series_of_each_kind(here):
    make_images(np.random.default_rng(9))
    fixed, series = gr.read_image("r.nii.gz"), gr.read_series("s.nii.gz")
    expected = [gr.resample(one, A, fixed).array for one in series]
    of_series = ants.apply_transforms(fixed, series, ["a.mat"], imagetype=3)
    of_list = ants.apply_transforms(fixed, list(series), ["a.mat"], imagetype=3)
    whole = sitk.ReadImage("s.nii.gz")
    of_simpleitk = ants.apply_transforms(fixed, whole, ["a.mat"], imagetype=3)
    assert isinstance(of_series, list) and isinstance(of_list, list) and isinstance(of_simpleitk, sitk.Image)
    assert of_simpleitk.GetSpacing() == (*SPACING, 2.5) and of_simpleitk.GetSize() == (18, 16, 14, 3)
    for number, volume in enumerate(expected):
        for made in (of_series[number].array, of_list[number].array, sitk.GetArrayFromImage(of_simpleitk)[number]):
            assert relative_difference(made, volume) < 1e-5


@pytest.mark.parametrize(
    ("imagetype", "name", "kind", "part"),
    [
        (1, "r", gr.BadInputError, "imagetype=1: the moving image has 1 number a voxel; expected 0 for scalars"),
        (2, "v", gr.BadInputError, "imagetype=2: the moving image has 3 dimensions and 3 numbers a voxel"),
        (3, "r", gr.BadInputError, "give an image of ANTsPy or SimpleITK that has 4 dimensions"),
        (5, "v", gr.UnsupportedError, "imagetype=5 is not possible here"),
        (7, "v", gr.BadInputError, "give a number from 0 to 6"),
    ],
)
def test_the_function_says_what_is_no_image_of_the_type(here, imagetype, name, kind, part):
    make_images(np.random.default_rng(3))
    with pytest.raises(kind) as raised:
        ants.apply_transforms(gr.read_image("r.nii.gz"), gr.read_image(f"{name}.nii.gz"), ["a.mat"], imagetype=imagetype)
    assert part in str(raised.value)


@pytest.mark.parametrize("kind", ["-e 1 -i v.nii.gz", "-e 2 -i t.nii.gz -f 0.0007", "-e 2 -i t.nii.gz -n BSpline", "-e 3 -i s.nii.gz", "-e 6 -i v.nii.gz"])
def test_each_device_has_the_hosts_values(here, monkeypatch, device, kind):
    make_images(np.random.default_rng(5))
    made = []
    for name in ("host", device):
        monkeypatch.setenv("ITK_GPU_DEVICE", name)
        apply(f"-d 3 {kind} -r o.nii.gz -o made.nii.gz -t warp.nii.gz -t a.mat")
        made.append(np.asarray(nibabel.load("made.nii.gz").dataobj))
    # Logarithms of devices without doubles are floats.
    assert relative_difference(made[1], made[0]) < 2e-5
