# SPDX-License-Identifier: Apache-2.0
"""Pairs that fail, workers that are killed, a full disk, Ctrl-C, and a scheduler that exists."""

import contextlib
import csv
import errno
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import cohort_data
import gpuregistration as gr
import numpy as np
import pytest
from cohort_data import assert_nothing_half_done, make_cohort
from command_line import assert_fails, gpureg, run_process, start_process
from gpuregistration.cohort import WorkerError, cluster, folder, pipeline, register_cohort, schedule

pytest.importorskip("SimpleITK")
distributed = pytest.importorskip("distributed")

HOST = ("--devices", "host", "--workers-per-device", "2")
SLOW = "ffd:levels=1:iterations=20000:spacing=8"


def add_row(table, id, moving):
    table.write_text(table.read_text() + f"{id},fixed.nii.gz,{moving}\n")


def states(result):
    return {pair.row.id: pair.error_type or "done" for pair in result.pairs}


def test_a_pair_that_fails(tmp_path, capfd):
    table = make_cohort(tmp_path, 2)
    (tmp_path / "bad.nii.gz").write_bytes(b"no image")
    add_row(table, "bad", "bad.nii.gz")
    add_row(table, "flat", "flat.nii.gz")
    gr.write_image(tmp_path / "flat.nii.gz", gr.Image(np.ones((8, 8, 8), "float32")))
    words = ("cohort", table, "-o", tmp_path / "out", *HOST)
    code, printed, err = gpureg(capfd, *words)
    assert code == 1 and "2 of 4 pairs done" in printed
    assert "gpureg: bad failed: BadInputError" in err and "bad.nii.gz" in err
    with open(tmp_path / "out" / "results.csv", newline="", encoding="utf-8") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert [rows[id]["state"] for id in ("pair-0", "pair-1", "bad", "flat")] == ["done", "done", "failed", "failed"]
    assert rows["flat"]["error_type"] == "BadInputError" and "constant" in rows["flat"]["error"] and rows["flat"]["cost"] == ""
    assert "register" in json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))["pairs"][3]["trace"]
    assert not (tmp_path / "out" / "bad").exists()
    assert_nothing_half_done(tmp_path / "out")
    # Mended, it is done, and it alone.
    os.replace(tmp_path / "moving-0.nii.gz", tmp_path / "flat.nii.gz")
    os.link(tmp_path / "flat.nii.gz", tmp_path / "moving-0.nii.gz")
    code, printed, _ = gpureg(capfd, *words)
    assert code == 1 and "3 of 4 pairs done, 1 of them now" in printed


def test_errors_name_files(tmp_path, capfd):
    """As gpureg register does, word by word."""
    table = make_cohort(tmp_path, 1)
    sitk = pytest.importorskip("SimpleITK")
    fixed = gr.read_image(tmp_path / "fixed.nii.gz")
    spoilt = fixed.array.copy()
    spoilt[3, 2, 1] = np.nan
    gr.write_image(tmp_path / "nan.mha", fixed.like(spoilt))
    sitk.WriteImage(sitk.Image([6, 6, 6, 3], sitk.sitkFloat32), str(tmp_path / "series.nii"))
    gr.write_image(tmp_path / "a mask.nii", gr.Image(np.ones((9, 9, 9), np.uint8), [9.0] * 3))
    cases = {"nan": ("nan.mha", ""), "series": ("series.nii", ""), "masked": ("moving-0.nii.gz", "a mask.nii")}
    lines = [f"{id},fixed.nii.gz,{moving},{mask}" for id, (moving, mask) in cases.items()]
    table.write_text("\n".join(["id,fixed,moving,fixed_mask", *lines]) + "\n")
    result = register_cohort(table, tmp_path / "out", devices=["host"])
    errors = {pair.row.id: pair.error for pair in result.failed}
    assert f"The file {tmp_path}/nan.mha has 1 value that is infinite or not a number, the first one at voxel (1, 2, 3)" in errors["nan"]
    assert f"The file {tmp_path}/series.nii has 4 dimensions" in errors["series"]
    assert f"The file {tmp_path}/a mask.nii is on another grid than the file {tmp_path}/fixed.nii.gz" in errors["masked"]
    assert f"gpureg apply '{tmp_path}/a mask.nii' --reference" in errors["masked"]
    for id, (moving, mask) in cases.items():
        words = ["register", tmp_path / "fixed.nii.gz", tmp_path / moving, "-o", tmp_path / "o.nii"]
        words += ["--mask", tmp_path / mask] if mask else []
        assert gpureg(capfd, *words, "--quiet") == (1, "", f"gpureg: {errors[id]}\n")


