# SPDX-License-Identifier: Apache-2.0
"""Tests plan_registration(): what is planned is what the device's account counts, on every device, for what changes memory; and what is
said where there is too little."""

import os
import re
from dataclasses import replace
from pathlib import Path

import gpuregistration as gr
import numpy as np
import pytest
from command_line import gpureg, gpureg_json
from conftest import make_head
from gpuregistration import _engine, stages
from gpuregistration._image import engine_size
from gpuregistration._plan import plan_pair
from gpuregistration._register import register_pair
from gpuregistration._sides import Pair, read_pair
from gpuregistration._syn_options import SyNOptions
from plan_data import SHAPE, box, counted, head, with_outliers

ITERATIONS = (2, 2, 1)


def check(device, transform, fixed=None, moving=None, within=0.01, **more):
    fixed = head() if fixed is None else fixed
    moving = head(0.05) if moving is None else moving
    plan = gr.plan_registration(fixed, moving, transform, device=device, **more)
    most, result = counted(device, lambda: gr.register(fixed, moving, transform, device=device, **more))
    assert plan.bytes == pytest.approx(most, rel=within)
    assert plan.fits and plan.room > plan.bytes
    assert [stage.name for stage in plan.stages] == [stage.name for stage in result.stages]
    return plan, result


DENSE = {
    "greedy": stages.Greedy,
    "syn": stages.SyN,
    "velocity": stages.Velocity,
}


@pytest.mark.parametrize("scheme", DENSE)
@pytest.mark.parametrize("similarity", stages.dense.FIELD_SIMILARITIES)
def test_each_scheme_and_similarity(device, scheme, similarity):
    plan, result = check(device, DENSE[scheme](similarity=similarity, iterations=ITERATIONS))
    levels = plan.stages[0].levels
    assert [int(np.prod(level.size)) for level in levels] == [level.voxels for level in result.stages[0].levels]
    assert levels[-1].size == SHAPE[::-1] and levels[-1].bytes == plan.bytes
    assert levels[0].bytes < levels[1].bytes < levels[2].bytes


def test_level_0_is_the_coarsest_of_every_stage():
    order = [stages.Rigid(), stages.FreeForm(levels=3), *(scheme(iterations=ITERATIONS) for scheme in DENSE.values())]
    plan = gr.plan_registration(head(), head(0.05), order, device="host")
    for stage in plan.stages:
        voxels = [int(np.prod(level.size)) for level in stage.levels]
        assert len(voxels) > 1 and voxels == sorted(voxels), stage.name
    rows = [row.split() for row in str(plan).splitlines()[1:]]
    levels = [(row[0], row[1]) for row in rows if row[1].isdigit()]
    assert levels == [(stage.name, str(n)) for stage in plan.stages for n in range(len(stage.levels))]


@pytest.mark.parametrize(
    "stage",
    [
        stages.Greedy(iterations=ITERATIONS, optimizer="adam"),
        stages.Greedy(iterations=ITERATIONS, weights=(1, 0.5, 1)),
        stages.Greedy(iterations=ITERATIONS, field_sigma=0, update_sigma=0),
        stages.Greedy(iterations=2),
        stages.Greedy(iterations=2, fixed_range=(20, 100)),
        stages.Greedy(iterations=ITERATIONS, convergence_window=2),
        stages.SyN(iterations=ITERATIONS, average=1),
        stages.SyN(iterations=ITERATIONS, update_variance=0.3),
        stages.SyN(iterations=ITERATIONS, field_variance=0.3),
        stages.SyN(iterations=ITERATIONS, update_variance=0.3, weights=(1, 0.5, 1)),
        stages.SyN(iterations=ITERATIONS, shrink_factors=(4, 2, 2), smoothing_sigmas=(2, 1, 0)),
        stages.SyN(iterations=ITERATIONS, smoothing_sigmas=(2, 1, 1)),
        stages.Velocity(iterations=ITERATIONS, field_sigma=0),
        stages.Velocity(iterations=ITERATIONS, update_sigma=0),
        stages.FreeForm(levels=3, iterations=2),
        stages.FreeForm(levels=2, iterations=2, spacing=4, bending_weight=0.01, jacobian_weight=0.01),
        stages.FreeForm(levels=2, iterations=2, similarity="neighborhood_correlation"),
        stages.FreeForm(levels=2, iterations=2, similarity="mean_squares", samples=2000),
        stages.FreeForm(levels=2, iterations=2, similarity="correlation_ratio"),
    ],
    ids=repr,
)
def test_each_setting_that_changes_memory(device, stage):
    # Tables and checks of free-form deformations, and copies of outliers, are left out.
    check(device, stage, within=0.05)


