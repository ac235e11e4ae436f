# SPDX-License-Identifier: Apache-2.0
"""benchmark/compare_dense.py's jobs: on small heads, with programs in greedy's place that behave and that do not."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import gpuregistration as gr
import numpy as np
import pytest

pytest.importorskip("nibabel")

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmark"
sys.path.insert(0, str(BENCHMARK))

import dense_cases
import dense_jobs
import dense_programs
from dense_rows import HEAD_COLUMNS, read_rows

#: Its module stands in greedy's place. Where the command has a metric it writes no deformation, and otherwise none either.
STILL = """
    import os, sys, time
    import gpuregistration as gr
    import numpy as np

    class Greedy3D:
        def execute(self, command):
            words = command.split()
            grid = gr.read_image(words[words.index("-i") + 1] if "-i" in words else "warp.nii")
            size = grid.shape[:3]
            field = gr.DisplacementField(np.zeros((*size, 3)), grid.spacing, grid.origin, grid.direction)
            gr.write_transform("warp.nii" if "-i" in words else "inverse.nii", field)
"""


#: Replacements for torch and FireANTs. FireANTs' finds a shift of 2 mm along x, and writes it composed with the affine transform.
FIREANTS = {
    "torch.py": """
        set_num_threads = int

        class Tensor:
            def __init__(self, array): self.array = array
            def float(self): return self
            def __getitem__(self, index): return self.array[index]

        from_numpy = Tensor
    """,
    "fireants/io.py": """
        import gpuregistration as gr

        class Image:
            @staticmethod
            def load_file(name, device):
                assert device == "cpu"
                return gr.read_image(name)

        BatchedImages = list
    """,
    "fireants/registration/greedy.py": """
        import gpuregistration as gr
        import numpy as np

        class GreedyRegistration:
            def __init__(self, fixed_images, moving_images, init_affine, scales, iterations, **others):
                self.grid, = fixed_images
                self.matrix, = init_affine
                assert (scales, iterations) == ([2, 1], [6, 4]) and len(moving_images) == 1
                assert others == {
                    "cc_kernel_size": 5, "optimizer": "Adam", "optimizer_lr": 0.5, "smooth_grad_sigma": 1, "smooth_warp_sigma": 0.5
                }

            def optimize(self):
                self.shift = np.array([2.0, 0.0, 0.0])

            def save_as_ants_transforms(self, name):
                grid = self.grid
                index = np.stack(np.meshgrid(*map(np.arange, grid.shape), indexing="ij"), axis=-1)[..., ::-1]
                points = index @ (grid.direction * grid.spacing).T + grid.origin
                there = (points + self.shift) @ self.matrix[:3, :3].T + self.matrix[:3, 3]
                gr.write_transform(name, gr.DisplacementField(there - points, grid.spacing, grid.origin, grid.direction))
    """,
    "fireants/registration/syn.py": "SyNRegistration = None",
}


@pytest.fixture(scope="module")
def heads(tmp_path_factory):
    """Writes two people's heads, balls in boxes of other sizes and places, and returns their folder."""
    folder = tmp_path_factory.mktemp("heads")
    z, y, x = np.mgrid[:20, :22, :24]
    for name, centre, radii in (("a", (10, 11, 12), (6, 7, 8)), ("b", (10.5, 10, 12.5), (7, 6.5, 7))):
        distance = sum(((one - middle) / radius) ** 2 for one, middle, radius in zip((z, y, x), centre, radii))
        labels = np.where(distance < 0.4, 2, np.where(distance < 1, 1, 0)).astype(np.uint8)
        for contrast, bright in (("t1", (0.0, 50.0, 90.0)), ("t2", (0.0, 80.0, 30.0))):
            image = gr.Image(np.array(bright, np.float32)[labels] + np.float32(0.1) * (x % 3).astype(np.float32), (3.0, 3.0, 3.0))
            gr.write_image(folder / f"head_{name}_{contrast}.nii.gz", gr.smooth(image, 3.0, device="host"))
        gr.write_image(folder / f"head_{name}_labels.nii.gz", gr.Image(labels, (3.0, 3.0, 3.0)))
    return folder


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Returns a function that puts a module of this text in greedy's place, or in another's."""

    def install(text, name="picsl_greedy.py"):
        file = tmp_path / "modules" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text))
        monkeypatch.syspath_prepend(tmp_path / "modules")
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "modules"), *sys.path]))

    return install


def compare(heads, tmp_path, *arguments):
    """Runs the program, and returns the rows of its file, by pair and program."""
    table = tmp_path / "table.csv"
    done = subprocess.run(
        [sys.executable, BENCHMARK / "compare_dense.py", "--data", heads, "--csv", table, "--threads", "1", "--iterations", "6,4", *arguments],
        capture_output=True, text=True, env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    comment, rows = read_rows(table)
    assert done.stdout.startswith(comment)
    return {(row["pair"], row["program"]): row for row in rows}


def test_every_pair_is_run_by_every_program(heads, tmp_path, program):
    program(STILL)
    arguments = "--ours", "greedy", "--ours", "syn:radius=2", "--others", "greedy-ncc2"
    rows = compare(heads, tmp_path, *arguments)
    programs = ["affine", "ours: greedy", "ours: syn:radius=2", "greedy-ncc2"]
    assert sorted(rows) == sorted((pair, one) for pair in ("a <- b", "b <- a") for one in programs)
    for (pair, one), row in rows.items():
        assert "skipped" not in row, row
        if one != "affine":
            assert set(HEAD_COLUMNS) <= set(row)
    for pair in ("a <- b", "b <- a"):
        # No deformation is the affine transform alone.
        still = rows[pair, "greedy-ncc2"]
        assert still["dice"] == pytest.approx(rows[pair, "affine"]["dice"], abs=1e-12) and still["s"] == still["inv_max"] == 0
        assert rows[pair, "ours: greedy"]["dice"] > still["dice"] + 0.01
    # Several at once find the same.
    beside = compare(heads, tmp_path, *arguments, "--jobs", "2", "--times", "2")
    assert beside.keys() == rows.keys()
    for key, row in rows.items():
        assert {name: beside[key].get(name) for name in ("dice", "s", "folded", "inv_max")} == {
            name: row.get(name) for name in ("dice", "s", "folded", "inv_max")
        }
    assert not [path for path in tmp_path.iterdir() if path.is_dir() and path.name != "modules"]


def test_fireants_deformation_is_what_precedes_the_affine_transform(heads, tmp_path, program):
    for name, text in FIREANTS.items():
        program(text, name)
    (case,) = dense_cases.make_cases(heads, tmp_path, ("t1", "t1"), 1, [("a", "b")])
    case.prepare("host")
    (tmp_path / "job").mkdir()
    found = dense_programs.run_other("fireants-greedy", case.folder, tmp_path / "job", 1, [6, 4], None)
    assert found.field.array == pytest.approx(np.broadcast_to([2.0, 0.0, 0.0], found.field.array.shape), abs=1e-5)
    assert found.inverse is None and 0 <= found.seconds < 10
    row = compare(heads, tmp_path, "--no-ours", "--others", "fireants-greedy", "--pairs", "a:b")["a <- b", "fireants-greedy"]
    assert set(HEAD_COLUMNS) - set(row) == {"inv_mean", "inv_max"} and "skipped" not in row
    assert row["s"] == pytest.approx(0, abs=1e-6) and row["folded"] == 0 and row["dice"] == pytest.approx(case.score(found)["dice"])


def test_a_program_that_is_not_installed_is_skipped(heads, tmp_path, monkeypatch):
    monkeypatch.setitem(dense_programs.PACKAGES, "fireants", dense_programs.Package("no_such_module", "fireants", (1,)))
    with pytest.raises(dense_programs.Skipped, match="^no_such_module is not installed$"):
        dense_programs.run_other("fireants-syn", tmp_path, tmp_path, 1, [3], None)


def test_nothing_begins_after_the_end(heads, tmp_path):
    rows = compare(heads, tmp_path, "--ours", "greedy", "--others", "greedy-nmi", "--limit-seconds", "0", "--pairs", "a:b", "--jobs", "2")
    assert {row["skipped"] for row in rows.values()} == {"not begun before the time was up"} and len(rows) == 3


def write_case(heads, tmp_path):
    """Returns a case that is ready."""
    (case,) = dense_cases.make_cases(heads, tmp_path, ("t1", "t2"), 1, [("a", "b")])
    case.prepare("host")
    return case


def run_other(case, tmp_path, most_seconds=None):
    """Runs what stands in greedy's place."""
    (tmp_path / "job").mkdir()
    return dense_programs.run_other("greedy-nmi", case.folder, tmp_path / "job", 1, [3], most_seconds)


