# SPDX-License-Identifier: Apache-2.0
"""antsApplyTransforms of this package, and ANTsPy's functions."""

import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

import gpuregistration as gr
import numpy as np
import pytest
from conftest import assert_within_record, make_head, relative_difference, turn
from gpuregistration import ants
from gpuregistration.ants.programs import main

sitk = pytest.importorskip("SimpleITK")

GRID = {"shape": (20, 24, 22), "spacing": (4.0, 4.0, 4.0)}
AFFINE = gr.Affine(1.05 * turn(8.0), [3.0, -2.0, 1.0], [2.0, 1.0, 3.0])
FEW = {"aff_iterations": (20, 10), "aff_shrink_factors": (2, 1), "aff_smoothing_sigmas": (1, 0), "reg_iterations": (4, 2)}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Writes an image, labels, a reference on another grid, an affine map and a warp into a folder, and goes there."""
    monkeypatch.chdir(tmp_path)
    image = make_head(**GRID)
    gr.write_image("i.nii.gz", image)
    gr.write_image("labels.nii.gz", image.like((image.array // 40).astype(np.uint8)))
    reference = gr.Image(np.zeros((18, 20, 16), np.float32), (4.0, 5.0, 5.0), (-38.0, -46.0, -33.0), turn(5.0))
    gr.write_image("r.nii.gz", reference)
    gr.write_transform("a.mat", AFFINE)
    points = np.moveaxis(np.indices(image.shape), 0, -1)[..., ::-1] * 4.0
    gr.write_transform("warp.nii.gz", gr.DisplacementField(3.0 * np.sin(0.1 * points), image.spacing, image.origin))
    return tmp_path


def apply(line, code=0):
    assert main("antsApplyTransforms", line.split()) == code


def by_simpleitk(image, transforms, interpolator=sitk.sitkLinear, default=0.0, kind=sitk.sitkFloat64):
    """Resamples a file on the reference's grid. The first transform is applied first to its points."""
    chain = sitk.CompositeTransform(list(transforms)[::-1])
    return sitk.GetArrayFromImage(sitk.Resample(sitk.ReadImage(image, kind), sitk.ReadImage("r.nii.gz"), chain, interpolator, default))


def chain_of_files():
    field = sitk.DisplacementFieldTransform(sitk.ReadImage("warp.nii.gz", sitk.sitkVectorFloat64))
    return [field, sitk.ReadTransform("a.mat").GetInverse()]


@pytest.mark.parametrize(
    ("name", "interpolator"),
    [
        ("Linear", sitk.sitkLinear),
        ("NearestNeighbor", sitk.sitkNearestNeighbor),
        ("BSpline", sitk.sitkBSpline3),
        ("BSpline[2]", sitk.sitkBSpline2),
    ],
)
def test_moves_an_image_along_a_chain(here, name, interpolator):
    apply(f"-d 3 -i i.nii.gz -r r.nii.gz -o o.nii.gz -t warp.nii.gz -t [a.mat,1] -f 7 -n {name}")
    made = gr.read_image("o.nii.gz")
    assert relative_difference(made.array, by_simpleitk("i.nii.gz", chain_of_files(), interpolator, 7.0)) < 1e-4
    assert made.array.dtype == np.float64 and (made.array == 7).any() and made.has_grid_of(gr.read_image("r.nii.gz"))


def test_types_of_values_and_labels(here):
    apply("-d 3 -i labels.nii.gz -r r.nii.gz -o o.nii.gz -t a.mat -n GenericLabel -u uchar")
    made = gr.read_image("o.nii.gz").array
    expected = by_simpleitk("labels.nii.gz", [sitk.ReadTransform("a.mat")], sitk.sitkLabelLinear, kind=sitk.sitkUInt8)
    assert made.dtype == np.uint8 and (made == expected).all() and made.max() > 2
    # Decimals are cut, as ANTs cuts them, and what is beyond a type's range becomes its end.
    values = np.tile(np.array([-300.7, -2.7, -0.5, 1.5, 2.7, 126.9, 254.6, 300.2, 0, 0, 0]), (4, 5, 1))
    gr.write_image("values.nii.gz", gr.Image(values))
    for kind, ends in (("uchar", [0, 0, 0, 1, 2, 126, 254, 255]), ("char", [-128, -2, 0, 1, 2, 126, 127, 127]), ("int", [-300, -2, 0, 1, 2, 126, 254, 300])):
        apply(f"-d 3 -i values.nii.gz -r values.nii.gz -o o.nii.gz -u {kind}")
        assert gr.read_image("o.nii.gz").array[2, 2, :8].tolist() == ends
    apply("-i i.nii.gz -r r.nii.gz -o o.nii.gz --float 1 -t identity")
    assert gr.read_image("o.nii.gz").array.dtype == np.float32
    assert relative_difference(gr.read_image("o.nii.gz").array, by_simpleitk("i.nii.gz", [sitk.Transform(3, sitk.sitkIdentity)])) < 1e-5


