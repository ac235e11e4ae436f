# SPDX-License-Identifier: Apache-2.0
"""Tests what a device with too little memory leaves of the command's outputs, of a cohort and of a template: nothing half-written."""

import importlib.util
import os
import re
import shutil

import cohort_data
import gpuregistration as gr
import pytest
from cohort_data import assert_nothing_half_done, make_cohort
from command_line import assert_fails, gpureg, gpureg_json
from conftest import make_head
from gpuregistration import _engine
from gpuregistration.cohort import register_cohort
from gpuregistration.template import TemplateError, finish, mean, person
from template_data import build_here, files_of, make_people

pytest.importorskip("SimpleITK")
pytest.importorskip("distributed")


@pytest.fixture
def limit():
    """Returns a function that limits a device's memory to so many bytes beside what is held; the limits are lifted afterwards."""
    limited = set()

    def set_limit(device, size):
        limited.add(device)
        gr.release_memory(device)
        _engine.set_memory_limit(device, _engine.memory_in_use(device) + size)

    yield set_limit
    for device in limited:
        _engine.set_memory_limit(device, 0)
        gr.release_memory(device)


def limit_at(monkeypatch, limit, owner, name):
    """Has the host have no memory when a method is called."""
    work = getattr(owner, name)

    def without_memory(*arguments):
        limit("host", 1)
        return work(*arguments)

    monkeypatch.setattr(owner, name, without_memory)


@pytest.fixture
def old(tmp_path):
    """Returns names of outputs, at which there is something."""
    (tmp_path / "out").mkdir()
    names = {name: tmp_path / "out" / name for name in ("o.nii.gz", "t.h5", "w.nii", "i.nii.gz", "r.html")}
    for name, path in names.items():
        path.write_text(f"old {name}")
    return names


def assert_is_as_it_was(old):
    assert {path: path.read_text() for path in old.values()} == {path: f"old {name}" for name, path in old.items()}
    assert len(os.listdir(old["o.nii.gz"].parent)) == len(old)


def test_a_registration_that_does_not_fit(device, head_files, heads, old, capfd, limit):
    """The error has the registration's own numbers, not those of a device's start, and what it says would fit does."""
    plan = gr.plan_registration(*heads, "rigid", device=device)
    limit(device, plan.bytes - 1)
    words = ("register", head_files.fixed, head_files.moving, "--device", device, "--quiet", "-o", old["o.nii.gz"], "--output-transform", old["t.h5"])
    hint = "a finest level of voxels twice as long would hold"
    code, out, err = gpureg(capfd, *words)
    assert (code, out) == (1, "") and err.count("\n") == 1, err
    assert err.startswith(f"gpureg: out of memory on {device}: the registration would hold {plan.bytes / 2**20:.2f} MiB") and hint in err, err
    assert_is_as_it_was(old)
    assert gpureg_json(capfd, *words, "--plan", code=1)["fits"] is False
    coarser = gpureg_json(capfd, *words, "--plan", "--transform", "rigid:finest_edge=4")
    assert coarser["fits"] and f"{hint} {coarser['bytes'] / 2**20:.2f} MiB" in err, err
    # So little that not even a start fits.
    limit(device, 1)
    assert_fails(capfd, 1, f"would hold {plan.bytes / 2**20:.2f} MiB", "take smaller images", None, *words)
    assert_is_as_it_was(old)


def test_a_registration_that_ends_within(head_files, heads, old, capfd, limit):
    """The sums of poses, which are not planned, do not fit."""
    limit("host", gr.plan_registration(*heads, "rigid", device="host").bytes + 100_000)
    words = ("register", head_files.fixed, head_files.moving, "--device", "host", "--quiet", "-o", old["o.nii.gz"], "--output-transform", old["t.h5"])
    assert_fails(capfd, 1, "rigid: out of memory on host", "raise the limit, use smaller images or another device", None, *words)
    assert_is_as_it_was(old)


@pytest.mark.parametrize("option, name, what", [("--output-field", "w.nii", "displacement_field"), ("--output-inverse", "i.nii.gz", "inverse"), ("--report", "r.html", "write_report")])
def test_outputs_that_do_not_fit(head_files, old, capfd, monkeypatch, limit, option, name, what):
    """The image is being written when there is no memory for what follows."""
    found = gr._result.Result.__dict__[what]
    if what == "write_report":
        limit_at(monkeypatch, limit, gr._result.Result, what)
    else:
        limit_at(monkeypatch, limit, found, "func")
    stages = "ffd:levels=1:iterations=1:spacing=20"
    words = ("--device", "host", "--quiet", "--transform", stages, "-o", old["o.nii.gz"], option, old[name])
    assert_fails(capfd, 1, "memory", "another device", None, "register", head_files.fixed, head_files.moving, *words)
    assert_is_as_it_was(old)


