# SPDX-License-Identifier: Apache-2.0
"""Tests which modules are imported at the start, and which by a file's format or size."""

import subprocess
import sys

import numpy as np
import pytest
from nifti_files import write_nifti

FORMATS = {
    "_checksum", "_dicom", "_dicom_consistency", "_dicom_frames", "_dicom_header", "_dicom_places", "_dicom_values", "_deflate", "_fields", "_flirt", "_gzip",
    "_gzip_blocks", "_gzip_index", "_metaimage",
    "_nibabel", "_nifti", "_nifti_write", "_nrrd", "_other_formats", "_threads", "_tiff", "_unpack",
}  # fmt: skip
LIBRARIES = {"SimpleITK", "nibabel", "pydicom", "PIL", "jinja2", "isal", "distributed"}


def imported_by(program, *arguments):
    """Returns the modules of formats, and of threads, and the libraries, that a program's process has imported at its end."""
    shown = "; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program + shown, *map(str, arguments)], capture_output=True, text=True, check=True)
    names = {name.removeprefix("gpuregistration.") for name in done.stdout.split()}
    return names & FORMATS, names & LIBRARIES


@pytest.mark.parametrize("program", ["import gpuregistration", "from gpuregistration.command.main import make_parser; make_parser()"])
def test_the_start_imports_no_format_and_no_library(program):
    assert imported_by(program) == (set(), set())


READING = "import sys, gpuregistration; gpuregistration.read_image(sys.argv[1])"


def test_a_file_brings_its_own_format_alone(tmp_path):
    values = np.arange(60, dtype=np.uint8).reshape(3, 4, 5)
    pytest.importorskip("nibabel")
    path = write_nifti(tmp_path / "a.nii", values)
    formats, libraries = imported_by(READING, path)
    assert formats == {"_dicom_header", "_nibabel", "_nifti", "_other_formats", "_unpack"} and "SimpleITK" not in libraries
    pytest.importorskip("SimpleITK")
    path = tmp_path / "a.nrrd"
    path.write_bytes(b"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 3 4 5\nencoding: raw\n\n" + values.tobytes())
    formats, libraries = imported_by(READING, path)
    assert "_nrrd" in formats and not formats & {"_nifti", "_tiff", "_metaimage", "_dicom", "_fields"} and libraries == {"SimpleITK"}


ANTS = "import sys; from gpuregistration import _program; _program.is_program = True; from gpuregistration.ants.programs import main; "
ANTS += "assert main('antsRegistration', sys.argv[1:]) == 0"


def test_ants_commands_import_what_they_need_alone(tmp_path):
    """A registration of NIfTI files needs no SimpleITK and no pydicom; the launcher's part in front of the device's start needs no NumPy."""
    pytest.importorskip("nibabel")
    shown = "import sys, gpuregistration.ants.process; print('numpy' in sys.modules, 'argparse' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True).stdout.split() == ["False", "False"]
    z, y, x = np.ogrid[-1:1:8j, -1:1:9j, -1:1:10j]
    for name, middle in (("f", 0.0), ("m", 0.1)):
        write_nifti(tmp_path / f"{name}.nii", np.round(200 * np.exp(-3 * (x - middle) ** 2 - 4 * y * y - 5 * z * z)).astype(np.uint8).T)
    pair = f"[{tmp_path}/f.nii,{tmp_path}/m.nii,1]"
    words = ["-d", "3", "-o", f"[{tmp_path}/p,{tmp_path}/w.nii.gz,{tmp_path}/i.nii.gz]", "-r", pair, "-w", "[0.005,0.995]"]
    for transform in ("Affine[0.1]", "SyN[0.2,3,0]"):
        words += ["-t", transform, "-m", f"MeanSquares{pair}", "-c", "[2,1e-6,10]", "-f", "1", "-s", "0"]
    formats, libraries = imported_by(ANTS, *words)
    assert "_nifti_write" in formats and libraries <= {"nibabel", "isal"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f.nii", "i.nii.gz", "m.nii", "p0GenericAffine.mat", "p1InverseWarp.nii.gz", "p1Warp.nii.gz", "w.nii.gz"]


def test_a_program_hides_a_package_from_the_thread_that_asks_alone(tmp_path):
    (tmp_path / "hidden_package.py").write_text("")
    program = """
import sys, threading
sys.path.insert(0, sys.argv[1])
from gpuregistration import _program
_program.is_program = True
found = []
def look():
    try:
        import hidden_package
        found.append(True)
    except ImportError:
        found.append(False)
with _program.hidden("hidden_package"):
    look()
    other = threading.Thread(target=look)
    other.start()
    other.join()
look()
print(*found)
"""
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "True"]
