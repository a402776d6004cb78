"""Dimensions of a tensor that are known to have length 1: `Rebroadcast` and its functions."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Apply, Constant
from pytensor.tensor.shape import SpecifyShape
from pytensor.tensor.type_other import NoneTypeT
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.functions.compiling import TypeCastingOp
from theano.pytensor_internals.graphs.rewriting import node_rewriter, out2in
from theano.pytensor_internals.graphs.scan import Scan
from theano.pytensor_internals.graphs.shapes import shape_rule
from theano.rewriting.database import FAST_COMPILE_TAG, FAST_RUN_TAG, optdb

__all__ = ["Rebroadcast", "addbroadcast", "patternbroadcast", "unbroadcast"]


class Rebroadcast(TypeCastingOp):
    """The identity, whose result's type says other dimensions to have length 1.

    Parameters
    ----------
    *axis : (int, bool) pairs
        A dimension, and whether its length is known to be 1.

    Raises
    ------
    ValueError
        A dimension that the input does not have; when the function runs: a dimension
        declared to have length 1 has another.
    """

    __props__ = ("axis",)

    def __init__(self, *axis: tuple[int, bool]):
        self.axis = {int(number): bool(is_one) for number, is_one in sorted(axis)}

    def __hash__(self):
        return hash((type(self), *self.axis.items()))

    def __str__(self):
        dimensions = range(1 + max(self.axis, default=-1))
        flags = ("?" if axis not in self.axis else str(int(self.axis[axis])) for axis in dimensions)
        return f"Rebroadcast{{{','.join(flags)}}}"

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        missing = [axis for axis in self.axis if axis >= x.type.ndim]
        if missing:
            raise ValueError(
                f"Rebroadcast: expected dimensions of {x.type}, got {missing}, "
                "which it does not have"
            )
        shape = list(x.type.shape)
        for axis, is_one in self.axis.items():
            if is_one:
                shape[axis] = 1
            elif shape[axis] == 1:
                shape[axis] = None
        return Apply(self, [x], [x.type.clone(shape=shape)()])

    def perform(self, node, inputs, output_storage):
        for axis, is_one in self.axis.items():
            if is_one and inputs[0].shape[axis] != 1:
                raise ValueError(
                    f"Rebroadcast: expected length 1 of dimension {axis}, "
                    f"got {inputs[0].shape[axis]}"
                )
        output_storage[0][0] = inputs[0]

    def c_code(self, node, name, inames, onames, sub):
        checks = "".join(
            f"""
            if (PyArray_DIM({inames[0]}, {axis}) != 1) {{
                PyErr_SetString(PyExc_ValueError,
                    "Rebroadcast: expected length 1 of dimension {axis}");
                {sub["fail"]}
            }}"""
            for axis, is_one in self.axis.items()
            if is_one
        )
        return (
            checks
            + f"""
            Py_XDECREF({onames[0]});
            {onames[0]} = {inames[0]};
            Py_XINCREF({onames[0]});"""
        )

    def c_code_cache_version(self):
        return (1,)

    @shape_rule
    def infer_shape(self, node, shapes):
        one = pt.constant(1, dtype="int64")
        return [tuple(one if self.axis.get(d) else size for d, size in enumerate(shapes[0]))]

    def pullback(self, inputs, outputs, cotangents):
        if isinstance(cotangents[0].type, DisconnectedType):
            return list(cotangents)
        was, now = inputs[0].broadcastable, outputs[0].broadcastable
        forgotten = [axis for axis in self.axis if was[axis] and not now[axis]]
        declared = [axis for axis in self.axis if now[axis] and not was[axis]]
        # a sum over one element, which PyTensor's rewrites know how to leave out
        whole = cotangents[0].sum(axis=forgotten, keepdims=True) if forgotten else cotangents[0]
        return [unbroadcast(whole, *declared)]

    def pushforward(self, inputs, outputs, tangents):
        if isinstance(tangents[0].type, DisconnectedType):
            return list(tangents)
        return [self(tangents[0])]


@node_rewriter([Rebroadcast])
def remember_lengths(fgraph, node):
    """Drop what only forgets that dimensions have length 1: only steps of loops may not know more."""
    forgets_alone = not any(node.op.axis.values())
    of_loops = any(isinstance(reader.op, Scan) for reader, _ in fgraph.clients[node.outputs[0]])
    return list(node.inputs) if forgets_alone and not of_loops else False


# before the rewrites of loops, whose states begin in memory that forgets one
optdb.register(
    "remember_lengths", out2in(remember_lengths), FAST_RUN_TAG, FAST_COMPILE_TAG, position=-0.6
)
# and what a step computed, once it is outside of its loop
optdb["canonicalize"].register("remember_lengths", remember_lengths, FAST_RUN_TAG, FAST_COMPILE_TAG)


def addbroadcast(x: object, *axes: int) -> TensorVariable:
    """Declare that `axes` of `x` have length 1, so that they broadcast.

    Raises
    ------
    ValueError
        `x` does not have these axes.
    AssertionError
        When the function runs: an axis has another length.
    """
    return _rebroadcast(x, dict.fromkeys(axes, True))


def unbroadcast(x: object, *axes: int) -> TensorVariable:
    """Forget that `axes` of `x` have length 1, so that they no longer broadcast.

    Raises
    ------
    ValueError
        `x` does not have these axes.
    """
    return _rebroadcast(x, dict.fromkeys(axes, False))


def patternbroadcast(x: object, broadcastable: Sequence[bool]) -> TensorVariable:
    """Give `x` the broadcastable pattern: declare length 1 where true, forget it where false.

    Raises
    ------
    ValueError
        The pattern has more dimensions than `x`.
    """
    return _rebroadcast(x, dict(enumerate(map(bool, broadcastable))))


def _rebroadcast(x: Any, wanted: Mapping[int, bool]) -> TensorVariable:
    """Give `x` the wanted flags; earlier declarations of the same kind are taken back first."""
    x = pt.as_tensor_variable(x)
    missing = [axis for axis in wanted if not -x.ndim <= axis < x.ndim]
    if missing:
        raise ValueError(f"rebroadcast: expected dimensions of {x.type}, got {missing}")
    flags = list(x.broadcastable)
    for axis, is_one in wanted.items():
        flags[axis] = is_one
    while x.owner is not None and _only_declares(x.owner):
        x = x.owner.inputs[0]
    changed = [axis for axis, is_one in enumerate(flags) if is_one != x.broadcastable[axis]]
    forgotten = [axis for axis in changed if not flags[axis]]
    if forgotten:
        x = Rebroadcast(*((axis, False) for axis in forgotten))(x)
    added = [axis for axis in changed if flags[axis]]
    return pt.specify_broadcastable(x, *added) if added else x


def _only_declares(node: Apply) -> bool:
    """Return whether `node` does nothing but say which dimensions have length 1."""
    if isinstance(node.op, Rebroadcast):
        return True
    return isinstance(node.op, SpecifyShape) and all(
        isinstance(size.type, NoneTypeT) or (isinstance(size, Constant) and size.data == 1)
        for size in node.inputs[1:]
    )
