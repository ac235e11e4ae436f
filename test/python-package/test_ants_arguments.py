# SPDX-License-Identifier: Apache-2.0
"""The arguments of ANTs' programs: how they are read, and what is said of wrong ones."""

import re
from pathlib import Path

import gpuregistration as gr
import pytest
from ants_lines import LINES
from gpuregistration.ants import apply_flags, registration_flags
from gpuregistration.ants.apply_call import read_apply
from gpuregistration.ants.registration_call import Initial, read_registration
from gpuregistration.ants.registration_stages import Metric
from gpuregistration.ants.syntax import Flag, read_values

FLAGS = (Flag("d", "dimensionality", "", "2 or 3"), Flag("t", "transform", "", "a name"), Flag("", "float", "", "0 or 1", "1"))
PAGE = Path(__file__).parents[2] / "docs" / "ants.md"

# A line that is right, of which tests change a part.
LEVELS = "-c [10x5,1e-6,10] -f 2x1 -s 1x0vox"
LINE = f"-d 3 -o P -t SyN[0.1] -m CC[f,m,1,4] {LEVELS}"
APPLY = "-d 3 -i i.nii.gz -r r.nii.gz -o o.nii.gz -t w.nii.gz -t [a.mat,1]"


def texts(words):
    return {name: [str(value) for value in values] for name, values in read_values(words, FLAGS).items()}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["-t", "SyN[0.1,3,0]"], ["SyN[0.1,3,0]"]),
        (["-t", "SyN[", "0.1,", "3,0", "]"], ["SyN[0.1,3,0]"]),
        (["-t", "SyN[ 0.1 , 3,0 ]"], ["SyN[0.1,3,0]"]),
        (["-t", "SyN(0.1,3,0)"], ["SyN[0.1,3,0]"]),
        (["-t", "a(1).mat"], ["a(1).mat"]),
        (["-t", "['a b.mat',\"1\"]"], ["[a b.mat,1]"]),
        (["-t", "a", "b", "--transform", "c"], ["a", "b", "c"]),
        (["-t", "-3"], ["-3"]),
        (["", "-t", "a", "", "b", " "], ["a", "b"]),
    ],
)
def test_reads_values(words, expected):
    assert texts(words)["transform"] == expected


@pytest.mark.parametrize("words", [["--float"], ["--float", "-t", "a"], ["--float", "1"]])
def test_a_flag_of_0_or_1_may_stand_alone(words):
    assert texts(words)["float"] == ["1"]


@pytest.mark.parametrize("words", [["-t"], ["-t", "--float", "0"], ["-t", ""], ["-t", "", "a"], ["-t", " "], ["--transform", "", "--float"]])
def test_other_flags_need_a_value(words):
    with pytest.raises(gr.BadInputError, match=r"^-t/--transform has (no|an empty) value: expected a name$"):
        read_values(words, FLAGS)


def test_flags_of_0_or_1_and_ignored_counts_alone_need_no_value():
    for flags in (registration_flags.FLAGS, apply_flags.FLAGS):
        alone = {flag.long for flag in flags if flag.bare}
        assert alone == {flag.long for flag in flags if flag.expected == "0 or 1" or (flag.meaning == "ignored" and "number" in flag.expected)}
        assert all(flag.bare in ("", "1") for flag in flags)


