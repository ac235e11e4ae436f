# SPDX-License-Identifier: Apache-2.0
"""Arrays in a GPU's memory, by CUDA's driver only, so that tests need no other library."""

import ctypes

import numpy as np


class Driver:
    """The functions of libcuda that arrays need, each of which raises if it fails. Raises OSError if there is no driver."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", ctypes.c_uint(0))

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} returned {status}")

    def count(self):
        number = ctypes.c_int()
        self.call("cuDeviceGetCount", ctypes.byref(number))
        return number.value


class Gpu:
    """One GPU's primary context, which the engine and other libraries use, too."""

    def __init__(self, driver, number):
        self.driver = driver
        self.number = number
        handle = ctypes.c_int()
        driver.call("cuDeviceGet", ctypes.byref(handle), ctypes.c_int(number))
        self.context = ctypes.c_void_p()
        driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), handle)

    @property
    def name(self):
        return f"cuda:{self.number}"

    def __enter__(self):
        self.driver.call("cuCtxPushCurrent_v2", self.context)
        return self.driver.call

    def __exit__(self, *_):
        self.driver.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def make_stream(self):
        """Makes a stream for which the legacy default stream does not wait."""
        stream = ctypes.c_void_p()
        with self as call:
            call("cuStreamCreate", ctypes.byref(stream), ctypes.c_uint(1))
        return stream

    def read(self, address, shape, dtype):
        """Returns the memory's content as NumPy's array, by a stream that waits for no other."""
        out = np.empty(shape, dtype)
        stream = self.make_stream()
        with self as call:
            call(
                "cuMemcpyDtoHAsync_v2",
                ctypes.c_void_p(out.ctypes.data),
                ctypes.c_uint64(address),
                ctypes.c_size_t(out.nbytes),
                stream,
            )
            call("cuStreamSynchronize", stream)
            call("cuStreamDestroy_v2", stream)
        return out


class CudaArray:
    """An array on a GPU by CUDA's array interface.

    Args:
        values: of NumPy.
        stream: in which the values come, late: after so many seconds. None: they are there.
    """

    live = 0

    def __init__(self, gpu, values, stream=None, seconds=0.0):
        values = np.ascontiguousarray(values)
        self.gpu = gpu
        self.shape = values.shape
        self.dtype = values.dtype
        self.stream = stream
        self.strides = None
        address = ctypes.c_uint64()
        with gpu as call:
            call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(values.nbytes))
            self.address = address.value
            CudaArray.live += 1
            if stream is None:
                self._copy(call, values)
                return
            call("cuMemsetD8_v2", address, ctypes.c_ubyte(0), ctypes.c_size_t(values.nbytes))
            call("cuCtxSynchronize")
            # Pinned, so that the copy waits for earlier work in the stream, and the host does not wait.
            self.pinned = ctypes.c_void_p()
            call("cuMemAllocHost_v2", ctypes.byref(self.pinned), ctypes.c_size_t(values.nbytes))
            ctypes.memmove(self.pinned, values.ctypes.data, values.nbytes)
            sleep = ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p)
            call("cuLaunchHostFunc", stream, sleep, ctypes.c_void_p(int(1e6 * seconds)))
            call("cuMemcpyHtoDAsync_v2", address, self.pinned, ctypes.c_size_t(values.nbytes), stream)

    def _copy(self, call, values):
        call(
            "cuMemcpyHtoD_v2",
            ctypes.c_uint64(self.address),
            ctypes.c_void_p(values.ctypes.data),
            ctypes.c_size_t(values.nbytes),
        )
        call("cuCtxSynchronize")

    def set(self, values):
        with self.gpu as call:
            self._copy(call, np.ascontiguousarray(values, self.dtype))

    def get(self):
        return self.gpu.read(self.address, self.shape, self.dtype)

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "strides": self.strides,
            "stream": None if self.stream is None else self.stream.value,
            "version": 3,
        }

    def __del__(self):
        if hasattr(self, "address"):
            with self.gpu as call:
                call("cuMemFree_v2", ctypes.c_uint64(self.address))
                if hasattr(self, "pinned"):
                    call("cuMemFreeHost", self.pinned)
            CudaArray.live -= 1