def test_a_grid_that_is_large_enough_for_the_errors_of_an_inverse_to_count(device):
    shape = (150, 148, 152)
    plan, _ = check(device, stages.SyN(similarity="mean_squares", iterations=1), head(shape=shape), head(0.05, shape=shape))
    assert plan.bytes < 125 * np.prod(shape)


@pytest.mark.parametrize("scheme", DENSE)
def test_a_small_head(device, scheme):
    shape = (100, 96, 92)
    check(device, DENSE[scheme](iterations=1), head(0, np.float32, shape), head(0.05, np.float32, shape), within=1e-4)


@pytest.mark.parametrize("scheme", DENSE)
@pytest.mark.parametrize("sides", [("fixed",), ("moving",), ("fixed", "moving")])
def test_masks(device, scheme, sides):
    masks = {f"{side}_mask": box(3) for side in sides}
    check(device, DENSE[scheme](iterations=ITERATIONS), **masks)


def test_masks_of_free_form_deformations(device):
    check(device, stages.FreeForm(levels=2, iterations=2), within=0.05, fixed_mask=box(2), moving_mask=box(2))


@pytest.mark.parametrize("scheme", DENSE)
def test_several_pairs(device, scheme):
    other = gr.ImagePair(head(0.0, np.float32), head(0.05, np.float64), "mean_squares", 2.0)
    check(device, DENSE[scheme](iterations=ITERATIONS), also=[other, gr.ImagePair(head(), head(0.05), weight=0.5)])


def test_several_pairs_of_free_form_deformations(device):
    shape = (26, 30, 33)
    others = [
        gr.ImagePair(head(0.0, np.float32), head(0.05, np.float64), "mean_squares", 2.0, fixed_mask=box(2)),
        gr.ImagePair(head(shape=shape), head(0.05, shape=shape), "neighborhood_correlation", weight=0.5),
        gr.ImagePair(head(), head(0.05), weight=0),
    ]
    plan, _ = check(device, stages.FreeForm(levels=2, iterations=2), within=0.02, also=others)
    alone = gr.plan_registration(head(), head(0.05), stages.FreeForm(levels=2, iterations=2), device=device)
    assert plan.bytes > 1.5 * alone.bytes


def make_starts():
    """Returns transforms to begin with that are not linear: a field, a B-spline, and both behind each other."""
    rng = np.random.default_rng(3)
    grid = head()
    field = gr.DisplacementField(rng.normal(0, 0.3, (*SHAPE, 3)).astype(np.float32), grid.spacing, grid.origin, grid.direction)
    spline = gr.BSpline(rng.normal(0, 0.5, (24, 24, 24, 3)), (2.0, 2.0, 2.0), (-5.0, -5.0, -5.0))
    return {"field": field, "spline": spline, "both": gr.Composite([spline, field])}


@pytest.mark.parametrize("start", make_starts())
@pytest.mark.parametrize(
    "stage",
    [stages.FreeForm(levels=2, iterations=2), *(DENSE[scheme](iterations=ITERATIONS) for scheme in DENSE)],
    ids=lambda stage: stage.name,
)
def test_deformations_to_begin_with(device, stage, start):
    initial = make_starts()[start]
    plan, _ = check(device, stage, within=0.01, initial=initial)
    without = gr.plan_registration(head(), head(0.05), stage, device=device)
    vectors = sum(int(np.prod(part.array.shape[:-1])) for part in getattr(initial, "transforms", [initial]))
    assert plan.bytes >= without.bytes + 16 * vectors
    # A linear one takes nothing.
    assert gr.plan_registration(head(), head(0.05), stage, device=device, initial=gr.Affine(np.eye(3))).bytes == without.bytes


