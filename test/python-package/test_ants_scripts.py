# SPDX-License-Identifier: Apache-2.0
"""Shell scripts that call ANTs' programs as antsRegistrationSyN.sh does, with this package's commands in front of PATH."""

import os
import subprocess
import sys

import gpuregistration as gr
import numpy as np
import pytest
from conftest import make_head
from gpuregistration.ants.programs import main
from gpuregistration.command.launchers import write_launchers

# Asks for the size, and calls antsRegistration by the lines of ANTs' scripts, unquoted and with blanks in brackets.
SCRIPT = """#!/bin/bash
PROGRAM=${ANTSPATH:+${ANTSPATH}/}antsRegistration
if ! command -v $PROGRAM > /dev/null; then echo "no antsRegistration"; exit 3; fi
KIND=$1; METRIC=$2; LAST=$3
IMAGES="f.nii.gz,m.nii.gz"
SIZE=$( ${ANTSPATH:+${ANTSPATH}/}PrintHeader f.nii.gz 2 )
echo "size: $( echo ${SIZE%\\\\n} | tr 'x' ' ' )"
LEVELS="--shrink-factors 8x4x2x1 --smoothing-sigmas 3x2x1x0vox"
START="--initial-moving-transform [ $IMAGES,1 ]"
FIRST="--transform Rigid[ 0.1 ] --metric MI[ $IMAGES,1,32,Regular,0.25 ] --convergence [ 1000x500x250x$LAST,1e-6,10 ] $LEVELS"
SECOND="${FIRST/Rigid/Affine}"
THIRD="--metric $METRIC --convergence [ 100x70x50x$LAST,1e-6,10 ] $LEVELS"
case $KIND in
  t) STAGES="$START ${FIRST/Rigid/Translation}" ;;
  r) STAGES="$START $FIRST" ;;
  a) STAGES="$START $FIRST $SECOND" ;;
  s) STAGES="$START $FIRST $SECOND --transform SyN[ 0.2,3,0 ] $THIRD" ;;
  sr) STAGES="$START $FIRST --transform SyN[ 0.2,3,0 ] --metric $METRIC \\
    --convergence [ 50x$LAST,1e-6,10 ] --shrink-factors 2x1 --smoothing-sigmas 1x0vox" ;;
  so) STAGES="--initial-moving-transform Identity --transform SyN[ 0.2,3,0 ] $THIRD" ;;
  b) STAGES="$START $FIRST $SECOND --transform BSplineSyN[ 0.2,26,0,3 ] $THIRD" ;;
esac
SEED=""
if [[ -n ${ANTS_RANDOM_SEED} ]]; then SEED=" --random-seed $ANTS_RANDOM_SEED "; fi
COMMAND="$PROGRAM --verbose 1 $SEED --dimensionality 3 --float 0 --collapse-output-transforms 1 \\
  --output [ o,oWarped.nii.gz,oInverseWarped.nii.gz ] --interpolation Linear --use-histogram-matching 0 \\
  --winsorize-image-intensities [ 0.005,0.995 ] -x [ mask.nii.gz, NULL ] $STAGES"
$COMMAND
"""
LINEAR = ["o0GenericAffine.mat", "oInverseWarped.nii.gz", "oWarped.nii.gz"]
DEFORMING = ["o0GenericAffine.mat", "o1InverseWarp.nii.gz", "o1Warp.nii.gz", "oInverseWarped.nii.gz", "oWarped.nii.gz"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Writes two heads, a mask, the script and the launchers into a folder of its own, and goes there."""
    monkeypatch.chdir(tmp_path)
    grid = {"shape": (28, 32, 30), "spacing": (3.5, 3.5, 3.5)}
    fixed = make_head(**grid)
    gr.write_image("f.nii.gz", fixed)
    gr.write_image("m.nii.gz", make_head(lambda points: points - [6.0, -5.0, 4.0] - 2.0 * np.sin(0.08 * points[..., ::-1]), **grid))
    gr.write_image("mask.nii.gz", fixed.like((fixed.array > 1).astype(np.uint8)))
    (tmp_path / "script.sh").write_text(SCRIPT)
    write_launchers(tmp_path / "bin")
    return tmp_path


def start(words, folders, **more):
    """Runs the script with folders in front of PATH."""
    environment = {"PATH": ":".join([*map(str, folders), "/usr/bin", "/bin"]), "PYTHONPATH": ":".join(sys.path), "ITK_GPU_DEVICE": "host", **more}
    return subprocess.run(["bash", "script.sh", *words], env=environment, capture_output=True, text=True, check=False)


def made():
    return sorted(name for name in os.listdir() if name.startswith("o"))


CC, MI = "CC[ f.nii.gz,m.nii.gz,1,2 ]", "MI[ f.nii.gz,m.nii.gz,1,32]"


@pytest.mark.parametrize(
    ("kind", "metric", "last", "files"),
    [("t", CC, 100, LINEAR), ("r", CC, 100, LINEAR), ("a", MI, 0, LINEAR)]
    + [(kind, metric, last, DEFORMING) for kind in ("s", "sr", "so") for metric, last in ((CC, 20), (MI, 0))],
)
def test_scripts_run_without_ants(here, kind, metric, last, files):
    done = start([kind, metric, str(last)], [here / "bin"], ANTS_RANDOM_SEED="7")
    assert done.returncode == 0 and done.stderr == "" and made() == files
    assert "size: 30 32 28\n" in done.stdout and "DIAGNOSTIC," in done.stdout
    fixed, moving, warped = (gr.read_image(f"{name}.nii.gz").array.astype(float) for name in ("f", "m", "oWarped"))
    assert np.abs(warped - fixed).mean() < 0.6 * np.abs(moving - fixed).mean()


def test_the_line_for_large_images_runs(here):
    # antsRegistrationSyN.sh of images with more than 256 voxels along each axis has other levels. These are smaller, and of two dimensions.
    for name, shift in (("f", 0.0), ("m", 2.0)):
        gr.write_image(f"{name}.nii.gz", make_head(lambda points: points - shift * np.sin(0.1 * points[..., ::-1]) - 2 * shift, (60, 64), (1.8, 1.8), (-52.0, -50.0)))
    linear = "-c [1000x500x250x100,1e-6,10] -f 12x8x4x2 -s 4x3x2x1vox"
    mi = f"-m MI[f.nii.gz,m.nii.gz,1,32,Regular,0.25] {linear}"
    syn = "-t SyN[0.2,3,0] -m CC[f.nii.gz,m.nii.gz,1,2] -c [100x100x70x50x20,1e-6,10] -f 10x6x4x2x1 -s 5x3x2x1x0vox"
    line = "-d 2 --float 0 -z 1 -o [o,oWarped.nii.gz,oInverseWarped.nii.gz] -n Linear -u 0 -w [0.005,0.995] -x [NULL,NULL] -r [f.nii.gz,m.nii.gz,1]"
    assert main("antsRegistration", f"{line} -t Rigid[0.1] {mi} -t Affine[0.1] {mi} {syn}".split()) == 0
    assert made() == DEFORMING
    fixed, moving, warped, back = (gr.read_image(f"{name}.nii.gz").array.astype(float) for name in ("f", "m", "oWarped", "oInverseWarped"))
    before = np.abs(moving - fixed).mean()
    assert np.abs(warped - fixed).mean() < 0.1 * before and np.abs(back - moving).mean() < 0.1 * before


def test_scripts_with_antspath_run_without_ants(here):
    done = start(["r", CC, "10"], [], ANTSPATH=str(here / "bin"))
    assert done.returncode == 0 and done.stderr == "" and made() == LINEAR and "size: 30 32 28\n" in done.stdout


def test_a_spline_syn_is_handed_over_or_said(here):
    alone = start(["b", CC, "20"], [here / "bin"])
    assert alone.returncode == 1 and alone.stderr.count("\n") == 1 and "BSplineSyN" in alone.stderr and made() == []
    (here / "real").mkdir()
    (here / "real" / "antsRegistration").write_text("#!/bin/sh\necho real; exit 7\n")
    (here / "real" / "antsRegistration").chmod(0o755)
    handed = start(["b", CC, "20"], [here / "bin", here / "real"])
    assert handed.returncode == 7 and handed.stdout.endswith("real\n") and handed.stderr.count("\n") == 1 and "does it" in handed.stderr


def print_header(capfd, words, code=0):
    assert main("PrintHeader", words) == code
    return capfd.readouterr()


def test_prints_a_part_of_a_header(here, capfd):
    direction = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    gr.write_image("o.mha", gr.Image(np.zeros((4, 5, 6), np.float32), (0.5, 1.0 / 3.0, 2.0), (-91.25, 0.0, 1234567.0), direction))
    expected = ["-91.25x0x1.23457e+06", "0.5x0.333333x2", "6x5x4", "0x0x0", "0x-1x0x1x0x0x0x0x1"]
    assert [print_header(capfd, ["o.mha", str(number)]).out for number in range(5)] == [f"{line}\n" for line in expected]
    gr.write_image("o2.mha", gr.Image(np.zeros((5, 6), np.float32), (0.5, 1.5)))
    assert print_header(capfd, ["o2.mha", "1"]).out == "0.5x1.5\n" and print_header(capfd, ["o2.mha", "4"]).out == "1x0x0x1\n"


def test_prints_the_header_of_a_series(here, capfd):
    sitk = pytest.importorskip("SimpleITK")
    series = sitk.JoinSeries([sitk.Image([6, 5, 4], sitk.sitkFloat32)] * 3, 0.0, 2.5)
    sitk.WriteImage(series, "s.nii.gz")
    assert [print_header(capfd, ["s.nii.gz", str(number)]).out for number in (1, 2)] == ["1x1x1x2.5\n", "6x5x4x3\n"]


@pytest.mark.parametrize("unit", ["sec", "msec", "usec", "hz", "unknown"])
def test_prints_times_as_itk_reads_them(here, capfd, unit):
    """Thousandths and millionths of a second become seconds."""
    sitk, nibabel = pytest.importorskip("SimpleITK"), pytest.importorskip("nibabel")
    image = nibabel.Nifti1Image(np.zeros((6, 5, 4, 3), np.float32), [[-2.0, 0, 0, 10.0], [0, -2.0, 0, 20.0], [0, 0, 2.0, 30.0], [0, 0, 0, 1.0]])
    image.header.set_xyzt_units("mm", unit)
    image.header["pixdim"][4], image.header["toffset"] = 2500.0, 750.0
    nibabel.save(image, "s.nii.gz")
    read = sitk.ReadImage("s.nii.gz")
    for number, values in ((0, read.GetOrigin()), (1, read.GetSpacing())):
        assert print_header(capfd, ["s.nii.gz", str(number)]).out == "x".join(f"{value:g}" for value in values) + "\n"


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["no.nii.gz", "2"], "There is no file no.nii.gz"),
        (["f.nii.gz", "5"], "expected behind the image a number from 0 to 4"),
        (["f.nii.gz", "2", "3"], "2 3: expected behind the image a number"),
        (["script.sh", "2"], "script.sh"),
        (["f.nii.gz"], "does not do printing a whole header, and there is no other PrintHeader"),
    ],
)
def test_says_what_is_wrong_with_a_header(here, capfd, monkeypatch, words, part):
    monkeypatch.setenv("PATH", "/usr/bin")
    printed = print_header(capfd, words, 1)
    assert printed.out == "" and printed.err.startswith("PrintHeader: ") and printed.err.count("\n") == 1 and part in printed.err


def test_prints_help_and_version(capfd):
    assert "2 size" in print_header(capfd, ["--help"]).out and print_header(capfd, ["--version"]).out.startswith("ANTs Version: 2.")
    assert "2 size" in print_header(capfd, [], 1).out
