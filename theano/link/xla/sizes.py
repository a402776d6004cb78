"""The sizes of a program's values, checked before XLA sees them: one that overflows ends the process."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Variable

from theano.support.data_classes import dataclass

# XLA counts bytes in 63 bits, and adds to them; no machine has so many.
MOST_BYTES = 2**62


@dataclass
class Largest:
    """The largest value that tracing a program has computed so far.

    Attributes
    ----------
    bytes, shape, dtype
        Of the value.
    node
        The node that it is a result of, if there is a value yet.
    """

    bytes: int = -1
    shape: tuple[int, ...] = ()
    dtype: Any = None
    node: Apply | None = None

    def __str__(self) -> str:
        if self.node is None:
            return ""
        return (
            f"Its largest value is a result of {self.node.op}, of shape {self.shape} and dtype "
            f"{self.dtype}: {self.bytes} bytes. "
        )

    def note(self, node: Apply, value: Any) -> None:
        """Take an array among the values.

        Raises
        ------
        ValueError
            When no array can have so many elements.
        """
        shape, size = value.shape, bytes_of(value)
        if size > MOST_BYTES:
            raise ValueError(
                f"{node.op}: array is too big: a result of shape {shape} and dtype {value.dtype} "
                f"would take {size} bytes"
            )
        if size > self.bytes:
            self.bytes, self.shape, self.dtype, self.node = size, shape, value.dtype, node


def bytes_of(value: Any) -> int:
    """Return the bytes of an array, in which NumPy counts a length of 0 as 1."""
    return math.prod(filter(None, value.shape)) * np.dtype(value.dtype).itemsize


def why_no_room(outputs: Sequence[Variable], values: Sequence[Any]) -> tuple[str, Apply | None]:
    """Return why the host's memory cannot hold a program's results, and whose result is the largest.

    Parameters
    ----------
    outputs
        The variables of the first of the values.
    values
        All that the program returns, of which only shapes and dtypes are read.
    """
    total, limit = sum(value.size * value.dtype.itemsize for value in values), _memory_of_host()
    if total <= limit:
        return "", None
    pairs = zip(outputs, values[: len(outputs)], strict=True)
    variable, value = max(pairs, key=lambda pair: pair[1].size * pair[1].dtype.itemsize)
    return (
        f"the results of this call would take {total} bytes, and there are {limit}; the largest is "
        f"{variable}, of shape {value.shape} and dtype {value.dtype}"
    ), variable.owner


def _memory_of_host() -> float:
    """Return how many bytes this process can have; infinity where the system does not say."""
    limits = [math.inf]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    try:
        import resource
    except ImportError:
        return min(limits)
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    return min([*limits, math.inf if soft == resource.RLIM_INFINITY else soft])