def test_moves_vectors_and_series(here):
    image = gr.read_image("i.nii.gz")
    moved = by_simpleitk("i.nii.gz", [sitk.Transform()])
    gr.write_image("v.nii.gz", image.like(np.stack([image.array, 2 * image.array, -image.array], axis=-1)))
    apply("-d 3 -e 1 -i v.nii.gz -r r.nii.gz -o o.nii.gz")
    expected = np.stack([moved, 2 * moved, -moved], axis=-1) @ gr.read_image("r.nii.gz").direction
    assert relative_difference(gr.read_image("o.nii.gz").array, expected) < 1e-5
    moved = by_simpleitk("i.nii.gz", [sitk.ReadTransform("a.mat")])
    volumes = [image.array, image.array[::-1].copy(), 3 * image.array]
    series = sitk.JoinSeries([sitk.GetImageFromArray(volume) for volume in volumes], 0.0, 2.0)
    series.SetSpacing([4.0, 4.0, 4.0, 2.0])
    series.SetOrigin([-40.0, -45.0, -35.0, 0.0])
    sitk.WriteImage(series, "s.nii.gz")
    apply("-d 3 -e 3 -i s.nii.gz -r r.nii.gz -o o.nii.gz -t a.mat")
    made = gr.read_series("o.nii.gz")
    assert len(made) == 3 and relative_difference(made[2].array, 3 * moved) < 1e-5 and made.step == pytest.approx(2.0)
    apply("-d 3 -e 3 -i s.nii.gz --time-index 2 -r r.nii.gz -o one.nii.gz -t a.mat")
    assert (gr.read_image("one.nii.gz").array == made[2].array).all()


def test_a_series_may_have_one_volume(here, capfd):
    apply("-d 3 -i i.nii.gz -r r.nii.gz -o o.nii.gz -t a.mat")
    apply("-d 3 -e 3 --time-index 0 -i i.nii.gz -r r.nii.gz -o one.nii.gz -t a.mat")
    assert (gr.read_image("one.nii.gz").array == gr.read_image("o.nii.gz").array).all()
    apply("-d 3 -e 3 --time-index 1 -i i.nii.gz -r r.nii.gz -o two.nii.gz -t a.mat", 1)
    assert capfd.readouterr().err == "antsApplyTransforms: --time-index 1: expected 0, as i.nii.gz has 1 volume\n"
    assert not (here / "two.nii.gz").exists()
    nibabel = pytest.importorskip("nibabel")
    stored = nibabel.load("i.nii.gz")
    timed = nibabel.Nifti1Image(np.asanyarray(stored.dataobj)[..., np.newaxis], stored.affine)
    timed.header.set_zooms((4.0, 4.0, 4.0, 2.5))
    timed.header.set_xyzt_units("mm", "sec")
    nibabel.save(timed, "timed.nii.gz")
    sitk.WriteImage(sitk.JoinSeries([sitk.ReadImage("i.nii.gz")], 0.0, 2.5), "timed.nrrd")
    # A file of three axes states no step.
    for name, step in (("i.nii.gz", 1.0), ("timed.nii.gz", 2.5), ("timed.nrrd", 2.5)):
        apply(f"-d 3 -e 3 -i {name} -r r.nii.gz -o series.nii.gz -t a.mat")
        made = nibabel.load("series.nii.gz")
        assert made.shape == (16, 20, 18, 1) and made.header.get_zooms()[3] == step and made.header.get_xyzt_units() == ("mm", "sec")
        assert (gr.read_image("series.nii.gz").array == gr.read_image("o.nii.gz").array).all()
    apply("-d 3 -e 3 -i i.nii.gz -r r.nii.gz -o series.nrrd -t a.mat")
    assert sitk.ReadImage("series.nrrd").GetSize() == (16, 20, 18, 1)