def test_reads_the_lines_of_scripts_and_programs():
    calls = {name: read_registration(line.split()) for name, line in LINES.items()}
    assert not any(call.others for call in calls.values())
    assert [[stage.transform for stage in call.stages] for call in calls.values()] == [
        ["Rigid", "Affine", "SyN"],
        ["Rigid", "Affine", "SyN"],
        ["Affine", "SyN"],
        ["Rigid", "Affine", "SyN"],
        ["Rigid", "Affine", "SyN"],
        ["Rigid", "Affine"],
    ]
    syn = calls["SYN"]
    assert (syn.prefix, syn.warped, syn.inverse_warped) == ("out", "outWarped.nii.gz", "outInverseWarped.nii.gz")
    assert syn.initial == [Initial("", False, "FIXED", "MOVING", 1)] and syn.quantiles == (0.005, 0.995) and syn.is_verbose
    last = syn.stages[2]
    assert last.metric == Metric("CC", "neighborhood_correlation", "FIXED", "MOVING", 2)
    assert (last.step, last.update_variance, last.total_variance, last.threshold, last.window) == (0.2, 3, 0, 1e-6, 10)
    assert (last.iterations, last.shrink_factors, last.sigmas, last.sigmas_in_mm) == ([100, 70, 50, 20], [8, 4, 2, 1], [3, 2, 1, 0], False)
    assert calls["QUICK"].stages[2].metric == Metric("MI", "mattes_mutual_information", "FIXED", "MOVING", 32)
    assert calls["ANTSPY"].stages[1].iterations == [40, 20, 0] and calls["ANTSPY"].is_single and not calls["ANTSPY"].writes_composite
    precise = calls["PRECISE"]
    assert [stage.masks for stage in precise.stages] == [(None, None), (None, None), ("MASK", "MASK")]
    assert precise.writes_composite and precise.matches_histograms and precise.interpolation.name == "lanczoswindowedsinc"
    assert calls["FAST"].initial == [Initial("INITIAL", False)] and calls["FAST"].is_verbose
    # ANTs takes the last one where a flag is given several times.
    assert calls["TESTING"].matches_histograms and calls["TESTING"].stages[0].sigmas == [4]


def test_one_mask_serves_all_stages_and_sigmas_have_units():
    line = "-d 2 -o P -x m.nii.gz -t Rigid[0.1] -m GC[f,m] -c 10x5 -f 2x1 -s 3x1mm -t SyN[0.1] -m MeanSquares[f,m,1] -c 10x5 -f 2x1 -s 2 -g 0x1x1"
    call = read_registration(line.split())
    assert [stage.masks for stage in call.stages] == [("m.nii.gz", None)] * 2
    assert [(stage.sigmas, stage.sigmas_in_mm) for stage in call.stages] == [([3, 1], True), ([2, 2], False)]
    # One list is the first stage's, as ANTs has it.
    assert [(stage.degrees, stage.weights) for stage in call.stages] == [("Translation", None), ("SyN", None)] and not call.others
    restricted = read_registration([*line.split()[:-2], "-g", "1x1x1", "-g", "1x0"])
    assert [(stage.degrees, stage.weights) for stage in restricted.stages] == [("Rigid", None), ("SyN", [1, 0])] and not restricted.others


@pytest.mark.parametrize(
    ("name", "factors", "degrees"),
    [
        ("Rigid", "0x0x0x1x1x1", "Translation"),
        ("Similarity", "1x1x1x1x1x1x0", "Rigid"),
        ("Similarity", "0x0x0x1x1x1x0", "Translation"),
        ("Affine", "0x0x0x0x0x0x0x0x0x1x1x1", "Translation"),
        ("Similarity", "0x1x1x1", "Rigid"),
        ("Similarity", "0x0x1x1", "Translation"),
        ("Affine", "0x0x0x0x1x1", "Translation"),
        ("Rigid", "1x1x1x1x1x1", "Rigid"),
        ("Rigid", "0x1x1x1x1x1", ""),
        ("Affine", "1x1x0", ""),
        ("Translation", "1x1x0", ""),
        ("Rigid", "0x0x0x1x1x0.5", ""),
    ],
)
def test_a_restriction_may_leave_a_transform_of_fewer_degrees(name, factors, degrees):
    call = read_registration(f"-o P -t {name}[0.1] -m GC[f,m] -c 10 -f 1 -s 0 -g {factors}".split())
    assert call.others == ([] if degrees else [f"--restrict-deformation {factors} of {name}"])
    assert not degrees or (call.stages[0].transform, call.stages[0].degrees) == (name, degrees)


