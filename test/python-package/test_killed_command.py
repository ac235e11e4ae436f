# SPDX-License-Identifier: Apache-2.0
"""Tests what gpureg register, on one device and on several, and gpureg apply leave where they are killed, or the disk is full, while they
write. An image that several devices register together is long along z."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import gpuregistration as gr
import numpy as np
import pytest
from command_line import assert_fails, gpureg
from full_disk import fill_disk_at

pytest.importorskip("SimpleITK")

PROGRAM = Path(__file__).with_name("killed_command.py")


def head(shift):
    z, y, x = np.meshgrid(*[np.linspace(-1, 1, length) for length in (96, 21, 25)], indexing="ij")
    waves = 2 + np.sin(9 * (x - shift)) + np.cos(8 * y) + np.sin(30 * z + 5 * shift)
    return gr.Image((50 * np.exp(-3 * ((x - shift) ** 2 + y**2 + z**2)) * waves).astype(np.uint8), (1.0, 1.0, 1.2))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Writes two heads, and a transform: .fixed, .moving, .transform."""
    folder = tmp_path_factory.mktemp("heads")
    for name, shift in (("fixed", 0.0), ("moving", 0.1)):
        gr.write_image(folder / f"{name}.nii", head(shift))
    gr.write_transform(folder / "t.tfm", gr.Affine(translation=[0.7, 0.4, -0.6]))
    return SimpleNamespace(fixed=folder / "fixed.nii", moving=folder / "moving.nii", transform=folder / "t.tfm")


NAMES = ("o.nii.gz", "t.nii.gz", "w.nii", "r.html")


def register_words(files, folder, devices):
    image, transform, field, report = (folder / name for name in NAMES)
    outputs = ("-o", image, "--output-transform", transform, "--output-field", field, "--report", report)
    return ("register", files.fixed, files.moving, "--transform", "rigid,greedy:iterations=2x2", "--device", devices, "--quiet", *outputs)


def apply_words(files, folder):
    return ("apply", files.moving, "-t", files.transform, "--reference", files.fixed, "--device", "host", "-o", folder / "o.nii.gz")


def contents(folder):
    """Returns the files of a folder by their names, without those of folders in it."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def assert_alike(made, wanted):
    """Asserts that files are those of another run. The report holds names and times."""
    assert made.keys() == wanted.keys() and all(made.values())
    for name in made.keys() - {"r.html"}:
        assert made[name] == wanted[name], name


@pytest.mark.parametrize("devices, where", [("host", "half"), ("host,host", "half"), ("host,host", "second"), (None, "half"), (None, "first")])
def test_a_killed_run_leaves_outputs_as_they_were_or_whole(files, tmp_path, capfd, devices, where):
    """It also leaves the folder in which it made them. None: gpureg apply, of one output."""
    out, other = tmp_path / "out", tmp_path / "other"
    for folder in (out, other):
        folder.mkdir()
    make = (lambda folder: apply_words(files, folder)) if devices is None else (lambda folder: register_words(files, folder, devices))
    names = NAMES[:1] if devices is None else NAMES
    for name in names:
        (out / name).write_text(f"old {name}")
    before = contents(out)
    words = [str(word) for word in make(out)]
    done = subprocess.run([sys.executable, PROGRAM, where, *words], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGKILL, "", "")
    left = contents(out)
    (made,) = set(os.listdir(out)) - set(names)
    assert made.startswith(".gpureg-") and left.keys() == before.keys()
    changed = {name for name in names if left[name] != before[name]}
    assert changed == ({"o.nii.gz"} if where == "second" else set())
    # A later run works, and leaves that folder alone.
    assert gpureg(capfd, *make(out)) == gpureg(capfd, *make(other)) == (0, "", "")
    assert_alike(contents(out), contents(other))
    assert changed <= {name for name in names if left[name] == contents(out)[name]}
    assert sorted(os.listdir(out)) == sorted([made, *names]) and sorted(os.listdir(other)) == sorted(names)


def test_several_devices_and_a_full_disk(device, files, tmp_path, capfd, monkeypatch):
    """One kind of output does not fit: none is there, and what was there stays."""
    words = register_words(files, tmp_path, f"{device},host")
    # OpenCL compiles to files, too, and here once.
    assert gpureg(capfd, *words) == (0, "", "")
    old = contents(tmp_path)
    for name in NAMES:
        (tmp_path / name).unlink()
    for owner, name, before in ((gr._files, "write_transform", {}), (gr._files, "write_image", old), (gr._result.Result, "write_report", old)):
        for output, content in before.items():
            (tmp_path / output).write_bytes(content)
        with monkeypatch.context() as full:
            fill_disk_at(full, owner, name, 10_000)
            assert_fails(capfd, 1, str(tmp_path), "File too large", None, *words)
        assert contents(tmp_path) == before and sorted(os.listdir(tmp_path)) == sorted(before), name
    assert old.keys() == set(NAMES) and gr.read_image(tmp_path / "w.nii").shape == (96, 21, 25)
