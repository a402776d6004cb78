"""Values on the device: those of shared variables live there from call to call.

An update takes the memory of the value that it replaces: a program that runs last gets it as an
input that it may overwrite. No other variable has that memory, for whatever a program returns is
its own array, and what users set or get is copied.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from pytensor.graph.basic import Constant, Variable
from pytensor.scalar.basic import ScalarType

from theano.configdefaults import config
from theano.link.background import fetched
from theano.link.device_cells import keep
from theano.link.xla.arrays import is_array
from theano.link.xla.context import Context, is_traced
from theano.link.xla.device.names import find_device
from theano.link.xla.jax_library import declared_precision, require_jax
from theano.link.xla.places import device_of
from theano.support.data_classes import dataclass

# The memory of results of so many bytes is handed to the caller; smaller ones are sooner copied.
LEAST_TAKEN = 1 << 16


@dataclass(frozen=True)
class Place:
    """The place and the type in which an output is stored.

    Attributes
    ----------
    cell
        Of the function's storage.
    device
        The device that its type names, if it names one.
    is_kept
        Whether it is the new value of a shared variable that stays on the device.
    is_array, is_number
        Whether its type is that of arrays, or of single numbers.
    """

    cell: list[Any]
    device: Any
    is_kept: bool
    is_array: bool
    is_number: bool


class DeviceValues:
    """Moves the values of a function between its storage and its devices.

    Parameters
    ----------
    fgraph : FunctionGraph
    storage_map : dict
    device : str, optional
        Name of the device; by default that of the flags.

    Attributes
    ----------
    precision
        Of products.
    """

    def __init__(self, fgraph: Any, storage_map: Any, device: str | None):
        self.fgraph, self.storage_map = fgraph, storage_map
        self.tf32 = bool(config.xla.tf32)
        self.gpu_kernels = str(config.scan.gpu_kernels)
        precision = require_jax().lax.Precision
        self.precision = precision.DEFAULT if self.tf32 else precision.HIGHEST
        self.device = find_device(device or default_device())
        # output -> the shared variable that it replaces; the results come before them
        self.updated: dict[int, Variable] = {
            k: fgraph.inputs[position] for k, position in (fgraph.update_mapping or {}).items()
        }
        self._constants: dict[tuple[Variable, Any], Any] = {}
        self._kept = {v for v in fgraph.inputs if getattr(v, "keeps_device_values", False)}
        self._places = [
            Place(
                storage_map[variable],
                device_of(variable),
                self.updated.get(k) in self._kept,
                is_array(variable),
                isinstance(variable.type, ScalarType),
            )
            for k, variable in enumerate(fgraph.outputs)
        ]
        self._replaced = [
            (k, storage_map[variable], variable in self._kept)
            for k, variable in self.updated.items()
        ]
        self._kept_outputs = [k for k, place in enumerate(self._places) if place.is_kept]
        self._is_plain = all(place.is_array and place.device is None for place in self._places)

    @property
    def keeps_updates(self) -> bool:
        """Return whether all outputs are arrays, of which those that replace shared variables stay on the device."""
        return self._is_plain and all(is_kept for _, _, is_kept in self._replaced)

    @contextlib.contextmanager
    def precision_in_use(self) -> Iterator[None]:
        """Have JAX compute in the declared dtypes, with the flags' precision."""
        with declared_precision(self.tf32):
            yield

    @contextlib.contextmanager
    def device_in_use(self, named: object) -> Iterator[None]:
        """Have JAX compute on the device that the graph names, or on the engine's own."""
        with require_jax().default_device(named or self.device):
            yield

    def context(self, named: Any = None) -> Context:
        """Return how a graph is traced for the device that it names, or for the engine's own."""
        platform = (named or self.device).platform
        return Context(self.precision, platform=platform, gpu_kernels=self.gpu_kernels)

    def device_name(self, named: Any) -> str:
        """Return the name of the device that the graph names, or of the engine's own."""
        device = named or self.device
        kind = {"cpu": "xla:cpu", "gpu": "cuda"}.get(device.platform, device.platform)
        return f"{kind}{device.id}" if device.id else kind

    def given(self) -> dict[Variable, Any]:
        """Return the value of each input of the function, where it is."""
        return {variable: self.storage_map[variable][0] for variable in self.fgraph.inputs}

    def copies_of_outputs(self, known: dict[Variable, Any]) -> dict[Variable, Any]:
        """Return copies of those inputs that are outputs, too: a program may overwrite the inputs."""
        same = {variable for variable in self.fgraph.outputs if variable in known}
        return {variable: deepcopy(known[variable]) for variable in same}

    def is_kept(self, variable: Variable) -> bool:
        """Return whether a variable is a shared one whose value stays on the device."""
        return variable in self._kept

    def overwritten(self, inputs: Sequence[Variable]) -> list[int]:
        """Positions of the inputs whose value is replaced after the call, and nobody's else."""
        replaced = set(self.updated.values()) & self._kept
        return [k for k, variable in enumerate(inputs) if variable in replaced]

    def on_device(self, variable: Variable, known: dict[Variable, Any], named: Any) -> Any:
        """Return the value of a variable, moved to the device that is to read it if it is elsewhere."""
        device = named or self.device
        if isinstance(variable, Constant):
            if (variable, device) not in self._constants:
                self._constants[variable, device] = _moved(variable.data, device)
            return self._constants[variable, device]
        value = known[variable]
        if is_traced(value) and value.devices() == {device}:
            return value
        if variable in self._kept:
            known[variable] = _moved(value, device)
            keep(self.storage_map[variable], known[variable])
            return known[variable]
        if is_traced(value):
            return _moved(value, device)
        value = np.asarray(value, dtype=variable.type.dtype)
        # A program takes NumPy's arrays to the device in use, which costs less than to move them.
        return value if named is None else _moved(value, named)

    def replace_shared(self, outputs: Sequence[Any]) -> None:
        """Give shared variables their new values at once; a program has overwritten the old ones."""
        for k, cell, is_kept in self._replaced:
            if is_kept and is_traced(outputs[k]):
                keep(cell, outputs[k])
            else:
                cell[0] = self._as_stored(self._places[k], outputs[k])

    def store_made(self, outputs: Sequence[Any]) -> None:
        """Put outputs that a program of the CPU has made into the function's storage."""
        if not self._is_plain:
            self.store(outputs)
            return
        others = {id(outputs[k]) for k in self._kept_outputs}
        # before any is stored: all shared variables get their new values, or none
        for value in outputs:
            value.block_until_ready()
        # as many; this is done in every call
        for place, value in zip(self._places, outputs):  # noqa: B905
            if place.is_kept:
                keep(place.cell, value)
            else:
                place.cell[0] = taken(value, others)

    def store(self, outputs: Sequence[Any]) -> None:
        """Put the outputs into the function's storage: on the host unless their type says where."""
        on_cpu = self.device.platform == "cpu"
        others = {id(outputs[k]) for k in self._kept_outputs}
        for place, value in zip(self._places, outputs, strict=True):
            if place.is_kept and is_traced(value):
                keep(place.cell, value)
            elif self._may_be_taken(place, value):
                value.block_until_ready()
                place.cell[0] = taken(value, others)
            else:
                place.cell[0] = self._as_stored(place, value)
        if on_cpu:
            # programs may still read the caller's arrays, which are the caller's again now
            require_jax().block_until_ready([v for v in outputs if is_traced(v)])

    def _may_be_taken(self, place: Place, value: Any) -> bool:
        """Return whether an output is an array of this CPU that becomes NumPy's."""
        return (
            place.is_array
            and place.device is None
            and self.device.platform == "cpu"
            and is_traced(value)
            and value.devices() == {self.device}
        )

    def _as_stored(self, place: Place, value: Any) -> Any:
        """Return an output where and as its type says."""
        if place.device is not None:
            there = is_traced(value) and value.devices() == {place.device}
            return value if there else _moved(value, place.device)
        if is_traced(value):
            value = np.array(fetched(value))
            # a number of a scalar's type is no array
            return value[()] if place.is_number else value
        return np.asarray(value) if place.is_array else value


def taken(value: object, others: set[int]) -> np.ndarray:
    """Return the elements of a computed array of the CPU, in its own memory unless another one has that."""
    seen = np.asarray(value)
    if seen.nbytes < LEAST_TAKEN or id(value) in others:
        return seen.copy()
    others.add(id(value))
    return np.asarray(_Memory(value, seen))


class _Memory:
    """The memory of an array of the CPU, which NumPy's array of it keeps."""

    def __init__(self, owner: Any, seen: np.ndarray):
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "shape": seen.shape,
            "typestr": seen.dtype.str,
            # may be written to
            "data": (owner.unsafe_buffer_pointer(), False),
        }


def default_device() -> str:
    """Return the name of the device that functions use unless they are given another."""
    if config.device.startswith(("cuda", "xla")):
        return config.device
    return config.init_gpu_device or "xla:cpu"


def _moved(value: object, device: object) -> Any:
    # a copy in any case: NumPy's array may be the caller's
    return require_jax().device_put(value, device, may_alias=False)
