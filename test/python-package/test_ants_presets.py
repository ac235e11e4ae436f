# SPDX-License-Identifier: Apache-2.0
"""ANTsPy's types of transforms: each asks for the stages that ANTsPy's own command line asks for."""

import sys
from dataclasses import replace

import gpuregistration as gr
import numpy as np
import pytest
from gpuregistration import ants
from gpuregistration.ants import functions
from gpuregistration.ants.presets import NAMES, takes_further_metrics
from gpuregistration.ants.registration_call import read_registration

KINDS = ("t", "r", "a", "s", "sr", "so", "s,4", "s,4,26", "sr, 3", "so,4")
SCRIPTS = [name.replace("[x]", end) for name in NAMES if name.endswith("[x]") for end in ("", *(f"[{kind}]" for kind in KINDS))]
TYPES = [*(name for name in NAMES if not name.endswith("[x]")), *SCRIPTS]
SETTINGS = [
    {},
    {"aff_metric": "GC", "aff_sampling": 20, "aff_random_sampling_rate": 0.5},
    {"aff_metric": "meansquares", "syn_metric": "CC", "syn_sampling": 3},
    {"syn_metric": "meansquares", "reg_iterations": (100, 70, 50, 20)},
    {"reg_iterations": (7,), "grad_step": 0.15, "flow_sigma": 2.5, "total_sigma": 0.5},
    {"aff_iterations": (100, 50, 20, 10), "aff_shrink_factors": (5, 3, 2, 1), "aff_smoothing_sigmas": (4, 2, 1, 0)},
    {"aff_iterations": (100, 50, 20, 10), "aff_shrink_factors": (5, 3, 2, 1), "aff_smoothing_sigmas": (4, 2, 1, 0), "smoothing_in_mm": True},
    {"use_legacy_histogram_matching": True, "write_composite_transform": True, "singleprecision": False},
    {"mask": True, "moving_mask": True},
    {"mask": True, "mask_all_stages": True},
    {"multivariate_extras": True},
    {"initial_transform": ["a.mat", "b.mat"]},
]


class _Stop(Exception):
    """Ends a call that has been read."""


def with_plain_names(call):
    """Returns what a call asks for, with numbers in place of the names of images, in the order in which they are first there."""
    numbers = {}

    def number(name):
        return name if name is None else str(numbers.setdefault(name, len(numbers)))

    stages = []
    for stage in call.stages:
        metrics = [replace(metric, name=metric.name.lower(), fixed=number(metric.fixed), moving=number(metric.moving)) for metric in stage.metrics]
        stages.append(replace(stage, metrics=metrics, masks=tuple(number(mask) for mask in stage.masks)))
    initial = [replace(one, fixed=number(one.fixed), moving=number(one.moving)) if one.fixed else one for one in call.initial]
    others = call.quantiles, call.matches_histograms, call.collapses, call.writes_composite, call.is_single, call.merges, call.others
    return [*stages, *initial, *others]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: "-".join(settings) or "defaults")
def test_types_have_antspys_stages(monkeypatch, settings):
    antspy = pytest.importorskip("ants", reason="ANTsPy is not there: pip install antspyx")
    values = np.random.default_rng(1).random((9, 8)).astype(np.float32)
    images = [antspy.from_numpy(values + number) for number in range(6)]
    masks = {name: antspy.from_numpy((values > 0.5).astype(np.float32)) for name in ("mask", "moving_mask")}
    given = {name: masks.get(name, value) for name, value in settings.items()}
    if "multivariate_extras" in given:
        given["multivariate_extras"] = [("CC", images[2], images[3], 0.5, 2), ("MeanSquares", images[4], images[5], 0.7, 0)]
    lines = []
    monkeypatch.setattr(sys.modules["ants.registration.registration"], "get_lib_fn", lambda name: lambda words: lines.append((name, words)) or 0)

    calls = []

    def stop(call):
        calls.append(call)
        raise _Stop

    monkeypatch.setattr(functions, "read_beginnings", stop)
    compared = 0
    for name in TYPES:
        if "multivariate_extras" in given and not takes_further_metrics(name):
            continue
        antspy.registration(images[0], images[1], name, outprefix="p_", **given)
        with pytest.raises(_Stop):
            ants.registration(images[0], images[1], name, outprefix="p_", **given)
        program, theirs = lines.pop()
        assert program == "antsRegistration"
        assert with_plain_names(calls.pop()) == with_plain_names(read_registration(theirs)), name
        compared += 1
    assert compared > 15 and not lines and not calls


@pytest.mark.parametrize("name", ["antsRegistrationSyN[q]", "antsRegistrationSyN[a,4]", "antsRegistrationSyN[s,x]", "antsRegistrationSyN[s,4,26,1]"])
def test_other_types_are_errors(name):
    image = gr.Image(np.random.default_rng(1).random((9, 8)))
    with pytest.raises(gr.BadInputError, match="There is no type_of_transform"):
        ants.registration(image, image, name)
