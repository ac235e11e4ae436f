# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of the pages beside this file, in docs/pictures: python docs/pictures.py [NAME...]

Heads are Colin27's, as Debian's package mricron-data has it, moved and deformed by transforms that are known: so a picture can say how
many mm, in the mean over the head, a registration is away from the truth. charts.py draws the charts and needs matplotlib; pictures need
Pillow 10.1, and the cohort's page chromium. The picture "people" is made of images *_t1.nii.gz of different people, in the folder that
GPUREG_PEOPLE names; without it that picture stays as it is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

import charts
import gpuregistration as g
import numpy as np
from drawing import ORANGE, WHITE, WIDTH, Plane, above, bent_grid, beside, borders, grey, overlay, titled
from gpuregistration._labels import compute_dice
from heads import deformation, distance, head, labels, moved, turned
from PIL import Image as Picture

FOLDER = Path(__file__).parent / "pictures"


def save(picture: Picture.Image, name: str) -> None:
    """Writes a picture into the folder of pictures, shrunk to the width of a page if it is wider."""
    if picture.width > WIDTH:
        picture = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Picture.LANCZOS)
    picture.save(FOLDER / name, "JPEG", quality=80, optimize=True)


def before_and_after(fixed: g.Image, moving: g.Image, truth, found, plane: Plane) -> Picture.Image:
    """Draws the overlays before and after a registration beside each other, each with its error."""
    pictures = []
    for title, transform in (("before", None), ("after", found)):
        warped = g.resample(moving, transform, reference=fixed)
        picture = overlay(plane.cut(fixed.array), plane.cut(warped.array))
        pictures.append(titled(picture, f"{title}: {distance(transform, truth, fixed)} away"))
    return beside(*pictures)


def rigid() -> None:
    truth = turned((6, -8, 14), (9, -7, 6))
    moving = moved(head(), truth)
    result = g.register(head(), moving, "rigid")
    save(before_and_after(head(), moving, truth, result.transform, Plane(head(), "Axial", 0.55)), "rigid.jpg")


def template() -> None:
    truth = turned((-10, 5, -8), (6, 10, -8), (0.88, 1.08, 0.93))
    moving = moved(head(), truth)
    result = g.register(head(), moving, "affine")
    save(before_and_after(head(), moving, truth, result.transform, Plane(head(), "Sagittal", 0.5)), "template.jpg")


@lru_cache(None)
def deformed():
    """Returns a deformed head as the fixed image, a moved one as the moving image, the transform that moved it, the true transform between
    both, and the result of registering them by an affine and a free-form stage."""
    bent, shift = deformation(), turned((4, -5, 7), (5, -4, 3))
    fixed = g.resample(head(), bent, reference=head())
    moving = moved(head(), shift)
    result = g.register(fixed, moving, ["affine", g.stages.FreeForm(spacing=8.0, levels=3, samples=200000)])
    return fixed, moving, shift, g.Composite([bent, shift]), result


def free_form() -> None:
    fixed, moving, _, truth, result = deformed()
    plane, pictures = Plane(fixed, "Axial", 0.52), []
    for title, transform in (
        ("before", None),
        ("after the affine stage", result.stages[0].transform),
        ("after the free-form stage", result.transform),
    ):
        warped = g.resample(moving, transform, reference=fixed)
        picture = overlay(plane.cut(fixed.array), plane.cut(warped.array))
        pictures.append(titled(picture, f"{title}: {distance(transform, truth, fixed)}"))
    # The picture shows the deformation alone, without the affine transform behind it.
    field = result.transform.transforms[0].to_displacement_field(fixed).array
    grid = grey(0.6 * plane.cut(fixed.array))
    bent_grid(grid, *plane.cut_vectors(field), 10)
    pictures.append(titled(grid, "where the free-form stage leads a grid"))
    save(above(beside(*pictures[:2]), beside(*pictures[2:])), "free-form.jpg")


