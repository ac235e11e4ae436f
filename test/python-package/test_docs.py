# SPDX-License-Identifier: Apache-2.0
"""The pages of docs: what they show runs as it stands, and what they point at is there."""

import importlib.util
import re
import shutil
from pathlib import Path

import gpuregistration as g
import numpy as np
import pytest
from conftest import make_head, turn
from gpuregistration._labels import find_dice

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
# What is run elsewhere: by test.sh, with the plugin, or by the installation.
NOT_RUN = ("console",)
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
    copies = {"template_labels": "fixed_labels", "sub-01/t1": "moving", "sub-01/labels": "moving_labels", "sub-02/t1": "moving"}
    for copy, name in copies.items():
        (folder / copy).parent.mkdir(exist_ok=True)
        shutil.copy(folder / f"{name}.nii.gz", folder / f"{copy}.nii.gz")
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_shows_runs(page, files, monkeypatch):
    monkeypatch.setenv("GPUREG_THREADS", "2")
    snippets.run(page, files)
    g.set_threads(0)


def test_the_pages_write_what_they_say(files):
    """The transform that a page found carries labels to where they belong, as well as the truth does."""
    if not (files / "labels_on_fixed.nii.gz").exists():
        snippets.run(PROJECT / "docs" / "apply-to-labels.md", files)
    own, labels = (g.read_image(files / f"{name}_labels.nii.gz") for name in ("fixed", "moving"))
    best = find_dice(own.array, g.resample(labels, MOVED, reference=own, interpolation="nearest").array)
    found = find_dice(own.array, g.read_image(files / "labels_on_fixed.nii.gz").array)
    before = find_dice(own.array, labels.array)
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


OTHERS = [PROJECT / name for name in ("README.md", "docs/README.md", "docs/guide.md")]


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
            assert block.language in ("sh", "python") + NOT_RUN + FILES + CODE_OF_PROGRAMS, f"{page.name}:{block.line}"
            assert (block.language in FILES) == bool(block.file), f"{page.name}:{block.line}"


@pytest.mark.parametrize("name", charts.CHARTS)
def test_charts_show_what_the_tables_say(name):
    assert (PICTURES / name).read_text(encoding="utf-8") == charts.CHARTS[name](), "run: python docs/pictures.py charts"


def test_pictures_are_small_and_of_a_page():
    shown = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    pictures = sorted(PICTURES.iterdir())
    for picture in pictures:
        assert f"pictures/{picture.name})" in shown, f"no page shows {picture.name}"
        assert picture.stat().st_size < 150_000, picture.name
    assert sum(picture.stat().st_size for picture in pictures) < 1_200_000
