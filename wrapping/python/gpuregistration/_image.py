# SPDX-License-Identifier: Apache-2.0
"""Images: an array and where its voxels are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from . import _engine
from ._checks import read_numbers
from ._engine import BadInputError
from ._gpu_arrays import AnyArray, GpuArray, read_content
from ._slabs import cast

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Image:
    """An image of two or three dimensions, of a number or of several a voxel.

    Args:
        array: values, in the order of NumPy's indices: ``[z, y, x]``, or ``[y, x]``, of any real type and memory layout. An array on a
            GPU, of CuPy, PyTorch or another library that has DLPack or CUDA's array interface, stays there, and must be contiguous.
            Floats and doubles are read where they are; other numbers are converted there. Each function waits until the array is
            computed, and reads it again; the array must not be changed until the function returns.
        spacing: mm between voxels along x, y (and z); greater than 0. 1 unless it is given.
        origin: mm, the point of voxel 0. 0 unless it is given.
        direction: a matrix whose columns are the directions of the image's axes x, y (and z). The identity unless it is given.
        is_vector: the array has one more axis, the last one: of components, such as a colour's. Such images are resampled and
            smoothed, on the host's memory alone; they are registered where they are grey, with the same in each of three components.

    Points are those of ITK: the patient's left, posterior and superior (LPS), x first.

    Raises:
        BadInputError: the array has other dimensions, no voxels, or values that are not real numbers; or the geometry does not
            fit to it.
    """

    def __init__(
        self,
        array: Union[AnyArray, ArrayLike],
        spacing: Optional[ArrayLike] = None,
        origin: Optional[ArrayLike] = None,
        direction: Optional[ArrayLike] = None,
        is_vector: bool = False,
    ) -> None:
        content = read_content(array)
        self.array: Any = array if isinstance(content, GpuArray) else content
        self._on_gpu = content if isinstance(content, GpuArray) else None
        self.is_vector = bool(is_vector)
        #: False of what another library has read from a file that does not say where its voxels are: its grid is that library's own choice.
        self.is_placed = True
        #: Holds the warnings of reading its file. They belong to the grid as much as to the values.
        self.warnings: list[str] = []
        _check_array(self.content, self.is_vector)
        self.spacing = _read_vector(spacing, 1.0, self.dimension, "spacing")
        self.origin = _read_vector(origin, 0.0, self.dimension, "origin")
        self.direction = _read_direction(direction, self.dimension)
        if not (self.spacing > 0).all():
            raise BadInputError(f"An image's spacing is {self.spacing.tolist()}; each is to be greater than 0.")

    @property
    def content(self) -> Union[np.ndarray, GpuArray]:
        """The array as this package reads it."""
        return self.array if self._on_gpu is None else self._on_gpu

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return len(self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """Voxels along (z,) y and x: the array's shape, but for components."""
        return self.content.shape[: self.content.ndim - int(self.is_vector)]

    @property
    def components(self) -> int:
        """How many numbers a voxel has; 1 of a scalar image."""
        return self.content.shape[-1] if self.is_vector else 1

    @property
    def size(self) -> tuple[int, ...]:
        """Voxels along x, y (and z): the shape the other way round."""
        return self.shape[::-1]

    @property
    def index_to_point(self) -> np.ndarray:
        """The matrix, of ``dimension + 1`` rows, that leads from an index ``(x, y, z, 1)`` to its point, in mm."""
        matrix = np.eye(self.dimension + 1)
        matrix[:-1, :-1] = self.direction * self.spacing
        matrix[:-1, -1] = self.origin
        return matrix

    def like(self, array: Union[AnyArray, ArrayLike]) -> "Image":
        """Returns an image of another array on the same grid. The array has the image's shape, or an axis of components more.

        Raises:
            BadInputError: the array has another shape, or values that are not real numbers.
        """
        is_vector = read_content(array).ndim > self.dimension
        image = Image(array, self.spacing, self.origin, self.direction, is_vector)
        if image.shape != self.shape:
            raise BadInputError(
                f"An array of shape {image.content.shape} does not fit to a grid of shape {self.shape}. Hand in one of that shape, or make "
                "an Image of it with a grid of its own."
            )
        image.is_placed = self.is_placed
        image.warnings = list(self.warnings)
        return image

    def on_host(self) -> "Image":
        """Returns the image itself, or, if its array is on a GPU, a copy in a NumPy array of the same type."""
        content = self.content
        return self.like(content.download().astype(content.dtype)) if isinstance(content, GpuArray) else self

    def has_grid_of(self, other: "Image") -> bool:
        """Returns whether the voxels of both images have the same places, to 1/1000 of a voxel."""
        return self.shape == other.shape and bool(np.abs(self.corners - other.corners).max() <= 1e-3 * self.spacing.min())

    @property
    def corners(self) -> np.ndarray:
        """The points of the voxels at the corners, (2^dimension, dimension), in mm. Two grids are the furthest apart there."""
        ends = np.meshgrid(*[[0.0, max(1.0, n - 1.0)] for n in self.size], indexing="ij")
        index = np.stack([*(one.ravel() for one in ends), np.ones(2**self.dimension)], axis=-1)
        return (index @ self.index_to_point.T)[:, :-1]

    def __repr__(self) -> str:
        return (
            f"Image(shape={self.content.shape}, dtype={self.content.dtype}, spacing={self.spacing.tolist()}, "
            f"origin={self.origin.tolist()}, direction={self.direction.tolist()}{', is_vector=True' if self.is_vector else ''})"
        )


