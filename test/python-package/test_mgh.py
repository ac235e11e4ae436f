# SPDX-License-Identifier: Apache-2.0
"""FreeSurfer's images: .mgz and .mgh, read and written as nibabel and ANTs do."""

import gzip
import io
import os

import gpuregistration as gr
import numpy as np
import pytest
from gpuregistration._files import read_image_grid
from gpuregistration.ants.apply_call import read_apply
from gpuregistration.ants.programs import main

nibabel = pytest.importorskip("nibabel")

TURNED = np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, -1.0]])


def make_image(kind=np.float32):
    values = np.random.default_rng(2).uniform(0, 200, (7, 6, 5)).astype(kind)
    return gr.Image(values, [1.5, 2.0, 2.5], [10.0, -20.0, 30.0], TURNED)


@pytest.mark.parametrize("name", ["i.mgz", "i.mgh", "I.MGZ"])
@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int32, np.float32])
def test_a_file_holds_what_nibabel_reads(tmp_path, name, kind):
    image = make_image(kind)
    gr.write_image(tmp_path / name, image)
    again = gr.read_image(tmp_path / name)
    assert again.array.dtype == kind and again.array.dtype.isnative and not again.warnings
    np.testing.assert_array_equal(again.array, image.array)
    assert again.has_grid_of(image)
    np.testing.assert_allclose(again.index_to_point, image.index_to_point, atol=1e-5)
    theirs = nibabel.load(tmp_path / name)
    np.testing.assert_array_equal(np.asarray(theirs.dataobj), image.array.T)
    np.testing.assert_allclose(theirs.affine, np.diag([-1, -1, 1, 1]) @ image.index_to_point, atol=1e-5)


def test_is_where_ants_has_it(tmp_path, monkeypatch):
    internal = pytest.importorskip("ants.internal", reason="ANTsPy is not there: pip install antspyx")
    monkeypatch.chdir(tmp_path)
    gr.write_image("i.mgz", make_image())
    gr.write_image("i.nii.gz", make_image())
    assert internal.get_lib_fn("antsApplyTransforms")("-d 3 -i i.mgz -r i.mgz -o theirs.nii.gz".split()) == 0
    theirs = gr.read_image("theirs.nii.gz")
    np.testing.assert_allclose(theirs.array, make_image().array, rtol=1e-6)
    np.testing.assert_allclose(theirs.index_to_point, make_image().index_to_point, atol=1e-4)
    assert main("antsApplyTransforms", "-d 3 -i i.nii.gz -r i.mgz -o ours.mgz".split()) == 0
    np.testing.assert_allclose(gr.read_image("ours.mgz").array, make_image().array, rtol=1e-4)


@pytest.mark.parametrize(
    ("image", "part"),
    [
        (make_image(np.float64), "type float64; the format holds uint8, int16, int32, float32"),
        (make_image(np.uint16), "type uint16"),
        (gr.Image(np.zeros((4, 5), np.float32), [1.0, 1.0]), "2 dimensions"),
        (gr.Image(np.zeros((3, 4, 5, 3), np.float32), [1.0] * 3, is_vector=True), "3 numbers a voxel"),
    ],
)
def test_says_what_a_file_cannot_hold(tmp_path, image, part):
    with pytest.raises(gr.BadInputError, match=f"The file {tmp_path / 'i.mgz'} cannot be written: the image has .*{part}"):
        gr.write_image(tmp_path / "i.mgz", image)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["i.mgz", "i.mgh"])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.98])
def test_a_file_that_is_cut_off_is_refused(tmp_path, name, share):
    gr.write_image(tmp_path / name, make_image())
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: int(share * len(content))])
    with pytest.raises(gr.BadInputError, match=name):
        gr.read_image(tmp_path / name)


