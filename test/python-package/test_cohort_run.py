# SPDX-License-Identifier: Apache-2.0
"""Tests a cohort on two workers of the host: its results, which pairs are registered again, and that files are read and written
meanwhile."""

import csv
import html
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import gpuregistration as gr
import numpy as np
import pytest
from cohort_data import assert_nothing_half_done, make_cohort
from command_line import assert_fails, gpureg, gpureg_json, run_process
from conftest import assert_within_record
from gpuregistration import stages
from gpuregistration.cohort import Progress
from gpuregistration.cohort.folder import describe_files, find_done
from gpuregistration.cohort.settings import Settings
from gpuregistration.cohort.table import Row
from gpuregistration.command.cohort import _describe
from zarr_data import write_zarr

pytest.importorskip("SimpleITK")
pytest.importorskip("distributed")

TRANSFORM = ["affine", stages.FreeForm(levels=1, iterations=5, spacing=16.0)]
WORDS = ("--transform", "affine,ffd:levels=1:iterations=5:spacing=16", "--devices", "host", "--workers-per-device", "2")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Returns a cohort of four pairs that the command has registered: .folder, .table, .out, .printed."""
    folder = tmp_path_factory.mktemp("cohort")
    table = make_cohort(folder, 4, labels=True)
    out = folder / "out"
    code, printed, err = run_process("cohort", table, "-o", out, *WORDS, "--json")
    assert code == 0, err
    return SimpleNamespace(folder=folder, table=table, out=out, printed=json.loads(printed), err=err)


def record_of(ran, id):
    return json.loads((ran.out / id / "result.json").read_text("utf-8"))


def test_same_bits_as_register(ran):
    fixed = gr.read_image(ran.folder / "fixed.nii.gz")
    for n in range(4):
        result = gr.register(fixed, gr.read_image(ran.folder / f"moving-{n}.nii.gz"), TRANSFORM, device="host")
        assert (gr.read_image(ran.out / f"pair-{n}" / "warped.nii.gz").array == result.warped.array).all()
        found = gr.read_transform(ran.out / f"pair-{n}" / "transform.h5").transforms
        assert (found[0].array == result.transform.transforms[0].array).all()
        assert (found[1].matrix == result.transform.transforms[1].matrix).all()
        record = record_of(ran, f"pair-{n}")
        assert record["cost"] == result.cost
        assert record["stages"][1]["smallest_determinant"] == result.stages[1].smallest_determinant


def test_warnings_of_files_are_in_the_results(tmp_path):
    """Each pair has the warnings about its own files."""
    nibabel = pytest.importorskip("nibabel")
    table = make_cohort(tmp_path, 2)
    image = nibabel.load(tmp_path / "moving-1.nii.gz")
    values = np.asarray(image.dataobj)
    image.header["sform_code"] = image.header["qform_code"] = 0
    header = image.header.copy()
    nibabel.save(nibabel.Nifti1Image(values, None, header), tmp_path / "moving-1.nii.gz")
    cohort = gr.cohort.register_cohort(table, tmp_path / "out", TRANSFORM, devices=["host"], workers_per_device=1)
    first, second = cohort.pairs
    of_files = [[warning for warning in pair.warnings if ".nii.gz" in warning] for pair in (first, second)]
    assert of_files[0] == [] and len(of_files[1]) == 1 and "moving-1.nii.gz does not say where it lies" in of_files[1][0]
    with open(tmp_path / "out" / "results.csv", newline="") as file:
        assert [row["warnings"] for row in csv.DictReader(file)] == [" | ".join(pair.warnings) for pair in (first, second)]
    assert "does not say where it lies" in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_both_workers_worked_and_nothing_is_left(ran):
    assert_nothing_half_done(ran.out)
    summary = ran.printed["summary"]
    assert summary["pairs"] == summary["done_now"] == 4 and summary["failed"] == 0
    (device,) = summary["devices"]
    assert device["device"] == "host" and device["pairs"] == 4 and 0 < device["busy"] <= 1
    assert ran.err.splitlines()[-1] == "4/4 pairs done"


def test_record(ran):
    record = record_of(ran, "pair-1")
    assert record["inputs"]["fixed"]["size"] == os.path.getsize(ran.folder / "fixed.nii.gz")
    assert record["settings"]["stages"][1]["spacing"] == 16.0 and record["settings"]["seed"] == 1
    assert set(record["versions"]) == {"gpuregistration", "Python", "NumPy", "SimpleITK", "nibabel"} and record["device"] == "host"
    assert record["outputs"] == ["after.jpg", "before.jpg", "labels.nii.gz", "transform.h5", "warped.nii.gz"]
    assert sorted(path.name for path in (ran.out / "pair-1").iterdir()) == sorted([*record["outputs"], "result.json"])
    times = record["times"]
    assert times["read"] > 0 and times["register"] >= sum(stage["seconds"] for stage in record["stages"])


def test_labels_are_carried_along(ran):
    fixed, labels = gr.read_image(ran.folder / "fixed.nii.gz"), gr.read_image(ran.folder / "labels-3.nii.gz")
    result = gr.register(fixed, gr.read_image(ran.folder / "moving-3.nii.gz"), TRANSFORM, device="host")
    carried = gr.read_image(ran.out / "pair-3" / "labels.nii.gz").array
    assert (carried == gr.resample(labels, result.transform, fixed, "nearest", device="host").array).all()
    truth = gr.read_image(ran.folder / "fixed_labels.nii.gz").array
    before, after = record_of(ran, "pair-3")["dice"]["2"]
    assert after == 2 * ((truth == 2) & (carried == 2)).sum() / ((truth == 2).sum() + (carried == 2).sum())
    assert before < after


def test_tables(ran):
    with open(ran.out / "results.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    whole = json.loads((ran.out / "results.json").read_text("utf-8"))
    assert [row["id"] for row in rows] == [f"pair-{n}" for n in range(4)] == [pair["id"] for pair in whole["pairs"]]
    for row, pair in zip(rows, whole["pairs"]):
        record = record_of(ran, row["id"])
        assert row["state"] == "done" and float(row["cost"]) == record["cost"] == pair["stages"][1]["cost"]
        assert float(row["dice"]) == pytest.approx(np.mean([after for _, after in record["dice"].values()]), abs=1e-15)
        assert pair["dice_by_label"] == record["dice"] and pair["times"] == record["times"]
        assert row["error"] == row["initial"] == "" and pair["error"] is None
        assert row["moving"] == record["inputs"]["moving"]["path"]
    assert whole["summary"]["devices"] == ran.printed["summary"]["devices"]


def test_done_is_not_done_again(ran, capfd):
    before = {path: path.stat().st_mtime_ns for path in ran.out.glob("pair-*/*")}
    found = gpureg_json(capfd, "cohort", ran.table, "-o", ran.out, *WORDS)
    assert found["summary"]["done_now"] == 0 and [pair["state"] for pair in found["pairs"]] == ["done before"] * 4
    assert {path: path.stat().st_mtime_ns for path in ran.out.glob("pair-*/*")} == before


def test_what_has_changed_is_done_again(tmp_path, capfd):
    table, out = make_cohort(tmp_path, 3), tmp_path / "out"
    words = ("cohort", table, "-o", out, "--devices", "host")
    assert gpureg(capfd, *words)[0] == 0
    os.utime(tmp_path / "moving-0.nii.gz", ns=(1, 1))
    (out / "pair-1" / "warped.nii.gz").unlink()
    code, printed, err = gpureg(capfd, *words)
    assert code == 0 and "3 of 3 pairs done, 2 of them now" in printed, (printed, err)
    assert "pair-0 is done again: its moving has changed" in err and "pair-1 is done again: warped.nii.gz is missing" in err
    assert "pair-2 is" not in err
    code, printed, err = gpureg(capfd, *words, "--seed", "2")
    assert "3 of them now" in printed and err.count("is done again: its settings have changed") == 3
    code, printed, err = gpureg(capfd, *words, "--seed", "2", "--reports")
    assert "3 of them now" in printed and err.count("its report was not asked for before") == 3
    assert "gpureg register" in (out / "pair-2" / "report.html").read_text("utf-8")
    (out / "pair-2" / "result.json").write_text("[]")
    _, printed, err = gpureg(capfd, *words, "--seed", "2", "--transform", "affine")
    assert "pair-2 is done again: its result.json is none of this command's" in err
    # A report with other settings is removed.
    assert not (out / "pair-0" / "report.html").exists()
    assert_nothing_half_done(out)


def test_a_changed_zarr_is_done_again(tmp_path, capfd):
    """Its values are in files that lie deeper than the metadata."""
    zarr = pytest.importorskip("zarr", minversion="3")
    make_cohort(tmp_path, 1)
    moving = gr.read_image(tmp_path / "moving-0.nii.gz")
    write_zarr(tmp_path / "moving.zarr", [moving.array], unit="millimeter", scale=moving.spacing[::-1], translation=moving.origin[::-1])
    (tmp_path / "t.csv").write_text("fixed,moving\nfixed.nii.gz,moving.zarr#0\n")
    words = ("cohort", tmp_path / "t.csv", "-o", tmp_path / "out", "--devices", "host")
    first = gpureg_json(capfd, *words)
    assert gpureg_json(capfd, *words)["summary"]["done_now"] == 0
    zarr.open_array(tmp_path / "moving.zarr" / "scale0")[...] = np.roll(moving.array, 2, axis=2)
    second = gpureg_json(capfd, *words)
    assert second["summary"]["done_now"] == 1 and second["pairs"][0]["cost"] != first["pairs"][0]["cost"]


@pytest.mark.parametrize("change", ["content", "file", "less", "name"])
def test_what_a_zarr_is_described_by(tmp_path, change):
    place = tmp_path / "image.zarr"
    (place / "0" / "c").mkdir(parents=True)
    for name in (".zattrs", "0/.zarray", "0/c/0", "0/c/1"):
        (place / name).write_text("text")
    for path in (place, *place.rglob("*")):
        os.utime(path, ns=(5, 5))
    before = describe_files({"moving": f"{place}#0"})["moving"]
    assert before["path"] == f"{place}#0" and before["files"] == 4 and before["size"] == 16
    chunk = place / "0" / "c" / "0"
    if change == "content":
        chunk.write_text("more")
    elif change == "file":
        (place / "0" / "c" / "2").touch()
    elif change == "less":
        chunk.unlink()
    else:
        chunk.rename(chunk.with_name("7"))
    assert describe_files({"moving": f"{place}#0"})["moving"] != before


def test_other_files_are_described_as_before(tmp_path):
    """Records of earlier versions say the same."""
    (tmp_path / "slices").mkdir()
    for path in (tmp_path / "image.nii.gz", tmp_path / "slices" / "1.dcm", tmp_path / "slices" / "2.dcm"):
        path.write_text("text")
        os.utime(path, ns=(5, 5))
    files = {"fixed": str(tmp_path / "image.nii.gz"), "moving": str(tmp_path / "slices")}
    assert describe_files(files) == {
        "fixed": {"path": files["fixed"], "size": 4, "changed_ns": 5},
        "moving": {"path": files["moving"], "size": 8, "changed_ns": 5},
    }


def test_masks_and_initial_transform(tmp_path, capfd):
    make_cohort(tmp_path, 1)
    fixed, moving = (gr.read_image(tmp_path / f"{name}.nii.gz") for name in ("fixed", "moving-0"))
    masks = {name: image.like((image.array > 20).astype(np.uint8)) for name, image in (("f", fixed), ("m", moving))}
    for name, mask in masks.items():
        gr.write_image(tmp_path / f"{name}.nii.gz", mask)
    initial = gr.Affine(translation=[-2.0, 1.0, 0.0])
    gr.write_transform(tmp_path / "i.tfm", initial)
    (tmp_path / "t.csv").write_text("fixed,moving,fixed_mask,moving_mask,initial\nfixed.nii.gz,moving-0.nii.gz,f.nii.gz,m.nii.gz,i.tfm\n")
    found = gpureg_json(capfd, "cohort", tmp_path / "t.csv", "-o", tmp_path / "out", "--devices", "host", "--metric", "correlation")
    result = gr.register(
        fixed, moving, "rigid", "correlation", fixed_mask=masks["f"], moving_mask=masks["m"], initial=initial, device="host"
    )
    assert found["pairs"][0]["cost"] == result.cost and found["pairs"][0]["id"] == "0001"
    assert np.abs(gr.read_transform(tmp_path / "out" / "0001" / "transform.tfm").matrix_of() - result.transform.matrix_of()).max() < 1e-12


def test_the_command_that_repeats_a_pair_does(tmp_path, capfd):
    """Spacings of two dimensions, too."""
    make_cohort(tmp_path, 1)
    for name in ("fixed", "moving-0"):
        image = gr.read_image(tmp_path / f"{name}.nii.gz")
        gr.write_image(tmp_path / f"{name}.mha", gr.Image(image.array[10], image.spacing[:2], image.origin[:2]))
    (tmp_path / "t.csv").write_text("id,fixed,moving\nflat,fixed.mha,moving-0.mha\n")
    words = ("--transform", "rigid,ffd:levels=1:iterations=3:spacing=16x20", "--devices", "host", "--reports", "--times")
    code, _, err = gpureg(capfd, "cohort", tmp_path / "t.csv", "-o", tmp_path / "out", *words)
    assert code == 0, err
    lines = err.splitlines()[-5:]
    assert [line[:32].strip() for line in lines] == [
        "in all", "with workers ready", "read, mean of a pair", "wait for the device, mean of a p", "register, mean of a pair"
    ]  # fmt: skip
    assert len({len(line) for line in lines}) == 1 and all(line.endswith(" s") for line in lines)
    report = (tmp_path / "out" / "flat" / "report.html").read_text("utf-8")
    command = shlex.split(html.unescape(re.search(r'<pre id="command">(.*?)</pre>', report).group(1)))
    assert "rigid,ffd:levels=1:spacing=16.0x20.0:iterations=3" in command
    again = tmp_path / "again.nii.gz"
    gpureg_json(capfd, *[again if word == "warped.nii.gz" else word for word in command[1:]])
    assert (gr.read_image(again).array == gr.read_image(tmp_path / "out" / "flat" / "warped.nii.gz").array).all()


def test_the_docs_say_where_busy_is_reported(tmp_path, capfd):
    code, printed, err = gpureg(capfd, "cohort", make_cohort(tmp_path, 1), "-o", tmp_path / "out", "--devices", "host", "--times")
    assert code == 0 and printed.splitlines()[0].split() == ["device", "pairs", "busy", "what"] and "busy" not in err
    page = (Path(__file__).parents[2] / "docs" / "cohort.md").read_text("utf-8")
    (reported,) = [" ".join(part.split()) for part in page.split("\n- ") if "how busy each device was" in part]
    assert "The table at the end and the report" in reported and "--times" not in reported
    assert "the share of the time in which it registered at least one pair" in reported


def test_two_dimensions_and_labels_that_are_none(tmp_path, capfd):
    make_cohort(tmp_path, 1)
    for name in ("fixed", "moving-0"):
        image = gr.read_image(tmp_path / f"{name}.nii.gz")
        gr.write_image(tmp_path / f"{name}.mha", gr.Image(image.array[10], image.spacing[:2], image.origin[:2]))
    (tmp_path / "t.csv").write_text("id,fixed,moving,labels\nflat,fixed.mha,moving-0.mha,\nnone,fixed.mha,moving-0.mha,moving-0.mha\n")
    code, printed, err = gpureg(capfd, "cohort", tmp_path / "t.csv", "-o", tmp_path / "out", "--devices", "host")
    assert code == 1 and "1 of 2 pairs done" in printed and "none failed: BadInputError" in err and "no labels" in err
    fixed, moving = (gr.read_image(tmp_path / f"{name}.mha") for name in ("fixed", "moving-0"))
    warped = gr.read_image(tmp_path / "out" / "flat" / "warped.nii.gz")
    assert (warped.array == gr.register(fixed, moving, device="host").warped.array).all()


def test_the_device_waits_for_no_file(tmp_path):
    """Pairs are read while others are registered, and written while the next ones are registered."""
    from gpuregistration.cohort import register_cohort

    make_cohort(tmp_path, 6)
    slow = stages.FreeForm(levels=1, iterations=200, spacing=12.0)
    result = register_cohort(tmp_path / "pairs.csv", tmp_path / "out", slow, devices=["host"], workers_per_device=1)
    spans = sorted((pair.record["times"]["spans"] for pair in result.pairs), key=lambda one: one["register"][0])
    for this, following in zip(spans, spans[1:]):
        assert this["register"][1] <= following["register"][0], "one at a time"
        assert following["read"][0] < this["register"][1], "read ahead"
    longest = max(end - begin for begin, end in (one["register"] for one in spans))
    waits = [following["register"][0] - this["register"][1] for this, following in zip(spans, spans[1:])]
    assert max(waits) < 0.5 * longest, (waits, longest)
    assert result.shares[0].busy > 0.6


def test_the_tool_that_measures(tmp_path):
    make_cohort(tmp_path, 0)
    tool = Path(__file__).parents[2] / "tools" / "measure-cohort.py"
    words = ("--pairs", "2", "--head", tmp_path / "fixed.nii.gz", "--devices", "host", "--transform", "affine", "--folder", tmp_path)
    done = subprocess.run([sys.executable, tool, *words], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    names, numbers, what, error = done.stdout.splitlines()
    assert names.split()[:3] == ["devices", "pairs", "failed"] and numbers.split()[:3] == ["1", "2", "0"]
    assert what.startswith("affine, float32; host: ")
    # Within a quarter of a voxel, while heads were moved by some voxels: the true maps are not inverted.
    assert_within_record(float(error.split()[2]), 0.597)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("measure")] == []


def test_the_tool_that_measures_scaling(tmp_path):
    make_cohort(tmp_path, 0)
    (tmp_path / "heads").mkdir()
    (tmp_path / "fixed.nii.gz").rename(tmp_path / "heads" / "one.nii.gz")
    tool = Path(__file__).parents[2] / "tools" / "measure-scaling.sh"
    sizes = {"PAIRS": "3", "PEOPLE": "2", "ROUNDS": "1", "DEVICES": "host", "FOLDER": str(tmp_path), "PYTHON": sys.executable}
    done = subprocess.run([tool, tmp_path / "heads"], env={**os.environ, **sizes}, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    names, numbers = lines[1].split("  "), lines[2].split()
    assert lines[0] == "== Cohort" and "speed-up" in lines[1] and "to write" in lines[1], names
    assert numbers[:3] == ["1", "3", "0"] and numbers[6] == "1.00" and float(numbers[10]) > 0
    assert lines[-1].startswith("1 devices: ") and lines[-1].endswith("1.00 times as fast as 1")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("measure")] == []


@pytest.mark.parametrize(
    "progress, text",
    [
        (Progress(9, 0, 0, 0), "0/9 pairs done, waiting for workers"),
        (Progress(9, 3, 1, 2, workers=2, left=65.4), "3/9 pairs done (2 before), 1 failed, 1:05 left"),
        (Progress(9, 8, 1, 0, workers=2, left=0.0), "8/9 pairs done, 1 failed"),
    ],
)
def test_progress_line(progress, text):
    assert _describe(progress) == text


def test_wrong_use(tmp_path, capfd):
    table = make_cohort(tmp_path, 1)
    words = (2, None, "cohort", table, "-o", tmp_path / "out")
    for part, more in (
        ('no device "cuda:77"', ("--devices", "host,cuda:77")),
        ("names one twice", ("--devices", "host,host")),
        ("1 or more", ("--workers-per-device", "0")),
        ("leave them, or --scheduler, out", ("--scheduler", "tcp://127.0.0.1:1", "--devices", "host")),
        ("no stage", ("--transform", "affin")),
        ("There is no cost", ("--metric", "beauty")),
    ):
        assert_fails(capfd, 2, part, *words[1:], *more)
    assert not (tmp_path / "out").exists()


def test_folders_that_cannot_be(tmp_path, capfd):
    table = make_cohort(tmp_path, 1)
    (tmp_path / "file").touch()
    assert_fails(capfd, 1, "is no folder", None, "cohort", table, "-o", tmp_path / "file")
    assert_fails(capfd, 1, "There is no folder", None, "cohort", table, "-o", tmp_path / "none" / "out")


def test_values_beside_a_header_that_have_changed(tmp_path, heads, capfd):
    for name, image in zip(("f", "m"), heads):
        gr.write_image(tmp_path / f"{name}.mhd", image)
    table = tmp_path / "t.csv"
    table.write_text("fixed,moving\nf.mhd,m.mhd\n")
    words = ("cohort", table, "-o", tmp_path / "out", "--devices", "host", "--transform", "rigid")
    assert gpureg(capfd, *words)[0] == 0
    os.utime(tmp_path / "f.raw", ns=(1, 1))
    os.utime(tmp_path / "f.mhd", ns=(2, 2))
    assert "fixed has changed" in gpureg(capfd, *words)[2]
    (tmp_path / "m.raw").write_bytes(heads[1].array[::-1].tobytes())
    assert "0001 is done again: its moving has changed" in gpureg(capfd, *words)[2]


@pytest.mark.parametrize(
    "record",
    [
        '{"outputs": 3, "inputs": {}, "settings": {}}',
        '{"outputs": [1], "inputs": {}, "settings": {}}',
        '{"outputs": [], "inputs": 5, "settings": {}}',
        "3",
    ],
)
def test_records_of_others(tmp_path, record):
    (tmp_path / "result.json").write_text(record)
    found, why = find_done(tmp_path, Row("one", {}), Settings([stages.Rigid()]))
    assert found is None and "none of this command's" in why
