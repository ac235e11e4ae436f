# SPDX-License-Identifier: Apache-2.0
"""Tests grey images that are stored as colours, as pictures mostly are."""

import struct
import zlib

import gpuregistration as gr
import numpy as np
import pytest
from command_line import assert_fails, gpureg_json
from conftest import make_head, turn

sitk = pytest.importorskip("SimpleITK")

MOVED = gr.Affine(turn(5.0, 2), [4.0, -2.0])
GRID = {"shape": (60, 50), "spacing": (1.5, 1.5), "origin": (-40.0, -45.0)}


@pytest.fixture(scope="module")
def greys():
    pair = make_head(**GRID), make_head(MOVED.inverse().transform_points, **GRID)
    return [image.like(np.rint(image.array).astype(np.uint8)) for image in pair]


def stack(image, *more):
    return image.like(np.stack([image.array] * 3 + list(more), axis=-1))


MAKERS = {
    "RGB": stack,
    "RGBA": lambda image: stack(image, np.full(image.shape, 255, np.uint8)),
    "grey and alpha": lambda image: image.like(np.stack([image.array, np.full(image.shape, 200, np.uint8)], axis=-1)),
    "16 bits": lambda image: image.like(stack(image).array.astype(np.uint16)),
    "one component": lambda image: gr.Image(image.array[..., np.newaxis], image.spacing, image.origin, image.direction, True),
    "floats": lambda image: image.like(stack(image).array.astype(np.float32)),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_registered_as_grey(greys, kind):
    wanted = gr.register(*greys, device="host")
    mask = greys[0].like((greys[0].array > 5).astype(np.uint8) * 255)
    fixed, moving = map(MAKERS[kind], greys)
    found = gr.register(fixed, moving, device="host")
    # Floats are not rounded.
    np.testing.assert_allclose(found.warped.array, wanted.warped.array, atol=0.51 if kind == "floats" else 0)
    assert found.cost == wanted.cost and not found.warped.is_vector
    by_mask = gr.register(*greys, fixed_mask=stack(mask), device="host")
    assert by_mask.cost == gr.register(*greys, fixed_mask=mask, device="host").cost
    # Colours that are resampled stay colours.
    assert gr.resample(moving, found.transform, fixed, device="host").array.shape == fixed.array.shape
    # The other library's images give the same.
    images = [gr._kinds.to_simpleitk(image) for image in (fixed, moving)]
    assert gr.register(*images, device="host").warped.GetNumberOfComponentsPerPixel() == 1


@pytest.mark.parametrize("most", [1, 2])
def test_what_a_jpegs_rounding_leaves(greys, rng, most):
    tints = [rng.integers(-1, most, (60, 50, 3)) for _ in greys]
    tinted = [image.like(np.clip(stack(image).array + tint, 0, 255).astype(np.uint8)) for image, tint in zip(greys, tints)]
    wanted, found = gr.register(*greys, device="host"), gr.register(*tinted, device="host")
    np.testing.assert_allclose(found.transform.matrix_of(), wanted.transform.matrix_of(), atol=0.1)
    # The image's luminance.
    fixed = gr._grey.as_grey(tinted[0], "", "").array
    assert (fixed == np.rint(tinted[0].array @ [0.299, 0.587, 0.114])).all()


def test_gaps_are_grey(greys):
    values = greys[0].array.astype(np.float32)
    values[3, 4] = np.nan
    found = gr._grey.as_grey(stack(greys[0].like(values)), "", "")
    np.testing.assert_array_equal(found.array, values)


def test_colours(greys):
    coloured = greys[0].like(np.stack([greys[0].array, greys[0].array // 2, greys[0].array], axis=-1))
    with pytest.raises(gr.BadInputError, match=r"fixed image has 3 components .*differ, so that they are no grey.*image.like\("):
        gr.register(coloured, greys[1])
    # The advice works.
    gr.register(coloured.like(coloured.array[..., 0]), greys[1], device="host")
    clear = MAKERS["RGBA"](greys[0])
    clear.array[3, 4, 3] = 0
    with pytest.raises(gr.BadInputError, match="4 components .*not equally opaque"):
        gr.register(clear, greys[1])
    # A displacement field is not a grey image with opacity, even if one component is constant.
    field = greys[0].like(np.stack([greys[0].array.astype(np.float32), np.zeros(greys[0].shape, np.float32)], axis=-1))
    with pytest.raises(gr.BadInputError, match="2 components .*no colours"):
        gr.register(field, greys[1])


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif", ".bmp", ".nii.gz", ".mha"])
def test_files(greys, tmp_path, capfd, suffix):
    for name, image in zip(("fixed", "moving"), greys):
        sitk.WriteImage(gr._kinds.to_simpleitk(stack(image)), str(tmp_path / (name + suffix)))
    words = [tmp_path / ("fixed" + suffix), tmp_path / ("moving" + suffix)]
    found = gpureg_json(capfd, "register", *words, "-o", tmp_path / "o.mha", "--report", "--device", "host")
    assert gr.read_image(tmp_path / "o.mha").components == 1
    read = [gr.read_image(path) for path in words]
    assert read[0].is_vector and found["cost"] == gr.register(*read, device="host").cost
    assert "mean_squares" in gpureg_json(capfd, "compare", *words, "--device", "host")["metrics"]


def test_palettes(greys, tmp_path):
    """A PNG whose pixels are indices of colours, which are grey here."""
    rows = b"".join(b"\0" + row.tobytes() for row in (greys[0].array // 16).astype(np.uint8))
    colours = bytes(16 * n for n in range(16) for _ in range(3))
    chunks = [(b"IHDR", struct.pack(">2I5B", 50, 60, 8, 3, 0, 0, 0)), (b"PLTE", colours), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    content = b"".join(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks)
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + content)
    grey = gr._grey.as_grey(gr.read_image(tmp_path / "a.png"), "file", "")
    assert (grey.array == greys[0].array // 16 * 16).all()


@pytest.mark.parametrize("name", ["a.png", "A.PNG", "a"])
def test_a_png_of_grey_and_opacity(tmp_path, name):
    pictures = pytest.importorskip("PIL.Image")
    grey = np.arange(48, dtype=np.uint8).reshape(6, 8)
    pictures.fromarray(np.stack([grey, np.full_like(grey, 255)], axis=-1), "LA").save(tmp_path / name, "PNG")
    with pytest.raises(gr.BadInputError, match=f"{name} is a PNG of grey and opacity.*Write it without opacity"):
        gr.read_image(tmp_path / name)
    # The message.
    pictures.open(tmp_path / name).getchannel("L").save(tmp_path / "new.png")
    assert (gr.read_image(tmp_path / "new.png").array == grey).all()


def test_a_channel_of_colours(greys, tmp_path, capfd):
    for name, image in zip(("fixed", "moving"), greys):
        colours = np.stack([255 - image.array, image.array, image.array // 2], axis=-1)
        gr.write_image(tmp_path / f"{name}.mha", image.like(colours))
    words = ("register", tmp_path / "fixed.mha", tmp_path / "moving.mha", "-o", tmp_path / "o.mha", "--device", "host", "--quiet")
    assert_fails(capfd, 1, "fixed.mha has 3 components", "--channel 0", None, *words)
    found = gpureg_json(capfd, *words[:-1], "--channel", "1")
    assert found["cost"] == gr.register(*greys, device="host").cost
    assert_fails(capfd, 1, "has 3 components a voxel, from 0 to 2, and no component 3", None, *words, "--channel", "3")
    gr.write_image(tmp_path / "grey.mha", greys[0])
    for read in (gr.read_image, gr._files.read_image_grid):
        assert read(tmp_path / "grey.mha", 0).shape == greys[0].shape
        for channel in (1, -1):
            with pytest.raises(gr.BadInputError, match=f"grey.mha has one component a voxel, 0, and no component {channel}"):
                read(tmp_path / "grey.mha", channel)
    compared = gpureg_json(capfd, "compare", *words[1:3], "--channel", "1", "--device", "host")
    assert compared["metrics"]["mean_squares"] > 0


def test_a_channel_is_of_the_image_that_has_some(greys, tmp_path, capfd):
    fixed, moving = greys
    gr.write_image(tmp_path / "fixed.mha", fixed)
    gr.write_image(tmp_path / "moving.mha", moving.like(np.stack([255 - moving.array, moving.array, moving.array // 2], axis=-1)))
    line = ("register", tmp_path / "fixed.mha", tmp_path / "moving.mha", "-o", tmp_path / "o.mha", "--device", "host", "--channel", "1")
    assert gpureg_json(capfd, *line)["cost"] == gr.register(*greys, device="host").cost
    for words in (("register", *line[1:2], *line[1:2], *line[3:], "--quiet"), ("compare", *line[1:2], *line[1:2], "--channel", "1")):
        assert_fails(capfd, 1, "fixed.mha has one component a voxel, 0, and no component 1", None, *words)
