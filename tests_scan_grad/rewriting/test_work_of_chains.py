"""Work of chains whose parts others read: it grows like the chain, and not like its square.

A rewrite that takes a part into what reads it saves nothing if somebody else reads that part, too; and
of a chain of n parts the last would be made of n.
"""

from __future__ import annotations

import pytest
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import MergeOptimizer
from pytensor.scalar.basic import Cast, Second
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.subtensor import AdvancedIncSubtensor, IncSubtensor

import theano
import theano.tensor as T
from theano.ifelse import ifelse

MODE = theano.Mode(linker="py", optimizer="fast_run").excluding("fusion", "inplace")
LENGTHS = (4, 8, 16)
# what twice as many parts may add, next to what the parts added before
MOST = 2.4
STEPS = {
    "sum": T.add,
    "difference": T.sub,
    "product": T.mul,
    "quotient": T.true_div,
    "scaled product": lambda a, b: a * b / 3,
    "shifted product": lambda a, b: a * (1 + b),
    "power": T.pow,
    "maximum": T.maximum,
    "choice": lambda a, b: T.switch(a > 0, a, b),
    "lazy choice": lambda a, b: ifelse(T.gt(a.sum(), 0), a, b),
    "matrices": T.dot,
    "matrix by transposed": lambda a, b: T.dot(a, b.T),
    "matrices and sum": lambda a, b: T.dot(a, b) + a,
    "scaled matrices": lambda a, b: 0.5 * T.dot(a, b) - b,
    "exponentials": lambda a, b: T.exp(a) * T.exp(b),
    "logarithms": lambda a, b: T.log(a * b),
    "sum of exponentials": lambda a, b: T.log(T.exp(a) + T.exp(b)),
    "rows joined": lambda a, b: T.concatenate([a, b], axis=0),
    "rows joined and cut": lambda a, b: T.concatenate([a, b], axis=0)[1:],
    "mean of a stack": lambda a, b: T.stack([a, b]).mean(0),
    "rows cut": lambda a, b: a[:-1] + b[: a.shape[0] - 1],
    "rows increased": lambda a, b: T.inc_subtensor(a[1:], b[1:]),
    "rows set": lambda a, b: T.set_subtensor(a[::2], b[::2]),
    "another shape": lambda a, b: (a.ravel() + b.ravel()).reshape(a.shape),
    "another order": lambda a, b: (a.T + b.T).T,
    "sums of rows and columns": lambda a, b: a * b.sum(0, keepdims=True) + a.sum(1, keepdims=True),
    "normalization": lambda a, b: (a - a.mean(0)) / T.sqrt(a.var(0) + 1e-5) * b,
    "softmax": lambda a, b: T.nnet.softmax(a + b),
    "clipped": lambda a, b: T.clip(a + b, -1, 1),
}


def work(graph: FunctionGraph) -> int:
    """Return how many numbers element-wise work, reductions, products and writes read for each result."""
    read = 0
    for node in graph.apply_nodes:
        if isinstance(node.op, Elemwise):
            is_whole = any(False in v.type.broadcastable for v in node.outputs)
            if is_whole and not isinstance(node.op.scalar_op, Cast | Second):
                read += max(1, len(node.inputs) - 1)
        elif isinstance(node.op, CAReduce | IncSubtensor | AdvancedIncSubtensor):
            read += 1
        elif "Dot" in type(node.op).__name__ or "Gem" in type(node.op).__name__:
            read += 10
    return read


def outputs_of(step, length: int, gradient: bool):
    """Return matrices and what is computed of a chain of steps, each of which others read."""
    inputs = [T.dmatrix(f"x{k}") for k in range(length)]
    last, read = inputs[0], []
    for other in inputs[1:]:
        last = step(last, other)
        read.append(T.tanh(last))
    if gradient:
        total = sum(each.sum() for each in read)
        return inputs, theano.grad(total, inputs, disconnected_inputs="ignore")
    return inputs, read


@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize("name", STEPS)
def test_work_grows_like_the_chain(name, gradient):
    before, after = [], []
    for length in LENGTHS:
        inputs, outputs = outputs_of(STEPS[name], length, gradient)
        plain = FunctionGraph(inputs, outputs, clone=True)
        MergeOptimizer().rewrite(plain)
        before.append(work(plain))
        function = theano.function(inputs, outputs, mode=MODE, on_unused_input="ignore")
        after.append(work(function.maker.fgraph))
    assert after[0] > 0
    few, more = after[1] - after[0], after[2] - after[1]
    assert more <= MOST * few, (before, after)
