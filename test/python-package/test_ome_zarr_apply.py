# SPDX-License-Identifier: Apache-2.0
"""Tests that images are resampled block by block into an OME-Zarr: to the bits of resample(), within a stated memory, and with metadata that say where
voxels are."""

import json
import os
import tracemalloc

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", minversion="3")
pytest.importorskip("SimpleITK")

import gpuregistration as gr  # noqa: E402
from command_line import gpureg, gpureg_json  # noqa: E402
from gpuregistration.ome_zarr import resample_zarr  # noqa: E402
from zarr_data import SCALE, image_of, make_transforms, make_values, write_zarr  # noqa: E402
from zarr_memory import find_growth  # noqa: E402

SHAPE = (37, 45, 52)
SMALL = 3_000_000


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    return write_zarr(tmp_path_factory.mktemp("big") / "big.zarr", [make_values(SHAPE)])


def read_level(path, number=0):
    return zarr.open_group(str(path), mode="r")[str(number)][...]


@pytest.mark.parametrize("interpolation", ["linear", "nearest"])
@pytest.mark.parametrize("name", ["none", "affine", "spline", "field", "field after affine", "all"])
def test_blocks_have_the_bits_of_the_whole(big, tmp_path, name, interpolation, device):
    image = image_of(make_values(SHAPE))
    # Other voxels, further than the image on all sides.
    reference = gr.Image(np.zeros((29, 41, 47), np.uint8), image.spacing * [1.3, 1.2, 1.4], image.origin - 0.02)
    transform = make_transforms(image)[name]
    whole = gr.resample(image, transform, reference, interpolation, default=7, device=device).array
    made = resample_zarr(big, tmp_path / "out.zarr", transform, reference, interpolation, 7, 40 * SMALL, [8], devices=[device])
    assert made.blocks > 8 and (read_level(made.output) == whole).all()
    assert 0.2 < (whole != 7).mean() < 0.95


@pytest.mark.parametrize("kind", ["bool", "uint8", "uint16", "int16", "uint32", "float16", "float32", "float64", ">u2"])
@pytest.mark.parametrize("version, shard", [("0.4", None), ("0.5", None), ("0.5", 32)])
def test_types_and_formats(tmp_path, kind, version, shard):
    values = make_values((20, 30, 40), np.dtype(kind).newbyteorder("=")).astype(kind)
    if ">" in kind and version == "0.5":
        pytest.skip("Zarr's format 3 says the order of bytes elsewhere")
    source = write_zarr(tmp_path / "in.zarr", [values], version, shard=shard)
    transform = make_transforms(image_of(values))["all"]
    resample_zarr(source, tmp_path / "out.zarr", transform, memory=SMALL, chunk=[8], devices=["host"])
    whole = gr.resample(image_of(values), transform, device="host").array
    found = read_level(tmp_path / "out.zarr")
    assert found.dtype == whole.dtype.newbyteorder("=") and (found == whole).all()


def test_whole_numbers_of_64_bits(tmp_path):
    """Labels that doubles do not have stay what they are."""
    values = make_values((20, 24, 28), np.uint64) | np.uint64(1 << 62)
    source = write_zarr(tmp_path / "in.zarr", [values], "0.5")
    transform = make_transforms(image_of(values))["all"]
    resample_zarr(source, tmp_path / "out.zarr", transform, interpolation="nearest", memory=4 * SMALL, chunk=[8], devices=["host"])
    found = read_level(tmp_path / "out.zarr")
    assert (found == gr.resample(image_of(values), transform, interpolation="nearest", device="host").array).all()
    assert set(np.unique(found)) <= {0, *np.unique(values)} and found.dtype == np.uint64


def test_names_that_are_no_utf_8(tmp_path):
    folder = tmp_path / os.fsdecode(b"caf\xe9.zarr")
    write_zarr(folder, [make_values((8, 9, 10))])
    assert (gr.read_image(folder).array == make_values((8, 9, 10))).all()
    assert (gr.read_image(os.fsencode(folder) + b"#0").array == make_values((8, 9, 10))).all()
    made = resample_zarr(folder, tmp_path / os.fsdecode(b"\xe9.zarr"), devices=["host"])
    assert (read_level(made.output) == make_values((8, 9, 10))).all()


