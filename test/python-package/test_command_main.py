# SPDX-License-Identifier: Apache-2.0
"""Tests the command's frame: help, names, exit codes, signals."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import gpuregistration as gr
import pytest
from command_line import assert_fails, gpureg, into_full, run_process, start_process

COMMANDS = ("register", "cohort", "template", "apply", "compare", "devices", "bench")


def test_help_names_commands_and_exit_codes(capfd):
    code, out, err = gpureg(capfd, "--help")
    assert code == 0 and err == ""
    for name in COMMANDS:
        assert f"    {name} " in out
    assert "exit codes: 0 done; 1 failed" in out and "130 interrupted" in out
    assert "leaves no new file, but for cohort" in out


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(capfd, name):
    code, out, _ = gpureg(capfd, name, "--help")
    assert code == 0 and out.startswith(f"usage: gpureg {name}") and "--json" in out


def test_version(capfd):
    assert gpureg(capfd, "--version") == (0, f"gpureg {gr.__version__}\n", "")


@pytest.mark.parametrize(
    "words, part",
    [
        ((), "COMMAND"),
        (("regster",), "invalid choice: 'regster'"),
        (("devices", "--jso"), "unrecognized arguments: --jso"),
        (("register", "a.nii"), "MOVING"),
    ],
)
def test_wrong_use_is_one_line(capfd, words, part):
    code, out, err = gpureg(capfd, *words)
    assert code == 2 and out == ""
    assert err.startswith("gpureg: ") and err.count("\n") == 1 and part in err and "--help" in err


def test_devices(capfd):
    found = gpureg_json_of_devices(capfd)
    assert [one["name"] for one in found["devices"]] == [one.name for one in gr.devices()]
    assert found["default"] in [one["name"] for one in found["devices"]]
    code, out, _ = gpureg(capfd, "devices")
    assert code == 0
    for one in gr.devices():
        assert any(line[2:].startswith(one.name) and one.description in line for line in out.splitlines())


def gpureg_json_of_devices(capfd):
    code, out, err = gpureg(capfd, "devices", "--json")
    assert code == 0 and err == ""
    return json.loads(out)


def test_environment_names_the_default_device(capfd, monkeypatch):
    monkeypatch.setenv("ITK_GPU_DEVICE", "host")
    assert gpureg_json_of_devices(capfd)["default"] == "host"
    monkeypatch.setenv("ITK_GPU_DEVICE", "cuda:77")
    assert_fails(capfd, 1, 'no device "cuda:77"', None, "devices")


def test_script_and_module_are_the_command():
    script = Path(sys.executable).with_name("gpureg")
    if not script.exists():
        pytest.skip("the package is not installed beside this Python")
    by_script = subprocess.run([script, "devices", "--json"], capture_output=True, text=True, check=True)
    assert run_process("devices", "--json") == (0, by_script.stdout, "")


def test_debug_shows_where(head_files, tmp_path, capfd):
    words = ("register", head_files.fixed, tmp_path / "no.nii", "-o", tmp_path / "out.nii.gz")
    code, _, err = run_process(*words)
    assert code == 1 and "Traceback" not in err
    code, _, err = run_process(*words, "--debug")
    assert code == 1 and "Traceback" in err


@pytest.mark.parametrize("number, code, word", [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")])
def test_signals_end_it_and_leave_nothing(head_files, tmp_path, number, code, word):
    stages = "ffd:levels=1:iterations=100000"
    process = start_process(
        "register", head_files.fixed, head_files.moving, "-o", tmp_path / "out.nii.gz", "--transform", stages, "--device", "host",
        before=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    line = process.stderr.readline()
    assert line.startswith("1/1 ffd, level 0")
    os.kill(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code and out == ""
    assert err.splitlines()[-1] == f"gpureg: {word}"
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_has_gone_is_no_crash():
    process = start_process("devices")
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=60) == 1


@pytest.mark.parametrize("before, why", [(into_full, "No space left on device"), (lambda: os.close(1), "Bad file descriptor")])
@pytest.mark.parametrize(
    "words",
    [
        ("devices",),
        ("devices", "--json"),
        ("compare", "FIXED", "MOVING", "--device", "host"),
        ("bench", "--size", "32", "--seconds", "0.01", "--device", "host", "--quiet"),
        ("apply", "--help"),
        ("--version",),
    ],
)
def test_standard_output_that_cannot_be_written(head_files, before, why, words):
    if words[0] == "bench":
        pytest.importorskip("SimpleITK")
    names = {"FIXED": head_files.fixed, "MOVING": head_files.moving}
    code, _, err = run_process(*[names.get(word, word) for word in words], before=before)
    assert (code, err) == (1, f"gpureg: standard output cannot be written: {why}\n")


def test_a_process_that_is_killed_leaves_what_the_docs_say(head_files, tmp_path):
    (tmp_path / "out.nii.gz").write_text("old")
    words = ("register", head_files.fixed, head_files.moving, "-o", tmp_path / "out.nii.gz", "--device", "host")
    process = start_process(*words, "--transform", "ffd:levels=1:iterations=100000")
    assert process.stderr.readline().startswith("1/1 ffd, level 0")
    process.kill()
    process.communicate(timeout=60)
    folder, out = sorted(tmp_path.iterdir())
    assert folder.is_dir() and folder.name.startswith(".gpureg-") and out.read_text() == "old"
    page = Path(__file__).parents[2] / "docs" / "when-it-fails.md"
    assert "a folder `.gpureg-…`" in page.read_text("utf-8")


def test_commands_are_quick_to_start():
    """Modules that are not needed are not imported."""
    heavy = "SimpleITK nibabel PIL itk gpuregistration.report".split()
    text = f"import sys, gpuregistration.command.main as c; c.main(['devices']); print([n for n in {heavy} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
