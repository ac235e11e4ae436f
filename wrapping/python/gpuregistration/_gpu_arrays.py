# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries, by DLPack and by CUDA's array interface: on the host, and on a GPU, where they stay."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Optional, Protocol, Union

import numpy as np

from . import _engine
from ._devices import DeviceLike, borrow_engine, choose_device, list_devices
from ._engine import BadInputError, UnsupportedError


class SupportsDLPack(Protocol):
    """An array of any library that has DLPack, such as CuPy, PyTorch and JAX."""

    def __dlpack_device__(self) -> tuple[Any, int]: ...


class SupportsCudaArray(Protocol):
    """An array of any library that has CUDA's array interface, such as CuPy and Numba."""

    @property
    def __cuda_array_interface__(self) -> Any: ...


#: An array of NumPy or of another library, on the host or on a GPU.
AnyArray = Union[np.ndarray, SupportsDLPack, SupportsCudaArray]

# DLPack's numbers of devices whose memory the host reads: CPU, pinned memory of CUDA and of ROCm.
_HOST_DEVICES = (1, 3, 11)
# CUDA, and what all of its GPUs reach.
_CUDA_DEVICES = (2, 13)
# Before version 3 CUDA's array interface names no stream. Then the legacy default stream is waited for, in which most work runs.
_LEGACY_STREAM = 1


