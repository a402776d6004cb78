"""LSTM layers of an `RNNBlock` as one operator, whose kernel is cuDNN's where there is a GPU."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.gpuarray.checks import complaints, names_of
from tests_scan_grad.gpuarray.lstm_stacks import LAYERS, SIZE, values_of, variables
from theano.gpuarray.dnn import RNNBlock

jax = pytest.importorskip("jax")

DIRECTIONS = ("unidirectional", "bidirectional")


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_our_parameters_are_those_of_jax(direction):
    """Its reference computes, from our vector unchanged, what our loops do, and its gradient."""
    from jax.experimental import rnn

    block = RNNBlock("float64", 4, LAYERS, "lstm", direction_mode=direction)
    sizes = (SIZE[1], 4, LAYERS)
    both = direction == "bidirectional"
    values = values_of(block, "float64")

    def reference(w, x, h, c):
        weights = rnn.unpack_lstm_weights(w, *sizes, both)
        lengths = np.full(x.shape[1], x.shape[0], "int32")
        y, *last = rnn.lstm_ref(x.swapaxes(0, 1), h, c, *weights, lengths, *sizes, 0.0, both)
        return y.swapaxes(0, 1), *last

    symbols = variables("float64")
    outputs = block.apply(*symbols)
    gradients = T.grad(sum(T.sin(output).sum() for output in outputs), symbols)
    ours = theano.function(symbols, [*outputs, *gradients])(*values)
    with jax.enable_x64(True):
        assert block.get_param_size(SIZE) == rnn.get_num_params_in_lstm(*sizes, both)
        theirs, gradient = jax.vjp(reference, *map(jax.numpy.asarray, values))
        expected = [*theirs, *gradient(tuple(map(jax.numpy.cos, theirs)))]
    for one, other in zip(ours, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_without_cudnn_layers_are_loops():
    w, x, h, c = variables("float32")
    with theano.change_flags({"dnn.enabled": "False"}):
        outputs = RNNBlock("float32", 4, LAYERS, "lstm").apply(w, x, h, c)
    f = theano.function([w, x, h, c], outputs, mode="XLA")
    kinds = [type(node.op).__name__ for node in f.maker.fgraph.toposort()]
    assert kinds.count("Scan") == LAYERS
    assert "LSTMLayers" not in kinds


NAMES = names_of("cudnn_stand_in")


@pytest.mark.parametrize("name", NAMES)
def test_with_a_library_in_the_place_of_cudnn(name):
    assert complaints("cudnn_stand_in", "dnn.enabled=no_check")[name] == ""


@pytest.mark.skipif(jax.default_backend() != "gpu", reason="there is no GPU")
@pytest.mark.parametrize("name", names_of("cudnn_on_a_gpu"))
def test_on_a_gpu(name):
    assert complaints("cudnn_on_a_gpu", "device=cuda")[name] == ""