def test_reads_several_metrics_of_a_stage():
    several = "CC[f,m,0.5,4] -m MI[f2,m2,0,32] -m MeanSquares[f3,m3]"
    read = read_registration(LINE.replace("CC[f,m,1,4]", several).split())
    assert not read.others and read.stages[0].metrics == [
        Metric("CC", "neighborhood_correlation", "f", "m", 4, 0.5),
        Metric("MeanSquares", "mean_squares", "f3", "m3", 0, 1.0),
    ]
    for transform, names in (("SyN[0.1]", ["GC", "CC"]), ("Rigid[0.1]", ["CC"]), ("BSpline[0.1,4x4x4]", ["CC"])):
        stage = read_registration(LINE.replace("SyN[0.1] -m CC", f"{transform} -m GC[f0,m0,0] -m MI[f1,m1,0] -m CC").split()).stages[0]
        assert stage.metric.fixed == "f0" and [metric.name for metric in stage.compared] == names
    linear = read_registration(LINE.replace("SyN[0.1] -m CC[f,m,1,4]", "Rigid[0.1] -m GC[f,m,1] -m MI[f,m,3,32]").split())
    assert not linear.others and [(metric.name, metric.weight) for metric in linear.stages[0].metrics] == [("GC", 1.0), ("MI", 3.0)]
    spline = read_registration(LINE.replace("SyN[0.1] -m CC[f,m,1,4]", "BSpline[0.1,4] -m MI[f,m,1,24] -m CC[f2,m2,0.5,3]").split())
    assert not spline.others and [(metric.name, metric.size) for metric in spline.stages[0].metrics] == [("MI", 24), ("CC", 3)]
    # They are of one stage where they follow each other, in front of the transform, too.
    before = "-d 3 -o P -m GC[f,m] -t Rigid[0.1] -c 10 -f 1 -s 0 -m CC[f,m,1,4] -m MI[f2,m2] -t SyN[0.1] -c 10 -f 1 -s 0"
    assert [[metric.name for metric in stage.metrics] for stage in read_registration(before.split()).stages] == [["GC"], ["CC", "MI"]]


