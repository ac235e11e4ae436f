# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of the pages beside this file, in docs/pictures: python docs/pictures.py [NAME...]

Heads are Colin27's, as Debian's package mricron-data has it, moved and deformed by transforms that are known: so a picture can say how
many mm, in the mean over the head, a registration is away from the truth. Charts are of charts.py; the cohort's page needs chromium.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

import charts
import gpuregistration as g
import numpy as np
from gpuregistration._labels import find_dice
from gpuregistration.report import geometry
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

FOLDER = Path(__file__).parent / "pictures"
TEMPLATES = Path("/usr/share/mricron/templates")

#: Pixels of a voxel, between two pictures, and of a page's width.
ZOOM, BETWEEN, WIDTH = 2, 6, 720
WHITE, ORANGE, GREEN = (255, 255, 255), (255, 150, 40), (60, 230, 110)


# --- Heads and what is known of them ---


@lru_cache(None)
def head() -> g.Image:
    """The head, of floats from 0 to 1, with some air around it, so that it stays inside where it is moved."""
    return _pad(g.read_image(TEMPLATES / "ch2.nii.gz"), np.float32(1 / 255))


@lru_cache(None)
def labels() -> g.Image:
    """Its regions, of AAL."""
    return _pad(g.read_image(TEMPLATES / "aal.nii.gz"), 1)


def _pad(image: g.Image, factor) -> g.Image:
    margin = 12
    origin = image.origin - image.direction @ (margin * image.spacing)
    return g.Image(np.pad(image.array * factor, margin), image.spacing, origin, image.direction)


def centre() -> np.ndarray:
    """The middle of the image, a point."""
    size = np.array(head().size)
    return head().origin + head().direction @ (0.5 * (size - 1) * head().spacing)


def turned(degrees, shift=(0, 0, 0), scale=(1, 1, 1)) -> g.Affine:
    """Turns about x, y and z, after scales, about the middle."""
    matrix = np.diag(np.array(scale, float))
    for axis, angle in enumerate(np.radians(degrees)):
        turn = np.eye(3)
        a, b = (axis + 1) % 3, (axis + 2) % 3
        turn[[a, b], [a, b]] = np.cos(angle)
        turn[a, b], turn[b, a] = -np.sin(angle), np.sin(angle)
        matrix = turn @ matrix
    return g.Affine(matrix, shift, centre())


