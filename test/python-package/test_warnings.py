"""Outliers among an image's values, and results that may be wrong: what registrations make of them, and what they say."""

import json

import gpuregistration as g
import numpy as np
import pytest
from command_line import assert_fails, gpureg
from conftest import assert_within_record

POINTS = np.random.default_rng(3).uniform(-25, 25, (200, 3)) + 3


def put(image, number, value, seed=0):
    """Puts a value into this number of random voxels."""
    array = np.array(image.array, dtype=np.float32)
    array.ravel()[np.random.default_rng(seed).choice(array.size, number, replace=False)] = value
    return image.like(array)


def furthest(found, truth):
    return np.abs(found.transform_points(POINTS) - truth.transform_points(POINTS)).max()


def textured(seed, transform=None, contrast=lambda values: values, shape=(40, 48, 44)):
    """Returns values with edges in all directions everywhere, at an image's points mapped by a transform."""
    rng = np.random.default_rng(seed)
    grid = g.Image(np.zeros(shape, np.float32), (2.0, 2.0, 2.0), (-44.0, -48.0, -40.0))
    index = np.stack(np.meshgrid(*[np.arange(n) for n in shape], indexing="ij"), axis=-1)[..., ::-1]
    point = index * 2.0 + grid.origin
    point = point if transform is None else transform.transform_points(point.reshape(-1, 3)).reshape(point.shape)
    waves = sum(np.sin(point @ rng.uniform(-0.2, 0.2, 3) + rng.uniform(0, 6)) for _ in range(24))
    return grid.like(contrast(waves).astype(np.float32))


@pytest.mark.parametrize("number,value", [(1, 1e7), (1, 1e9), (20, -1e30), (5, 1e38)])
def test_outliers_change_nothing_but_the_warnings(device, heads, moved, number, value):
    fixed, moving = heads
    clean = g.register(fixed, moving, "affine", device=device)
    assert clean.warnings == []
    assert_within_record(furthest(clean.transform, moved), 0.0428)
    result = g.register(put(fixed, number, value), put(moving, number, value, 1), ["affine", g.stages.FreeForm(iterations=40)], device=device)
    assert_within_record(furthest(result.stages[0].transform, moved), 0.0429)
    # Each image is reported once, although each stage reads it.
    assert len(result.warnings) == 2
    values = f"has {number} value{'s' if number > 1 else ''} {'above' if value > 0 else 'below'} "
    for which, warning in zip(("fixed", "moving"), result.warnings):
        assert warning.startswith(f"the {which} image {values}") and f"{value:.5g}".replace("e+0", "e+") in warning.replace("e+0", "e+")
    # The returned image has its own values.
    assert np.abs(result.warped.array).max() > 1e5


# The errors of record are mm from what clean images give.
SIMILARITIES = {
    "mean_squares": 0.00414,
    "correlation": 0.0387,
    "correlation_ratio": 0.00957,
    "mattes_mutual_information": 0.00254,
    "normalized_mutual_information": 0.0774,
    "neighborhood_correlation": 0.0907,
}


@pytest.mark.parametrize("cost", g.stages.COSTS)
def test_every_cost_does_without_outliers(heads, moved, cost):
    fixed, moving = heads
    clean = g.register(fixed, moving, g.stages.Rigid(cost=cost), device="host")
    result = g.register(put(fixed, 1, 1e9), put(moving, 1, 1e9, 1), g.stages.Rigid(cost=cost), device="host")
    # The largest, that of the correlation: the others' 2e-6 to 1e-4 are where a search ends by rounding.
    assert_within_record(furthest(result.transform, clean.transform), 0.00192)


@pytest.mark.parametrize("similarity", g.stages.SIMILARITIES)
def test_every_similarity_does_without_outliers(heads, moved, similarity):
    fixed, moving = heads
    stage = g.stages.FreeForm(similarity=similarity, iterations=10, bending_weight=1e-4 if similarity == "mean_squares" else 0.01)
    clean = g.register(fixed, moving, stage, initial=moved, device="host")
    result = g.register(put(fixed, 1, 1e9), put(moving, 1, 1e9, 1), stage, initial=moved, device="host")
    # For flat images some costs say little: without outliers they move on from step to step by some tenths of a mm.
    assert_within_record(furthest(result.transform, clean.transform), SIMILARITIES[similarity])


