# SPDX-License-Identifier: Apache-2.0
"""Tests which images a file's format holds: what it does not is an error, and leaves no file."""

import gpuregistration as gr
import numpy as np
import pytest
from conftest import turn

sitk = pytest.importorskip("SimpleITK")

_TURNED = turn(90.0)
_PLACES = {
    "spacing": ((1.5, 2.0, 2.5), (0.0, 0.0, 0.0), np.eye(3)),
    "origin": ((1.0, 1.0, 1.0), (-10.0, 7.25, 1 / 3), np.eye(3)),
    "direction": ((1.0, 1.0, 1.0), (0.0, 0.0, 0.0), _TURNED),
}
_ALL = set(_PLACES)
#: What files of each format hold of a place.
_HELD = {
    ".nii": _ALL,
    ".nii.gz": _ALL,
    ".hdr": _ALL,
    ".mha": _ALL,
    ".mhd": _ALL,
    ".nrrd": _ALL,
    ".nhdr": _ALL,
    ".mgz": _ALL,
    ".h5": _ALL,
    ".vtk": {"spacing", "origin"},
    ".gipl": {"spacing", "origin"},
    ".gipl.gz": {"spacing", "origin"},
    ".tif": set(),
    ".png": set(),
    ".bmp": set(),
}


def make(which, dimension):
    spacing, origin, direction = _PLACES[which]
    array = np.arange(4 * 5 * 6, dtype=np.uint8).reshape(4, 5, 6)
    d = dimension
    return gr.Image(array if d == 3 else array[0], spacing[:d], origin[:d], direction[:d, :d])


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("which", _PLACES)
@pytest.mark.parametrize("suffix", _HELD)
def test_a_place_is_held_or_refused(tmp_path, suffix, which, dimension):
    path, image = tmp_path / f"a{suffix}", make(which, dimension)
    if suffix in (".mgz", ".bmp", ".png") and dimension == (2 if suffix == ".mgz" else 3):
        with pytest.raises(gr.BadInputError, match="dimensions"):
            gr.write_image(path, image)
    elif which in _HELD[suffix] or (suffix in (".tif", ".png") and dimension == 2 and which == "spacing"):
        gr.write_image(path, image)
        read = gr.read_image(path)
        assert (read.array.reshape(image.shape) == image.array).all()
        assert np.allclose(read.spacing[:dimension], image.spacing) and np.allclose(read.origin[:dimension], image.origin)
        assert np.allclose(read.direction[:dimension, :dimension], image.direction)
        return
    else:
        with pytest.raises(gr.BadInputError, match=f"would lose its {which} .* Write a .nii.gz or a .mha"):
            gr.write_image(path, image)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".jpeg", ".bmp"])
def test_a_picture_is_of_two_dimensions(tmp_path, suffix):
    picture = gr.Image(np.full((8, 8), 7, np.uint8))
    gr.write_image(tmp_path / f"a{suffix}", picture)
    assert (gr.read_image(tmp_path / f"a{suffix}").array == 7).all()
    for planes, what in ((4, "one slice"), (1, r"Image\(image.array\[0\]\), its one slice")):
        with pytest.raises(gr.BadInputError, match=f"cannot hold an image of 3 dimensions: a {suffix} is a picture of two.* a .mha, or {what}\\."):
            gr.write_image(tmp_path / f"b{suffix}", gr.Image(np.zeros((planes, 8, 8), np.uint8)))
    assert [path.name for path in tmp_path.iterdir()] == [f"a{suffix}"]


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif"])
def test_a_picture_that_lies_elsewhere_is_refused(tmp_path, suffix):
    with pytest.raises(gr.BadInputError, match=r"would lose its .*origin \[3.0, 4.0\].* or Image\(image.array\), without its place"):
        gr.write_image(tmp_path / f"a{suffix}", gr.Image(np.zeros((8, 8), np.uint8), (0.5, 0.5), (3.0, 4.0)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["pf.xyz", "pf"])
def test_a_name_of_no_format(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(gr.BadInputError) as found:
        gr.write_image(name, gr.Image(np.zeros((4, 5, 6), np.uint8)))
    assert str(found.value).startswith(f"The name {name} ") and ".nii.gz .nii .mha" in str(found.value) and ".writing" not in str(found.value)
    with pytest.raises(gr.BadInputError, match=r"pf.* is none of a transform: let it end on one of .tfm .txt .h5 .mat"):
        gr.write_transform(name, gr.Affine(np.eye(3)))
    assert list(tmp_path.iterdir()) == []


def test_a_type_that_a_format_does_not_hold_names_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(gr.BadInputError, match="The file a.png cannot be written") as found:
        gr.write_image("a.png", gr.Image(np.zeros((5, 6), np.float32)))
    assert ".writing" not in str(found.value) and list(tmp_path.iterdir()) == []