@pytest.mark.parametrize("start", make_starts())
def test_deformations_of_the_fixed_image_to_begin_with(device, start):
    stage, pair = stages.SyN(iterations=ITERATIONS), read_pair(head(), head(0.05), None, None, {})
    settings = stages.read_settings([stage], pair.fixed.spacing.tolist())
    options = SyNOptions(make_starts()[start])
    plan = plan_pair(pair, [stage], settings, [device], (), make_starts()["field"], options)
    most, _ = counted(device, lambda: register_pair(pair, [stage], make_starts()["field"], device, 1, syn_options=options))
    assert plan.bytes == pytest.approx(most, rel=0.01)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int16, np.int32, np.float32, np.float64])
@pytest.mark.parametrize("scheme", DENSE)
def test_types_of_values(device, scheme, dtype):
    check(device, DENSE[scheme](iterations=ITERATIONS), head(0.0, dtype), head(0.05, dtype))


@pytest.mark.parametrize("scheme", DENSE)
def test_two_dimensions_and_a_moving_image_of_another_size(device, scheme):
    fixed, moving = (gr.Image(head(shift, shape=(9, 131, 117)).array[4], (1.0, 1.1)) for shift in (0.0, 0.05))
    check(device, DENSE[scheme](iterations=ITERATIONS), fixed, moving)
    check(device, DENSE[scheme](iterations=ITERATIONS), head(), head(0.05, shape=(40, 25, 37)))


def test_linear_stages_hold_what_is_planned_and_sums_of_poses(device):
    fixed, moving = (make_head(shape=(90, 100, 95), spacing=(1, 1, 1), origin=origin) for origin in ((-45, -50, -45), (-43, -51, -46)))
    for dtype in (np.uint8, np.float32):
        images = [gr.Image(image.array.astype(dtype), image.spacing) for image in (fixed, moving)]
        plan = gr.plan_registration(*images, "affine", device=device)
        most, _ = counted(device, lambda: gr.register(*images, "affine", device=device))
        assert plan.bytes <= most < plan.bytes + 2**27


@pytest.mark.parametrize("numbers", [np.uint8, np.uint16, np.int16])
@pytest.mark.parametrize(
    "stage",
    [*(scheme(iterations=ITERATIONS) for scheme in DENSE.values()), stages.FreeForm(levels=2, iterations=3), stages.Rigid()],
    ids=lambda stage: stage.name,
)
def test_short_integers_and_floats_have_the_same_bits(device, stage, numbers):
    def find(dtype):
        found = gr.register(head(0.0, dtype, numbers=numbers), head(0.05, dtype, numbers=numbers), stage, device=device).transform
        return found.matrix if hasattr(found, "matrix") else found.array

    found = find(numbers)
    assert np.abs(found).max() > 0.1
    np.testing.assert_array_equal(found, find(np.float32))


@pytest.mark.parametrize(
    "stage, hint",
    [
        (stages.Greedy(iterations=ITERATIONS, optimizer="adam"), "longest vector"),
        (stages.SyN(iterations=ITERATIONS, average=1), "not averaged"),
        (stages.SyN(iterations=ITERATIONS), "greedy scheme|shrunk by twice"),
        (stages.Velocity(iterations=ITERATIONS), "greedy scheme"),
        (stages.Greedy(iterations=ITERATIONS), "half as many voxels"),
        (stages.FreeForm(levels=2, iterations=2, spacing=4), "twice as far apart|half as many"),
    ],
    ids=repr,
)
def test_too_little_memory_is_said_before_anything_is_sent(device, limit, stage, hint):
    plan = gr.plan_registration(head(), head(0.05), stage, device=device)
    limit(plan.bytes - 1)
    before = _engine.memory_in_use(device)
    _engine.count_most_memory_from_now(device)
    short = gr.plan_registration(head(), head(0.05), stage, device=device)
    assert not short.fits and short.room == plan.bytes - 1
    with pytest.raises(gr.OutOfMemoryError, match=hint) as caught:
        gr.register(head(), head(0.05), stage, device=device)
    assert isinstance(caught.value, MemoryError)
    assert _engine.most_memory_in_use(device) == before
    said = str(caught.value)
    assert f"{plan.bytes / 2**20:.2f} MiB" in said and device in said
    # A plan that is said to fit does fit.
    promised = float(re.search(r"would hold ([0-9.]+) MiB$", said)[1])
    assert promised * 2**20 <= plan.bytes


