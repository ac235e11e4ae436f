# SPDX-License-Identifier: Apache-2.0
"""Converts a registration's arrays to the data that the page's script reads."""

from __future__ import annotations

import dataclasses

import numpy as np

from . import geometry, intensities, jacobian, pictures
from .data import ReportData

# Largest number of voxels that are shown of each image, and the qualities of JPEG that are tried until the size is allowed.
VOXELS = 12_000_000
QUALITIES = (90, 80, 70)
# Largest number of voxels of the determinant's map, and of nodes of the displacement that the grid is drawn from.
MAP_VOXELS = 1_500_000
NODES = 130_000

# Bytes of the determinant's map: two marks, then the logarithm around the middle.
FOLDED, NOT_FINITE, MIDDLE, HALF = 0, 1, 128, 126
# The colours' ends: the first that covers nearly all voxels, so that maps of different registrations use the same colours.
MAP_ENDS = (1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0)


@dataclasses.dataclass
class Deformation:
    """Holds the determinant and its extremes."""

    determinant: np.ndarray
    whole: jacobian.Extremes
    inside: jacobian.Extremes | None
    longest: float | None


def deformation_of(data: ReportData) -> Deformation | None:
    if data.displacement is None:
        return None
    values = jacobian.determinant(data.displacement, data.index_to_point)
    inside = jacobian.extremes(values, data.fixed_mask) if data.fixed_mask is not None else None
    squares = np.zeros(values.shape, np.float32)
    for c in range(data.dimension):
        squares += np.square(np.asarray(data.displacement)[..., c], dtype=np.float32)
    squares = squares[np.isfinite(squares)]
    longest = float(np.sqrt(squares.max())) if squares.size else None
    return Deformation(values, jacobian.extremes(values), inside, longest)


def build(data: ReportData, deformation: Deformation | None, max_bytes: int) -> tuple[dict, list[str]]:
    """Returns the data that the script reads, and sentences on what was left out."""
    notes: list[str] = []
    flat = data.dimension == 2
    size = (*data.size, 1) if flat else data.size
    spacing = (*(float(s) for s in data.spacing), 1.0) if flat else tuple(float(s) for s in data.spacing)

    def volume(array: np.ndarray) -> np.ndarray:
        array = np.asarray(array)
        return array[np.newaxis] if flat else array

    fixed_scale = intensities.scale_of(data.fixed)
    moving_scale = intensities.scale_of(data.moving_before, data.moving_after)
    images = {
        "fixed": (intensities.to_bytes(volume(data.fixed), fixed_scale), fixed_scale),
        "before": (intensities.to_bytes(volume(data.moving_before), moving_scale), moving_scale),
        "after": (intensities.to_bytes(volume(data.moving_after), moving_scale), moving_scale),
    }
    missing = {
        label: int(np.size(array) - np.isfinite(array).sum())
        for label, array in (("fixed", data.fixed), ("moving before", data.moving_before), ("moving after", data.moving_after))
        if np.asarray(array).dtype.kind == "f"
    }
    for label, count in missing.items():
        if count:
            notes.append(f"{count:,} voxels of the image “{label}” are not finite; they are shown as black.")

    payload = {
        "dimension": data.dimension,
        "size": list(size),
        "spacing": list(spacing),
        "origin": [float(v) for v in data.origin],
        "indexToPoint": data.index_to_point.tolist(),
        "planes": geometry.planes(data.direction_matrix),
        "histograms": _histograms(data, images),
        "stages": [
            {"name": str(name), "levels": [{"name": str(level), "costs": _plain(costs)} for level, costs in levels]}
            for name, _, levels in data.stages
        ],
    }

    if deformation is not None:
        payload["jacobian"] = _map(deformation.determinant, volume, size, spacing, notes)
        payload["field"] = _field(data, size, notes)
    used = sum(pictures.packed_size(payload[name]["packed"]) for name in ("jacobian", "field") if name in payload)
    payload["images"], strides = _images(images, size, spacing, max_bytes - used - 200_000, notes)
    payload["masks"] = {
        name: {"stride": list(strides), "packed": pictures.sheets(pictures.any_of(volume(mask), strides), None)}
        for name, mask in (("fixed", data.fixed_mask), ("moving", data.moving_mask))
        if mask is not None
    }
    return payload, notes


def _images(images: dict, size: tuple, spacing: tuple, max_bytes: int, notes: list[str]) -> tuple[dict, tuple[int, ...]]:
    """Packs the images with the most voxels and the best quality that fit."""
    voxels = VOXELS
    while True:
        strides = pictures.reduce_strides(size, spacing, voxels)
        reduced = {name: pictures.average(volume, strides) for name, (volume, _) in images.items()}
        for quality in QUALITIES:
            packed = {name: pictures.sheets(volume, quality) for name, volume in reduced.items()}
            if sum(map(pictures.packed_size, packed.values())) <= max_bytes:
                break
        else:
            if voxels > 1000:
                voxels //= 2
                continue
        break
    steps = " × ".join(str(s) for s in strides)
    if max(strides) > 1:
        notes.append(f"Images are shown with blocks of {steps} voxels averaged.")
    else:
        notes.append("Images are shown in full resolution.")
    notes.append(
        f"Their values are 8 bit, as JPEG of quality {quality}: "
        "those at the crosshair are right to about a hundredth of the image’s range."
    )
    return {
        name: {
            "stride": list(strides),
            "packed": packed[name],
            "scale": dataclasses.asdict(scale),
        }
        for name, (_, scale) in images.items()
    }, strides


