"""Runs a function on several devices, each with its rows of the batch."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import ancestors

from theano.link.background import fetched
from theano.link.device_cells import keep
from theano.link.xla.context import CannotLower, Context, Ragged, is_traced
from theano.link.xla.data_parallel.parts import ALL, Rows
from theano.link.xla.data_parallel.trace import AXIS, SplitTrace
from theano.link.xla.device.names import SEVERAL_OF_THE_CPU, find_device
from theano.link.xla.device.program import Call, Notes, Specialisation
from theano.link.xla.device.values import DeviceValues
from theano.link.xla.interpret import NodeFailed
from theano.link.xla.jax_library import require_jax
from theano.link.xla.machine import Machine
from theano.link.xla.plan import Plan, Stage
from theano.source_locations.lines import nearest_line
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Split:
    """The division of a function among devices.

    Attributes
    ----------
    axes
        Position of an input -> its dimension with the batch.
    inputs
        How many inputs callers pass; those after them are shared variables.
    devices
        Names of the devices; none for all of the machine, and of its peers.
    """

    axes: Mapping[int, int]
    inputs: int
    devices: tuple[str, ...] = ()

    def mesh(self, default: Any) -> Any:
        """Return the devices as JAX takes them; `default` is one of the kind that is meant."""
        jax = require_jax()
        if self.devices:
            found = [find_device(name) for name in self.devices]
        else:
            found = jax.devices(default.platform)
        if len(set(found)) != len(found):
            raise ValueError(f"devices={list(self.devices)} names a device twice")
        if not self.devices and len(found) == 1 and default.platform == "cpu":
            warnings.warn(
                f"data_parallel: there is one device here, xla:cpu0, which has the whole batch; "
                f"{SEVERAL_OF_THE_CPU}",
                stacklevel=2,
            )
        return jax.sharding.Mesh(np.array(found), (AXIS,))


class SplitValues(DeviceValues):
    """The values of a function on all its devices."""

    def __init__(
        self, fgraph: FunctionGraph, storage_map: object, device: str | None, split: Split
    ):
        super().__init__(fgraph, storage_map, device)
        self.mesh = split.mesh(self.device)
        self.axes = {fgraph.inputs[k]: axis for k, axis in split.axes.items()}
        # what callers pass of which each device has all
        self.passed_whole = [v for v in fgraph.inputs[: split.inputs] if v not in self.axes]

    def overwritten(self, inputs: Sequence[Variable]) -> list[int]:
        # A value that is on every device is not written over.
        return []

    def specification(self, variable: Variable) -> Any:
        """Return which dimension of an input is split, in JAX's terms."""
        spec = require_jax().sharding.PartitionSpec
        return spec(*[None] * self.axes[variable], AXIS) if variable in self.axes else spec()

    def on_device(self, variable: Variable, known: dict[Variable, Any], named: Any) -> Any:
        jax = require_jax()
        sharding = jax.sharding.NamedSharding(self.mesh, self.specification(variable))
        value = known[variable]
        if is_traced(value) and value.sharding == sharding:
            return value
        value = fetched(value) if is_traced(value) else np.asarray(value)
        if variable in self.axes:
            self._check_rows(known)
        moved = jax.make_array_from_process_local_data(sharding, value)
        if variable in self._kept:
            keep(self.storage_map[variable], moved)
        return moved

    def _check_rows(self, known: dict[Variable, Any]) -> None:
        """Refuse the first of the inputs that cannot be split, whichever is read first."""
        devices = len(self.mesh.local_devices)
        for variable, axis in self.axes.items():
            if variable not in known or is_traced(known[variable]):
                continue
            rows = np.shape(known[variable])[axis]
            if rows % devices:
                raise ValueError(
                    f"data_parallel: {variable} has {rows} rows in dimension {axis}, which do "
                    f"not divide over {devices} devices"
                )

    def store(self, outputs: Sequence[Any]) -> None:
        super().store([_own_rows(value) for value in outputs])


def _own_rows(value: Any) -> Any:
    """Of an array that several processes share, this one's rows; any other as it is."""
    if not is_traced(value) or value.is_fully_addressable or value.is_fully_replicated:
        return value
    value.block_until_ready()
    shards = {str(shard.index): shard for shard in value.addressable_shards}
    ordered = sorted(shards.values(), key=lambda shard: [s.start or 0 for s in shard.index])
    axis = next(k for k, part in enumerate(value.sharding.spec) if part == AXIS)
    return np.concatenate([np.asarray(shard.data) for shard in ordered], axis)


def _checked(errors: Sequence[Exception], returned: Sequence[Any]) -> list[Any]:
    """Return the outputs, if all holds that is required on this process's devices."""
    *outputs, holds = returned
    if errors:
        held = _own_rows(holds) if is_traced(holds) else holds
        wrong = np.flatnonzero(~np.asarray(held).all(axis=0))
        if len(wrong):
            raise errors[wrong[0]]
    return outputs


