# SPDX-License-Identifier: Apache-2.0
"""Threads that work with NumPy's arrays: what they return is in order, errors arrive, and what they look at is all of it."""

import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
import warnings

import gpuregistration as gr
import numpy as np
import pytest
from gpuregistration import _resample, _slabs
from gpuregistration._checks import are_finite, check_finite
from gpuregistration._vectors import range_of_vectors


@pytest.fixture(params=[1, 2, 5])
def threads(request):
    gr.set_threads(request.param)
    yield request.param
    gr.set_threads(0)


@pytest.fixture
def small_parts(monkeypatch):
    """Lets several threads look at small arrays, too."""
    monkeypatch.setattr(_slabs, "_MANY", 1)


@pytest.mark.parametrize("count", [1, 2, 4, 5, 17])
def test_slabs_cover_all_slices_once(threads, count):
    ends = _slabs.in_slabs(lambda first, end: (first, end), count)
    assert len(ends) == min(threads, count)
    assert [n for first, end in ends for n in range(first, end)] == list(range(count))


def test_items_are_in_order_and_may_have_slabs(threads):
    found = _slabs.at_once(lambda item: (item, sum(_slabs.in_slabs(lambda first, end: end - first, 40))), range(30))
    assert found == [(item, 40) for item in range(30)]
    assert _slabs.at_once(str, []) == []


def test_an_error_is_the_first_items_and_comes_when_all_have_ended(threads):
    ended = []

    def work(item):
        if item in (3, 5):
            raise RuntimeError(f"item {item}")
        ended.append(item)

    with pytest.raises(RuntimeError, match="item 3"):
        _slabs.at_once(work, range(8))
    assert sorted(ended) == [0, 1, 2, 4, 6, 7]
    assert _slabs.at_once(abs, [-1, 2]) == [1, 2]


def test_several_threads_may_ask_at_once(threads):
    found = {}

    def ask(number):
        found[number] = _slabs.in_slabs(lambda first, end: number, 20)

    several = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for one in several:
        one.start()
    for one in several:
        one.join()
    assert found == {number: [number] * threads for number in range(6)}


@pytest.mark.parametrize("shape", [(1, 3), (7, 3), (5, 4, 3), (1, 6, 5, 3), (9, 2, 5, 3)])
def test_the_range_of_vectors_is_that_of_all_parts(threads, small_parts, shape, rng):
    vectors = rng.normal(size=shape).astype(np.float32)
    flat = vectors.reshape(-1, 3)
    least, greatest = range_of_vectors(vectors)
    assert (least == flat.min(axis=0)).all() and (greatest == flat.max(axis=0)).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_found_in_each_part(threads, small_parts, value, rng):
    array = rng.normal(size=(6, 4, 5))
    assert are_finite(array)
    check_finite("image", array)
    for place in [(0, 0, 0), (2, 3, 1), (5, 3, 4)]:
        damaged = array.copy()
        damaged[place] = damaged[5, 3, 4] = value
        assert not are_finite(damaged)
        count = "1 value" if place == (5, 3, 4) else "2 values"
        with pytest.raises(gr.BadInputError, match=f"image has {count} .* at \\({', '.join(map(str, place))}\\)"):
            check_finite("image", damaged)


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int64, np.float32])
@pytest.mark.parametrize("shape", [(1, 7, 5), (6, 4, 5), (17, 3, 2)])
@pytest.mark.parametrize("many, piece", [(1, 1), (1, 7), (1, 12), (1 << 20, 5)])
def test_values_of_another_type_are_those_of_one_thread(threads, small_parts, monkeypatch, kind, shape, rng, many, piece):
    monkeypatch.setattr(_resample, "_MANY", many)
    monkeypatch.setattr(_resample, "_PIECE", piece)
    values = rng.normal(scale=300, size=shape)
    limits = np.iinfo(kind) if np.dtype(kind).kind in "iu" else np.finfo(kind)
    wanted = np.clip(np.rint(values) if np.dtype(kind).kind in "iu" else values, limits.min, limits.max).astype(kind)
    found = _resample.to_type(values, np.dtype(kind))
    assert found.dtype == kind and (found == wanted).all()
    # Also of memory that is not contiguous.
    turned = _slabs.cast(values.transpose(), np.float32)
    assert turned.flags.c_contiguous and (turned == values.transpose().astype(np.float32)).all()


def test_rounding_needs_little_memory(threads):
    """Beside the result no more than what each thread has at a time, of which some 10 arrays of 2^16 values may be there."""
    values = np.linspace(0, 300, 1 << 22).reshape(16, 512, 512)
    tracemalloc.start()
    try:
        made = _resample.to_type(values, np.dtype(np.uint8))
        held = tracemalloc.get_traced_memory()[1] - made.nbytes
    finally:
        tracemalloc.stop()
    assert made[-1, -1, -1] == 255 and held < threads * 24 * (1 << 16) + 100_000


def test_threads_see_numpys_error_state(threads, small_parts, monkeypatch):
    monkeypatch.setattr(_resample, "_MANY", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with np.errstate(invalid="ignore"):
            made = _resample.to_type(np.full((8, 3, 3), np.nan), np.dtype(np.int16))
    assert made.shape == (8, 3, 3)


def test_an_interrupted_call_begins_nothing_more():
    """Ctrl-C reaches the thread that waits: it leaves behind nothing that works."""
    # A shell has programs in the background ignore it.
    before_this = signal.signal(signal.SIGINT, signal.default_int_handler)
    gr.set_threads(2)
    ended, go_on = [], threading.Event()

    def work(item):
        if item == 0:
            threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT]).start()
        go_on.wait(0.5)
        ended.append(item)

    try:
        with pytest.raises(KeyboardInterrupt):
            _slabs.at_once(work, range(20))
        before = list(ended)
        time.sleep(0.8)
        assert ended == before and len(before) < 20
    finally:
        signal.signal(signal.SIGINT, before_this)
        gr.set_threads(0)


AT_THE_END = """
import threading
import numpy as np
import gpuregistration as g
from gpuregistration import _resample, _slabs

read = g.read_image

def work():
    threading.main_thread().join()
    found = read({path!r}).array
    _resample._MANY = 1
    print(found.sum(), _resample.to_type(np.full((4, 5, 6), 7.4), np.dtype(np.uint8)).sum(), _slabs.at_once(abs, [-1, -2]))

threading.Thread(target=work).start()
"""


def test_a_thread_that_outlives_the_program_does_the_work_itself(tmp_path):
    """Python starts no thread any more when its main thread has ended."""
    path = tmp_path / "ones.nii.gz"
    gr.write_image(path, gr.Image(np.ones((128, 256, 256), np.uint8)))
    done = subprocess.run([sys.executable, "-c", AT_THE_END.format(path=str(path))], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{1 << 23} 840 [1, 2]\n", "")


def test_an_array_of_the_wanted_type_is_not_copied(small_parts, rng):
    values = rng.normal(size=(3, 4))
    assert _slabs.cast(values, np.float64) is values
