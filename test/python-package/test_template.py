# SPDX-License-Identifier: Apache-2.0
"""Tests templates of people whose mean shape is known, in this process: the shape, the transforms, modalities, and that work goes on."""

import json

import gpuregistration as gr
import numpy as np
import pytest
from conftest import assert_within_record
from gpuregistration import stages
from gpuregistration.template import TemplateError, averaging, images, rounds
from template_data import GOOD, QUICK, build_here, correlation, files_of, make_people, make_person, write_nowhere
from zarr_data import write_zarr

pytest.importorskip("SimpleITK")
pytest.importorskip("distributed")

# Jobs of a template of three people in two rounds, in their order.
START = ["StartJob start"]
ROUND = ["PersonJob p0", "PersonJob p1", "PersonJob p2", "MeanJob mean"]
FINISH = ["FinishJob p0", "FinishJob p1", "FinishJob p2"]


@pytest.fixture(scope="module")
def quick(people, patch, tmp_path_factory):
    """Returns a quick template of two rounds."""
    template, jobs = build_here(patch, people, tmp_path_factory.mktemp("quick") / "out")
    assert jobs == START + 2 * ROUND + FINISH
    return template


def likeness(image):
    """Returns the correlation with the common head, after a rigid registration: a template keeps the place in which it began."""
    head = make_person(np.zeros_like)
    return correlation(gr.register(head, image, "rigid", device="host").warped.array, head.array)


def test_the_template_comes_to_the_mean_shape(people, patch, tmp_path):
    """It begins with one person's image, in whose shape it would stay without the shape update."""
    first = people.parent / "p0-0.nii.gz"
    settings = {"transform": GOOD, "start": first, "sharpening": "none"}
    template, _ = build_here(patch, people, tmp_path / "with", **settings)
    without, _ = build_here(patch, people, tmp_path / "without", step=0, rounds=1, **{**settings})
    before, with_update, without_update = (likeness(gr.read_image(file)) for file in (first, template.files[0], without.files[0]))
    assert before < 0.985 and without_update < 0.986
    assert_within_record(1 - with_update, 0.002)
    one, other = (done.numbers()["update"] for done in template.rounds[1:])
    # The first person's shape is 1.07 voxels from the mean one; a second round finds little more.
    assert 0.5 < one["mean"] < 1.2
    assert_within_record(other["mean"] / one["mean"], 0.182)
    assert without.rounds[1].numbers()["update"] is None


def test_transforms_lead_from_the_template_to_people(quick):
    """Each person's image, brought back by the files, is the template, and the inverse leads back."""
    template = gr.read_image(quick.files[0])
    points = template.origin + template.spacing * np.array(template.size) * np.random.default_rng(3).uniform(0.3, 0.7, (200, 3))
    brought = []
    for person, record in zip(quick.people, (0.0268, 0.0382, 0.0359)):
        warp, affine = gr.read_transform(person.folder / "warp.nii.gz"), gr.read_transform(person.folder / "affine.mat")
        back = gr.read_transform(person.folder / "inverse_warp.nii.gz")
        there = gr.Composite([warp, affine]).transform_points(points)
        home = gr.Composite([affine.inverse(), back]).transform_points(there)
        assert_within_record(np.linalg.norm(home - points, axis=-1).max() / template.spacing[0], record)
        image = gr.read_image(person.row.files["image"])
        warped = gr.resample(image, gr.Composite([warp, affine]), template, device="host").array
        brought.append(warped / warped.mean(dtype=np.float64))
    # But for one more interpolation, and the sharpening.
    assert_within_record(1 - correlation(np.mean(brought, axis=0), template.array), 0.0079, 0.01)
    # The transforms before the shape update are off by 0.7 voxels, and would fail here.
    assert quick.rounds[-1].numbers()["update"]["mean"] > 0.3


