# SPDX-License-Identifier: Apache-2.0
"""Tests a cohort's table: errors in it are reported at once, before any work."""

import gpuregistration as gr
import pytest
from gpuregistration.cohort import register_cohort
from gpuregistration.cohort.table import check_places, read_table


@pytest.fixture
def folder(tmp_path):
    """Returns a folder with a few files, which are not read."""
    for name in ("a.nii", "b.nii", "c.nii", "mask.nii"):
        (tmp_path / name).touch()
    return tmp_path


def table(folder, text, name="t.csv"):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / name


def message_of(path):
    with pytest.raises(gr.BadInputError) as caught:
        read_table(path)
    return str(caught.value)


def test_paths_are_relative_to_the_table(folder, monkeypatch):
    monkeypatch.chdir("/")
    rows = read_table(table(folder, f"fixed,moving,fixed_mask\na.nii,b.nii,mask.nii\na.nii,{folder}/c.nii,\n"))
    assert [row.id for row in rows] == ["0001", "0002"]
    assert rows[0].files == {name: str(folder / file) for name, file in (("fixed", "a.nii"), ("moving", "b.nii"), ("fixed_mask", "mask.nii"))}
    assert rows[1].files == {"fixed": str(folder / "a.nii"), "moving": str(folder / "c.nii")}


def test_tabs_spaces_marks_and_empty_lines(folder):
    rows = read_table(table(folder, "\ufeffid\tfixed\tmoving\r\n\r\n one \ta.nii\t b.nii\r\n", "t.tsv"))
    assert [row.id for row in rows] == ["one"] and rows[0].files["moving"] == str(folder / "b.nii")


@pytest.mark.parametrize("sign, word", [(";", "semicolons"), ("\t", "tabs")])
def test_other_signs_than_commas(folder, sign, word):
    text = message_of(table(folder, f"id{sign}fixed{sign}moving\none{sign}a.nii{sign}b.nii\n"))
    assert text == f"{folder / 't.csv'} cannot be used: its first line has {word}; separate by commas, or by tabs in a file that ends on .tsv."


def test_rows_from_python(folder, monkeypatch):
    monkeypatch.chdir(folder)
    rows = read_table([{"id": "x", "fixed": folder / "a.nii", "moving": "b.nii", "initial": None}])
    assert rows[0].id == "x" and rows[0].files == {"fixed": str(folder / "a.nii"), "moving": str(folder / "b.nii")}
    with pytest.raises(gr.BadInputError, match='no column "moving"'):
        read_table([{"fixed": "a.nii"}])


def test_wrong_columns_at_once(folder):
    text = message_of(table(folder, "fixed,target,mask,mask\na.nii,b.nii,,\n"))
    for part in ('no column "moving"', '"target" of no use', '"mask" of no use', "id, fixed, moving, fixed_mask"):
        assert part in text
    assert '"fixed" is there twice' in message_of(table(folder, "fixed,fixed,moving\na.nii,a.nii,b.nii\n"))


def test_ids_and_files_at_once(folder):
    text = message_of(
        table(
            folder,
            "id,fixed,moving,fixed_labels\none,a.nii,b.nii,\nONE,a.nii,none.nii,\n../two,gone.nii,b.nii,\nresults.csv,a.nii,b.nii,\n"
            "three,,b.nii,mask.nii\n",
        )
    )
    for part in (
        'row 2: the id "ONE" is that of row 1, too',
        f"row 2: there is no moving file {folder / 'none.nii'}",
        'row 3: the id "../two" is no name of a folder',
        f"row 3: there is no fixed file {folder / 'gone.nii'}",
        'row 4: the id "results.csv"',
        "row 5: fixed is empty",
        "row 5: fixed_labels are compared with labels",
    ):
        assert part in text, part


def test_many_problems_are_counted(folder):
    text = message_of(table(folder, "fixed,moving\n" + "a.nii,gone.nii\n" * 50))
    assert text.count("there is no moving file") == 20 and "and 30 more" in text


@pytest.mark.parametrize(
    "content, part",
    [
        (b"", "is empty"),
        (b"fixed,moving\n", "there is no row"),
        (b"fixed,moving\na.nii,b.nii,c.nii\n", "row 1 has more cells"),
        (b'fixed,moving\n"a.nii,b.nii\n', "no file of comma-separated values"),
        (b"fixed,moving\n\xff\xfe,b.nii\n", "no file of comma-separated values"),
    ],
)
def test_no_table(folder, content, part):
    assert part in message_of(table(folder, content))