@pytest.mark.parametrize("name", ["MeanSquares", "Demons", "GC"])
@pytest.mark.parametrize("size", ["NA", "", "-3", "4"])
def test_a_metric_without_a_size_takes_anything_in_its_place(name, size):
    """ANTs' help has NA there."""
    call = read_registration(LINE.replace("CC[f,m,1,4]", f"{name}[f,m,1,{size},Regular,0.5,0]").split())
    assert not call.others and call.stages[0].metric.size == 0


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("SyN[0.1]", "BSplineSyN[0.1,26,0,3]", "BSplineSyN"),
        ("SyN[0.1]", "TimeVaryingVelocityField[1,4,0,0,0.5,0]", "TimeVaryingVelocityField"),
        ("CC[f,m,1,4]", "PSE[f,m,1]", "PSE"),
        ("CC[f,m,1,4]", "CC[f,m,1,4,None,1,1]", "useGradientFilter 1 of -m/--metric CC[f,m,1,4,None,1,1]"),
        ("SyN[0.1] -m CC[f,m,1,4]", "Rigid[0.1] -m MI[f,m,1,32] -m GC[f,m,1,NA,None,1,true]", "useGradientFilter 1 of -m/--metric GC[f"),
        ("SyN[0.1] -m CC[f,m,1,4]", "BSpline[0.1,4] -m IGDM[f,m]", "metric IGDM"),
        ("SyN[0.1]", "BSpline[0.1,4] -g 1x1x0", "restrict-deformation 1x1x0 of BSpline"),
        (f"SyN[0.1] -m CC[f,m,1,4] {LEVELS}", "BSpline[0.1,1] -m GC[f,m] -c 5x5x5x5x5x5 -f 6x5x4x3x2x1 -s 0", "levels of BSpline"),
        (f"SyN[0.1] -m CC[f,m,1,4] {LEVELS}", "BSpline[0.1,4] -m MeanSquares[f,m,1] -c 100x0x50 -f 4x2x1 -s 2x1x0", "a level of 0 iterations between"),
        ("-o P", "-o P -a 1 -z 0 -i 1 -t SyN[0.1] -m CC[f,m] -c 5x5 -f 2x1 -s 1x0", "initialize-transforms-per-stage of SyN behind SyN"),
        ("-d 3", "-d 4", "four dimensions"),
    ],
)
def test_knows_what_the_real_program_has_to_do(before, after, reason):
    call = read_registration(LINE.replace(before, after).split())
    assert any(reason in other for other in call.others), call.others


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ("-d 3", "-d 5", ["-d/--dimensionality 5", "2 or 3"]),
        ("-o P", "", ["-o/--output is missing"]),
        ("-o P", "-o [P,a,b,c]", ["-o/--output [P,a,b,c]", "PREFIX"]),
        ("-o P", "-o [P,w.nii.gz,w.nii.gz]", ["-o/--output [P,w.nii.gz,w.nii.gz]", "another name for INVERSEWARPED"]),
        ("-o P", "-o P --frobnicate 1", ["--frobnicate", "no such flag"]),
        ("-o P", "-o [P", ["[P", "closing bracket"]),
        ("-o P", "-o P -r [f,m,3]", ["-r/--initial-moving-transform [f,m,3]", "0|1|2"]),
        ("-o P", "-o P -q [f,m]x", ["-q/--initial-fixed-transform [f,m]x", "brackets"]),
        ("-o P", "-o P -q [f,m,3]", ["-q/--initial-fixed-transform [f,m,3]", "0|1|2"]),
        ("-o P", "-o P -w [0.9,0.1]", ["-w/--winsorize-image-intensities", "0 to 1"]),
        ("-o P", "-o P -w 0.005", ["-w/--winsorize-image-intensities 0.005", "two numbers"]),
        ("-o P", "-o P -u maybe", ["-u/--use-histogram-matching maybe", "0 or 1"]),
        ("-o P", "-o P -n Cubic", ["-n/--interpolation Cubic", "Linear"]),
        ("-o P", "-o P -n BSpline[7]", ["-n/--interpolation BSpline[7]", "0 to 5"]),
        ("-o P", "-o P --random-seed -1", ["--random-seed -1", "whole number"]),
        ("-o P", "-o P -x a -x b", ["-x/--masks", "2 times for 1"]),
        ("-o P", "-o P -x [a,b,c]", ["-x/--masks [a,b,c]"]),
        ("-o P", "-o P -i 1", ["-i/--initialize-transforms-per-stage 1", "-a 1 and -z 0"]),
        ("-o P", "-o P -i 1 -a 1", ["-i/--initialize-transforms-per-stage 1", "-a 1 and -z 0"]),
        ("-o P", "-o P -g 1x0", ["-g/--restrict-deformation 1x0", "axis"]),
        ("SyN[0.1]", "SyM[0.1]", ["-t/--transform SyM[0.1]", "SyN[step"]),
        ("SyN[0.1]", "SyN[0.1,3,0,1]", ["-t/--transform SyN[0.1,3,0,1]"]),
        ("SyN[0.1]", "SyN[0]", ["-t/--transform SyN[0]", "above 0"]),
        ("SyN[0.1]", "SyN[fast]", ["-t/--transform SyN[fast]"]),
        ("SyN[0.1]", "BSpline[0.1]", ["-t/--transform BSpline[0.1]"]),
        ("SyN[0.1]", "BSpline[0.1,4x0x4]", ["-t/--transform BSpline[0.1,4x0x4]"]),
        ("-m CC[f,m,1,4]", "", ["-m/--metric is missing"]),
        ("CC[f,m,1,4]", "NCC[f,m,1,4]", ["-m/--metric NCC[f,m,1,4]", "Mattes"]),
        ("SyN[0.1] -m CC[f,m,1,4]", "Affine[0.1] -m Demons[f,m,1,0]", ["-m/--metric Demons[f,m,1,0]", "another metric in a stage Affine"]),
        ("SyN[0.1] -m CC[f,m,1,4]", "BSpline[0.1,4] -m Demons[f,m]", ["-m/--metric Demons[f,m]", "another metric in a stage BSpline"]),
        ("CC[f,m,1,4]", "CC[f]", ["-m/--metric CC[f]"]),
        ("CC[f,m,1,4]", "CC[f,m,0,4] -m MI[f,m,0,32]", ["-m/--metric CC[f,m,0,4]", "a weight above 0"]),
        ("CC[f,m,1,4]", "CC[f,m,1,0]", ["-m/--metric CC[f,m,1,0]", "radius of 1"]),
        ("CC[f,m,1,4]", "MI[f,m,1,2]", ["-m/--metric MI[f,m,1,2]", "5 bins"]),
        ("CC[f,m,1,4]", "CC[f,m,1,NA]", ["-m/--metric CC[f,m,1,NA]", "a radius of 1 or more, behind the weight"]),
        ("CC[f,m,1,4]", "Mattes[f,m,1,8.5]", ["-m/--metric Mattes[f,m,1,8.5]", "5 bins or more, behind the weight"]),
        ("CC[f,m,1,4]", "MI[f,m,1,32,None,1,banana]", ["-m/--metric", "0 or 1 as useGradientFilter"]),
        ("CC[f,m,1,4]", "GC[f,m,NA]", ["-m/--metric GC[f,m,NA]", "0 or more as the weight"]),
        ("CC[f,m,1,4]", "MI[f,m,1,32,Regular,2]", ["-m/--metric", "0 to 1 as the share of samples"]),
        ("CC[f,m,1,4]", "MI[f,m,1,32,Dense]", ["-m/--metric", "Regular or Random"]),
        ("-c [10x5,1e-6,10]", "", ["-c/--convergence is missing"]),
        ("[10x5,1e-6,10]", "[10x5,1e-6,1]", ["-c/--convergence", "window of 2"]),
        ("[10x5,1e-6,10]", "10xfive", ["-c/--convergence 10xfive"]),
        ("[10x5,1e-6,10]", "10x5 -c 10x5", ["-c/--convergence", "2 times for 1"]),
        ("-f 2x1", "-f 2", ["-f/--shrink-factors 2", "2 numbers"]),
        ("-f 2x1", "-f 2x0", ["-f/--shrink-factors 2x0", "1 or more"]),
        ("-s 1x0vox", "-s 1x0x0", ["-s/--smoothing-sigmas 1x0x0", "2 numbers"]),
        ("-s 1x0vox", "-s -1x0", ["-s"]),
    ],
)
def test_says_which_argument_is_wrong(before, after, parts):
    with pytest.raises(gr.BadInputError) as raised:
        read_registration(LINE.replace(before, after).split())
    assert "\n" not in str(raised.value) and all(part in str(raised.value) for part in parts), raised.value


