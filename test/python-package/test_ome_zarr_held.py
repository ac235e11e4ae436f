# SPDX-License-Identifier: Apache-2.0
"""Tests images that are no OME-Zarr and become one: they are held as a whole within the stated memory, without a copy unless workers need one; and
those of four dimensions."""

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", minversion="3")
nibabel = pytest.importorskip("nibabel")
pytest.importorskip("SimpleITK")

import gpuregistration as gr  # noqa: E402
from command_line import assert_fails, gpureg_json  # noqa: E402
from gpuregistration._array_files import save_array  # noqa: E402
from gpuregistration.ome_zarr import resample_zarr, sides, work  # noqa: E402
from nifti_files import write_nifti  # noqa: E402
from zarr_data import make_transforms, make_values  # noqa: E402
from zarr_memory import find_growth  # noqa: E402

SHAPE = (37, 45, 52)
BLOCKS = 3_000_000


def make_image(kind=np.uint16, components=1):
    values = make_values(SHAPE, kind) if components == 1 else np.stack([make_values(SHAPE, kind, seed) for seed in range(components)], axis=-1)
    return gr.Image(values, [3.0, 4.0, 5.0], [30.0, 20.0, 10.0], is_vector=components > 1)


def read_values(path, number=0):
    return zarr.open_group(str(path), mode="r")[str(number)][...]


def refuse(*words, **named):
    raise AssertionError("it is not to be called")


@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz", "a.mha", None])
@pytest.mark.parametrize("components", [1, 3])
def test_no_copy_is_written(tmp_path, monkeypatch, name, components):
    image = make_image(components=components)
    if name is not None:
        gr.write_image(tmp_path / name, image)
    transform = make_transforms(image)["all"]
    monkeypatch.setattr(np, "save", refuse)
    held = image.array.nbytes
    source = image if name is None else tmp_path / name
    made = resample_zarr(source, tmp_path / "out.zarr", transform, memory=held + BLOCKS, chunk=[8], devices=["host"])
    assert held < made.planned <= made.memory == held + BLOCKS and made.blocks > 8
    whole = gr.resample(image, transform, device="host").array
    assert (read_values(made.output) == (np.moveaxis(whole, -1, 0) if components > 1 else whole)).all()


def test_too_little_memory_is_reported_before_values_are_read(tmp_path, monkeypatch, capfd):
    image = make_image()
    gr.write_image(tmp_path / "a.nii", image)
    monkeypatch.setattr(sides, "read_image", refuse)
    words = ("apply", tmp_path / "a.nii", "-o", tmp_path / "out.zarr", "--chunk", "8", "--device", "host")
    text = ("too little memory", "a.nii is no OME-Zarr, and is held as a whole, 173 kB", "are to have 100 kB", "--memory", "make it an OME-Zarr first")
    assert_fails(capfd, 1, *text, None, *words, "--memory", "100k", "--quiet")
    text = ("too little memory", "is to have 200 kB, and blocks of one chunk of 8 x 8 x 8", "Of that, 173 kB are ", "a.nii, which is no OME-Zarr")
    assert_fails(capfd, 1, *text, None, *words, "--memory", "200k", "--quiet")
    assert [one.name for one in tmp_path.iterdir()] == ["a.nii"]


def test_without_a_stated_memory(tmp_path, monkeypatch):
    """Values may be more than what is usual for blocks."""
    image = make_image(np.float64)
    monkeypatch.setattr(work, "usual_memory", lambda: 500_000)
    assert image.array.nbytes > 500_000
    gr.write_image(tmp_path / "a.nii", image)
    made = resample_zarr(tmp_path / "a.nii", tmp_path / "out.zarr", chunk=[8], devices=["host"])
    assert made.memory == 500_000 + image.array.nbytes and made.planned <= made.memory
    assert (read_values(made.output) == image.array).all()


