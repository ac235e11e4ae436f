# SPDX-License-Identifier: Apache-2.0
"""Tests the memory that engines keep for the next call: all of a process is counted in one place, bounded, and freed if there is a
shortage."""

import os
import subprocess
import sys
import threading

import gpuregistration as gr
import numpy as np
import pytest
from conftest import make_head
from gpuregistration import _devices, _engine, stages

STAGES = ["rigid", stages.FreeForm(levels=1, iterations=2, spacing=20)]


@pytest.fixture
def held(device):
    """Returns the additional bytes in use, and those of idle engines; restores the limits afterwards."""
    gr.release_memory(device)
    before, bound = _engine.memory_in_use(device), _engine.idle_memory_limit(device)
    yield lambda: (_engine.memory_in_use(device) - before, _engine.idle_memory_in_use(device))
    _engine.set_memory_limit(device, 0)
    gr.set_idle_memory_limit(bound, device)
    gr.release_memory(device)
    assert _engine.memory_in_use(device) == before


def register(device):
    head = make_head(shape=(20, 24, 22), spacing=(4.0, 4.0, 4.0))
    return gr.register(head, head, STAGES, device=device).transform.transforms[0].array


def fill(device):
    """Makes calls that leave much idle memory."""
    large = make_head(shape=(90, 80, 70))
    gr.smooth(large, 3.0, device=device)
    gr.resample(large, gr.Affine(np.eye(3), [1, 2, 3]), interpolation="bspline", device=device)


def test_all_that_is_kept_is_counted(device, held):
    for work in (register, fill):
        work(device)
        in_use, idle = held()
        assert in_use == idle > 0
    gr.release_memory(device)
    assert held() == (0, 0)


def test_what_is_short_is_given_back(device, held):
    expected = register(device)
    needed = held()[1]
    gr.release_memory(device)
    fill(device)
    filled = held()[1]
    # Enough for a registration, but not besides the idle memory.
    assert filled > 1.5 * needed
    _engine.set_memory_limit(device, _engine.memory_in_use(device) + needed // 4)
    np.testing.assert_array_equal(register(device), expected)
    assert held()[1] < filled
    fill(device)


def test_the_bound(device, held):
    fill(device)
    kept = held()[1]
    gr.set_idle_memory_limit(kept - 1, device)
    assert 0 < held()[1] < kept
    gr.set_idle_memory_limit(0, device)
    assert held() == (0, 0)
    register(device)
    assert held() == (0, 0)
    gr.set_idle_memory_limit(kept, device)
    fill(device)
    assert held()[1] == kept


def test_the_bound_of_all_devices():
    before = {found.name: _engine.idle_memory_limit(found.name) for found in gr.devices()}
    try:
        gr.set_idle_memory_limit(12345)
        assert {_engine.idle_memory_limit(name) for name in before} == {12345}
    finally:
        for name, bound in before.items():
            gr.set_idle_memory_limit(bound, name)


@pytest.mark.parametrize("size", [-1, 1.5, "1 GB", None, 1 << 64])
def test_bounds_that_are_none(size):
    with pytest.raises(gr.BadInputError, match="size="):
        gr.set_idle_memory_limit(size, "host")
    with pytest.raises(gr.DeviceError, match="cuda:77"):
        gr.set_idle_memory_limit(0, "cuda:77")


def test_an_engine_whose_work_raises_is_gone(device, held):
    class Stopped(Exception):
        pass

    def stop(share):
        raise Stopped

    with pytest.raises(Stopped):
        gr.resample(make_head(), gr.Affine(np.eye(3), [1, 2, 3]), device=device, progress=stop)
    assert held() == (0, 0)


def test_an_engine_that_was_given_back_works_no_more(device):
    with _devices.borrow_engine(_engine.Resampler, device) as engine:
        pass
    with pytest.raises(gr.BadInputError, match="given back"):
        engine.statistics
    with pytest.raises(gr.BadInputError, match="given back"):
        engine.give_back()


def test_threads_have_engines_of_their_own(device, held):
    expected = register(device), gr.smooth(make_head(), 3.0, device=device).array
    found = []

    def work():
        for _ in range(3):
            found.append((register(device), gr.smooth(make_head(), 3.0, device=device).array))
            gr.release_memory(device)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 12
    for points, smoothed in found:
        np.testing.assert_array_equal(points, expected[0])
        np.testing.assert_array_equal(smoothed, expected[1])
    in_use, idle = held()
    assert in_use == idle


CHILD = """
import os, sys
sys.path.insert(0, {tests!r})
import gpuregistration as gr
import numpy as np
from conftest import make_head
from gpuregistration import _engine
head = make_head()
made = gr.smooth(head, 3.0, device={device!r}).array
assert _engine.idle_memory_in_use({device!r}) > 0
child = os.fork()
if child == 0:
    again = gr.smooth(head, 3.0, device="host").array
    gr.release_memory("host")
    is_alike = np.allclose(again, made, atol=1e-3) and _engine.idle_memory_in_use("host") == 0
    sys.exit(0 if is_alike else 3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert np.array_equal(gr.smooth(head, 3.0, device={device!r}).array, made)
"""


def test_forked_processes_and_ends_leave_no_word(device):
    """A child cannot use its parent's engines, and neither process frees any at its end."""
    program = CHILD.format(tests=os.path.dirname(__file__), device=device)
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
