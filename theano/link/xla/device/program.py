"""One stage of a function as an XLA program, rebuilt for each shape and static value."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import field, replace
from functools import partial
from itertools import count, starmap
from time import perf_counter
from typing import Any

import numpy as np
from pytensor.graph.basic import Variable

from theano.configdefaults import config
from theano.link.background import fetched
from theano.link.xla.context import CannotLower, Context, Ragged, Requirement, is_traced
from theano.link.xla.device.arguments import Arguments
from theano.link.xla.interpret import NodeFailed, compute, value_of
from theano.link.xla.plan import Stage
from theano.link.xla.sizes import Largest, why_no_room
from theano.link.xla.step_blocks import in_blocks
from theano.support.data_classes import dataclass

# A call that takes no longer may keep signals waiting; a longer one is made by a helper thread.
QUICK_SECONDS = 0.02


@dataclass
class Notes:
    """Notes about a program that are made while it is traced, in addition to its outputs.

    Attributes
    ----------
    ragged
        Positions of the outputs that are cut to a length which the call returns after the outputs.
    required
        What is raised where a boolean of the call is false, and of which node.
    cuts
        Outputs that have padding: position, dimension, and the lengths that there may be.
    largest
        The largest value.
    ratio
        How much longer than another call one may take, as far as values decide.
    loops
        The loops that may run in blocks of steps, by name.
    loops_on_gpu
        For each loop that may be one kernel of a GPU, what it is, or why it has none.
    """

    ragged: list[int] = field(default_factory=list)
    required: list[Requirement] = field(default_factory=list)
    cuts: list[tuple[int, int, np.ndarray]] = field(default_factory=list)
    largest: Largest = field(default_factory=Largest)
    ratio: int = 1
    loops: dict[str, Any] = field(default_factory=dict)
    loops_on_gpu: tuple[str, ...] = ()


@dataclass
class Specialisation:
    """The program for some shapes and static values.

    Attributes
    ----------
    function
        A function of JAX of the dynamic inputs. It returns the outputs, the lengths of ragged ones,
        and, if anything is required, one boolean for each requirement.
    notes
        What tracing it found.
    donates
        Whether the call uses up the inputs that may be overwritten.
    types
        Shape and dtype of each dynamic input, for which XLA compiles it; None if JAX is to see to it.
    executable
        What XLA has compiled; it needs none of JAX's settings where all inputs are on the device.
    call
        The same without Python between the caller and XLA, once it has run.
    has_run
        Whether a call has returned.
    seconds
        How long a call takes; infinity while that is not known.
    used
        The number of the call that used it last.
    is_dropped
        Whether it has made room for another.
    """

    function: Any
    notes: Notes
    donates: bool
    types: tuple[Any, ...] | None = None
    executable: Any = None
    call: Any = None
    has_run: bool = False
    seconds: float = float("inf")
    used: int = 0
    is_dropped: bool = False

    def compiled(self) -> Any:
        """Return the program as XLA compiles it."""
        if self.executable is None:
            assert self.types is not None
            with warnings.catch_warnings():
                # where a result has no use for an input's memory, JAX warns
                warnings.filterwarnings("ignore", "Some donated buffers were not usable")
                self.executable = self.function.lower(*self.types).compile()
        return self.executable

    def callable(self) -> Any:
        """Return what is called with the inputs."""
        if self.call is None:
            compiled = self.function if self.types is None else self.compiled()
            if not self.has_run:
                return compiled
            self.call = getattr(compiled, "_call", None) or compiled
        return self.call

    @property
    def is_quick(self) -> bool:
        """Return whether no call takes so long that someone would want to interrupt it."""
        return self.seconds * self.notes.ratio < QUICK_SECONDS


@dataclass
class Call:
    """A program with the values for one call.

    Attributes
    ----------
    program
        Of these shapes and static values.
    values
        Of the dynamic inputs.
    outputs
        Makes the stage's outputs of what the program returns.
    """

    program: Specialisation
    values: Sequence[Any]
    outputs: Callable[[list[Any]], list[Any]]

    @property
    def is_on_device(self) -> bool:
        """Return whether no value has to be moved, which is done by JAX's settings."""
        return np.ndarray not in map(type, self.values)

    def run(self, update: Callable[[list[Any]], None] | None) -> list[Any]:
        """Return the outputs; hand them to `update` if the program has overwritten inputs.

        That is done even if a signal's handler raises: the inputs are gone.
        """
        import jax

        program = self.program
        update = update if program.donates else None
        call = program.callable()
        returned: list[list[Any]] = []
        try:
            # in one step of C: no handler runs between the call and the append
            returned.extend(starmap(call, (self.values,)))
            program.has_run = True
            outputs = self.outputs(returned[0])
            if update is not None:
                update(outputs)
        except BaseException:
            if update is not None and returned:
                update(self.outputs(returned[0]))
                # the memory of its arguments is written in the next call
                jax.block_until_ready(returned[0])
            raise
        return outputs

    def run_measured(self, update: Callable[[list[Any]], None] | None) -> list[Any]:
        """Do the same, wait for the outputs, and note how long it takes."""
        import jax

        measures = self.program.has_run
        if self.program.donates and update is not None:
            # the caller gets his arrays back when a signal comes, before the program has read them
            self.values = [np.array(x) if isinstance(x, np.ndarray) else x for x in self.values]
        begin = perf_counter()
        outputs = jax.block_until_ready(self.run(update))
        if measures:
            self.program.seconds = perf_counter() - begin
        return outputs


