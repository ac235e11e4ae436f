# SPDX-License-Identifier: Apache-2.0
"""The command gpureg for tests: called in this process, or as a process of its own."""

import json
import os
import subprocess
import sys

from gpuregistration.command.main import main


def gpureg(capfd, *words):
    """Runs the command here. Returns its exit code, and what it printed on standard output and standard error."""
    code = main([str(word) for word in words])
    printed = capfd.readouterr()
    return code, printed.out, printed.err


def gpureg_json(capfd, *words, code=0):
    """Returns the object that the command prints; the command must end with this exit code, and without an error's line."""
    found, out, err = gpureg(capfd, *words, "--json", "--quiet")
    assert found == code and err == "", (found, err)
    assert out.count("\n") == 1
    return json.loads(out)


def assert_fails(capfd, code, *parts_and_words):
    """Asserts that the command ends with this exit code and prints one line that contains all parts. The words are those that follow
    None."""
    split = parts_and_words.index(None)
    parts, words = parts_and_words[:split], parts_and_words[split + 1 :]
    found, out, err = gpureg(capfd, *words)
    lines = [line for line in err.splitlines() if line.startswith("gpureg: ")]
    assert found == code and out == "", (found, out, err)
    assert err.splitlines()[-1:] == lines and len(lines) == 1, err
    for part in parts:
        assert str(part) in lines[0], (part, lines[0])


def into_full(stream=1):
    """Runs in a new process: makes standard output, or another stream, a full disk."""
    os.dup2(os.open("/dev/full", os.O_WRONLY), stream)


def start_process(*words, before=None):
    """Starts the command as a process whose output is text."""
    return subprocess.Popen(
        [sys.executable, "-m", "gpuregistration", *[str(word) for word in words]],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=before,
    )


def run_process(*words, before=None):
    """Returns the process's exit code, standard output and standard error after its end."""
    process = start_process(*words, before=before)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err
