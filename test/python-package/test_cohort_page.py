# SPDX-License-Identifier: Apache-2.0
"""A cohort's page, its charts, its pictures, and how busy its devices were."""

import csv
import dataclasses
import html
import re

import gpuregistration as gr
import numpy as np
import pytest
from browser import check_contrasts, needs_browser
from conftest import make_head, turn
from gpuregistration.cohort import charts, page, pictures
from gpuregistration.cohort.pipeline import Outcome, WorkerInfo
from gpuregistration.cohort.results import Cohort, PairResult, write_results
from gpuregistration.cohort.shares import Share, covered_by, compute_shares
from gpuregistration.cohort.table import Row
from gpuregistration.report.pictures import encode

COSTS = {"b10": -0.5, "b9": -0.75, "a": 12.0}


def worker_of(device, description):
    return WorkerInfo("0", "tcp://node:1", 1, "node", device, description)


def make_cohort(folder, costs=COSTS, failed=("<bad>",)):
    """Pairs of these costs, the first of which has folded, and some that have failed."""
    pairs = []
    for n, (id, cost) in enumerate(costs.items()):
        (folder / id).mkdir()
        for name in ("before.jpg", "after.jpg"):
            (folder / id / name).write_bytes(encode(np.full((40, 120), 60 * n, np.uint8), 80))
        stage = {"name": "ffd", "seconds": 0.5 + n, "smallest_determinant": n - 0.25, "overlap": None, "cost": cost}
        outputs = ["after.jpg", "before.jpg"] + (["report.html"] if id == "a" else [])
        record = {"cost": cost, "device": "cuda:0", "stages": [stage], "dice": {"1": [0.25, 0.5 + n / 8]}, "outputs": outputs}
        pairs.append(PairResult(Row(id, {"fixed": "/f", "moving": "/m"}), record))
    for id in failed:
        pairs.append(PairResult(Row(id, {}), None, "OSError", "no <space> & time", "Trace of it"))
    shares = compute_shares(
        [Outcome("a", {}, spans={"register": (n, n + 3.0)}, worker=worker_of(f"cuda:{n}", "A GPU")) for n in (0, 1)], 4.0
    )
    settings = {"stages": [{"name": "ffd", "levels": 2, "similarity": "mean_squares"}], "seed": 1}
    return Cohort(folder, pairs, settings, 5.0, 4.0, shares, "gpureg cohort t.csv -o out")


def text_of(cohort):
    page.write_page(cohort)
    return (cohort.output / "report.html").read_text("utf-8")


def test_page(tmp_path):
    text = text_of(make_cohort(tmp_path))
    assert "{{" not in text and re.findall(r"(?:src|href)=\"(?!data:|#)([^\"]*)\"", text) == ["results.csv", "results.json", "a/report.html"]
    assert text.index("Trace of it") < text.index("Cost of the last stage") < text.index('id="pairs"')
    assert "no &lt;space&gt; &amp; time" in text and "<bad>" not in text
    assert "3 of 4" in text and "gpureg cohort t.csv -o out" in text
    assert re.search(r'class="warn">1<small>pairs, at some place', text)
    rows = re.findall(r'<tr data-pair="(.*?)"', text)
    assert rows == ["&lt;bad&gt;", "b10", "b9", "a"]
    assert text.count("<img ") == 6 and "75 %" in text and "mean_squares" in text
    assert '<td class="number warn" data-value="-0.25">' in text