@pytest.mark.parametrize(
    "stage",
    [stages.Greedy(iterations=ITERATIONS), stages.SyN(iterations=ITERATIONS), stages.Velocity(iterations=ITERATIONS)],
    ids=lambda stage: stage.name,
)
def test_what_just_fits_runs(device, limit, stage):
    fixed, moving = head(), head(0.05)
    plan = gr.plan_registration(fixed, moving, stage, device=device)
    expected = gr.register(fixed, moving, stage, device=device).transform.array
    # Bytes that a plan leaves out, such as the Gaussians' weights.
    limit(plan.bytes + 4096)
    found = gr.register(fixed, moving, stage, device=device)
    np.testing.assert_array_equal(found.transform.array, expected)


#: Every kind of engine.
EVERY = [*(scheme(iterations=ITERATIONS) for scheme in DENSE.values()), stages.FreeForm(levels=2, iterations=2), stages.Affine()]


def outlying_heads(dtype, shape=SHAPE):
    return [with_outliers(head(shift, dtype, shape)) for shift in (0.0, 0.05)]


def beside(stage, device, otherwise):
    """Returns the bytes that may be held beside a plan: a linear stage's sums of poses."""
    if stage.name != "affine":
        return otherwise
    return 2**20 if device == "host" else 2**27


def points_of(result):
    return result.transform.matrix if hasattr(result.transform, "matrix") else result.transform.array


def every_type_of_one(dtypes):
    """Returns stages and types of values: the first stage with each type, and each other one with the last type but one, since a copy's bytes
    do not depend on who makes it. The last two, which are of no dense scheme, have the smallest and the largest type, too."""
    ends = [(stage, dtype) for stage in EVERY[-2:] for dtype in (dtypes[0], dtypes[-1])]
    return [*((EVERY[0], dtype) for dtype in dtypes), *((stage, dtypes[-2]) for stage in EVERY[1:]), *ends]


@pytest.mark.parametrize("stage, dtype", every_type_of_one([np.uint16, np.float32, np.float64]))
def test_copies_without_outliers_are_planned(device, stage, dtype):
    fixed, moving = outlying_heads(dtype, (60, 64, 62))
    plan = gr.plan_registration(fixed, moving, stage, device=device)
    most, result = counted(device, lambda: gr.register(fixed, moving, stage, device=device))
    assert len([text for text in result.warnings if "registered as their neighbours" in text]) == 2
    assert 0.95 * plan.bytes <= most <= plan.bytes + beside(stage, device, 0.05 * plan.bytes)
    clean = [image.like(np.minimum(image.array, np.quantile(image.array, 0.999).astype(dtype))) for image in (fixed, moving)]
    without = gr.plan_registration(*clean, stage, device=device).bytes
    assert plan.stages[0].changes.get("images without outliers or values beyond their range", plan.bytes) == without
    # A linear stage makes floats of short integers in any case.
    assert without == plan.bytes if stage.name == "affine" and dtype == np.uint16 else without < plan.bytes


def test_copies_without_outliers_of_further_pairs_are_planned(device):
    others = [gr.ImagePair(*outlying_heads(np.float32)), gr.ImagePair(*outlying_heads(np.uint16), fixed_range="all")]
    for stage in (EVERY[0], EVERY[3]):
        plan, result = check(device, stage, *outlying_heads(np.uint16), within=0.05, also=others)
        assert len([text for text in result.warnings if "registered as their neighbours" in text]) == 5
        assert plan.stages[0].changes["images without outliers or values beyond their range"] < plan.bytes


@pytest.mark.parametrize("stage, dtype", every_type_of_one([np.uint8, np.uint16, np.float32, np.float64]))
def test_copies_within_a_range_are_planned(device, stage, dtype):
    fixed, moving = outlying_heads(dtype, (60, 64, 62))
    ends = tuple(np.quantile(fixed.array, (0, 0.999)).tolist())
    # A range of all values makes no copy.
    for values in (ends, "all"):
        ranged = replace(stage, fixed_range=values, moving_range=values)
        plan = gr.plan_registration(fixed, moving, ranged, device=device)
        most, _ = counted(device, lambda ranged=ranged: gr.register(fixed, moving, ranged, device=device))
        assert 0.95 * plan.bytes <= most <= plan.bytes + beside(stage, device, 0.05 * plan.bytes)