def test_what_is_said_of_a_file_that_is_cut_off(tmp_path):
    """Readers with values and without say the same."""
    gr.write_image(tmp_path / "i.mgh", make_image())
    wanted = 284 + make_image().array.nbytes
    os.truncate(tmp_path / "i.mgh", wanted - 1)
    for read in (gr.read_image, read_image_grid):
        with pytest.raises(gr.BadInputError, match=f"{tmp_path / 'i.mgh'} is cut off: it is to hold {wanted} bytes. Copy it again"):
            read(tmp_path / "i.mgh")


def write_header(path, begin, number):
    """Writes a file, with another number of 32 bits in the header at a byte."""
    content = nibabel.freesurfer.MGHImage(np.ones((4, 5, 6), np.float32), np.eye(4)).to_bytes()
    content = content[:begin] + number.to_bytes(4, "big", signed=True) + content[begin + 4 :]
    path.write_bytes(gzip.compress(content) if path.suffix == ".mgz" else content)


# The header's first numbers are its version, four lengths and the type of values.
@pytest.mark.parametrize("name", ["i.mgz", "i.mgh"])
@pytest.mark.parametrize(
    ("begin", "number", "part"),
    [
        (0, 7, "i.mg. is no image of FreeSurfer's that can be read: its version is 7, and the format's is 1"),
        (20, 77, "i.mg. is no image of FreeSurfer's that can be read: its values are of a type that there is not, 77"),
        (8, 0, "i.mg. is no image of FreeSurfer's that can be read: Dimensions of the data should be non-zero"),
        (8, -5, "i.mg."),
        (8, 2**31 - 1, "i.mg."),
    ],
)
def test_says_what_is_wrong_with_a_header(tmp_path, capfd, name, begin, number, part):
    write_header(tmp_path / name, begin, number)
    with pytest.raises(gr.BadInputError, match=part):
        gr.read_image(tmp_path / name)
    assert capfd.readouterr().err == ""


