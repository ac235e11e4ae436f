# SPDX-License-Identifier: Apache-2.0
"""Tests registration by several devices together: the bits of one device, errors, and the command. A machine with one device names it several
times."""

import os
from types import SimpleNamespace

import gpuregistration as gr
import numpy as np
import pytest
from command_line import assert_fails, gpureg, gpureg_json
from gpuregistration import _engine, stages
from gpuregistration._gpu_arrays import GpuArray, _View
from gpuregistration._several_devices import choose_devices, devices_of
from gpuregistration._start import _find_name
from long_heads import SHAPE, box, greedy, head, register, skip_many_queues, watch_memory
from plan_data import counted

def fields_of(result):
    """Returns the arrays of a result's deformations, the last one first."""
    parts = getattr(result.transform, "transforms", [result.transform])
    return [part.array for part in parts if isinstance(part, gr.DisplacementField)]


@pytest.mark.parametrize("count", [2, 3, 4])
def test_several_devices_find_the_bits_of_one(device, count):
    skip_many_queues(device, count)
    one = register(greedy(), device)
    several = register(greedy(), [device] * count)
    assert np.abs(one.transform.array).max() > 0.3
    np.testing.assert_array_equal(several.transform.array, one.transform.array)
    np.testing.assert_array_equal(several.warped.array, one.warped.array)
    assert several.device == device and several.devices == [device] * count
    assert several.stages[0].smallest_determinant == one.stages[0].smallest_determinant
    for ours, its in zip(several.stages[0].levels, one.stages[0].levels):
        assert ours.voxels == its.voxels
        np.testing.assert_allclose(ours.costs, its.costs, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "transform",
    [
        ["rigid", greedy()],
        [greedy(), greedy(iterations=(3, 2))],
        [greedy(), stages.FreeForm(levels=1, iterations=2, spacing=8), greedy(iterations=3)],
        [greedy(iterations=5, optimizer="adam", step=0.5)],
        [greedy(radius=3, update_sigma=2.5, weights=(1, 0, 1), convergence_window=3, convergence_threshold=0.01)],
    ],
    ids=repr,
)
def test_stages_and_settings(device, transform):
    one, several = (register(transform, devices) for devices in (device, [device, device]))
    assert len(fields_of(one)) == sum(isinstance(stage, stages.Greedy) for stage in transform)
    for ours, its in zip(fields_of(several), fields_of(one)):
        # The maps of the fields that a stage begins with may differ by rounding.
        np.testing.assert_allclose(ours, its, rtol=0, atol=0 if len(fields_of(one)) == 1 else 1e-5)


@pytest.mark.parametrize("average", [0, 1])
def test_syn_moves_one_image_on_each_of_two_devices(device, average):
    syn = stages.SyN(iterations=(6, 4), similarity="mattes_mutual_information", average=average, shrink_factors=(4, 2))
    one, several = (register(["rigid", syn], devices) for devices in (device, [device, device]))
    assert np.abs(fields_of(one)[0]).max() > 0.3
    np.testing.assert_array_equal(fields_of(several)[0], fields_of(one)[0])
    assert several.stages[-1].own_inverse._kept.on_device.device == device
    np.testing.assert_array_equal(several.stages[-1].own_inverse.array, one.stages[-1].own_inverse.array)
    for ours, its in zip(several.inverse_errors, one.inverse_errors):
        # Sums are of other parts where scratch memory is of another size.
        assert ours == its._replace(mean=ours.mean) and ours.mean == pytest.approx(its.mean, rel=1e-5)
    assert several.stages[-1].levels[-1].costs == one.stages[-1].levels[-1].costs
    np.testing.assert_array_equal(several.warped.array, one.warped.array)


@pytest.mark.parametrize("count", [2, 4])
def test_where_the_first_device_has_no_room_the_host_takes_the_fields_of_syn(device, count, monkeypatch):
    skip_many_queues(device, count)
    syn = stages.SyN(iterations=(4, 3), shrink_factors=(2, 1))
    kept = register(syn, [device] * count).stages[-1]

    def refuse(self, size):
        raise gr.OutOfMemoryError("no room")

    monkeypatch.setattr(_engine.TeamRegistration, "get_field", refuse)
    monkeypatch.setattr(_engine.TeamRegistration, "get_inverse", refuse)
    taken = register(syn, [device] * count).stages[-1]
    for name in ("transform", "own_inverse"):
        assert getattr(taken, name)._kept is None and getattr(kept, name)._kept is not None
        np.testing.assert_array_equal(getattr(taken, name).array, getattr(kept, name).array)
    assert taken.inverse_errors == kept.inverse_errors