def test_the_output_may_replace_the_input(here):
    before = gr.read_image("i.nii.gz").array
    apply("-d 3 -i i.nii.gz -r r.nii.gz -o o.nii.gz -t a.mat")
    apply("-d 3 -i i.nii.gz -r r.nii.gz -o i.nii.gz -t a.mat")
    assert (here / "i.nii.gz").read_bytes() == (here / "o.nii.gz").read_bytes() and gr.read_image("i.nii.gz").array.shape != before.shape


def test_writes_transforms_as_one(here):
    apply("-d 3 -r r.nii.gz -o [field.nii.gz,1] -t warp.nii.gz -t [a.mat,1]")
    chain = by_simpleitk("i.nii.gz", chain_of_files())
    field = sitk.DisplacementFieldTransform(sitk.ReadImage("field.nii.gz", sitk.sitkVectorFloat64))
    assert relative_difference(by_simpleitk("i.nii.gz", [field]), chain) < 1e-4
    apply("-d 3 -o CompositeTransform[all.h5] -t warp.nii.gz -t [a.mat,1]")
    assert relative_difference(by_simpleitk("i.nii.gz", [sitk.ReadTransform("all.h5")]), chain) < 1e-6
    apply("-d 3 -o Linear[back.mat,1] -t a.mat -t a.mat")
    matrix = AFFINE.matrix_of()
    np.testing.assert_allclose(gr.read_transform("back.mat").matrix_of(), np.linalg.inv(matrix @ matrix), atol=1e-9)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("-d 3 -i no.nii.gz -r r.nii.gz -o o.nii.gz", "no.nii.gz"),
        ("-d 3 -i i.nii.gz -r r.nii.gz -o o.nii.gz -t no.mat", "no.mat"),
        ("-d 2 -i i.nii.gz -r r.nii.gz -o o.nii.gz", "expected 2"),
        ("-d 3 -i i.nii.gz -r r.nii.gz -o o.nii.gz -t [warp.nii.gz,1]", "InverseWarp"),
        ("-d 3 -e 5 -i i.nii.gz -r r.nii.gz -o o.nii.gz -t a.mat", "--input-image-type 5"),
        ("-d 3 -i i.nii.gz -r r.nii.gz -o o.nii.gz -e 1", "-e/--input-image-type 1"),
        ("-d 3 -i no.nii.gz -r r.nii.gz -o o.nii.gz -e 3", "There is no file no.nii.gz"),
        ("-d 3 -i i.nii.gz -r r.nii.gz -o o.nii.gz -n Gaussian[2000]", "a Gaussian reaches"),
        ("-d 3 -o Linear[l.mat] -t warp.nii.gz", "Linear"),
        ("-d 4 -i i.nii.gz -r r.nii.gz -o o.nii.gz", "images of four dimensions, and there is no other antsApplyTransforms"),
        ("-d 3 -i i.nii.gz -r r.nii.gz -o o.img", "does not do writing .img files (o.img)"),
        ("-d 3 -i i.mnc -r r.nii.gz -o o.nii.gz", "does not do reading .mnc files (i.mnc)"),
        ("-d 3 -i i.nii.gz -r r.nii.gz -o o.xyz", "expected a name that ends on"),
    ],
)
def test_says_what_is_wrong_and_leaves_nothing_behind(here, capfd, monkeypatch, line, part):
    monkeypatch.setenv("PATH", "/usr/bin")
    before = sorted(path.name for path in here.iterdir())
    apply(line, 1)
    err = capfd.readouterr().err
    assert err.startswith("antsApplyTransforms: ") and err.count("\n") == 1 and part in err, err
    assert sorted(path.name for path in here.iterdir()) == before


class AntsImage:
    """Stands for an image of ANTsPy, whose array is [x, y, z]."""

    def __init__(self, values, origin, spacing, direction):
        self._values, self.origin, self.spacing, self.direction = values, tuple(origin), tuple(spacing), np.asarray(direction)

    def numpy(self):
        return self._values