def test_a_ct_with_metal_and_padding(device, heads, moved):
    def scan(image, to_fixed):
        units = np.asarray(image.array) * 10 - 1000
        index = np.stack(np.meshgrid(*[np.arange(n) for n in units.shape], indexing="ij"), axis=-1)[..., ::-1]
        points = (index * image.spacing + image.origin).reshape(-1, 3)
        metal = np.linalg.norm(to_fixed.transform_points(points) - (8.0, -10.0, 5.0), axis=1) < 4
        units[metal.reshape(units.shape)] = 30000
        across = np.hypot(*np.meshgrid(np.linspace(-1, 1, units.shape[1]), np.linspace(-1, 1, units.shape[2]), indexing="ij"))
        units[:, across > 1] = -3024
        return image.like(units)

    fixed, moving = scan(heads[0], g.Affine(np.eye(3), np.zeros(3), np.zeros(3))), scan(heads[1], moved.inverse())
    result = g.register(fixed, moving, "affine", device=device)
    assert_within_record(furthest(result.transform, moved), 0.199)
    assert len(result.warnings) == 2
    assert "values below -1100, down to -3024, and " in result.warnings[0] and "up to 30000" in result.warnings[0]


def test_clean_images_keep_their_bits(device, heads):
    fixed, moving = heads
    mask = fixed.like((np.asarray(fixed.array) > 60).astype(np.uint8))
    labels = fixed.like(np.digitize(fixed.array, (30, 60, 90)).astype(np.uint8) * 50)
    few = fixed.like((np.asarray(fixed.array) / 40).astype(np.uint8))
    for images in ((fixed, moving), (mask, moving), (labels, few)):
        stages = [g.stages.Affine(), g.stages.FreeForm(iterations=3)]
        as_they_are = [g.stages.Affine(fixed_range="all", moving_range="all"), g.stages.FreeForm(iterations=3, fixed_range="all", moving_range="all")]
        found, all_values = (g.register(*images, which, device=device) for which in (stages, as_they_are))
        assert not [warning for warning in found.warnings if "image has" in warning]
        assert found.cost == all_values.cost
        assert np.array_equal(found.transform.transform_points(POINTS), all_values.transform.transform_points(POINTS))


def test_a_range_is_what_clipping_is(device, heads):
    fixed, moving = heads
    clipped = [image.like(np.clip(image.array, 20, 90)) for image in heads]
    for stage in (g.stages.Rigid, g.stages.FreeForm):
        more = {"iterations": 3} if stage is g.stages.FreeForm else {}
        found = g.register(fixed, moving, stage(fixed_range=(20, 90), moving_range=(20, 90), **more), device=device)
        wanted = g.register(*clipped, stage(**more), device=device)
        assert found.cost == wanted.cost and found.warnings == wanted.warnings
    assert g.metric("mean_squares", fixed, moving, fixed_range=(20, 90), moving_range=(20, 90), device=device).value(
        g.Affine(np.eye(3), np.zeros(3), np.zeros(3))
    ) == g.metric("mean_squares", *clipped, device=device).value(g.Affine(np.eye(3), np.zeros(3), np.zeros(3)))


def test_a_metric_does_without_outliers(device, heads):
    fixed, moving = heads
    here = g.Affine(np.eye(3), np.zeros(3), np.zeros(3))
    clean = g.metric("normalized_mutual_information", fixed, moving, device=device)
    found = g.metric("normalized_mutual_information", put(fixed, 1, 1e9), moving, device=device)
    assert clean.warnings == [] and "1 value above" in found.warnings[0]
    assert abs(found.value(here) - clean.value(here)) < 1e-3


@pytest.mark.parametrize("given", [(3, 3), (4, 3), (1, 2, 3), "some", (0, np.inf), 5])
def test_what_is_no_range(heads, given):
    with pytest.raises(g.BadInputError, match='moving_range=.* is not possible; it is to be two numbers, .*, or "all"'):
        g.register(*heads, g.stages.Rigid(moving_range=given))


def test_a_range_that_leaves_nothing(heads):
    with pytest.raises(g.BadInputError, match="range from 500 to 600 leaves nothing of the fixed image, whose values are from "):
        g.register(*heads, g.stages.Rigid(fixed_range=(500, 600)), device="host")


