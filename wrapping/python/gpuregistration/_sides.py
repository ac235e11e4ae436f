# SPDX-License-Identifier: Apache-2.0
"""Reads and checks the two images of a registration and their masks, and uploads them to a device."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _engine
from ._checks import check_finite
from ._devices import DeviceLike
from ._engine import BadInputError
from ._gpu_arrays import GpuArray, choose_device_of
from ._grey import as_grey
from ._image import ONE_OF_THEM, Image, as_volume, engine_map, has_values, no_values, on_device, require_scalar
from ._kinds import ImageLike, Wrap, is_bare_array, is_image_with_grid, read_image
from ._slices import can_be_flat, check_planes, flattened, is_slice, reshaped
from ._warnings import remember_input_warnings

# On the host: floats [z, y, x], 0 or 1.
Mask = Union[np.ndarray, GpuArray]

# Names of images in errors if they come from no file, and hints.
_NAMES = {
    "fixed": "fixed image",
    "moving": "moving image",
    "fixed_mask": "fixed image's mask",
    "moving_mask": "moving image's mask",
}
#: What to do with a mask of other voxels than its image's.
HINT_OF_MASKS = 'Resample it on the image\'s grid: resample(mask, None, image, interpolation="nearest").'
ONE_IN_FILE = "Give a file of one of them."


@dataclass
class Pair:
    """Holds the two images of a registration and their masks.

    Attributes:
        fixed, moving: images of one number a voxel, both of two or both of three dimensions: slices are flat here.
        fixed_mask, moving_mask: None if all voxels count.
        wrap: makes an image of the kind that the moving image was handed in as.
        grid: the fixed image as it was handed in, which may have one slice: results lie on its grid.
        warnings: the warnings of the images and the masks, and of reading their files.
        extents: the least and the largest value of the fixed and of the moving image; None where that is not known, as on a GPU and of
            images without values.
        slices: the fixed and the moving image as they were handed in, where they are slices that say where they lie, else None.
    """

    fixed: Image
    moving: Image
    fixed_mask: Optional[Mask]
    moving_mask: Optional[Mask]
    wrap: Wrap
    grid: Image
    warnings: Sequence[str] = ()
    extents: Sequence[Optional[tuple[Any, Any]]] = (None, None)
    slices: Sequence[Optional[Image]] = (None, None)

    @cached_property
    def ranges(self) -> list[Optional[list[float]]]:
        """The range of the fixed and of the moving image's values without outliers, as the engine finds it; None where there are none, or
        where values are not known on the host."""
        return [_find_range(image, extent) for image, extent in zip((self.fixed, self.moving), self.extents)]

    @property
    def dimension(self) -> int:
        return self.fixed.dimension

    def load(self, device: str, keeps_short: bool = False) -> tuple[_engine.Side, _engine.Side]:
        """Uploads the images and masks to a device, and returns the fixed side and the moving side. keeps_short: as of on_device()."""

        def side(image: Image, mask: Optional[Mask]) -> _engine.Side:
            return _engine.Side(on_device(image, device, keeps_short), _load_mask(mask, device), engine_map(image.index_to_point))

        return side(self.fixed, self.fixed_mask), side(self.moving, self.moving_mask)

    def on_host(self) -> "Pair":
        """Returns the pair with arrays of NumPy: arrays on a GPU are downloaded."""
        return Pair(
            self.fixed.on_host(),
            self.moving.on_host(),
            _download_mask(self.fixed_mask),
            _download_mask(self.moving_mask),
            self.wrap,
            self.grid,
            self.warnings,
            self.extents,
            self.slices,
        )

    def wrap_warped(self, array: Any) -> Any:
        """Makes an image of the moving image's kind, in the fixed image's shape, of values on the fixed image's voxels."""
        return self.wrap(self.grid.like(reshaped(array, self.grid.shape)))

    def choose_device(self, name: Optional[DeviceLike]) -> str:
        """Returns the name of the device that computes, see choose_device_of()."""
        return choose_device_of(
            name,
            fixed_image=self.fixed.content,
            moving_image=self.moving.content,
            fixed_mask=self.fixed_mask,
            moving_mask=self.moving_mask,
        )