def test_warnings(tmp_path):
    cohort = make_cohort(tmp_path)
    assert "Warnings" not in text_of(cohort)
    cohort.pairs[1].record["stages"][0]["warnings"] = ["it may be <b>noise</b>", "it has folded"]
    text = text_of(cohort)
    assert text.index('id="failures-title"') < text.index('id="warnings-title"') < text.index('id="charts-title"')
    assert '<a href="#pair-b9">b9</a></th><td>it may be &lt;b&gt;noise&lt;/b&gt;</td>' in text and "<b>noise" not in text
    assert "<details open><summary>2 warnings</summary>" in text
    mark = '<span class="warn" title="it may be &lt;b&gt;noise&lt;/b&gt;\nit has folded">with warnings</span>'
    assert text.count("with warnings</span>") == 1 and f">done {mark}</td>" in text
    write_results(cohort)
    with open(tmp_path / "results.csv", newline="", encoding="utf-8") as file:
        found = {row["id"]: row["warnings"] for row in csv.DictReader(file)}
    assert found == {"b10": "", "b9": "it may be <b>noise</b> | it has folded", "a": "", "<bad>": ""}


EVIL = "</td><script>alert(\"1\")</script>'<b>&{{ data }}{% if %}"


def test_text_is_escaped(tmp_path):
    """Whatever a user, a file or an error may say."""
    (tmp_path / "<i>").mkdir()
    cohort = make_cohort(tmp_path / "<i>", failed=(EVIL,))
    cohort.pairs[-1] = PairResult(Row(EVIL, {}), None, EVIL, EVIL, EVIL)
    record = cohort.pairs[0].record
    record["device"], record["stages"][0]["warnings"] = EVIL, [EVIL]
    cohort.settings["stages"][0].update(name=EVIL, similarity=EVIL, **{EVIL: 1})
    shares = [Share(EVIL, EVIL, EVIL, 1, 1.0, 1.0)]
    text = text_of(dataclasses.replace(cohort, shares=shares, command=EVIL))
    # The id four times, the failure three times, the warning, the device and the command, and three times the share and the stage.
    assert text.count("&lt;/td&gt;&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;&#39;&lt;b&gt;&amp;{{ data }}{% if %}") == 18
    assert "<script>alert" not in text and "<b>&" not in text and "<i>" not in text.replace("<i></i>", "")
    assert f"{html.escape(str(tmp_path))}/&lt;i&gt;" in text


@pytest.mark.parametrize("value", [1.0, -0.3, 1e-300, 0.0, 5e5])
@pytest.mark.parametrize("steps", [0, 1, 5, 1000])
@pytest.mark.parametrize("pairs", [2, 200])
def test_a_chart_of_values_that_differ_by_rounding(value, steps, pairs):
    """Such as costs of one pair on several kinds of devices."""
    other = value + steps * float(np.spacing(value))
    counts, edges = charts.count([value] * (pairs - 1) + [other])
    assert counts.sum() == pairs and (np.diff(edges) > 0).all() and edges[0] <= min(value, other) <= max(value, other) <= edges[-1]
    assert f"{pairs} pairs" in charts.histogram("T", [value] * (pairs - 1) + [other])


def test_a_chart_escapes_its_words():
    assert "<title><b>" not in charts.histogram("<b>'\"", [1.0, 2.0], "<i>") and "&lt;b&gt;&#39;&#34;" in charts.histogram("<b>'\"", [1.0])
    assert "<i>" not in charts.histogram("T", [1.0], "<i>")


def test_page_of_nothing_but_failures(tmp_path):
    text = text_of(make_cohort(tmp_path, {}, ("x",)))
    assert "0 of 1" in text and "<img" not in text and "<svg" not in text


def test_pictures_that_would_be_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "MAX_PICTURES", 1500)
    text = text_of(make_cohort(tmp_path))
    assert 0 < text.count("<img ") < 6 and re.search(r"Of [12] more pairs? they are in the pairs’ folders", text)