class DeviceProgram:
    """Runs a stage on the device.

    Parameters
    ----------
    stage : Stage
    overwritten : collection of int
        Positions of the inputs whose memory the outputs may take.
    context : callable
        Returns where and how it is traced.
    arguments : Arguments, optional
        Memory of the arguments, if the device is to read them there.
    """

    def __init__(
        self,
        stage: Stage,
        overwritten: Collection[int],
        context: Callable[[], Context],
        arguments: Arguments | None = None,
    ):
        self.stage, self.overwritten, self.context = stage, tuple(overwritten), context
        self.arguments = arguments
        self.specialisations: dict[Any, Specialisation] = {}
        self._most, self.calls, self._has_warned = int(config.xla.programs), count(), False

    def prepared(self, values: Sequence[Any], static: Sequence[Any]) -> Call:
        """Return the call that computes the outputs; NumPy arrays are transferred."""
        program = self._program(
            self._key(values, static),
            values,
            lambda given, notes: self._trace(given, static, notes),
        )
        return self.call_of(program, values)

    def call_of(self, program: Specialisation, values: Sequence[Any]) -> Call:
        """Return the call of a program for values of its shapes."""
        if self.arguments is not None:
            values = self.arguments.placed(values)
        return self.placed_call(program, values)

    def placed_call(self, program: Specialisation, values: Sequence[Any]) -> Call:
        """Return the call for values that are where the device reads them."""
        self.note_use(program)
        return Call(program, values, partial(self._outputs, program))

    def note_use(self, program: Specialisation) -> None:
        """Note that a program is the one that was used last."""
        program.used = next(self.calls)

    def _key(self, values: Sequence[Any], static: Sequence[Any]) -> Any:
        return (
            tuple((value.shape, value.dtype) for value in values),
            tuple(map(_hashable, static)),
        )

    def _program(
        self, key: object, values: Sequence[Any], trace: Callable[[Sequence[Any], Notes], list[Any]]
    ) -> Specialisation:
        """Return the program that is kept under a key, or a new one; XLA compiles it when it is run."""
        import jax

        found = self.specialisations.get(key)
        if found is None:
            notes = Notes()
            traced = jax.make_jaxpr(lambda *given: trace(given, notes))(*values)
            self._check_room(traced.out_avals)
            # What a failed requirement leaves behind must be what was there before the call.
            donates = bool(self.overwritten) and not notes.required
            function = jax.jit(
                in_blocks(traced, notes.loops, self.context().platform),
                donate_argnums=self.overwritten if donates else (),
            )
            types = tuple(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in values)
            found = Specialisation(function, notes, donates, types)
            self._drop_oldest()
            self.specialisations[key] = found
        return found

    def _drop_oldest(self) -> None:
        """Make room for one more program."""
        if not 0 < self._most <= len(self.specialisations):
            return
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"a function of XLA has been called with more than {self._most} combinations of "
                "shapes and lengths, each of which has its own program; the program that was "
                "not used for longest is dropped, and compiled again when it is needed. "
                "xla.bucket_lengths has lengths share programs; xla.programs says how many are kept",
                stacklevel=2,
            )
        oldest = min(self.specialisations, key=lambda k: self.specialisations[k].used)
        self.specialisations.pop(oldest).is_dropped = True

    def _check_room(self, values: Sequence[Any]) -> None:
        """Refuse results for which the host has no room, of which XLA may make constants."""
        if self.context().platform != "cpu":
            return
        reason, node = why_no_room(self.stage.outputs, values)
        if node is not None:
            raise NodeFailed(node, []) from MemoryError(reason)

    def _outputs(self, program: Specialisation, returned: Sequence[Any]) -> list[Any]:
        notes, outputs = program.notes, list(returned)
        if notes.required:
            holds = outputs.pop()
            for held, requirement in zip(fetched(holds), notes.required, strict=True):
                if not held:
                    assert requirement.node is not None
                    raise NodeFailed(requirement.node, []) from copy(requirement.error)
        if notes.ragged:
            count = len(self.stage.outputs)
            outputs, lengths = outputs[:count], outputs[count:]
            for position, length in zip(notes.ragged, lengths, strict=True):
                outputs[position] = outputs[position][: int(fetched(length))]
        return outputs

    def _trace(self, given: Sequence[Any], static: Sequence[Any], notes: Notes) -> list[Any]:
        context = replace(self.context(), loops=notes.loops)
        known = dict(zip(self.stage.inputs, given, strict=True))
        known.update(zip(self.stage.static, static, strict=True))
        compute(self.stage.nodes, known, context, self.stage.outputs)
        values = [value_of(variable, known) for variable in self.stage.outputs]
        return self._as_outputs(values, given, context, notes)

    def _as_outputs(
        self, values: Sequence[Any], given: Sequence[Any], context: Context, notes: Notes
    ) -> list[Any]:
        """Return what the program returns: outputs, lengths of ragged ones, and what holds."""
        import jax.numpy as jnp

        outputs: list[Any] = []
        lengths: list[Any] = []
        for position, (variable, value) in enumerate(zip(self.stage.outputs, values, strict=True)):
            if isinstance(value, Ragged):
                notes.ragged.append(position)
                lengths.append(value.length)
                value = value.rows
            outputs.append(_as_output(value, variable, [*given, *outputs]))
        notes.largest = context.largest
        notes.ratio = max([1, *context.ratios])
        notes.loops_on_gpu = tuple(context.loops_on_gpu)
        notes.required.extend(replace(r, holds=None) for r in context.requirements)
        holds = [jnp.all(requirement.holds) for requirement in context.requirements]
        return [*outputs, *lengths, *([jnp.stack(holds)] if holds else [])]


def _as_output(value: object, variable: Variable, others: Sequence[Any]) -> Any:
    """Return a value as the program gives it: its own array, not an input's or another output's."""
    import jax.numpy as jnp

    if any(value is other for other in others):
        return jnp.array(value, copy=True)
    if is_traced(value):
        return value
    if not isinstance(value, np.ndarray | np.generic | int | float | complex):
        raise CannotLower(f"a value of type {variable.type} cannot leave an XLA program")
    return jnp.asarray(value, dtype=variable.type.dtype)


def _hashable(value: object) -> Any:
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes())
    if isinstance(value, slice):
        return ("slice", value.start, value.stop, value.step)
    return value
