# SPDX-License-Identifier: Apache-2.0
"""The pages of docs: what they show runs as it stands, and what they point at is there."""

import importlib.util
import re
from pathlib import Path

import gpuregistration as g
import numpy as np
import pytest
from conftest import make_head, turn

pytest.importorskip("SimpleITK")

PROJECT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("snippets", PROJECT / "docs" / "snippets.py")
snippets = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(snippets)

PAGES = snippets.pages()
# What is run elsewhere: by test.sh, with the plugin, or by the installation.
NOT_RUN = ("console",)
CODE_OF_PROGRAMS = ("cpp", "cmake")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files that the pages read: small heads, their masks and labels."""
    folder = tmp_path_factory.mktemp("docs")
    moved = g.Affine(turn(7.0), [4.0, -3.0, 2.0], [2.0, 1.0, 3.0])
    head, other = make_head(), make_head(moved.inverse().transform_points)
    for name in ("fixed", "template"):
        g.write_image(folder / f"{name}.nii.gz", head)
    for name in ("moving", "subject"):
        g.write_image(folder / f"{name}.nii.gz", other)
    for name, image in (("fixed", head), ("moving", other)):
        g.write_image(folder / f"{name}_labels.nii.gz", image.like(np.digitize(image.array, [60, 110]).astype(np.uint8)))
    g.write_image(folder / "fixed_mask.nii.gz", head.like((head.array > 20).astype(np.uint8)))
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_shows_runs(page, files, monkeypatch):
    monkeypatch.setenv("GPUREG_THREADS", "2")
    snippets.run(page, files)
    g.set_threads(0)


def test_the_pages_write_what_they_say(files):
    """After all of them: the transform that a page found carries labels to where they belong."""
    if not (files / "labels_on_fixed.nii.gz").exists():
        snippets.run(PROJECT / "docs" / "apply-to-labels.md", files)
    carried = g.read_image(files / "labels_on_fixed.nii.gz").array
    own = g.read_image(files / "fixed_labels.nii.gz").array
    for label in (1, 2):
        a, b = carried == label, own == label
        assert 2 * (a & b).sum() / (a.sum() + b.sum()) > 0.95, label


def _lines(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_of_programs_stands_in_programs(page):
    """Line by line, in one of the programs that are built and tested."""
    programs = [path for folder in ("examples", "test/consumer", "test/plugin") for path in (PROJECT / folder).iterdir()]
    texts = ["\n".join(_lines(path.read_text())) for path in programs if path.suffix in (".cxx", ".h", ".txt")]
    for block in snippets.blocks(page):
        if block.language in CODE_OF_PROGRAMS:
            wanted = "\n".join(_lines(block.text))
            assert any(wanted in text for text in texts), f"{page.name}:{block.line} stands in no program"


@pytest.mark.parametrize("page", PAGES + [PROJECT / "docs" / "README.md"], ids=lambda page: page.stem)
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
            assert block.language in ("sh", "python") + NOT_RUN + CODE_OF_PROGRAMS, f"{page.name}:{block.line}"