def _histograms(data: ReportData, images: dict) -> dict:
    inside = slice(None)
    if data.fixed_mask is not None and np.any(data.fixed_mask):
        inside = np.asarray(data.fixed_mask).reshape(-1) != 0
    pair = [images[name][0].reshape(-1)[inside] for name in ("fixed", "before", "after")]
    return {
        "bins": intensities.BINS,
        "before": intensities.joint_histogram(pair[0], pair[1]).reshape(-1).tolist(),
        "after": intensities.joint_histogram(pair[0], pair[2]).reshape(-1).tolist(),
    }


def map_end(values: np.ndarray) -> float:
    """Chooses the determinant at one end of the colours; its inverse is at the other end."""
    some = intensities.sample(values)
    some = some[some > 0]
    if not some.size:
        return MAP_ENDS[0]
    far = float(np.exp(np.percentile(np.abs(np.log(some)), 99.5)))
    return next((end for end in MAP_ENDS if end >= far), MAP_ENDS[-1])


def map_bytes(values: np.ndarray, end: float) -> np.ndarray:
    """Converts the map of determinants to bytes."""
    result = np.empty(values.shape, np.uint8)
    for n, part in enumerate(values):
        finite = np.isfinite(part)
        folded = finite & (part <= 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            steps = np.rint(np.log(np.where(finite & ~folded, part, 1)) * (HALF / np.log(end)))
        codes = MIDDLE + np.clip(steps, -HALF, HALF)
        codes[folded] = FOLDED
        codes[~finite] = NOT_FINITE
        result[n] = codes
    return result


def _map(values: np.ndarray, volume, size: tuple, spacing: tuple, notes: list[str]) -> dict:
    end = map_end(values)
    strides = pictures.reduce_strides(size, spacing, MAP_VOXELS)
    codes = pictures.furthest_from(map_bytes(volume(values), end), MIDDLE, MIDDLE - HALF, strides)
    if max(strides) > 1:
        steps = " × ".join(str(s) for s in strides)
        notes.append(
            f"The determinant’s map has one value for {steps} voxels: "
            "the one furthest from 1, and a fold where any voxel is folded. "
            "The extremes and the count of folded voxels are of all voxels."
        )
    return {"stride": list(strides), "end": end, "packed": pictures.sheets(codes, None)}


def _field(data: ReportData, size: tuple, notes: list[str]) -> dict:
    """Packs the displacement along the image's axes, in mm, at nodes some voxels apart, as 16-bit integers."""
    axes = [1.0] * data.dimension
    strides = pictures.reduce_strides(data.size, tuple(axes), NODES)
    nodes = [sorted({*range(0, n, s), n - 1}) for n, s in zip(data.size, strides)]
    picked = np.asarray(data.displacement)[np.ix_(*nodes[::-1])].astype(np.float64)
    # A vector v in LPS is M^-1 v in voxels; times the spacing, it is in mm along the axes.
    steps = picked @ np.linalg.inv(data.index_to_point).T * np.asarray(data.spacing, dtype=float)
    finite = np.isfinite(steps).all(axis=-1)
    largest = float(np.abs(steps[finite]).max()) if finite.any() else 0.0
    unit = largest / 32767 if largest > 0 else 1.0
    numbers = np.where(finite[..., np.newaxis], np.rint(np.where(finite[..., np.newaxis], steps, 0) / unit), -32768)
    numbers = np.moveaxis(numbers.astype(np.int16), -1, 0).view(np.uint16)
    # High bytes stand before low ones: they are smooth, and compress well.
    halves = np.stack([numbers >> 8, numbers & 255]).astype(np.uint8)
    if max(strides) > 1:
        steps_text = " × ".join(str(s) for s in strides)
        notes.append(f"The grid is drawn from the displacement at every {steps_text} voxels, interpolated linearly.")
    if len(nodes) == 2:
        nodes.append([0])
        strides = (*strides, 1)
    return {
        "stride": list(strides),
        "nodes": [len(n) for n in nodes],
        "components": data.dimension,
        "unit": unit,
        "packed": pictures.byte_sheets(halves),
    }


def _plain(costs) -> list[float | None]:
    """Converts costs for JSON, which has no NaN."""
    return [float(c) if np.isfinite(c) else None for c in np.asarray(list(costs), dtype=float)]