def test_labels_on_another_grid(tmp_path):
    table = make_cohort(tmp_path, 1, labels=True)
    gr.write_image(tmp_path / "fixed_labels.nii.gz", gr.Image(np.ones((9, 9, 9), np.uint8), [9.0] * 3))
    (failed,) = register_cohort(table, tmp_path / "out", devices=["host"]).failed
    assert "fixed_labels.nii.gz is on another grid than" in failed.error and "gpureg apply" in failed.error


def test_another_cluster_is_none_of_its_business(tmp_path):
    """Dask's usual port is taken, and is none of this command's: nothing is said of it."""
    table = make_cohort(tmp_path, 1)
    with socket.socket() as taken:
        with contextlib.suppress(OSError):
            taken.bind(("", 8787))
            taken.listen()
        assert run_process("cohort", table, "-o", tmp_path / "out", *HOST, "--quiet") == (0, "", "")


def test_whole_numbers_of_cohorts(tmp_path, capfd):
    table = make_cohort(tmp_path, 1)
    for seed in ("-1", "99999999999999999999"):
        assert_fails(capfd, 2, f"--seed: {seed} is not possible", None, "cohort", table, "-o", tmp_path / "out", "--seed", seed)
    for wrong in ({"seed": 1.5}, {"seed": None}, {"workers_per_device": 0}, {"workers_per_device": 1.5, "devices": ["host"]}):
        with pytest.raises(gr.BadInputError, match=f"{next(iter(wrong))}="):
            register_cohort(table, tmp_path / "out", **wrong)
    with pytest.raises(gr.BadInputError, match="ffd: levels=9"):
        register_cohort(table, tmp_path / "out", ["affine", gr.stages.FreeForm(levels=9)])
    assert not (tmp_path / "out").exists()


def test_a_pair_that_kills_its_worker(tmp_path, monkeypatch):
    table = make_cohort(tmp_path, 5)
    text = table.read_text().replace("pair-1,", "killer,").replace("pair-2,", "once,")
    table.write_text(text)
    monkeypatch.setattr("gpuregistration.cohort.worker.run", cohort_data.run_or_die)
    reported = []
    result = register_cohort(
        table, tmp_path / "out", devices=["host"], workers_per_device=2, progress=lambda progress: reported.append(progress)
    )
    assert states(result) == {"pair-0": "done", "killer": "WorkerKilled", "once": "done", "pair-3": "done", "pair-4": "done"}
    assert "its worker was killed, twice" in result.failed[0].error
    *killed, failed = [one.news for one in reported if one.news]
    assert failed.startswith("killer failed: ")
    # Both pairs are reported, and what else those workers had.
    found = [re.fullmatch(r"The worker .+ has ended; ([a-z0-9-]+) is tried again, by itself\.", one) for one in killed]
    assert killed and all(found), killed
    again = [one[1] for one in found]
    assert {"killer", "once"} <= set(again) and len(set(again)) == len(again)
    assert any(one.startswith(f"The worker 0 on {socket.gethostname()} (host) has ended") for one in killed), killed
    assert_nothing_half_done(tmp_path / "out")


def test_a_worker_is_started_again_each_time():
    """Dask looks once for a worker some time after it ended, and by default would give it up here, while it is starting."""
    from dask import config

    seen = set()
    with config.set({"distributed.deploy.lost-worker-timeout": "10 ms"}), cluster.local_client(cluster.Plan(["host"], 1)) as client:
        for _ in range(3):
            client.wait_for_workers(1, timeout=60)
            ((address, process),) = client.run(os.getpid).items()
            assert process not in seen
            seen.add(process)
            os.kill(process, signal.SIGKILL)
            while address in client.nthreads():
                time.sleep(0.01)


def test_a_worker_of_a_scheduler_that_is_killed(tmp_path, monkeypatch):
    """Dask hands its pairs to another one, and the files that it was making are removed."""
    table = make_cohort(tmp_path, 3)
    monkeypatch.setattr("gpuregistration.cohort.worker.run", cohort_data.run_or_die_writing)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "dask"), env={"ITK_GPU_DEVICE": "host"}
    ) as cluster:
        result = register_cohort(table, tmp_path / "out", scheduler=cluster.scheduler_address)
    assert set(states(result).values()) == {"done"} and (tmp_path / "asked-pair-1").exists()
    assert_nothing_half_done(tmp_path / "out")


