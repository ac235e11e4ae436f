# SPDX-License-Identifier: Apache-2.0
"""Runs antsRegistration of this package and ANTs' own in one folder, and compares what they write."""

from pathlib import Path

import numpy as np
import pytest
from gpuregistration.ants.programs import main

sitk = pytest.importorskip("SimpleITK")


def run_ours(line):
    """Runs this package's program, with the prefix ours_ for P_. Returns the names behind the prefix of the files that it wrote."""
    assert main("antsRegistration", line.replace("P_", "ours_").split()) == 0
    return find_made("ours_")


def run_both(line):
    """Runs both programs, with the prefixes ours_ and ants_ for P_. Returns the names behind the prefix of the files that both wrote."""
    internal = pytest.importorskip("ants.internal", reason="ANTsPy is not there: pip install antspyx")
    ours = run_ours(line)
    assert internal.get_lib_fn("antsRegistration")(line.replace("P_", "ants_").split() + ["--float", "1"]) == 0
    assert ours == find_made("ants_")
    return ours


def find_made(prefix):
    return sorted(path.name[len(prefix) :] for path in Path().glob(f"{prefix}*"))


def read_field(name):
    return sitk.GetArrayFromImage(sitk.ReadImage(name))


def check_fields(names):
    """Compares the fields of both programs, forward ones within the bounds of a SyN from the identity, and the way back by what it undoes."""
    for name in names:
        if name.endswith("InverseWarp.nii.gz"):
            assert read_field(f"ours_{name}").shape == read_field(f"ants_{name}").shape
            # ANTs' inverse is not iterated to the end.
            assert np.linalg.norm(read_field(f"ours_{name}") - read_field(f"ants_{name}"), axis=-1).mean() < 0.01 * 3.5
        elif name.endswith("Warp.nii.gz"):
            apart = np.linalg.norm(read_field(f"ours_{name}") - read_field(f"ants_{name}"), axis=-1) / 3.5
            assert apart.mean() < 2e-4 and apart.max() < 5e-3, name
