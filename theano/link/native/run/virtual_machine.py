"""Run the parts of a compiled function one after the other, or as far as they are needed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

from pytensor.configdefaults import config
from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph

from theano.link.native.run.prepared_call import PreparedCalls
from theano.link.native.run.prepared_parts import PreparedParts
from theano.link.native.run.prepared_samples import PreparedSamples
from theano.link.native.run.rollback import Undo
from theano.pytensor_internals.functions.linking import UpdatingVM
from theano.support.data_classes import dataclass

# what prepares calls
Preparation = PreparedCalls | PreparedParts | PreparedSamples


class FailedNode(Exception):
    """A node of a part failed; its cause is what the node raised."""

    def __init__(self, node: Apply, thunk: Any):
        super().__init__(node)
        self.node, self.thunk = node, thunk


@dataclass(eq=False)
class Unit:
    """A part of the function as it runs.

    Attributes
    ----------
    node
        Stands for the part in messages and profiles.
    run
        Computes the results into their cells. Of a lazy part: returns the positions of inputs
        that are needed first.
    needs
        The parts that must have run before; of a lazy part, by position of input.
    clears
        The cells that nothing needs after.
    flags
        Say, one for each result, whether it is computed; lazy parts ask.
    """

    node: Any
    run: Callable[[], Any]
    lazy: bool = False
    needs: list[int | None] = field(default_factory=list)
    before: list[int] = field(default_factory=list)
    clears: list[list] = field(default_factory=list)
    flags: list[list[bool]] = field(default_factory=list)


class NativeMachine(UpdatingVM):
    """The program of a function that the native engine compiled."""

    def __init__(
        self, fgraph: FunctionGraph, units: Sequence[Unit], allow_gc: bool, **storage: Any
    ):
        self.outputs_of: list[int] = storage.pop("last_units")
        self.undo: Undo = storage.pop("undo")
        self.compute_map = storage.pop("compute_map")
        super().__init__(fgraph, [u.node for u in units], [u.run for u in units], **storage)
        self.units, self.allow_gc = list(units), allow_gc
        self.lazy = any(unit.lazy for unit in units)
        self.position_of_error = -1
        self.measurements: Any = None
        # finds what calls take, when that is asked for
        self.find_memory: Callable[[], Any] | None = None
        # decides before a call how many steps loops keep; none where there is no budget
        self.within_budget: Callable[[], None] | None = None
        self._shapes: dict[Any, tuple[int, ...]] = {}
        # what prepares calls, where there is no more to do in one than to run a small segment
        self.prepared_calls: Preparation | None = None
        self._prepared: Callable[[], Any] | None = None
        last = getattr(units[-1].run, "native", None) if units else None
        self.committing = last if last is not None and last.segment.commits else None

    @cached_property
    def memory(self) -> Any:
        """Return what calls take, by the plans of the parts: a `FunctionMemory`."""
        assert self.find_memory is not None
        return self.find_memory()

    def memory_use(self, values: Sequence[Any]) -> Any:
        """Return what a call takes, from the values of all inputs; of most only the shapes are read."""
        return self.memory.use(values)

    def prepare_for(self, arguments: Mapping[int, bool]) -> Preparation | None:
        """Return what prepares calls with arguments, in place of those without; None where none are.

        Parameters
        ----------
        arguments
            As in `PreparedCalls.with_arguments`.
        """
        calls, self.prepared_calls = self.prepared_calls, None
        return calls and calls.with_arguments(arguments)

    def __call__(self, n_calls: int = 1) -> list[Any]:
        """Run the graph so many times, each on what the one before has left in shared variables.

        Returns
        -------
        list
            What the last one gave.
        """
        if self._prepared is not None and n_calls == 1 and self.allow_gc:
            outputs = self._prepared()
            if outputs is not NotImplemented:
                return outputs
        for _ in range(n_calls - 1):
            self._call_once()
        outputs = self._call_once()
        if self.prepared_calls is not None:
            self._prepared = self.prepared_calls.next_call()
        return outputs

    def _call_once(self) -> list[Any]:
        if self.position_of_error >= 0:
            # what failed stood in place of its part, for the message
            failed = self.units[self.position_of_error]
            self.nodes[self.position_of_error] = failed.node
            self.thunks[self.position_of_error] = failed.run
            self.position_of_error = -1
        for cell in self.pre_call_clear:
            cell[0] = None
        if self.within_budget is not None:
            self.within_budget()
        if self.committing is not None:
            self.committing.forget_commit()
        computed = False
        try:
            if self.lazy:
                self._run_what_is_needed()
            else:
                self._run_all()
            computed = True
            return self.perform_updates()
        except BaseException:
            # Ctrl-C: there is no way back from where a part of the updates is done
            if computed or (self.committing is not None and self.committing.has_committed()):
                self.perform_updates()
            else:
                for back in reversed(self.undo):
                    back()
            raise
        finally:
            self.undo.clear()

    def _run_all(self) -> None:
        run = self._timed if self.time_thunks else self._run
        for k, unit in enumerate(self.units):
            run(k, unit)
            if self.allow_gc:
                for cell in unit.clears:
                    cell[0] = None

    def _run(self, k: int, unit: Unit) -> Any:
        try:
            return unit.run()
        except FailedNode as failed:
            self.position_of_error = k
            self.nodes[k], self.thunks[k] = failed.node, failed.thunk
            assert failed.__cause__ is not None
            raise failed.__cause__ from None
        except Exception:
            self.position_of_error = k
            raise

    def _timed(self, k: int, unit: Unit) -> Any:
        begin = time.perf_counter()
        returned = self._run(k, unit)
        self.call_times[k] += time.perf_counter() - begin  # type: ignore[call-overload]
        if config.profile_memory and not hasattr(unit.run, "native"):
            # native code reports the shapes of its values itself
            run: Any = unit.run
            self._note_shapes(unit.node.inputs, run.inputs)
            self._note_shapes(unit.node.outputs, run.outputs)
        self.call_counts[k] += 1
        return returned

    def _note_shapes(self, variables: Sequence[Any], cells: Sequence[list]) -> None:
        for variable, cell in zip(variables, cells, strict=True):
            if hasattr(cell[0], "shape"):
                self._shapes[variable] = tuple(cell[0].shape)

    def update_profile(self, profile: Any) -> None:
        """Add the times of the calls to a profile, those of native code by the nodes in it."""
        for k, unit in enumerate(self.units):
            seconds, calls = self.call_times[k], self.call_counts[k]
            segment = getattr(unit.node.op, "segment", None)
            shares = {unit.node: seconds}
            if segment is not None:
                shares = {segment.nodes[0]: seconds}
                if self.measurements is not None:
                    shares = self.measurements.shares(segment, seconds)
            for node, share in shares.items():
                profile.apply_time[(self.fgraph, node)] += share
                profile.apply_callcount[(self.fgraph, node)] += calls
                profile.apply_cimpl[node] = segment is not None or hasattr(unit.run, "cthunk")
            self.call_times[k], self.call_counts[k] = 0.0, 0  # type: ignore[call-overload]
        if config.profile_memory:
            if self.measurements is not None:
                profile.variable_shape.update(self.measurements.outer_shapes())
            profile.variable_shape.update(self._shapes)

    def _run_what_is_needed(self) -> None:
        done = [False] * len(self.units)
        self._set_flags(self.units, False)
        waiting: list[Iterator[int]] = [iter(self.outputs_of)]
        while waiting:
            k = next(waiting[-1], None)
            if k is None:
                waiting.pop()
            elif not done[k]:
                waiting.append(self._evaluate(k, done))
        if self.allow_gc:
            for unit in self.units:
                for cell in unit.clears:
                    cell[0] = None

    def _set_flags(self, units: Sequence[Unit], computed: bool) -> None:
        for unit in units:
            for flag in unit.flags:
                flag[0] = computed

    def _evaluate(self, k: int, done: list[bool]) -> Iterator[int]:
        """Run a part; yield, one after the other, the parts that it waits for."""
        unit, run = self.units[k], self._timed if self.time_thunks else self._run
        yield from unit.before
        if not unit.lazy:
            yield from (need for need in unit.needs if need is not None)
        while not done[k]:
            wanted = run(k, unit)
            if not (unit.lazy and wanted):
                done[k] = True
                self._set_flags([unit], True)
            else:
                for position in wanted:
                    need = unit.needs[position]
                    if need is not None:
                        yield need
