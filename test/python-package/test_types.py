# SPDX-License-Identifier: Apache-2.0
"""Tests what editors and type checkers know about the package."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gpuregistration import _engine

STUB = Path(_engine.__file__).with_name("_engine.pyi")

PROGRAM = '''
import numpy as np
import gpuregistration as gpureg

fixed = gpureg.Image(np.zeros((4, 5, 6), np.float32), spacing=np.ones(3), origin=(0.0, 1.0, 2.0))
moving = gpureg.read_image("moving.nii.gz")
try:
    result: gpureg.Result = gpureg.register(fixed, moving, transform=["affine", gpureg.stages.FreeForm()], seed=1)
except gpureg.BadInputError as error:
    raise ValueError(str(error)) from error
except gpureg.DeviceLostError as error:
    lost: RuntimeError = error
transform: gpureg.Transform = result.transform
names: list[str] = [device.name for device in gpureg.devices()]
values: np.ndarray = gpureg.metric("NMI", fixed, moving).values(np.zeros((2, 12)))
smoothed: gpureg.Image = gpureg.smooth(moving, [1.0, 1.0, 2.0])
moved: np.ndarray = gpureg.resample(np.zeros((4, 5, 6)), gpureg.Affine(np.eye(3), [1, 2, 3]), fixed, device=gpureg.devices()[0])
levels: list[gpureg.Image] = gpureg.pyramid(fixed, 2)


class LikeSimpleITKs:
    def GetSpacing(self) -> tuple[float, ...]:
        return (1.0, 1.0, 1.0)

    GetOrigin = GetDirection = GetSpacing


class LikeCuPys:
    __cuda_array_interface__: dict[str, int] = {}


gpureg.register(LikeSimpleITKs(), LikeCuPys(), ("rigid", "ffd"), metric=[None, "correlation"], spacing=(1, 1, 1))
several: list[str] = gpureg.register(fixed, moving, "greedy", device=["cuda:0", gpureg.devices()[0]]).devices
plans: list[gpureg.Plan] = gpureg.plan_registration(fixed, moving, "greedy", device=("cuda:0", "cuda:1")).others
number: int = gpureg.devices()  # wrong
gpureg.register(fixed, "moving.nii.gz")  # wrong
gpureg.register(fixed, moving, 3)  # wrong
gpureg.register(fixed, moving, initial=np.eye(4))  # wrong
gpureg.register(fixed, moving, device=0)  # wrong
other: gpureg.Image = gpureg.smooth(np.zeros((4, 5)), 1.0)  # wrong
gpureg.resample(fixed, reference=(4, 5, 6))  # wrong
'''


def test_the_stub_names_all_that_the_engine_has():
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    named = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert named == {name for name in dir(_engine) if not name.startswith("_")}


def test_the_stubs_errors_have_the_engines_parents():
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    stubs = {node.name: [ast.unparse(base) for base in node.bases] for node in tree.body if isinstance(node, ast.ClassDef)}
    errors = dict(inspect.getmembers(_engine, lambda member: inspect.isclass(member) and issubclass(member, Exception)))
    assert "BadInputError" in errors
    for name, error in errors.items():
        assert stubs[name] == [base.__name__ for base in error.__bases__], name


def test_the_stub_has_the_engines_arguments():
    """Some lines of the stub come from patterns, and are not generated from the engine."""
    compared = 0
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        owner, parts = (getattr(_engine, node.name), node.body) if isinstance(node, ast.ClassDef) else (_engine, [node])
        for part in parts:
            # Properties are not checked.
            signatures = getattr(getattr(owner, getattr(part, "name", ""), None), "__nb_signature__", None)
            if signatures is not None:
                named = [one.arg for one in (*part.args.posonlyargs, *part.args.args, *part.args.kwonlyargs) if one.arg != "self"]
                assert named == re.findall(r"(?<![\w.])(\w+): ", signatures[0][0]), part.name
                compared += 1
    assert compared > 40


@pytest.fixture(scope="module")
def complaints(tmp_path_factory):
    """Returns mypy's output for a program and for the package itself, both at once, since a program's imports are checked anyway."""
    pytest.importorskip("mypy", reason="mypy is not there: pip install mypy")
    folder = tmp_path_factory.mktemp("types")
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    # In an installed package, mypy would take all modules beside it for the program's own.
    (folder / "gpuregistration").symlink_to(STUB.parent)
    command = [sys.executable, "-m", "mypy", "--ignore-missing-imports", "program.py", "gpuregistration"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and not done.stderr, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if ": error:" in line]


def test_mypy_finds_what_is_wrong_in_a_program_and_nothing_else(complaints):
    errors = [line for line in complaints if line.startswith("program.py:")]
    wrong = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# wrong")]
    assert sorted({int(line.split(":")[1]) for line in errors}) == wrong and len(wrong) == 7, errors


def test_mypy_finds_nothing_wrong_in_the_package(complaints):
    errors = [line for line in complaints if not line.startswith("program.py:")]
    assert not errors, "\n".join(errors)