@needs_browser
@pytest.mark.parametrize("width", [1280, 400])
def test_sorting_in_a_browser(browser, tmp_path, width):
    page.write_page(make_cohort(tmp_path))
    seen = browser.run(
        tmp_path / "report.html",
        """
        const order = (query) => all(query).map((one) => one.dataset.pair).join(" ");
        const by = (title) => all("#pairs thead button").find((one) => one.textContent === title).click();
        by("Cost"); seen.rising = order("#pairs tbody tr"); seen.pictures = order("#gallery figure");
        by("Cost"); seen.falling = order("#pairs tbody tr");
        seen.state = document.querySelector("#pairs [aria-sort]").getAttribute("aria-sort");
        by("Pair"); seen.names = order("#pairs tbody tr");
        seen.marked = all("#pairs [aria-sort]").length;
        seen.loaded = all("img").every((one) => one.naturalWidth === 120 || !one.complete);
        seen.wide = document.documentElement.scrollWidth;
        seen.contrasts = await leastContrasts();
        """,
        width,
    )
    assert seen["rising"] == "b9 b10 a <bad>" and seen["pictures"] == "b9 b10 a"
    assert seen["falling"] == "a b10 b9 <bad>" and seen["state"] == "descending"
    assert seen["names"] == "<bad> a b9 b10" and seen["marked"] == 1
    assert seen["loaded"] and seen["wide"] <= width
    check_contrasts(seen["contrasts"])


def test_counts():
    counts, edges = charts.count([0.0, 0.1, 0.9, 1.0])
    assert counts.tolist() == [2, 0, 0, 2] and edges[0] == 0 and edges[-1] == 1
    counts, edges = charts.count([5.0] * 7)
    assert counts.tolist() == [7] and edges[0] < 5 < edges[1]
    assert charts.histogram("T", [1.0, 2.0, 4.0]).count('<rect class="bar"') == 2 + 1
    assert ">3 pairs: median 2" in charts.histogram("T", [1.0, 2.0, 4.0]) and ">1 pair: median 2" in charts.histogram("T", [2.0])


def test_busy_time_counts_what_overlaps_once():
    assert covered_by([]) == 0
    assert covered_by([(5.0, 6.0), (0.0, 2.0), (1.0, 3.0), (1.5, 1.75)]) == 4.0
    info = worker_of("host", "a machine")
    first = Outcome("a", {}, spans={"register": (0.0, 2.0)}, worker=info)
    second = Outcome("b", error="x", spans={"register": (1.0, 3.0)}, worker=info)
    (share,) = compute_shares([first, second, Outcome("c", error="its worker was killed")], 4.0)
    assert (share.pairs, share.busy_seconds, share.busy) == (1, 3.0, 0.75)


@pytest.mark.parametrize("direction", [np.eye(3), turn(180.0), turn(90.0)])
def test_pictures_show_the_middle(direction):
    """A head on itself has equal values in the squares of both images; the patient's left is on the right of the picture."""
    head = make_head(shape=(30, 36, 33), spacing=(2.0, 2.5, 3.0), direction=direction)
    grid = pictures.small_grid(head)
    assert max(grid.size) == pictures.SIDE and np.ptp(grid.spacing) == 0
    corner = np.array([*(np.array(grid.size) - 1), 1.0])
    ends = [image.index_to_point @ ([*(np.array(image.size) - 1), 1.0]) / 2 + image.index_to_point @ [0, 0, 0, 1] / 2 for image in (head, grid)]
    assert np.abs(ends[0] - ends[1]).max() < 1e-9 and corner[0] > 0
    # It picks the nearest voxel: as resampling does.
    near = gr.resample(head, None, grid, "nearest", extrapolate=True, device="host").array
    assert (pictures.pick(head, grid) == near).mean() > 0.95
    index = np.stack(np.meshgrid(*[np.arange(n) for n in grid.array.shape], indexing="ij"), axis=-1)[..., ::-1]
    left = (index @ grid.index_to_point[:-1, :-1].T + grid.origin)[..., 0].astype(np.float32)
    before, after = pictures.draw(left, left, left, grid.direction)
    assert before.shape == after.shape and (before == after).all()
    axial = before[:, : grid.size[0] if abs(direction[0, 0]) > 0.5 else grid.size[1]]
    inside = axial[axial.shape[0] // 2].astype(int)
    assert inside[-5] > inside[4] + 100 and (np.diff(inside) >= 0).all()