def test_splines_need_the_whole_image(big, tmp_path):
    image = image_of(make_values(SHAPE))
    transform = make_transforms(image)["affine"]
    resample_zarr(big, tmp_path / "out.zarr", transform, interpolation="bspline", memory=8 * SMALL, chunk=[16], devices=["host"])
    assert (read_level(tmp_path / "out.zarr") == gr.resample(image, transform, interpolation="bspline", device="host").array).all()
    with pytest.raises(gr.BadInputError, match="too little memory"):
        resample_zarr(big, tmp_path / "out.zarr", transform, interpolation="bspline", memory=SMALL // 2, chunk=[16], devices=["host"])


def test_each_channel_and_point_in_time(tmp_path):
    values = np.stack([np.stack([make_values((12, 20, 24), np.uint8, 3 * t + c) for c in range(3)]) for t in range(2)])
    source = write_zarr(tmp_path / "in.zarr", [values], "0.5", leading="tc", labels=["a", "b", "c"])
    group = zarr.open_group(str(source), mode="r+")
    described = group.attrs["ome"]
    scaled, moved = described["multiscales"][0]["datasets"][0]["coordinateTransformations"]
    scaled["scale"][0], moved["translation"][0] = 2.5, 100.0
    group.attrs["ome"] = described
    transform = make_transforms(image_of(values[0, 0]))["all"]
    made = resample_zarr(source, tmp_path / "out.zarr", transform, memory=SMALL, chunk=[8], devices=["host"])
    found = read_level(tmp_path / "out.zarr")
    assert made.shape == found.shape == values.shape
    for t in range(2):
        for c in range(3):
            assert (found[t, c] == gr.resample(image_of(values[t, c]), transform, device="host").array).all()
    ome = zarr.open_group(made.output, mode="r").attrs["ome"]
    assert [axis["name"] for axis in ome["multiscales"][0]["axes"]] == list("tczyx")
    assert [channel["label"] for channel in ome["omero"]["channels"]] == ["a", "b", "c"]
    for level in ome["multiscales"][0]["datasets"]:
        scaled, moved = level["coordinateTransformations"]
        assert scaled["scale"][:2] == [2.5, 1.0] and moved["translation"][:2] == [100.0, 0.0]


def test_planes(tmp_path):
    values = make_values((70, 90), np.uint8)
    scale, translation = (4.0, 3.0), (20.0, 30.0)
    source = write_zarr(tmp_path / "in.zarr", [values], "0.5", scale=scale, translation=translation)
    image = image_of(values, scale=scale, translation=translation)
    transform = make_transforms(image)["all"]
    resample_zarr(source, tmp_path / "out.zarr", transform, memory=SMALL, chunk=[16], devices=["host"])
    assert (read_level(tmp_path / "out.zarr") == gr.resample(image, transform, device="host").array).all()


@pytest.mark.parametrize("suffix", [".nii.gz", ".nrrd", ".zarr"])
def test_references(big, tmp_path, suffix):
    image = image_of(make_values(SHAPE))
    grid = make_values((22, 26, 30), np.float32)
    reference = tmp_path / f"reference{suffix}"
    if suffix == ".zarr":
        write_zarr(reference, [grid, grid[::2, ::2, ::2]], "0.5", chunk=8, shard=16)
        grids = [image_of(grid), image_of(grid[::2, ::2, ::2], 2)]
    else:
        grids = [gr.Image(grid, [0.005, 0.006, 0.007], [0.01, 0.02, 0.0])]
        gr.write_image(reference, grids[0])
        grids = [gr.read_image(reference)]
    transform = make_transforms(image)["affine"]
    for number, expected in enumerate(grids):
        name = f"{reference}#{number}" if number else reference
        made = resample_zarr(big, tmp_path / "out.zarr", transform, name, memory=SMALL, chunk=None if suffix == ".zarr" else [9], devices=["host"])
        assert made.chunk == ((8, 8, 8) if suffix == ".zarr" else (9, 9, 9))
        assert (read_level(made.output) == gr.resample(image, transform, expected, device="host").array).all()
        assert gr.read_image(f"{made.output}#0").has_grid_of(expected)


def test_a_reference_level_gives_its_own_chunks(big, tmp_path):
    levels = [make_values((32, 32, 32)), make_values((16, 16, 16))]
    reference = write_zarr(tmp_path / "reference.zarr", levels, "0.5", chunk=16)
    group = zarr.open_group(str(reference), mode="r+")
    group.create_array("scale1", shape=(16, 16, 16), chunks=(4, 8, 8), dtype="uint16", overwrite=True)[...] = levels[1]
    made = resample_zarr(big, tmp_path / "out.zarr", None, f"{reference}#1", memory=SMALL, devices=["host"])
    assert made.chunk == (4, 8, 8)


def test_axes_that_lead_the_other_way(big, tmp_path):
    """An OME-Zarr has no directions: the same voxels are there in another order."""
    image = image_of(make_values(SHAPE))
    direction = [[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]]
    turned = gr.Image(np.zeros((20, 24, 28), np.uint8), [0.005, 0.006, 0.004], image.origin + [0.12, 0.02, 0.11], direction)
    resample_zarr(big, tmp_path / "out.zarr", None, turned, memory=SMALL, chunk=[8], devices=["host"])
    made = gr.read_image(f"{tmp_path / 'out.zarr'}#0")
    assert made.size == (24, 20, 28) and np.ptp(made.array) > 1000
    # Each voxel of the turned grid lies on a voxel of the output with its value.
    found = gr.resample(made, None, turned, "nearest", device="host").array
    expected = gr.resample(image, None, turned, device="host").array
    assert np.abs(found.astype(int) - expected).max() <= 1
    turned.direction = np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    for arguments, what in (((big, None, turned), "reference"), ((turned,), "image")):
        with pytest.raises(gr.BadInputError, match=f"axes along x, y and z alone, and the {what}'s have the direction"):
            resample_zarr(arguments[0], tmp_path / "out.zarr", *arguments[1:], memory=SMALL)


def mean_of_groups(values, factors):
    """The mean of each group of voxels, by its definition."""
    shape = tuple(-(-n // f) for n, f in zip(values.shape, factors))
    found = np.zeros(shape)
    for index in np.ndindex(*shape):
        found[index] = values[tuple(slice(f * i, f * i + f) for f, i in zip(factors, index))].mean(dtype=np.float64)
    return found


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float32])
def test_levels_are_means(tmp_path, kind):
    values = make_values((11, 21, 30), kind)
    # z's voxels are longer than twice the others': they are halved later.
    scale = (7.0, 3.0, 3.0)
    source = write_zarr(tmp_path / "in.zarr", [values], scale=scale)
    made = resample_zarr(source, tmp_path / "out.zarr", memory=SMALL, chunk=[8], devices=["host"])
    assert made.levels == [(11, 21, 30), (11, 11, 15), (6, 6, 8)]
    datasets = zarr.open_group(made.output, mode="r").attrs["ome"]["multiscales"][0]["datasets"]
    assert [one["coordinateTransformations"][0]["scale"] for one in datasets] == [[7, 3, 3], [7, 6, 6], [14, 12, 12]]
    assert np.allclose([one["coordinateTransformations"][1]["translation"] for one in datasets], [[10, 20, 30], [10, 21.5, 31.5], [13.5, 24.5, 34.5]])
    for number, factors in ((1, (1, 2, 2)), (2, (2, 2, 2))):
        expected = mean_of_groups(read_level(made.output, number - 1), factors)
        found = read_level(made.output, number)
        if np.dtype(kind).kind == "f":
            assert (found == expected.astype(kind)).all() or np.abs(found - expected).max() < 1e-7
        else:
            assert (found == np.rint(expected)).all()


def test_levels_of_labels_are_the_most_frequent(tmp_path):
    values = np.random.default_rng(1).integers(0, 4, (9, 12, 15)).astype(np.uint32) * 70000
    source = write_zarr(tmp_path / "in.zarr", [values], scale=(1.0, 1.0, 1.0))
    made = resample_zarr(source, tmp_path / "out.zarr", interpolation="nearest", memory=SMALL, chunk=[8], devices=["host"])
    found = read_level(made.output, 1)
    for index in np.ndindex(*found.shape):
        group = values[tuple(slice(2 * i, 2 * i + 2) for i in index)]
        there, counts = np.unique(group, return_counts=True)
        assert found[index] == there[counts.argmax()]


def test_memory_is_kept_to(tmp_path):
    """NumPy and zarr hold less at the same time than was planned, and the plan is below the stated limit."""
    values = make_values((64, 96, 96))
    source = write_zarr(tmp_path / "in.zarr", [values], "0.5", chunk=32)
    transforms = make_transforms(image_of(values))
    transform = gr.Composite([transforms["spline"], transforms["affine"]])
    memory = 12_000_000
    resample_zarr(source, tmp_path / "warm.zarr", transform, memory=memory, chunk=[16], devices=["host"])
    tracemalloc.start()
    try:
        made = resample_zarr(source, tmp_path / "out.zarr", transform, memory=memory, chunk=[16], devices=["host"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    voxels = int(np.prod(made.block))
    # The engine's own output is not traced.
    assert peak + 8 * voxels < made.planned <= made.memory == memory
    assert peak > made.planned / 6


def test_the_process_stays_within_the_memory(tmp_path):
    """As the system counts it: what is freed is given back."""
    source = write_zarr(tmp_path / "in.zarr", [make_values((128, 192, 192))], "0.5", chunk=32, shard=64)
    memory = 40_000_000
    gr.write_transform(tmp_path / "t.tfm", gr.Affine([[1, 0.1, 0], [-0.1, 1, 0], [0, 0, 1]]))
    grown, planned = find_growth(source, tmp_path / "out.zarr", tmp_path / "t.tfm", 100_000_000, memory)
    assert planned / 20 < grown <= memory and planned <= memory


def test_too_little_memory(big, tmp_path):
    with pytest.raises(gr.BadInputError, match=r"too little memory: a worker is to have 50 kB, and blocks of one chunk of 8 x 8 x 8 .*--chunk"):
        resample_zarr(big, tmp_path / "out.zarr", memory=50_000, chunk=[8])
    assert os.listdir(tmp_path) == []


def test_chunks_that_are_too_large(tmp_path):
    grid = gr.Image(np.broadcast_to(np.uint8(0), (2000, 2000, 2000)), [1e-4] * 3)
    image = gr.Image(make_values((8, 8, 8)))
    with pytest.raises(gr.BadInputError, match="Chunks of 1500 x 1500 x 1500 voxels have 6.75 GB, and Blosc packs 2 GB"):
        resample_zarr(image, tmp_path / "out.zarr", None, grid, memory=1 << 40, chunk=[1500])
    assert os.listdir(tmp_path) == []


def test_the_command(big, tmp_path, capfd):
    image = image_of(make_values(SHAPE))
    transforms = make_transforms(image)
    gr.write_transform(tmp_path / "affine.mat", transforms["affine"])
    gr.write_transform(tmp_path / "warp.nii.gz", transforms["field"])
    gr.write_image(tmp_path / "reference.nrrd", image)
    words = ["-t", tmp_path / "warp.nii.gz", tmp_path / "affine.mat", "--reference", tmp_path / "reference.nrrd", "--device", "host"]
    reported = gpureg_json(capfd, "apply", big, *words, "-o", tmp_path / "out.zarr", "--memory", "30M", "--chunk", "16x8x8")
    assert reported["chunk"] == [8, 8, 16] and reported["planned"] <= reported["memory"] == 30_000_000
    read = gr.Composite([gr.read_transform(tmp_path / "warp.nii.gz"), gr.read_transform(tmp_path / "affine.mat")])
    expected = gr.resample(image, read, gr.read_image(tmp_path / "reference.nrrd"), device="host").array
    assert (read_level(tmp_path / "out.zarr") == expected).all()
    assert {one.name for one in tmp_path.iterdir()} == {"affine.mat", "warp.nii.gz", "reference.nrrd", "out.zarr"}
    # And the way back, with what is there replaced.
    inverse = ["-t", tmp_path / "affine.mat", "--inverse", "--device", "host"]
    gpureg_json(capfd, "apply", big, *inverse, "-o", tmp_path / "out.zarr", "--memory", "30M")
    expected = gr.resample(image, gr.read_transform(tmp_path / "affine.mat").inverse(), device="host").array
    assert (read_level(tmp_path / "out.zarr") == expected).all()


def test_an_image_file_becomes_a_zarr(big, tmp_path, capfd):
    """Such as an atlas, on the grid of a large image."""
    atlas = gr.Image(make_values((12, 13, 14), np.uint8), [0.02, 0.02, 0.02], [0.02, 0.01, 0.0])
    gr.write_image(tmp_path / "atlas.nii.gz", atlas)
    words = ["--reference", big, "--interpolation", "nearest", "--device", "host", "--chunk", 16]
    gpureg_json(capfd, "apply", tmp_path / "atlas.nii.gz", *words, "-o", tmp_path / "out.zarr")
    expected = gr.resample(gr.read_image(tmp_path / "atlas.nii.gz"), None, image_of(make_values(SHAPE)), "nearest", device="host").array
    assert (read_level(tmp_path / "out.zarr") == expected).all()
    reported = json.loads((tmp_path / "out.zarr" / "zarr.json").read_text())["attributes"]["ome"]["multiscales"][0]
    assert reported["datasets"][0]["coordinateTransformations"][0]["scale"] == pytest.approx(SCALE)
    assert {axis.get("unit") for axis in reported["axes"]} == {"micrometer"} and reported["name"] == "atlas.nii.gz"


def test_plain_images_are_written_as_before(big, tmp_path, capfd):
    gpureg_json(capfd, "apply", big, "-o", tmp_path / "out.nii.gz", "--device", "host")
    assert (gr.read_image(tmp_path / "out.nii.gz").array == make_values(SHAPE)).all()
    code, _, err = gpureg(capfd, "apply", big, "-o", tmp_path / "out.nii.gz", "--memory", "1G")
    assert code == 2 and "--memory is of an OUT that ends on .zarr" in err
