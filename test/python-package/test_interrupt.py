# SPDX-License-Identifier: Apache-2.0
"""Tests that Ctrl-C ends long work on host threads at once, and that later work is not affected."""

import subprocess
import sys
import time

import gpuregistration as gr
import numpy as np
import pytest
from conftest import turn

# The time that the work would take, and the time after Ctrl-C by which it must end, in seconds; other programs may run at the same time.
LONG = 30.0
SOON = 5.0

# The process gets the time of one unit of work, so that it makes the work long; then it reports its start, is interrupted, and repeats
# earlier work.
PROGRAM = """
import signal
import sys
import time

import gpuregistration as gr
import numpy as np
from conftest import make_head, turn

signal.signal(signal.SIGINT, signal.default_int_handler)
gr.set_threads(THREADS)
WORK
before = few()
begin = time.perf_counter()
few()
lasts = time.perf_counter() - begin
many = make_many(int(LONG / lasts) + 1)
print("ready", flush=True)
begin = time.perf_counter()
try:
    many()
except KeyboardInterrupt:
    assert time.perf_counter() - begin < LONG / 2, "it had ended by itself"
    np.testing.assert_array_equal(few(), before)
    print("interrupted")
"""

VALUES = """
metric = gr.metric("NAME", make_head(), make_head(), device="host")
batch = [gr.Affine(turn(degrees)).parameters for degrees in np.linspace(-8, 8, 20)]
few = lambda: metric.values(batch)
make_many = lambda count: lambda: metric.values(batch * count)
"""

# A neighborhood as large as a larger image: one evaluation takes long.
DERIVATIVE = """
def make_few(length):
    image = np.random.default_rng(1).normal(size=(length, 40, 40)).astype(np.float32)
    metric = gr.metric("neighborhood_correlation", image, image[::-1], device="host")
    return lambda: metric.derivative(gr.Affine())
few = make_few(40)
make_many = lambda count: make_few(min(40 * count, 20000))
"""

# Two devices, each with a thread: signals are handled on the first one's.
SEVERAL_DEVICES = """
z, y, x = np.ogrid[-1:1:96j, -1:1:20j, -1:1:20j]
fixed, moving = (np.exp(-3 * ((x - shift) ** 2 + y * y + z * z)) * (2 + np.sin(9 * x + 20 * z)) for shift in (0, 0.2))
def make_few(iterations):
    stage = gr.stages.Greedy(iterations=iterations)
    return lambda: gr.register(fixed, moving, stage, device=["host", "host"]).transform.array
few = make_few(10)
make_many = lambda count: make_few(10 * count)
"""


@pytest.mark.parametrize(
    "work, threads",
    [
        (VALUES.replace("NAME", "mean_squares"), 0),
        (VALUES.replace("NAME", "neighborhood_correlation"), 0),
        (DERIVATIVE, 0),
        (SEVERAL_DEVICES, 2),
        # A long batch is a few loops of many tasks, only a few of which run on the thread that checks for signals.
        (VALUES.replace("NAME", "correlation_ratio"), 1),
        (VALUES.replace("NAME", "correlation_ratio"), 16),
    ],
    ids=["values", "values of neighborhoods", "derivative", "several devices", "correlation ratio", "correlation ratio on many threads"],
)
def test_ends_soon(work, threads):
    """On this number of threads; 0: as many as there are."""
    program = PROGRAM.replace("WORK", work).replace("LONG", str(LONG)).replace("THREADS", str(threads))
    folder = str(__file__).rpartition("/")[0]
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
    try:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        time.sleep(1)
        sent = time.perf_counter()
        process.send_signal(2)
        assert process.stdout.readline() == "interrupted\n", process.stderr.read()
        assert time.perf_counter() - sent < SOON
        assert process.wait(SOON) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("name", ["mean_squares", "correlation_ratio", "normalized_mutual_information", "neighborhood_correlation"])
def test_a_long_batch_has_the_values_of_its_parts(heads, name):
    """On the host, which checks for signals in between: the values are equal to the bit, except for numbers that are counted together,
    whose unit depends on their number."""
    metric = gr.metric(name, *heads, device="host")
    batch = np.array([gr.Affine(turn(degrees)).parameters for degrees in np.linspace(-8, 8, 100)])
    parts = np.concatenate([metric.values(part) for part in np.array_split(batch, 7)])
    if name == "correlation_ratio":
        np.testing.assert_allclose(metric.values(batch), parts, rtol=1e-5)
        np.testing.assert_array_equal(metric.values(batch), metric.values(batch))
    else:
        np.testing.assert_array_equal(metric.values(batch), parts)
