# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries, by DLPack and by CUDA's array interface."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._engine import BadInputError

# DLPack's numbers of devices whose memory the host reads: CPU, pinned memory of CUDA and of ROCm.
_HOST_DEVICES = (1, 3, 11)


def _raise_on_gpu(array: Any) -> None:
    raise NotImplementedError(
        f"The {type(array).__module__}.{type(array).__qualname__} is on a GPU, and arrays there are not read yet. Hand in a copy "
        "on the host: tensor.cpu() of PyTorch, cupy.asnumpy(array) of CuPy."
    )


def read_array(array: Any) -> Optional[np.ndarray]:
    """An array of another library that is on the host, without a copy; None if it is no such array.

    Raises:
        NotImplementedError: it is on a GPU.
    """
    find_device = getattr(array, "__dlpack_device__", None)
    if find_device is not None:
        if int(find_device()[0]) not in _HOST_DEVICES:
            _raise_on_gpu(array)
        if getattr(array, "requires_grad", False):
            array = array.detach()
        try:
            return np.from_dlpack(array)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise BadInputError(f"An array of type {type(array).__qualname__} is not read by NumPy: {error}") from error
    if hasattr(array, "__cuda_array_interface__"):
        _raise_on_gpu(array)
    return None
