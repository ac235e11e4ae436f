# SPDX-License-Identifier: Apache-2.0
"""Tests the displacement fields that registrations leave on a device, of those that find an inverse two: they warp images without crossing
the bus, and are the vectors that users see, wherever and whenever these are asked for."""

import copy
import os
import pickle
import subprocess
import sys
import threading

import gpuregistration as gr
import numpy as np
import pytest
from conftest import make_head
from gpuregistration import _devices, _engine, _kept_fields, stages

STAGES = {
    "greedy": stages.Greedy(iterations=(3, 2)),
    "velocity": stages.Velocity(iterations=(3, 2)),
    "syn": stages.SyN(iterations=(3, 2)),
}
SHAPES = {2: dict(shape=(48, 44), spacing=(2.0, 2.0), origin=(-40.0, -45.0)), 3: {}}


def bend(point):
    return point + 2.0 * np.sin(np.roll(point, 1, axis=-1) / 16.0)


@pytest.fixture
def count(device):
    """Returns the bytes in use on the device, beside idle engines and what was there before."""
    gr.release_memory(device)
    before = _engine.memory_in_use(device)
    yield lambda: _engine.memory_in_use(device) - _engine.idle_memory_in_use(device) - before
    _engine.set_memory_limit(device, 0)
    gr.release_memory(device)


def heads(dimension=3):
    return make_head(**SHAPES[dimension]), make_head(bend, **SHAPES[dimension])


def register(device, stage="greedy", dimension=3, **more):
    return gr.register(*heads(dimension), STAGES[stage], device=device, **more)


def fields_of(result):
    """Returns the deformation and, where there is one, its own inverse."""
    last = result.stages[-1]
    return [last.transform] if last.own_inverse is None else [last.transform, last.own_inverse]


def sent(device):
    with _devices.borrow_engine(_engine.Resampler, device) as engine:
        return engine.statistics.bytes_up


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("dimension", [2, 3])
def test_warps_without_crossing_the_bus(device, stage, dimension):
    fixed, moving = heads(dimension)
    result = register(device, stage, dimension)
    warped, sent_then = result.warped.array, sent(device)
    field = result.transform
    copied = gr.DisplacementField(field.array, field.spacing, field.origin, field.direction)
    expected, sent_now = gr.resample(moving, copied, fixed, device=device).array, sent(device)
    np.testing.assert_array_equal(warped, expected)
    assert not np.array_equal(warped, moving.array)
    if device != "host" and _engine.has_doubles(device):
        # The image alone, and not four floats a vector.
        assert sent_then < moving.array.nbytes + 4096
        assert sent_now - sent_then == 16 * moving.array.size


