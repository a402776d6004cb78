"""Stacked LSTM layers as one operator, and their gradient as another: cuDNN computes both.

Each holds the loops that compute the same. They take the operator's place in all engines but that
of devices, which asks when it compiles where the operator runs.
"""

from collections.abc import Callable, Sequence
from typing import Any

from pytensor.compile.builders import OpFromGraph
from pytensor.gradient import DisconnectedType

import theano.tensor as T
from theano.gradient import grad
from theano.link.xla.linker import DECIDED_BY_DEVICE
from theano.pytensor_internals.graphs.annotations import all_results
from theano.pytensor_internals.graphs.graph import frozen_graph_inside
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, dfs_rewriter, node_rewriter
from theano.rewriting.database import FAST_COMPILE_TAG, FAST_RUN_TAG, optdb
from theano.support.data_classes import dataclass

__all__ = ["LSTMGradient", "LSTMLayers", "Stack", "lstm_layers"]


@dataclass(frozen=True)
class Stack:
    """The description of layers that cuDNN gets in addition to their arrays.

    Attributes
    ----------
    hidden_size, num_layers : int
    bidirectional : bool
    """

    hidden_size: int
    num_layers: int
    bidirectional: bool


class _Layers(OpFromGraph):
    def __init__(self, inputs: list, outputs: list, stack: Stack):
        super().__init__(inputs, outputs, on_unused_input="ignore")
        self.stack = stack

    def loops(self, inputs: Sequence) -> list:
        """Return what the operator computes, by loops."""
        return frozen_graph_inside(self).bind(
            dict(zip(frozen_graph_inside(self).inputs, inputs, strict=True))
        )


class LSTMLayers(_Layers):
    """(parameters, input, states, memories) -> [outputs, last states, last memories, reserve].

    The reserve is what cuDNN keeps for the gradient; loops keep nothing in it.
    """

    def pullback(self, inputs: Sequence, outputs: Sequence, output_grads: Sequence) -> list:
        """Return the gradient as one operator, whatever of the results a cost depends on."""
        *results, reserve = outputs
        directions = [
            T.zeros_like(result) if isinstance(given.type, DisconnectedType) else given
            for result, given in zip(results, output_grads, strict=False)
        ]
        given = [*inputs, results[0], reserve, *directions]
        arguments = [variable.type() for variable in given]
        wrt = arguments[: len(inputs)]
        # copies, as the last states are read from the outputs, and a known gradient is a whole one
        copies: list[Any] = [T.tensor_copy(result) for result in self.loops(wrt)[:-1]]
        known = dict(zip(copies, arguments[-3:], strict=True))
        gradients = grad(None, wrt, known_grads=known)
        return all_results(LSTMGradient(arguments, gradients, self.stack)(*given))


class LSTMGradient(_Layers):
    """(those four, outputs, reserve, gradients of the results) -> [gradients of the four]."""


def lstm_layers(loops: Callable, stack: Stack, inputs: Sequence[Any]) -> list:
    """Return the outputs, last states and last memories of LSTM layers.

    Parameters
    ----------
    loops : callable
        Computes them by loops from parameters, input, first states and first memories.
    stack : Stack
    inputs : sequence of Variable
        Those four.
    """
    # of any length, as the reserve's is known to cuDNN only
    arguments = [T.TensorType(v.dtype, (None,) * v.ndim)() for v in inputs]
    nothing = arguments[0][arguments[0].shape[0] :]
    layers = LSTMLayers(arguments, [*loops(*arguments), nothing], stack)
    return all_results(layers(*inputs))[:-1]


@node_rewriter([LSTMLayers, LSTMGradient])
def loops_of_lstm_layers(fgraph, node):
    """Replace the operator by the loops inside."""
    outputs = node.op.loops(node.inputs)
    copy_stack_trace(node.outputs, outputs)
    return outputs


# before the first merge, which finds that the gradient's loops run the layers once more
optdb.register(
    "loops_of_lstm_layers",
    dfs_rewriter(loops_of_lstm_layers),
    FAST_RUN_TAG,
    FAST_COMPILE_TAG,
    DECIDED_BY_DEVICE,
    position=-0.02,
)