def test_the_mean_without_shape_update_is_the_plain_formula(people, patch, tmp_path):
    """One linear round: the mean of what register() gives, from the start's places on, divided by levels and multiplied by their mean."""
    template, _ = build_here(patch, people, tmp_path / "out", transform=["rigid"], rounds=1, step=0, sharpening="none")
    start = gr.read_image(tmp_path / "out" / "rounds" / "0" / "mean.nii.gz")
    initial = template.rounds[0].record["initial"]
    warped = []
    for person in template.people:
        image = gr.read_image(person.row.files["image"])
        result = gr.register(start, image, "rigid", initial=gr.Affine.from_matrix(initial[person.row.id]), device="host")
        warped.append(result.warped.array.astype(np.float64))
        assert not (person.folder / "warp.nii.gz").exists()
        found = gr.read_transform(person.folder / "affine.mat").matrix_of()
        np.testing.assert_allclose(found, result.transform.matrix_of(), atol=1e-9)
    levels = [one.mean() for one in warped]
    wanted = np.mean([one / level for one, level in zip(warped, levels)], axis=0) * np.mean(levels)
    np.testing.assert_allclose(gr.read_image(template.files[0]).array, wanted, atol=1e-5 * wanted.max())


def test_a_bright_person_counts_no_more(quick, people, patch, tmp_path):
    """The third person is three times as bright: as they are, the mean would look most like that one."""
    plain, _ = build_here(patch, people, tmp_path / "out", rounds=1, transform=["rigid"], normalize=False)
    start, as_they_are = (gr.read_image(one.rounds[0].folder / "mean.nii.gz").array for one in (quick, plain))
    third = make_person(np.zeros_like).like(gr.read_image(people.parent / "p2-0.nii.gz").array).array
    assert correlation(as_they_are, third) > correlation(start, third) + 1e-3
    assert start.mean() == pytest.approx(as_they_are.mean(), rel=1e-3)


def test_start_has_centres_of_mass_on_each_other(patch, tmp_path):
    """People who lie elsewhere, and whose images have another grid, are found."""
    table = make_people(tmp_path, size=0.0)
    image = gr.read_image(tmp_path / "p1-0.nii.gz")
    moved = gr.Image(np.pad(image.array, ((3, 0), (0, 2), (4, 1))), image.spacing, image.origin + [40.0, -70.0, 25.0])
    gr.write_image(tmp_path / "p1-0.nii.gz", moved)
    template, _ = build_here(patch, table, tmp_path / "out", rounds=1, transform=["rigid"], step=0, sharpening="none")
    for one, record in zip(template.rounds, (5.92e-7, 5.39e-7)):
        assert_within_record(1 - correlation(gr.read_image(one.folder / "mean.nii.gz").array, make_person(np.zeros_like).array), record)


def test_the_order_of_workers_does_not_matter(quick, people, patch, tmp_path):
    build_here(patch, people, tmp_path / "out", reverse=True)
    assert files_of(tmp_path / "out") == files_of(quick.output)


def jobs_of_workers(count):
    """Returns the jobs of a round in which each of so many workers averages a part."""
    return [*ROUND[:-1], *(f"AveragingJob average {n + 1} of {count}" for n in range(count)), ROUND[-1]]


@pytest.mark.parametrize("workers", [2, 3, 40])
def test_workers_that_average_a_part_each_come_to_the_same_bits(quick, people, patch, tmp_path, monkeypatch, workers):
    monkeypatch.setattr(rounds, "_MANY_PEOPLE", 1)
    template, jobs = build_here(patch, people, tmp_path / "out", reverse=True, workers=workers)
    assert sorted(jobs) == sorted(START + 2 * jobs_of_workers(min(workers, 16)) + FINISH)
    assert files_of(template.output) == files_of(quick.output)
    assert not [path for path in template.output.rglob(".*") if path.name != ".cohort-lock"]


@pytest.mark.parametrize("most", [5, 6, 12])
def test_parts_of_a_run_that_was_ended_are_averaged_again(quick, people, patch, tmp_path, monkeypatch, most):
    """Ended within the parts of the first round, behind them, and within those of the second one, which all leave nothing."""
    monkeypatch.setattr(rounds, "_MANY_PEOPLE", 1)
    all_jobs = START + 2 * jobs_of_workers(2) + FINISH
    assert build_here(patch, people, tmp_path / "out", most=most, workers=2)[1] == all_jobs[:most]
    assert not [path for path in (tmp_path / "out").rglob(".*") if path.name != ".cohort-lock"]
    _, jobs = build_here(patch, people, tmp_path / "out", workers=3)
    assert [job for job in jobs if job.startswith("PersonJob")] == [job for job in all_jobs[most:] if job.startswith("PersonJob")]
    assert files_of(tmp_path / "out") == files_of(quick.output)