def test_a_program_is_stopped_when_its_time_is_up(heads, tmp_path, program):
    program("import time\ntime.sleep(60)\n")
    begin = time.monotonic()
    with pytest.raises(dense_programs.Skipped, match="^not finished in 1 s$"):
        run_other(write_case(heads, tmp_path), tmp_path, 1.0)
    assert time.monotonic() - begin < 20


@pytest.mark.parametrize(
    "text, reported",
    [("import os\nos._exit(7)\n", "failed, exit status 7"), ("raise RuntimeError('no images')\n", "failed, exit status 1.*no images"),
     ("class Greedy3D:\n    def execute(self, command): print('quiet', end='') or __import__('os')._exit(0)\n", "printed no time")],
)
def test_a_program_that_fails_is_reported(heads, tmp_path, program, text, reported):
    program(text)
    with pytest.raises(dense_programs.Skipped, match=reported):
        run_other(write_case(heads, tmp_path), tmp_path)


class Deadly(dense_cases.HeadCase):
    """A case that ends the process which scores it."""

    def score_start(self):
        os._exit(9)


def test_a_job_that_crashes_leaves_the_others(heads, tmp_path):
    deadly = Deadly(heads, tmp_path / "deadly", ("t1", "t1"), 1, ("b", "a"))
    good = dense_cases.HeadCase(heads, tmp_path / "good", ("t1", "t1"), 1, ("a", "b"))
    jobs = [dense_jobs.Job(case, "", True, None, number) for number, case in enumerate((deadly, good))]
    rows = {row["pair"]: row for row in dense_jobs.run_all([deadly, good], jobs, dense_jobs.Limits(["host"], 1, 1))}
    assert rows["b <- a"]["skipped"].startswith("broke off: BrokenProcessPool") and 0 < rows["a <- b"]["dice"] < 1