def test_applying_does_not_fit(device, head_files, old, tmp_path, capfd, limit):
    gr.write_transform(tmp_path / "t.tfm", gr.Affine(translation=[1.0, 2.0, 3.0]))
    words = ("apply", head_files.moving, "-t", tmp_path / "t.tfm", "--device", device)
    limit(device, 1)
    for interpolation in ("linear", "bspline"):
        assert_fails(capfd, 1, "memory", "use", "another device", None, *words, "-o", old["o.nii.gz"], "--interpolation", interpolation)
        assert_is_as_it_was(old)
    if importlib.util.find_spec("zarr"):
        assert_fails(capfd, 1, "memory", "another device", None, *words, "-o", old["o.nii.gz"].with_name("o.zarr"), "--quiet")
        assert_is_as_it_was(old)
    limit(device, 100_000_000)
    gpureg_json(capfd, *words, "-o", old["o.nii.gz"])
    assert gr.read_image(old["o.nii.gz"]).shape == gr.read_image(head_files.moving).shape


def test_a_zarr_that_does_not_fit(device, tmp_path, monkeypatch, limit):
    """Two blocks are made, and then there is no memory for the others."""
    pytest.importorskip("zarr", minversion="3")
    import zarr_data
    from gpuregistration.ome_zarr import blocks, resample_zarr

    values = zarr_data.make_values((32, 32, 32))
    zarr_data.write_zarr(tmp_path / "big.zarr", [values])
    (tmp_path / "out").mkdir()
    zarr_data.write_zarr(tmp_path / "out" / "out.zarr", [zarr_data.make_values((4, 4, 4))])
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    compute, ids = blocks.ResampleJob.compute, []

    def compute_or_fill(job, *arguments):
        ids.append(job.id)
        if len(ids) == 3:
            limit(device, 1)
        return compute(job, *arguments)

    monkeypatch.setattr(blocks.ResampleJob, "compute", compute_or_fill)
    with pytest.raises(gr.OutOfMemoryError, match="memory.* another device"):
        words = {"memory": 3_000_000, "chunk": [8], "devices": [device]}
        resample_zarr(tmp_path / "big.zarr", tmp_path / "out" / "out.zarr", gr.Affine(translation=[1e-3, 0, 0]), **words)
    assert len(set(ids)) >= 3
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == before
    assert os.listdir(tmp_path / "out") == ["out.zarr"]


def test_a_cohort_goes_on_behind_a_pair_that_does_not_fit(tmp_path, monkeypatch):
    table = make_cohort(tmp_path, 3)
    head = make_head()
    gr.write_image(tmp_path / "large.nii.gz", head)
    lines = table.read_text().splitlines()
    table.write_text("\n".join([*lines[:2], "large,large.nii.gz,large.nii.gz", *lines[2:]]) + "\n")
    needed = gr.plan_registration(head, head, "rigid", device="host").bytes
    with monkeypatch.context() as little:
        little.setattr("gpuregistration.cohort.worker.run", cohort_data.run_with_little_memory)
        result = register_cohort(table, tmp_path / "out", "rigid", devices=["host"], workers_per_device=1)
    (failed,) = result.failed
    assert (failed.row.id, failed.error_type) == ("large", "OutOfMemoryError") and result.done_now == 3
    assert f"out of memory on host: the registration would hold {needed / 2**20:.2f} MiB, and there is room for" in failed.error, failed.error
    assert "a finest level of voxels twice as long would hold" in failed.error
    rows = (tmp_path / "out" / "results.csv").read_text("utf-8").splitlines()
    assert [re.search("done|failed", row)[0] for row in rows[1:]] == ["done", "failed", "done", "done"] and "OutOfMemoryError" in rows[2]
    assert_nothing_half_done(tmp_path / "out")
    assert not (tmp_path / "out" / "large").exists()


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """Returns the table of three people, and folders of their templates by the number of rounds."""
    table = make_people(tmp_path_factory.mktemp("people"))
    with pytest.MonkeyPatch.context() as patch:
        return table, {rounds: build_here(patch, table, table.parent / str(rounds), rounds=rounds)[0].output for rounds in (1, 2)}


PEOPLE = ["PersonJob p0", "PersonJob p1", "PersonJob p2"]
FINISH = ["FinishJob p0", "FinishJob p1", "FinishJob p2"]


@pytest.mark.parametrize(
    "job, failed, done_again",
    [
        (person.PersonJob, "p0 failed: OutOfMemoryError: .*; 2 more of 3 failed", [*PEOPLE, "MeanJob mean", *FINISH]),
        (mean.MeanJob, "mean failed: OutOfMemoryError: .*", ["MeanJob mean", *FINISH]),
        (finish.FinishJob, "p0 failed: OutOfMemoryError: .*; 2 more of 3 failed", FINISH),
    ],
    ids=["people", "mean", "transforms"],
)
def test_a_template_that_does_not_fit(template, tmp_path, monkeypatch, limit, job, failed, done_again):
    """The second round does not fit: the template of one round stays, and the next run goes on."""
    table, made = template
    out = shutil.copytree(made[1], tmp_path / "out")

    def published():
        return {path: path.read_bytes() for path in out.rglob("*") if path.is_file() and "rounds" not in path.parts}

    before = published()
    with monkeypatch.context() as little:
        limit_at(little, limit, job, "compute")
        with pytest.raises(TemplateError, match=f"^round 2: {failed}\\. Results that are done stay: .* run it again\\.$"):
            build_here(little, table, out, rounds=2)
    assert published() == before
    assert [path for path in out.rglob(".*") if path.name != ".cohort-lock"] == []
    _engine.set_memory_limit("host", 0)
    assert build_here(monkeypatch, table, out, rounds=2)[1] == done_again
    assert files_of(out) == files_of(made[2])