class SplitProgram:
    """The one stage of a function, as a program that runs on all devices."""

    def __init__(self, stage: Stage, values: SplitValues):
        self.stage, self.values = stage, values
        self.specialisations: dict[Any, Any] = {}

    def prepared(self, values: Sequence[Any], static: Sequence[Any]) -> Call:
        """Return the call that computes the outputs."""
        key = (
            tuple((value.shape, value.dtype) for value in values),
            tuple(np.asarray(value).tobytes() for value in static),
        )
        if key not in self.specialisations:
            self.specialisations[key] = self._specialised(values, static)
        program, errors = self.specialisations[key]
        return Call(program, values, partial(_checked, errors))

    def lowered(self, values: Sequence[Any]) -> Any:
        """Return the program for these inputs, as JAX lowers it."""
        return self._specialised(values, [])[0].function.lower(*values)

    def _specialised(
        self, values: Sequence[Any], static: Sequence[Any]
    ) -> tuple[Specialisation, list]:
        """Trace twice: the first time shows which outputs have rows of the batch."""
        jax = require_jax()
        spec = jax.sharding.PartitionSpec
        mesh = self.values.mesh
        errors: list[Exception] = []
        inputs = tuple(map(self.values.specification, self.stage.inputs))
        parts: list[Any] = []
        context = self.values.context()

        def traced(*own: object) -> list[Any]:
            parts.clear()
            errors.clear()
            context.requirements.clear()
            return self._trace(own, static, context, parts, errors)

        def mapped(outputs: object) -> Any:
            return jax.shard_map(
                traced, mesh=mesh, in_specs=inputs, out_specs=outputs, check_vma=False
            )

        jax.eval_shape(mapped(spec()), *values)
        outputs = [
            spec(*[None] * part.axis, AXIS) if isinstance(part, Rows) else spec() for part in parts
        ]
        notes = Notes(largest=context.largest, ratio=max([1, *context.ratios]))
        call = jax.jit(mapped([*outputs, spec(AXIS)]))
        return Specialisation(call, notes, donates=False), errors

    def _trace(
        self,
        own: Sequence[Any],
        static: Sequence[Any],
        context: Context,
        parts: list[Any],
        errors: list[Any],
    ) -> list[Any]:
        import jax.numpy as jnp

        split = {v: axis for v, axis in self.values.axes.items() if v in self.stage.inputs}
        given = dict(zip(self.stage.inputs, own, strict=True))
        rows = {given[v].shape[axis] for v, axis in split.items()}
        if len(rows) != 1:
            raise ValueError(f"data_parallel: {self._numbers_of_rows(given, split)}")
        trace = SplitTrace(context, self.values.mesh.size, rows.pop())
        trace.values.update(given)
        trace.values.update(zip(self.stage.static, static, strict=True))
        if self.values.mesh.size > 1:
            trace.parts.update({v: Rows(axis) for v, axis in split.items()})
        try:
            trace.run(self.stage.nodes, self.stage.outputs)
        except NodeFailed as failure:
            raise failure from self._explained(failure.__cause__, given, trace)
        results = []
        for variable in self.stage.outputs:
            part, value = trace.parts.get(variable, ALL), trace.values[variable]
            if part is ALL:
                value = trace.whole.get(variable, value)
            if isinstance(value, Ragged):
                raise CannotLower("its number of rows depends on values")
            if isinstance(part, Rows) and value.shape[part.axis] != trace.rows:
                raise ValueError(
                    f"data_parallel: the output {variable}{_made_at(variable)} has the batch within a "
                    "dimension that holds more than it; reshape it outside of the function"
                )
            parts.append(part)
            results.append(jnp.asarray(value, dtype=variable.type.dtype))
        errors.extend(requirement.error for requirement in context.requirements)
        holds = [jnp.all(requirement.holds) for requirement in context.requirements]
        return [*results, jnp.stack(holds)[None] if holds else jnp.ones((1, 0), bool)]

    def _numbers_of_rows(self, given: Mapping, split: Mapping) -> str:
        devices = self.values.mesh.size
        each = [
            f"{v} has {given[v].shape[axis] * devices} in dimension {axis}"
            for v, axis in split.items()
        ]
        return f"inputs have different numbers of rows: {', '.join(each)}"

    def _explained(
        self, reason: BaseException | None, given: Mapping, trace: SplitTrace
    ) -> BaseException | None:
        """Return a failure's reason, with the inputs that are not split and have as many rows as the batch."""
        rows = trace.rows * trace.devices
        alike = [
            f"{v} in dimension {given[v].shape.index(rows)}"
            for v in self.values.passed_whole
            if v in given and rows in given[v].shape
        ]
        if not alike or isinstance(reason, CannotLower):
            return reason
        return ValueError(
            f"{reason}\nThe batch has {rows} rows, and so have inputs of which each device has all: "
            f"{', '.join(alike)}. What holds the batch is to be named in data_parallel, too."
        )


def _made_at(variable: Variable) -> str:
    line = nearest_line(variable.owner) if variable.owner is not None else ""
    return f" (created at {line})" if line else ""


class SplitMachine(Machine):
    """A function that several devices run, each on its rows of the batch."""

    def __init__(
        self,
        fgraph: FunctionGraph,
        order: Sequence[Apply],
        storage_map: object,
        device: str | None,
        split: Split,
    ):
        self.split = split
        super().__init__(fgraph, order, storage_map, device)

    values: SplitValues

    def _values(
        self, fgraph: FunctionGraph, storage_map: object, device: str | None
    ) -> SplitValues:
        return SplitValues(fgraph, storage_map, device, self.split)

    def _planned(self, refused: dict[Apply, str]) -> tuple[Plan, list[Any]]:
        plan, programs = super()._planned(refused)
        if len(plan.stages) != 1 or not plan.stages[0].on_device:
            why = "; ".join(
                f"{node} (created at {nearest_line(node) or 'a line that is not known'}): {reason}"
                for node, reason in plan.reasons.items()
            )
            raise ValueError(
                "data_parallel: the function is not one program of the devices: "
                f"{why or 'values decide lengths'}. Move what the host runs into a separate "
                "function, and call that before or after this one"
            )
        split = set(self.values.axes)
        for variable in plan.before_call:
            if split.intersection(ancestors([variable])):
                raise ValueError(f"data_parallel: {variable} is made from lengths of the batch")
        return plan, programs

    def _program(self, stage: Stage, last: bool) -> Any:
        return SplitProgram(stage, self.values)