def test_a_case_that_is_not_there_ends_the_run(heads, tmp_path):
    done = subprocess.run(
        [sys.executable, BENCHMARK / "compare_dense.py", "--data", heads, "--pairs", "a:c", "--others", "", "--ours", "greedy"],
        capture_output=True, text=True,
    )
    assert done.returncode == 1 and done.stderr == f"compare_dense.py: There is no file {heads}/head_c_t1.nii.gz.\n"


@pytest.mark.parametrize("text", ["rigid", "greedy:speed=3", "greedy,syn", "no", ""])
def test_what_is_no_dense_stage_is_refused(text):
    with pytest.raises(ValueError):
        dense_programs.parse_stage(text, None)


def test_iterations_of_a_stage_come_first():
    assert list(dense_programs.parse_stage("greedy:iterations=7x3", [5]).iterations) == [7, 3]
    assert list(dense_programs.parse_stage("velocity", [5, 2]).iterations) == [5, 2]
    assert dense_programs.OTHERS["ants-cc2"].settings(None) == (
        "-m CC[{fixed},{moving},1,2] -t SyN[0.2,3,0] -c [100x70x50x20,1e-6,10] -f 8x4x2x1 -s 3x2x1x0vox -u 0 --float 1"
    )
    assert dense_programs.OTHERS["greedy-nmi"].settings([9, 4]) == "-m NMI -n 9x4 -s 1.732vox 0.707vox -wp 0"
    assert dense_programs.OTHERS["fireants-syn"].settings([9, 4]) == (
        "syn scales=2x1 iterations=9x4 cc_kernel_size=5 optimizer_lr=0.5 smooth_grad_sigma=1 smooth_warp_sigma=0.5"
    )
