# SPDX-License-Identifier: Apache-2.0
"""Tests templates on a disk that is full at each kind of their files: nothing is half-written, what is done stays, and the next run goes on."""

import re
import resource
import shutil
from types import SimpleNamespace

import pytest
from command_line import run_process
from full_disk import fill_disk_at
from gpuregistration.cohort.folder import RECORD
from gpuregistration.template import TemplateError, averaging, build, finish, mean, places, rounds
from template_data import WORDS, build_here, files_of

pytest.importorskip("SimpleITK")
pytest.importorskip("distributed")

# Jobs of a round of three people, and of their transforms.
PEOPLE = ["PersonJob p0", "PersonJob p1", "PersonJob p2"]
FINISH = ["FinishJob p0", "FinishJob p1", "FinishJob p2"]
MEAN = ["MeanJob mean"]


@pytest.fixture(scope="module")
def made(people, patch):
    """Returns the folders of whole templates, by their number of rounds."""
    return {number: build_here(patch, people, people.parent / str(number), rounds=number)[0].output for number in (1, 2)}


@pytest.fixture
def out(made, tmp_path):
    """Returns the folder of a template of one round, to go on in."""
    return shutil.copytree(made[1], tmp_path / "out")


def assert_nothing_half_written(out):
    """No hidden file is left, no record that is not in its place, and no folder has files without one."""
    assert [path for path in out.rglob("*") if path.name.startswith(".") and path.name != ".cohort-lock" or path.suffix in (".new", ".part")] == []
    folders = {path.parent for path in out.rglob("*") if path.is_file()} - {out}
    assert [folder for folder in folders if not (folder / RECORD).is_file()] == []


def published(out):
    """Returns what people use, by name: the template, each person's transforms, and the page."""
    return {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file() and "rounds" not in path.parts and path.name != ".cohort-lock"}


@pytest.mark.parametrize(
    "job, size, failed, file, done_again",
    [
        # The mean's image is longer, and its record and picture are not.
        (mean.MeanJob, 50_000, "mean failed", "rounds/2/mean.nii.gz", MEAN + FINISH),
        # The record alone is longer.
        (mean.MeanJob, 0, "mean failed", "rounds/2 cannot be written", MEAN + FINISH),
        (averaging.AveragingJob, 50_000, "average 1 of 2 failed", "rounds/2/.part-0 cannot be written", MEAN + FINISH),
        (finish.FinishJob, 50_000, "p0 failed", "p0/warp.nii.gz", FINISH),
    ],
    ids=["mean", "empty", "average", "transforms"],
)
def test_a_job_whose_files_do_not_fit(made, out, people, patch, monkeypatch, job, size, failed, file, done_again):
    if job is averaging.AveragingJob:
        monkeypatch.setattr(rounds, "_MANY_PEOPLE", 1)
    before = published(out)
    with monkeypatch.context() as full:
        fill_disk_at(full, job, "write", size)
        with pytest.raises(TemplateError) as caught:
            build_here(patch, people, out, rounds=2, workers=2)
    message = str(caught.value)
    assert re.match(f"round 2: {failed}: OSError: .*{re.escape(file)}.*File too large", message), message
    assert ".making-" not in message and "Results that are done stay: mend the cause" in message and message.endswith("run it again.")
    assert_nothing_half_written(out)
    assert published(out) == before
    # A later run does not do again what is whole.
    assert build_here(patch, people, out, rounds=2, workers=2)[1] == done_again
    assert files_of(out) == files_of(made[2])
    assert_nothing_half_written(out)


def test_a_person_whose_record_does_not_fit(made, out, people, patch, monkeypatch):
    """The transforms of before are removed only when all new files, and their record, are there."""
    before, recording = published(out), SimpleNamespace(put=places.put)
    with monkeypatch.context() as full:
        fill_disk_at(full, recording, "put", 100)
        full.setattr(finish, "places", recording)
        with pytest.raises(TemplateError, match=f"p0 failed: OSError: .*{re.escape(str(out / 'p0'))} cannot be written: File too large"):
            build_here(patch, people, out, rounds=2)
    assert_nothing_half_written(out)
    assert published(out) == before
    assert build_here(patch, people, out, rounds=2)[1] == FINISH
    assert files_of(out) == files_of(made[2])


def test_workers_on_a_full_disk(made, out, people, patch):
    """An image is written, and a field, which is longer, is not: that of each person of the second round."""
    before = published(out)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    code, printed, err = run_process("template", people, "-o", out, *WORDS, "--quiet", before=limit)
    place = re.escape(str(out / "rounds" / "2" / "p0"))
    message = f"round 2: p0 failed: OSError: .*{place} cannot be written: File too large; 2 more of 3 failed. Results that are done stay: .* run it again."
    assert code == 1 and printed == "" and re.fullmatch(f"gpureg: {message}\n", err), err
    assert_nothing_half_written(out)
    assert published(out) == before
    assert build_here(patch, people, out, rounds=2)[1] == PEOPLE + MEAN + FINISH
    assert files_of(out) == files_of(made[2])


def test_the_template_does_not_fit(made, out, people, patch, monkeypatch):
    """The last round's mean is done; the template of before stays, and the next run puts the mean in its place alone."""
    before = published(out)
    with monkeypatch.context() as full:
        fill_disk_at(full, rounds.Rounds, "_publish", 50_000)
        with pytest.raises(OSError, match=f"{re.escape(str(out / 'template.nii.gz'))}.* cannot be written: File too large"):
            build_here(patch, people, out, rounds=2)
    assert_nothing_half_written(out)
    name = next(name for name in before if name.name == "template.nii.gz")
    assert published(out)[name] == before[name]
    assert build_here(patch, people, out, rounds=2)[1] == []
    assert files_of(out) == files_of(made[2])


@pytest.mark.parametrize("owner, name, file", [(places, "remove_file", "rounds/1"), (build, "write_results", "results.json"), (build, "write_page", "report.html")])
def test_records_and_pages_that_do_not_fit(made, out, people, patch, monkeypatch, owner, name, file):
    before = published(out)
    with monkeypatch.context() as full:
        fill_disk_at(full, owner, name, 100)
        with pytest.raises(OSError, match=f"{re.escape(str(out / file))}.* can.*t be written: File too large"):
            build_here(patch, people, out, rounds=2)
    assert_nothing_half_written(out)
    if file in before:
        assert published(out)[file] == before[file]
    build_here(patch, people, out, rounds=2)
    assert files_of(out) == files_of(made[2])
    assert_nothing_half_written(out)


def test_what_killed_runs_leave_is_removed(made, out, people, patch):
    """A change of shape behind whose record a run was killed, and files that it was writing beside the results and within a round."""
    killed_at = [out / "rounds" / "0" / ".making-1", out / "rounds" / ".making-2", out / ".making-3", out / "rounds" / "1" / ".part-0"]
    for folder in killed_at:
        folder.mkdir()
        (folder / "half").touch()
    (out / ".writing-4.part").touch()
    build_here(patch, people, out, rounds=2)
    (out / "rounds" / "1" / "shape.npy").touch()
    assert build_here(patch, people, out, rounds=2)[1] == []
    assert files_of(out) == files_of(made[2])
    assert_nothing_half_written(out)