def _download_mask(mask: Optional[Mask]) -> Optional[np.ndarray]:
    return (mask.download() != 0).astype(np.float32) if isinstance(mask, GpuArray) else mask


def _load_mask(mask: Optional[Mask], device: str) -> Optional[_engine.DeviceArray]:
    if mask is None:
        return None
    return mask.borrow_mask() if isinstance(mask, GpuArray) else _engine.load(device, mask, mask.shape)


def read_pair(
    fixed: ImageLike,
    moving: ImageLike,
    fixed_mask: Optional[ImageLike],
    moving_mask: Optional[ImageLike],
    geometry: Mapping[str, Any],
    files: Optional[Mapping[str, str]] = None,
    has_gaps: bool = False,
    dimension: Optional[int] = None,
    needs_values: bool = True,
) -> Pair:
    """Reads images and masks of any kind. Grey images that are stored as colours become grey, and images of one slice become flat.

    Args:
        geometry: spacing, origin and direction of bare arrays, as far as they are given.
        files: the files of the images and masks, by the names of these arguments; errors name them. None: they are in memory.
        has_gaps: accepts values that are infinite or not a number, which the caller leaves out.
        dimension: 3 leaves slices as they are; None makes them flat unless the other image is a volume.
        needs_values: False: images and masks may have none (no_values()), of which the grid and the type alone are looked at.

    Raises:
        BadInputError: something is no image, the images do not fit to each other, or a value is not finite.
    """
    paths = files or {}
    names = {**_NAMES, **{which: f"file {path}" for which, path in paths.items()}}
    images = {"fixed": fixed, "moving": moving}
    check_kinds(images, geometry)
    warnings = [text for one in (fixed, moving, fixed_mask, moving_mask) if isinstance(one, Image) for text in one.warnings]
    # Reading another library's image may read its file.
    with remember_input_warnings(warnings):
        fixed_image, _ = read_image(fixed, "fixed", **geometry)
        moving_image, wrap = read_image(moving, "moving", **geometry)
    grids = fixed_image, moving_image
    if dimension is None:
        _check_extents(fixed_image, moving_image, names, paths)
    if dimension != 3:
        check_planes(fixed_image, moving_image, names["fixed"], names["moving"])
        fixed_image, moving_image = _make_flat(fixed_image, moving_image)
    if fixed_image.dimension != moving_image.dimension:
        raise BadInputError(
            f"The {names['fixed']} has {fixed_image.dimension} dimensions and the {names['moving']} {moving_image.dimension}: give two "
            "images of the same, such as one slice of the larger one."
        )
    fixed_image = _read_grey(fixed_image, names["fixed"], "fixed" in paths)
    moving_image = _read_grey(moving_image, names["moving"], "moving" in paths)
    # The engine checks the values of an array on a GPU.
    extents = [
        _check_values(image.content, names[which], which in paths, has_gaps)
        if not isinstance(image.content, GpuArray) and (needs_values or has_values(image.content))
        else None
        for which, image in (("fixed", fixed_image), ("moving", moving_image))
    ]
    with remember_input_warnings(warnings):
        masks = [
            _read_mask(mask, image, grid, which, names, paths, needs_values)
            for mask, image, grid, which in zip((fixed_mask, moving_mask), (fixed_image, moving_image), grids, images)
        ]
    slices = [grid if is_slice(grid) and not is_bare_array(image) else None for grid, image in zip(grids, (fixed, moving))]
    return Pair(fixed_image, moving_image, masks[0], masks[1], wrap, grids[0], list(dict.fromkeys(warnings)), extents, slices)


def read_geometry(spacing: Any, origin: Any, direction: Any) -> dict[str, Any]:
    """Returns the geometry of bare arrays, by the names that read_pair() and read_also() take, as far as it is given: None is left out."""
    given = {"spacing": spacing, "origin": origin, "direction": direction}
    return {name: value for name, value in given.items() if value is not None}


def _make_flat(*images: Image) -> Sequence[Image]:
    """Returns the images in two dimensions if all of them can be flat, and as they are otherwise."""
    return [flattened(image) for image in images] if all(can_be_flat(image) for image in images) else images


