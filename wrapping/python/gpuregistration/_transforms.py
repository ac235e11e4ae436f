# SPDX-License-Identifier: Apache-2.0
"""Transforms, which map points of the fixed image's space to points of the moving image's space, in mm, x first (LPS)."""

from __future__ import annotations

import itertools
from functools import cached_property
from typing import TYPE_CHECKING, Any, Optional, Protocol, Sequence, Union

import numpy as np

from . import _engine
from ._checks import are_finite, read_numbers
from ._devices import DeviceLike, borrow_engine
from ._engine import BadInputError, UnsupportedError
from ._gpu_arrays import AnyArray, GpuArray, choose_device_of, hand_over, read_content
from ._image import Image, engine_map, engine_size
from ._inverse import InverseErrors, invert_chain, invert_vectors
from ._kept_fields import KeptField
from ._kinds import ImageLike, read_image
from ._slices import flattened, is_slice
from ._vectors import as_volume, from_volume, range_of_vectors
from ._writer import Writer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Voxels of a grid: more than rounding changes a point's index.
_ROUNDING = 1e-9

# Voxels of an inverse between control points: linear interpolation between them is off by a 200th of a cubic spline's second derivative.
_SAMPLES = 5


class Transform:
    """Base class of all transforms."""

    #: 2 or 3.
    dimension: int
    #: Warnings of reading its file.
    warnings: Sequence[str] = ()

    def _append_to(self, chain: _engine.Chain) -> None:
        raise NotImplementedError

    def _bounds(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the ends of a box, (d,) each, in mm, that contains the images of all points of a box."""
        raise NotImplementedError

    def chain(self) -> _engine.Chain:
        """Converts the transform to the engine's chain."""
        chain = _engine.Chain(self.dimension)
        self._append_to(chain)
        return chain

    def matrix_of(self) -> Optional[np.ndarray]:
        """Returns the homogeneous matrix, ``(d + 1, d + 1)``, of a linear transform, and None if the transform is not linear."""
        return None

    def transform_points(self, points: ArrayLike) -> np.ndarray:
        """Maps points, in doubles, on the host.

        Args:
            points: ``(…, d)``, in mm, x first.

        Returns:
            The mapped points, in the same shape. A point outside of a grid of vectors stays where it is, as in ITK.

        Raises:
            BadInputError: points have another shape.
        """
        places = read_numbers("The points' array", points)
        if places.shape[-1:] != (self.dimension,):
            raise BadInputError(f"Points of shape {places.shape} are not possible; they are to be of shape (…, {self.dimension}).")
        return self._map_points(places.reshape(-1, self.dimension)).reshape(places.shape)

    def _map_points(self, points: np.ndarray) -> np.ndarray:
        """Maps points, (n, d), in mm."""
        raise NotImplementedError

    def to_displacement_field(self, reference: ImageLike, device: Optional[DeviceLike] = None) -> "DisplacementField":
        """Computes the displacement of each voxel of a reference image, in mm, in doubles: ``[z, y, x, 3]`` or ``[y, x, 2]``. For a
        reference on a GPU the field is an array there, of the same library.

        Args:
            reference: an image of any kind, of which only the grid counts. It may have one slice if the transform has two dimensions.
            device: a device's name; the host computes for a device that has no doubles. None: the device of a reference on a GPU, or
                else the default one.

        Raises:
            BadInputError: the reference is no image, has other dimensions, or is on another GPU than the one that is to compute.
        """
        grid = read_grid(reference, self)
        name = choose_device_of(device, reference=grid.content)
        return _make_field(self, grid, name if _engine.has_doubles(name) else "host")

    def inverse(self, reference: Optional[ImageLike] = None, device: Optional[DeviceLike] = None) -> "Transform":
        """Computes the inverse, which maps the moving image's points to the fixed one's: of linear maps exactly, and of deformations as
        displacement fields, whose `inverse_errors` say how good they are, and whose `warnings` where they fold.

        Args:
            reference: an image of any kind, on whose grid the inverse of a deformation is computed. None: a DisplacementField's own grid,
                and for a BSpline its domain, in steps of a fifth of its spacing.
            device: a device's name; None: the default one.

        Raises:
            BadInputError: a matrix is singular, or the reference has other dimensions.
        """
        raise NotImplementedError

    def to_simpleitk(self) -> Any:
        """Converts to SimpleITK's transform, in doubles. Raises ImportError if there is no SimpleITK."""
        from ._simpleitk import SimpleITKWriter

        return self._write_by(SimpleITKWriter())

    def to_itk(self) -> Any:
        """Converts to ITK's transform, in doubles. Raises ImportError if there is no ITK for Python."""
        from ._itk import ITKWriter

        return self._write_by(ITKWriter())

    def _write_by(self, writer: Writer) -> Any:
        """Returns another library's transform."""
        raise NotImplementedError


class TransformOfITK(Protocol):
    """A transform of SimpleITK, or of ITK."""

    def TransformPoint(self, point: Any) -> Any: ...


#: Everything that may be handed in as a transform.
TransformLike = Union[Transform, TransformOfITK]


class _Grid(Transform):
    """Maps points by ``y = x + u(x)``, where vectors on a grid define u, which is 0 outside of the grid."""

    def __init__(
        self,
        array: Union[AnyArray, ArrayLike],
        spacing: Optional[ArrayLike] = None,
        origin: Optional[ArrayLike] = None,
        direction: Optional[ArrayLike] = None,
    ) -> None:
        vectors = read_content(array)
        what = type(self).__name__
        if vectors.ndim not in (3, 4) or vectors.shape[-1] != vectors.ndim - 1 or vectors.dtype.kind not in "iuf":
            raise BadInputError(
                f"A {what} of shape {vectors.shape} and type {vectors.dtype} is not possible; it is to be of [z, y, x, 3] or "
                "[y, x, 2] real numbers."
            )
        self.array: Any = array if isinstance(vectors, GpuArray) else vectors
        self._on_gpu = vectors if isinstance(vectors, GpuArray) else None
        if not isinstance(vectors, GpuArray):
            _check_vectors(vectors, what)
        # A grid by itself: it has no values.
        self._set_grid(Image(np.broadcast_to(np.float64(0), vectors.shape[:-1]), spacing, origin, direction))

    def _set_grid(self, grid: Image) -> None:
        """Sets the place of the vectors. grid: an image, of which only the grid counts."""
        self._shape = grid.shape + (grid.dimension,)
        self.dimension = grid.dimension
        self.spacing, self.origin, self.direction = grid.spacing, grid.origin, grid.direction
        self._to_grid = np.linalg.inv(grid.index_to_point)
        self._check_size()

    def _check_size(self) -> None:
        """Raises BadInputError if there are too few vectors."""

    def host_array(self) -> np.ndarray:
        """Returns the vectors as an array of NumPy; an array on a GPU is downloaded, in doubles.

        Raises:
            BadInputError: the downloaded array has a number that is not finite.
        """
        if self._on_gpu is None:
            return self.array
        vectors = self._on_gpu.download()
        _check_vectors(vectors, type(self).__name__)
        return vectors

    def _map_points(self, points: np.ndarray) -> np.ndarray:
        index = points @ self._to_grid[:-1, :-1].T + self._to_grid[:-1, -1]
        vectors = self.host_array()
        size = np.array(self._shape[-2::-1])
        is_inside = self._is_inside(index, size)
        first, weights = self._weights(index[is_inside])
        moved = points.copy()
        for node in itertools.product(range(weights.shape[-1]), repeat=self.dimension):
            weight = np.prod([weights[:, axis, n] for axis, n in enumerate(node)], axis=0)
            # The vectors at the grid's edge continue beyond it.
            place = np.clip(first + node, 0, size - 1)
            moved[is_inside] += weight[:, np.newaxis] * vectors[tuple(place[:, ::-1].T)]
        return moved

    def _is_inside(self, index: np.ndarray, size: np.ndarray) -> np.ndarray:
        """Returns which indices, (n, d), x first, have vectors around them: (n,), bool."""
        raise NotImplementedError

    def _weights(self, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Computes, along each axis, the first node that counts, (n, d), and the weights of this and the following nodes, (n, d, nodes)."""
        raise NotImplementedError

    def inverse(self, reference: Optional[ImageLike] = None, device: Optional[DeviceLike] = None) -> "DisplacementField":
        grid = self._inverse_grid() if reference is None else read_grid(reference, self)
        vectors, errors = invert_chain(self.chain(), grid, device)
        return DisplacementField(vectors, grid.spacing, grid.origin, grid.direction).with_errors(errors)

    def _inverse_grid(self) -> Image:
        """Returns the grid of the inverse if nobody says where it is to be."""
        raise NotImplementedError

    def _bounds(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        least, greatest = range_of_vectors(self.host_array())
        return low + np.minimum(least, 0), high + np.maximum(greatest, 0)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(shape={self._shape}, spacing={self.spacing.tolist()}, origin={self.origin.tolist()}, "
            f"direction={self.direction.tolist()})"
        )


def _check_vectors(vectors: np.ndarray, what: str) -> None:
    if not are_finite(vectors):
        raise BadInputError(f"A {what} has a number that is not finite.")


class BSpline(_Grid):
    """Deforms space by cubic B-splines, as ITK's BSplineTransform of order 3 does.

    Args:
        array: the control points' displacements in mm, ``[z, y, x, 3]`` or ``[y, x, 2]``, the component x first; at least 4 points along
            each axis.
        spacing, origin, direction: the place of the grid of control points, as Image has it.

    Raises:
        BadInputError: the array has another shape, or a number that is not finite; or the geometry does not fit to it.
    """

    def _check_size(self) -> None:
        if min(self._shape[:-1]) < 4:
            raise BadInputError(f"A BSpline has control points of shape {self._shape[:-1]}; along each axis there are to be 4 at least.")

    def _is_inside(self, index: np.ndarray, size: np.ndarray) -> np.ndarray:
        # Both ends belong to the domain, even if rounding moves a point on them: an image's outermost voxels may lie there.
        return np.all((index > 1 - _ROUNDING) & (index < size - 2 + _ROUNDING), axis=1)

    def _weights(self, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        base = np.floor(index)
        t = index - base
        weights = [(1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3]
        return base.astype(np.int64) - 1, np.stack(weights, axis=-1) / 6

    def _inverse_grid(self) -> Image:
        # The domain is between the second and the last but one of the control points.
        shape = tuple(_SAMPLES * (points - 3) + 1 for points in self._shape[:-1])
        origin = self.origin + self.direction @ self.spacing
        return Image(np.broadcast_to(np.float64(0), shape), self.spacing / _SAMPLES, origin, self.direction)

    def _append_to(self, chain: _engine.Chain) -> None:
        vectors = np.ascontiguousarray(as_volume(self.host_array()), dtype=np.float64)
        chain.append_spline(vectors, engine_map(self._to_grid))

    def _write_by(self, writer: Writer) -> Any:
        return writer.bspline(self)


class DisplacementField(_Grid):
    """Displaces each voxel of a grid, with linear interpolation between voxels.

    Args:
        array: displacements in mm, ``[z, y, x, 3]`` or ``[y, x, 2]``, the component x first. An array on a GPU is downloaded each time
            the transform is used.
        spacing, origin, direction: the place of the grid, as Image has it.

    Raises:
        BadInputError: the array has another shape, or a number that is not finite (on a GPU this is found when it is downloaded); or the
            geometry does not fit to it.
    """

    #: Where the vectors are until they are asked for, if a registration has left them on a device; else None.
    _kept: Optional[KeptField] = None
    #: How well a field that is an inverse undoes its deformation, where a registration or inverse() has found it; None for any other field.
    inverse_errors: Optional[InverseErrors] = None

    @classmethod
    def _keep(cls, on_device: _engine.FieldOnDevice, grid: Image) -> "DisplacementField":
        """Makes a field whose vectors stay on a device until they are asked for. grid: an image, of which only the grid counts."""
        field = cls.__new__(cls)
        field._kept = KeptField(on_device)
        field._on_gpu = None
        field._set_grid(grid)
        return field

    # For a type checker it is the attribute that every grid has.
    if not TYPE_CHECKING:

        @cached_property
        def array(self) -> Any:
            # Any other field has its array from the beginning.
            assert self._kept is not None
            vectors = from_volume(self._kept.vectors(), self.dimension)
            _check_vectors(vectors, type(self).__name__)
            return vectors

    def __getstate__(self) -> dict[str, Any]:
        # Neither another process nor a copy shares the device's memory.
        return {**self.__dict__, "array": self.array, "_kept": None}

    def with_errors(self, errors: InverseErrors) -> "DisplacementField":
        """Sets the errors of a field that is an inverse, with their warnings, and returns it."""
        self.inverse_errors = errors
        self.warnings = errors.warnings()
        return self

    def inverse(self, reference: Optional[ImageLike] = None, device: Optional[DeviceLike] = None) -> "DisplacementField":
        if reference is not None:
            return super().inverse(reference, device)
        vectors, errors = invert_vectors(self.host_array(), np.linalg.inv(self._to_grid), device)
        return DisplacementField(vectors, self.spacing, self.origin, self.direction).with_errors(errors)

    def _is_inside(self, index: np.ndarray, size: np.ndarray) -> np.ndarray:
        return np.all((index >= -0.5) & (index < size - 0.5), axis=1)

    def _weights(self, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        base = np.floor(index)
        return base.astype(np.int64), np.stack([1 - (index - base), index - base], axis=-1)

    def _append_to(self, chain: _engine.Chain) -> None:
        kept = self._kept
        on_device = kept.on_device if kept is not None and "array" not in self.__dict__ else None
        if on_device is not None:
            chain.append_field_on_device(on_device, engine_map(self._to_grid))
            return
        vectors = self.host_array()
        kind = np.float32 if vectors.dtype == np.float32 else np.float64
        chain.append_field(np.ascontiguousarray(as_volume(vectors), dtype=kind), engine_map(self._to_grid))

    def _write_by(self, writer: Writer) -> Any:
        return writer.field(self)


def lies_on(field: DisplacementField, grid: Image) -> bool:
    """Returns whether a field has exactly the voxels of a grid."""
    same = [np.array_equal(getattr(field, name), getattr(grid, name)) for name in ("spacing", "origin", "direction")]
    return all(same) and field._shape[:-1] == grid.shape


def linear_matrix(transform: Transform, what: str) -> np.ndarray:
    """Returns the homogeneous matrix, (d + 1, d + 1), of a linear transform. Raises UnsupportedError if it is not linear."""
    matrix = transform.matrix_of()
    if matrix is None:
        raise UnsupportedError(f"The {what} is not linear. Resample the moving image by it, and register that.")
    return matrix


def check_dimension(transform: Transform, dimension: int, what: str = "transform") -> None:
    """Checks a transform's dimensions. Raises BadInputError."""
    if transform.dimension != dimension:
        raise BadInputError(
            f"The {what} has {transform.dimension} dimensions, and {dimension} are needed. Hand in one of {dimension}."
        )


def read_grid(reference: ImageLike, transform: Transform) -> Image:
    """Reads an image of any kind, of which only the grid counts. It may have one slice if the transform has two dimensions. Raises
    BadInputError."""
    grid, _ = read_image(reference, "reference")
    if transform.dimension == 2 and is_slice(grid):
        grid = flattened(grid)
    check_dimension(transform, grid.dimension)
    return grid


def _make_field(transform: Transform, grid: Image, device: str) -> DisplacementField:
    """Computes a displacement field where the grid's own array is: on a GPU, or on the host."""
    d = grid.dimension
    corners = np.stack(np.meshgrid(*[[0.0, n - 1.0] for n in grid.size], indexing="ij"), axis=-1).reshape(-1, d)
    corners = corners @ grid.index_to_point[:-1, :-1].T + grid.origin
    low, high = transform._bounds(corners.min(axis=0), corners.max(axis=0))
    margin = 1.0 + 0.01 * (high - low)
    ends = np.zeros((2, 3))
    ends[:, :d] = low - margin, high + margin
    request = _engine.DisplacementRequest(
        transform.chain(), engine_size(grid), engine_map(grid.index_to_point), ends[0].tolist(), ends[1].tolist()
    )
    content = grid.content
    shape = grid.shape + (d,)
    with borrow_engine(_engine.Resampler, device) as resampler:
        if isinstance(content, GpuArray):
            array = hand_over(resampler.compute_displacements_on_device(request, shape), content.array)
        else:
            array = resampler.compute_displacements(request).reshape(shape)
    return DisplacementField(array, grid.spacing, grid.origin, grid.direction)
