"""Run nodes of the graph one by one, as PyTensor does: for calls that native code refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant
from pytensor.scalar.basic import Add, Composite, Mul
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.type import TensorType

from theano.link.native.graph.overwriting import overwrites_input
from theano.link.native.run.own_code import has_own_code, warn_that_own_code_does_not_run
from theano.link.native.run.virtual_machine import FailedNode
from theano.pytensor_base.c_code import NoPythonCOp, NoPythonExternalCOp
from theano.pytensor_base.tensor import check_repeated_lengths


def make_thunk(node: Apply, storage_map: Any, compute_map: Any, compiler: bool) -> Any:
    """What runs a node: its ``perform``, or its C code where that is the user's or Python slow."""
    if has_own_code(node.op) and not compiler:
        warn_that_own_code_does_not_run(node.op)
    impl = None if compiler and _runs_c(node) else "py"
    anywhere = impl == "py" and not overwrites_input(node)
    function = _function_of_two(node) if anywhere else None
    if function is not None:
        thunk = _repeated(function, node, storage_map, compute_map)
    elif anywhere and _is_composite(node):
        thunk = _taken_apart(node, storage_map, compute_map)
    else:
        thunk = node.op.make_thunk(node, storage_map, compute_map, [], impl=impl)
    if not hasattr(thunk, "lazy"):
        thunk.lazy = False
    thunk.inputs = [storage_map[variable] for variable in node.inputs]
    thunk.outputs = [storage_map[variable] for variable in node.outputs]
    return thunk


# Elemwise calls NumPy's functions for two operands, and goes element by element for more.
_OF_TWO = {Add: np.add, Mul: np.multiply}


def _function_of_two(node: Apply) -> Any:
    if isinstance(node.op, Elemwise) and len(node.inputs) > 2:
        return _OF_TWO.get(type(node.op.scalar_op))
    return None


def _repeated(function: Any, node: Apply, storage_map: Any, compute_map: Any) -> Any:
    cells = [storage_map[variable] for variable in node.inputs]
    (output,) = node.outputs
    cell, computed, dtype = storage_map[output], compute_map[output], output.type.dtype

    def run() -> None:
        check_repeated_lengths(node, [operand[0] for operand in cells])
        total = cells[0][0]
        for other in cells[1:]:
            total = function(total, other[0])
        cell[0] = np.asarray(total, dtype=dtype)
        computed[0] = True

    return run


def _is_composite(node: Apply) -> bool:
    return isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Composite)


def _taken_apart(node: Apply, storage_map: Any, compute_map: Any) -> Any:
    """The operations of a Composite one after the other, each on whole arrays."""
    graph = node.op.scalar_op.fgraph
    ndim = node.outputs[0].type.ndim
    arrays: dict[Any, Any] = {}
    for inner, outer in zip(graph.inputs, node.inputs, strict=True):
        arrays[inner] = outer.type()
    cells = {arrays[i]: storage_map[o] for i, o in zip(graph.inputs, node.inputs, strict=True)}
    thunks = []
    for inner_node in graph.toposort():
        for variable in inner_node.inputs:
            if isinstance(variable, Constant) and variable not in arrays:
                kind = TensorType(variable.type.dtype, (1,) * ndim)
                arrays[variable] = kind()
                cells[arrays[variable]] = [np.full((1,) * ndim, variable.data, kind.dtype)]
        single = Elemwise(inner_node.op).make_node(*(arrays[v] for v in inner_node.inputs))
        for inner, array in zip(inner_node.outputs, single.outputs, strict=True):
            arrays[inner], cells[array] = array, [None]
        flags = {array: [True] for array in single.outputs}
        thunks.append(make_thunk(single, cells, flags, False))
    results = [(storage_map[o], compute_map[o]) for o in node.outputs]
    shapes = [cells[arrays[i]] for i in graph.inputs]

    def run() -> None:
        for thunk in thunks:
            thunk()
        shape = np.broadcast_shapes(*(cell[0].shape for cell in shapes))
        for (cell, computed), inner, output in zip(
            results, graph.outputs, node.outputs, strict=True
        ):
            value = cells[arrays[inner]][0] if inner in arrays else inner.data
            cell[0] = np.array(np.broadcast_to(value, shape), dtype=output.type.dtype)
            computed[0] = True

    return run


def _runs_c(node: Apply) -> bool:
    """Whether C code was written for a node, or ``perform`` goes element by element."""
    op = node.op
    if _needs_c(op):
        return True
    slow = isinstance(op, Elemwise) and getattr(op.scalar_op, "nfunc_spec", None) is None
    return slow and not _is_composite(node)


def _needs_c(op: Any) -> bool:
    return has_own_code(op) or isinstance(op, NoPythonCOp | NoPythonExternalCOp)


def replay(
    nodes: Sequence[Apply], storage_map: Any, compute_map: Any, compiler: bool
) -> Callable[[], None]:
    """A function that runs nodes in order; made ready when first called.

    Most calls of it end in an error, so nothing is compiled that Python can do as well.
    """
    thunks: list[Any] = []

    def run() -> None:
        if not thunks:
            thunks.extend(
                make_thunk(node, storage_map, compute_map, compiler and _needs_c(node.op))
                for node in nodes
            )
        for node, thunk in zip(nodes, thunks, strict=True):
            try:
                thunk()
            except Exception as error:
                raise FailedNode(node, thunk) from error

    return run