def test_parts_of_linear_rounds_and_of_two_modalities(patch, tmp_path, monkeypatch):
    table = make_people(tmp_path, modalities=2)
    settings = {"rounds": 1, "first": ["rigid"], "weights": [1, 0.5]}
    one, _ = build_here(patch, table, tmp_path / "one", **settings)
    monkeypatch.setattr(rounds, "_MANY_PEOPLE", 3)
    several, jobs = build_here(patch, table, tmp_path / "several", workers=4, **settings)
    assert len([job for job in jobs if job.startswith("AveragingJob")]) == 2 * 4
    assert files_of(several.output) == files_of(one.output)


def test_the_time_of_averaging_counts_what_workers_have_taken(people, patch, tmp_path, monkeypatch):
    monkeypatch.setattr(rounds, "_MANY_PEOPLE", 1)
    monkeypatch.setattr(averaging.AveragingJob, "write", lambda self, *rest, write=averaging.AveragingJob.write: {**write(self, *rest), "seconds": 100 + self.part})
    template, _ = build_here(patch, people, tmp_path / "out", workers=3)
    assert [102 < one.numbers()["parts"]["average"] < 110 for one in template.rounds] == [False, True, True]


def test_images_whose_level_is_no_number(people, patch, tmp_path):
    """Outside of an image there is no number; the first person's has the template's grid, and no outside."""
    with pytest.raises(gr.BadInputError, match="^round 1, mean: p1: the mean intensity of the image file .* in the template's space is nan; .*--no-normalize"):
        build_here(patch, people, tmp_path / "out", default=np.nan, start=people.parent / "p0-0.nii.gz")


@pytest.mark.parametrize("most", [0, 2, 4, 6, 10])
def test_what_was_ended_goes_on_with_the_same_bits(quick, people, patch, tmp_path, most):
    """Ended at the start, after a person, after persons of a round, between rounds, and while transforms are written."""
    all_jobs = START + 2 * ROUND + FINISH
    assert build_here(patch, people, tmp_path / "out", most=most)[1] == all_jobs[:most]
    assert not (tmp_path / "out" / "template.nii.gz").exists()
    # Another process has forgotten what it has read.
    images._kept.clear()
    _, jobs = build_here(patch, people, tmp_path / "out")
    assert jobs == all_jobs[most:]
    assert files_of(tmp_path / "out") == files_of(quick.output)
    assert not [path for path in (tmp_path / "out").rglob(".*") if path.name != ".cohort-lock"]


def test_what_is_done_is_not_done_again_and_what_has_changed_is(people, patch, tmp_path):
    table, out, reported = make_people(tmp_path), tmp_path / "out", []
    build_here(patch, table, out)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.nii.gz") if path.name != "template.nii.gz"}
    template, jobs = build_here(patch, table, out)
    assert jobs == [] and template.done_now == 0
    assert {path: path.stat().st_mtime_ns for path in before} == before
    # A third round goes on from the second one; sharpening is of means alone, from the first round on.
    assert build_here(patch, table, out, rounds=3)[1] == ROUND + FINISH
    _, jobs = build_here(patch, table, out, rounds=3, sharpening="none", progress=lambda progress: reported.append(progress.news))
    assert jobs == 3 * ROUND + FINISH
    assert [news for news in reported if news] == ["round 1 is done again, and what follows: its settings have changed, or those of a round before"]
    reported.clear()
    gr.write_image(tmp_path / "p1-0.nii.gz", make_person(lambda point: 0 * point + 1.0))
    _, jobs = build_here(patch, table, out, progress=lambda progress: reported.append(progress.news))
    assert jobs == START + 2 * ROUND + FINISH
    assert [news for news in reported if news] == ["round 0 is done again, and what follows: changed: image of p1"]
    # A transform that somebody has removed is made again, from that person's registration.
    (out / "p2" / "warp.nii.gz").unlink()
    assert build_here(patch, table, out)[1] == ["PersonJob p2", "FinishJob p2"]


def test_a_changed_zarr_is_done_again(patch, tmp_path):
    """Neither an earlier run's results nor what a worker remembers stand for values that have changed."""
    zarr = pytest.importorskip("zarr", minversion="3")
    make_people(tmp_path)
    for n in range(2):
        image = gr.read_image(tmp_path / f"p{n}-0.nii.gz")
        places = {"scale": image.spacing[::-1], "translation": image.origin[::-1]}
        write_zarr(tmp_path / f"p{n}.zarr", [image.array], unit="millimeter", **places)
    rows = [{"id": f"p{n}", "image": tmp_path / f"p{n}.zarr"} for n in range(2)]
    settings = {"transform": ["rigid"], "rounds": 1, "step": 0}
    first, _ = build_here(patch, rows, tmp_path / "out", **settings)
    before = gr.read_image(first.files[0]).array
    assert build_here(patch, rows, tmp_path / "out", **settings)[1] == []
    zarr.open_array(tmp_path / "p0.zarr" / "scale0")[...] = gr.read_image(tmp_path / "p2-0.nii.gz").array
    second, jobs = build_here(patch, rows, tmp_path / "out", **settings)
    assert jobs[0] == "StartJob start" and np.abs(gr.read_image(second.files[0]).array - before).max() > 1