def test_a_device_that_is_lost(tmp_path, monkeypatch):
    table = make_cohort(tmp_path, 4)
    monkeypatch.setattr("gpuregistration.cohort.worker.run", cohort_data.run_or_lose_device)
    reported = []
    result = register_cohort(
        table, tmp_path / "out", devices=["host"], workers_per_device=1, progress=lambda progress: reported.append(progress.news)
    )
    assert set(states(result).values()) == {"done"}
    assert f"The worker 0 on {socket.gethostname()} (host) has lost its device, and is started again." in reported
    by = {path.name.split("-by-")[1] for path in tmp_path.glob("pair-*-by-*")}
    (again,) = tmp_path.glob("pair-1-by-*")
    assert len(by) == 2, "another process took its place"
    assert again.name.split("-by-")[1] in by


@pytest.mark.parametrize("number, kind", [(errno.ENOSPC, OSError), (errno.EIO, OSError), (errno.EACCES, gr.BadInputError)])
def test_a_folder_that_cannot_be_written(tmp_path, number, kind):
    with pytest.raises(kind) as found, folder.writing_in(tmp_path):
        raise OSError(number, os.strerror(number))
    assert type(found.value) is kind and ("folder that you may write in" in str(found.value)) == (kind is gr.BadInputError)


def test_a_full_disk(tmp_path):
    """No file may be larger than what a warped image takes."""
    table = make_cohort(tmp_path, 3)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    code, printed, err = run_process("cohort", table, "-o", tmp_path / "out", *HOST, before=limit)
    assert code == 1, err
    assert err.count("failed: OSError") == 3 and "cannot be written: File too large" in err
    assert "Traceback" not in err
    assert_nothing_half_done(tmp_path / "out")
    assert list((tmp_path / "out").glob("pair-*")) == []
    # The results that were there before stay as they were.
    assert run_process("cohort", table, "-o", tmp_path / "out", *HOST)[0] == 0
    before = {path: path.read_bytes() for path in (tmp_path / "out").glob("*/*")}
    code, printed, err = run_process("cohort", table, "-o", tmp_path / "out", *HOST, "--seed", "2", before=limit)
    assert code == 1 and err.count("is done again: its settings have changed") == 3 == err.count("failed: OSError")
    assert {path: path.read_bytes() for path in (tmp_path / "out").glob("*/*")} == before and len(before) == 15


@pytest.mark.parametrize("number, code, word", [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")])
def test_interruption(tmp_path, number, code, word):
    table = make_cohort(tmp_path, 2)
    out = tmp_path / "out"
    assert run_process("cohort", table, "-o", out, "--transform", SLOW.replace("20000", "2"), *HOST)[0] == 0
    before = (out / "pair-0" / "result.json").read_bytes()

    def start():
        # A terminal sends Ctrl-C to the whole group.
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    process = start_process("cohort", table, "-o", out, "--transform", SLOW, *HOST, before=start)
    deadline = time.monotonic() + 60
    while cpu_seconds(process.pid) < 3:
        assert process.poll() is None and time.monotonic() < deadline, process.stderr.read()
        time.sleep(0.1)
    sent = time.monotonic()
    os.killpg(process.pid, number) if number == signal.SIGINT else os.kill(process.pid, number)
    printed, err = process.communicate(timeout=60)
    assert process.returncode == code and printed == "", err
    assert time.monotonic() - sent < 20
    assert err.splitlines()[-1] == f"gpureg: {word}" and "Traceback" not in err, err
    while members(process.pid):
        # Python's tracker of resources ends a moment after the process that it tracks.
        assert time.monotonic() - sent < 20, members(process.pid)
        time.sleep(0.05)
    assert (out / "pair-0" / "result.json").read_bytes() == before
    assert_nothing_half_done(out)


def members(group):
    """The processes of a group."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getpgid(int(name)) == group:
                found.append(int(name))
        except ProcessLookupError:
            pass
    return found


def cpu_seconds(group):
    """For how long a group's processes have computed."""
    ticks = 0
    for process in members(group):
        try:
            with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
                ticks += sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return ticks / os.sysconf("SC_CLK_TCK")


def test_a_scheduler_that_exists(tmp_path, capfd):
    table = make_cohort(tmp_path, 3)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "dask"), env={"ITK_GPU_DEVICE": "host"}
    ) as cluster:
        words = ("cohort", table, "-o", tmp_path / "out", "--scheduler", cluster.scheduler_address)
        code, printed, err = gpureg(capfd, *words)
        assert code == 0 and "3 of 3 pairs done, 3 of them now" in printed, err
        # It stays, and serves once more.
        assert gpureg(capfd, *words, "--seed", "3")[0] == 0
        with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
            assert len(client.nthreads()) == 2
    fixed, moving = (gr.read_image(tmp_path / f"{name}.nii.gz") for name in ("fixed", "moving-2"))
    warped = gr.read_image(tmp_path / "out" / "pair-2" / "warped.nii.gz")
    assert (warped.array == gr.register(fixed, moving, device="host").warped.array).all()


