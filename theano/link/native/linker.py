"""A linker that runs loops in native code, and all else as PyTensor's own virtual machine does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytensor.link.vm import VMLinker
from pytensor.scan.op import Scan

from theano.link.native.build import library
from theano.link.native.emit_c import emit
from theano.link.native.ir import CannotLower
from theano.link.native.loop import lower_scan
from theano.link.native.run import CallRefused, NativeLoop


@dataclass(frozen=True)
class LoopRecord:
    """What became of a loop: its C text, or why it has none."""

    name: str
    source: str | None
    reason: str | None

    def __str__(self) -> str:
        if self.reason is None:
            return f"{self.name}: native"
        return f"{self.name}: by PyTensor, because the engine has no code for {self.reason}"


class NativeLinker(VMLinker):
    """PyTensor's virtual machine, with native code for every loop that can be lowered.

    Examples
    --------
    >>> import theano
    >>> import theano.tensor as T
    >>> x = T.vector("x")
    >>> total = theano.scan(lambda x, s: s * 0.5 + x, sequences=[x], outputs_info=[0.0])
    >>> f = theano.function([x], total, mode="NATIVE")
    """

    def __init__(self, *args: Any, **kwargs: Any):
        kwargs.setdefault("use_cloop", True)
        super().__init__(*args, **kwargs)
        self.records: list[LoopRecord] = []

    def make_all(self, *args: Any, **kwargs: Any) -> Any:
        """Make the thunks; a loop's comes from here while this runs."""
        assert self.fgraph is not None
        # Modes copy their linker for each function, and with it the list.
        self.records = []
        loops = [node for node in self.fgraph.apply_nodes if isinstance(node.op, Scan)]
        native = {node: self._lowered(node) for node in loops}
        own = {node: node.op for node in loops}
        try:
            for node, loop in native.items():
                if loop is not None:
                    node.op = _with_thunk(node.op, loop)
            return super().make_all(*args, **kwargs)
        finally:
            # The graph stays PyTensor's: it is printed, copied and pickled.
            for node, op in own.items():
                node.op = op

    def _lowered(self, node: Any) -> NativeLoop | None:
        name = node.op.name or "scan"
        try:
            loop = lower_scan(node.op, _argument_names(node))
            source = emit(loop)
            compiled = NativeLoop(loop, library(source), node.op)
        except CannotLower as reason:
            self.records.append(LoopRecord(name, None, str(reason)))
            return None
        self.records.append(LoopRecord(name, source, None))
        return compiled


class _NativeScan(Scan):
    """A Scan that makes the thunk of the engine."""

    native_loop: NativeLoop
    own_op: Scan

    def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):
        native = self.native_loop
        inputs = [storage_map[variable] for variable in node.inputs]
        outputs = [storage_map[variable] for variable in node.outputs]
        computed = [compute_map[variable] for variable in node.outputs] if compute_map else []
        fallback: list = []
        own_make_thunk = self.own_op.make_thunk

        def thunk():
            try:
                native([cell[0] for cell in inputs], outputs)
            except CallRefused:
                # PyTensor's own says what is wrong, or does what is rare
                if not fallback:
                    fallback.append(
                        own_make_thunk(node, storage_map, compute_map, no_recycling, impl)
                    )
                fallback[0]()
                return
            for flag in computed:
                flag[0] = True

        thunk.inputs, thunk.outputs, thunk.lazy = inputs, outputs, False
        return thunk


def _with_thunk(op: Scan, native: NativeLoop) -> Scan:
    copy = object.__new__(_NativeScan)
    copy.__dict__.update(op.__dict__)
    copy.native_loop = native
    copy.own_op = op
    return copy


def _argument_names(node: Any) -> list[str | None]:
    """The names of the arrays of a loop, in the order of the step's inputs."""
    info = node.op.info
    outer = list(node.inputs)
    first = node.op.nit_sot_arg_offset
    return [variable.name for variable in (*outer[1:first], *outer[first + info.n_nit_sot :])]
