"""Runs the stages of a compiled function one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph

from theano.configdefaults import OFF, config
from theano.link.background import (
    fetched,
    interruptibly,
    refuse_without_threads,
    wait_for_background,
)
from theano.link.xla.buckets import BucketedProgram
from theano.link.xla.context import CannotLower, Context, is_traced
from theano.link.xla.device.arguments import Arguments
from theano.link.xla.device.program import DeviceProgram
from theano.link.xla.device.values import DeviceValues
from theano.link.xla.dtypes import require_dtypes
from theano.link.xla.host import HostProgram
from theano.link.xla.interpret import NodeFailed, compute
from theano.link.xla.jax_library import require_jax
from theano.link.xla.plan import Plan, Stage, make_plan
from theano.link.xla.prepared import PreparedCalls
from theano.link.xla.repeated import Known, RepeatedCalls
from theano.link.xla.sizes import Largest

# The largest value before there is any
NOTHING = Largest()


class Machine:
    """A compiled function as it runs; what XLA proves unable to trace moves to the host.

    Attributes
    ----------
    plan
        What runs where.
    programs
        One for each stage.
    nodes, thunks, position_of_error
        What failed in the last call, for the message; the position is set only then.
    """

    # PyTensor's functions and profiles read these.
    allow_gc = True
    # This package's functions do: shared variables need not be brought to the host before a call.
    reads_device_values = True

    def __init__(
        self,
        fgraph: FunctionGraph,
        order: Sequence[Apply],
        storage_map: object,
        device: str | None = None,
    ):
        self.fgraph, self.order, self.storage_map = fgraph, order, storage_map
        self.values = self._values(fgraph, storage_map, device)
        self.bucket_lengths = config.xla.bucket_lengths
        self.nodes: list[Apply] = []
        self.thunks: list[Any] = []
        self._refused: dict[Apply, str] = {}
        self._largest = NOTHING
        self._use(self._planned({}))

    def _values(
        self, fgraph: FunctionGraph, storage_map: object, device: str | None
    ) -> DeviceValues:
        return DeviceValues(fgraph, storage_map, device)

    def _planned(self, refused: dict[Apply, str]) -> tuple[Plan, list[Any]]:
        plan = make_plan(self.fgraph, self.order, refused)
        return plan, [self._program(stage, stage is plan.stages[-1]) for stage in plan.stages]

    def _use(self, planned: tuple[Plan, list[Any]]) -> None:
        self.plan, self.programs = planned
        self._repeated: RepeatedCalls | None = None
        if RepeatedCalls.is_possible(self.plan, self.programs, self.values):
            self._repeated = RepeatedCalls(self.plan, self.programs[0], self.values)
        self._prepared: PreparedCalls | None = None

    def prepare_for(self, arguments: Mapping[int, bool]) -> PreparedCalls | None:
        """Return what prepares the calls of the function that the machine runs; None where none are.

        Parameters
        ----------
        arguments
            Of each input that is an argument the position, and whether a number is one, too.
        """
        repeated, values = self._repeated, self.values
        if repeated is not None and PreparedCalls.is_possible(repeated, values, arguments):
            self._prepared = PreparedCalls(repeated, values, arguments)
        return self._prepared

    def _program(self, stage: Stage, last: bool) -> Any:
        if not stage.on_device:
            return None
        made = [variable for node in stage.nodes for variable in node.outputs]
        require_dtypes(stage.device or self.values.device, [*stage.inputs, *made])
        # A stage that may still be run again, or whose values are read again, keeps its inputs.
        overwritten = self.values.overwritten(stage.inputs) if last else ()
        context = partial(self.values.context, stage.device)
        on_cpu = stage.device is None and self.values.device.platform == "cpu"
        arguments = Arguments(self.values.device) if on_cpu else None
        if self.bucket_lengths == OFF:
            return DeviceProgram(stage, overwritten, context, arguments)
        return BucketedProgram(stage, overwritten, context, self.bucket_lengths, arguments)

    def __call__(self) -> None:
        # PyTensor takes it that a node failed where this is set.
        vars(self).pop("position_of_error", None)
        refuse_without_threads()
        wait_for_background()
        self._largest = NOTHING
        try:
            known = None if self._repeated is None else self._repeated.find()
            if known is None:
                with self.values.precision_in_use():
                    self.values.store(self._run())
            else:
                made = self._run_again(known)
                self._store(made)
                if self._prepared is not None and known.values is not None:
                    self._prepared.learn(known.program, made)
        except (RuntimeError, ValueError, MemoryError) as error:
            self._name_memory(error)
            raise

    def _store(self, made: list[Any]) -> None:
        """Store what a program of the CPU has made; the memory of its arguments is written in the next call."""
        try:
            self.values.store_made(made)
        except BaseException:
            require_jax().block_until_ready(made)
            raise

    def _run_again(self, known: Known) -> list[Any]:
        """Run a program that is the whole function."""
        assert self._repeated is not None
        self._largest = known.program.notes.largest
        try:
            return self._repeated.run(known)
        except NodeFailed as failure:
            reason = failure.__cause__
            assert reason is not None
            self._blame(failure.node, failure.inputs)
            raise reason from None

    def _run(self) -> list[Any]:
        refused: dict[Apply, str] = {}
        planned = self.plan, self.programs
        while True:
            try:
                outputs = self._run_stages(*planned)
            except NodeFailed as failure:
                reason = failure.__cause__
                assert reason is not None
                if not isinstance(reason, CannotLower):
                    self._blame(failure.node, failure.inputs)
                    raise reason from None
                refused[failure.node] = str(reason)
                planned = self._planned({**self._refused, **refused})
                continue
            if refused:
                # the host could do it, so that it was no mistake of the caller
                self._refused.update(refused)
                self._use(planned)
            return outputs

    def _name_memory(self, error: Exception) -> None:
        """Raise MemoryError, as Python does, where the device has no more memory."""
        # XLA says so, or, where its own search for programs runs out of memory, C++ does
        lacking = isinstance(error, MemoryError) and "position_of_error" not in vars(self)
        if not lacking and "RESOURCE_EXHAUSTED" not in str(error):
            return
        if self._largest.node is not None:
            self._blame(self._largest.node, [])
        raise MemoryError(
            f"{self.values.device_name(None)} has not enough memory for this call: {error} "
            f"{self._largest}"
            "Smaller batches, shorter sequences or theano.scan_checkpoints need less."
        ) from error

    def _run_stages(self, plan: Plan, programs: list[Any]) -> list[Any]:
        known: dict[Variable, Any] = self.values.given()
        passed_on = self.values.copies_of_outputs(known)
        known.update(_known_before_call(plan.before_call, known))
        for position, (stage, program) in enumerate(zip(plan.stages, programs, strict=True)):
            if program is None:
                program = programs[position] = HostProgram(stage)
            if stage.on_device:
                update = None
                if stage is plan.stages[-1] and self.values.updated:
                    update = partial(self._replace_shared, stage, {**known, **passed_on})
                outputs = self._run_on_device(stage, program, known, update)
            else:
                outputs = self._run_on_host(stage, program, known)
            known.update(zip(stage.outputs, outputs, strict=True))
        known.update(passed_on)
        return [_known(variable, known) for variable in self.fgraph.outputs]

    def _run_on_device(
        self, stage: Stage, program: Any, known: dict[Variable, Any], update: object
    ) -> list[Any]:
        with self.values.device_in_use(stage.device):
            values = [self.values.on_device(v, known, stage.device) for v in stage.inputs]
            static = [_on_host(v, known) for v in stage.static]
            call = program.prepared(values, static)
            self._largest = max(self._largest, call.program.notes.largest, key=lambda x: x.bytes)
            if self._repeated is not None and program is self.programs[0]:
                self._repeated.remember(call.program)
            # devices compute while the program goes on, and so do those of the CPU that are named
            is_host = self.values.device.platform == "cpu" and stage.device is None
            if call.program.is_quick or not is_host:
                return call.run(update)

        def slowly() -> list[Any]:
            # JAX's settings are those of a thread
            with self.values.precision_in_use(), self.values.device_in_use(stage.device):
                return call.run_measured(update)

        return interruptibly(slowly)

    def _replace_shared(
        self, stage: Stage, known: dict[Variable, Any], outputs: Sequence[Any]
    ) -> None:
        known = {**dict(zip(stage.outputs, outputs, strict=True)), **known}
        self.values.replace_shared([_known(variable, known) for variable in self.fgraph.outputs])

    def _run_on_host(self, stage: Stage, program: Any, known: dict[Variable, Any]) -> list[Any]:
        try:
            return program([_on_host(v, known) for v in stage.inputs])
        except Exception:
            failed = program.failed()
            if failed is not None:
                self._blame(*failed)
            raise

    def _blame(self, node: Apply, inputs: Sequence[Any]) -> None:
        self.nodes = [node]
        boxes = [[value] for value in inputs]
        self.thunks = [SimpleNamespace(inputs=boxes, outputs=[])]
        self.position_of_error = 0


def _known(variable: Variable, known: dict[Variable, Any]) -> Any:
    return variable.data if isinstance(variable, Constant) else known[variable]


def _on_host(variable: Variable, known: dict[Variable, Any]) -> Any:
    value = _known(variable, known)
    return fetched(value) if is_traced(value) else value


def _known_before_call(
    variables: Sequence[Variable], given: dict[Variable, Any]
) -> dict[Variable, Any]:
    """Return the variables that NumPy can compute from the inputs."""
    known: dict[Variable, Any] = {}

    def add(variable: Variable) -> None:
        if variable in known or isinstance(variable, Constant):
            return
        if variable.owner is None:
            value = given[variable]
            # of large arrays only the shape is asked for
            known[variable] = fetched(value) if is_traced(value) and value.ndim < 2 else value
            return
        for source in variable.owner.inputs:
            add(source)
        compute([variable.owner], known, Context(before_call=True))

    for variable in variables:
        add(variable)
    return {variable: known[variable] for variable in variables}