def test_stages_use_their_number_of_devices(device):
    # "greedy" uses all three devices, "syn" two, and "velocity" one.
    transform = [greedy(iterations=(3, 2)), stages.SyN(iterations=(3, 2)), stages.Velocity(iterations=(3, 2))]
    one, several = (register(transform, devices) for devices in (device, [device, device, device]))
    for ours, its in zip(fields_of(several), fields_of(one)):
        np.testing.assert_array_equal(ours, its)
    inverses = [result.stages[-1].own_inverse.array for result in (several, one)]
    np.testing.assert_array_equal(*inverses)


@pytest.mark.parametrize("count", [4, 5])
def test_syn_cuts_both_sides_on_four_devices(device, count):
    skip_many_queues(device, count)
    syn = stages.SyN(iterations=(4, 3), shrink_factors=(2, 1))
    one, several = (register(["rigid", syn], devices) for devices in (device, [device] * count))
    assert np.abs(fields_of(one)[0]).max() > 0.3
    np.testing.assert_array_equal(fields_of(several)[0], fields_of(one)[0])
    np.testing.assert_array_equal(several.stages[-1].own_inverse.array, one.stages[-1].own_inverse.array)
    np.testing.assert_allclose(several.stages[-1].levels[-1].costs, one.stages[-1].levels[-1].costs, rtol=0, atol=1e-6)
    plan = gr.plan_registration(head(), head(0.1), ["rigid", syn], device=[device] * count)
    assert len(plan.others) == 3  # a fifth device computes nothing


@pytest.mark.parametrize("average", [0, 1])
def test_the_plan_of_syn_on_four_devices_holds_its_inverse(average):
    syn = stages.SyN(iterations=(2, 2), shrink_factors=(2, 1), average=average)
    images = head(shape=(256, 48, 50)), head(0.1, shape=(256, 48, 50))
    for devices in ([["host"]] if average == 0 else []) + [["host"] * 2, ["host"] * 4]:
        plan = gr.plan_registration(*images, syn, device=devices)
        planned = sum(one.bytes for one in (plan, *plan.others))
        held, _ = counted("host", lambda devices=devices: gr.register(*images, syn, device=devices))
        assert held == pytest.approx(planned, rel=0.05), devices


def test_a_team_registers_images_of_another_size():
    # The inverse of the second run is larger than the slabs' array of the first one, and its last level makes no iteration.
    small, large = (80, 12, 12), (40, 96, 96)
    gr.register(head(shape=small), head(0.1, shape=small), stages.SyN(iterations=(2, 1), shrink_factors=(2, 1)), device=["host"] * 4)
    syn = stages.SyN(iterations=(3, 0), shrink_factors=(2, 1))
    one, several = (gr.register(head(shape=large), head(0.1, shape=large), syn, device=devices) for devices in ("host", ["host"] * 4))
    np.testing.assert_array_equal(several.stages[-1].own_inverse.array, one.stages[-1].own_inverse.array)


def test_a_forked_process_may_drop_a_team(device):
    team = _engine.TeamRegistration([device, device])
    child = os.fork()
    if child == 0:
        del team
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    team.give_back()
    with pytest.raises(gr.BadInputError, match="given back"):
        team.take_inverse((1, 1, 1))


def test_the_number_of_devices_of_a_stage():
    def count(stage, devices, dimension=3, further=0):
        return len(devices_of(stage, ["host"] * devices, dimension, further))

    syn, mattes = stages.SyN(), stages.SyN(similarity="mattes_mutual_information")
    assert [count(syn, devices) for devices in (1, 2, 3, 4, 5, 6)] == [1, 2, 2, 4, 4, 6]
    assert [count(mattes, devices) for devices in (1, 2, 4)] == [1, 2, 2] and count(syn, 4, 2) == 2 and count(syn, 4, 3, 1) == 2
    assert count(stages.Greedy(), 5) == 5 and count(stages.Velocity(), 5) == count(stages.Affine(), 5) == 1


@pytest.mark.parametrize("dtype", [np.int16, np.float32, np.float64])
def test_types_masks_and_a_start(device, dtype):
    start = gr.Affine(np.eye(3), [0.4, -0.2, 0.7])
    more = {"fixed_mask": box(2), "moving_mask": box(1), "initial": start}
    one, several = (gr.register(head(0.0, dtype), head(0.1, dtype), greedy(), device=devices, **more) for devices in (device, [device, device]))
    assert np.abs(fields_of(one)[0]).max() > 0.3
    np.testing.assert_array_equal(fields_of(several)[0], fields_of(one)[0])