@pytest.fixture
def heads_of(monkeypatch):
    """Returns a function that makes two heads, of this package, SimpleITK or ANTsPy."""
    library = ModuleType("antslike")
    library.from_numpy = lambda values, origin, spacing, direction, has_components: AntsImage(values, origin, spacing, direction)
    monkeypatch.setitem(sys.modules, "antslike", library)
    monkeypatch.setattr(AntsImage, "__module__", "antslike.core")
    heads = make_head(**GRID), make_head(AFFINE.inverse().transform_points, **GRID)

    def make(kind):
        if kind == "SimpleITK":
            made = [sitk.GetImageFromArray(head.array) for head in heads]
            for one, head in zip(made, heads):
                one.SetSpacing(head.spacing.tolist())
                one.SetOrigin(head.origin.tolist())
            return made
        return [AntsImage(head.array.T.copy(), head.origin, head.spacing, head.direction) for head in heads] if kind == "ANTsPy" else heads

    return make


def array_of(image):
    return sitk.GetArrayFromImage(image) if isinstance(image, sitk.Image) else image.numpy().T if isinstance(image, AntsImage) else image.array


@pytest.mark.parametrize("kind", ["own", "SimpleITK", "ANTsPy"])
def test_functions_have_antspys_shape(tmp_path, heads_of, kind):
    fixed, moving = heads_of(kind)
    prefix = str(tmp_path / "p_")
    found = ants.registration(fixed, moving, "SyNRA", outprefix=prefix, mask=fixed, **{**FEW, "reg_iterations": (2, 1)})
    assert sorted(found) == ["fwdtransforms", "invtransforms", "warpedfixout", "warpedmovout"]
    assert found["fwdtransforms"] == [f"{prefix}1Warp.nii.gz", f"{prefix}0GenericAffine.mat"]
    assert found["invtransforms"] == [f"{prefix}0GenericAffine.mat", f"{prefix}1InverseWarp.nii.gz"]
    assert type(found["warpedmovout"]) is type(moving)
    warped, back = array_of(found["warpedmovout"]), array_of(found["warpedfixout"])
    assert_within_record(np.abs(warped - array_of(fixed)).mean() / np.abs(array_of(moving) - array_of(fixed)).mean(), 0.143, 0.2)
    again = ants.apply_transforms(fixed, moving, found["fwdtransforms"])
    assert relative_difference(array_of(again), warped) < 1e-5
    assert relative_difference(array_of(ants.apply_transforms(moving, fixed, found["invtransforms"])), back) < 1e-5


@pytest.mark.parametrize(
    ("name", "names", "record", "most"),
    [
        # The heads differ by a scale, too.
        ("Affine", ["0GenericAffine.mat"], 0.279, 0.35),
        ("Similarity", ["0GenericAffine.mat"], 0.282, 0.4),
        ("Translation", ["0GenericAffine.mat"], 0.729, 0.9),
        ("SyN", ["1Warp.nii.gz", "0GenericAffine.mat"], 0.118, 0.4),
        ("SyNCC", ["1Warp.nii.gz", "0GenericAffine.mat"], 0.06, 0.4),
        ("SyNAggro", ["1Warp.nii.gz", "0GenericAffine.mat"], 0.118, 0.4),
        ("ElasticSyN", ["1Warp.nii.gz", "0GenericAffine.mat"], 0.118, 0.4),
        ("SyNBold", ["1Warp.nii.gz", "0GenericAffine.mat"], 0.548, 0.9),
        ("SyNBoldAff", ["1Warp.nii.gz", "0GenericAffine.mat"], 0.17, 0.4),
        ("SyNabp", ["1Warp.nii.gz", "0GenericAffine.mat"], 0.156, 0.4),
        ("Rigid", ["0GenericAffine.mat"], 0.702, 0.75),
        ("QuickRigid", ["0GenericAffine.mat"], 0.702, 0.75),
        ("TRSAA", ["0GenericAffine.mat"], 0.175, 0.2),
        ("SyNOnly", ["1Warp.nii.gz", "0GenericAffine.mat"], 0.61, 0.9),
        ("antsRegistrationSyN[a]", ["0GenericAffine.mat"], 0.175, 0.2),
        ("antsRegistrationSyNQuickRepro[r]", ["0GenericAffine.mat"], 0.701, 0.75),
    ],
)
def test_types_of_transform(tmp_path, heads_of, name, names, record, most):
    fixed, moving = heads_of("own")
    prefix = str(tmp_path / "p_")
    few = {} if name in ("QuickRigid", "TRSAA") else FEW
    found = ants.registration(fixed, moving, name, outprefix=prefix, **{"reg_iterations": (2, 1), **few})
    assert found["fwdtransforms"] == [prefix + one for one in names]
    before, after = (np.abs(image.array - fixed.array).mean() for image in (moving, found["warpedmovout"]))
    assert_within_record(after / before, record, most)


