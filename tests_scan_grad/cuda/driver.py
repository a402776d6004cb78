"""Launches of kernels on a device, by the calls of CUDA's driver."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from theano.link.cuda import Device, Kernel
from theano.link.cuda.kernel import HUNG

# attributes of devices and of functions, as cuda.h numbers them
_LANES, _MULTIPROCESSORS, _MAJOR, _MINOR, _OWN_BYTES = 1, 16, 75, 76, 97
_DYNAMIC_BYTES = 8


class DriverError(Exception):
    """A call of the driver failed."""


class Driver:
    """The first device, and its memory: all of it is freed at the end of a ``with`` block.

    Parameters
    ----------
    library
        The driver's, or what stands in for it.
    """

    def __init__(self, library: str = "libcuda.so.1"):
        self._library = ctypes.CDLL(library)
        self._allocated: list[int] = []
        self._device, self._context = ctypes.c_int(), ctypes.c_void_p()

    def __enter__(self) -> Driver:
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(self._device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), self._device)
        self.call("cuCtxSetCurrent", self._context)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for address in self._allocated:
            self.call("cuMemFree_v2", ctypes.c_uint64(address))
        self._allocated.clear()
        self.call("cuDevicePrimaryCtxRelease_v2", self._device)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver.

        Raises
        ------
        DriverError
            With its name and what it returned.
        """
        status = getattr(self._library, name)(*arguments)
        if status:
            raise DriverError(f"{name} returned {status}")

    def _attribute(self, number: int) -> int:
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), number, self._device)
        return value.value

    @property
    def name(self) -> str:
        """The name of the device."""
        text = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", text, 256, self._device)
        return text.value.decode()

    @property
    def architecture(self) -> str:
        """The architecture that compilers call it, such as ``sm_90``."""
        return f"sm_{self._attribute(_MAJOR)}{self._attribute(_MINOR)}"

    @property
    def device(self) -> Device:
        """Return its limits, for the model."""
        return Device(
            blocks=self._attribute(_MULTIPROCESSORS),
            lanes=min(self._attribute(_LANES), Device().lanes),
            own_bytes=self._attribute(_OWN_BYTES),
        )

    # ---- memory ----

    def allocate(self, count: int) -> int:
        """Return the address of so many bytes."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(count, 1)))
        self._allocated.append(address.value)
        return address.value

    def put(self, address: int, array: np.ndarray) -> None:
        """Copy an array to the device."""
        if array.nbytes:
            given = ctypes.c_uint64(address), ctypes.c_void_p(array.ctypes.data)
            self.call("cuMemcpyHtoD_v2", *given, ctypes.c_size_t(array.nbytes))

    def get(self, array: np.ndarray, address: int) -> None:
        """Copy from the device into an array."""
        if array.nbytes:
            given = ctypes.c_void_p(array.ctypes.data), ctypes.c_uint64(address)
            self.call("cuMemcpyDtoH_v2", *given, ctypes.c_size_t(array.nbytes))


class Launch:
    """A kernel on a device, with memory for its arrays.

    Parameters
    ----------
    compiled
        Makes code for the device of a kernel and an architecture.
    """

    def __init__(
        self,
        driver: Driver,
        kernel: Kernel,
        arrays: Sequence[np.ndarray],
        rows: Sequence[int],
        steps: int,
        compiled: Callable[[Kernel, str], bytes],
    ):
        self.driver, self.kernel, self.arrays = driver, kernel, arrays
        module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        self._code = compiled(kernel, driver.architecture)
        driver.call("cuModuleLoadData", ctypes.byref(module), self._code)
        name = kernel.name.encode()
        driver.call("cuModuleGetFunction", ctypes.byref(self._function), module, name)
        own = kernel.own_bytes
        driver.call("cuFuncSetAttribute", self._function, _DYNAMIC_BYTES, own)
        self._places = [driver.allocate(array.nbytes) for array in arrays]
        self._result, self._barriers = driver.allocate(16), driver.allocate(8)
        # the arrays | their rows | the number of steps | the result | work memory | barriers
        given = [*self._places, *rows, steps, self._result]
        given += [driver.allocate(kernel.work_bytes), self._barriers]
        self._given = np.array(given, np.uint64)
        self.prepare()

    def prepare(self) -> None:
        """Have the arrays on the device as they were given."""
        for place, array in zip(self._places, self.arrays, strict=True):
            self.driver.put(place, array)

    def run(self) -> float:
        """Run the kernel; return how many seconds it took, with the launch."""
        driver, kernel = self.driver, self.kernel
        driver.put(self._barriers, np.zeros(2, np.uint32))
        given = (ctypes.c_void_p * 1)(self._given.ctypes.data)
        shape = (kernel.blocks, 1, 1, kernel.lanes, 1, 1, kernel.own_bytes, None)
        driver.call("cuCtxSynchronize")
        begin = time.perf_counter()
        driver.call("cuLaunchCooperativeKernel", self._function, *shape, given)
        driver.call("cuCtxSynchronize")
        return time.perf_counter() - begin

    def results(self) -> list[np.ndarray]:
        """Return the arrays as the kernel left them.

        Raises
        ------
        DriverError
            If it ended with a status other than 0.
        """
        result = np.zeros(2, np.int64)
        self.driver.get(result, self._result)
        if result[1]:
            raise DriverError("hung" if result[1] == HUNG else f"status {result[1]}")
        found = [np.empty_like(array) for array in self.arrays]
        for array, place in zip(found, self._places, strict=True):
            self.driver.get(array, place)
        return found