def _check_extents(fixed: Image, moving: Image, names: Mapping[str, str], files: Mapping[str, str]) -> None:
    """Checks that both images are slices or both are volumes. Raises BadInputError."""
    if fixed.dimension != 3 or moving.dimension != 3 or is_slice(fixed) == is_slice(moving):
        return
    thin, thick = ("fixed", "moving") if is_slice(fixed) else ("moving", "fixed")
    hint = f"resample({thick}, None, {thin}) makes one of its voxels there."
    if files:
        words = ["gpureg", "apply", _as_word(files[thick]), "--reference", _as_word(files[thin]), "-o", "SLICE.nii.gz"]
        hint = f"This makes one of its voxels there: {shlex.join(words)}"
    raise BadInputError(
        f"The {names[thin]} is one slice, {(fixed if thin == 'fixed' else moving).size}, and the {names[thick]} a volume, "
        f"{(fixed if thick == 'fixed' else moving).size}: register the slice with a slice of the volume. {hint}"
    )


def check_kinds(images: Mapping[str, Any], geometry: Mapping[str, Any], hint: str = "; register takes its spacing, too") -> None:
    """Checks that the geometry of bare arrays is known. Raises BadInputError if an array without a spacing, whose voxels would be of 1 mm,
    stands beside an image that has one; or if a geometry is given although there is no array. hint: what else there is to do."""
    bare = [which for which, image in images.items() if is_bare_array(image)]
    placed = [which for which, image in images.items() if is_image_with_grid(image)]
    if bare and placed and "spacing" not in geometry:
        raise BadInputError(
            f"The {bare[0]} image is an array that does not say how large its voxels are, and the other image does. Hand in "
            f"gpuregistration.Image(array, spacing, origin, direction){hint}."
        )
    if geometry and len(placed) == len(images):
        raise BadInputError(f"The {' and '.join(geometry)} is of bare arrays, and both images say where their voxels are. Leave it out.")


def _read_grey(image: Image, name: str, is_of_file: bool) -> Image:
    hint = ONE_IN_FILE if is_of_file else ONE_OF_THEM
    grey = as_grey(image, name, hint)
    require_scalar(grey, name, hint)
    return grey


# The last images' sizes: of a cohort all are alike.
@lru_cache(maxsize=4)
def _list_picked_places(count: int) -> np.ndarray:
    return np.array(_engine.list_picked_places(count))


def _find_range(image: Image, extent: Optional[tuple[Any, Any]]) -> Optional[list[float]]:
    """Returns the range of an image's values without outliers, or None if there are none. extent: its least and its largest value"""
    values = image.content
    if extent is None or isinstance(values, GpuArray):
        return None
    real: Any = np.float64 if values.dtype.kind == "f" and values.dtype.itemsize == 8 else np.float32
    places = _list_picked_places(values.size)
    picked = values.reshape(-1)[places] if values.flags.c_contiguous else values[np.unravel_index(places, values.shape)]
    return _engine.find_range(picked.astype(real).tolist(), [float(real(end)) for end in extent])


def _check_values(array: np.ndarray, name: str, is_of_file: bool, has_gaps: bool) -> tuple[Any, Any]:
    """Checks an image's values. Raises BadInputError if they are not finite, or if nothing can be registered by them. Returns the least
    and the largest one.

    Args:
        has_gaps: values that are infinite or not a number are left out.
    """
    if not has_gaps:
        check_finite(name, array, is_of_file)
    elif array.dtype.kind == "f":
        array = array[np.isfinite(array)]
        if not array.size:
            raise BadInputError(f"The {name} has no value that is a finite number. There is nothing to compare; is it the right image?")
    least, most = array.min(), array.max()
    if least == most:
        raise BadInputError(
            f"The {name} is constant: each value is {least}. There is nothing to register; is it the right image?"
        )
    # The device computes with floats.
    if array.dtype.kind in "iu" and array.dtype.itemsize > 2 and np.float32(least) == np.float32(most):
        raise BadInputError(
            f"The {name} has values from {least} to {most}, which are the same as floats of 32 bits. Subtract the least one."
        )
    return least, most