def make_flat_heads():
    """Returns two heads of two dimensions, of which the second one is turned, moved and bent."""
    grid = {"shape": (44, 48), "spacing": (2.5, 2.5), "origin": (-52.0, -50.0)}
    back = gr.Affine(1.04 * turn(6.0, 2), [4.0, -3.0]).inverse()
    return make_head(**grid), make_head(lambda points: back.transform_points(points) + 1.5 * np.sin(0.1 * points[..., ::-1]), **grid)


LINEAR, DEFORMING = ["0GenericAffine.mat"], ["1Warp.nii.gz", "0GenericAffine.mat"]


@pytest.mark.parametrize(
    ("name", "names", "record"),
    [
        ("antsRegistrationSyN[t]", LINEAR, 0.53),
        ("antsRegistrationSyN[s]", DEFORMING, 0.0289),
        ("antsRegistrationSyN[s,4,26]", DEFORMING, 0.0289),
        ("antsRegistrationSyN[sr]", DEFORMING, 0.0246),
        ("antsRegistrationSyN[so]", DEFORMING, 0.0359),
        ("antsRegistrationSyNQuick[s]", DEFORMING, 0.157),
        ("antsRegistrationSyNQuick[a]", LINEAR, 0.405),
        ("antsRegistrationSyNRepro[s]", DEFORMING, 0.0262),
        ("AffineFast", LINEAR, 0.446),
        ("DenseRigid", LINEAR, 0.407),
        ("BOLDRigid", LINEAR, 0.407),
        ("BOLDAffine", LINEAR, 0.37),
        ("SyNLessAggro", DEFORMING, 0.133),
    ],
)
def test_types_as_they_are(tmp_path, name, names, record):
    """The types that are run with all that they have, in two dimensions."""
    fixed, moving = make_flat_heads()
    prefix = str(tmp_path / "p_")
    found = ants.registration(fixed, moving, name, outprefix=prefix)
    assert found["fwdtransforms"] == [prefix + one for one in names]
    before, after = (np.abs(image.array - fixed.array).mean() for image in (moving, found["warpedmovout"]))
    assert_within_record(after / before, record, 0.8)
    back = np.abs(found["warpedfixout"].array - moving.array).mean()
    assert back < 1.2 * after + 0.05 * before
    again = ants.apply_transforms(fixed, moving, found["fwdtransforms"])
    assert relative_difference(again.array, found["warpedmovout"].array) < 1e-5


def test_further_metrics_of_a_script(tmp_path):
    fixed, moving = make_flat_heads()
    other = [image.like(np.sqrt(np.abs(image.array))) for image in (fixed, moving)]
    fields = []
    for number, extras in enumerate((None, [("CC", *other, 0, 2)], [("MeanSquares", *other, 0.5, 0), ("CC", *other, 0.5, 3)])):
        found = ants.registration(fixed, moving, "antsRegistrationSyN[s]", outprefix=str(tmp_path / f"{number}_"), multivariate_extras=extras)
        fields.append(gr.read_transform(found["fwdtransforms"][0]).array)
    after, before = (np.abs(image.array - fixed.array).mean() for image in (found["warpedmovout"], moving))
    assert (fields[1] == fields[0]).all() and np.linalg.norm(fields[2] - fields[0], axis=-1).max() > 0.1
    assert after < 0.2 * before


