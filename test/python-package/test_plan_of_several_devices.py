# SPDX-License-Identifier: Apache-2.0
"""Tests the plans of several devices together, and their errors. A machine with one device names it several times."""

import gpuregistration as gr
import numpy as np
import pytest
from gpuregistration import _engine, stages
from gpuregistration._sides import Pair
from long_heads import SHAPE, box, greedy, head, register, skip_many_queues
from plan_data import counted, with_outliers


@pytest.mark.parametrize(
    "transform",
    [greedy(), greedy(optimizer="adam"), [greedy(), greedy(iterations=(2, 1))]],
    ids=repr,
)
@pytest.mark.parametrize("masks", [{}, {"fixed_mask": box(2), "moving_mask": box(1)}], ids=["without", "masks"])
def test_what_is_planned_is_held(device, transform, masks):
    alone = gr.plan_registration(head(), head(0.1), transform, device=device, **masks)
    assert alone.others == []
    plan = gr.plan_registration(head(), head(0.1), transform, device=[device, device], **masks)
    (other,) = plan.others
    assert plan.fits and other.fits
    # Slabs have 80 planes each, and a halo of 16.
    assert plan.stages[-1].levels[-1].size == other.stages[-1].levels[-1].size == (*SHAPE[:0:-1], 96)
    assert plan.bytes < alone.bytes and plan.images == other.images == alone.images
    most, _ = counted(device, lambda: register(transform, [device, device], **masks))
    assert plan.bytes + other.bytes == pytest.approx(most, rel=0.05)


def test_a_plan_of_several_devices(device):
    plan = gr.plan_registration(head(), head(0.1), ["affine", greedy(), "rigid"], device=["host", device, device])
    assert plan.device == "host" and [stage.name for stage in plan.stages] == ["affine", "greedy", "rigid"]
    assert [other.device for other in plan.others] == [device, device]
    assert all([stage.name for stage in other.stages] == ["greedy"] and other.others == [] for other in plan.others)
    tables = str(plan).split("\n\n")
    assert [table.splitlines()[0] for table in tables] == ["host:", f"{device}:", f"{device}:"]
    assert all("fits" in table.splitlines()[-1] for table in tables)
    assert f"others=[Plan(stages=[greedy], bytes={plan.others[0].bytes}," in repr(plan)
    plan.check()


def test_a_device_that_is_named_twice_has_room_for_both(device, limit):
    devices = [device, device]
    plan = gr.plan_registration(head(), head(0.1), greedy(), device=devices)
    expected = register(greedy(), device).transform.array
    both = plan.bytes + plan.others[0].bytes
    limit(both - 1)
    before = _engine.memory_in_use(device)
    _engine.count_most_memory_from_now(device)
    short = gr.plan_registration(head(), head(0.1), greedy(), device=devices)
    assert short.bytes < short.room and not short.fits and not short.others[0].fits
    assert "does not fit: 0.0000 GiB are missing" in str(short)
    with pytest.raises(gr.OutOfMemoryError, match="half as many voxels"):
        register(greedy(), devices)
    assert _engine.most_memory_in_use(device) == before
    limit(both + 2 * 4096)
    np.testing.assert_array_equal(register(greedy(), devices).transform.array, expected)


@pytest.mark.parametrize("stage", [greedy(), stages.SyN(iterations=(3, 2))], ids=lambda stage: stage.name)
def test_a_device_that_is_named_twice_and_has_far_too_little(device, limit, stage):
    devices = [device, device]
    plan = gr.plan_registration(head(), head(0.1), stage, device=devices)
    both = plan.bytes + plan.others[0].bytes
    changes = {what: size + plan.others[0].stages[0].changes[what] for what, size in plan.stages[0].changes.items()}
    # Less than one part takes, and just enough for the change that takes least.
    room = min(changes.values())
    assert room < plan.bytes
    limit(room)
    short = gr.plan_registration(head(), head(0.1), stage, device=devices)
    with pytest.raises(gr.OutOfMemoryError) as caught:
        register(stage, devices)
    what = next(what for what, size in changes.items() if size <= room)
    mebibytes = [f"{size / 2**20:.2f} MiB" for size in (both, room, both - room, changes[what])]
    assert str(caught.value) == (
        f"out of memory on {device}, which has 2 parts: the registration would hold {mebibytes[0]}, and there is room for {mebibytes[1]}; "
        f"{mebibytes[2]} are missing: {what} would hold {mebibytes[3]}"
    )
    gibibytes = [f"{size / 2**30:.4f} GiB" for size in (both - room, changes[what])]
    assert f"does not fit: {gibibytes[0]} are missing" in str(short)
    assert f"{what} would hold {gibibytes[1]} by all 2 parts on {device}" in str(short)
    limit(room - 1)
    with pytest.raises(gr.OutOfMemoryError, match="take smaller images"):
        register(stage, devices)