def test_no_file(folder):
    assert "cannot be read: No such file" in message_of(folder / "none.csv")


def test_what_is_written_is_not_read(folder):
    (folder / "out" / "one").mkdir(parents=True)
    (folder / "out" / "one" / "warped.nii.gz").touch()
    rows = read_table(table(folder, "id,fixed,moving\none,a.nii,b.nii\ntwo,a.nii,out/one/warped.nii.gz\n"))
    check_places("pairs.csv", rows, folder / "elsewhere")
    with pytest.raises(gr.BadInputError, match="row 2: the moving file .* that the results of one are written to"):
        check_places("pairs.csv", rows, folder / "out")


def test_the_table_is_not_replaced(folder):
    (folder / "out").mkdir()
    path = folder / "out" / "results.csv"
    path.write_text(f"fixed,moving\n{folder}/a.nii,{folder}/b.nii\n")
    with pytest.raises(gr.BadInputError, match="results.csv would be replaced"):
        check_places(path, read_table(path), folder / "out")


@pytest.mark.parametrize(
    "file, problem",
    [
        ("out/one/labels.nii", "the moving file .* is in the folder that the results of one are written to"),
        ("link/one/labels.nii", "the moving file .* is in the folder that the results of one are written to"),
        ("link.nii", "the moving file .*link.nii is in the folder that the results of one are written to"),
        ("values.mhd", "the moving file .*values.mhd is in the folder that the results of one are written to"),
        ("out/one", "the moving file .*one is the folder that the results of one are written to"),
        ("out/results.csv", "the moving file .*results.csv would be replaced by the results"),
        ("out", "the moving file .*out is or holds the folder of the results"),
        ("image.zarr#0", "the moving file .*image.zarr#0 is or holds the folder of the results"),
    ],
)
def test_inputs_that_results_would_replace(folder, file, problem):
    """By another name, too, and values that lie in a file of their own."""
    (folder / "out" / "one").mkdir(parents=True)
    for name in ("out/one/labels.nii", "out/one/values.raw", "out/results.csv"):
        (folder / name).touch()
    (folder / "link").symlink_to(folder / "out")
    (folder / "link.nii").symlink_to(folder / "out" / "one" / "labels.nii")
    (folder / "values.mhd").write_text("NDims = 3\nElementDataFile = out/one/values.raw\n")
    (folder / "image.zarr" / "0" / "results").mkdir(parents=True)
    out = folder / "image.zarr" / "0" / "results" if "zarr" in file else folder / "out"
    rows = read_table(table(folder, f"id,fixed,moving\none,a.nii,{file}\n"))
    check_places("pairs.csv", rows, folder / "elsewhere")
    with pytest.raises(gr.BadInputError, match=f"^pairs.csv cannot be used: row 1: {problem}; give another output folder.$"):
        check_places("pairs.csv", rows, out)


def test_inputs_beside_results_are_no_problem(folder):
    """The output folder may hold images of other names, also in folders that no row's results are written to."""
    (folder / "other").mkdir()
    for name in ("other/labels.nii", "template.nii.gz", "mean.nii.gz"):
        (folder / name).touch()
    check_places("pairs.csv", read_table(table(folder, "id,fixed,moving\none,template.nii.gz,mean.nii.gz\ntwo,a.nii,other/labels.nii\n")), folder)


def test_quotes_behind_spaces(folder):
    (folder / "a, b.nii").touch()
    assert read_table(table(folder, 'fixed, "moving"\na.nii , "a, b.nii"\n'))[0].files["moving"] == str(folder / "a, b.nii")


def test_rows_in_memory(folder):
    files = {"fixed": folder / "a.nii", "moving": str(folder / "b.nii")}
    rows = read_table([{"id": 7, **files, "labels": float("nan")}, {"id": None, **files}])
    assert [row.id for row in rows] == ["7", "0002"] and "labels" not in rows[0].files
    with pytest.raises(gr.BadInputError, match="Row 1 of the table is a str.*to_dict"):
        read_table(["fixed", "moving"])
    with pytest.raises(gr.BadInputError, match="row 1: the id has 300 characters"):
        read_table([{"id": "x" * 300, **files}])


def test_nothing_is_made_before(folder):
    with pytest.raises(gr.BadInputError, match="no moving file"):
        register_cohort(table(folder, "fixed,moving\na.nii,gone.nii\n"), folder / "out")
    assert not (folder / "out").exists()
