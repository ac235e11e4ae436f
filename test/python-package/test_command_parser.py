# SPDX-License-Identifier: Apache-2.0
"""Tests how the command reads its words: options that are given twice, that there are not, or that take the words of others."""

import argparse

import gpuregistration as gr
import numpy as np
import pytest
from command_line import assert_fails, gpureg, gpureg_json
from gpuregistration.command.main import make_parser
from gpuregistration.command.parser import Once


def test_transforms_of_apply_add_up(head_files, heads, moved, tmp_path, capfd):
    other = gr.Affine(np.eye(3) * 1.05, [1.0, 2.0, 3.0])
    gr.write_transform(tmp_path / "a.tfm", moved)
    gr.write_transform(tmp_path / "b.mat", other)
    words = ("apply", head_files.moving, "--reference", head_files.fixed, "--device", "host")
    gpureg_json(capfd, *words, "-o", tmp_path / "o.mha", "-t", tmp_path / "a.tfm", "-t", tmp_path / "b.mat")
    wanted = gr.resample(heads[1], gr.Composite([moved, other]), heads[0], device="host")
    assert (gr.read_image(tmp_path / "o.mha").array == wanted.array).all()


def test_transforms_of_compare_add_up(head_files, moved, tmp_path, capfd):
    gr.write_transform(tmp_path / "far.tfm", gr.Affine(translation=[0, 0, 30.0]))
    gr.write_transform(tmp_path / "back.tfm", gr.Composite([gr.Affine(translation=[0, 0, -30.0]), moved]))
    words = ("compare", head_files.fixed, head_files.moving, "--device", "host")
    both = gpureg_json(capfd, *words, "--transform", tmp_path / "far.tfm", "--transform", tmp_path / "back.tfm")
    gr.write_transform(tmp_path / "t.tfm", moved)
    one = gpureg_json(capfd, *words, "--transform", tmp_path / "t.tfm")
    for name, value in one["metrics"].items():
        assert both["metrics"][name] == pytest.approx(value, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("register", "F", "M", "-o", "o.nii", "--transform", "affine", "--transform", "ffd"), "give --transform once: affine,ffd;"),
        (("register", "F", "M", "-o", "o.nii", "--metric", "correlation", "--metric=mean_squares"), "give --metric once: correlation,mean_squares;"),
        (("register", "F", "M", "-o", "o.nii", "--device", "cuda:0", "--device", "cuda:1"), "give --device once: cuda:0,cuda:1;"),
        (("register", "F", "M", "-o", "o.nii", "--output", "p.nii"), "give --output once: it has o.nii and p.nii;"),
        (("cohort", "T.csv", "-o", "D", "--devices", "host", "--devices", "cuda:0"), "give --devices once: host,cuda:0;"),
        (("template", "T.csv", "-o", "D", "--first", "rigid", "--first", "affine"), "give --first once: rigid,affine;"),
        (("compare", "A", "B", "--labels", "a", "--labels", "b"), "give --labels once, with all files behind it: --labels a b;"),
        (("compare", "A", "B", "--mask", "m", "--mask", "m"), "give --mask once;"),
        (("register", "F", "M", "-o", "o.nii", "--report", "--report", "r.html"), "give --report once;"),
        (("register", "F", "M", "-o", "o.nii", "--seed", "1", "--seed", "2"), "give --seed once: it has 1 and 2;"),
    ],
)
def test_what_is_given_twice_is_an_error(capfd, words, part):
    assert_fails(capfd, 2, part, f"see gpureg {words[0]} --help", None, *words)


def test_no_option_keeps_the_last_value_alone():
    (commands,) = (action for action in make_parser()._actions if isinstance(action, argparse._SubParsersAction))
    # A flag that is given twice is what it is.
    kinds = (Once, argparse._StoreTrueAction, argparse._AppendAction, argparse._ExtendAction, argparse._HelpAction)
    for name, parser in commands.choices.items():
        for action in parser._actions:
            assert isinstance(action, kinds), (name, action)


@pytest.mark.parametrize(
    ("words", "unknown"),
    [
        (("register", "F", "M", "--trasnform", "affine"), "--trasnform"),
        (("apply", "-i", "M", "-o", "x.nii", "-t", "t.h5", "-r", "F"), "-i -r"),
        (("apply", "M", "N", "-o", "x.nii"), "N"),
        (("devices", "-q"), "-q"),
    ],
)
def test_what_there_is_not_leads_to_the_subcommands_help(capfd, words, unknown):
    code, out, err = gpureg(capfd, *words)
    assert (code, out, err) == (2, "", f"gpureg: unrecognized arguments: {unknown}; see gpureg {words[0]} --help\n")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("apply", "-o", "x.nii", "-t", "d.h5", "IMAGE"), "required: IMAGE; name IMAGE before -t;"),
        (("compare", "--labels", "A", "B"), "required: A, B; name A and B before --labels;"),
        (("register", "--report", "F", "M", "-o", "w.nii"), "required: MOVING; name FIXED and MOVING before --report;"),
        (("register", "--also", "F2", "M2", "F", "M"), "required: FIXED, MOVING; name FIXED and MOVING before --also;"),
        (("apply", "-o", "x.nii"), "required: IMAGE; see"),
        (("apply", "-t", "d.h5", "--seed"), "name IMAGE before -t; see"),
    ],
)
def test_words_that_an_option_has_taken(capfd, words, hint):
    assert_fails(capfd, 2, hint, None, *words)


def test_a_wrong_value_has_no_hint_on_words(capfd):
    code, _, err = gpureg(capfd, "apply", "-t", "a.h5", "--interpolation", "cubic")
    assert code == 2 and "invalid choice: 'cubic'" in err and "before -t" not in err
