"""One stage of a function as an XLA program, made anew for each shape and static value."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import field, replace
from typing import Any

import numpy as np

from theano.data_classes import dataclass
from theano.link.xla.context import CannotLower, Context, Ragged, Requirement, is_traced
from theano.link.xla.interpret import NodeFailed, compute, value_of
from theano.link.xla.plan import Stage


@dataclass
class Notes:
    """What tracing finds out about a program beside its outputs.

    Attributes
    ----------
    ragged
        Positions of the outputs that are cut to a length which the call returns after the outputs.
    required
        What is raised where a truth value of the call is false, and of which node.
    cuts
        Outputs that have padding: position, dimension, and the lengths that there may be.
    """

    ragged: list[int] = field(default_factory=list)
    required: list[Requirement] = field(default_factory=list)
    cuts: list[tuple[int, int, np.ndarray]] = field(default_factory=list)


@dataclass
class Specialisation:
    """The program for some shapes and static values.

    Attributes
    ----------
    call
        Takes the dynamic inputs; returns the outputs, the lengths of ragged ones, and one truth
        value for each requirement.
    ragged, required, cuts
        As in `Notes`.
    donates
        Whether the call uses up the inputs that may be overwritten.
    has_run
        Whether XLA has compiled it.
    """

    call: Any
    ragged: tuple[int, ...]
    required: tuple[Requirement, ...]
    cuts: tuple[tuple[int, int, np.ndarray], ...]
    donates: bool
    has_run: bool = False


class DeviceProgram:
    """Runs a stage on the device.

    Parameters
    ----------
    stage : Stage
    overwritten : collection of int
        Positions of the inputs whose memory the outputs may take.
    context : callable
        Returns where and how it is traced.
    """

    def __init__(self, stage: Stage, overwritten: Collection[int], context: Callable[[], Context]):
        self.stage, self.overwritten, self.context = stage, tuple(overwritten), context
        self.specialisations: dict[Any, Specialisation] = {}

    def __call__(self, values: Sequence[Any], static: Sequence[Any]) -> list[Any]:
        """Compute the outputs from values of the inputs; NumPy arrays are transferred."""
        program = self._program(
            self._key(values, static),
            values,
            lambda given, notes: self._trace(given, static, notes),
        )
        return self._run(program, values)

    def _key(self, values: Sequence[Any], static: Sequence[Any]) -> Any:
        return (
            tuple((value.shape, value.dtype) for value in values),
            tuple(map(_hashable, static)),
        )

    def _program(
        self, key: Any, values: Sequence[Any], trace: Callable[[Sequence[Any], Notes], list[Any]]
    ) -> Specialisation:
        """The program that is kept under a key, or a new one; XLA compiles it when it is run."""
        import jax
        from jax.extend.core import jaxpr_as_fun

        if key not in self.specialisations:
            notes = Notes()
            traced = jax.make_jaxpr(lambda *given: trace(given, notes))(*values)
            # What a failed requirement leaves behind must be what was there before the call.
            donates = bool(self.overwritten) and not notes.required
            call = jax.jit(jaxpr_as_fun(traced), donate_argnums=self.overwritten if donates else ())
            self.specialisations[key] = Specialisation(
                call, tuple(notes.ragged), tuple(notes.required), tuple(notes.cuts), donates
            )
        return self.specialisations[key]

    def _run(self, program: Specialisation, values: Sequence[Any]) -> list[Any]:
        call = program.call if program.has_run else _first_call(program.call)
        *outputs, holds = call(*values)
        program.has_run = True
        if program.required:
            for held, requirement in zip(np.asarray(holds), program.required, strict=True):
                if not held:
                    assert requirement.node is not None
                    raise NodeFailed(requirement.node, []) from copy(requirement.error)
        outputs, lengths = outputs[: len(self.stage.outputs)], outputs[len(self.stage.outputs) :]
        for position, length in zip(program.ragged, lengths, strict=True):
            outputs[position] = outputs[position][: int(length)]
        return outputs

    def _trace(self, given: Sequence[Any], static: Sequence[Any], notes: Notes) -> list[Any]:
        context = self.context()
        known = dict(zip(self.stage.inputs, given, strict=True))
        known.update(zip(self.stage.static, static, strict=True))
        compute(self.stage.nodes, known, context, self.stage.outputs)
        values = [value_of(variable, known) for variable in self.stage.outputs]
        return self._as_outputs(values, given, context, notes)

    def _as_outputs(
        self, values: Sequence[Any], given: Sequence[Any], context: Context, notes: Notes
    ) -> list[Any]:
        """What the program returns: outputs, lengths of ragged ones, and what holds."""
        import jax.numpy as jnp

        outputs: list[Any] = []
        lengths: list[Any] = []
        for position, (variable, value) in enumerate(zip(self.stage.outputs, values, strict=True)):
            if isinstance(value, Ragged):
                notes.ragged.append(position)
                lengths.append(value.length)
                value = value.rows
            outputs.append(_as_output(value, variable, [*given, *outputs]))
        notes.required.extend(replace(r, holds=None) for r in context.requirements)
        holds = [jnp.all(requirement.holds) for requirement in context.requirements]
        return [*outputs, *lengths, jnp.stack(holds) if holds else jnp.ones(0, bool)]


def _first_call(call: Any) -> Any:
    """A call that compiles: where a result has no use for an input's memory, JAX warns."""

    def silent(*values: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Some donated buffers were not usable")
            return call(*values)

    return silent


def _as_output(value: Any, variable: Any, others: Sequence[Any]) -> Any:
    """A value as the program gives it: an array of its own, not an input's or another output's."""
    import jax.numpy as jnp

    if any(value is other for other in others):
        return jnp.array(value, copy=True)
    if is_traced(value):
        return value
    if not isinstance(value, np.ndarray | np.generic | int | float | complex):
        raise CannotLower(f"a value of type {variable.type} cannot leave an XLA program")
    return jnp.asarray(value, dtype=variable.type.dtype)


def _hashable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes())
    if isinstance(value, slice):
        return ("slice", value.start, value.stop, value.step)
    return value