def test_functions_write_composites_and_fields(tmp_path, heads_of):
    fixed, moving = heads_of("own")
    gr.write_transform(tmp_path / "begin.mat", AFFINE)
    prefix = str(tmp_path / "p_")
    found = ants.registration(
        fixed, moving, "SyNOnly", initial_transform=tmp_path / "begin.mat", outprefix=prefix, write_composite_transform=True, **FEW
    )
    assert (found["fwdtransforms"], found["invtransforms"]) == (f"{prefix}Composite.h5", f"{prefix}InverseComposite.h5")
    field = ants.apply_transforms(fixed, moving, found["fwdtransforms"], compose=prefix)
    assert field == f"{prefix}comptx.nii.gz"
    assert relative_difference(ants.apply_transforms(fixed, moving, field).array, found["warpedmovout"].array) < 1e-4
    whole = fixed.like(fixed.array.astype(np.uint8))
    # The result has the fixed image's type of values.
    cut = ants.apply_transforms(whole, moving, field).array
    real = ants.apply_transforms(fixed, moving, field).array
    assert cut.dtype == np.uint8 and (cut == np.clip(np.trunc(real), 0, 255)).mean() > 0.999 and (cut != np.rint(real)).mean() > 0.1
    same = ants.apply_transforms(fixed, moving, [tmp_path / "begin.mat", field], whichtoinvert=[None, None]).array
    assert (same == ants.apply_transforms(fixed, moving, [tmp_path / "begin.mat", field], whichtoinvert=[True, False]).array).all()
    nearest = ants.apply_transforms(fixed, moving, [tmp_path / "begin.mat"], "nearestNeighbor", whichtoinvert=[True])
    expected = gr.resample(moving, AFFINE.inverse(), fixed, "nearest")
    assert (nearest.array == expected.array).all()


def test_further_metrics(tmp_path, heads_of):
    fixed, moving = heads_of("own")
    other = [image.like(np.sqrt(np.abs(image.array))) for image in (fixed, moving)]
    begin = {"type_of_transform": ["SyNOnly"], "syn_metric": "meansquares", "reg_iterations": (3, 2), "initial_transform": "Identity"}
    fields = []
    for number, extras in enumerate((None, [], [("MeanSquares", *other, 0, 0)], [("CC", *other, 0.5, 2)])):
        found = ants.registration(fixed, moving, outprefix=str(tmp_path / f"{number}_"), multivariate_extras=extras, **begin)
        fields.append(gr.read_transform(found["fwdtransforms"][0]).array)
    assert (fields[1] == fields[0]).all() and (fields[2] == fields[0]).all()
    assert np.linalg.norm(fields[3] - fields[0], axis=-1).max() > 0.1
    restricted = ants.registration(fixed, moving, outprefix=str(tmp_path / "r_"), restrict_transformation=(1, 0, 1), **begin)
    field = gr.read_transform(restricted["fwdtransforms"][0]).array
    assert not field[..., 1].any() and np.abs(field[..., 0]).max() > 0.1


def test_a_seed_is_taken_and_results_are_the_same(tmp_path, heads_of):
    written = []
    for number in range(2):
        found = ants.registration(*heads_of("own"), "SyN", outprefix=str(tmp_path / f"{number}_"), random_seed=7, **FEW)
        files = sorted({*found["fwdtransforms"], *found["invtransforms"]})
        written.append([Path(file).read_bytes() for file in files] + [found["warpedmovout"].array.tobytes()])
    assert len(written[0]) == 4 and written[0] == written[1]


def test_functions_have_antspys_arguments(heads_of):
    theirs = pytest.importorskip("ants", reason="ANTsPy is not there: pip install antspyx")
    for name in ("registration", "apply_transforms"):
        one, other = (inspect.signature(getattr(library, name)).parameters for library in (ants, theirs))
        expected = {key: value.default for key, value in other.items() if value.kind is not inspect.Parameter.VAR_KEYWORD}
        assert {key: one[key].default for key in expected} == expected and list(one)[: len(expected)] == list(expected)