def _check_array(array: Union[np.ndarray, GpuArray], is_vector: bool) -> None:
    if array.ndim - int(is_vector) not in (2, 3):
        behind = ", component" if is_vector else ""
        raise BadInputError(
            f"An image's array has {array.ndim} dimensions, shape {array.shape}; it is to have {2 + int(is_vector)}, [y, x{behind}], or "
            f"{3 + int(is_vector)}, [z, y, x{behind}]. {_hint_of_dimensions(array.ndim, is_vector)}"
        )
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise BadInputError(
            f"An image's values are of type {array.dtype}; they are to be whole numbers or floats of 64 bits at most. "
            "Convert them, such as by array.astype(numpy.float32)."
        )
    if array.size == 0:
        raise BadInputError(f"An image's array has no voxels: its shape is {array.shape}.")


def _hint_of_dimensions(dimensions: int, is_vector: bool) -> str:
    if dimensions < 2 + int(is_vector):
        return "Give it the axes that it lacks, such as by array.reshape(); a slice has two axes, and is not one row."
    return "From a series, hand in one volume; from colours or vectors, an Image that is_vector."


def _read_vector(vector: Optional[ArrayLike], default: float, dimension: int, name: str) -> np.ndarray:
    if vector is None:
        return np.full(dimension, default)
    result = read_numbers(f"An image's {name}", vector)
    if result.shape != (dimension,) or not np.isfinite(result).all():
        raise BadInputError(f"An image's {name} is {result.tolist()}; of its {dimension} dimensions it is to have one number each.")
    return result


def _read_direction(direction: Optional[ArrayLike], dimension: int) -> np.ndarray:
    if direction is None:
        return np.eye(dimension)
    result = read_numbers("An image's direction", direction)
    if result.size != dimension * dimension or not np.isfinite(result).all():
        raise BadInputError(f"An image's direction is {result.tolist()}; it is to be a matrix of {dimension} by {dimension} numbers.")
    result = result.reshape(dimension, dimension)
    if abs(np.linalg.det(result)) < 1e-9:
        raise BadInputError(f"An image's direction {result.tolist()} has no inverse.")
    return result


def no_values(kind: Any, shape: Sequence[int]) -> np.ndarray:
    """Returns an array of a type and a shape that takes no memory: the values of an image of which the grid alone counts."""
    return np.broadcast_to(np.zeros((), kind), tuple(shape))


def has_values(array: Union[np.ndarray, GpuArray]) -> bool:
    """Returns whether an array has values of its own, which no_values() has not."""
    return isinstance(array, GpuArray) or any(array.strides)


def without_values(image: Image) -> Image:
    """Returns an image on the same grid and of the same type without the values, which it does not hold."""
    return image.like(no_values(image.content.dtype, image.content.shape))


