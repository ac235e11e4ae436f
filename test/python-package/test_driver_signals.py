# SPDX-License-Identifier: Apache-2.0
"""Tests that OpenCL's drivers leave signals to the program: PoCL's compiler handles nearly all of them from the first look for devices on."""

import subprocess
import sys

import gpuregistration as gr
import pytest

PROGRAM = """
import signal
import gpuregistration as gr, numpy as np

def what_is_done():
    with open("/proc/self/status") as file:
        lines = [line.split() for line in file if line.startswith(("SigIgn", "SigCgt"))]
    # Drivers may handle divisions by zero, and the C library keeps the signals 32 and 33 for its threads.
    others = 1 << signal.SIGFPE - 1 | 1 << 31 | 1 << 32
    return [int(word, 16) & ~others for _, word in lines]

signal.signal(signal.SIGTERM, lambda number, frame: print("handled"))
before = what_is_done()
image = np.arange(512, dtype=np.float32).reshape(8, 8, 8)
gr.smooth(image, 1.0, device="DEVICE")
assert what_is_done() == before, (what_is_done(), before)
assert before[0] >> signal.SIGXFSZ - 1 & 1, "Python ignores this one"
signal.raise_signal(signal.SIGTERM)
"""


@pytest.mark.parametrize("compiled", ["now", "before"])
def test_signals_are_the_programs(compiled, tmp_path, monkeypatch):
    found = [device.name for device in gr.devices() if device.kind == "opencl"]
    if not found:
        pytest.skip("there is no device of OpenCL")
    if compiled == "now":
        monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = subprocess.run([sys.executable, "-c", PROGRAM.replace("DEVICE", found[0])], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0 and done.stdout.split() == ["handled"], done.stderr
