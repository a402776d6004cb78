"""Run nodes of the graph one by one, as PyTensor does: for calls that native code refuses."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant
from pytensor.graph.op import Op
from pytensor.scalar.basic import Add, Cast, Clip, Composite, Identity, Mul, Second
from pytensor.scalar.math import Sigmoid, Softplus
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.type import TensorType

from theano.gof.user_operations.code import has_own_code, warn_that_own_code_does_not_run
from theano.link.native.graph.overwriting import overwrites_input
from theano.link.native.run.virtual_machine import FailedNode
from theano.pytensor_internals.functions.c_code import C_ONLY
from theano.pytensor_internals.functions.linking import with_function_linked_by
from theano.pytensor_internals.operations.tensor import check_repeated_lengths

# what makes linkers for functions that operations call
_linkers: list[Callable[[], Any]] = []


def link_functions_inside_by(linker: Callable[[], Any]) -> None:
    """Have functions that Python's operations call run by the linkers that this makes."""
    _linkers[:] = [linker]


def make_thunk_for_one_call(
    node: Apply, storage_map: object, compute_map: object, compiler: bool
) -> Any:
    """Return what runs a node once: nothing is compiled that Python can do as well."""
    return make_thunk(node, storage_map, compute_map, compiler and needs_c(node.op))


def make_thunk(node: Apply, storage_map: Any, compute_map: object, compiler: bool) -> Any:
    """Return what runs a node: its ``perform``, or its C code where that is the user's or Python slow."""
    if has_own_code(node.op) and not compiler:
        warn_that_own_code_does_not_run(node.op)
    for linker in _linkers:
        node = with_function_linked_by(node, linker())
    impl = None if compiler and slow_in_python(node) else "py"
    anywhere = impl == "py" and not overwrites_input(node)
    function = _of_whole_arrays(node) if anywhere else None
    if function is not None:
        thunk = _numpys(function, node, storage_map, compute_map)
    elif anywhere and _is_composite(node):
        thunk = _unpacked(node, storage_map, compute_map)
    else:
        thunk = node.op.make_thunk(node, storage_map, compute_map, [], impl=impl)
    if not hasattr(thunk, "lazy"):
        thunk.lazy = False
    thunk.inputs = [storage_map[variable] for variable in node.inputs]
    thunk.outputs = [storage_map[variable] for variable in node.outputs]
    return thunk


def _repeated(function: Any) -> Callable[..., Any]:
    return lambda dtype, *operands: functools.reduce(function, operands)


def _clip(dtype: str, x: Any, low: Any, high: Any) -> Any:
    return np.where(x < low, low, np.where(x > high, high, x))


# Elemwise calls NumPy's functions for two operands, and goes element by element for more.
_OF_MORE = {Add: _repeated(np.add), Mul: _repeated(np.multiply)}

# Of these PyTensor knows no function of NumPy's own; each gets the dtype and the operands.
_OF_ANY: dict[type, Callable[..., Any]] = {
    Cast: lambda dtype, x: x.astype(dtype),
    Clip: _clip,
    Identity: lambda dtype, x: x.copy(),
    Second: lambda dtype, x, y: np.broadcast_to(y, np.broadcast_shapes(x.shape, y.shape)).copy(),
    # PyTensor's would import SciPy's special functions for it
    Sigmoid: lambda dtype, x: 1 / (1 + np.exp(-x.astype(dtype))),
    Softplus: lambda dtype, x: np.logaddexp(np.zeros((), dtype), x.astype(dtype)),
}


def _of_whole_arrays(node: Apply) -> Callable[..., Any] | None:
    """Return what computes an element-wise operation at once where PyTensor's Python would not."""
    if not isinstance(node.op, Elemwise):
        return None
    kind = type(node.op.scalar_op)
    return _OF_ANY.get(kind) or (_OF_MORE.get(kind) if len(node.inputs) > 2 else None)


def _numpys(function: Callable[..., Any], node: Apply, storage_map: Any, compute_map: Any) -> Any:
    cells = [storage_map[variable] for variable in node.inputs]
    (output,) = node.outputs
    cell, computed, dtype = storage_map[output], compute_map[output], output.type.dtype

    def run() -> None:
        operands = [operand[0] for operand in cells]
        check_repeated_lengths(node, operands)
        with np.errstate(all="ignore"):
            cell[0] = np.asarray(function(dtype, *operands), dtype=dtype)
        computed[0] = True

    return run


def _is_composite(node: Apply) -> bool:
    return isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Composite)


def _unpacked(node: Apply, storage_map: Any, compute_map: Any) -> Any:
    """Return the operations of a Composite one after the other, each on whole arrays."""
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


def slow_in_python(node: Apply) -> bool:
    """Return whether C code was written for a node, or ``perform`` is missing or element by element."""
    op = node.op
    if needs_c(op):
        return True
    if isinstance(op, Elemwise):
        known = getattr(op.scalar_op, "nfunc_spec", None) or _of_whole_arrays(node)
        return not known and not _is_composite(node)
    return False


def needs_c(op: Op) -> bool:
    """Return whether the user wrote C code for an operation, or it has no ``perform``."""
    return has_own_code(op) or isinstance(op, C_ONLY)


def replay(
    nodes: Sequence[Apply], storage_map: object, compute_map: object, compiler: bool
) -> Callable[[], None]:
    """Return a function that runs nodes in order; made ready when first called.

    Most calls of it end in an error, so nothing is compiled that Python can do as well.
    """
    thunks: list[Any] = []

    def run() -> None:
        if not thunks:
            thunks.extend(
                make_thunk_for_one_call(node, storage_map, compute_map, compiler) for node in nodes
            )
        for node, thunk in zip(nodes, thunks, strict=True):
            try:
                thunk()
            except Exception as error:
                raise FailedNode(node, thunk) from error

    return run
