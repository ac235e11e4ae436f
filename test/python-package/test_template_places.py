# SPDX-License-Identifier: Apache-2.0
"""Tests that a template replaces none of the files that it is made of."""

import os
import shutil

import gpuregistration as gr
import pytest
from command_line import assert_fails
from gpuregistration.cohort import register_cohort
from template_data import build_here

pytest.importorskip("SimpleITK")
pytest.importorskip("distributed")


@pytest.fixture
def study(people, tmp_path):
    """Returns a folder with results of an earlier run, as far as names go: copies of an image."""
    folder = tmp_path / "study"
    image = (people.parent / "p0-0.nii.gz").read_bytes()
    for name in ("template.nii.gz", "template2.nii.gz", "mean.nii.gz", "rounds/1/mean.nii.gz", "p1/image.nii.gz"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(image)
    os.symlink(folder, tmp_path / "link")
    os.symlink(folder / "template.nii.gz", tmp_path / "link.nii.gz")
    return folder


PLACES = [
    ("study/template.nii.gz", "would be replaced by the results"),
    ("link/template.nii.gz", "would be replaced by the results"),
    ("link.nii.gz", "would be replaced by the results"),
    ("study/rounds/1/mean.nii.gz", "would be replaced by the results"),
    ("study/p1/image.nii.gz", "is in the folder that the results of p1 are written to"),
]


@pytest.mark.parametrize("name", ["start", "grid"])
@pytest.mark.parametrize("file, problem", PLACES)
def test_what_a_template_begins_with_stays(people, study, patch, tmp_path, capfd, name, file, problem):
    before = {path: path.read_bytes() for path in study.rglob("*") if path.is_file()}
    advice = "give another output folder, or a copy of the file that lies elsewhere"
    with pytest.raises(gr.BadInputError, match=f"^{name}={tmp_path / file} is not possible: it {problem}; {advice}.$"):
        build_here(patch, people, study, **{name: tmp_path / file})
    words = ("template", people, "-o", study, f"--{name}", tmp_path / file, "--devices", "host")
    assert_fails(capfd, 1, f"{tmp_path / file} is not possible: it {problem}; {advice}", None, *words)
    assert {path: path.read_bytes() for path in study.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("file, problem", PLACES)
def test_images_of_people_stay(people, study, patch, tmp_path, file, problem):
    rows = [{"id": f"p{n}", "image": people.parent / f"p{n}-0.nii.gz"} for n in range(3)]
    rows[2]["image"] = tmp_path / file
    with pytest.raises(gr.BadInputError, match=f"row 3: the image file {tmp_path / file} {problem}; give another output folder.$"):
        build_here(patch, rows, study)


def test_other_files_of_the_folder_may_be_read(people, study, patch):
    """Nothing of a single modality has these names."""
    settings = {"rounds": 1, "transform": ["rigid"], "step": 0}
    for name in ("template2.nii.gz", "mean.nii.gz"):
        before = (study / name).read_bytes()
        build_here(patch, people, study, start=study / name, **settings)
        assert (study / name).read_bytes() == before


def test_results_of_a_cohort_and_of_a_template_stay(people, patch, tmp_path):
    """Both have a folder for each row, of which the other command would take the earlier files for its own, and a page and numbers."""
    image = people.parent / "p0-0.nii.gz"
    pairs = [{"id": "p1", "fixed": image, "moving": people.parent / "p1-0.nii.gz"}]
    others = [{**pairs[0], "id": "another"}]
    settings = {"devices": ["host"], "workers_per_device": 1}
    build_here(patch, people, tmp_path / "study", rounds=1, transform=["rigid"], step=0)
    register_cohort(pairs, tmp_path / "cohort", **settings)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path.name != ".cohort-lock"}
    for table in (pairs, others):
        with pytest.raises(gr.BadInputError, match="study has results of a template, which would be replaced: give another output folder."):
            register_cohort(table, tmp_path / "study", **settings)
    with pytest.raises(gr.BadInputError, match="cohort has results of a cohort, which would be replaced: give another output folder."):
        build_here(patch, people, tmp_path / "cohort", rounds=1, transform=["rigid"], step=0)
    assert {path: path.read_bytes() for path in before} == before and not (tmp_path / "cohort" / "rounds").exists()
    # A cohort that was ended has no table yet, and a template whose rounds were removed has none of these.
    (tmp_path / "cohort" / "results.csv").unlink()
    shutil.rmtree(tmp_path / "study" / "rounds")
    with pytest.raises(gr.BadInputError, match="study/p1 has results of a template, which would be removed: give another output folder."):
        register_cohort(pairs, tmp_path / "study", **settings)
    with pytest.raises(gr.BadInputError, match="cohort/p1 has results of a cohort, which would be removed: give another output folder."):
        build_here(patch, people, tmp_path / "cohort", rounds=1, transform=["rigid"], step=0)
