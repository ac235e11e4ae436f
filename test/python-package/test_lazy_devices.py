# SPDX-License-Identifier: Apache-2.0
"""Tests that a driver is loaded only when one of its devices may be needed: some take longer to start than a registration."""

import subprocess
import sys

import gpuregistration as gr
import pytest

BEGINNING = """
import os, gpuregistration as gr, numpy as np
def is_loaded():
    return "libOpenCL" in open("/proc/self/maps").read()
image = np.arange(512, dtype=np.float32).reshape(8, 8, 8)
"""


def printed_by(code):
    done = subprocess.run([sys.executable, "-c", BEGINNING + code], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture
def opencl():
    """Returns an OpenCL device."""
    found = [device.name for device in gr.devices() if device.kind == "opencl"]
    if not found:
        pytest.skip("there is no device of OpenCL")
    return found[0]


def test_a_device_that_is_named_looks_for_no_other_driver(opencl):
    code = f"""
gr.smooth(image, 1.0, device="host"); print(is_loaded())
gr.smooth(image, 1.0, device="{opencl}"); print(is_loaded())
"""
    assert printed_by(code) == ["False", "True"]


def test_a_device_of_cuda_is_the_best_without_looking_further(opencl):
    if gr.devices()[0].kind != "cuda":
        pytest.skip("there is no device of CUDA")
    assert printed_by("gr.smooth(image, 1.0); print(is_loaded())") == ["False"]


def test_a_child_has_devices_where_its_parent_used_the_host_alone(opencl):
    code = f"""
expected = gr.smooth(image, 1.0, device="host")
child = os.fork()
if child == 0:
    found = gr.smooth(image, 1.0, device="{opencl}")
    os._exit(0 if np.abs(found - expected).max() < 1e-3 else 1)
print(os.waitpid(child, 0)[1])
"""
    assert printed_by(code) == ["0"]
