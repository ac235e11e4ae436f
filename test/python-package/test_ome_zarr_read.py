# SPDX-License-Identifier: Apache-2.0
"""Tests which levels and channels of an OME-Zarr are read as images, and what is said of those that cannot be."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", minversion="3")
pytest.importorskip("SimpleITK")

import gpuregistration as gr  # noqa: E402
from command_line import assert_fails, gpureg_json  # noqa: E402
from gpuregistration.ome_zarr import read as zarr_read  # noqa: E402
from gpuregistration.ome_zarr import resample_zarr  # noqa: E402
from zarr_data import contents_of, image_of, make_values, write_zarr  # noqa: E402

FINE = make_values((24, 28, 32))
LEVELS = [FINE, FINE[::2, ::2, ::2], FINE[::4, ::4, ::4]]


@pytest.mark.parametrize("version, shard", [("0.4", None), ("0.5", None), ("0.5", 16)])
def test_levels(tmp_path, version, shard):
    path = write_zarr(tmp_path / "a.zarr", LEVELS, version, chunk=8, shard=shard)
    for number, values in enumerate(LEVELS):
        image = gr.read_image(f"{path}#{number}")
        wanted = image_of(values, 2**number)
        assert (image.array == values).all() and image.array.dtype == values.dtype and image.warnings == []
        assert np.allclose(image.spacing, wanted.spacing, rtol=1e-12) and np.allclose(image.origin, wanted.origin, rtol=1e-12)
    assert (gr.read_image(path).array == FINE).all()
    assert (gr.read_image(f"{path}/").array == FINE).all()


def test_the_finest_level_that_is_small_enough(tmp_path, monkeypatch):
    path = write_zarr(tmp_path / "a.zarr", LEVELS)
    monkeypatch.setattr(zarr_read, "MOST_VALUES", 3000)
    with pytest.warns(gr.InputWarning, match=r"level 1 is read, of 16 x 14 x 12 voxels, 5.38 kB.*level 0: 32 x 28 x 24 voxels, 43 kB; level 1"):
        image = gr.read_image(path)
    assert (image.array == LEVELS[1]).all() and len(image.warnings) == 1
    assert (gr.read_image(f"{path}#0").array == FINE).all()
    monkeypatch.setattr(zarr_read, "MOST_VALUES", 300)
    with pytest.raises(gr.BadInputError, match=r"no level of at most 300 values.*a.zarr#N.*level 2: 8 x 7 x 6 voxels, 672 bytes"):
        gr.read_image(path)


def test_channels(tmp_path, monkeypatch):
    values = np.stack([FINE, FINE[::-1], FINE[:, ::-1]])
    path = write_zarr(tmp_path / "a.zarr", [values, values[:, ::2, ::2, ::2]], "0.5", leading="c", labels=["red", "", "blue"])
    assert (gr.read_image(path).array == np.moveaxis(values, 0, -1)).all() and gr.read_image(path).is_vector
    for channel in range(3):
        image = gr.read_image(path, channel=channel)
        assert not image.is_vector and (image.array == values[channel]).all()
    with pytest.raises(gr.BadInputError, match=r"no channel 3: it has the channels 0 \(red\), 1, 2 \(blue\)"):
        gr.read_image(path, channel=3)
    grey = write_zarr(tmp_path / "grey.zarr", [FINE], "0.5")
    assert (gr.read_image(grey, channel=0).array == FINE).all()
    with pytest.raises(gr.BadInputError, match="grey.zarr has one channel, 0, and no channel 1"):
        gr.read_image(grey, channel=1)
    # One of them is small enough where all are not.
    monkeypatch.setattr(zarr_read, "MOST_VALUES", FINE.size)
    assert (gr.read_image(path, channel=1).array == values[1]).all()
    with pytest.warns(gr.InputWarning, match="level 1 is read, of 16 x 14 x 12 voxels, 3 channels"):
        gr.read_image(path)
    # Other files have it, too.
    colours = gr.Image(np.moveaxis(values, 0, -1), is_vector=True)
    gr.write_image(tmp_path / "a.mha", colours)
    assert (gr.read_image(tmp_path / "a.mha", channel=2).array == values[2]).all()


def test_time(tmp_path):
    path = write_zarr(tmp_path / "one.zarr", [FINE[np.newaxis]], leading="t")
    assert (gr.read_image(path).array == FINE).all()
    path = write_zarr(tmp_path / "two.zarr", [np.stack([FINE, FINE])], leading="t")
    with pytest.raises(gr.BadInputError, match="2 points in time"):
        gr.read_image(path)


@pytest.mark.parametrize("unit, factor", [("nanometer", 1e-6), ("micrometer", 1e-3), ("µm", 1e-3), ("millimeter", 1.0), ("centimeter", 10.0), ("meter", 1e3)])
def test_units(tmp_path, unit, factor):
    path = write_zarr(tmp_path / "a.zarr", [FINE], unit=unit)
    assert np.allclose(gr.read_image(path).spacing, np.array([3, 4, 5]) * factor)
    # An output has the input's unit.
    made = resample_zarr(path, tmp_path / "out.zarr", memory=10_000_000, devices=["host"])
    reported = zarr.open_group(made.output, mode="r").attrs["ome"]["multiscales"][0]
    assert reported["datasets"][0]["coordinateTransformations"][0]["scale"] == pytest.approx([5, 4, 3], rel=1e-12)
    assert {axis["unit"] for axis in reported["axes"]} == {"micrometer" if unit == "µm" else unit}


def test_no_unit(tmp_path):
    path = write_zarr(tmp_path / "a.zarr", [FINE], unit=None)
    with pytest.warns(gr.InputWarning, match="does not say the unit of its axis z: it is taken for mm"):
        assert gr.read_image(path).spacing.tolist() == [3, 4, 5]


def test_transformations_of_all_levels(tmp_path):
    """They come behind those of each level."""
    path = write_zarr(tmp_path / "a.zarr", [FINE], unit="millimeter", scale=(1.0, 1.0, 1.0), translation=(1.0, 2.0, 3.0))
    edit(path, lambda image: image.update(coordinateTransformations=[{"type": "scale", "scale": [2, 3, 4]}, {"type": "translation", "translation": [7, 8, 9]}]))
    image = gr.read_image(path)
    assert image.spacing.tolist() == [4, 3, 2] and image.origin.tolist() == [21, 14, 9]


def test_register_reads_levels_and_channels(tmp_path, capfd, heads):
    fixed, moving = heads
    stacks = {name: np.stack([image.array * 0, image.array]) for name, image in (("fixed", fixed), ("moving", moving))}
    names = []
    for (name, values), image in zip(stacks.items(), heads):
        scale, origin = image.spacing[::-1], image.origin[::-1]
        path = write_zarr(tmp_path / f"{name}.zarr", [np.zeros_like(values), values], unit="millimeter", scale=scale / 2, translation=origin - scale / 4, leading="c")
        names.append(f"{path}#1")
    found = gpureg_json(capfd, "register", *names, "--channel", 1, "--device", "host", "-o", tmp_path / "o.nii.gz")
    expected = gr.register(fixed, moving, device="host")
    assert found["cost"] == pytest.approx(expected.cost, rel=1e-5)
    assert np.allclose(found["matrix"], expected.transform.matrix_of(), atol=1e-4)
    # One channel is that of a grey image, whatever the other one's number.
    one = write_zarr(tmp_path / "one.zarr", [fixed.array[None]], unit="millimeter", scale=fixed.spacing[::-1], translation=fixed.origin[::-1], leading="c")
    assert gpureg_json(capfd, "compare", one, names[0], "--channel", 1, "--device", "host")
    wrong = names[1].replace("#1", "#2")
    assert_fails(capfd, 1, "moving.zarr has no level 2: it has level 0", None, "register", names[0], wrong, "--channel", 1, "-o", tmp_path / "o.nii.gz")


def edit(path, change):
    """Changes the metadata of the image in an OME-Zarr of 0.4."""
    attributes = json.loads((path / ".zattrs").read_text())
    change(attributes["multiscales"][0])
    (path / ".zattrs").write_text(json.dumps(attributes))


def axes(*names):
    return lambda image: image.update(axes=[{"name": name, "type": kind, "unit": "micrometer"} for name, kind in names])


SPACE = [("z", "space"), ("y", "space"), ("x", "space")]


@pytest.mark.parametrize(
    "change, why",
    [
        (axes(*SPACE[::-1]), r"has the axes x \(space\), y \(space\), z \(space\): those that are known are, in this order, t \(time\), c"),
        (axes(("a", "angle"), *SPACE[1:]), r"has the axes a \(angle\), y"),
        (axes(SPACE[0], ("c", "channel"), SPACE[2]), "has the axes"),
        (axes(*SPACE[1:]), "level scale0 of .* has 3 axes, and the metadata name 2"),
        (lambda image: image["axes"][0].update(unit="parsec"), "has the unit 'parsec' along z"),
        (lambda image: image.update(axes=["z", "y", "x"]), "not as OME-NGFF has them"),
        (lambda image: image.pop("datasets"), "not as OME-NGFF has them: KeyError: 'datasets'"),
        (lambda image: image.update(datasets=[]), "no resolution levels"),
        (lambda image: image.update(version="0.3"), 'is of OME-NGFF "0.3": 0.4 and 0.5 are read'),
        (lambda image: image["datasets"][0].update(path="nowhere"), "names an array nowhere, which is not there"),
        (lambda image: image["datasets"][0].update(path=""), "names an array , which|cannot be read|which is a group"),
        (lambda image: image["datasets"][0]["coordinateTransformations"][0].update(scale=[1, 2]), r"has the scale \[1, 2\]: it is to have one number"),
        (lambda image: image["datasets"][0]["coordinateTransformations"][0].update(scale=[1, 0, 2]), "it is to be greater than 0"),
        (lambda image: image["datasets"][0]["coordinateTransformations"][0].update(type="rotation"), "known are those of scale and translation"),
        (lambda image: image["datasets"][0]["coordinateTransformations"][0].update(scale=["a", 1, 1]), "not as OME-NGFF has them"),
    ],
)
def test_metadata_that_are_not_possible(tmp_path, change, why, capfd):
    path = write_zarr(tmp_path / "a.zarr", [FINE])
    edit(path, change)
    with pytest.raises(gr.BadInputError, match=why) as error:
        gr.read_image(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)
    assert_fails(capfd, 1, path, None, "apply", path, "-o", tmp_path / "o.zarr")
    assert not (tmp_path / "o.zarr").exists()


def test_what_is_no_zarr(tmp_path):
    (tmp_path / "a.zarr").mkdir()
    with pytest.raises(gr.BadInputError, match="a.zarr is no Zarr: it has neither a zarr.json nor a .zgroup"):
        gr.read_image(tmp_path / "a.zarr")
    with pytest.raises(gr.BadInputError, match="There is no file .*b.zarr"):
        gr.read_image(tmp_path / "b.zarr")
    with pytest.raises(gr.BadInputError, match="There is no file .*b.zarr#1"):
        gr.read_image(tmp_path / "b.zarr#1")
    path = write_zarr(tmp_path / "c.zarr", [FINE])
    for name, why in (("c.zarr#two", 'level "two"'), ("c.zarr#7", "has no level 7: it has level 0: 32 x 28 x 24 voxels, 43 kB"), ("c.zarr/scale0", "is an array of a Zarr")):
        with pytest.raises(gr.BadInputError, match=why):
            gr.read_image(tmp_path / name)
    (path / ".zattrs").write_text("{}")
    with pytest.raises(gr.BadInputError, match="no OME metadata of an image"):
        gr.read_image(path)
    (path / ".zattrs").write_text('{"bioformats2raw.layout": 3}')
    with pytest.raises(gr.BadInputError, match="images in folders of their own: name one, such as .*c.zarr/0"):
        gr.read_image(path)
    (path / ".zattrs").write_text("{")
    with pytest.raises(gr.BadInputError, match="c.zarr cannot be read"):
        gr.read_image(path)


def test_arrays_that_are_no_numbers(tmp_path):
    path = write_zarr(tmp_path / "a.zarr", [FINE[:4, :4, :4].astype(np.complex64)])
    with pytest.raises(gr.BadInputError, match="values of type complex64: they are to be whole numbers or floats"):
        gr.read_image(path)


def test_damaged_chunks(tmp_path):
    path = write_zarr(tmp_path / "a.zarr", [FINE])
    (path / "scale0" / "0.1.1").write_bytes(b"no chunk")
    with pytest.raises(gr.BadInputError, match="a.zarr, voxels 0 to 23, 0 to 27, 0 to 31, cannot be read"):
        gr.read_image(path)


@pytest.mark.parametrize("version, where", [("0.4", ".zarray"), ("0.5", "zarr.json")])
def test_a_codec_that_is_not_there(tmp_path, version, where):
    path = write_zarr(tmp_path / "a.zarr", [FINE], version)
    reported = path / "scale0" / where
    for name in ("blosc", "zstd"):
        reported.write_text(reported.read_text().replace(f'"{name}"', '"blocks"'))
    with pytest.raises(gr.BadInputError, match="array scale0, cannot be read: .*blocks.*pip install numcodecs"):
        gr.read_image(path)


def test_no_package_zarr(tmp_path):
    path = write_zarr(tmp_path / "a.zarr", [FINE])
    program = "import sys; sys.modules['zarr'] = None\nfrom gpuregistration.command.main import main\nsys.exit(main(sys.argv[1:]))"
    for output in ("o.zarr", "o.nii.gz"):
        done = subprocess.run([sys.executable, "-c", program, "apply", path, "-o", tmp_path / output], capture_output=True, text=True)
        assert done.returncode == 1 and done.stdout == ""
        assert done.stderr.startswith("gpureg: OME-Zarr needs the package zarr, of version 3: pip install 'gpuregistration[zarr]'")
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("what", ["a group", "a group of format 2", "an array", "a collection", "labels", "a deeper image", "beside a deeper level"])
def test_other_zarrs_are_not_replaced(tmp_path, capfd, what):
    """Only an image is, with nothing but its levels: whatever else is in the folder would be lost."""
    path, place = write_zarr(tmp_path / "a.zarr", [FINE]), tmp_path / "mine.zarr"
    why = "is there, and is no OME-Zarr image that could be replaced"
    if what in ("labels", "a deeper image"):
        write_zarr(place, [FINE], "0.5" if what == "labels" else "0.4")
        write_zarr(place / {"labels": "labels/cells", "a deeper image": "b.zarr"}[what], [FINE], "0.5" if what == "labels" else "0.4")
        why = f"holds more than its levels, {'labels' if what == 'labels' else 'b.zarr'}, which would be lost"
    elif what == "beside a deeper level":
        # As xarray writes images.
        group = zarr.open_group(str(write_zarr(place, [FINE])), mode="r+")
        described = list(group.attrs["multiscales"])
        described[0]["datasets"][0]["path"] = "scale0/image"
        group.attrs["multiscales"] = described
        (place / "scale0").rename(place / "image")
        zarr.open_group(str(place / "scale0"), mode="w", zarr_format=2).create_array("cells", shape=(4, 4), dtype="uint8")[...] = 1
        (place / "image").rename(place / "scale0" / "image")
        why = "holds more than its levels, scale0/cells, which would be lost"
    elif what == "an array":
        zarr.create_array(str(place), shape=(4, 4), dtype="uint8")[...] = 1
    else:
        zarr.open_group(str(place), mode="w", zarr_format=3 if what == "a group" else 2).create_array("0", shape=(4, 4), dtype="uint8")[...] = 1
        if what == "a collection":
            (place / ".zattrs").write_text('{"bioformats2raw.layout": 3}')
    before = contents_of(place)
    assert len(before) > 1
    assert_fails(capfd, 1, why, None, "apply", path, "-o", place, "--device", "host")
    assert contents_of(place) == before and sorted(os.listdir(tmp_path)) == ["a.zarr", "mine.zarr"]


def test_an_image_is_replaced(tmp_path, capfd):
    path = write_zarr(tmp_path / "a.zarr", [FINE])
    old = zarr.open_group(str(write_zarr(tmp_path / "old.zarr", [FINE // 2, FINE[::2, ::2, ::2]])), mode="r+")
    # The path of a level may lead through groups.
    described = list(old.attrs["multiscales"])
    described[0]["datasets"][0]["path"] = "./fine/image"
    old.attrs["multiscales"] = described
    zarr.open_group(str(tmp_path / "old.zarr" / "fine"), mode="w", zarr_format=2)
    (tmp_path / "old.zarr" / "scale0").rename(tmp_path / "old.zarr" / "fine" / "image")
    # As file managers leave them.
    (tmp_path / "old.zarr" / ".DS_Store").write_bytes(b"")
    gpureg_json(capfd, "apply", path, "-o", tmp_path / "old.zarr", "--device", "host")
    assert (gr.read_image(tmp_path / "old.zarr").array == FINE).all()
    assert not any(name.startswith((".", "scale")) for name in os.listdir(tmp_path / "old.zarr"))


def test_names_of_outputs(tmp_path, capfd, monkeypatch):
    path = write_zarr(tmp_path / "a.zarr", [FINE])
    (tmp_path / "file.zarr").write_text("mine")
    (tmp_path / "mine.zarr").mkdir()
    (tmp_path / "mine.zarr" / "notes.txt").write_text("mine")
    for code, name, why in (
        (2, "a.zarr", "is read, and would be replaced"),
        (1, "a.zarr/b.zarr", "lies in what is read"),
        (1, "file.zarr", "is there, and is no OME-Zarr image"),
        (1, "mine.zarr", "is there, and is no OME-Zarr image"),
        (1, "no/o.zarr", "There is no folder"),
    ):
        assert_fails(capfd, code, why, None, "apply", path, "-o", tmp_path / name, "--device", "host")
    for words, why in (
        (("--memory", "much"), "--memory"),
        (("--chunk", "0"), "--chunk 0 is not possible"),
        (("--chunk", "8x8"), None),
        (("--device", "host", "--devices", "host"), "leave one of them out"),
    ):
        code = 1 if why is None else 2
        assert_fails(capfd, code, why or "chunk=[8, 8] is not possible", None, "apply", path, "-o", tmp_path / "o.zarr", *words)
    # As every command that computes on one device.
    monkeypatch.setenv("ITK_GPU_DEVICE", "cuda:77")
    assert_fails(capfd, 2, 'There is no device "cuda:77"', None, "apply", path, "-o", tmp_path / "o.zarr")
    monkeypatch.delenv("ITK_GPU_DEVICE")
    assert not (tmp_path / "o.zarr").exists() and (tmp_path / "mine.zarr" / "notes.txt").read_text() == "mine"
    # An empty folder is taken.
    (tmp_path / "empty.zarr").mkdir()
    gpureg_json(capfd, "apply", path, "-o", tmp_path / "empty.zarr", "--device", "host")
    assert (gr.read_image(tmp_path / "empty.zarr").array == FINE).all()
    shutil.rmtree(tmp_path / "empty.zarr")
