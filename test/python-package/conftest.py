# SPDX-License-Identifier: Apache-2.0
"""Fixtures that several tests need: devices, and synthetic images."""

import math
import os
import shutil
import sys
import tempfile
import zlib
from pathlib import Path
from types import SimpleNamespace

import gpuregistration as gr
import numpy as np
import pytest
from browser import Browser
from gpuregistration import _engine


def pytest_configure(config):
    """Has Dask's workers write what they do if they take long. Processes that run tests side by side share the folder."""
    if "GPUREG_TEST_TRACES" not in os.environ:
        os.environ["GPUREG_TEST_TRACES"] = folder = tempfile.mkdtemp(prefix="gpureg-traces-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    os.environ.setdefault("DASK_DISTRIBUTED__WORKER__PRELOAD", repr([str(Path(__file__).with_name("slow_worker.py"))]))


def pytest_terminal_summary(terminalreporter):
    """Prints what workers that took long were doing."""
    for path in sorted(Path(os.environ["GPUREG_TEST_TRACES"]).glob("worker-*.txt")):
        if text := path.read_text():
            terminalreporter.write_sep("=", f"{path.name}: a worker took long")
            terminalreporter.write(text)


def pytest_generate_tests(metafunc):
    """Runs every test that computes on every device, or on those that GPUREG_TEST_DEVICES names."""
    if "device" in metafunc.fixturenames:
        named = os.environ.get("GPUREG_TEST_DEVICES")
        names = [device.name for device in gr.devices()]
        metafunc.parametrize("device", named.split(",") if named else names)


@pytest.fixture
def rng():
    """Returns random numbers with a seed that is printed, and that GPUREG_TEST_SEED sets."""
    seed = int(os.environ.get("GPUREG_TEST_SEED", np.random.SeedSequence().entropy % (1 << 32)))
    print(f"GPUREG_TEST_SEED={seed}")
    return np.random.default_rng(seed)


#: The errors that a test has measured, where GPUREG_TEST_RECORD is 0.
_measured = []


def assert_within_record(error, record, most=math.inf):
    """Asserts that an error is at most 1.5 times that of record: the larger of those by the host and by OpenCL, which hardly differ.
    most: a bound, where that is less than 1.5 times: a part of the error is then what no registration of this kind can remove.

    To measure records again, run tests with GPUREG_TEST_RECORD=0 in the environment: a test then fails at its end, and prints each error.
    """
    message = f"an error of {error:.6g}, where that of record is {record}"
    if os.environ.get("GPUREG_TEST_RECORD") == "0":
        caller = sys._getframe(1)
        _measured.append(f"{Path(caller.f_code.co_filename).name}:{caller.f_lineno}: {message}")
    else:
        assert error <= min(1.5 * record, most), message


@pytest.fixture(autouse=True)
def print_measured_errors():
    """Fails after a test that has measured errors instead of comparing them."""
    _measured.clear()
    yield
    if _measured:
        pytest.fail("\n".join(_measured), pytrace=False)


@pytest.fixture(params=["zlib", "isal"])
def deflate_library(request, monkeypatch):
    """Uses zlib for gzip's members, and then isal if it is installed. Returns the library's name."""
    from gpuregistration import _deflate

    library = zlib if request.param == "zlib" else pytest.importorskip("isal.isal_zlib", reason="isal is not there: pip install isal")
    monkeypatch.setattr(_deflate, "library", library)
    return request.param


def make_head(transform=None, shape=(40, 48, 44), spacing=(2.0, 2.0, 2.0), origin=(-40.0, -45.0, -35.0), direction=None):
    """Returns a smooth body with parts, with values from 0 to some 170, at an image's points mapped by a transform."""
    grid = gr.Image(np.zeros(shape, np.float32), spacing, origin, direction)
    d = grid.dimension
    index = np.stack(np.meshgrid(*[np.arange(n) for n in shape], indexing="ij"), axis=-1)[..., ::-1]
    point = index @ grid.index_to_point[:-1, :-1].T + grid.origin
    point = point if transform is None else transform(point)
    value = np.zeros(shape)
    for height, centre, radius in (
        (100.0, (3.0, 2.0, 4.0), (28.0, 34.0, 24.0)),
        (45.0, (-9.0, -14.0, 10.0), (8.0, 10.0, 8.0)),
        (-40.0, (14.0, 10.0, -4.0), (10.0, 8.0, 12.0)),
        (30.0, (6.0, -18.0, -8.0), (7.0, 7.0, 7.0)),
    ):
        distance = (((point - np.array(centre[:d])) / np.array(radius[:d])) ** 2).sum(axis=-1)
        value += height * np.exp(-(distance**2) if height == 100.0 else -distance)
    return grid.like(value.astype(np.float32))


def turn(degrees, dimension=3):
    """Returns a rotation about the last axis."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    matrix = np.eye(dimension)
    matrix[:2, :2] = [[c, -s], [s, c]]
    return matrix


@pytest.fixture(scope="session")
def moved():
    """Returns the map from the fixed head's points to the moving one's."""
    return gr.Affine(turn(7.0), [4.0, -3.0, 2.0], [2.0, 1.0, 3.0])


@pytest.fixture(scope="session")
def heads(moved):
    """Returns a head, and the same head moved by that map."""
    return make_head(), make_head(moved.inverse().transform_points)


def relative_difference(a, b):
    """Returns the largest difference, relative to the range of the second array."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    return np.abs(a - b).max() / np.ptp(b)


@pytest.fixture(scope="session")
def head_files(heads, tmp_path_factory):
    """Writes the heads' files: .fixed, .moving, .mask of the fixed one, .labels of the fixed one, and .moving_labels."""
    pytest.importorskip("SimpleITK")
    folder = tmp_path_factory.mktemp("heads")
    fixed, moving = heads
    images = {
        "fixed": fixed,
        "moving": moving,
        "mask": fixed.like((fixed.array > 5).astype(np.uint8)),
        "labels": fixed.like((fixed.array // 40).astype(np.uint8)),
        "moving_labels": moving.like((moving.array // 40).astype(np.uint8)),
    }
    for name, image in images.items():
        gr.write_image(folder / f"{name}.nii.gz", image)
    return SimpleNamespace(folder=folder, **{name: folder / f"{name}.nii.gz" for name in images})


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    running = Browser(tmp_path_factory.mktemp("profile"))
    yield running
    running.close()


@pytest.fixture
def limit(device):
    """Returns a function that limits the device's memory to so many bytes beside what is held; the limit is lifted afterwards."""
    gr.release_memory(device)

    def set_limit(size):
        gr.release_memory(device)
        _engine.set_memory_limit(device, _engine.memory_in_use(device) + size)

    yield set_limit
    _engine.set_memory_limit(device, 0)
    gr.release_memory(device)


@pytest.fixture
def notes(tmp_path, monkeypatch):
    """Has workers, which are other processes, note what happens to them in a folder, which GPUREG_TEST_NOTES names."""
    folder = tmp_path / "notes"
    folder.mkdir()
    monkeypatch.setenv("GPUREG_TEST_NOTES", str(folder))
    return folder


@pytest.fixture(scope="module")
def patch():
    """Returns a monkeypatch of all tests of a module."""
    with pytest.MonkeyPatch.context() as patched:
        yield patched


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Returns the table of three people, for tests of templates."""
    from template_data import make_people

    return make_people(tmp_path_factory.mktemp("people"))
