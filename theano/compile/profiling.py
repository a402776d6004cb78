"""Profiles of compiled functions: what they count, and how Theano printed it.

PyTensor fills a profile while a function is compiled and called; all that is printed is written
here. Where code is native, the engine's counters say what happened inside of loops.
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from pytensor.graph.fg import FunctionGraph

from theano.compile import profile_summary
from theano.configdefaults import config
from theano.pytensor_internals.functions.profiling import ProfileStats as PyTensorProfileStats
from theano.pytensor_internals.functions.profiling import (
    not_printed_by_pytensor,
    printers_of_others,
    register_profiler_printer,
    seconds_of_process,
)
from theano.rewriting.step_profiles import use_step_profiles

if TYPE_CHECKING:
    from theano.link.native.run.profile import LoopOfNodes

__all__ = ["LoopProfileStats", "ProfileStats", "print_global_stats", "register_profiler_printer"]

# What is added up over functions, and what is put together
_ADDED = (
    "compile_time",
    "fct_call_time",
    "fct_callcount",
    "vm_call_time",
    "rewriting_time",
    "validate_time",
    "linker_time",
    "import_time",
    "preload_cache_time",
    "linker_node_make_thunks",
    "nb_nodes",
)
_JOINED = (
    "apply_time",
    "apply_callcount",
    "apply_cimpl",
    "variable_shape",
    "variable_strides",
    "variable_offset",
    "linker_make_thunk_time",
)


class ProfileStats(PyTensorProfileStats):
    """The times of a function's compilation and of its calls.

    With the flag ``profile_memory`` the summary lists what memory values take, with
    ``profile_optimizer`` how long each pass of rewriting took, which rewrites took it, and how long
    each ran on which loop.

    Parameters
    ----------
    atexit_print : bool
        Whether it is printed when the process ends, if the flag ``profile`` is set then.
    flag_time_thunks : bool, optional
        Whether nodes are timed; by default the flag ``profiling.time_thunks``.
    gpu_checks : bool
        Accepted; Theano refused to profile GPUs that ran asynchronously.
    **kwargs
        Values of attributes.
    """

    rewriter_profile: Any = None

    def __init__(
        self,
        atexit_print: bool = True,
        flag_time_thunks: bool | None = None,
        gpu_checks: bool = True,
        **kwargs: object,
    ):
        self.parts: Sequence[ProfileStats] = ()
        super().__init__(False, flag_time_thunks, **kwargs)
        if atexit_print:
            _print_at_exit(self)

    @property
    def optimizer_time(self) -> float:
        """Seconds that rewriting took."""
        return self.rewriting_time

    @property
    def optimizer_profile(self) -> Any:
        """The rewriter, and what it has measured."""
        return self.rewriter_profile

    @property
    def graphs(self) -> list[Any]:
        """The graphs of which calls were counted."""
        return list(dict.fromkeys(graph for graph, _ in self.apply_time))

    @property
    def fused(self) -> frozenset:
        """The values that native code computes where they are read: they are no arrays."""
        found: set[Any] = set()
        for graph in self.graphs:
            if isinstance(graph, profile_summary.GraphOfStep):
                arrays, known = graph.in_memory, set(graph.shapes)
            elif (measured := profile_summary.measurements_of(graph)) is not None:
                arrays, known = measured.outer_in_memory(), set(measured.outer_shapes())
            else:
                continue
            found |= known - arrays
        return frozenset(found)

    def executed_order(self, graph: FunctionGraph) -> Sequence[Any]:
        """Return the nodes of a graph in the order in which they ran; empty if it is that of the graph."""
        order = getattr(self, "node_executed_order", None) or ()
        nodes = set(graph.apply_nodes)
        return order if len(order) == len(nodes) and set(order) == nodes else ()

    def loops(self) -> list[LoopOfNodes]:
        """Return the native loops of the functions, as they were measured."""
        measured = (profile_summary.measurements_of(graph) for graph in self.graphs)
        return [loop for one in measured if one is not None for loop in one.loops()]

    def summary(
        self, file: TextIO = sys.stderr, n_ops_to_print: int = 20, n_apply_to_print: int = 20
    ) -> None:
        """Print the profile.

        Parameters
        ----------
        file
            Where to.
        n_ops_to_print, n_apply_to_print : int
            The most rows of classes and operations, and of nodes.
        """
        if self.rewriter_profile is not None or self.parts:
            self.print_compilation(file)
        self.summary_function(file)
        self.summary_globals(file)
        self._write_tables(file, n_ops_to_print, n_apply_to_print)
        loops = self.loops()
        profile_summary.write_scan_overhead(self, loops, file)
        self.print_extra(file)
        profile_summary.write_tips(self, file)
        for loop in () if self.parts else loops:
            LoopProfileStats.of_native(loop).summary(file, n_ops_to_print, n_apply_to_print)

    def _write_tables(self, file: TextIO, operations: int, nodes: int) -> None:
        if sum(self.apply_time.values()) > 0:
            profile_summary.write_classes(self, file, operations)
            profile_summary.write_operations(self, file, operations)
            profile_summary.write_nodes(self, file, nodes)
        elif self.fct_callcount > 0:
            print(
                "  No time was counted by operation: this engine does not, or the flag "
                "profiling.time_thunks is not set",
                file=file,
            )
        graphs = self.graphs
        if config.profiling.debugprint:
            for graph in graphs:
                profile_summary.debugprint(list(graph.outputs), print_type=True, file=file)
        if self.variable_shape and graphs:
            profile_summary.write_memory(self, graphs, file, nodes)

    def print_compilation(self, file: TextIO = sys.stderr) -> None:
        """Print where compilation took its time: stages, rewrites, loops."""
        for part in self.parts or (self,):
            if part.rewriter_profile is not None:
                profile_summary.write_compilation(part, file)

    def summary_function(self, file: TextIO) -> None:
        """Print what calls and compilation took."""
        counted = sum(self.apply_time.values())
        lines = [
            "Function profiling",
            "==================",
            f"  Message: {self.message}",
            f"  Time in {self.fct_callcount} calls to Function.__call__: {self.fct_call_time:e}s",
        ]
        if self.fct_call_time > 0:
            for what, seconds in (("Function.fn.__call__", self.vm_call_time), ("thunks", counted)):
                share = 100 * seconds / self.fct_call_time
                lines.append(f"  Time in {what}: {seconds:e}s ({share:.3f}%)")
        lines += [
            f"  Total compile time: {self.compile_time:e}s",
            f"    Number of Apply nodes: {self.nb_nodes}",
            f"    Theano Optimizer time: {self.rewriting_time:e}s",
            f"       Theano validate time: {self.validate_time:e}s",
            "    Theano Linker time (includes C, CUDA code generation/compiling): "
            f"{self.linker_time:e}s",
            f"       C-cache preloading: {self.preload_cache_time:e}s",
            f"       Import time: {self.import_time:e}s",
            f"       Node make_thunk time: {self.linker_node_make_thunks:e}s",
        ]
        slowest = sorted(self.linker_make_thunk_time.items(), key=lambda item: -item[1])[:5]
        lines += [f"           Node {node} time {seconds:e}s" for node, seconds in slowest]
        print(*lines, "", sep="\n", file=file)

    def summary_globals(self, file: TextIO) -> None:
        """Print what the process as a whole took."""
        passed = seconds_of_process().since_import
        print(f"Time since theano import {passed:.3f}s", file=file)

    def print_extra(self, file: TextIO) -> None:
        """Print what others have to say; see `register_profiler_printer`."""
        for write in printers_of_others():
            write(
                self.message,
                self.compile_time,
                self.fct_call_time,
                self.apply_time,
                self.apply_cimpl,
                self.output_size,
                file=file,
            )


class LoopProfileStats(ProfileStats):
    """The times of a loop's calls: of its steps, and around them.

    Attributes
    ----------
    name
        The loop's.
    callcount, nbsteps, call_time
        How often it ran, for how many steps in all, and how long.
    """

    show_sum = False
    name: str | None = None
    callcount = 0
    nbsteps = 0
    call_time = 0.0

    @classmethod
    def of_native(cls, loop: LoopOfNodes) -> LoopProfileStats:
        """Return that of a loop that the native engine runs."""
        graph = profile_summary.graph_of_step(loop)
        inside = min(loop.seconds, loop.overhead + sum(loop.times.values()))
        return cls(
            atexit_print=False,
            name=loop.name,
            callcount=loop.calls,
            nbsteps=loop.steps,
            call_time=loop.seconds,
            vm_call_time=inside,
            apply_time={(graph, node): seconds for node, seconds in loop.times.items()},
            apply_callcount={(graph, node): loop.steps for node in loop.times},
            apply_cimpl=dict.fromkeys(loop.times, True),
            variable_shape=dict(loop.shapes) if config.profile_memory else {},
        )

    @classmethod
    def of_step(cls, theirs: PyTensorProfileStats) -> LoopProfileStats:
        """In place of the profile that PyTensor made from a step, which is printed no more."""
        not_printed_by_pytensor(theirs)
        return cls(**{**vars(theirs), "parts": ()})

    def summary(
        self, file: TextIO = sys.stderr, n_ops_to_print: int = 20, n_apply_to_print: int = 20
    ) -> None:
        """Print the profile; nothing where the loop did not run."""
        if self.callcount:
            profile_summary.write_step_summary(self, file)
            self._write_tables(file, n_ops_to_print, n_apply_to_print)
            self.print_extra(file)


use_step_profiles(LoopProfileStats.of_step)


def profile_for(profile: bool | str | ProfileStats | None, name: str | None) -> Any:
    """Return the profile of a function that is asked for like this, or None.

    Parameters
    ----------
    profile
        Whether, or under which name; None for what the flags say.
    name
        That of the function.
    """
    if profile is None:
        profile = config.profile or config.print_global_stats
    if profile is True:
        return ProfileStats(message=name)
    if isinstance(profile, str):
        return ProfileStats(message=profile)
    return profile or None


_printed_at_exit: list[ProfileStats] = []


def profiles_of_process() -> tuple[ProfileStats, ...]:
    """Those that are printed when the process ends, if the flag ``profile`` is set then."""
    return tuple(_printed_at_exit)


def _print_at_exit(profile: ProfileStats) -> None:
    if not _printed_at_exit:
        atexit.register(_print_all)
    _printed_at_exit.append(profile)


@contextmanager
def _destination() -> Iterator[TextIO]:
    """Open the file that the flag ``profiling.destination`` names."""
    named = {"stderr": sys.stderr, "stdout": sys.stdout}
    if config.profiling.destination in named:
        yield named[config.profiling.destination]
    else:
        with Path(config.profiling.destination).open("w", encoding="utf-8") as file:
            yield file


def _print_all() -> None:
    """Print the profiles of the process, the longest first, and their sum."""
    if config.profile:
        with _destination() as file:
            print_profiles(_printed_at_exit, file)
    if config.print_global_stats:
        print_global_stats()


def print_profiles(profiles: Sequence[ProfileStats], file: TextIO) -> None:
    """Print profiles, the longest first, and the sum of those of functions."""
    most = config.profiling.n_ops, config.profiling.n_apply
    shown = []
    for profile in sorted(profiles, key=lambda p: -(p.compile_time + p.fct_call_time)):
        if profile.fct_callcount or profile.compile_time > 1 or getattr(profile, "callcount", 0):
            shown.append(profile)
            profile.summary(file, *most)
        elif profile.show_sum:
            print(f"Skipping empty Profile: {profile.message}", file=file)
    summed = [profile for profile in shown if profile.show_sum]
    if len(summed) > 1:
        sum_of(summed).summary(file, *most)


def sum_of(profiles: Sequence[ProfileStats]) -> ProfileStats:
    """Return the sum of the profiles of functions."""
    message = f"Sum of all({len(profiles)}) printed profiles at exit excluding Scan op profile."
    total = ProfileStats(atexit_print=False, message=message, parts=tuple(profiles))
    for name in _ADDED:
        setattr(total, name, sum(getattr(profile, name) for profile in profiles))
    for name in _JOINED:
        joined: dict[Any, Any] = {}
        for profile in profiles:
            joined.update(getattr(profile, name) or {})
        setattr(total, name, joined)
    return total


def print_global_stats() -> None:
    """Print what the process took since the import, in functions, and to compile them."""
    seconds = seconds_of_process()
    with _destination() as file:
        print("=" * 50, file=file)
        print(
            f"Global stats: Time elapsed since Theano import = {seconds.since_import:6.3f}s, "
            f"Time spent in Theano functions = {seconds.functions:6.3f}s, "
            "Time spent compiling Theano functions: "
            f" optimization = {seconds.rewriting:6.3f}s, linker = {seconds.linking:6.3f}s ",
            file=file,
        )
        print("=" * 50, file=file)
