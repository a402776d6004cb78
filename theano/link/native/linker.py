"""A linker that runs loops and products natively, all else as PyTensor's virtual machine does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pytensor.link.vm import VMLinker
from pytensor.scan.op import Scan
from pytensor.tensor.blas import Dot22, Gemm
from pytensor.tensor.math import Dot

from theano.link.native.build import library
from theano.link.native.emit_c import emit
from theano.link.native.ir import CannotLower
from theano.link.native.loop import lower_scan
from theano.link.native.outer_products import is_product, product_thunk
from theano.link.native.run import CallRefused, NativeLoop
from theano.link.native.runtime.load import find_compiler


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
    >>> means, _ = theano.scan(lambda x, s: (s + x) / 2, sequences=[x], outputs_info=[x[0]])
    >>> f = theano.function([x], means, mode="NATIVE")
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
        own = {}
        try:
            for node in list(self.fgraph.apply_nodes):
                native = self._native(node)
                if native is not None:
                    own[node] = node.op
                    node.op = native
            return super().make_all(*args, **kwargs)
        finally:
            # The graph stays PyTensor's: it is printed, copied and pickled.
            for node, op in own.items():
                node.op = op

    def _native(self, node: Any) -> Any:
        """What makes the thunk of a node in the place of its operator, or None."""
        if isinstance(node.op, Scan):
            loop = self._lowered(node)
            return None if loop is None else _with_thunk(node.op, _ScanWithThunk, loop)
        if is_product(node) and find_compiler() is not None:
            kind = _PRODUCTS.get(type(node.op))
            return None if kind is None else _with_thunk(node.op, kind)
        return None

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


class _ScanWithThunk(Scan):
    """A Scan that makes the thunk of the engine."""

    native: NativeLoop
    own_op: Scan

    def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):
        inputs = [storage_map[variable] for variable in node.inputs]
        outputs = [storage_map[variable] for variable in node.outputs]

        def own():
            return self.own_op.make_thunk(node, storage_map, compute_map, no_recycling, impl)

        fallback: list = []

        def run():
            try:
                self.native([cell[0] for cell in inputs], outputs)
            except CallRefused:
                # PyTensor's own says what is wrong, or does what is rare
                if not fallback:
                    fallback.append(own())
                fallback[0]()

        return _thunk(run, node, storage_map, compute_map)


class _ProductThunk:
    """Makes the thunk of the runtime for a product."""

    own_op: Any

    def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):
        def own():
            return self.own_op.make_thunk(node, storage_map, compute_map, no_recycling, impl)

        inputs = [storage_map[variable] for variable in node.inputs]
        run = product_thunk(node, inputs, storage_map[node.outputs[0]], own)
        return _thunk(run, node, storage_map, compute_map)


class _Dot22WithThunk(_ProductThunk, Dot22):
    """A Dot22 that makes the thunk of the runtime."""


class _DotWithThunk(_ProductThunk, Dot):
    """A Dot that makes the thunk of the runtime."""


class _GemmWithThunk(_ProductThunk, Gemm):
    """A Gemm that makes the thunk of the runtime."""


_PRODUCTS: dict[type, type] = {Dot22: _Dot22WithThunk, Dot: _DotWithThunk, Gemm: _GemmWithThunk}


def _with_thunk(op: Any, kind: type, native: Any = None) -> Any:
    """The operator with another class, which makes the engine's thunk."""
    copy: Any = object.__new__(kind)
    copy.__dict__.update(op.__dict__)
    copy.own_op, copy.native = op, native
    return copy


def _thunk(run: Callable[[], None], node: Any, storage_map: Any, compute_map: Any) -> Any:
    """The function as the virtual machine wants it."""
    computed = [compute_map[variable] for variable in node.outputs] if compute_map else []

    def run_and_say() -> None:
        run()
        for flag in computed:
            flag[0] = True

    thunk: Any = run_and_say
    thunk.inputs = [storage_map[variable] for variable in node.inputs]
    thunk.outputs = [storage_map[variable] for variable in node.outputs]
    thunk.lazy = False
    return thunk


def _argument_names(node: Any) -> list[str | None]:
    """The names of the arrays of a loop, in the order of the step's inputs."""
    info = node.op.info
    outer = list(node.inputs)
    first = node.op.nit_sot_arg_offset
    return [variable.name for variable in (*outer[1:first], *outer[first + info.n_nit_sot :])]
