"""Values on the device: those of shared variables live there from call to call."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Variable
from pytensor.tensor.type import TensorType

from theano.link.xla.context import is_traced
from theano.link.xla.device_names import find_device
from theano.link.xla.jax_library import require_jax
from theano.link.xla.places import device_of


class DeviceValues:
    """Moves the values of a function between its storage and its devices."""

    def __init__(self, fgraph: Any, storage_map: Any, device: str | None):
        self.fgraph, self.storage_map = fgraph, storage_map
        self.precision = require_jax().lax.Precision.HIGHEST
        self.device = find_device(device or "xla:cpu")

    @contextlib.contextmanager
    def device_in_use(self, named: Any) -> Iterator[None]:
        """Have JAX compute on the device that the graph names, or on the engine's own."""
        with require_jax().default_device(named or self.device):
            yield

    def given(self) -> dict[Variable, Any]:
        """The value of each input of the function, where it is."""
        return {variable: self.storage_map[variable][0] for variable in self.fgraph.inputs}

    def overwritten(self, inputs: Sequence[Variable]) -> list[int]:
        return []

    def on_device(self, variable: Variable, known: dict[Variable, Any], named: Any) -> Any:
        """The value of a variable, moved to the device that is to read it if it is elsewhere."""
        value, device = known[variable], named or self.device
        if is_traced(value):
            return value if value.devices() == {device} else _moved(value, device)
        value = np.asarray(value, dtype=variable.type.dtype)
        # A program takes NumPy's arrays to the device in use, which costs less than to move them.
        return value if named is None else _moved(value, named)

    def store(self, outputs: Sequence[Any]) -> None:
        """Put the outputs into the function's storage: on the host unless their type says where."""
        for variable, value in zip(self.fgraph.outputs, outputs, strict=True):
            device = device_of(variable)
            if device is not None:
                there = is_traced(value) and value.devices() == {device}
                value = value if there else _moved(value, device)
            elif is_traced(value):
                value = np.array(value)
            elif isinstance(variable.type, TensorType):
                value = np.asarray(value)
            self.storage_map[variable][0] = value


def _moved(value: Any, device: Any) -> Any:
    return require_jax().device_put(value, device)
