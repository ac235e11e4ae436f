# SPDX-License-Identifier: Apache-2.0
"""Images of the tests of several devices, and their registration. Levels are cut where each device has 32 planes or more, so they are long along z."""

from functools import partial

import gpuregistration as gr
import plan_data
import pytest
from gpuregistration import _engine, stages

SHAPE = (160, 21, 25)
ITERATIONS = (6, 5, 4)

head, box = partial(plan_data.head, shape=SHAPE), partial(plan_data.box, shape=SHAPE)


def greedy(**settings):
    return stages.Greedy(**{"iterations": ITERATIONS, **settings})


def register(transform, device, **more):
    return gr.register(head(), head(0.1), transform, device=device, **more)


def watch_memory(device):
    """Returns the bytes that a device holds during each stage, beside what it holds now, and what register() calls with its progress."""
    gr.release_memory(device)
    before = _engine.memory_in_use(device)
    held = {}

    def look(progress):
        held.setdefault(progress.stage, []).append(_engine.memory_in_use(device) - _engine.idle_memory_in_use(device) - before)

    return held, look


def skip_many_queues(device, count):
    if count >= 4 and device.startswith("opencl"):
        pytest.skip("an assertion of PoCL's fails now and then with four queues at once")