@pytest.mark.parametrize(
    ("settings", "kind", "part"),
    [
        ({"type_of_transform": "SyM"}, gr.BadInputError, "SyNRA"),
        ({"type_of_transform": "TVMSQ"}, gr.UnsupportedError, "TVMSQ"),
        ({"type_of_transform": "antsRegistrationSyN[b]"}, gr.UnsupportedError, "ANTsPy has it alone"),
        ({"syn_metric": "MI2"}, gr.UnsupportedError, "MI2"),
        ({"syn_metric": "NCC"}, gr.BadInputError, "syn_metric='NCC' is not possible: give mattes, MI, CC"),
        ({"syn_metric": None}, gr.BadInputError, "syn_metric=None is not possible"),
        ({"aff_metric": "demons"}, gr.BadInputError, "aff_metric='demons' is not possible: give mattes"),
        ({"aff_sampling": 3}, gr.BadInputError, "aff_sampling=3 is not possible"),
        ({"syn_sampling": "many"}, gr.BadInputError, "syn_sampling='many' is not possible"),
        ({"syn_metric": "CC", "syn_sampling": 40}, gr.UnsupportedError, "syn_metric and syn_sampling (CC[fixed,moving,1,40]) in stage 1 (a radius of 32 at most)"),
        ({"aff_sampling": 5000}, gr.UnsupportedError, "aff_metric and aff_sampling (mattes[fixed,moving,1,5000,regular,0.2]) in stage 0 (4096 bins at most)"),
        ({"aff_random_sampling_rate": 2}, gr.BadInputError, "aff_random_sampling_rate=2 is not possible"),
        ({"grad_step": 0}, gr.BadInputError, "grad_step=0 is not possible"),
        ({"grad_step": 9}, gr.UnsupportedError, "grad_step, flow_sigma and total_sigma (SyN[9,3,0]) in stage 1 (a step of 5 voxels at most)"),
        ({"flow_sigma": -1}, gr.BadInputError, "flow_sigma=-1 is not possible"),
        ({"reg_iterations": "40x20"}, gr.BadInputError, "reg_iterations='40x20' is not possible: give whole numbers, one for each level, such as (40, 20, 0)."),
        ({"reg_iterations": 40}, gr.BadInputError, "reg_iterations=40 is not possible: give whole numbers"),
        ({"reg_iterations": ()}, gr.BadInputError, "reg_iterations=() is not possible: give whole numbers"),
        ({"reg_iterations": (4, -2)}, gr.BadInputError, "reg_iterations=-2 is not possible"),
        ({"reg_iterations": (4, 4, 4, 4)}, gr.UnsupportedError, "reg_iterations (8x4x2x1) in stage 1 (6 at most along z, where fixed has 20 voxels)"),
        ({"reg_iterations": (2000000,)}, gr.UnsupportedError, "reg_iterations ([2e+06,1e-7,8]) in stage 1 (1000000 iterations"),
        ({"aff_iterations": "20x10"}, gr.BadInputError, "aff_iterations='20x10' is not possible"),
        ({"aff_shrink_factors": (2, 0)}, gr.BadInputError, "aff_shrink_factors=0 is not possible"),
        ({"type_of_transform": "AffineFast"}, gr.BadInputError, "aff_shrink_factors (2x1): expected 4 numbers, as many as aff_iterations (2100x1200x0x0) has"),
        ({"restrict_transformation": "1x0"}, gr.BadInputError, "restrict_transformation='1x0' is not possible"),
        ({"restrict_transformation": (1, 0)}, gr.BadInputError, "restrict_transformation=(1, 0) is not possible: give one factor for each axis"),
        ({"random_seed": -1}, gr.BadInputError, "random_seed=-1 is not possible"),
        ({"initial_transform": []}, gr.BadInputError, "initial_transform=[] is not possible: give None"),
        ({"initial_transform": ""}, gr.BadInputError, "initial_transform='' is not possible"),
        ({"initial_transform": "[a.mat,2]"}, gr.BadInputError, "initial_transform ([a.mat,2]): expected FILE"),
        ({"type_of_transform": "SyNOnly", "mask": "none of them"}, gr.BadInputError, "type_of_transform='SyNOnly' (SyN[0.2,3,0]) in stage 0: No voxel of the fixed"),
        ({"multivariate_extras": [("CC", None, None, 1, 2)]}, gr.BadInputError, "SyNOnly and antsRegistrationSyN[s] alone"),
        ({"type_of_transform": "SyNOnly", "multivariate_extras": [("CC", 1)]}, gr.BadInputError, "multivariate_extras[0] has 2 entries"),
        ({"type_of_transform": ("SyN", "Rigid")}, gr.BadInputError, "give one name"),
        ({"aff_iterations": (10, 10, 10)}, gr.BadInputError, "have 3, 2, 2 entries"),
        ({"type_of_transform": "Rigid", "restrict_transformation": (1, 1, 0, 1, 1, 0)}, gr.UnsupportedError, "restrict_transformation (1x1x0x1x1x0) of Rigid"),
        ({"outprefix": "/nowhere/p_"}, gr.BadInputError, "/nowhere"),
        ({"initial_transform": "no.mat"}, gr.BadInputError, "no.mat"),
    ],
)
def test_functions_say_what_is_not_possible(heads_of, settings, kind, part):
    fixed, moving = heads_of("own")
    if "mask" in settings:
        settings = {**settings, "mask": fixed.like(np.zeros(fixed.shape, np.uint8))}
    with pytest.raises(kind) as raised:
        ants.registration(fixed, moving, **{**FEW, **settings})
    text = str(raised.value)
    assert part in text and "\n" not in text and not re.search(r"(^|\W)--?[a-z]", text), text


