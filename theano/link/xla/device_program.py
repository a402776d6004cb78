"""One stage of a function as an XLA program, made anew for each shape and static value."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from theano.link.xla.context import CannotLower, Context, Ragged, Requirement, is_traced
from theano.link.xla.interpret import NodeFailed, compute, value_of
from theano.link.xla.plan import Stage


@dataclass(frozen=True)
class Specialisation:
    """The program for some shapes and static values.

    Attributes
    ----------
    call
        Takes the dynamic inputs; returns the outputs and one truth value for each requirement.
    ragged
        Positions of the outputs that are cut to a length which the call returns after the outputs.
    required
        What is raised where the truth value is false, and of which node.
    donates
        Whether the call uses up the inputs that may be overwritten.
    """

    call: Any
    ragged: tuple[int, ...]
    required: tuple[Requirement, ...]
    donates: bool


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
        key = (
            tuple((value.shape, value.dtype) for value in values),
            tuple(map(_hashable, static)),
        )
        program = self.specialisations.get(key)
        if program is None:
            program = self._specialised(values, static)
            *outputs, holds = _first_call(program.call, values)
            self.specialisations[key] = program
        else:
            *outputs, holds = program.call(*values)
        if program.required:
            for held, requirement in zip(np.asarray(holds), program.required, strict=True):
                if not held:
                    assert requirement.node is not None
                    raise NodeFailed(requirement.node, []) from copy(requirement.error)
        outputs, lengths = outputs[: len(self.stage.outputs)], outputs[len(self.stage.outputs) :]
        for position, length in zip(program.ragged, lengths, strict=True):
            outputs[position] = outputs[position][: int(length)]
        return outputs

    def _specialised(self, values: Sequence[Any], static: Sequence[Any]) -> Specialisation:
        import jax
        from jax.extend.core import jaxpr_as_fun

        ragged: list[int] = []
        required: list[Requirement] = []
        traced = jax.make_jaxpr(lambda *given: self._trace(given, static, ragged, required))(
            *values
        )
        # What a failed requirement leaves behind must be what was there before the call.
        donates = bool(self.overwritten) and not required
        call = jax.jit(jaxpr_as_fun(traced), donate_argnums=self.overwritten if donates else ())
        return Specialisation(call, tuple(ragged), tuple(required), donates)

    def _trace(
        self,
        given: Sequence[Any],
        static: Sequence[Any],
        ragged: list[int],
        required: list[Requirement],
    ) -> list[Any]:
        import jax.numpy as jnp

        context = self.context()
        known = dict(zip(self.stage.inputs, given, strict=True))
        known.update(zip(self.stage.static, static, strict=True))
        compute(self.stage.nodes, known, context, self.stage.outputs)
        outputs: list[Any] = []
        lengths: list[Any] = []
        for position, variable in enumerate(self.stage.outputs):
            value = value_of(variable, known)
            if isinstance(value, Ragged):
                ragged.append(position)
                lengths.append(value.length)
                value = value.rows
            outputs.append(_as_output(value, variable, [*given, *outputs]))
        required.extend(replace(r, holds=None) for r in context.requirements)
        holds = [jnp.all(requirement.holds) for requirement in context.requirements]
        return [*outputs, *lengths, jnp.stack(holds) if holds else jnp.ones(0, bool)]


def _first_call(call: Any, values: Sequence[Any]) -> Any:
    """Compile and run; where a result has no use for an input's memory, JAX warns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Some donated buffers were not usable")
        return call(*values)


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
