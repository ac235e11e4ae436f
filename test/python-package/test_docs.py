# SPDX-License-Identifier: Apache-2.0
"""The pages of docs: what they show runs as it stands, and what they point at is there."""

import importlib.util
import os
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import gpuregistration as g
import numpy as np
import pytest
from conftest import make_head, turn
from gpuregistration._labels import compute_dice
from gpuregistration.ome_zarr import resample_zarr

pytest.importorskip("SimpleITK")

PROJECT = Path(__file__).parents[2]
PICTURES = PROJECT / "docs" / "pictures"


def _load(name):
    spec = importlib.util.spec_from_file_location(name, PROJECT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


snippets, charts = _load("snippets"), _load("charts")
PAGES = snippets.pages()
# Blocks that show their output, or do more than small heads take: see REPLACED.
CONSOLE = ("console",)
FILES = ("csv",)
CODE_OF_PROGRAMS = ("cpp", "cmake")


# From the fixed head's points to the moving one's.
MOVED = g.Affine(turn(7.0), [4.0, -3.0, 2.0], [2.0, 1.0, 3.0])


def _fold(image, transform):
    """With folds all over it: a deformation of a smooth body is not known by its values alone."""
    index = np.moveaxis(np.indices(image.shape), 0, -1)[..., ::-1]
    points = transform(index @ image.index_to_point[:-1, :-1].T + image.origin)
    folds = 1 + 0.1 * np.sin(0.33 * points + [0.0, 1.0, 2.0]).sum(axis=-1)
    return image.like((image.array * folds).astype(np.float32))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files that the pages read: small heads, their masks and labels."""
    folder = tmp_path_factory.mktemp("docs")
    back = MOVED.inverse().transform_points
    smooth, smooth_other = make_head(), make_head(back)
    head, other = _fold(smooth, lambda points: points), _fold(smooth_other, back)
    for name in ("fixed", "template"):
        g.write_image(folder / f"{name}.nii.gz", head)
    for name in ("moving", "subject"):
        g.write_image(folder / f"{name}.nii.gz", other)
    for name, image in (("fixed", smooth), ("moving", smooth_other)):
        g.write_image(folder / f"{name}_labels.nii.gz", image.like(np.digitize(image.array, [60, 110]).astype(np.uint8)))
    for name in ("fixed", "template"):
        g.write_image(folder / f"{name}_mask.nii.gz", head.like((head.array > 20).astype(np.uint8)))
    if importlib.util.find_spec("zarr"):
        resample_zarr(other, folder / "big.zarr", chunk=[16], devices=["host"])
    copies = {"template_labels": "fixed_labels", "sub-01/t1": "moving", "sub-01/labels": "moving_labels", "sub-02/t1": "moving", "sub-03/t1": "fixed"}
    for copy, name in copies.items():
        (folder / copy).parent.mkdir(exist_ok=True)
        shutil.copy(folder / f"{name}.nii.gz", folder / f"{copy}.nii.gz")
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_shows_runs(page, files, monkeypatch):
    monkeypatch.setenv("GPUREG_THREADS", "2")
    if page.stem == "ome-zarr":
        pytest.importorskip("zarr")
    snippets.run(page, files)
    g.set_threads(0)


def test_the_pages_write_what_they_say(files):
    """The transform that a page found carries labels to where they belong, as well as the truth does."""
    if not (files / "labels_on_fixed.nii.gz").exists():
        snippets.run(PROJECT / "docs" / "apply-to-labels.md", files)
    own, labels = (g.read_image(files / f"{name}_labels.nii.gz") for name in ("fixed", "moving"))
    best = compute_dice(own.array, g.resample(labels, MOVED, reference=own, interpolation="nearest").array)
    found = compute_dice(own.array, g.read_image(files / "labels_on_fixed.nii.gz").array)
    before = compute_dice(own.array, labels.array)
    assert list(found) == [1, 2]
    for label, dice in found.items():
        assert dice > best[label] - 0.01 > before[label], label


def _lines(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_of_programs_stands_in_programs(page):
    """Line by line, in one of the programs that are built and tested."""
    folders = ("examples", "examples/RegisterRigidly", "test/consumer", "test/plugin")
    programs = [path for folder in folders for path in (PROJECT / folder).iterdir()]
    texts = ["\n".join(_lines(path.read_text(encoding="utf-8"))) for path in programs if path.suffix in (".cxx", ".h", ".txt")]
    for block in snippets.blocks(page):
        if block.language in CODE_OF_PROGRAMS:
            wanted = "\n".join(_lines(block.text))
            assert any(wanted in text for text in texts), f"{page.name}:{block.line} stands in no program"


OTHERS = [PROJECT / name for name in ("README.md", "docs/README.md", "docs/guide.md", "docs/limits.md", "docs/formats.md")]
# Commands and Python blocks of README.md, the guide and console blocks are run, too, after these replacements:
REPLACED = {
    "gpureg bench": "gpureg bench --size 32 --seconds 0.01 --device host",
    "build/RegisterRigidly": "RegisterRigidly",
    "atlas.nii.gz": "moving_labels.nii.gz",
    "cuda:0,cuda:1": "host,host",
}
READ = ("fixed", "moving", "moving_labels")
COMMANDS = ("gpureg",)
# These belong to the examples, which are built where the C++ tests are.
PROGRAMS = ("RegisterFiles", "RegisterRigidly")
# Blocks that are not run, by their command or their first line, and why.
NOT_RUN = {
    "./demo.sh": "installs packages and builds: half an hour",
    "./test.sh": "runs this test, and all others",
    "sudo apt-get install g++ python3-dev python3-venv": "wants root and a network",
    "python3 -m venv .venv && . .venv/bin/activate": "is of use to the installation alone",
    "python3 -m venv .venv": "the same",
    ". .venv/bin/activate": "the same",
    "pip install '.[io]'": "compiles the package, and wants a network; test.sh does it",
    "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build && cmake --install build": "builds: test.sh does it",
    "cmake -S RegisterRigidly -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build": "builds: test/consumer does it",
    "ITK_AUTOLOAD_PATH=/usr/local/lib/GPURegistration-plugin your-program fixed.nii.gz moving.nii.gz": "is of the reader's program; "
    "test/plugin has some",
    "PATH=$PWD/ants-bin:$PATH antsRegistrationSyN.sh -d 3 -f fixed.nii.gz -m moving.nii.gz -o out": "is a script of ANTs; "
    "test_ants_registration.py runs its command line",
    "metric = itk.CudaMattesNMI[ImageType, ImageType].New()": "wants an ITK with this module wrapped; test/python has programs of it",
    "using Image = itk::Image<float, 3>;": "a part of a program, shortened: examples/SwapTheMetric.cxx is the whole one",
    "auto search = itk::GlobalAffineRegistrationMethod<Image, Image>::New();": "the same of examples/GlobalStage.cxx",
    "auto method = itk::FreeFormDeformationRegistrationMethod<Image, Image>::New();": "the same of examples/FreeFormStage.cxx",
    "auto method = itk::DiffeomorphicRegistrationMethod<Image, Image>::New();": "the same of "
    "test/registration/diffeomorphic/DiffeomorphicMethodTest.cxx",
    "auto method = itk::GPUSyNImageRegistrationMethod<Image, Image>::New(); // was itk::SyNImageRegistrationMethod": "the same of "
    "test/registration/diffeomorphic/SyNMethodTest.cxx",
    "using Sum = itk::WeightedSumMultiMetricv4<3, 3, Image>;": "the same of test/penalty/BSplinePenaltyTest.cxx",
}


def _commands(block):
    """A block's commands, without comments and what a console prints."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.language in CONSOLE:
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    return [" ".join(re.sub(r"(^|\s+)#.*", "", line).split()) for line in lines]


def _find_others():
    """Pages, and what they show that no test above looks at: blocks, of which those of commands are taken apart."""
    found = []
    for page in PAGES + OTHERS:
        for block in snippets.blocks(page):
            if block.language in ("sh", *CONSOLE) and (page in OTHERS or block.language in CONSOLE):
                found += [(page, block._replace(language="sh", text=command)) for command in _commands(block) if command]
            elif page in OTHERS:
                found.append((page, block))
    return found


def _first_line(part):
    return part.text.splitlines()[0]


SHOWN = _find_others()
RUN = [(page, part) for page, part in SHOWN if _first_line(part) not in NOT_RUN]


@pytest.mark.parametrize("page, part", RUN, ids=[f"{page.stem}-{part.line}-{_first_line(part)[:16]}" for page, part in RUN])
def test_what_else_is_shown_runs(page, part, files, tmp_path, monkeypatch):
    for word, other in REPLACED.items():
        part = part._replace(text=re.sub(rf"(?<![\w./-]){re.escape(word)}(?![\w./-])", other, part.text))
    program = part.text.split()[0] if part.language == "sh" else ""
    if part.language != "python" and program not in COMMANDS + PROGRAMS:
        pytest.fail(f"{page.name}:{part.line}: {_first_line(part)} is not known: run it here, or say in NOT_RUN why it is not.")
    if program in PROGRAMS:
        programs = os.environ.get("GPUREG_TEST_PROGRAMS")
        if programs is None:
            pytest.skip("GPUREG_TEST_PROGRAMS names no folder of the C++ tests' programs")
        monkeypatch.setenv("PATH", programs + os.pathsep + os.environ["PATH"])
    monkeypatch.setenv("GPUREG_THREADS", "2")
    for name in READ:
        shutil.copy(files / f"{name}.nii.gz", tmp_path)
    snippets.run(page, tmp_path, [part])
    g.set_threads(0)
    for name in re.findall(r"[\w-]+\.(?:nii\.gz|tfm|html)\b", part.text):
        assert (tmp_path / name).exists(), name


def test_what_is_not_run_is_shown():
    assert set(NOT_RUN) <= {_first_line(part) for _, part in SHOWN}


@pytest.mark.parametrize("page", PAGES + OTHERS, ids=lambda page: str(page.relative_to(PROJECT)))
def test_every_block_says_what_it_is_of(page):
    """Otherwise it is no block to snippets.py."""
    fences = re.findall(r"^\s*(?:```|~~~)", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(fences) == 2 * len(snippets.blocks(page))


@pytest.mark.parametrize("page", PAGES + OTHERS, ids=lambda page: str(page.relative_to(PROJECT)))
def test_what_a_page_points_at_is_there(page):
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        name, _, place = target.partition("#")
        path = page.parent / name if name else page
        assert path.exists(), f"{page.name} points at {target}"
        if place:
            headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            assert place in [re.sub(r"[^\w -]", "", text).lower().replace(" ", "-") for text in headings], target


def test_each_page_is_listed_and_has_a_picture():
    listed = (PROJECT / "docs" / "README.md").read_text(encoding="utf-8")
    assert PAGES
    for page in PAGES:
        assert f"({page.name})" in listed, page.name
        assert re.search(r"!\[[^\]]+\]\(pictures/", page.read_text(encoding="utf-8")), page.name


def test_every_kind_of_block_is_known():
    for page in PAGES:
        for block in snippets.blocks(page):
            assert block.language in ("sh", "python") + CONSOLE + FILES + CODE_OF_PROGRAMS, f"{page.name}:{block.line}"
            assert (block.language in FILES) == bool(block.file), f"{page.name}:{block.line}"


@pytest.mark.parametrize("name", charts.CHARTS)
def test_charts_show_what_the_tables_say(name):
    drawn = ["".join(text.itertext()) for text in ElementTree.parse(PICTURES / name).iter("{http://www.w3.org/2000/svg}text")]
    assert sorted(drawn) == sorted(charts.CHARTS[name]().texts()), "run: python docs/pictures.py charts"


def test_pictures_are_small_and_of_a_page():
    shown = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    pictures = sorted(PICTURES.iterdir())
    for picture in pictures:
        assert f"pictures/{picture.name})" in shown, f"no page shows {picture.name}"
        assert picture.stat().st_size < 150_000, picture.name
    assert sum(picture.stat().st_size for picture in pictures) < 1_200_000