def _read_mask(
    mask: Any, image: Image, grid: Image, which: str, names: Mapping[str, str], files: Mapping[str, str], needs_values: bool
) -> Optional[Mask]:
    """Reads an image's mask.

    Args:
        image: the image, flat if it has one slice.
        grid: the image as it was handed in.
        which: "fixed" or "moving".
        needs_values: as of read_pair().
    """
    if mask is None:
        return None
    name = f"{which}_mask"
    read = _read_grey(read_image(mask, f"{which} mask's")[0], names[name], name in files)
    flat = flattened(read) if image.dimension == 2 and is_slice(read) else read
    # A bare array has nothing but its shape to compare.
    if flat.shape != image.shape or is_image_with_grid(mask):
        hint = hint_of_files(files[name], files[which]) if name in files else HINT_OF_MASKS
        check_grid(read, grid, names[name], names[which], hint, name in files)
    read = flat
    if isinstance(read.content, GpuArray):
        return read.content
    if not needs_values and not has_values(read.content):
        return no_values(np.float32, as_volume(read.content).shape)
    if read.content.dtype.kind == "f" and np.isnan(read.content).any():
        raise BadInputError(f"The {names[name]} has values that are not a number, neither inside nor outside. Replace them.")
    inside = as_volume(read.content) != 0
    if not inside.any():
        mask_file = f", {files[name]}" if name in files else ""
        raise BadInputError(f"No voxel of the {which} image is inside of its mask{mask_file}. Set another mask, or none.")
    return np.ascontiguousarray(inside, dtype=np.float32)


# The largest distance of two grids, in voxels, at which a voxel of one has the same index as the nearest voxel of the other: a little less
# than half, since numbers are rounded.
_MOST_APART = 0.499


def check_grid(image: Image, reference: Image, name: str, reference_name: str, hint: str, is_of_file: bool) -> None:
    """Checks that an image is on a reference's grid: at each corner less than half a voxel apart, so that the nearest voxel has the same
    index everywhere.

    Args:
        image, reference: an image of two dimensions lies in the plane of the other one, if that is a slice.
        name, reference_name: such as "moving image", or "file a.nii".
        hint: says what to do; it ends the error.
        is_of_file: True if the image was read from a file, of which all numbers are in the order x, y, z.

    Raises:
        BadInputError: it is not.
    """
    if image.dimension != reference.dimension:
        image, reference = _make_flat(image, reference)
    if image.shape != reference.shape:
        what, sizes = ("size", (image.size, reference.size)) if is_of_file else ("shape", (image.shape, reference.shape))
        apart = f": its {what} is {sizes[0]}, and not {sizes[1]}"
    else:
        shifts = reference.corners - image.corners
        voxels = float(np.abs(shifts @ np.linalg.inv(image.index_to_point[:-1, :-1]).T).max())
        if voxels < _MOST_APART:
            return
        most = float(np.linalg.norm(shifts, axis=1).max())
        apart = f": voxels of the same index are up to {most:.4g} mm, {voxels:.3g} voxels, apart{_describe_difference(image, reference)}"
    raise BadInputError(f"The {name} is on another grid than the {reference_name}{apart}. {hint}")


def _describe_difference(image: Image, reference: Image) -> str:
    """Describes how two grids differ, such as ", of spacing (1, 1, 2) and not (1, 1, 1)"."""
    parts = []
    for what in ("spacing", "origin", "direction"):
        one, other = getattr(image, what), getattr(reference, what)
        if not np.allclose(one, other, rtol=1e-6, atol=1e-6):
            parts.append(f"of {what} {np.round(one, 6).tolist()} and not {np.round(other, 6).tolist()}")
    return "".join(f", {part}" for part in parts)


def hint_of_files(path: str, reference: str) -> str:
    """Returns a hint: the command that resamples a file of labels, or of a mask, on a reference's grid."""
    words = ["gpureg", "apply", _as_word(path), "--reference", _as_word(reference), "--interpolation", "nearest", "-o", "NEW.nii.gz"]
    return f"This makes one that fits: {shlex.join(words)}"


def _as_word(path: str) -> str:
    """Returns a file's name such that no command takes it for an option."""
    return f"./{path}" if path.startswith("-") else path


def mask_of_image(mask: Mask, image: Image) -> np.ndarray:
    """Returns a Pair's mask on the host, 0 and 1, in the shape of its image's array."""
    values = mask.download() if isinstance(mask, GpuArray) else mask
    return (values != 0).astype(np.uint8).reshape(image.shape)
