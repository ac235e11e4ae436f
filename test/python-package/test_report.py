# SPDX-License-Identifier: Apache-2.0
"""Tests the report: its numbers against NumPy's, the content of its file, and its display by a browser."""

from __future__ import annotations

import base64
import io
import json
import re
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, check_contrasts, needs_browser

Image = pytest.importorskip("PIL.Image", reason="the report's pictures are made by Pillow")

try:
    from gpuregistration import report
except (ImportError, OSError):
    # From the sources, without compiled files.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "wrapping" / "python" / "gpuregistration"))
    import report

ReportData, write_report, BadInputError = report.ReportData, report.write_report, report.write.BadInputError
geometry, jacobian, intensities, pictures, payload, wording = (
    sys.modules[f"{report.__name__}.{name}"]
    for name in ("geometry", "jacobian", "intensities", "pictures", "payload", "wording")
)

SHAPE = (18, 22, 26)


def turned(degrees: tuple[float, float, float]) -> np.ndarray:
    """Returns a rotation about x, then y, then z."""
    result = np.eye(3)
    for axis, angle in enumerate(np.radians(degrees)):
        a, b = [k for k in range(3) if k != axis]
        rotation = np.eye(3)
        rotation[a, a] = rotation[b, b] = np.cos(angle)
        rotation[b, a] = np.sin(angle)
        rotation[a, b] = -np.sin(angle)
        result = rotation @ result
    return result


def waves(shape: tuple[int, ...], amplitude: float = 1.0) -> np.ndarray:
    """Returns a smooth displacement in mm, with x first in its last axis."""
    places = np.meshgrid(*[np.linspace(0, 3, n) for n in shape], indexing="ij")
    return np.stack(
        [amplitude * np.sin(sum((c + k + 1) * p for k, p in enumerate(places)) / 2) for c in range(len(shape))], axis=-1
    )


def example(shape: tuple[int, ...] = SHAPE, **changes) -> ReportData:
    random = np.random.default_rng(5)
    images = [random.uniform(0, 100, shape).astype(np.float32) for _ in range(3)]
    values = {
        "spacing": (1.1, 0.9, 2.5)[: len(shape)],
        "origin": (-12.0, 7.5, 30.25)[: len(shape)],
        "displacement": waves(shape),
        "stages": [("Affine", 120.5, [("4 mm", [3.0, 2.0]), ("2 mm", [1.9, 1.7, 1.6])]), ("Resampling", 12.0, [])],
        "device": "A device",
        "versions": {"ITK": "5.4.0"},
        "command": "register --fixed a.nii --moving b.nii",
        "title": "A registration",
        "similarity": {"Correlation": (0.5, 0.9)},
        "dice": {"Thalamus": (0.6, 0.8)},
    }
    return ReportData(*images, **{**values, **changes})


def written(folder: Path, data: ReportData, **more) -> str:
    path = folder / "report.html"
    assert write_report(path, data, **more) == path
    assert [p.name for p in folder.iterdir()] == ["report.html"]
    return path.read_text(encoding="utf-8")


def test_the_moving_side_is_shown(tmp_path):
    ramp = np.tile(np.linspace(0, 100, 30, dtype=np.float32), (20, 1))
    side = report.MovingSide([report.Cut("Axial", ramp, ramp[:, ::-1].copy(), (1.0, 3.0))], "There and back.")
    page = written(tmp_path, example(moving_side=side))
    assert "There and back." in page
    found = re.findall(r'<img src="data:image/jpeg;base64,([^"]+)" width="(\d+)" height="(\d+)" alt="Axial: ([^"]+)"', page)
    # 30 mm by 60 mm.
    assert [(width, height) for _, width, height, _ in found] == [("300", "600")] * 3
    over, moving, back = (np.asarray(Image.open(io.BytesIO(base64.b64decode(uri))), float) for uri, *_ in found)
    assert np.abs(moving - back[:, ::-1]).max() < 6 and moving[0, 0] < 10 and moving[0, -1] > 245
    # The moving image is magenta, the other one green; JPEG halves colours' resolution.
    assert over[10, -1, 0] > 200 > 60 > over[10, -1, 1] and over[10, 0, 1] > 200 > 60 > over[10, 0, 0]
    assert 'id="moving-side-title"' not in written(tmp_path, example())


