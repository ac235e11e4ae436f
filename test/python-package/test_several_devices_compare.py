# SPDX-License-Identifier: Apache-2.0
"""Tests what several devices compare together: by each similarity, and several pairs of images. A machine with one device names it several
times."""

import gpuregistration as gr
import numpy as np
import pytest
from command_line import gpureg_json
from gpuregistration import stages
from long_heads import box, greedy, head, register, watch_memory
from plan_data import counted

SIMILARITIES = [name for name in stages.FIELD_SIMILARITIES if name != "neighborhood_correlation"]


def also(**settings):
    return [
        gr.ImagePair(head(0.05), head(0.15), metric="normalized_mutual_information", bins=24, weight=0.6, fixed_mask=box(2), **settings),
        gr.ImagePair(head(0.0), head(0.1), metric="mean_squares", weight=0.4),
    ]


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_each_similarity_finds_the_deformation_of_one_device(device, similarity):
    stage = greedy(similarity=similarity, **({"bins": 24} if similarity in ("mattes_mutual_information", "correlation_ratio") else {}))
    one, several = (register(stage, devices) for devices in (device, [device] * 3))
    assert np.abs(one.transform.array).max() > 0.3
    np.testing.assert_allclose(several.transform.array, one.transform.array, rtol=0, atol=1e-4)
    for ours, its in zip(several.stages[0].levels, one.stages[0].levels):
        np.testing.assert_allclose(ours.costs, its.costs, rtol=0, atol=1e-5)


@pytest.mark.parametrize("stage", [greedy(), greedy(optimizer="adam", radius=4), stages.SyN(iterations=(4, 3))], ids=repr)
def test_several_pairs_find_the_deformation_of_one_device(device, stage):
    one, several = (register(["rigid", stage], devices, also=also()) for devices in (device, [device, device]))
    alone = register(["rigid", stage], device)
    found, expected, without = (result.transform.transforms[0].array for result in (several, one, alone))
    assert np.abs(expected - without).max() > 0.05
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)
    np.testing.assert_allclose(several.stages[-1].levels[-1].costs, one.stages[-1].levels[-1].costs, rtol=0, atol=1e-5)


def test_stages_say_which_devices_computed_them(device):
    # Four devices move images by SyN if there is one pair of them, and else two.
    transform = ["rigid", greedy(iterations=(2, 1)), stages.SyN(iterations=(2, 1), similarity="mean_squares"), stages.Velocity(iterations=1)]
    result = register(transform, ["host"] * 3, also=also())
    assert [len(stage.devices) for stage in result.stages] == [1, 3, 2, 1]
    assert [one["devices"] for one in (stage.numbers() for stage in result.stages)] == [stage.devices for stage in result.stages]
    assert register("rigid", device).stages[0].devices == [device]


def test_a_pair_without_weight_leaves_the_devices_as_they_are():
    transform, pair = stages.SyN(iterations=(2, 1), shrink_factors=(2, 1)), gr.ImagePair(head(), head(0.1), weight=0, metric="mean_squares")
    plan = gr.plan_registration(head(), head(0.1), transform, device=["host"] * 4, also=pair)
    assert len(plan.others) == 3
    alone, beside = (register(transform, ["host"] * 4, also=also) for also in (None, pair))
    assert beside.stages[0].devices == alone.stages[0].devices == ["host"] * 4
    np.testing.assert_array_equal(beside.transform.array, alone.transform.array)


@pytest.mark.parametrize("stage", [greedy(similarity="mattes_mutual_information"), greedy(), stages.SyN(iterations=(3, 2))], ids=repr)
def test_what_is_planned_of_several_pairs_is_held(device, stage):
    plan = gr.plan_registration(head(), head(0.1), stage, device=[device, device], also=also())
    (other,) = plan.others
    assert plan.fits and other.fits
    if device != "host":
        # The host's images are read where they are.
        assert plan.images == other.images > gr.plan_registration(head(), head(0.1), stage, device=[device, device]).images
    most, _ = counted(device, lambda: register(stage, [device, device], also=also()))
    assert plan.bytes + other.bytes == pytest.approx(most, rel=0.05)


def test_further_pairs_are_on_a_device_while_they_are_compared(device):
    if device == "host":
        pytest.skip("images on the host are read where they are")
    held, look = watch_memory(device)
    velocity = stages.Velocity(iterations=(2, 1))
    ffd = stages.FreeForm(levels=1, iterations=2, spacing=8)
    register([greedy(), ffd, greedy(iterations=2), velocity], ["host", device], progress=look, also=also())
    images = 2 * head().array.nbytes
    assert min(held[0]) >= 3 * images and min(held[2]) >= 3 * images
    # All are there for the next stage, and nothing behind the last one that needs them.
    assert 3 * images <= min(held[1]) == max(held[1]) < min(min(held[0]), min(held[2])) and max(held[3]) == 0


def test_a_further_pair_is_named_that_a_device_does_not_compare():
    with pytest.raises(gr.BadInputError, match="pair 2.*constant|constant.*pair 2"):
        register(greedy(), ["host", "host"], also=gr.ImagePair(head().like(np.zeros_like(head().array)), head()))


def test_the_command_compares_several_pairs_on_several_devices(device, tmp_path, capfd):
    files = [tmp_path / f"{n}.nii" for n in range(4)]
    for file, shift in zip(files, (0.0, 0.1, 0.05, 0.15)):
        gr.write_image(file, head(shift))
    found = {}
    for name, devices in (("one", device), ("several", f"{device},{device}")):
        line = ["register", *files[:2], "--also", *files[2:], "--transform", "greedy:iterations=4x3", "-o", tmp_path / f"{name}.nii"]
        found[name] = gpureg_json(capfd, *line, "--device", devices)
    assert found["several"]["stages"][0]["devices"] == [device, device]
    one, several = (gr.read_image(tmp_path / f"{name}.nii").array.astype(float) for name in found)
    np.testing.assert_allclose(several, one, rtol=0, atol=1e-3 * np.ptp(one))