def test_several_workers_read_a_copy(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    image = make_image()
    gr.write_image(tmp_path / "a.nii", image)
    saved = []
    monkeypatch.setattr(work, "save_array", lambda place, values: (saved.append(place.name), save_array(place, values)))
    words = {"chunk": [8], "devices": ["host"], "workers_per_device": 2}
    with pytest.raises(gr.BadInputError, match="a.nii is no OME-Zarr, and is held as a whole, 173 kB; the workers are to have 170 kB in all"):
        resample_zarr(tmp_path / "a.nii", tmp_path / "out.zarr", memory=170_000, **words)
    made = resample_zarr(tmp_path / "a.nii", tmp_path / "out.zarr", memory=2 * BLOCKS, **words)
    assert saved == ["values.npy"] and made.memory == BLOCKS and made.workers == 2
    assert (read_values(made.output) == image.array).all()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.nii", "out.zarr"]


def test_the_process_stays_within_the_memory(tmp_path):
    """As the system counts it, with the image."""
    values = np.random.default_rng(1).integers(0, 999, (128, 512, 512)).astype(np.uint16)
    gr.write_image(tmp_path / "a.nii", gr.Image(values))
    memory = values.nbytes + 20_000_000
    gr.write_transform(tmp_path / "t.tfm", gr.Affine(translation=[3, 3, 3]))
    grown, planned = find_growth(tmp_path / "a.nii", tmp_path / "out.zarr", tmp_path / "t.tfm", 150_000_000, memory)
    assert 0.9 * values.nbytes < grown <= memory and values.nbytes < planned <= memory


def test_warnings_are_given_once(tmp_path, recwarn):
    write_nifti(tmp_path / "a.nii.gz", make_values((9, 8, 7), np.int16), sform_code=("h", 0))
    with open(tmp_path / "a.nii.gz", "ab") as file:
        file.write(b"more")
    resample_zarr(tmp_path / "a.nii.gz", tmp_path / "out.zarr", devices=["host"])
    given = [str(one.message) for one in recwarn if issubclass(one.category, gr.InputWarning)]
    assert len(given) == 2 and "does not say where it lies" in given[0] and "4 bytes that are no part of it" in given[1]


def test_a_damaged_file_leaves_nothing(tmp_path, capfd):
    path = write_nifti(tmp_path / "a.nii.gz", make_values(SHAPE, np.int16), affine=np.diag([-2.0, -2.0, 2.0, 1.0]))
    content = bytearray(path.read_bytes())
    content[-6] ^= 1
    path.write_bytes(content)
    assert_fails(capfd, 1, "a.nii.gz is damaged", None, "apply", path, "-o", tmp_path / "out.zarr", "--device", "host", "--quiet")
    assert [one.name for one in tmp_path.iterdir()] == ["a.nii.gz"]


@pytest.mark.parametrize("name, unit, time", [("a.nii", "msec", "millisecond"), ("a.nii.gz", "unknown", None), ("a.mha", "sec", "second"), ("a.nrrd", "sec", "second")])
@pytest.mark.parametrize("components", [1, 2])
def test_points_in_time(tmp_path, capfd, name, unit, time, components):
    """An image of four dimensions has them."""
    image = make_image(np.uint8, components)
    volumes = [image.like(image.array // (n + 1)) for n in range(3)]
    gr.write_series(tmp_path / name, volumes, gr.Series(3, None, 2.5, 30.0, unit))
    transform = make_transforms(image)["affine"]
    gr.write_transform(tmp_path / "t.tfm", transform)
    words = ("-t", tmp_path / "t.tfm", "-o", tmp_path / "out.zarr", "--chunk", "16", "--device", "host")
    made = gpureg_json(capfd, "apply", tmp_path / name, *words)
    lead = [3] if components == 1 else [3, 2]
    assert made["shape"] == [*lead, *SHAPE]
    found = read_values(tmp_path / "out.zarr")
    for n, volume in enumerate(volumes):
        whole = gr.resample(volume, gr.read_transform(tmp_path / "t.tfm"), device="host").array
        assert (found[n] == (whole if components == 1 else np.moveaxis(whole, -1, 0))).all()
    (described,) = zarr.open_group(str(tmp_path / "out.zarr"), mode="r").attrs["ome"]["multiscales"]
    assert described["axes"][0] == {"name": "t", "type": "time", **({} if time is None else {"unit": time})}
    assert [axis["name"] for axis in described["axes"]] == list("tzyx" if components == 1 else "tczyx")
    for dataset in described["datasets"]:
        scale, translation = dataset["coordinateTransformations"]
        assert (scale["scale"][0], translation["translation"][0]) == (2.5, 30.0)


@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz", "a.mha", "a.nrrd"])
def test_too_little_memory_for_points_in_time(tmp_path, monkeypatch, capfd, name):
    """Is reported before values are read, too."""
    image = make_image()
    gr.write_series(tmp_path / name, [image] * 4, gr.Series(4, None, 2.0, 0.0, "sec"))
    for reader in ("_unpack.Content.take_array", "_unpack.Content.count_rest", "_series.read_by_simpleitk", "_files.read_by_simpleitk"):
        monkeypatch.setattr(f"gpuregistration.{reader}", refuse)
    words = ("apply", tmp_path / name, "-o", tmp_path / "out.zarr", "--chunk", "8", "--device", "host", "--memory", "500k", "--quiet")
    assert_fails(capfd, 1, "too little memory", f"{name} is no OME-Zarr, and is held as a whole, 693 kB", None, *words)
    assert [one.name for one in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz"])
def test_warnings_of_points_in_time_are_given_once(tmp_path, recwarn, name):
    write_nifti(tmp_path / name, make_values((3, 9, 8, 7), np.int16).T, sform_code=("h", 0))
    with open(tmp_path / name, "ab") as file:
        file.write(b"more")
    resample_zarr(tmp_path / name, tmp_path / "out.zarr", devices=["host"])
    given = [str(one.message) for one in recwarn if issubclass(one.category, gr.InputWarning)]
    assert len(given) == 2 and any("does not say where it lies" in one for one in given) and any("4 bytes" in one for one in given)


@pytest.mark.parametrize(
    "step, start, unit, wanted",
    [
        (np.nan, 3.0, 8, (1.0, 3.0, "second")),
        (np.inf, np.nan, 16, (1.0, 0.0, "millisecond")),
        (-2.0, -np.inf, 24, (1.0, 0.0, "microsecond")),
        (0.0, -3.0, 0, (1.0, -3.0, None)),
        (2.0, 3.0, 32, (1.0, 0.0, None)),
        (2.0, 3.0, 40, (1.0, 0.0, None)),
        (2.0, 3.0, 48, (1.0, 0.0, None)),
    ],
)
def test_times_that_are_not_known(tmp_path, step, start, unit, wanted):
    """Such as those of a fourth axis of frequencies, 32."""
    values = make_values((3, 9, 8, 7), np.int16)
    times = {"pixdim": ("5f", 1.0, 2.0, 2.0, 2.0, step), "toffset": ("f", start), "units": ("B", 2 + unit)}
    write_nifti(tmp_path / "a.nii", values.T, affine=np.diag([-2.0, -2.0, 2.0, 1.0]), **times)
    resample_zarr(tmp_path / "a.nii", tmp_path / "out.zarr", devices=["host"])
    # A number that JSON does not have would be an error here.
    opened = sides.open_image(tmp_path / "out.zarr")
    assert (opened.leading, opened.leading_places, opened.axes[0].unit) == ((3,), ((wanted[0],), (wanted[1],)), wanted[2])
    assert (read_values(tmp_path / "out.zarr") == values).all()