def deformation(spacing=40.0, largest=11.0, seed=4) -> g.BSpline:
    """Smooth and random: displacements of control points, each of so many mm at most along each axis."""
    nodes = [int(n // spacing) + 5 for n in head().size]
    vectors = np.random.default_rng(seed).uniform(-largest, largest, (*nodes[::-1], 3))
    origin = head().origin - head().direction @ np.full(3, 1.5 * spacing)
    return g.BSpline(vectors, [spacing] * 3, origin, head().direction)


def moved(image: g.Image, transform: g.Affine, interpolation="linear") -> g.Image:
    """The image where a transform leads its points."""
    return g.resample(image, transform.inverse(), reference=head(), interpolation=interpolation)


def mean_error(found, truth, fixed: g.Image) -> float:
    """mm, in the mean over the head, between where two transforms lead the fixed image's points; None: where they are."""
    found = g.Affine(np.eye(3)) if found is None else found
    difference = found.to_displacement_field(fixed).array - truth.to_displacement_field(fixed).array
    return float(np.linalg.norm(difference, axis=-1)[fixed.array > 0.15].mean())


def distance(found, truth, fixed: g.Image) -> str:
    """The same, in words."""
    error = mean_error(found, truth, fixed)
    return "under 0.01 mm" if error < 0.01 else f"{error:.2g} mm"


# --- Drawing ---


def cut(volume: np.ndarray, name: str, at: float = 0.5) -> np.ndarray:
    """A slice as radiologists look at it.

    Args:
        volume: on the head's grid; the slice has its further axes, too.
        name: "Axial", "Coronal" or "Sagittal".
        at: where, 0 to 1.
    """
    plane = next(p for p in geometry.planes(head().direction) if p["name"] == name)
    picture = volume.transpose(2 - plane["n"], 2 - plane["v"], 2 - plane["h"], *range(3, volume.ndim))
    picture = picture[int(at * (len(picture) - 1))]
    return picture[:: -1 if plane["vflip"] else 1, :: -1 if plane["hflip"] else 1]


def overlay(fixed: np.ndarray, moving: np.ndarray) -> Picture.Image:
    """Two slices: the fixed one in green, the moving one in magenta."""
    colours = np.stack([moving, fixed, moving], axis=-1)
    return _enlarged(colours)


def grey(slice_: np.ndarray) -> Picture.Image:
    return _enlarged(np.stack([slice_] * 3, axis=-1))


def _enlarged(colours: np.ndarray) -> Picture.Image:
    picture = Picture.fromarray(np.rint(255 * np.clip(1.15 * colours, 0, 1) ** 0.8).astype(np.uint8))
    return picture.resize((picture.width * ZOOM, picture.height * ZOOM), Picture.BICUBIC)


def titled(picture: Picture.Image, text: str) -> Picture.Image:
    """With a line of text above it, in the place of some of the air."""
    air = 11 * ZOOM
    result = Picture.new("RGB", (picture.width, picture.height + 34 - 2 * air))
    result.paste(picture.crop((0, air, picture.width, picture.height - air)), (0, 34))
    ImageDraw.Draw(result).text((8, 4), text, WHITE, ImageFont.load_default(21))
    return result


def beside(*pictures: Picture.Image) -> Picture.Image:
    width = sum(p.width for p in pictures) + BETWEEN * (len(pictures) - 1)
    result = Picture.new("RGB", (width, max(p.height for p in pictures)), WHITE)
    x = 0
    for picture in pictures:
        result.paste(picture, (x, 0))
        x += picture.width + BETWEEN
    return result


def above(*pictures: Picture.Image) -> Picture.Image:
    result = Picture.new("RGB", (pictures[0].width, sum(p.height + BETWEEN for p in pictures) - BETWEEN), WHITE)
    y = 0
    for picture in pictures:
        result.paste(picture, (0, y))
        y += picture.height + BETWEEN
    return result


def borders(picture: Picture.Image, regions: np.ndarray, colour) -> None:
    """Draws where a slice's labels change, a pixel wide."""
    large = np.kron(regions, np.ones((ZOOM, ZOOM), regions.dtype))
    edge = np.zeros(large.shape, bool)
    edge[:, 1:] |= large[:, 1:] != large[:, :-1]
    edge[1:] |= large[1:] != large[:-1]
    pixels = np.array(picture)
    pixels[edge] = colour
    picture.paste(Picture.fromarray(pixels))


def bent_grid(picture: Picture.Image, field: np.ndarray, name: str, at: float, every: int = 10) -> None:
    """Draws where a displacement field (z, y, x, 3), in mm, leads the straight lines of its voxels."""
    plane = next(p for p in geometry.planes(head().direction) if p["name"] == name)
    vectors = cut(field, name, at) @ np.linalg.inv(head().direction * head().spacing).T
    along = vectors[..., plane["h"]] * (-1 if plane["hflip"] else 1)
    down = vectors[..., plane["v"]] * (-1 if plane["vflip"] else 1)
    rows, columns = np.indices(along.shape)
    x, y = ZOOM * (columns + along + 0.5), ZOOM * (rows + down + 0.5)
    fine = 3
    lines = Picture.new("L", (picture.width * fine, picture.height * fine))
    pen = ImageDraw.Draw(lines)
    for n in range(0, along.shape[0], every):
        pen.line([(fine * a, fine * b) for a, b in zip(x[n], y[n])], 255, fine + 1)
    for n in range(0, along.shape[1], every):
        pen.line([(fine * a, fine * b) for a, b in zip(x[:, n], y[:, n])], 255, fine + 1)
    picture.paste(Picture.new("RGB", picture.size, GREEN), mask=lines.resize(picture.size, Picture.BOX))


def save(picture: Picture.Image, name: str) -> None:
    """As wide as a page shows it."""
    if picture.width > WIDTH:
        picture = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Picture.LANCZOS)
    picture.save(FOLDER / name, "JPEG", quality=80, optimize=True)


# --- The pictures ---


def before_and_after(fixed: g.Image, moving: g.Image, truth, found, name: str, at: float) -> Picture.Image:
    """Both overlays of a registration, each with its error."""
    pictures = []
    for title, transform in (("before", None), ("after", found)):
        warped = g.resample(moving, transform, reference=fixed)
        picture = overlay(cut(fixed.array, name, at), cut(warped.array, name, at))
        pictures.append(titled(picture, f"{title}: {distance(transform, truth, fixed)} away"))
    return beside(*pictures)


def rigid() -> None:
    truth = turned((6, -8, 14), (9, -7, 6))
    moving = moved(head(), truth)
    result = g.register(head(), moving, "rigid")
    save(before_and_after(head(), moving, truth, result.transform, "Axial", 0.55), "rigid.jpg")


def template() -> None:
    truth = turned((-10, 5, -8), (6, 10, -8), (0.88, 1.08, 0.93))
    moving = moved(head(), truth)
    result = g.register(head(), moving, "affine")
    save(before_and_after(head(), moving, truth, result.transform, "Sagittal", 0.5), "template.jpg")


@lru_cache(None)
def deformed():
    """A deformed head as the fixed one, a moved one as the moving one, the truth, and what was found: the affine stage and all."""
    bent, shift = deformation(), turned((4, -5, 7), (5, -4, 3))
    fixed = g.resample(head(), bent, reference=head())
    moving = moved(head(), shift)
    result = g.register(fixed, moving, ["affine", g.stages.FreeForm(spacing=8.0, levels=3, samples=200000)])
    return fixed, moving, shift, g.Composite([bent, shift]), result


def free_form() -> None:
    fixed, moving, _, truth, result = deformed()
    pictures = []
    for title, transform in (
        ("before", None),
        ("after the affine stage", result.stages[0].transform),
        ("after the free-form stage", result.transform),
    ):
        warped = g.resample(moving, transform, reference=fixed)
        picture = overlay(cut(fixed.array, "Axial", 0.52), cut(warped.array, "Axial", 0.52))
        pictures.append(titled(picture, f"{title}: {distance(transform, truth, fixed)}"))
    # Of the deformation alone, without the affine transform behind it.
    field = result.transform.transforms[0].to_displacement_field(fixed).array
    grid = grey(0.6 * cut(fixed.array, "Axial", 0.52))
    bent_grid(grid, field, "Axial", 0.52)
    pictures.append(titled(grid, "where the free-form stage leads a grid"))
    save(above(beside(*pictures[:2]), beside(*pictures[2:])), "free-form.jpg")


def carried_labels() -> None:
    fixed, _, shift, truth, result = deformed()
    own = g.resample(labels(), deformation(), reference=fixed, interpolation="nearest")
    moving = moved(labels(), shift, "nearest")
    pictures = []
    for title, transform in (("before", None), ("after", result.transform)):
        carried = g.resample(moving, transform, reference=fixed, interpolation="nearest")
        dice = np.mean(list(find_dice(own.array, carried.array).values()))
        picture = grey(0.75 * cut(fixed.array, "Axial", 0.55))
        borders(picture, cut(own.array, "Axial", 0.55), WHITE)
        borders(picture, cut(carried.array, "Axial", 0.55), ORANGE)
        pictures.append(titled(picture, f"{title}: mean Dice {dice:.2f}"))
    save(beside(*pictures), "labels.jpg")


def failure() -> None:
    truth = turned((8, 95, -10), (6, -8, 4))
    moving = moved(head(), truth)
    pictures = []
    for title, stages in (("affine", "affine"), ("global,affine", ["global", "affine"])):
        result = g.register(head(), moving, stages)
        picture = overlay(cut(head().array, "Coronal", 0.5), cut(result.warped.array, "Coronal", 0.5))
        pictures.append(titled(picture, f"{title}: {distance(result.transform, truth, head())} away"))
    save(beside(*pictures), "failure.jpg")


def cohort() -> None:
    """The page of a cohort of six, one of which has a file that cannot be read."""
    with tempfile.TemporaryDirectory(prefix="study-") as name:
        folder = Path(name)
        small = g.resample(head(), None, reference=_coarse(head(), 3))
        regions = g.resample(labels(), None, reference=small, interpolation="nearest")
        g.write_image(folder / "template.nii.gz", small)
        g.write_image(folder / "regions.nii.gz", regions)
        rows = ["id,fixed,moving,labels,fixed_labels"]
        for n in range(1, 7):
            move = turned((2 * n, -n, 3 * n), (n, -2, n), (1 + 0.02 * n, 1, 1 - 0.01 * n))
            chain = g.Composite([move.inverse(), deformation(seed=n, largest=6.0)])
            for what, image, how in (("t1", small, "linear"), ("labels", regions, "nearest")):
                g.write_image(folder / f"sub-0{n}-{what}.nii.gz", g.resample(image, chain, reference=small, interpolation=how))
            rows.append(f"sub-0{n},template.nii.gz,sub-0{n}-t1.nii.gz,sub-0{n}-labels.nii.gz,regions.nii.gz")
        (folder / "sub-04-t1.nii.gz").write_bytes(b"no image")
        (folder / "pairs.csv").write_text("\n".join(rows) + "\n")
        gpureg = [sys.executable, "-m", "gpuregistration"]
        stages = "affine,ffd:spacing=15:levels=2"
        done = subprocess.run([*gpureg, "cohort", "pairs.csv", "-o", "results", "--transform", stages], cwd=folder)
        if done.returncode != 1:  # one has failed
            raise RuntimeError(f"gpureg cohort ended with {done.returncode}, not with 1")
        _photograph(folder / "results" / "report.html", (1100, 900), "cohort.jpg")


def _coarse(image: g.Image, times: int) -> g.Image:
    """A grid over an image, of voxels so many times as long."""
    nodes = [n // times for n in image.size]
    return g.Image(np.zeros(nodes[::-1], np.float32), image.spacing * times, image.origin, image.direction)


def _photograph(page: Path, size: tuple[int, int], name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shot = Path(folder) / "page.png"
        subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}"]
            + [f"--window-size={size[0]},{size[1]}", f"--screenshot={shot}", page.as_uri()],
            check=True,
            capture_output=True,
        )
        with Picture.open(shot) as picture:
            save(picture.convert("RGB"), name)


PICTURES = {
    "rigid": rigid,
    "template": template,
    "free-form": free_form,
    "labels": carried_labels,
    "failure": failure,
    "cohort": cohort,
    "charts": lambda: charts.write(FOLDER),
}


def main(names: list[str]) -> None:
    unknown = set(names) - set(PICTURES)
    if unknown:
        raise SystemExit(f"There is no picture {', '.join(sorted(unknown))}; there are: {', '.join(PICTURES)}")
    FOLDER.mkdir(exist_ok=True)
    for name in names or PICTURES:
        PICTURES[name]()
        print(name)


if __name__ == "__main__":
    main(sys.argv[1:])