def as_volume(array: np.ndarray) -> np.ndarray:
    """Returns an array of two dimensions as one slice, [1, y, x]."""
    return array if array.ndim == 3 else array[np.newaxis]


def real_values(image: Image, of_others: Any = np.float32) -> np.ndarray:
    """Returns an image's values as the engine takes them, contiguous, [z, y, x] and components: floats and doubles as they are, others
    converted. The result is on the host."""
    array = host_array(image)
    is_native = array.dtype.kind == "f" and array.dtype.itemsize in (4, 8)
    dtype = array.dtype.newbyteorder("=") if is_native else np.dtype(of_others)
    if array.dtype.kind == "f" and not is_native:
        dtype = np.dtype(np.float32)
    return cast(array if image.dimension == 3 else array[np.newaxis], dtype)


def host_array(image: Image) -> np.ndarray:
    """Returns an image's array on the host.

    Raises:
        BadInputError: it is on a GPU.
    """
    content = image.content
    if isinstance(content, GpuArray):
        raise BadInputError(
            f"The image's array is on {content.device}, and this is done by the host. Hand in an Image of a copy there: tensor.cpu() "
            "of PyTorch, cupy.asnumpy(array) of CuPy."
        )
    return content


def stays_short(array: np.ndarray) -> bool:
    """Returns whether an array has integers of 8 or 16 bits, which a registration does not convert on a device."""
    return array.dtype.kind in "iu" and array.dtype.itemsize <= 2


def on_device(image: Image, device: str, keeps_short: bool = False) -> _engine.DeviceArray:
    """Returns an image's values on a device: uploads an array of the host, and reads an array on that GPU in place.

    Args:
        keeps_short: integers of 8 and 16 bits stay integers; only registrations take them. Otherwise they are sent as floats.
    """
    content = image.content
    if isinstance(content, GpuArray):
        return content.borrow()
    if keeps_short and stays_short(content):
        numbers = np.ascontiguousarray(content, dtype=content.dtype.newbyteorder("="))
        return _engine.load_narrow(device, numbers, numbers.dtype.name, content.shape)
    return _engine.load(device, real_values(image), content.shape)


# Errors about several components end with this advice.
ONE_OF_THEM = "Hand in one of them, image.like(image.array[..., 0]), or their mean."


def require_scalar(image: Image, name: str, hint: str = ONE_OF_THEM) -> None:
    """Raises BadInputError if an image has components.

    Args:
        name: such as "moving image".
        hint: advice at the end of the error.
    """
    if image.is_vector:
        raise BadInputError(f"The {name} has {image.components} components a voxel; it is to have one. {hint}")


def shrunk_grid(image: Image, factors: Sequence[int]) -> Image:
    """Returns the grid of voxels that stand for so many of the image's along x, y (and z), around the same middle, as
    itk::ShrinkImageFilter makes it. Its values are 0."""
    size = np.array(image.size)
    along = np.array(factors[: image.dimension])
    shrunk = np.maximum(1, size // along)
    origin = image.origin + image.direction @ (image.spacing * 0.5 * (size - 1 - along * (shrunk - 1)))
    return Image(np.broadcast_to(np.float64(0), tuple(shrunk[::-1])), image.spacing * along, origin, image.direction)


def engine_map(matrix: np.ndarray) -> _engine.IndexMap:
    """Converts a homogeneous matrix of two or three dimensions to the engine's map."""
    dimension = len(matrix) - 1
    linear = np.eye(3)
    linear[:dimension, :dimension] = matrix[:dimension, :dimension]
    offset = np.zeros(3)
    offset[:dimension] = matrix[:dimension, dimension]
    return _engine.make_map(linear.ravel().tolist(), offset.tolist())


def matrix_of_map(map: _engine.IndexMap, dimension: int) -> np.ndarray:
    """Converts the engine's map to a homogeneous matrix."""
    matrix = np.eye(dimension + 1)
    matrix[:-1, :-1] = np.reshape(map.matrix, (3, 3))[:dimension, :dimension]
    matrix[:-1, -1] = map.offset[:dimension]
    return matrix


def engine_size(image: Image) -> list[int]:
    """Voxels along x, y and z, of which there is one in two dimensions."""
    return list(image.size) + [1] * (3 - image.dimension)