@pytest.mark.parametrize(("stages", "record"), [("rigid", 0.0058), ("affine", 0.0108), ("global", 0.0107), (["affine", "ffd"], 0.274)])
def test_what_is_in_its_place_gets_no_warning(moved, stages, record):
    fixed, moving = textured(1), textured(1, moved.inverse(), lambda values: np.exp(-0.2 * values))
    result = g.register(fixed, moving, stages, device="host")
    assert result.warnings == []
    assert_within_record(furthest(result.transform, moved), record)


def is_doubtful(result):
    """Returns true if there is a warning that the images show different objects, or are misplaced."""
    reported = ("the edges of the images agree no better where ", "what was found stretches one direction ")
    return any(warning.startswith(reported) for warning in result.warnings)


def test_other_things_get_a_warning(device):
    noise = textured(1).like(np.random.default_rng(1).normal(size=(40, 48, 44)).astype(np.float32))
    for other in (textured(2), noise):
        for stages in ("rigid", "affine", "global", "ffd"):
            result = g.register(textured(1), other, stages, device=device)
            assert is_doubtful(result), stages


def test_a_wrong_place_gets_a_warning():
    upside_down = g.Affine(np.diag([1.0, -1.0, -1.0]), np.zeros(3), np.zeros(3))
    fixed, moving = textured(1), textured(1, upside_down)
    result = g.register(fixed, moving, "affine", device="host")
    assert furthest(result.transform, upside_down) > 20
    assert is_doubtful(result)
    found = g.register(fixed, moving, "global", device="host")
    assert found.warnings == []
    assert_within_record(furthest(found.transform, upside_down), 0.00128)


def test_little_overlap_gets_a_warning():
    whole = textured(1)
    low, high = (whole.like(whole.array) for _ in range(2))
    low = g.Image(np.ascontiguousarray(whole.array[:24]), whole.spacing, whole.origin)
    high = g.Image(np.ascontiguousarray(whole.array[15:]), whole.spacing, whole.origin + (0, 0, 30))
    here = g.Affine(np.eye(3), np.zeros(3), np.zeros(3))
    result = g.register(low, high, "rigid", initial=here, device="host")
    assert result.stages[0].overlap < 0.45
    share = f"only {100 * result.stages[0].overlap:.3g} % of the fixed image lies in the moving one, of the "
    assert any(warning.startswith(share) for warning in result.warnings)


def test_the_command_prints_warnings(heads, tmp_path, capfd):
    pytest.importorskip("SimpleITK")
    fixed, moving = heads
    names = [str(tmp_path / name) for name in ("fixed.nii.gz", "moving.nii.gz", "out.nii.gz", "report.html")]
    g.write_image(names[0], fixed)
    g.write_image(names[1], put(moving, 1, 1e7))
    words = ("register", names[0], names[1], "-o", names[2], "--device", "host")
    code, printed, reported = gpureg(capfd, *words, "--json", "--report", names[3])
    warning = json.loads(printed)["stages"][0]["warnings"][0]
    assert code == 0 and warning.startswith("the moving image has 1 value above ") and f"gpureg: {warning}\n" in reported
    with open(names[3], encoding="utf-8") as page:
        assert "the moving image has 1 value above " in page.read()
    code, _, reported = gpureg(capfd, *words, "--transform", "rigid:moving_range=0x200")
    assert code == 0 and "image has" not in reported
    assert gpureg(capfd, *words, "--transform", "rigid:moving_range=all")[0] == 0
    assert_fails(capfd, 2, "moving_range=", "two numbers", None, *words, "--transform", "rigid:moving_range=200x0")


def test_compare_prints_warnings(heads, tmp_path, capfd):
    pytest.importorskip("SimpleITK")
    names = [str(tmp_path / name) for name in ("a.nii.gz", "b.nii.gz")]
    g.write_image(names[0], heads[0])
    g.write_image(names[1], put(heads[0], 1, 1e9))
    code, printed, reported = gpureg(capfd, "compare", *names, "--device", "host", "--json")
    found = json.loads(printed)
    assert code == 0 and found["warnings"][0].startswith(f"{names[1]} has 1 value above ") and f"gpureg: {found['warnings'][0]}\n" in reported
    turned = json.loads(gpureg(capfd, "compare", *names[::-1], "--device", "host", "--json")[1])
    assert [warning.split(" above ")[0] for warning in turned["warnings"]] == [f"{names[1]} has 1 value"]
    assert found["metrics"]["correlation"] < -0.999