@dataclass(frozen=True)
class _View:
    """Where an array's elements are, and what keeps them there."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype
    is_contiguous: bool
    stream: Optional[int]
    owner: Any


class GpuArray:
    """An array on a GPU, of a library that Python has loaded. It is looked at again each time it is borrowed.

    Attributes:
        array: the caller's array.
        device: the GPU's name, such as "cuda:0".
        shape, dtype: as NumPy's.
    """

    def __init__(self, array: Any, device: str, view: _View) -> None:
        self.array = array
        self.device = device
        self.shape = view.shape
        self.dtype = view.dtype

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return int(np.prod(self.shape, dtype=np.int64))

    def borrow(self, of_others: Any = np.float32) -> _engine.DeviceArray:
        """Returns the array for the engine, once its producer is done: floats and doubles in place, other numbers converted on the GPU."""
        return self._make_image(self._read(self.shape), of_others)

    def download(self) -> np.ndarray:
        """Downloads the array, in doubles, whatever its number of axes."""
        flat = self._make_image(self._read((1, 1, self.size)), np.float64)
        return _engine.download(flat).reshape(self.shape)

    def _make_image(self, borrowed: _engine.Borrowed, of_others: Any) -> _engine.DeviceArray:
        if self.dtype.kind == "f":
            return _engine.borrow(self.device, borrowed)
        with borrow_engine(_engine.NumberConverter, self.device) as converter:
            return converter.make_image(borrowed, np.dtype(of_others) == np.float64)

    def borrow_mask(self) -> _engine.DeviceArray:
        """Lends a mask as borrow() lends an image: 1 where the mask is not 0."""
        with borrow_engine(_engine.NumberConverter, self.device) as converter:
            return converter.make_mask(self._read(self.shape))

    def convert_like(self, made: _engine.DeviceArray, copies: bool = False) -> Any:
        """Converts an array that the engine made to this array's type of elements and library: see hand_over.

        Args:
            copies: copy even if the type agrees, because the array keeps a larger allocation alive.
        """
        if copies or made.type != self.dtype.name:
            with borrow_engine(_engine.NumberConverter, self.device) as converter:
                made = converter.make_numbers(made, self.dtype.name)
        return hand_over(made, self.array)

    def _read(self, shape: tuple[int, ...]) -> _engine.Borrowed:
        view = _view(self.array, _engine.meeting_stream(self.device))
        if not view.is_contiguous:
            raise BadInputError(
                f"The array of shape {view.shape} on {self.device} is not contiguous, and is read where it is. Make it so: "
                "tensor.contiguous() of PyTorch, cupy.ascontiguousarray(array) of CuPy."
            )
        if view.shape != self.shape or view.dtype != self.dtype:
            raise BadInputError(
                f"The array on {self.device} is no longer of shape {self.shape} and type {self.dtype}, as it was when the image was made "
                "of it. Make another image."
            )
        return _engine.Borrowed(view.address, shape, view.dtype.name, view.stream, view.owner)


def hand_over(made: Any, array: Any) -> Any:
    """Converts an array to the library of another array.

    Args:
        made: an array of NumPy, or the engine's.

    Returns:
        The array that the library's from_dlpack() makes, as CuPy's and PyTorch's do; `made` itself if the library has none. The engine's
        array has DLPack's functions and CUDA's array interface.
    """
    library = sys.modules.get(type(array).__module__.split(".")[0])
    from_dlpack = getattr(library, "from_dlpack", None)
    return made if from_dlpack is None else from_dlpack(made)


def read_content(array: Any) -> Union[np.ndarray, GpuArray]:
    """Reads an array of any library, without a copy, or what NumPy converts to an array, such as a list. Raises the errors of
    read_array, and BadInputError of a masked array."""
    if isinstance(array, np.ma.MaskedArray):
        raise BadInputError(
            "The array is one of NumPy's masked arrays, whose mask is not looked at. Hand in array.filled(0), and, to have masked voxels "
            "left out of a registration, fixed_mask=~numpy.ma.getmaskarray(array), or moving_mask."
        )
    read = None if isinstance(array, np.ndarray) else read_array(array)
    return read if isinstance(read, GpuArray) else np.asarray(array if read is None else read)


def read_array(array: Any) -> Union[None, np.ndarray, GpuArray]:
    """Reads an array of another library, without a copy: NumPy's of one that is on the host, a GpuArray of one on a GPU; None if it is no
    such array.

    Raises:
        BadInputError: NumPy does not read it, or it is on a GPU that does not compute here.
        UnsupportedError: it is on a device of another kind than CUDA's.
    """
    find_device = getattr(array, "__dlpack_device__", None)
    if find_device is None:
        return _read_gpu_array(array) if hasattr(array, "__cuda_array_interface__") else None
    if getattr(array, "requires_grad", False):
        array = array.detach()
    if int(find_device()[0]) not in _HOST_DEVICES:
        return _read_gpu_array(array)
    try:
        return np.from_dlpack(array)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise BadInputError(f"An array of type {type(array).__qualname__} is not read by NumPy: {error}") from error


def choose_device_of(name: Optional[DeviceLike], **contents: Any) -> str:
    """Returns the name of the device that computes with some arrays: that of arrays on a GPU, which stay there, or else of the one that is
    asked for, or of the default one.

    Args:
        name: the device that the caller asked for; None: none.
        contents: each image's content, by what it is, such as moving; None of one that there is not.

    Raises:
        BadInputError: arrays are on different GPUs, or on another one than is asked for.
        DeviceError: there is no such device.
    """
    where = {
        which.replace("_", " "): content.device for which, content in contents.items() if isinstance(content, GpuArray)
    }
    if not where:
        return choose_device(name)
    (first, device), *others = where.items()
    for which, other in others:
        if other != device:
            raise BadInputError(
                f"The {first} is on {device}, and the {which} on {other}. Copy one of them to the other's GPU."
            )
    asked = device if name is None else choose_device(name)
    if asked != device:
        raise BadInputError(
            f"The {first} is on {device}, and {asked} is to compute. Leave the device out, or copy the array to that device first."
        )
    return device


def _read_gpu_array(array: Any) -> GpuArray:
    kind = f"{type(array).__module__}.{type(array).__qualname__}"
    device = find_device(array)
    if _engine.find_device(device) is None:
        raise BadInputError(
            f"The {kind} is on {device or 'a device that is not known'}, and what computes here is: {list_devices()} "
            "Hand in a copy on the host: tensor.cpu() of PyTorch, cupy.asnumpy(array) of CuPy."
        )
    # Only the array's description is read, so nothing waits for the work that makes its values.
    return GpuArray(array, device, _view(array, None))


def find_device(array: Any) -> str:
    """Returns the name of the GPU that an array is on; empty if it is not known."""
    if not hasattr(array, "__dlpack_device__"):
        return _engine.find_device_of(_view_cuda(array).address)
    kind, number = array.__dlpack_device__()
    if int(kind) not in _CUDA_DEVICES:
        raise UnsupportedError(
            f"An array of type {type(array).__qualname__} is on a device of DLPack's kind {int(kind)}; arrays are read on the host "
            "and on CUDA's GPUs. Hand in a copy on the host."
        )
    return f"cuda:{int(number)}"


def _view(array: Any, stream: Optional[int]) -> _View:
    """
    Args:
        stream: the stream that waits for the work that computes the array; None: no stream waits.
    """
    if hasattr(array, "__dlpack_device__"):
        return _view_dlpack(array, stream)
    return _view_cuda(array)


def _view_dlpack(array: Any, stream: Optional[int]) -> _View:
    wanted = -1 if stream is None else stream
    try:
        try:
            capsule = array.__dlpack__(stream=wanted, max_version=(1, 0))
        except TypeError:
            # The array's library has a version of DLPack before 1.
            capsule = array.__dlpack__(stream=wanted)
        exported = _engine.Exported(capsule)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise BadInputError(f"An array of type {type(array).__qualname__} is not to be had by DLPack: {error}") from error
    shape = tuple(exported.shape)
    dtype = _read_type(exported.type, array)
    strides = [stride * dtype.itemsize for stride in exported.strides]
    return _View(exported.address, shape, dtype, _is_contiguous(shape, strides, dtype), stream, exported)


def _view_cuda(array: Any) -> _View:
    found = array.__cuda_array_interface__
    try:
        shape = tuple(int(length) for length in found["shape"])
        address = int(found["data"][0])
        dtype = _read_type(np.dtype(found["typestr"]).name, array)
        strides = found.get("strides")
        is_masked = found.get("mask") is not None
        stream = found.get("stream") if found.get("version", 0) >= 3 else _LEGACY_STREAM
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise BadInputError(
            f"The __cuda_array_interface__ of a {type(array).__qualname__} is not as CUDA's array interface has it: {error!r}"
        ) from error
    if is_masked:
        raise BadInputError(f"The {type(array).__qualname__} has a mask of its own. Hand in one without, and a mask by itself.")
    if stream == 0:
        raise BadInputError(
            f"The __cuda_array_interface__ of a {type(array).__qualname__} has the stream 0, which says nothing. It is to be 1, 2, a "
            "stream's address, or None."
        )
    return _View(address, shape, dtype, strides is None or _is_contiguous(shape, strides, dtype), stream, array)


def _read_type(name: str, array: Any) -> np.dtype:
    known = ("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float32", "float64")
    if name not in known:
        raise BadInputError(
            f"The values of a {type(array).__qualname__} on a GPU are of type {name or 'that NumPy has none for'}; they are to be of "
            f"{', '.join(known)}. Convert them, such as to float32."
        )
    return np.dtype(name)


def _is_contiguous(shape: tuple[int, ...], strides: Any, dtype: np.dtype) -> bool:
    expected = dtype.itemsize
    for length, stride in zip(reversed(shape), reversed(list(strides))):
        if length > 1 and stride != expected:
            return False
        expected *= length
    return True
