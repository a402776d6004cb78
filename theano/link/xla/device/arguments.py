"""Memory of a program's arguments, where XLA reads them as they lie.

XLA on the CPU reads a NumPy array in place only if it begins at a multiple of 64 bytes, which few
do; of any other each call would make an array of the device: new memory, whose first use costs more than
to copy what goes into it. So a program keeps memory for its arguments, and the arrays of the device that
lie in it; a call copies the values there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theano.link.xla.jax_library import require_jax

# Where XLA wants arrays to begin
ALIGNMENT = 64
# Larger arguments have no separate memory: it would stay between calls.
MOST_BYTES = 1 << 26
# To find where a smaller one lies takes longer than to copy it.
LEAST_IN_PLACE = 1 << 16
# Shapes of arguments for which there are arrays of the device
MOST_PLACES = 1 << 10


class Arguments:
    """The memory of a program's arguments on the CPU.

    What runs with them has ended before the next call: the memory is written then.

    Parameters
    ----------
    device
        The CPU, as JAX knows it.
    """

    def __init__(self, device: object):
        self.device = device
        self._memory: dict[int, np.ndarray] = {}
        # position, shape, dtype -> NumPy's array and the device's, which are the same memory
        self._places: dict[Any, tuple[np.ndarray, Any]] = {}

    def placed(self, values: Sequence[Any]) -> list[Any]:
        """Return the values, with arrays of the device in place of most of NumPy's."""
        return [
            self._placed(k, value) if isinstance(value, np.ndarray) else value
            for k, value in enumerate(values)
        ]

    def place(self, position: int, value: np.ndarray) -> tuple[np.ndarray, Any]:
        """Return memory for a value as both arrays, the device's None if JAX would copy it."""
        found = self._places.get((position, value.shape, value.dtype))
        return self._new_place(position, value) if found is None else found

    def _placed(self, position: int, value: np.ndarray) -> Any:
        size = value.nbytes
        if size > LEAST_IN_PLACE and (size > MOST_BYTES or _lies_right(value)):
            return value
        own, array = self.place(position, value)
        if array is None:
            return value
        own[...] = value
        return array

    def _new_place(self, position: int, value: np.ndarray) -> tuple[np.ndarray, Any]:
        memory = self._memory.get(position)
        if memory is None or memory.nbytes < value.nbytes:
            memory = self._memory[position] = _aligned(value.nbytes)
            self._places = {k: v for k, v in self._places.items() if k[0] != position}
        if len(self._places) >= MOST_PLACES:
            self._places.clear()
        own = memory[: value.nbytes].view(value.dtype).reshape(value.shape)
        jax = require_jax()
        with jax.enable_x64(True):
            array = jax.device_put(own, self.device, may_alias=True)
        same = own.size == 0 or array.unsafe_buffer_pointer() == _address(own)
        place = self._places[position, value.shape, value.dtype] = own, array if same else None
        return place


def _aligned(size: int) -> np.ndarray:
    """Return memory that begins where XLA wants arrays to begin."""
    memory = np.empty(size + ALIGNMENT, "uint8")
    begin = -_address(memory) % ALIGNMENT
    return memory[begin : begin + size]


def _lies_right(value: np.ndarray) -> bool:
    return value.flags.c_contiguous and _address(value) % ALIGNMENT == 0


def _address(value: np.ndarray) -> int:
    return value.__array_interface__["data"][0]