def test_reads_what_is_applied():
    call = read_apply(APPLY.split() + ["-n", "BSpline[2]", "-f", "-3", "-u", "short", "-e", "3"])
    assert call.transforms == [("w.nii.gz", False), ("a.mat", True)] and call.kind == "image" and call.input_type == 3
    assert (call.making.interpolation.name, call.making.interpolation.order, *call.making[1:]) == ("bspline", 2, -3.0, "int16")
    assert read_apply([*APPLY.split(), "-e", "5"]).others and not read_apply([*APPLY.split(), "-e", "tensor"]).others
    for output, kind in (("[f.nii.gz,1]", "field"), ("DisplacementField[f.nii.gz]", "field"), ("Linear[a.mat,1]", "linear"), ("[o.nii.gz,0]", "image")):
        assert read_apply(APPLY.replace("o.nii.gz", output).split()).kind == kind


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ("-i i.nii.gz", "", ["-i/--input is missing"]),
        ("-r r.nii.gz", "", ["-r/--reference-image is missing"]),
        ("-o o.nii.gz", "", ["-o/--output is missing"]),
        ("-o o.nii.gz", "-o o.xyz", ["-o/--output o.xyz", ".nii.gz"]),
        ("-o o.nii.gz", "-o Field[o.nii.gz]", ["-o/--output Field[o.nii.gz]"]),
        ("-d 3", "-d 5", ["-d/--dimensionality 5"]),
        ("-d 3", "-d 3 -e 9", ["-e/--input-image-type 9"]),
        ("-d 3", "-d 3 -u long", ["-u/--output-data-type long", "float"]),
        ("-o o.nii.gz", "-u char -o o.mgz", ["-u/--output-data-type char: o.mgz", "expected uchar, short, int or float"]),
        ("-d 3 -i i.nii.gz -r r.nii.gz -o o.nii.gz", "-d 2 -i i.nii.gz -r r.nii.gz -o o.mgz", ["-o/--output: o.mgz", "volumes alone", ".nii.gz"]),
        ("-d 3", "-d 3 -n Nearest", ["-n/--interpolation Nearest", "NearestNeighbor"]),
        ("-d 3", "-d 3 -f x", ["-f/--default-value x"]),
        ("[a.mat,1]", "[a.mat,1,2]", ["-t/--transform [a.mat,1,2]"]),
        ("[a.mat,1]", "[a.mat,2]", ["-t/--transform [a.mat,2]"]),
    ],
)
def test_says_which_argument_of_applying_is_wrong(before, after, parts):
    with pytest.raises(gr.BadInputError) as raised:
        read_apply(APPLY.replace(before, after).split())
    assert all(part in str(raised.value) for part in parts), raised.value


@pytest.mark.parametrize("flags", [registration_flags.FLAGS, apply_flags.FLAGS])
def test_the_page_has_every_flag(flags):
    rows = "\n".join(line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|"))
    for flag in flags:
        assert re.search(rf"`--{flag.long}`", rows) and (not flag.short or f"`-{flag.short}`" in rows), flag.long
