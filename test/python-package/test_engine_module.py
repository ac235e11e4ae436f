# SPDX-License-Identifier: Apache-2.0
"""Tests the extension module by itself: its exports, and its errors."""

import subprocess

import numpy as np
import pytest
from gpuregistration import BadInputError, _engine


def test_exports_its_entry_point_alone():
    """Any other exported symbol might be replaced by another library's, or replace it."""
    listed = subprocess.run(["nm", "-D", "--defined-only", _engine.__file__], capture_output=True, text=True, check=True)
    assert [line.split()[-1] for line in listed.stdout.splitlines()] == ["PyInit__engine"]


@pytest.mark.parametrize("factors", [(17, 1, 1), (1, 1, 1000), (0, 1, 1), (1, -2, 1)])
def test_levels_of_too_many_voxels(factors):
    """The weights of a level of more than 16 voxels would exceed a kernel's arguments."""
    image = _engine.load("host", np.zeros((40, 40, 40), np.float32), (40, 40, 40))
    with pytest.raises(BadInputError, match="stands for 1 to 16 voxels along an axis, not for"):
        _engine.make_level(image, factors)


@pytest.mark.parametrize("factor", [1, 2, 15, 16])
def test_levels_of_as_many_as_there_may_be(factor):
    image = _engine.load("host", np.full((40, 41, 42), 3.5, np.float32), (40, 41, 42))
    level, _ = _engine.make_level(image, (factor, factor, factor))
    assert tuple(level.shape) == (40 // factor, 41 // factor, 42 // factor)
    np.testing.assert_allclose(_engine.download(level), 3.5, rtol=1e-6)