@pytest.mark.parametrize("knows", [True, False])
@pytest.mark.parametrize("stage, dtype", [*((stage, np.uint16) for stage in EVERY[:-1]), *((stage, np.float64) for stage in EVERY)])
def test_too_little_memory_for_copies_without_outliers_is_said_before_they_are_made(device, limit, monkeypatch, stage, dtype, knows):
    """A plan does not know of outliers where values are on a GPU already."""
    fixed, moving = outlying_heads(dtype, (60, 64, 62))
    expected = points_of(gr.register(fixed, moving, stage, device=device))
    whole = gr.plan_registration(fixed, moving, stage, device=device).bytes
    if not knows:
        monkeypatch.setattr(Pair, "ranges", [None, None])
    plan = gr.plan_registration(fixed, moving, stage, device=device)
    room = whole - fixed.array.itemsize * fixed.array.size
    assert plan.bytes == whole if knows else plan.bytes < room
    limit(room)
    assert gr.plan_registration(fixed, moving, stage, device=device).fits is not knows
    before = _engine.memory_in_use(device)
    _engine.count_most_memory_from_now(device)
    iterations = []
    with pytest.raises(gr.OutOfMemoryError) as caught:
        gr.register(fixed, moving, stage, device=device, progress=lambda progress: iterations.append(progress.iteration or 0))
    # A linear stage says that it begins with levels. Images were looked at, by floats of one of them.
    assert sum(iterations) == 0
    looked = 0 if knows else plan.images + 2 * fixed.array.nbytes + 2**18
    assert _engine.most_memory_in_use(device) - before <= looked
    number = r"([0-9.]+) MiB"
    text = str(caught.value)
    del caught  # whose frames hold images
    # An engine's error names the stage that it computes.
    name = "" if knows else f"{stage.name}: "
    said = re.fullmatch(
        rf"{name}out of memory on {device}: the registration would hold {number}, and there is room for {number}; {number} are missing: "
        rf"images without outliers or values beyond their range would hold {number}",
        text,
    )
    numbers = [float(text) * 2**20 for text in said.groups()]
    assert numbers[:3] == pytest.approx([whole, room, whole - room], abs=0.006 * 2**20) and numbers[3] < room
    # Nothing is held behind it, and the device is usable.
    assert _engine.memory_in_use(device) == before
    limit(whole + (2**27 if stage.name == "affine" else 8192))
    np.testing.assert_array_equal(points_of(gr.register(fixed, moving, stage, device=device)), expected)


def test_an_engine_is_usable_where_there_was_no_room_for_copies(device):
    """The engine keeps the arrays of its last registration, and frees them before it says that there is no room."""
    gr.release_memory(device)
    pairs = [read_pair(*images, None, None, {}) for images in ((head(), head(0.05)), outlying_heads(np.uint16))]
    (settings,) = stages.read_settings([EVERY[0]], pairs[0].fixed.spacing.tolist())
    sides = [pair.load(device, keeps_short=True) for pair in pairs]
    plan = gr.plan_registration(pairs[0].fixed, pairs[0].moving, EVERY[0], device=device)
    engine = _engine.DiffeomorphicRegistration(device)
    before = _engine.memory_in_use(device)

    def register(number):
        engine.register(3, *sides[number], _engine.Chain(3), settings, None)
        return engine.take_displacements(engine_size(pairs[0].fixed), _engine.DeformationField.Forward)

    expected = [register(number) for number in (0, 1)]
    try:
        _engine.set_memory_limit(device, before + plan.bytes - plan.images + 8192)
        np.testing.assert_array_equal(register(0), expected[0])
        with pytest.raises(gr.OutOfMemoryError, match="without outliers"):
            register(1)
        assert _engine.memory_in_use(device) <= before + 64
        np.testing.assert_array_equal(register(0), expected[0])
    finally:
        _engine.set_memory_limit(device, 0)
    np.testing.assert_array_equal(register(1), expected[1])


def test_one_copy_fits_where_two_do_not(device, limit):
    fixed, moving = outlying_heads(np.uint16)
    stage = EVERY[0]
    one = gr.plan_registration(fixed, head(0.05, np.uint16), stage, device=device)
    both = gr.plan_registration(fixed, moving, stage, device=device)
    assert both.bytes > one.bytes
    limit(one.bytes + 4096)
    gr.register(fixed, head(0.05, np.uint16), stage, device=device)
    with pytest.raises(gr.OutOfMemoryError, match="without outliers"):
        gr.register(fixed, moving, stage, device=device)
    limit(both.bytes + 4096)
    gr.register(fixed, moving, stage, device=device)


