# SPDX-License-Identifier: Apache-2.0
"""tools/check-layers.py, on small trees of sources with one include or import that points the wrong way."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check-layers.py"
PACKAGE = "wrapping/python/gpuregistration"


@pytest.fixture
def layers(monkeypatch):
    """Returns the tool as a module, without exceptions."""
    spec = importlib.util.spec_from_file_location("check_layers", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "EXCEPTIONS", {})
    return module


def find_wrong(layers, root, **sources):
    """Writes sources, each a path with its text, into a tree at root, and returns what the tool finds wrong there."""
    for name, text in sources.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return layers.find_wrong(root)


def test_project():
    """The project itself has none."""
    done = subprocess.run([sys.executable, str(TOOL)], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("", 0), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "other", "is_right"),
    [
        ("src/engine/image/A.cpp", "engine/runtime/B.h", True),
        ("src/engine/image/A.cpp", "kernels/image/B.h", True),
        ("src/engine/image/A.cpp", "engine/field/B.h", False),
        ("src/engine/field/A.cpp", "engine/resample/B.h", False),
        ("src/engine/A.cpp", "engine/field/B.h", True),
        ("src/kernels/field/A.h", "engine/field/B.h", False),
        ("include/gpureg/field/A.h", "engine/field/B.h", False),
        ("cuda/field/A.cu", "engine/field/B.h", True),
        ("include/itkA.hxx", "engine/field/B.h", False),
        ("include/GPURegistrationDetail/core/itkGPUA.h", "GPURegistrationDetail/metric/itkGPUB.h", False),
        ("include/itkA.h", "itkImage.h", True),
        ("wrapping/python/src/A.cpp", "engine/field/B.h", False),
    ],
)
def test_includes(layers, tmp_path, name, other, is_right):
    wrong = find_wrong(layers, tmp_path, **{name: f'#include <vector>\n#  include "{other}"\n'})
    assert wrong == ([] if is_right else [f"{name} includes {other}"])


def test_unknown_folder(layers, tmp_path):
    assert find_wrong(layers, tmp_path, **{"src/engine/other/A.cpp": ""}) == ["src/engine/other/A.cpp is in no subject's folder"]


def test_exceptions(layers, tmp_path):
    """An exception holds for its source and its layer, and must be needed."""
    layers.EXCEPTIONS.update({"src/itkA.cxx": ["engine"], "src/itkGone.cxx": ["engine"]})
    sources = {"src/itkA.cxx": '#include "engine/runtime/Fork.h"\n#include "kernels/core/Prelude.h"\n'}
    assert find_wrong(layers, tmp_path, **sources) == [
        "src/itkA.cxx includes kernels/core/Prelude.h",
        "src/itkGone.cxx includes nothing of engine, and needs no exception",
    ]
    sources = {"src/itkA.cxx": '#include "gpureg/runtime/Device.h"\n', "src/itkGone.cxx": '#include "engine/runtime/Fork.h"\n'}
    assert find_wrong(layers, tmp_path, **sources) == ["src/itkA.cxx includes nothing of engine, and needs no exception"]


def test_circles_of_classes(layers, tmp_path):
    sources = {"include/itkA.h": '#include "itkB.h"\n', "include/itkB.h": '#include "itkA.h"\n'}
    assert find_wrong(layers, tmp_path, **sources) in (["in a circle: itkA, itkB, itkA"], ["in a circle: itkB, itkA, itkB"])


@pytest.mark.parametrize(
    "statement",
    [
        "from ..command import main",
        "from ..command.main import run",
        "from .. import command",
        "import gpuregistration.command.main",
        "import os, gpuregistration.command.main as first",
        "from gpuregistration.command import main",
        "from gpuregistration.command.main import run",
        "from gpuregistration import command",
        "def run():\n    from gpuregistration.command import main",
    ],
)
def test_imports(layers, tmp_path, statement):
    """cohort is below command, and may not import it, in whatever words."""
    sources = {f"{PACKAGE}/{name}.py": "" for name in ("__init__", "cohort/__init__", "command/__init__", "command/main")}
    sources[f"{PACKAGE}/cohort/pair.py"] = statement + "\n"
    wrong = find_wrong(layers, tmp_path, **sources)
    assert len(wrong) == 1
    assert wrong[0].startswith(f"{PACKAGE}/cohort/pair.py imports command/")


def test_imports_downwards(layers, tmp_path):
    """command may import cohort and the modules beside both; names of other packages, and of the package itself, do not count."""
    sources = {f"{PACKAGE}/{name}.py": "" for name in ("__init__", "_files", "cohort/__init__", "cohort/pair", "command/__init__")}
    sources[f"{PACKAGE}/command/main.py"] = (
        "import command.main, gpuregistration, gpuregistration_other.ants\n"
        "from command import ants\n"
        "from gpuregistration import register, _files\n"
        "from gpuregistration.cohort import pair\n"
    )
    assert find_wrong(layers, tmp_path, **sources) == []


@pytest.mark.parametrize(
    "statement",
    ["from . import _b", "from ._b import name", "import gpuregistration._b", "from gpuregistration._b import name"],
)
def test_circles_of_modules(layers, tmp_path, statement):
    sources = {f"{PACKAGE}/__init__.py": "", f"{PACKAGE}/_a.py": statement + "\n", f"{PACKAGE}/_b.py": "from . import _a\n"}
    assert find_wrong(layers, tmp_path, **sources) in (["in a circle: _a, _b, _a"], ["in a circle: _b, _a, _b"])
