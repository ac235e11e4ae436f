# SPDX-License-Identifier: Apache-2.0
"""Tests the progress that a registration reports while it works."""

import io

import gpuregistration as gr
import numpy as np
import pytest
from gpuregistration import stages
from gpuregistration.command.progress import ProgressLine, work_done

OPTIMIZERS = ("adam", "conjugate_gradient", "adaptive_stochastic_gradient_descent")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_costs_are_those_of_the_result(device, heads, optimizer):
    reported = []
    stage = stages.FreeForm(levels=2, iterations=5, spacing=12.0, optimizer=optimizer)
    result = gr.register(*heads, stage, device=device, progress=lambda p: reported.append((p.level, p.iteration, p.find_cost())))
    for name, costs in zip(("0", "1"), (level.costs for level in result.stages[0].levels)):
        of_level = [(iteration, cost) for level, iteration, cost in reported if level == name]
        assert of_level[0] == (0, None) and len(of_level) > 1
        for iteration, cost in of_level[1:]:
            if optimizer == "conjugate_gradient":
                # The cost of the last trial, which may be larger.
                assert np.isfinite(cost)
            else:
                assert cost == costs[iteration - 1]


def test_asking_changes_nothing(device, heads):
    stage = stages.FreeForm(levels=2, iterations=5, spacing=12.0)
    asked = gr.register(*heads, stage, device=device, progress=lambda p: p.find_cost())
    other = gr.register(*heads, stage, device=device)
    assert (asked.transform.array == other.transform.array).all()


def test_costs_are_reported_in_time_alone(heads):
    kept = []
    gr.register(*heads, stages.FreeForm(levels=1, iterations=2), device="host", progress=kept.append)
    with pytest.raises(gr.BadInputError, match="only while the progress function runs"):
        kept[-1].find_cost()


@pytest.mark.parametrize("kind", [stages.Rigid(), stages.Affine(), stages.Global(degrees_of_freedom=6)])
def test_linear_stages_report_share_and_cost(heads, kind):
    reported = []
    result = gr.register(*heads, kind, device="host", progress=lambda p: reported.append((p.level, p.stage_share, p.find_cost())))
    shares = [share for _, share, _ in reported]
    assert shares == sorted(shares) and shares[0] == 0 and 0.75 < shares[-1] < 1
    first, *levels = result.stages[0].levels
    assert first.name == reported[0][0] == "pyramid" and first.costs == [] and first.evaluations == 0
    costs = [level.costs[0] for level in levels]
    assert reported[0][2] is None and reported[-1][2] == costs[-2]


def test_work_follows_voxels():
    def at(level, iteration, dimension):
        share = (level + iteration / 10) / 3
        return work_done(gr.Progress(0, "ffd", str(level), iteration, share, share, 3, lambda: 0.0), dimension)

    assert at(0, 0, 3) == pytest.approx(0) and at(2, 10, 3) == pytest.approx(1)
    assert at(2, 0, 3) == pytest.approx((1 / 64 + 1 / 8) / (1 + 1 / 8 + 1 / 64))
    assert at(1, 5, 2) == pytest.approx((1 / 16 + 1 / 8) / (1 + 1 / 4 + 1 / 16))


def test_levels_that_nobody_asked_for_cause_a_warning(heads):
    reported = []
    result = gr.register(*heads, ["rigid", "ffd"], device="host", progress=lambda p: reported.append((p.name, p.levels)))
    assert {levels for name, levels in reported if name == "rigid"} == {None}
    assert {levels for name, levels in reported if name == "ffd"} == {len(result.stages[1].levels)} == {3}


def test_terminal_has_one_line(heads, monkeypatch):
    monkeypatch.setattr("gpuregistration.command.progress._INTERVAL", 0.0)
    stage, stream = stages.FreeForm(levels=2, iterations=4), Terminal()
    line = ProgressLine([stage], 3, stream)
    gr.register(*heads, stage, device="host", progress=line)
    line.end()
    states = stream.getvalue().split("\r\x1b[K")
    assert "\n" not in stream.getvalue() and len(states) == 2 + 8 and states[-1] == ""
    assert states[1].startswith("1/1 ffd, level 0, iteration 0, 0 %")
    assert "level 1, iteration 3, cost -" in states[8] and states[8].endswith(" %")
    assert all(len(state) < 80 for state in states)


def test_time_left_is_of_the_work_that_is_left(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("gpuregistration.command.progress.time.perf_counter", lambda: now[0])
    stream = Terminal()
    line = ProgressLine([stages.FreeForm(levels=1, iterations=10)], 3, stream)
    line(gr.Progress(0, "ffd", "0", 0, 0.0, 0.0, 1, lambda: float("nan")))
    now[0] += 30
    line(gr.Progress(0, "ffd", "0", 2, 0.2, 0.2, 1, lambda: -1.25))
    assert stream.getvalue().endswith("\r\x1b[K1/1 ffd, level 0, iteration 2, cost -1.25, 20 %, 2:00 left of ffd")