@pytest.mark.parametrize("threads, part", [(7, 0.6), (1, 0.3)])
def test_workers_share_the_pairs(tmp_path, monkeypatch, threads, part):
    """Each worker gets nearly as many as the others, in small cohorts and in large ones, and has several at a time. Where each has one
    thread, Dask shares out less evenly."""
    monkeypatch.setattr("gpuregistration.cohort.worker.run", cohort_data.run_slowly)
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=threads, dashboard_address=None, local_directory=str(tmp_path), env={"ITK_GPU_DEVICE": "host"}
    ) as cluster:
        with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
            for count in (3, 6, 60):
                found = schedule.Schedule(client, None, 0)
                list(found.start())
                jobs = [SimpleNamespace(row=SimpleNamespace(id=n)) for n in range(count)]
                outcomes = [outcome for outcome in found.run(jobs) if outcome is not None]
                found.end()
                assert sorted(outcome.id for outcome in outcomes) == list(range(count))
                by_worker = [[outcome.spans["register"] for outcome in outcomes if outcome.worker.name == name] for name in "012"]
                assert min(map(len, by_worker)) >= part * count / 3, by_worker
                assert count < 60 or min(map(most_at_a_time, by_worker)) >= 3
                assert max(map(most_at_a_time, by_worker)) <= 3 * pipeline.PLACES


@pytest.fixture
def noted(tmp_path, monkeypatch):
    """The schedule of a scheduler's only worker, whose runs are noted in the file "runs"."""
    monkeypatch.setenv("TEST_NOTES", str(tmp_path))
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=7, dashboard_address=None, local_directory=str(tmp_path / "dask"), env={"ITK_GPU_DEVICE": "host"}
    ) as cluster:
        with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
            found = schedule.Schedule(client, None, 0)
            list(found.start())
            yield found
            found.end()


def test_what_has_ended_does_not_run_again(noted, tmp_path, monkeypatch):
    """Dask runs a pair once more whose worker ends, while somebody wants its result: the files would change when others read them."""
    monkeypatch.setattr("gpuregistration.cohort.worker.run", cohort_data.run_and_note)
    ended = []
    for outcome in noted.run([SimpleNamespace(id=0), SimpleNamespace(id=1)]):
        ended += [outcome.id] if outcome is not None else []
        if ended and not (tmp_path / "die").exists():
            # The scheduler is told by another thread that nobody wants it any more.
            time.sleep(1)
            (tmp_path / "die").touch()
    assert ended == [0, 1] and sorted((tmp_path / "runs").read_text().split()) == ["0", "1", "1"]


def test_what_ended_on_a_lost_worker_runs_once_more(noted, tmp_path, monkeypatch):
    """Dask runs it again, unless its outcome was fetched, and it is not run a third time beside that."""
    monkeypatch.setattr("gpuregistration.cohort.worker.run", cohort_data.run_and_wait_again)
    outcomes, looks = [], 0
    for outcome in noted.run([SimpleNamespace(id=0), SimpleNamespace(id=1)]):
        if outcome is None:
            looks += 1
        elif not outcomes:
            # The other one ends too, and its worker is killed before the schedule looks.
            wait_for_runs(tmp_path / "runs", 2)
            time.sleep(1)
            os.kill(outcome.worker.process, signal.SIGKILL)
            wait_for_runs(tmp_path / "runs", 3)
        outcomes += [outcome] if outcome is not None else []
        if looks == 3:
            (tmp_path / "go").touch()
    first, again = outcomes
    assert {first.id, again.id} == {0, 1} and first.worker.process != again.worker.process
    assert sorted((tmp_path / "runs").read_text().split()) == sorted(["0", "1", str(again.id)])
    assert noted.take_news() == [] and looks >= 3


def wait_for_runs(notes, count):
    ends = time.monotonic() + 60
    while not notes.exists() or len(notes.read_text("ascii").split()) < count:
        assert time.monotonic() < ends, notes.read_text("ascii")
        time.sleep(0.05)


