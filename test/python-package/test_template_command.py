# SPDX-License-Identifier: Apache-2.0
"""Tests gpureg template on workers of the host: the same bits as in one process, after its death, too, and what it says."""

import contextlib
import json
import os
import re
import signal
import time
from types import SimpleNamespace

import gpuregistration as gr
import pytest
import template_workers
from command_line import assert_fails, gpureg, run_process, start_process
from gpuregistration.command.template import _describe
from gpuregistration.template import Progress, TemplateError, build_template
from killing import KillOne
from template_data import QUICK, WORDS, build_here, files_of, make_people

pytest.importorskip("SimpleITK")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Returns a template of three people that the command has built with two workers, and one of this process: .table, .out, .here, .printed,
    .err."""
    folder = tmp_path_factory.mktemp("template")
    table = make_people(folder)
    code, printed, err = run_process("template", table, "-o", folder / "out", *WORDS, "--workers-per-device", "2", "--json", "--times")
    assert code == 0, err
    with pytest.MonkeyPatch.context() as patch:
        build_here(patch, table, folder / "here", transform=QUICK)
    return SimpleNamespace(table=table, out=folder / "out", here=folder / "here", printed=json.loads(printed), err=err)


def test_two_workers_have_the_bits_of_one_process(ran):
    assert files_of(ran.out) == files_of(ran.here)
    assert sum(device["pairs"] for device in ran.printed["summary"]["devices"]) == 12


def test_two_workers_of_a_scheduler_have_the_bits_of_one_process(ran, tmp_path):
    """The scheduler and its workers are processes that exist before, and stay."""
    words = [word for word in WORDS if word not in ("--devices", "host")]
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "dask"), env={"ITK_GPU_DEVICE": "host"}
    ) as cluster:
        with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
            client.wait_for_workers(2)
            code, printed, err = run_process(
                "template", ran.table, "-o", tmp_path / "out", *words, "--scheduler", cluster.scheduler_address, "--json"
            )
            executed = client.run(lambda dask_worker: (os.getpid(), dask_worker.state.executed_count))
    assert code == 0, err
    assert files_of(tmp_path / "out") == files_of(ran.out) and (tmp_path / "out" / "report.html").is_file()
    names = [sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) for folder in (tmp_path / "out", ran.out)]
    assert names[0] == names[1]
    assert sum(device["pairs"] for device in json.loads(printed)["summary"]["devices"]) == 12
    processes, counts = zip(*executed.values())
    assert len(set(processes)) == 2 and os.getpid() not in processes and min(counts) > 0


def test_what_it_prints(ran, capfd):
    assert [one["stages"] for one in ran.printed["rounds"]] == [[], ["affine", "greedy"], ["affine", "greedy"]]
    assert [one["id"] for one in ran.printed["people"]] == ["p0", "p1", "p2"]
    assert ran.printed["warnings"] == json.loads((ran.out / "results.json").read_text("utf-8"))["warnings"]
    assert [warning in ran.err for warning in ran.printed["warnings"]] == [True] * len(ran.printed["warnings"])
    assert "round 2: register, a person" in ran.err and "round 2: sharpen and warp" in ran.err and "round 2 of 2, " in ran.err
    code, printed, err = gpureg(capfd, "template", ran.table, "-o", ran.out, *WORDS)
    lines = printed.splitlines()
    assert code == 0 and lines[0].split()[0] == "round" and len(lines) == 5
    assert lines[-1].startswith("2 rounds of 3 people done, 0 of them now") and str(ran.out / "template.nii.gz") in lines[-1]
    assert f"gpureg template {ran.table} -o {ran.out}" in (ran.out / "report.html").read_text("utf-8")


def test_progress_lines():
    assert _describe(Progress(0, 3, "mean", 0, 1)) == "start, waiting for workers"
    assert _describe(Progress(2, 3, "images", 1, 6, 2)) == "round 2 of 3, 1/6 images done"
    assert _describe(Progress(2, 3, "mean", 0, 1, 2)) == "round 2 of 3, mean"


def test_a_process_that_was_killed_goes_on(ran, tmp_path):
    """It is killed when the first person of the second round is done."""
    words = ("template", ran.table, "-o", tmp_path / "out", *WORDS, "--workers-per-device", "1")
    process = start_process(*words)
    end = time.monotonic() + 60
    while not list((tmp_path / "out" / "rounds" / "2").glob("p*/result.json")) and process.poll() is None:
        assert time.monotonic() < end, "nothing was done"
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert not (tmp_path / "out" / "template.nii.gz").exists()
    first = (tmp_path / "out" / "rounds" / "1" / "mean.nii.gz").stat().st_mtime_ns
    code, _, err = run_process(*words)
    assert code == 0, err
    assert (tmp_path / "out" / "rounds" / "1" / "mean.nii.gz").stat().st_mtime_ns == first
    assert files_of(tmp_path / "out") == files_of(ran.out)
    assert not [path for path in (tmp_path / "out").rglob(".*") if path.name != ".cohort-lock"]


@contextlib.contextmanager
def workers_of(where, folder):
    """Yields the settings of two workers, of this machine or of a scheduler."""
    if where != "a scheduler's":
        yield {"devices": ["host"], "workers_per_device": 2}
        return
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(folder), env={"ITK_GPU_DEVICE": "host"}
    ) as cluster:
        yield {"scheduler": cluster.scheduler_address}


def leftovers(folder):
    """Returns hidden files and folders, and folders of results without a record."""
    hidden = [path for path in folder.rglob(".*") if path.name != ".cohort-lock"]
    places = [path.parent for path in folder.rglob("*") if path.is_file() and path.parent != folder]
    return hidden + [place for place in set(places) if not (place / "result.json").is_file()]


#: What the news say of a job whose worker was killed.
AGAIN = r"The worker .+ has ended; ([\w ]+) is tried again, by itself\."


@pytest.mark.parametrize("where", ["from outside", "at its jobs", "a scheduler's"])
def test_a_killed_worker(ran, tmp_path, notes, monkeypatch, where):
    """Its jobs are done again: the template has the bits of a run without this, and nothing half-written is left."""
    progress = KillOne(notes)
    run = template_workers.run_or_wait if where == "from outside" else template_workers.run_or_die_once
    monkeypatch.setattr("gpuregistration.cohort.worker.run", run)
    with workers_of(where, tmp_path / "dask") as settings:
        build_template(ran.table, tmp_path / "out", transform=QUICK, first=(), rounds=2, progress=progress, **settings)
    assert files_of(tmp_path / "out") == files_of(ran.out)
    names = [sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) for folder in (tmp_path / "out", ran.out)]
    assert names[0] == names[1] and leftovers(tmp_path / "out") == []
    again = [re.fullmatch(AGAIN, one) for one in progress.news]
    assert all(again), progress.news
    names = [template_workers.KILLER] if where == "from outside" else template_workers.ONCE
    assert len(progress.killed) == 1 if where == "from outside" else {path.name for path in notes.iterdir()} == set(names)
    # Dask hands the jobs of a scheduler's worker to another one by itself.
    wanted = set() if where == "a scheduler's" else {name.split()[1] for name in names}
    assert wanted <= {one[1] for one in again}, progress.news


def test_a_killed_worker_that_averages(ran, tmp_path, notes, monkeypatch):
    """Its part is averaged again, and the mean has the bits of one process."""
    for name in template_workers.ONCE:
        # As if a worker had been killed there before.
        (notes / name).touch()
    monkeypatch.setattr("gpuregistration.cohort.worker.run", template_workers.run_or_die_once)
    monkeypatch.setattr("gpuregistration.template.rounds._MANY_PEOPLE", 1)
    news = []
    with workers_of("this machine's", tmp_path / "dask") as settings:
        build_template(
            ran.table, tmp_path / "out", transform=QUICK, first=(), rounds=2, progress=lambda one: news.extend([one.news] if one.news else []), **settings
        )
    assert (notes / template_workers.AVERAGING).exists()
    assert [re.fullmatch(AGAIN, one)[1] for one in news] == ["average 2 of 2"]
    assert files_of(tmp_path / "out") == files_of(ran.out) and leftovers(tmp_path / "out") == []


@pytest.mark.parametrize("where", ["this machine's", "a scheduler's"])
def test_a_person_who_kills_each_worker(ran, tmp_path, notes, monkeypatch, where):
    """The error says who, and what to do; what is done stays, and the next run does what is missing, to the same bits."""
    out, settings = tmp_path / "out", {"transform": QUICK, "first": (), "rounds": 2}
    message = (
        "round 2: p1 failed: WorkerKilled: its worker was killed, twice: is there enough memory, and what does the system's log say? "
        "Results that are done stay: mend the cause, or take the row out, and run it again."
    )
    with workers_of(where, tmp_path / "dask") as of_workers, monkeypatch.context() as patch:
        patch.setattr("gpuregistration.cohort.worker.run", template_workers.run_or_die)
        with pytest.raises(TemplateError, match=f"^{re.escape(message)}$"):
            build_template(ran.table, out, **settings, **of_workers)
    # A scheduler hands a job to other workers three times more, as Dask's allowed-failures says.
    assert (notes / "kills").read_text() == (8 if where == "a scheduler's" else 2) * "killed\n"
    assert leftovers(out) == []
    done = [place / "result.json" for place in (out / "rounds" / "0", out / "rounds" / "1", *(out / "rounds" / "2" / id for id in ("p0", "p2")))]
    assert sorted(out.rglob("result.json")) == sorted(done) and not (out / "template.nii.gz").exists()
    means = [out / "rounds" / number / "mean.nii.gz" for number in "01"]
    before = [file.stat().st_mtime_ns for file in means]
    template, jobs = build_here(monkeypatch, ran.table, out, **settings)
    assert jobs == ["PersonJob p1", "MeanJob mean", "FinishJob p0", "FinishJob p1", "FinishJob p2"]
    assert [file.stat().st_mtime_ns for file in means] == before
    assert files_of(out) == files_of(ran.out) and leftovers(out) == []


@pytest.mark.parametrize(
    "code, part, words",
    [
        (2, "--rounds 0 is not possible: give 1 or more", ("--rounds", "0")),
        (2, "--weights 1,2 is not possible: give one number for each modality, such as 1x0.5", ("--weights", "1,2")),
        (1, "weights=[1.0, 2.0] is not possible; it is to have one number for each modality of the table, that is 1", ("--weights", "1x2")),
        (2, '--transform flow: there is no stage "flow"', ("--transform", "flow")),
        (2, "--transform flow", ("--first", "flow")),
        (1, "There is no sharpening 'much'; there are: laplacian, unsharp, none", ("--sharpening", "much")),
        (1, "start=", ("--start", "gone.nii.gz")),
        (1, "step=-1.0 is not possible", ("--step=-1",)),
        (2, "--workers-per-device is to be 1 or more", ("--workers-per-device", "0")),
        (2, "leave them, or --scheduler, out", ("--scheduler", "tcp://nowhere:1", "--devices", "host")),
    ],
)
def test_wrong_use(ran, tmp_path, capfd, code, part, words):
    assert_fails(capfd, code, part, None, "template", ran.table, "-o", tmp_path / "out", *words)
    assert not (tmp_path / "out").exists()


def test_wrong_tables(ran, tmp_path, capfd):
    (tmp_path / "t.csv").write_text("image\na.nii.gz\nb.nii.gz\n")
    assert_fails(capfd, 1, "row 1: there is no image file", "row 2", None, "template", tmp_path / "t.csv", "-o", tmp_path / "out")
    people = [ran.table.parent / f"p{n}-0.nii.gz" for n in range(2)]
    (tmp_path / "u.csv").write_text(f"image,image2\n{people[0]},{people[1]}\n{people[1]},\n")
    assert_fails(capfd, 1, f"{tmp_path / 'u.csv'} cannot be used: row 2: image2 is empty", None, "template", tmp_path / "u.csv", "-o", tmp_path / "out")
    assert_fails(capfd, 1, "There is no folder", None, "template", ran.table, "-o", tmp_path / "no" / "out")


def test_a_person_who_is_no_image_is_named(ran, tmp_path, capfd):
    """The worker's error is one line here, which names the row and its file."""
    (tmp_path / "b.nii.gz").write_text("nothing")
    (tmp_path / "t.csv").write_text(f"image\n{ran.table.parent / 'p0-0.nii.gz'}\nb.nii.gz\n")
    assert_fails(capfd, 1, "round 0: ", tmp_path / "b.nii.gz", None, "template", tmp_path / "t.csv", "-o", tmp_path / "out", *WORDS, "--quiet")


def test_two_in_one_folder(ran, tmp_path):
    from gpuregistration.cohort.folder import locked

    (tmp_path / "out").mkdir()
    with locked(tmp_path / "out", "builds a template"), pytest.raises(gr.BadInputError, match="Another process builds a template"):
        build_template(ran.table, tmp_path / "out", devices=["host"])