def test_what_an_error_names_fits(device, limit):
    stage = stages.Greedy(iterations=ITERATIONS, optimizer="adam")
    plan = gr.plan_registration(head(), head(0.05), stage, device=device)
    (what, size), *_ = plan.stages[0].changes.items()
    assert "longest vector" in what
    limit(size + 4096)
    with pytest.raises(gr.OutOfMemoryError, match="longest vector"):
        gr.register(head(), head(0.05), stage, device=device)
    gr.register(head(), head(0.05), stages.Greedy(iterations=ITERATIONS), device=device)


def test_idle_memory_counts_as_available(device, limit):
    stage = stages.Greedy(iterations=ITERATIONS)
    plan = gr.plan_registration(head(), head(0.05), stage, device=device)
    limit(plan.bytes + 4096)
    for _ in range(2):
        gr.register(head(), head(0.05), stage, device=device)
    assert _engine.idle_memory_in_use(device) > 0.5 * plan.bytes
    again = gr.plan_registration(head(), head(0.05), stage, device=device)
    assert again.fits and again.bytes == plan.bytes


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="no Linux")
def test_the_host_has_no_more_room_than_is_available():
    def available():
        (kibibytes,) = re.findall(r"MemAvailable: +([0-9]+) kB", Path("/proc/meminfo").read_text())
        return int(kibibytes) * 1024

    gr.release_memory("host")
    seen = [available()]
    room = gr.plan_registration(head(), head(0.05), "greedy", device="host").room
    seen.append(available())
    assert 0 < room <= max(seen) + 2**26 and room < _engine.get_host_memory_limit()
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert _engine.get_host_memory_limit() <= physical and f"{physical >> 30} GiB" in gr._devices.describe_device("host").description


def test_a_volume_of_a_thousand_voxels_an_axis_is_planned_without_having_it(device):
    """An H200 has 139 bytes for each of them."""
    size = 1024
    grid = _engine.make_map(np.eye(3).ravel().tolist(), [0, 0, 0])
    side = _engine.PlannedSide(device, "uint8", (size,) * 3, False, grid, device != "host", False)
    held = {}
    for name, stage in DENSE.items():
        plan = _engine.DiffeomorphicRegistration(device).plan(3, side, side, _engine.Chain(3), stage().settings([1.0] * 3))
        held[name] = plan.bytes / size**3
        assert list(plan.levels[-1].size) == [size] * 3
    assert held["greedy"] < 72 and held["velocity"] < 80 and held["syn"] < 110


def test_the_command_prints_the_plan(device, tmp_path, capfd):
    for name, shift in (("fixed", 0.0), ("moving", 0.05)):
        gr.write_image(tmp_path / f"{name}.nii", head(shift))
    files = [str(tmp_path / f"{name}.nii") for name in ("fixed", "moving")]
    line = ["register", *files, "--transform", "rigid,greedy:iterations=2x2", "--device", device, "--plan"]
    code, printed, _ = gpureg(capfd, *line)
    assert code == 0
    plan = gr.plan_registration(head(), head(0.05), ["rigid", stages.Greedy(iterations=(2, 2))], device=device)
    assert printed.splitlines()[0].split() == ["stage", "level", "grid", "GiB", "bytes", "a", "voxel"]
    assert re.search(rf"greedy +1 +31 x 34 x 29 +{plan.stages[1].bytes / 2**30:.4f}", printed)
    assert "fits" in printed
    begun = [*line, "--initial", str(tmp_path / "start.nii.gz")]
    gr.write_transform(tmp_path / "start.nii.gz", make_starts()["field"])
    begun[begun.index("rigid,greedy:iterations=2x2")] = "greedy:iterations=2x2"
    begins = gr.plan_registration(head(), head(0.05), stages.Greedy(iterations=(2, 2)), device=device, initial=make_starts()["field"])
    assert gpureg_json(capfd, *begun)["bytes"] == begins.bytes > plan.stages[1].bytes
    reported = gpureg_json(capfd, *line)
    assert reported["bytes"] == plan.bytes and reported["fits"] is True
    assert reported["stages"][1]["levels"][1]["size"] == [31, 34, 29]