def most_at_a_time(spans):
    return max(sum(first <= begin < last for first, last in spans) for begin, _ in spans)


def test_a_scheduler_that_starts_its_workers_by_jobs(tmp_path, monkeypatch):
    """dask-jobqueue, as on Slurm, but that its jobs are processes of this machine."""
    jobqueue = pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not there")
    slurm = jobqueue.SLURMCluster(cores=8, processes=1, memory="32GB", job_extra_directives=["--gres=gpu:1"])
    try:
        script = slurm.job_script()
    finally:
        slurm.close()
    assert "#SBATCH --gres=gpu:1" in script and "--nworkers" not in script, "one worker a GPU"

    from dask_jobqueue.local import LocalCluster

    monkeypatch.setenv("ITK_GPU_DEVICE", "host")
    table = make_cohort(tmp_path, 2)
    with LocalCluster(cores=1, processes=1, memory="2GB", local_directory=str(tmp_path / "dask")) as cluster:
        cluster.scale(jobs=1)
        result = register_cohort(table, tmp_path / "out", scheduler=cluster.scheduler_address)
    assert set(states(result).values()) == {"done"} and result.done_now == 2


def test_a_scheduler_that_does_not(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr("gpuregistration.cohort.cluster._TIMEOUT", 1)
    table = make_cohort(tmp_path, 1)
    words = ("cohort", table, "-o", tmp_path / "out", "--scheduler", "tcp://127.0.0.1:9")
    assert_fails(capfd, 1, "The scheduler tcp://127.0.0.1:9 does not answer", None, *words)


def test_a_worker_that_cannot_work(tmp_path):
    table = make_cohort(tmp_path, 1)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "dask"), env={"ITK_GPU_DEVICE": "cuda:77"}
    ) as cluster:
        with pytest.raises(WorkerError, match='cannot work: There is no device "cuda:77"'):
            register_cohort(table, tmp_path / "out", scheduler=cluster.scheduler_address)


def test_workers_that_end_at_their_start(tmp_path, monkeypatch):
    table = make_cohort(tmp_path, 1)
    monkeypatch.setattr("gpuregistration.cohort.worker.start", cohort_data.die)
    with pytest.raises(WorkerError, match="ended 3 times while its device was started"):
        register_cohort(table, tmp_path / "out", devices=["host"], workers_per_device=1)
    assert_nothing_half_done(tmp_path / "out")


def test_a_scheduler_outlives_an_interruption(tmp_path):
    """Pairs that were handed out are taken back, and their workers serve the next cohort."""
    table = make_cohort(tmp_path, 4)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "dask"), env={"ITK_GPU_DEVICE": "host"}
    ) as cluster:
        slow = gr.stages.FreeForm(levels=1, iterations=400, spacing=8.0)

        def interrupt(progress):
            if progress.done:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            register_cohort(table, tmp_path / "out", slow, scheduler=cluster.scheduler_address, progress=interrupt)
        done = len(list((tmp_path / "out").glob("*/result.json")))
        assert done < 4 and not (tmp_path / "out" / "results.csv").exists()
        result = register_cohort(table, tmp_path / "out", scheduler=cluster.scheduler_address)
        assert set(states(result).values()) == {"done"} and result.done_now == 4
        with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
            assert client.run(cohort_data.ended_cohorts) == {address: 2 for address in client.nthreads()}


def test_a_program_that_workers_would_run_again(tmp_path):
    table = make_cohort(tmp_path, 1)
    program = tmp_path / "program.py"
    program.write_text(
        f"from gpuregistration.cohort import register_cohort\nregister_cohort({str(table)!r}, {str(tmp_path / 'out')!r}, devices=['host'])\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1 and 'under if __name__ == "__main__":' in done.stderr.splitlines()[-1], done.stderr


def test_two_in_one_folder(tmp_path):
    from gpuregistration.cohort.folder import locked

    table = make_cohort(tmp_path, 1)
    (tmp_path / "out").mkdir()
    with locked(tmp_path / "out"), pytest.raises(gr.BadInputError, match="Another process registers a cohort"):
        register_cohort(table, tmp_path / "out")


def test_without_dask(tmp_path):
    table = make_cohort(tmp_path, 1)
    text = (
        "import sys; sys.modules['distributed'] = None\n"
        f"from gpuregistration.command.main import main; sys.exit(main(['cohort', {str(table)!r}, '-o', {str(tmp_path / 'out')!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "pip install 'gpuregistration[cohort]'" in done.stderr
    assert not (tmp_path / "out").exists()