def dense() -> None:
    bent, shift = deformation(spacing=24.0, largest=6.5, seed=9), turned((4, -5, 7), (5, -4, 3))
    fixed, moving = g.resample(head(), bent, reference=head()), moved(head(), shift)
    truth = g.Composite([bent, shift])
    result = g.register(fixed, moving, ["affine", "greedy"])
    plane, pictures = Plane(fixed, "Axial", 0.52), []
    for title, transform in (("before", None), ("after", result.transform)):
        picture = overlay(plane.cut(fixed.array), plane.cut(g.resample(moving, transform, reference=fixed).array))
        pictures.append(titled(picture, f"{title}: {distance(transform, truth, fixed)}"))
    grid = grey(0.6 * plane.cut(fixed.array))
    bent_grid(grid, *plane.cut_vectors(result.transform.transforms[0].to_displacement_field(fixed).array), 10)
    pictures.append(titled(grid, "where the greedy stage leads a grid"))
    back = g.resample(fixed, result.inverse, reference=moving)
    plane = Plane(moving, "Axial", 0.52)
    pictures.append(titled(overlay(plane.cut(back.array), plane.cut(moving.array)), "back, over the moving head"))
    save(above(beside(*pictures[:2]), beside(*pictures[2:])), "dense.jpg")


def carried_labels() -> None:
    fixed, _, shift, truth, result = deformed()
    own = g.resample(labels(), deformation(), reference=fixed, interpolation="nearest")
    moving = moved(labels(), shift, "nearest")
    plane, pictures = Plane(fixed, "Axial", 0.55), []
    for title, transform in (("before", None), ("after", result.transform)):
        carried = g.resample(moving, transform, reference=fixed, interpolation="nearest")
        dice = np.mean(list(compute_dice(own.array, carried.array).values()))
        picture = grey(0.75 * plane.cut(fixed.array))
        borders(picture, plane.cut(own.array), WHITE)
        borders(picture, plane.cut(carried.array), ORANGE)
        pictures.append(titled(picture, f"{title}: mean Dice {dice:.2f}"))
    save(beside(*pictures), "labels.jpg")


def failure() -> None:
    truth = turned((8, 95, -10), (6, -8, 4))
    moving = moved(head(), truth)
    plane, pictures = Plane(head(), "Coronal", 0.5), []
    for title, stages in (("affine", "affine"), ("global,affine", ["global", "affine"])):
        result = g.register(head(), moving, stages)
        picture = overlay(plane.cut(head().array), plane.cut(result.warped.array))
        pictures.append(titled(picture, f"{title}: {distance(result.transform, truth, head())} away"))
    save(beside(*pictures), "failure.jpg")


def cohort() -> None:
    """Photographs the page of a cohort of six, one of which has a file that cannot be read."""
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
        page = folder / "results" / "report.html"
        page.write_text(page.read_text(encoding="utf-8").replace(str(folder), "/data/study"), encoding="utf-8")
        _photograph(page, (1100, 900), "cohort.jpg")


def people() -> None:
    """Draws three people's images at 2 mm, and their mean from round to round."""
    found = sorted(Path(os.environ.get("GPUREG_PEOPLE", "")).glob("*_t1.nii.gz"))[:3]
    if len(found) < 3:
        print("people: GPUREG_PEOPLE names no folder with images *_t1.nii.gz of three people")
        return
    with tempfile.TemporaryDirectory(prefix="people-") as name:
        folder, rows, pictures = Path(name), ["image"], []
        for path in found:
            image = g.pyramid(g.read_image(path), 2)[1]
            g.write_image(folder / path.name, image)
            rows.append(path.name)
            pictures.append(_middle(image, f"person {len(pictures) + 1}"))
        (folder / "people.csv").write_text("\n".join(rows) + "\n")
        gpureg = [sys.executable, "-m", "gpuregistration"]
        subprocess.run([*gpureg, "template", "people.csv", "-o", "study"], cwd=folder, check=True)
        titles = {0: "the mean: centres", 1: "rigid", 2: "1 round", 3: "2 rounds", 5: "4 rounds"}
        for number, title in titles.items():
            mean = g.read_image(folder / "study" / "rounds" / str(number) / "mean.nii.gz")
            pictures.append(_middle(mean, title))
    save(above(beside(*pictures[:4]), beside(*pictures[4:])), "people.jpg")


def _middle(image: g.Image, title: str) -> Picture.Image:
    """Draws the axial plane through the middle of an image, with a title, and with a contrast of the image's own."""
    cut = Plane(image, "Axial", 0.5).cut(image.array.astype(np.float32))
    # Pictures of one size, with air above that the title's line takes.
    air = [(max(0, most - n) // 2, max(0, most - n) - max(0, most - n) // 2) for n, most in zip(cut.shape, (130, 96))]
    return titled(grey(np.pad(0.75 * cut / np.percentile(cut, 99.5), air)), title)


def _coarse(image: g.Image, times: int) -> g.Image:
    """Returns a grid over an image, whose voxels are so many `times` as long as the image's."""
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
    "dense": dense,
    "labels": carried_labels,
    "failure": failure,
    "cohort": cohort,
    "people": people,
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