@pytest.mark.parametrize(
    ("function", "settings", "named"),
    [
        (ants.registration, {"type_of_transform": None}, "type_of_transform=None"),
        (ants.registration, {"type_of_transform": 7}, "type_of_transform=7"),
        (ants.registration, {"type_of_transform": [7]}, "type_of_transform=[7]"),
        (ants.registration, {"initial_transform": 5}, "initial_transform=5"),
        (ants.registration, {"initial_transform": [5]}, "initial_transform=[5]"),
        (ants.registration, {"type_of_transform": "SyNOnly", "multivariate_extras": 5}, "multivariate_extras=5"),
        (ants.registration, {"type_of_transform": "SyNOnly", "multivariate_extras": [3]}, "multivariate_extras[0]=3"),
        (ants.apply_transforms, {"transformlist": 5}, "transformlist=5"),
        (ants.apply_transforms, {"transformlist": [5]}, "transformlist=[5]"),
        (ants.apply_transforms, {"transformlist": [], "interpolator": 3}, "interpolator=3"),
        (ants.apply_transforms, {"transformlist": [], "whichtoinvert": 5}, "whichtoinvert=5"),
    ],
)
def test_functions_name_arguments_of_other_types(heads_of, function, settings, named):
    with pytest.raises(gr.BadInputError) as raised:
        function(*heads_of("own"), **settings)
    assert str(raised.value).startswith(f"{named} is not possible: give ")


def test_a_flat_moving_image_and_what_is_not_there(tmp_path, heads_of):
    fixed, moving = heads_of("own")
    with pytest.raises(gr.BadInputError, match="moving: its values come to 0, .* expected initial_transform='Identity'"):
        ants.registration(fixed, moving.like(np.zeros(moving.shape, np.float32)), "Rigid", **FEW)
    gr.write_transform(tmp_path / "warp.nii.gz", gr.DisplacementField(np.zeros((5, 6, 7, 3)), 16.0 * np.ones(3)))
    gr.write_transform(tmp_path / "other.nii.gz", gr.DisplacementField(np.zeros((6, 6, 7, 3)), 16.0 * np.ones(3)))
    with pytest.raises(gr.BadInputError, match=r"^initial_transform: its displacements are on different grids"):
        ants.registration(fixed, moving, "SyNOnly", initial_transform=[tmp_path / "warp.nii.gz", tmp_path / "other.nii.gz"], **FEW)
    with pytest.raises(gr.BadInputError, match=r"^\S*warp.nii.gz is to be inverted, and deforms; expected the file of its inverse"):
        ants.apply_transforms(fixed, moving, [tmp_path / "warp.nii.gz"], whichtoinvert=[True])
    with pytest.raises(gr.BadInputError, match=r"^interpolator \(Cubic\): expected Linear"):
        ants.apply_transforms(fixed, moving, [], "Cubic")
    with pytest.raises(gr.BadInputError, match=r"^interpolator has an empty value: expected"):
        ants.apply_transforms(fixed, moving, [], "")


def test_names_of_initial_transforms_may_have_brackets(tmp_path, heads_of, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fixed, moving = heads_of("own")
    gr.write_transform("a.mat", AFFINE)
    made = []
    for number, name in enumerate(("a[1].mat", "a.mat", "[a.mat,0]", ["Identity", "a[1].mat"], "b(1).mat")):
        for copy in ("a[1].mat", "b(1).mat"):
            gr.write_transform(copy, AFFINE)
        found = ants.registration(fixed, moving, "Rigid", initial_transform=name, outprefix=f"p[{number}]_", aff_iterations=0, aff_shrink_factors=1, aff_smoothing_sigmas=0)
        made.append(gr.read_transform(found["fwdtransforms"][0]).matrix_of())
    assert all(np.abs(one - AFFINE.matrix_of()).max() < 1e-6 for one in made)