@pytest.mark.parametrize("stage", [greedy(), stages.SyN(iterations=(3, 2))], ids=lambda stage: stage.name)
@pytest.mark.parametrize("count", [2, 4])
def test_copies_without_outliers_need_room_on_a_device_that_is_shared(device, limit, monkeypatch, count, stage):
    """The plan does not know of them here, as where values are not on the host."""
    skip_many_queues(device, count)
    images = [with_outliers(head(shift, np.uint16)) for shift in (0.0, 0.1)]
    devices = [device] * count
    whole = gr.plan_registration(*images, stage, device=devices)
    monkeypatch.setattr(Pair, "ranges", [None, None])
    plan = gr.plan_registration(*images, stage, device=devices)
    all_parts = sum(one.bytes for one in (plan, *plan.others))
    with_copies = sum(one.bytes for one in (whole, *whole.others))
    expected = gr.register(*images, stage, device=devices).transform.array
    limit(with_copies - 1024)
    assert gr.plan_registration(*images, stage, device=devices).fits
    before = _engine.memory_in_use(device)
    _engine.count_most_memory_from_now(device)
    with pytest.raises(gr.OutOfMemoryError, match=f"{device}, which has {count} parts: .* images without outliers .* would hold") as caught:
        gr.register(*images, stage, device=devices)
    assert f"hold {with_copies / 2**20:.2f} MiB" in str(caught.value) and f"hold {all_parts / 2**20:.2f} MiB" in str(caught.value)
    del caught  # whose frames hold images
    # Images were there, and floats of one of them in each part, but no copies.
    assert _engine.most_memory_in_use(device) - before < count * (plan.images + 5 * images[0].array.size)
    assert _engine.memory_in_use(device) == before
    limit(with_copies + count * 8192)
    np.testing.assert_array_equal(gr.register(*images, stage, device=devices).transform.array, expected)


def test_copies_without_outliers_need_room_on_each_device(device, limit, monkeypatch):
    if device == "host":
        pytest.skip("the first device is the host")
    monkeypatch.setattr(Pair, "ranges", [None, None])
    images = [with_outliers(head(shift, np.uint16)) for shift in (0.0, 0.1)]
    plan = gr.plan_registration(*images, greedy(), device=["host", device])
    limit(plan.others[0].bytes + 1024)
    assert gr.plan_registration(*images, greedy(), device=["host", device]).fits
    before = [_engine.memory_in_use(name) for name in ("host", device)]
    with pytest.raises(gr.OutOfMemoryError, match=f"out of memory on {device}: .* images without outliers") as caught:
        gr.register(*images, greedy(), device=["host", device])
    del caught  # whose frames hold images
    gr.release_memory("host")
    assert [_engine.memory_in_use(name) for name in ("host", device)] == before


@pytest.mark.parametrize("stage", [greedy(), stages.SyN(iterations=(3, 2))], ids=lambda stage: stage.name)
def test_copies_without_outliers_are_planned_for_each_part(device, stage):
    images = [with_outliers(head(shift, np.uint16)) for shift in (0.0, 0.1)]
    plan = gr.plan_registration(*images, stage, device=[device, device])
    most, _ = counted(device, lambda: gr.register(*images, stage, device=[device, device]))
    assert plan.bytes + plan.others[0].bytes == pytest.approx(most, rel=0.05)


def test_a_device_that_is_named_twice_holds_one_stage_at_a_time(device, limit):
    """A velocity, which the first device alone computes, holds more than its slab."""
    transform, devices = [greedy(iterations=1), stages.Velocity(iterations=1), greedy(iterations=1)], [device, device]
    plan = gr.plan_registration(head(), head(0.1), transform, device=devices)
    (other,) = plan.others
    held = [plan.stages[0].bytes + other.stages[0].bytes, plan.stages[1].bytes + other.images, plan.stages[2].bytes + other.stages[1].bytes]
    assert plan.stages[1].bytes > plan.stages[0].bytes and max(held) < plan.bytes + other.bytes
    limit(max(held))
    assert gr.plan_registration(head(), head(0.1), transform, device=devices).fits
    limit(max(held) - 1)
    assert not gr.plan_registration(head(), head(0.1), transform, device=devices).fits


def test_a_further_device_with_too_little_memory_is_named(device, limit):
    if device == "host":
        pytest.skip("the first device is the host")
    devices = ["host", device]
    plan = gr.plan_registration(head(), head(0.1), ["rigid", greedy()], device=devices)
    limit(plan.others[0].bytes - 1)
    short = gr.plan_registration(head(), head(0.1), ["rigid", greedy()], device=devices)
    first, second = str(short).split("\n\n")
    assert not short.fits and first.endswith(": fits") and "does not fit" in second and short.bytes < short.room
    with pytest.raises(gr.OutOfMemoryError, match=device):
        short.check()
    with pytest.raises(gr.OutOfMemoryError, match=device):
        register(["rigid", greedy()], devices)
