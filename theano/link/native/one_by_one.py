"""Run nodes of the graph one by one, as PyTensor does: for calls that native code refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pytensor.graph.basic import Apply
from pytensor.link.c.op import COp
from pytensor.scalar.basic import ScalarOp
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.random.op import RandomVariable

from theano.link.native.virtual_machine import FailedNode


def make_thunk(node: Apply, storage_map: Any, compute_map: Any, compiler: bool) -> Any:
    """What runs a node: its ``perform``, or PyTensor's C code where Python is too slow."""
    impl = None if compiler and _slow_in_python(node) else "py"
    thunk = node.op.make_thunk(node, storage_map, compute_map, [], impl=impl)
    if not hasattr(thunk, "lazy"):
        thunk.lazy = False
    thunk.inputs = [storage_map[variable] for variable in node.inputs]
    thunk.outputs = [storage_map[variable] for variable in node.outputs]
    return thunk


def _slow_in_python(node: Apply) -> bool:
    """Whether ``perform`` goes through the elements one by one, or is not there."""
    op = node.op
    if isinstance(op, Elemwise):
        return getattr(op.scalar_op, "nfunc_spec", None) is None
    if isinstance(op, RandomVariable | ScalarOp) or not isinstance(op, COp):
        return False
    return type(op).perform is COp.perform


def replay(nodes: Sequence[Apply], storage_map: Any, compute_map: Any) -> Callable[[], None]:
    """A function that runs nodes in order; made ready when first called."""
    thunks: list[Any] = []

    def run() -> None:
        if not thunks:
            thunks.extend(make_thunk(node, storage_map, compute_map, False) for node in nodes)
        for node, thunk in zip(nodes, thunks, strict=True):
            try:
                thunk()
            except Exception as error:
                raise FailedNode(node, thunk) from error

    return run
