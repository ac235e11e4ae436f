# SPDX-License-Identifier: Apache-2.0
"""The state that antsRegistration saves (-j) and begins with (-k): of this package and of ANTs' own."""

import gpuregistration as gr
import numpy as np
import pytest
from ants_heads import write_heads
from ants_programs import check_fields, find_made, run_both, run_ours
from gpuregistration._syn_options import SyNOptions
from gpuregistration.ants.programs import main

sitk = pytest.importorskip("SimpleITK")

AFFINE = "-t Affine[0.1] -m MeanSquares[f.nii.gz,m.nii.gz,1] -c [0,0,10] -f 1 -s 0"
SYN = "-t SyN[0.2,3,0] -m MeanSquares[f.nii.gz,m.nii.gz,1] -c [4x3,0,10] -f 2x1 -s 1x0vox"
LINES = {"a.mat": f"-r a.mat {AFFINE} {SYN}", "none": SYN, "two": f"{SYN} {SYN}"}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Writes two heads with noise and an affine map into a folder of its own, and goes there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ITK_GPU_DEVICE", "host")
    list(write_heads(np.random.default_rng(3)))
    gr.write_transform("a.mat", gr.Affine([[1.02, 0.03, 0.0], [-0.03, 0.98, 0.0], [0.0, 0.01, 1.01]], [0.8, -0.5, 0.4]))
    return tmp_path


def read_parts(name):
    """Returns the parts of a composite file, in ITK's order."""
    composite = sitk.CompositeTransform(sitk.ReadTransform(name))
    return [composite.GetNthTransform(n) for n in range(composite.GetNumberOfTransforms())]


def read_vectors(part):
    return np.reshape(part.GetParameters(), (-1, 3))


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_state_has_ants_parts(here, line):
    assert run_both(f"-d 3 -o P_ -a 1 -z 0 -j P_state.h5 {line}") == ["Composite.h5", "InverseComposite.h5", "state.h5"]
    ours, theirs = (read_parts(f"{who}_state.h5") for who in ("ours", "ants"))
    assert [part.GetName() for part in ours] == [part.GetName() for part in theirs]
    for number, (one, other) in enumerate(zip(ours[-4:], theirs[-4:])):
        apart = np.linalg.norm(read_vectors(one) - read_vectors(other), axis=1)
        assert np.linalg.norm(read_vectors(other), axis=1).mean() > 0.05
        # Displacements to the middle, and their inverses, which ANTs does not iterate to the end.
        assert apart.mean() < (2e-4 if number % 2 == 0 else 2e-3) * 3.5, number


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_goes_on_from_either_programs_state_as_ants(here, line):
    run_both(f"-d 3 -o P_ -a 1 -j P_state.h5 {line}")
    for who in ("ours", "ants"):
        names = run_both(f"-d 3 -o P_next{who} -k {who}_state.h5 {SYN} -a 1 -z 0")
        # The first one of two stages SyN is a field without an inverse.
        assert (f"next{who}InverseComposite.h5" in names) == (line != LINES["two"])
        ours, theirs = (read_parts(f"{which}_next{who}Composite.h5") for which in ("ours", "ants"))
        assert [part.GetName() for part in ours] == [part.GetName() for part in theirs]
        for one, other in zip(ours, theirs):
            if one.GetName() == "DisplacementFieldTransform":
                apart = np.linalg.norm(read_vectors(one) - read_vectors(other), axis=1) / 3.5
                assert apart.mean() < 2e-4 and apart.max() < 5e-3


def test_a_state_is_as_good_as_its_registration(here):
    run_ours(f"-d 3 -o first_ -a 1 -j state.h5 {LINES['a.mat']}")
    run_ours(f"-d 3 -o [P_,w.nii.gz,i.nii.gz] -k state.h5 {SYN}")
    assert find_made("ours_") == ["0GenericAffine.mat", "1InverseWarp.nii.gz", "1Warp.nii.gz"]
    for image, name, files in (("m", "w", ["0GenericAffine.mat", "1Warp.nii.gz"]), ("f", "i", ["1InverseWarp.nii.gz", "0GenericAffine.mat"])):
        steps = [gr.read_transform(f"ours_{file}") for file in files]
        steps = steps[::-1] if name == "w" else [steps[1].inverse(), steps[0]]
        again = gr.resample(gr.read_image(f"{image}.nii.gz"), gr.Composite(steps), gr.read_image("m.nii.gz" if name == "i" else "f.nii.gz"))
        # Files hold fields that are composed at voxels.
        assert np.abs(again.array - gr.read_image(f"{name}.nii.gz").array).mean() < 0.02
    # Other composites are a state, too; their fields have no inverse.
    run_ours(f"-d 3 -o other_ -k first_Composite.h5 {SYN} -a 1")
    assert (here / "other_Composite.h5").exists() and not (here / "other_InverseComposite.h5").exists()


def test_goes_on_from_a_transform_as_ants(here):
    names = run_both(f"-d 3 -o P_ -k a.mat {SYN}")
    assert names == ["0GenericAffine.mat", "1InverseWarp.nii.gz", "1Warp.nii.gz"]
    check_fields(names)
    run_ours(f"-d 3 -o begun_ -r a.mat {SYN}")
    for name in names:
        assert (here / f"ours_{name}").read_bytes() == (here / f"begun_{name}").read_bytes(), name


def test_halves_are_of_the_last_stage_alone(here, monkeypatch):
    kept = []
    take = SyNOptions.take_halves
    monkeypatch.setattr(SyNOptions, "take_halves", lambda options, field: kept.append(take(options, field)) or kept[-1])
    run_ours(f"-d 3 -o P_ -a 1 -z 0 -j P_state.h5 {LINES['two']}")
    assert [one is not None for one in kept] == [False, True]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("-j state.h5", "-j/--save-state state.h5: expected -a 1 with it"),
        ("-j state.mat -a 1", "-j/--save-state state.mat: expected FILE.h5"),
        ("-k []", "-k/--restore-state []: expected FILE"),
        ("-k [a.mat,1]", "does not do --restore-state of several files or of an inverse"),
        ("-k state.h5 -k a.mat", "does not do --restore-state of several files or of an inverse"),
        ("-k state.h5 -r a.mat", "-k/--restore-state state.h5: expected no -r and no -q with it"),
        ("-k state.h5 -q a.mat", "-k/--restore-state state.h5: expected no -r and no -q with it"),
        ("-k state.h5", "There is no file state.h5"),
        ("-a 1 -j P_Composite.h5", "P_Composite.h5 is to be of two outputs at once"),
    ],
)
def test_says_which_state_is_wrong(here, capfd, monkeypatch, words, part):
    monkeypatch.setenv("PATH", "/usr/bin")
    assert main("antsRegistration", f"-d 3 -o P_ {words} {SYN}".split()) == 1
    err = capfd.readouterr().err
    assert err.count("\n") == 1 and part in err, err
    assert not list(here.glob("P_*")) and not (here / "state.h5").exists()
