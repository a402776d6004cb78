"""Counting what the compiled loops of a function hold."""

from __future__ import annotations

from collections.abc import Callable

import pytensor
from pytensor.link.vm import VMLinker
from pytensor.scalar.basic import Add
from pytensor.scan.op import Scan as PyTensorScan
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.math import Dot

import theano
from theano.compile.mode import Mode, get_default_mode
from theano.pytensor_internals.operations.tensor import (
    BatchedDot,
    Dot22,
    Dot22Scalar,
    Gemm,
    Gemv,
    Ger,
)

PRODUCTS = (Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger, BatchedDot)

# PyTensor's rewrites and Python implementations: the reference.
REFERENCE = pytensor.compile.mode.Mode(VMLinker(use_cloop=False, c_thunks=False), "fast_compile")


def python_mode(including: tuple[str, ...] = (), excluding: tuple[str, ...] = ()) -> Mode:
    """Theano's default rewrites with Python implementations, so that nothing is compiled."""
    # without fusion: a fused operation would be run by Python element by element
    query = get_default_mode().provided_optimizer.excluding("fusion")
    if including:
        query = query.including(*including)
    if excluding:
        query = query.excluding(*excluding)
    return Mode(VMLinker(use_cloop=False, c_thunks=False), query)


def theano_scan(*args, **kwargs):
    """``theano.scan`` without its updates, its step run by Python implementations."""
    return theano.scan(*args, mode=python_mode(), **kwargs)[0]


def pytensor_scan(*args, **kwargs):
    """``pytensor.scan`` without its updates, its step run by Python implementations."""
    return pytensor.scan(*args, mode=REFERENCE, return_updates=False, **kwargs)


def loops(function) -> list:
    """The nodes of a compiled function that are loops, in the order in which they run."""
    return [n for n in function.maker.fgraph.toposort() if isinstance(n.op, PyTensorScan)]


def loops_as_built(network) -> list:
    """The loops of a network and of its gradient, before any rewrite."""
    results = [network.cost, *theano.grad(network.cost, network.weights)]
    nodes = theano.gof.graph.io_toposort(network.inputs, results)
    return [node for node in nodes if isinstance(node.op, PyTensorScan)]


def is_product(node) -> bool:
    """Return whether a node is any kind of product of matrices or vectors."""
    op = node.op.core_op if isinstance(node.op, Blockwise) else node.op
    return isinstance(op, PRODUCTS)


def products(graph) -> int:
    """The number of products in a graph, loops not looked into."""
    return sum(is_product(node) for node in graph.toposort())


def products_in_loops(function) -> list[int]:
    """The number of products in the step of each loop as compiled."""
    return [products(node.op.fn.maker.fgraph) for node in loops(function)]


def products_outside(function) -> int:
    """The number of products that are not in a loop."""
    return products(function.maker.fgraph)


def weight_accumulators(function) -> list:
    """States of backward loops that only add to themselves, as sums over the steps do."""
    found = []
    for node in loops(function):
        op = node.op
        inputs = [
            *op.inner_sitsot(op.inner_inputs),
            *op.inner_untraced_sit_sot(op.inner_inputs),
        ]
        outputs = [
            *op.inner_sitsot_outs(op.inner_outputs),
            *op.inner_untraced_sit_sot_outs(op.inner_outputs),
        ]
        found += [
            (node, state)
            for state, value in zip(inputs, outputs, strict=True)
            if value.owner is not None and state in _addends(value.owner)
        ]
    return found


def _addends(node) -> list:
    """Return the operands to which a node adds something."""
    if isinstance(node.op, Gemm | Ger | Gemv):
        return node.inputs[:1]
    is_add = isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Add)
    return node.inputs if is_add else []


def gradient_function(network, mode=None, build_gradient: Callable = theano.grad):
    """A compiled function from a network's inputs to its cost and gradients."""
    gradients = build_gradient(network.cost, network.weights)
    return theano.function(network.inputs, [network.cost, *gradients], mode=mode or python_mode())
