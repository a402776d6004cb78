"""Checks of cuDNN's LSTM on a GPU, to be run in a separate process with ``device=cuda``."""

import numpy as np

import theano
import theano.tensor as T
from tests_scan_grad.gpuarray.lstm_stacks import LAYERS, SIZE, STEPS, values_of, variables
from theano.gpuarray.dnn import RNNBlock, dnn_available


def check_kernels_agree_with_loops():
    assert dnn_available(None), dnn_available.msg
    for direction in ("unidirectional", "bidirectional"):
        block = RNNBlock("float32", 4, LAYERS, "lstm", direction_mode=direction)
        symbols, values = variables("float32"), values_of(block, "float32")
        by_kernel = _outputs_and_gradients(block, symbols)
        with theano.change_flags({"dnn.enabled": "False"}):
            by_loops = _outputs_and_gradients(block, symbols)
        assert "LSTMGradient" in _operators(by_kernel)
        assert "LSTMGradient" not in _operators(by_loops)
        for one, other in zip(by_kernel(*values), by_loops(*values), strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)


def check_neither_steps_nor_rows_are_fine():
    block = RNNBlock("float32", 4, LAYERS, "lstm")
    symbols = variables("float32")
    f = theano.function(symbols, block.apply(*symbols))
    w, x, h, c = values_of(block, "float32")
    outputs, *last = f(w, x[:0], h, c)
    assert outputs.shape == (0, SIZE[0], 4)
    np.testing.assert_array_equal(last, [h, c])
    outputs, *last = f(w, x[:, :0], h[:, :0], c[:, :0])
    assert outputs.shape == (STEPS, 0, 4) and last[0].shape == (LAYERS, 0, 4)


def _outputs_and_gradients(block, symbols):
    outputs = block.apply(*symbols)
    cost = T.sin(outputs[0]).sum() + T.sqr(outputs[2]).sum()
    return theano.function(symbols, [*outputs, *T.grad(cost, symbols)])


def _operators(f):
    return [type(node.op).__name__ for node in f.maker.fgraph.toposort()]


CHECKS = {name: check for name, check in globals().items() if name.startswith("check_")}
