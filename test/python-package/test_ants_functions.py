# SPDX-License-Identifier: Apache-2.0
"""Tests how ANTsPy's registration() places arrays without a grid, and that it gives warnings."""

import gpuregistration as gr
import numpy as np
import pytest
from conftest import make_head
from gpuregistration import ants
from gpuregistration.ants import functions

pytest.importorskip("SimpleITK")


def make_heads():
    """Returns two heads of two dimensions, of which the second one is moved."""
    grid = {"shape": (44, 48), "spacing": (2.5, 2.5), "origin": (-52.0, -50.0)}
    return make_head(**grid), make_head(lambda points: points - [4.0, -3.0], **grid)


def test_warnings_of_a_registration_are_given(tmp_path, monkeypatch):
    register = functions.register

    def register_with_warnings(*given, **named):
        result = register(*given, **named)
        result.warnings += ["it may have folded", "few voxels were compared"]
        return result

    monkeypatch.setattr(functions, "register", register_with_warnings)
    images = make_heads()
    with pytest.warns(UserWarning) as caught:
        ants.registration(*images, "SyNOnly", initial_transform="Identity", reg_iterations=(2, 1), outprefix=str(tmp_path / "p_"))
    given = [one for one in caught if one.category is UserWarning]
    assert [str(one.message) for one in given] == ["it may have folded", "few voxels were compared"]
    # They point to the line that called.
    assert all(one.filename == __file__ for one in given)


def test_bare_masks_have_their_images_voxels(tmp_path):
    fixed, moving = make_heads()
    masks = [image.like((image.array > 30).astype(np.uint8)) for image in (fixed, moving)]
    found = []
    for number, given in enumerate((masks, [mask.array for mask in masks], [mask.array > 0 for mask in masks], (None, None))):
        words = {"mask": given[0], "moving_mask": given[1], "outprefix": str(tmp_path / f"{number}_")}
        found.append(ants.registration(fixed, moving, "SyNOnly", initial_transform="Identity", reg_iterations=(4, 3), **words)["warpedmovout"].array)
    assert (found[1] == found[0]).all() and (found[2] == found[0]).all() and not (found[3] == found[0]).all()
    with pytest.raises(gr.BadInputError, match=r"The fixed mask is on another grid than the fixed image: its shape is \(43, 48\), and not \(44, 48\)"):
        ants.registration(fixed, moving, "SyNOnly", mask=masks[0].array[1:])


def test_a_bare_array_beside_an_image_with_a_grid_is_refused():
    fixed, moving = make_heads()
    wrong = r"^The {} image is an array that does not say .* Hand in gpuregistration.Image\(array, spacing, origin, direction\)\.$"
    for images, which in (((fixed, moving.array), "moving"), ((fixed.array, moving), "fixed")):
        with pytest.raises(gr.BadInputError, match=wrong.format(which)):
            ants.registration(*images, "SyNOnly")
    for images, which in (((fixed.array, moving), "fixed"), ((fixed.array, moving.array), "fixed"), ((fixed, moving.array), "moving")):
        with pytest.raises(gr.BadInputError, match=wrong.format(f"multivariate_extras 0 {which}")):
            ants.registration(fixed, moving, "SyNOnly", multivariate_extras=[("CC", *images, 1, 2)])