def test_a_damaged_file_is_refused(tmp_path):
    gr.write_image(tmp_path / "i.mgz", make_image())
    content = gzip.decompress((tmp_path / "i.mgz").read_bytes())
    packed = bytearray(gzip.compress(content, 0))
    # A value in the middle, of what gzip stores as it is.
    packed[len(packed) // 2] ^= 1
    (tmp_path / "i.mgz").write_bytes(packed)
    with pytest.raises(gr.BadInputError, match="^The file .*i.mgz is damaged"):
        gr.read_image(tmp_path / "i.mgz")
    with pytest.raises(gr.BadInputError, match="^The file .*i.mgz is damaged"):
        gr.resample(nibabel.load(tmp_path / "i.mgz"), gr.Affine(np.eye(3)))
    packed = bytearray(gzip.compress(content))
    for at in range(12, len(packed), 7):
        damaged = packed.copy()
        damaged[at] ^= 0xFF
        (tmp_path / "i.mgz").write_bytes(damaged)
        with pytest.raises(gr.BadInputError, match="i.mgz"):
            gr.read_image(tmp_path / "i.mgz")


def test_damage_of_an_open_file_is_an_error(tmp_path):
    packed = bytearray(gzip.compress(nibabel.freesurfer.MGHImage(np.arange(1e5, dtype=np.float32).reshape(50, 40, 50), np.eye(4)).to_bytes()))
    packed[len(packed) // 2 :] = b"\xff" * len(packed[len(packed) // 2 :])
    image = nibabel.freesurfer.MGHImage(np.zeros((50, 40, 50), np.float32), np.eye(4))
    proxy = nibabel.arrayproxy.ArrayProxy(gzip.GzipFile(fileobj=io.BytesIO(packed)), image.header)
    with pytest.raises(gr.BadInputError, match="cannot be read"):
        gr.resample(nibabel.freesurfer.MGHImage(proxy, np.eye(4)), gr.Affine(np.eye(3)))


def test_several_volumes_and_no_place(tmp_path):
    image = nibabel.freesurfer.MGHImage(np.zeros((4, 5, 6, 2), np.float32), np.eye(4))
    nibabel.save(image, tmp_path / "two.mgz")
    with pytest.raises(gr.BadInputError, match="two.mgz has 4 dimensions"):
        gr.read_image(tmp_path / "two.mgz")
    placed = nibabel.freesurfer.MGHImage(np.ones((4, 5, 6), np.float32), np.eye(4))
    content = placed.to_bytes()
    # The flag that the header's place is good stands behind version, size, type and degrees of freedom.
    (tmp_path / "none.mgh").write_bytes(content[:28] + b"\0\0" + content[30:])
    with pytest.warns(gr.InputWarning, match="does not say where it lies"):
        read = gr.read_image(tmp_path / "none.mgh")
    assert read.warnings and np.linalg.det(read.direction) != 0


def test_registers_files(tmp_path, monkeypatch):
    from ants_heads import write_heads

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ITK_GPU_DEVICE", "host")
    list(write_heads(np.random.default_rng(3)))
    for name in ("f", "m"):
        gr.write_image(f"{name}.mgz", gr.read_image(f"{name}.nii.gz"))
    for suffix in ("mgz", "nii.gz"):
        line = f"-d 3 -o [{suffix[0]}_,{suffix[0]}w.{suffix}] -t SyN[0.2,3,0] -m CC[f.{suffix},m.{suffix},1,2] -c [4,0,10] -f 1 -s 0vox"
        assert main("antsRegistration", line.split()) == 0
    np.testing.assert_allclose(gr.read_image("mw.mgz").array, gr.read_image("nw.nii.gz").array, atol=0.05)


LINEAR = "-t Rigid[0.1] -m MeanSquares[f.nii.gz,m.nii.gz,1] -c 5 -f 1 -s 0"


@pytest.mark.parametrize("line", ["-d 2 -o [o_,w.mgz]", "-o [o_,w.mgz]", "-d 2 -o [o_,w.nii.gz,i.MGH]"])
def test_a_registration_in_two_dimensions_is_refused_before_any_work(tmp_path, monkeypatch, capfd, line):
    monkeypatch.chdir(tmp_path)
    for name in ("f.nii.gz", "m.nii.gz"):
        gr.write_image(name, gr.Image(np.ones((9, 9), np.float32), [1.0, 1.0]))
    monkeypatch.setattr("gpuregistration.ants.runner.register_pair", None)
    assert main("antsRegistration", f"{line} {LINEAR}".split()) == 1
    err = capfd.readouterr().err
    assert err.count("\n") == 1 and "antsRegistration: -o/--output: " in err and "volumes alone" in err, err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f.nii.gz", "m.nii.gz"]


def test_an_image_of_two_dimensions_is_not_moved(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    gr.write_image("i.nii.gz", gr.Image(np.ones((9, 9), np.float32), [1.0, 1.0]))
    assert main("antsApplyTransforms", "-i i.nii.gz -r i.nii.gz -o o.mgz".split()) == 1
    assert "antsApplyTransforms: -o/--output: o.mgz is of FreeSurfer's format, which holds volumes alone" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("line", "reasons"),
    [
        ("-e 3 -i s.mgz -o o.nii.gz", ["a series in FreeSurfer's format (s.mgz)"]),
        ("-e 3 -i s.nii.gz -o o.mgh", ["a series in FreeSurfer's format (o.mgh)"]),
        ("-e 3 --time-index 1 -i s.mgz -o o.nii.gz", ["a series in FreeSurfer's format (s.mgz)"]),
        ("-e 3 --time-index 1 -i s.nii.gz -o o.mgz", []),
        ("-e 1 -i v.nii.gz -o o.mgz", ["vectors in FreeSurfer's format (o.mgz)"]),
        ("-i i.mgz -o o.mgz -u short", []),
    ],
)
def test_several_volumes_are_of_ants_alone(line, reasons):
    assert read_apply(f"-d 3 -r r.nii.gz {line}".split()).others == reasons