@pytest.mark.parametrize("numbers", [np.uint16, np.int16])
@pytest.mark.parametrize("stage", [greedy(), stages.SyN(iterations=(4, 3))], ids=lambda stage: stage.name)
def test_short_integers_and_floats_have_the_same_bits(device, stage, numbers):
    found = []
    for dtype in (numbers, np.float32):
        images = [head(shift, dtype, numbers=numbers) for shift in (0.0, 0.1)]
        found.append(gr.register(*images, stage, device=[device, device]).transform.array)
    assert np.abs(found[0]).max() > 0.3
    np.testing.assert_array_equal(*found)


def test_volumes_that_are_too_short_are_registered_whole(device):
    images = head(shape=(40, 21, 25)), head(0.1, shape=(40, 21, 25))
    one, several = (gr.register(*images, greedy(), device=devices) for devices in (device, [device, device]))
    np.testing.assert_array_equal(several.transform.array, one.transform.array)


def test_devices_of_two_kinds(device):
    if device == "host":
        pytest.skip("the host and another device are of two kinds")
    one, several = register(greedy(), device), register(greedy(), [device, "host"])
    assert several.devices == [device, "host"]
    np.testing.assert_allclose(several.transform.array, one.transform.array, rtol=0, atol=1e-4)


def test_one_device_in_a_list_is_that_device(device):
    one = register(["rigid", stages.SyN(iterations=(3, 2))], device)
    for named in ([device], (device,), [next(found for found in gr.devices() if found.name == device)]):
        result = register(["rigid", stages.SyN(iterations=(3, 2))], named, also=gr.ImagePair(head(), head(0.1), weight=0))
        assert result.device == device and result.devices == [device] and f"device='{device}'" in repr(result)
        np.testing.assert_array_equal(fields_of(result)[0], fields_of(one)[0])
    assert f"devices=['{device}', '{device}']" in repr(register(greedy(iterations=1), [device, device]))


def test_further_devices_have_images_while_they_are_needed(device):
    if device == "host":
        pytest.skip("images on the host are read where they are")
    held, look = watch_memory(device)
    ffd = stages.FreeForm(levels=1, iterations=2, spacing=8)
    result = register(["rigid", greedy(), ffd, greedy(iterations=2), ffd], ["host", device], progress=look)
    images = 2 * head().array.nbytes
    assert max(held[0]) == 0
    # The first device may be ahead of the other one, which has the images by then.
    assert min(held[1]) >= images and min(held[3]) >= images
    assert max(held[1]) > 2 * images and max(held[3]) > 2 * images
    assert max(held[2]) == images
    assert max(held[4]) == 0 and result.device == "host"


def test_progress_ends_all_devices(device):
    expected = register(greedy(), [device, device]).transform.array
    seen = []

    def end(progress):
        seen.append((progress.level, progress.iteration, progress.find_cost()))
        if len(seen) == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        register(greedy(), [device, device], progress=end)
    assert [one[:2] for one in seen[:7]] == [("0", n) for n in range(6)] + [("1", 0)]
    assert all(np.isfinite(cost) for *_, cost in seen[1:6])
    seen.clear()
    np.testing.assert_array_equal(register(greedy(), [device, device]).transform.array, expected)


