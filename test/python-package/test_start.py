# SPDX-License-Identifier: Apache-2.0
"""Tests which modules are imported at the start, and which by a file's format."""

import subprocess
import sys

import numpy as np
import pytest
from nifti_files import write_nifti

FORMATS = {
    "_dicom", "_dicom_alike", "_dicom_frames", "_dicom_header", "_dicom_places", "_dicom_values", "_deflate", "_fields", "_flirt", "_gzip", "_metaimage",
    "_nibabel", "_nifti", "_nifti_write", "_nrrd", "_other_formats", "_tiff", "_unpack",
}  # fmt: skip
LIBRARIES = {"SimpleITK", "nibabel", "pydicom", "PIL", "jinja2", "isal", "distributed"}


def imported_by(program, *arguments):
    """Returns the modules of formats, and the libraries, that a program's process has imported at its end."""
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
