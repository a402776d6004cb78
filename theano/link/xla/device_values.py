"""Values on the device: those of shared variables live there from call to call."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Variable
from pytensor.tensor.type import TensorType

from theano.link.xla.context import is_traced
from theano.link.xla.jax_library import declared_precision, require_jax


class DeviceValues:
    """Moves the values of a function between its storage and the device."""

    def __init__(self, fgraph: Any, storage_map: Any, device: str | None):
        self.fgraph, self.storage_map = fgraph, storage_map
        self.precision = require_jax().lax.Precision.HIGHEST

    @contextlib.contextmanager
    def device_in_use(self) -> Iterator[None]:
        """Have JAX compute on the device, with the declared precision."""
        with declared_precision():
            yield

    def given(self) -> dict[Variable, Any]:
        """The value of each input of the function, where it is."""
        return {variable: self.storage_map[variable][0] for variable in self.fgraph.inputs}

    def overwritten(self, inputs: Sequence[Variable]) -> list[int]:
        return []

    def on_device(self, variable: Variable, known: dict[Variable, Any]) -> Any:
        value = known[variable]
        return value if is_traced(value) else np.asarray(value, dtype=variable.type.dtype)

    def store(self, outputs: Sequence[Any]) -> None:
        """Put the outputs into the function's storage."""
        for variable, value in zip(self.fgraph.outputs, outputs, strict=True):
            if is_traced(value):
                value = np.array(value)
            elif isinstance(variable.type, TensorType):
                value = np.asarray(value)
            self.storage_map[variable][0] = value