@pytest.mark.parametrize("stage", ["syn", "velocity"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_an_inverse_warps_without_crossing_the_bus(device, stage, dimension):
    fixed, moving = heads(dimension)
    result = register(device, stage, dimension)
    warped, sent_then = gr.resample(fixed, result.inverse, moving, device=device).array, sent(device)
    assert result.inverse._kept.on_device is not None and result.inverse_errors == [result.inverse.inverse_errors]
    expected, sent_now = gr.resample(fixed, copy.copy(result.inverse), moving, device=device).array, sent(device)
    np.testing.assert_array_equal(warped, expected)
    assert not np.array_equal(warped, fixed.array)
    if device != "host" and _engine.has_doubles(device):
        assert sent_now - sent_then == 16 * fixed.array.size


@pytest.mark.parametrize("stage", STAGES)
def test_is_an_array_that_is_freed_on_the_device_when_it_is_asked_for(device, count, stage):
    copies = [field.array for field in fields_of(register(device, stage))]
    assert len(copies) == (1 if stage == "greedy" else 2)
    size = 12 * int(np.prod(copies[0].shape[:-1]))
    assert count() == 0
    result = register(device, stage)
    for number, (field, expected) in enumerate(zip(fields_of(result), copies)):
        assert count() == (len(copies) - number) * size
        array = field.array
        assert array.dtype == np.float32 and array.shape == result._pair.fixed.shape + (3,) and array is field.array
        np.testing.assert_array_equal(array, expected)
    assert count() == 0
    result = register(device, stage)
    assert count() == len(copies) * size
    del result, field
    assert count() == 0


@pytest.mark.parametrize("stage", ["syn", "velocity"])
def test_what_is_planned_holds_the_inverse(device, count, stage):
    plan = gr.plan_registration(*heads(), STAGES[stage], device=device)
    expected = [field.array for field in fields_of(register(device, stage))]
    # Again, by the engine that has given its arrays away.
    for _ in range(2):
        before = _engine.memory_in_use(device) - _engine.idle_memory_in_use(device)
        _engine.count_most_memory_from_now(device)
        result = register(device, stage)
        # Single numbers are not planned.
        assert _engine.most_memory_in_use(device) - before == pytest.approx(plan.bytes, abs=2048)
        for field, array in zip(fields_of(result), expected):
            np.testing.assert_array_equal(field.array, array)


class LostField:
    """A field on a device that is gone."""

    device = "cuda:7"
    bytes = 0

    def download(self):
        raise gr.DeviceLostError("cuda:7 is lost")


def test_a_lost_device_ends_no_work_on_others(device):
    lost = _kept_fields.KeptField(LostField())
    assert np.isfinite(register(device).warped.array).all()
    assert gr.plan_registration(*heads(), "greedy", device=device).stages[0].bytes > 0
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    with pytest.raises(gr.DeviceLostError):
        lost.vectors()


def test_fields_of_one_result_alone_are_kept(device, count):
    first = register(device)
    second = register(device, "velocity")
    assert count() == sum(field._kept.on_device.bytes for field in fields_of(second))
    assert first.transform._kept.on_device is None
    gr.release_memory(device)
    assert count() == 0
    expected = register(device), register(device, "velocity")
    for found, wanted in zip((first, second), expected):
        np.testing.assert_array_equal(found.transform.array, wanted.transform.array)
        np.testing.assert_array_equal(found.warped.array, wanted.warped.array)


def test_stages_that_follow(device, count):
    fixed, moving = heads()
    both = ["rigid", STAGES["greedy"], STAGES["velocity"]]
    result = gr.register(fixed, moving, both, device=device)
    assert count() == 2 * 12 * fixed.array.size
    first = gr.register(fixed, moving, both[:2], device=device).transform
    first = gr.Composite([first, gr.Affine()])
    second = gr.register(fixed, moving, both[2], initial=first, device=device)
    np.testing.assert_array_equal(result.transform.transforms[0].array, second.transform.transforms[0].array)
    np.testing.assert_array_equal(result.transform.transforms[1].array, second.transform.transforms[1].array)
    points = np.array([[1.0, 2.0, 3.0], [-10.0, 5.0, 7.0]])
    np.testing.assert_array_equal(result.transform.transform_points(points), second.transform.transform_points(points))


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_are_of_the_host(device, count, duplicate):
    field = register(device).transform
    again = duplicate(field)
    assert again._kept is None
    np.testing.assert_array_equal(again.array, field.array)
    np.testing.assert_array_equal(again.origin, field.origin)
    assert count() == 0


def test_an_array_that_is_set_counts(device):
    fixed, moving = heads()
    field = register(device).transform
    field.array = np.zeros(field._shape, np.float32)
    np.testing.assert_array_equal(gr.resample(moving, field, fixed, device=device).array, moving.array)


def test_other_devices_take_it(device):
    fixed, moving = heads()
    result = register(device)
    for other in gr.devices():
        warped = gr.resample(moving, result.transform, fixed, device=other).array
        assert "array" not in result.transform.__dict__
        copied = copy.copy(register(device).transform)
        np.testing.assert_array_equal(warped, gr.resample(moving, copied, fixed, device=other).array)
        result = register(device)


def test_inverses_and_displacements(device):
    fixed, _ = heads()
    result, expected = register(device), copy.copy(register(device).transform)
    np.testing.assert_array_equal(result.transform.inverse(fixed, device).array, expected.inverse(fixed, device).array)
    result = register(device)
    np.testing.assert_array_equal(result.displacement_field.array, expected.to_displacement_field(fixed, device).array)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("refused", [["get_field"], ["get_inverse"], ["get_field", "get_inverse"]])
def test_where_there_is_no_room_the_host_takes_it(device, count, monkeypatch, stage, refused):
    expected = register(device, stage)
    wanted = [field.array for field in fields_of(expected)]
    loan = _engine.DiffeomorphicRegistration

    def refuse(self, size):
        raise gr.OutOfMemoryError("no room")

    for name in refused:
        monkeypatch.setattr(loan, name, refuse)
    result = register(device, stage)
    kept = [name for name in ("get_field", "get_inverse")[: len(wanted)] if name not in refused]
    assert count() == len(kept) * wanted[0].nbytes
    for field, array in zip(fields_of(result), wanted):
        np.testing.assert_array_equal(field.array, array)
    assert result.stages[-1].inverse_errors == expected.stages[-1].inverse_errors


@pytest.mark.parametrize("stage", ["syn", "velocity"])
def test_others_take_the_memory_behind_the_registration(device, count, monkeypatch, stage):
    """The deformation finds no room, not even for a moment: it comes to the host by way of the inverse's place, which comes there before."""
    expected = register(device, stage)
    wanted = [field.array for field in fields_of(expected)]
    loan = _engine.DiffeomorphicRegistration
    get, refused = loan.get_field, []

    def get_without_room(self, size):
        _engine.set_memory_limit(device, 1)
        try:
            return get(self, size)
        except gr.OutOfMemoryError:
            refused.append(size)
            raise
        finally:
            _engine.set_memory_limit(device, _engine.memory_in_use(device))

    monkeypatch.setattr(loan, "get_field", get_without_room)
    result = register(device, stage)
    assert len(refused) == 1
    for field, array in zip(fields_of(result), wanted):
        np.testing.assert_array_equal(field.array, array)
    assert result.stages[-1].inverse_errors == expected.stages[-1].inverse_errors


def test_threads(device):
    expected = register(device).transform.array
    result = register(device)
    found = []
    threads = [threading.Thread(target=lambda: found.append(result.transform.array)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for array in found:
        np.testing.assert_array_equal(array, expected)


CHILD = """
import os, sys
sys.path.insert(0, {tests!r})
import numpy as np
from test_kept_fields import register
field, wanted = register({device!r}).transform, register({device!r}).transform.array
field = register({device!r}).transform
assert field._kept.on_device is not None
child = os.fork()
if child == 0:
    sys.exit(0 if np.array_equal(field.array, wanted) else 3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert np.array_equal(field.array, wanted)
"""


def test_forked_processes_have_the_vectors(device):
    program = CHILD.format(tests=os.path.dirname(__file__), device=device)
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