@pytest.mark.parametrize(
    "error, parts, transform, devices, more",
    [
        (gr.BadInputError, ["empty list"], greedy(), [], {}),
        (gr.BadInputError, ["3 among several"], greedy(), ["host", 3], {}),
        (gr.BadInputError, ["None among several"], greedy(), [None], {}),
        (gr.DeviceError, ["cuda:77", "there are"], greedy(), ["host", "cuda:77"], {}),
        (gr.BadInputError, ['"greedy"', "affine, ffd", "Name one device"], ["affine", "ffd"], ["host", "host"], {}),
        (gr.BadInputError, ['"syn"', "affine, velocity"], ["affine", "velocity"], ["host", "host"], {}),
        (gr.UnsupportedError, ["greedy: ", "discrete Gaussians"], ["rigid", greedy(smoothing="recursive")], ["host", "host"], {}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("call", [gr.register, gr.plan_registration])
def test_what_several_devices_do_not_do(call, error, parts, transform, devices, more):
    with pytest.raises(error) as caught:
        call(head(), head(0.1), transform, device=devices, **more)
    for part in parts:
        assert part in str(caught.value)


def test_images_of_two_dimensions_are_for_one_device():
    images = [gr.Image(head(shift).array[:, :, 12]) for shift in (0.0, 0.1)]
    with pytest.raises(gr.UnsupportedError, match="greedy: .*three dimensions"):
        gr.register(*images, greedy(), device=["host", "host"])
    assert np.abs(gr.register(*images, greedy(), device=["host"]).transform.array).max() > 0.1


def test_arrays_on_a_gpu_are_for_one_device():
    on_gpu = GpuArray(None, "cuda:0", _View(0, SHAPE, np.dtype(np.float32), True, None, None))
    side = SimpleNamespace(content=head().array)
    on_host = SimpleNamespace(fixed=side, moving=side, fixed_mask=None, moving_mask=None)
    for where in ("fixed", "moving", "fixed_mask", "moving_mask"):
        pair = SimpleNamespace(fixed=side, moving=side, fixed_mask=None, moving_mask=None)
        setattr(pair, where, on_gpu if "mask" in where else SimpleNamespace(content=on_gpu))
        name = f"The {where.split('_')[0]} (image|mask)"
        with pytest.raises(gr.BadInputError, match=f"{name} is on cuda:0, .* copy on the host"):
            choose_devices(["host", "host"], [pair], [greedy()])
        with pytest.raises(gr.BadInputError, match=f"{name} of pair 2 is on cuda:0, .* copy on the host"):
            choose_devices(["host", "host"], [on_host, pair], [greedy()])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("several")
    for name, shift in (("fixed", 0.0), ("moving", 0.1)):
        gr.write_image(folder / f"{name}.nii", head(shift))
    return folder / "fixed.nii", folder / "moving.nii"


LINE = ("--transform", "rigid,greedy:iterations=4x3")


def test_the_command_writes_the_files_of_one_device(device, files, tmp_path, capfd):
    found = {}
    for name, devices in (("one", device), ("several", f"{device},{device}")):
        folder = tmp_path / name
        folder.mkdir()
        outputs = ["-o", folder / "out.nii", "--output-field", folder / "warp.nii", "--output-transform", folder / "t.nii", "--report"]
        found[name] = gpureg_json(capfd, "register", *files, *LINE, *outputs, "--device", devices)
    assert found["one"]["devices"] == [device] and found["several"]["devices"] == [device, device]
    assert found["several"]["device"] == device and found["several"]["matrix"] is None
    for name in ("out.nii", "warp.nii", "t.nii"):
        assert (tmp_path / "several" / name).read_bytes() == (tmp_path / "one" / name).read_bytes(), name
    report = (tmp_path / "several" / "out.html").read_text("utf-8")
    assert f"--device {device},{device}" in report
    assert f"{device}, {device}: {gr._devices.describe_device(device).description}" in report


def test_the_command_says_which_devices_computed(device, files, tmp_path, capfd):
    code, printed, _ = gpureg(capfd, "register", *files, *LINE, "-o", tmp_path / "out.nii", "--device", f"{device},host")
    assert code == 0
    rigid, its = printed.splitlines()
    assert rigid.startswith("rigid: cost") and rigid.endswith(f" s on {device}")
    assert its.startswith("greedy: cost") and its.endswith(f" s on {device}, host")


def test_the_command_plans_for_each_device(device, files, capfd):
    line = ["register", *files, *LINE, "--plan", "--device", f"{device},host"]
    code, printed, _ = gpureg(capfd, *line)
    plan = gr.plan_registration(head(), head(0.1), ["rigid", stages.Greedy(iterations=(4, 3))], device=[device, "host"])
    assert code == 0 and printed.splitlines()[0] == f"{device}:" and printed.count("most") == 5
    assert printed.count("fits") == 2
    found = gpureg_json(capfd, *line)
    assert found["devices"] == [device, "host"] and found["device"] == device and found["fits"] is True
    assert found["bytes"] == plan.bytes and [other["bytes"] for other in found["others"]] == [plan.others[0].bytes]


def test_what_the_command_refuses(files, tmp_path, capfd):
    out = tmp_path / "out.nii"
    several = ["--device", "host,host"]
    assert_fails(capfd, 2, "--device host,host", "greedy", "affine", None, "register", *files, "--transform", "affine", "-o", out, *several)
    assert_fails(capfd, 2, "cuda:77", "there are", None, "register", *files, *LINE, "-o", out, "--device", "host,cuda:77")
    assert_fails(capfd, 2, 'no device ""', None, "register", *files, *LINE, "-o", out, "--device", "host,")
    recursive = ["--transform", "greedy:smoothing=recursive"]
    assert_fails(capfd, 1, "greedy: several devices", None, "register", *files, *recursive, "-o", out, *several, "--quiet")
    for command in (["apply", files[0], "-o", out], ["apply", files[0], "-o", tmp_path / "out.zarr"], ["compare", *files], ["bench"]):
        assert_fails(capfd, 2, "--device host,host names several devices", "register", None, *command, *several)
    assert list(tmp_path.iterdir()) == []


def test_the_first_device_starts_early():
    assert _find_name(["register", "a", "b", "--device", "cuda:1,cuda:0"]) == "cuda:1"
    assert _find_name(["register", "--device=opencl:0,host", "a", "b"]) == "opencl:0"
    assert _find_name(["register", "--device", "host"]) == "host"