def test_modalities(patch, tmp_path):
    """The second modality moves with the first one, has its own mean, and counts as much as its weight says."""
    table = make_people(tmp_path, modalities=2)
    template, _ = build_here(patch, table, tmp_path / "out", weights=(1, 0.5), rounds=1)
    assert [file.name for file in template.files] == ["template.nii.gz", "template2.nii.gz"]
    bright, dark = (gr.read_image(file).array for file in template.files)
    inside = bright > 0.5 * bright.mean()
    assert correlation(bright[inside], dark[inside]) < -0.9
    assert len(template.rounds[1].numbers()["sharpness"]) == 2
    _, jobs = build_here(patch, table, tmp_path / "out", weights=(2, 1), rounds=1)
    assert jobs == []
    other, jobs = build_here(patch, table, tmp_path / "out", weights=(1, 0), rounds=1)
    assert jobs == ROUND + FINISH
    assert not np.array_equal(gr.read_image(other.files[0]).array, bright)


def test_a_mask_is_looked_at(people, patch, tmp_path):
    rows = [{"id": f"p{n}", "image": people.parent / f"p{n}-0.nii.gz"} for n in range(3)]
    image = gr.read_image(rows[0]["image"])
    gr.write_image(tmp_path / "mask.nii.gz", image.like((image.array > 40).astype(np.uint8)))
    settings = {"rounds": 1, "transform": ["rigid"], "step": 0}
    free, _ = build_here(patch, rows, tmp_path / "free", **settings)
    rows[0]["mask"] = tmp_path / "mask.nii.gz"
    masked, _ = build_here(patch, rows, tmp_path / "masked", **settings)
    first, second = (one.rounds[1].record["initial"] for one in (free, masked))
    assert first["p0"] != second["p0"] and first["p1"] == second["p1"]