def data_of(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))


def unpacked(packed: dict) -> np.ndarray:
    """Does what the page's script does, in NumPy."""
    width, height, depth = packed["size"]
    tile_width, tile_height = packed["tile"]
    slices = []
    for uri in packed["sheets"]:
        sheet = np.array(Image.open(io.BytesIO(base64.b64decode(uri.split(",", 1)[1]))))
        for row in range(sheet.shape[0] // tile_height):
            for column in range(packed["columns"]):
                top, left = row * tile_height, column * tile_width
                slices.append(sheet[top : top + height, left : left + width])
    return np.stack(slices[:depth])


# ---- the determinant


def reference_determinant(displacement: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    dimension = len(matrix)
    by_index = np.stack([np.gradient(displacement, axis=dimension - 1 - k) for k in range(dimension)], axis=-1)
    return np.linalg.det(np.eye(dimension) + by_index @ np.linalg.inv(matrix))


@pytest.mark.parametrize("shape", [SHAPE, (40, 9, 11), (31, 27)])
def test_determinant_is_numpys(shape):
    dimension = len(shape)
    matrix = turned((20, -35, 50))[:dimension, :dimension] + np.diag((0.1, 0.2, 0.3))[:dimension, :dimension]
    field = waves(shape, 3.0)
    assert np.allclose(jacobian.determinant(field, matrix), reference_determinant(field, matrix), atol=1e-10)
    assert np.allclose(jacobian.determinant(field.astype(np.float32), matrix), reference_determinant(field, matrix), atol=2e-4)


def test_determinant_of_a_scaling():
    places = np.stack(np.meshgrid(*[np.arange(n) for n in SHAPE], indexing="ij")[::-1], axis=-1)
    direction = turned((10, 20, 30))
    matrix = direction * (1.5, 0.5, 2.0)
    field = places @ matrix.T * 0.2
    assert np.allclose(jacobian.determinant(field, matrix), 1.2**3)


def test_determinant_of_one_slice():
    assert np.allclose(jacobian.determinant(np.zeros((1, 5, 6, 3)), np.eye(3)), 1)


def test_extremes_and_folds():
    values = jacobian.determinant(waves(SHAPE, 12.0), np.diag((1.1, 0.9, 2.5)))
    found = jacobian.extremes(values)
    assert found.folded == (values <= 0).sum() > 0
    assert (found.minimum, found.maximum) == (values.min(), values.max())
    assert values[found.minimum_at[::-1]] == values.min() and values[found.maximum_at[::-1]] == values.max()
    mask = np.zeros(SHAPE)
    mask[3:9, 4:12, 5:20] = 2
    inside = jacobian.extremes(values, mask)
    assert inside.voxels == (mask != 0).sum() and inside.folded == ((values <= 0) & (mask != 0)).sum()
    assert inside.minimum == values[mask != 0].min() and inside.maximum == values[mask != 0].max()


def test_what_is_not_finite_is_counted_and_left_out(tmp_path):
    field = waves(SHAPE)
    field[5, 6, 7] = np.nan
    field[0, 0, 0, 1] = np.inf
    with np.errstate(invalid="ignore"):
        data = example(displacement=field)
        values = jacobian.determinant(field, data.index_to_point)
        page = written(tmp_path, data)
    assert np.isnan(values[5, 6, 7])
    found = jacobian.extremes(values)
    assert found.not_finite == (~np.isfinite(values)).sum() > 6
    assert found.minimum == np.nanmin(values[np.isfinite(values)])
    assert f"{found.not_finite:,} voxels, left out above" in page
    codes = unpacked(data_of(page)["jacobian"]["packed"])
    assert np.array_equal(codes == payload.NOT_FINITE, ~np.isfinite(values))


def test_nothing_but_nan_is_a_report_still(tmp_path):
    page = written(tmp_path, example(displacement=np.full((*SHAPE, 3), np.nan)))
    assert "no finite value" in page


# ---- orientation


def test_planes_of_the_patients_axes():
    axial, coronal, sagittal = geometry.planes(np.eye(3))
    assert [(p["left"], p["right"], p["top"], p["bottom"]) for p in (axial, coronal, sagittal)] == [
        ("R", "L", "A", "P"),
        ("R", "L", "S", "I"),
        ("A", "P", "S", "I"),
    ]
    assert [(p["h"], p["v"], p["n"]) for p in (axial, coronal, sagittal)] == [(0, 1, 2), (0, 2, 1), (1, 2, 0)]
    assert [(p["hflip"], p["vflip"]) for p in (axial, coronal, sagittal)] == [(False, False), (False, True), (False, True)]


@pytest.mark.parametrize("degrees", [(0, 0, 0), (0, 0, 180), (90, 0, 0), (0, 90, 90), (14, -9, 5), (100, 17, -80)])
@pytest.mark.parametrize("mirrored", [False, True])
def test_labels_are_where_the_geometry_says(degrees, mirrored):
    direction = turned(degrees) * ((-1, 1, 1) if mirrored else (1, 1, 1))
    for plane, right, down in zip(geometry.planes(direction), "LLP", "PII"):
        to_right = direction[:, plane["h"]] * (-1 if plane["hflip"] else 1)
        to_bottom = direction[:, plane["v"]] * (-1 if plane["vflip"] else 1)
        signed = {"L": (0, 1), "P": (1, 1), "I": (2, -1)}
        for vector, letter, label in ((to_right, right, plane["right"]), (to_bottom, down, plane["bottom"])):
            axis, sign = signed[letter]
            assert vector[axis] * sign > 0.5 and label[0] == letter
        assert sorted((plane["h"], plane["v"], plane["n"])) == [0, 1, 2]


def test_oblique_labels_name_two_sides():
    axial = geometry.planes(turned((0, 0, 30)))[0]
    assert axial["right"] == "LP" and axial["left"] == "RA"
    assert geometry.tilt(turned((0, 0, 30))) == pytest.approx(30)


# ---- the file


def test_numbers_are_in_the_page(tmp_path):
    data = example()
    page = written(tmp_path, data)
    values = reference_determinant(data.displacement, data.index_to_point)
    assert wording.number(values.min()) in page and wording.number(values.max()) in page
    index = tuple(int(i) for i in np.unravel_index(np.argmin(values), SHAPE)[::-1])
    assert f'data-goto="{",".join(map(str, index))}"' in page
    assert wording.row(data.point(index), 1) in page
    for content in (
        "A registration",
        "A device",
        "5.4.0",
        "register --fixed a.nii --moving b.nii",
        "Affine",
        "120 ms",
        "Resampling",
        "Thalamus",
        "0.600",
        "0.800",
        "+0.200",
        "0.5000",
        "0.9000",
    ):
        assert content in page, content
    content = data_of(page)
    assert content["stages"][0] == {
        "name": "Affine",
        "levels": [{"name": "4 mm", "costs": [3.0, 2.0]}, {"name": "2 mm", "costs": [1.9, 1.7, 1.6]}],
    }
    assert content["size"] == list(SHAPE[::-1]) and content["origin"] == [-12.0, 7.5, 30.25]
    assert sum(content["histograms"]["before"]) == sum(content["histograms"]["after"]) == np.prod(SHAPE)


def test_the_measure_at_the_top(tmp_path):
    both = {"mean_squares": (0.5, 0.25), "correlation_ratio": (0.75, 0.125), "correlation": (-0.5, -1)}
    page = written(tmp_path, example(similarity=both))
    assert all(f'<th scope="row">{name}</th>' in page for name in ("Mean squares", "Correlation ratio", "Correlation"))
    tile = '<dt>{}</dt><dd class="fine">{}<small>before → after{}</small>'
    assert tile.format("Mean squares", "0.5000 → 0.2500", "") in page and "less is better" not in page
    page = written(
        tmp_path, example(similarity=both, headline="correlation_ratio", less_is_better=True, similarity_text="Squares are of <0..1>.")
    )
    assert tile.format("Correlation ratio", "0.7500 → 0.1250", "; less is better") in page and "<dt>Mean squares" not in page
    assert '<h3>Similarity</h3><p class="explain">Squares are of &lt;0..1&gt;.</p>' in page


def test_levels_without_a_cost_are_in_no_table(tmp_path):
    page = written(tmp_path, example(stages=[("rigid", 3.0, [("pyramid", []), ("8 mm", [0.5]), ("4 mm", [0.25])])]))
    rows = re.findall(r"<td>rigid</td><td>(.*?)</td>", page)
    assert rows == ["8 mm", "4 mm"]


def test_files_and_the_date_are_in_the_page(tmp_path):
    page = written(tmp_path, example(files={"fixed": "/a/f<1>.nii", "moving_mask": "m.nii"}, date="2026-01-02 03:04 +0000"))
    assert "<th>Fixed file</th><td>/a/f&lt;1&gt;.nii</td>" in page and "<th>Moving mask file</th><td>m.nii</td>" in page
    assert "<th>Date</th><td>2026-01-02 03:04 +0000</td>" in page


def test_folded_voxels_are_in_the_page(tmp_path):
    data = example(displacement=waves(SHAPE, 12.0))
    folded = int((reference_determinant(data.displacement, data.index_to_point) <= 0).sum())
    page = written(tmp_path, data)
    assert folded > 0 and f'<span class="warn">{folded:,}</span> of {np.prod(SHAPE):,}' in page
    codes = unpacked(data_of(page)["jacobian"]["packed"])
    assert (codes == payload.FOLDED).sum() == folded


def test_warnings_are_at_the_top(tmp_path):
    page = written(tmp_path, example(warnings=["it may be <b>noise</b>", "it has folded"]))
    texts = ("it may be &lt;b&gt;noise&lt;/b&gt;", "it has folded")
    first, second = (page.index(f'<p class="message">Warning: {text}.</p>') for text in texts)
    assert first < second < page.index('<dl class="summary">')
    (tmp_path / "report.html").unlink()
    assert "Warning: " not in written(tmp_path, example())


def test_images_come_back(tmp_path):
    smooth = waves(SHAPE)[..., 0].astype(np.float32) * 50 + 60
    data = example()
    data.fixed = smooth
    image = data_of(written(tmp_path, data))["images"]["fixed"]
    scale = image["scale"]
    back = scale["low"] + unpacked(image["packed"]) / 255 * (scale["high"] - scale["low"])
    assert np.abs(back - smooth).max() < 0.05 * np.ptp(smooth)


def test_displacement_comes_back_along_the_images_axes(tmp_path):
    direction = turned((12, -8, 20))
    data = example(direction=direction)
    field = data_of(written(tmp_path, data))["field"]
    halves = unpacked(field["packed"]).reshape(-1)[: field["packed"]["bytes"]].reshape(2, 3, *SHAPE).astype(np.uint16)
    numbers = (halves[0] << 8 | halves[1]).view(np.int16) * field["unit"]
    assert field["nodes"] == list(SHAPE[::-1])
    assert np.allclose(np.moveaxis(numbers, 0, -1) @ direction.T, data.displacement, atol=2 * field["unit"])


EVIL = "</script><script>alert(\"1\")</script>'<b>&{{data}}{% if %}"


def test_text_is_escaped(tmp_path):
    """Text of a user, a file or a driver may contain anything."""
    page = written(
        tmp_path,
        example(
            title=EVIL,
            command=EVIL,
            device=EVIL,
            date=EVIL,
            versions={EVIL: EVIL},
            files={EVIL: EVIL},
            similarity={EVIL: (1, 2)},
            similarity_text=EVIL,
            dice={EVIL: (0, 1)},
            stages=[(EVIL, 1.0, [(EVIL, [1.0])])],
            warnings=[EVIL],
        ),
    )
    assert "<script>alert" not in page and "<b>&" not in page
    escaped = "&lt;/script&gt;&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;&#39;&lt;b&gt;&amp;{{data}}{% if %}"
    # Title, device, version, file, measure and stage occur twice, and each of the others once.
    assert page.count(escaped) == 18
    assert data_of(page)["stages"][0]["name"] == EVIL


def test_nothing_is_fetched(tmp_path):
    page = written(tmp_path, example())
    assert not re.findall(r"(?:https?:)?//[a-z0-9-]+\.[a-z]", page, re.I)
    assert not re.findall(r"<(?:link|script|img|iframe)[^>]*(?:src|href)=\"(?!data:)", page)
    assert "@import" not in page and "url(" not in page
    assert "default-src 'none'" in page


def test_scripts_and_styles_carry_the_licence():
    for path in Path(report.__file__).parent.rglob("*"):
        if path.suffix in (".py", ".js", ".css", ".j2"):
            assert "SPDX-License-Identifier: Apache-2.0" in path.read_text(encoding="utf-8").split("\n", 1)[0], path


def test_two_dimensions(tmp_path):
    content = data_of(written(tmp_path, example((31, 27), fixed_mask=np.ones((31, 27)))))
    assert content["size"] == [27, 31, 1] and [p["name"] for p in content["planes"]] == ["Image"]
    assert content["planes"][0]["right"] == "+x" and content["planes"][0]["bottom"] == "+y"
    assert content["field"]["components"] == 2


def test_constant_image_and_no_deformation(tmp_path):
    constant = np.full(SHAPE, 7)
    page = written(tmp_path, ReportData(constant, constant, constant, (1, 1, 1), (0, 0, 0)))
    content = data_of(page)
    scale = content["images"]["fixed"]["scale"]
    assert scale["low"] < 7 < scale["high"]
    assert "jacobian" not in content and "deformation-title" not in page and "costs-title" not in page


def test_images_with_nan(tmp_path):
    data = example()
    data.moving_after[2, 3, 4] = np.nan
    data.fixed[:] = np.nan
    page = written(tmp_path, data)
    assert "1 voxels of the image “moving after” are not finite" in page


def test_histograms_inside_the_mask(tmp_path):
    mask = np.zeros(SHAPE, np.uint8)
    mask[2:9, 3:10, 4:15] = 1
    content = data_of(written(tmp_path, example(fixed_mask=mask, moving_mask=mask)))
    assert sum(content["histograms"]["after"]) == mask.sum()
    assert np.array_equal(unpacked(content["masks"]["fixed"]["packed"]), mask)


def test_joint_histogram_is_numpys():
    random = np.random.default_rng(1)
    a, b = random.integers(0, 256, (2, 5000)).astype(np.uint8)
    expected = np.histogram2d(a, b, bins=intensities.BINS, range=((0, 256), (0, 256)))[0]
    assert np.array_equal(intensities.joint_histogram(a, b), expected)


def test_window_leaves_out_outliers_and_background():
    values = np.zeros(100_000)
    values[:40_000] = np.linspace(50, 150, 40_000)
    values[:20] = 10_000
    scale = intensities.scale_of(values)
    assert scale.white < 200 and scale.black < 20


def test_blocks():
    volume = np.full((5, 6, 7), 128, np.uint8)
    volume[4, 5, 6], volume[0, 0, 0], volume[0, 0, 1], volume[2, 2, 2] = 200, 250, payload.FOLDED, payload.NOT_FINITE
    reduced = pictures.furthest_from(volume, 128, 2, (2, 2, 2))
    assert reduced.shape == (3, 3, 4)
    assert reduced[0, 0, 0] == payload.FOLDED and reduced[1, 1, 1] == payload.NOT_FINITE and reduced[2, 2, 3] == 200
    assert pictures.average(volume, (1, 1, 1)) is volume
    assert pictures.average(np.arange(8, dtype=np.uint8).reshape(2, 2, 2), (2, 2, 2)) == 4
    assert (
        np.prod([-(-n // s) for n, s in zip((500, 400, 300), pictures.reduce_strides((500, 400, 300), (1, 1, 2), 10**6))])
        <= 10**6
    )


def test_size_and_time_of_a_head(tmp_path):
    """Noise everywhere is the worst case of a 256 x 256 x 160 pair."""
    shape = (160, 256, 256)
    random = np.random.default_rng(2)
    images = [random.normal(100, 20, shape).astype(np.float32) for _ in range(3)]
    places = np.meshgrid(*[np.linspace(0, 6, n, dtype=np.float32) for n in shape], indexing="ij")
    field = np.stack([np.sin(sum(places) + c) for c in range(3)], axis=-1)
    start = time.process_time()
    page = written(tmp_path, ReportData(*images, (1, 1, 1), (0, 0, 0), displacement=field))
    assert time.process_time() - start < 30
    assert len(page.encode()) < 15_000_000
    assert "averaged" in page


def test_size_that_is_asked_for(tmp_path):
    page = written(tmp_path, example((40, 64, 64)), max_bytes=400_000)
    assert len(page.encode()) < 500_000


# ---- errors


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(BadInputError, match="There is no folder .*nowhere to write report.html to"):
        write_report(tmp_path / "nowhere" / "report.html", example())
    assert not list(tmp_path.iterdir())


def test_a_folder_in_the_files_place(tmp_path):
    with pytest.raises(BadInputError, match="is a folder: give a file's name"):
        write_report(tmp_path, example())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["r.pdf", "r"])
def test_a_name_of_no_report(tmp_path, name):
    with pytest.raises(BadInputError, match=f"{name} is none of a report, which is a page of HTML: let it end on .html or .htm"):
        write_report(tmp_path / name, example())
    assert not list(tmp_path.iterdir())


def test_a_failure_leaves_the_old_file_alone(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="the disk is full"):
        write_report(path, example())
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"] and path.read_text() == "old"


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"displacement": np.zeros((*SHAPE, 2))}, "displacement must be of shape"),
        ({"fixed_mask": np.zeros((3, 3, 3))}, "fixed_mask must be on the fixed image's grid"),
        ({"spacing": (1, 1)}, "spacing must be 3 finite numbers"),
        ({"spacing": (1, 0, 1)}, "spacing must be positive"),
        ({"origin": (0, np.nan, 0)}, "origin must be 3 finite numbers"),
        ({"direction": np.zeros((3, 3))}, "direction has no inverse"),
        ({"direction": [1, 0, 0, 1]}, "direction must be a matrix of 3 x 3"),
    ],
)
def test_what_does_not_fit_is_an_error(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        write_report(tmp_path / "report.html", example(**changes))
    assert not list(tmp_path.iterdir())


# ---- in a browser

def probed(browser: Browser, folder: Path, data: ReportData, script: str, width: int = 1280) -> dict:
    return browser.run(write_report(folder / "report.html", data), script, width)


def ball(direction: np.ndarray, spacing: tuple[float, ...], size: tuple[int, ...]) -> tuple[ReportData, list[int]]:
    """Returns a bright ball to the left, the front and the top of the patient, and the voxel of its centre."""
    index = np.stack(np.meshgrid(*[np.arange(n) for n in size[::-1]], indexing="ij")[::-1], axis=-1)
    points = index @ (direction * spacing).T
    centre = points.reshape(-1, 3).mean(axis=0) + (11, -9, 13)
    distance = np.linalg.norm(points - centre, axis=-1)
    image = np.where(distance < 8, 200.0, 0.0)
    middle = [int(i) for i in np.unravel_index(np.argmin(distance), distance.shape)[::-1]]
    return ReportData(image, image, image, spacing, (5.0, 6.0, 7.0), direction), middle


@needs_browser
@pytest.mark.parametrize(
    "degrees, mirrored, spacing, size",
    [
        ((0, 0, 0), False, (1.0, 1.0, 1.0), (60, 60, 60)),
        ((0, 0, 180), False, (1.0, 1.5, 4.0), (60, 40, 15)),
        ((0, 90, 90), True, (3.0, 1.0, 1.0), (20, 60, 64)),
        ((98, 10, -85), False, (1.0, 1.2, 2.4), (70, 56, 30)),
    ],
)
def test_sides_and_proportions_on_the_screen(browser, tmp_path, degrees, mirrored, spacing, size):
    direction = turned(degrees) * ((1, 1, -1) if mirrored else (1, 1, 1))
    data, middle = ball(direction, spacing, size)
    seen = probed(
        browser,
        tmp_path,
        data,
        """
      const content = JSON.parse(document.getElementById("data").textContent);
      document.querySelector("#checks input").click();
      // No dividing line, which is bright: a checkerboard of the same images.
      await press(document.body, "c");
      const middle = MIDDLE;
      for (const [n, plane] of content.planes.entries()) {
        const index = middle[plane.n];
        await set(all(".plane > input")[n], plane.nflip ? content.size[plane.n] - 1 - index : index);
      }
      seen.planes = all(".plane").map((plane) => ({ name: plane.querySelector("h3").firstChild.textContent, ...bright(plane.querySelector("canvas")),
        ...Object.fromEntries(["left", "right", "upper", "lower"].map((side) => [side, plane.querySelector(`.box .${side}`).textContent])) }));
      """.replace("MIDDLE", json.dumps(middle)),
    )
    assert [plane["name"] for plane in seen["planes"]] == ["Axial", "Coronal", "Sagittal"]
    for plane in seen["planes"]:
        assert plane["n"] > 50
        towards = (plane["right"] if plane["x"] > 0 else plane["left"])[0]
        up = (plane["lower"] if plane["y"] > 0 else plane["upper"])[0]
        # The ball is at the left, the anterior and the superior.
        assert towards in "LAS" and up in "LAS", plane
        assert (plane["left"][0], plane["upper"][0]) == {"Axial": ("R", "A"), "Coronal": ("R", "S"), "Sagittal": ("A", "S")}[
            plane["name"]
        ]
        assert plane["wide"] / plane["high"] == pytest.approx(1, abs=0.3), plane


@needs_browser
@pytest.mark.parametrize("degrees", [(0, 0, 0), (0, 0, 180), (88, 4, -90)])
def test_the_grid_moves_to_the_side_that_the_displacement_points_to(browser, tmp_path, degrees):
    shape = (30, 30, 30)
    black = np.zeros(shape)
    black[0, 0, 0] = 100
    seen = {}
    for name, vector in (("none", (0, 0, 0)), ("moved", (3, 2, 2.5))):
        data = ReportData(
            *[black] * 3,
            (1, 1, 1),
            (0, 0, 0),
            turned(degrees),
            displacement=np.broadcast_to(np.array(vector, float), (*shape, 3)),
        )
        seen[name] = probed(
            browser,
            tmp_path,
            data,
            """
          document.querySelector("#checks input").click();
          await press(document.body, "g");
          seen.planes = all(".plane canvas").map((canvas) => bright(canvas, 2));
          """,
        )["planes"]
    # By the signs of x to the right and y down: at the left, the posterior and the superior.
    for before, after, (right, down) in zip(seen["none"], seen["moved"], ((1, 1), (1, -1), (1, -1))):
        assert (after["x"] - before["x"]) * right > 0.02 and (after["y"] - before["y"]) * down > 0.02


@needs_browser
@pytest.mark.parametrize("width", [1280, 400])
def test_views_in_the_browser(browser, tmp_path, width):
    data = example(displacement=waves(SHAPE, 12.0), fixed_mask=np.ones(SHAPE))
    data.fixed[:], data.moving_after[:] = 0, 0
    data.fixed[:, :, ::2] = 100
    data.fixed[:, :, 1::2] = 90
    data.fixed[0, 0, 0] = 0
    data.moving_after[0, 0, 0] = 200
    seen = probed(
        browser,
        tmp_path,
        data,
        """
      document.querySelector("#checks input").click();
      const canvas = document.querySelector(".plane canvas");
      await set(document.getElementById("amount"), 1000);
      seen.whole = bright(canvas);
      await set(document.getElementById("amount"), 250);
      seen.quarter = bright(canvas);
      seen.modes = [];
      for (const key of ["c", "g", "j", "w"]) {
        await press(document.body, key);
        seen.modes.push(all("#modes input").findIndex((input) => input.checked));
        if (key === "j") seen.legend = !document.getElementById("legend").hidden;
      }
      canvas.focus();
      const voxel = () => document.querySelector("#readout td").textContent;
      seen.before = voxel();
      await press(canvas, "ArrowRight");
      await press(canvas, "ArrowDown", { shiftKey: true });
      await press(canvas, "PageUp");
      seen.after = voxel();
      seen.sliders = all(".plane > input").map((slider) => Number(slider.value));
      document.querySelector("[data-goto]").click();
      await frame();
      seen.lowest = voxel();
      seen.readout = all("#readout td").map((cell) => cell.textContent);
      seen.images = all("#histograms image").length;
      seen.curves = all("#costs .curve").length;
      seen.overflow = document.documentElement.scrollWidth - innerWidth;
      seen.contrasts = await leastContrasts();
      """,
        width,
    )
    assert 0.2 < seen["quarter"]["wide"] / seen["whole"]["wide"] < 0.3
    assert seen["modes"] == [1, 2, 3, 0] and seen["legend"]
    x, y, z = (int(v) for v in seen["before"].split(", "))
    assert seen["after"] == f"{x + 1}, {y + 10}, {z + 1}"
    assert seen["sliders"] == [z + 1, y + 10, x + 1]
    values = reference_determinant(data.displacement, data.index_to_point)
    lowest = np.unravel_index(np.argmin(values), SHAPE)
    assert seen["lowest"] == ", ".join(str(i) for i in lowest[::-1])
    assert seen["readout"][5] == "folded"
    length = np.linalg.norm(data.displacement[lowest])
    assert float(seen["readout"][6].split(" ")[0]) == pytest.approx(length, abs=0.06)
    assert seen["images"] == 2 and seen["curves"] == 2
    assert seen["overflow"] <= 0
    check_contrasts(seen["contrasts"])


@needs_browser
@pytest.mark.parametrize(
    "data",
    [
        example((31, 27)),
        example(displacement=np.full((*SHAPE, 3), np.nan)),
        example(stages=[("</script>", 1.0, [("<b>", [np.nan, 1.0]), ("none", [])])], similarity={}, dice={}),
        ReportData(*[np.full((1, 9, 8), 3.0)] * 3, (1, 1, 1), (0, 0, 0), displacement=np.zeros((1, 9, 8, 3))),
    ],
    ids=["2D", "nan", "odd stages", "one slice"],
)
def test_odd_data_in_the_browser(browser, tmp_path, data):
    seen = probed(
        browser,
        tmp_path,
        data,
        """
      for (const key of ["c", "g", "j", "1", "2", "3", ".", ",", "x"]) {
        await press(document.body, key);
      }
      seen.rows = all("#readout td").length;
      """,
    )
    assert seen["rows"] == 7