def test_a_mask_counts_for_each_modality(patch, tmp_path):
    make_people(tmp_path, modalities=2)
    rows = [{"id": f"p{n}", "image": tmp_path / f"p{n}-0.nii.gz", "image2": tmp_path / f"p{n}-1.nii.gz"} for n in range(3)]
    image = gr.read_image(rows[0]["image"])
    half = np.zeros(image.shape, np.uint8)
    half[: image.shape[0] // 2] = 1
    gr.write_image(tmp_path / "mask.nii.gz", image.like(half))
    # The first modality hardly counts.
    settings = {"rounds": 1, "transform": [stages.Greedy(iterations=10)], "step": 0, "weights": (0.001, 1)}
    free, _ = build_here(patch, rows, tmp_path / "free", **settings)
    rows[0]["mask"] = tmp_path / "mask.nii.gz"
    masked, _ = build_here(patch, rows, tmp_path / "masked", **settings)
    fields = [gr.read_transform(one.people[0].folder / "warp.nii.gz").array for one in (free, masked)]
    assert np.abs(fields[0] - fields[1])[image.shape[0] // 2 + 6 :].max() > image.spacing.max()


def test_two_dimensions(patch, tmp_path):
    rows = []
    for n in range(3):
        whole = make_person(lambda point, n=n: 0 * point + n)
        gr.write_image(tmp_path / f"{n}.mha", gr.Image(whole.array[14], whole.spacing[:2], whole.origin[:2]))
        rows.append({"image": tmp_path / f"{n}.mha"})
    template, _ = build_here(patch, rows, tmp_path / "out", rounds=1)
    assert gr.read_image(template.files[0]).dimension == 2
    assert gr.read_transform(template.people[0].folder / "warp.nii.gz").dimension == 2


def test_numbers_and_page(quick):
    found = json.loads((quick.output / "results.json").read_text("utf-8"))
    assert found["summary"]["people"] == 3 and found["summary"]["rounds"] == 2
    for one, numbers in zip(quick.rounds, found["rounds"]):
        assert numbers["sharpness"] == one.record["sharpness"]
    assert [one["stages"] for one in found["rounds"]] == [[], ["affine", "greedy"], ["affine", "greedy"]]
    page = (quick.output / "report.html").read_text("utf-8")
    assert page.count("<figure>") == 3 and "Round 2" in page and page.count("data:image/jpeg") == 3
    sharpness = found["rounds"][2]["sharpness"][0]
    assert f"{100 * sharpness:.3g} %/mm" in page


def test_warnings(quick):
    from dataclasses import replace

    def with_last(**changes):
        record = {**quick.rounds[-1].record, **changes}
        return replace(quick, rounds=[*quick.rounds[:-1], replace(quick.rounds[-1], record=record)]).warnings

    assert not any("template:" in warning for warning in with_last(update={"mean": 0.2, "largest": 1.0}, sharpness=[1.0]))
    assert any("still moved the mean shape by 0.7 voxels" in warning for warning in with_last(update={"mean": 0.7, "largest": 1.0}))
    assert any("less sharp than that of the round before" in warning for warning in with_last(sharpness=[1e-3]))


def test_warnings_of_all_files(people, patch, tmp_path):
    """A template has the warnings of masks, of its start and of its grid, too."""
    pytest.importorskip("nibabel")
    rows = [{"id": f"p{n}", "image": people.parent / f"p{n}-0.nii.gz"} for n in range(3)]
    image = gr.read_image(rows[1]["image"])
    rows[1]["image"] = write_nowhere(image, tmp_path / "image.nii.gz")
    rows[1]["mask"] = write_nowhere(image.like((image.array > 40).astype(np.uint8)), tmp_path / "mask.nii.gz")
    start = write_nowhere(image, tmp_path / "begin.nii.gz")
    template, _ = build_here(patch, rows, tmp_path / "out", rounds=1, transform=["rigid"], step=0, start=start)
    found = [warning for warning in template.warnings if "does not say where it lies" in warning]
    assert [warning.partition(":")[0] for warning in found] == ["p1", "start", "p1"]
    assert all(name in warning for name, warning in zip(("image.nii.gz", "begin.nii.gz", "mask.nii.gz"), found))
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert f"the image {start}; sharpness" in page and "centres of mass on each other" not in page


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"rounds": 0}, "rounds=0 is not possible"),
        ({"step": 1.5}, "step=1.5 is not possible"),
        ({"sharpening": "much"}, "There is no sharpening 'much'; there are: laplacian, unsharp, none"),
        ({"weights": (1, 2)}, r"weights=\[1, 2\] is not possible; it is to have one number for each modality of the table, that is 1"),
        ({"weights": (0,)}, "the first one is to be above 0"),
        ({"start": "gone.nii.gz"}, "start=.*gone.nii.gz is not possible: there is no such file"),
        ({"start": "{image}", "grid": "{image}"}, "leave one out"),
        ({"transform": "flow"}, "There is no stage 'flow'"),
        ({"first": ["rigid", "flow"]}, "There is no stage 'flow'"),
        ({"default": "x"}, "The default is 'x'"),
    ],
)
def test_settings_that_are_not_possible(people, patch, tmp_path, settings, message):
    image = str(people.parent / "p0-0.nii.gz")
    settings = {name: value.format(image=image) if isinstance(value, str) else value for name, value in settings.items()}
    with pytest.raises(gr.BadInputError, match=message):
        build_here(patch, people, tmp_path / "out", **settings)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "text, message",
    [
        ("id,image\na,p0-0.nii.gz\n", "there is 1 row, and 2 are needed"),
        ("id,image\na,p0-0.nii.gz\nb,gone.nii.gz\n", "row 2: there is no image file .*gone.nii.gz"),
        ("id,image,t2\na,p0-0.nii.gz,p0-0.nii.gz\n", 'there is a column "t2" of no use; columns are: id, image, mask, image2'),
        ("id,mask\na,p0-0.nii.gz\n", 'there is no column "image"'),
        ("id,image,image2\na,p0-0.nii.gz,p0-0.nii.gz\nb,p1-0.nii.gz,\n", "row 2: image2 is empty, and other rows have one"),
        ("id,image,image3\na,p0-0.nii.gz,p0-0.nii.gz\nb,p1-0.nii.gz,p1-0.nii.gz\n", "row 1: image2 is empty"),
        ("id,image\nrounds,p0-0.nii.gz\nb,p1-0.nii.gz\n", 'row 1: the id "rounds" is no name of a folder'),
        ("id,image\na,p0-0.nii.gz\nresult.json,p1-0.nii.gz\n", 'row 2: the id "result.json" is no name of a folder'),
        ("id,image\na,p0-0.nii.gz\na,p1-0.nii.gz\n", 'row 2: the id "a" is that of row 1, too'),
    ],
)
def test_tables_that_are_not_possible(people, patch, tmp_path, text, message):
    table = people.parent / "wrong.csv"
    table.write_text(text)
    with pytest.raises(gr.BadInputError, match=message):
        build_here(patch, table, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_images_that_do_not_fit(people, patch, tmp_path):
    first = {"image": people.parent / "p0-0.nii.gz"}
    whole = gr.read_image(first["image"])
    gr.write_image(tmp_path / "flat.mha", gr.Image(whole.array[10], whole.spacing[:2], whole.origin[:2]))
    gr.write_image(tmp_path / "constant.nii.gz", whole.like(np.ones(whole.shape, np.float32)))
    gr.write_image(tmp_path / "below.nii.gz", whole.like(whole.array - 1000))
    (tmp_path / "none.nii.gz").write_text("no image")
    for name, message in {
        "flat.mha": "row 2: the image file .*flat.mha has 2 dimensions, and the template 3",
        "constant.nii.gz": "row 2: the image file .*constant.nii.gz is constant",
        "none.nii.gz": "none.nii.gz",
        "below.nii.gz": "0002: the mean intensity of the image file .*below.nii.gz in the template's space is -.* by normalize=False or --no-normalize",
    }.items():
        with pytest.raises(gr.BadInputError, match=f"^round 0: .*{message}"):
            build_here(patch, [first, {"image": tmp_path / name}], tmp_path / "out")
        assert not (tmp_path / "out" / "rounds" / "0").exists()


def test_a_further_modality_is_named(patch, tmp_path):
    table = make_people(tmp_path, modalities=2)
    whole = gr.read_image(tmp_path / "p1-1.nii.gz")
    gr.write_image(tmp_path / "p1-1.nii.gz", whole.like(whole.array - 1000))
    with pytest.raises(gr.BadInputError, match="^round 0: p1: the mean intensity of the image2 file .*p1-1.nii.gz in the template's space is -"):
        build_here(patch, table, tmp_path / "out")


def test_changes_of_shape_of_earlier_rounds_go(people, patch, tmp_path):
    """The last one stays, which the people's transforms take in. With fewer rounds, that of the new last round is made again, to the same bits."""
    build_here(patch, people, tmp_path / "two", rounds=2)
    assert [path.parent.name for path in (tmp_path / "two").rglob("shape.npy")] == ["2"]
    assert build_here(patch, people, tmp_path / "two", rounds=2)[1] == []
    reported = []
    _, jobs = build_here(patch, people, tmp_path / "two", rounds=1, progress=lambda progress: reported.append(progress.news))
    assert jobs == ROUND + FINISH
    assert [news for news in reported if news] == ["round 1 is done again, and what follows: its shape.npy was removed by a later round"]
    build_here(patch, people, tmp_path / "one", rounds=1)
    one, two = files_of(tmp_path / "one"), files_of(tmp_path / "two")
    assert one and all(two[name] == content for name, content in one.items())


def test_modalities_want_a_stage_that_compares_them(patch, tmp_path):
    table = make_people(tmp_path, modalities=2)
    with pytest.raises(gr.BadInputError, match="The table has 2 modalities, and no stage compares several: affine; stages that deform do: ffd, greedy, syn and velocity"):
        build_here(patch, table, tmp_path / "out", transform=["affine"])


def test_a_full_disk_is_an_error(people, patch, tmp_path):
    """The error says what failed, nothing is half done, and the next run goes on behind what is done."""
    from gpuregistration.template import person

    def fail(path, array):
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as full:
        full.setattr(person, "save_array", fail)
        with pytest.raises(TemplateError, match="^round 1: p0 failed: OSError: .*No space left on device; 2 more of 3 failed. Results that are done stay"):
            build_here(patch, people, tmp_path / "out", transform=QUICK)
    assert not [path for path in (tmp_path / "out").rglob(".*") if path.name != ".cohort-lock"]
    assert build_here(patch, people, tmp_path / "out")[1] == 2 * ROUND + FINISH
