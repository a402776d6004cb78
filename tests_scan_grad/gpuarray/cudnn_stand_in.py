"""Checks of cuDNN's LSTM as JAX offers it, without a GPU, to be run in a separate process.

A stand-in for the library says how much memory the kernels take, so that JAX makes programs for a
GPU, which are inspected. On the CPU, JAX's own reference replaces the kernels.
"""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np

import theano
import theano.tensor as T
from tests_scan_grad.gpuarray.lstm_stacks import LAYERS, SIZE, values_of, variables
from theano.gpuarray.contexts import Context as Named
from theano.gpuarray.contexts import get_context, reg_context
from theano.gpuarray.dnn import RNNBlock, dnn_available
from theano.link.xla.context import Context
from theano.link.xla.interpret import interpret

HIDDEN, RESERVE = 4, 3
KERNELS = ("cudnn_rnn_ffi", "cudnn_rnn_bwd_ffi")


def _stand_in_of_library():
    import jaxlib

    library = ModuleType("jax_cuda12_plugin._rnn")
    library.registrations = dict
    library.compute_rnn_workspace_reserve_space_sizes = lambda *sizes: (1, RESERVE)
    library.build_rnn_descriptor = lambda *sizes: b""
    version = ModuleType("jax_cuda12_plugin.version")
    version.__version__ = jaxlib.__version__
    package = ModuleType("jax_cuda12_plugin")
    package.__path__ = []
    for module in (package, library, version):
        sys.modules[module.__name__] = module


def _reference_on_cpu():
    """Have JAX's reference compute on the CPU what the kernels do on a GPU."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import rnn
    from jax.interpreters import mlir

    def layers(lengths, input_size, hidden_size, num_layers, dropout, bidirectional, **_):
        sizes = (input_size, hidden_size, num_layers)

        def apply(x, h, c, w):
            weights = rnn.unpack_lstm_weights(w, *sizes, bidirectional)
            return rnn.lstm_ref(x, h, c, *weights, lengths, *sizes, dropout, bidirectional)

        return apply

    def forward(x, h, c, w, lengths, **settings):
        kept = jnp.full(RESERVE, 7, "float32")
        return [*layers(lengths, **settings)(x, h, c, w), kept]

    def backward(dy, dh, dc, x, h, c, w, y, reserve, lengths, **settings):
        results, gradient = jax.vjp(layers(lengths, **settings), x, h, c, w)
        right = jnp.all(reserve == 7) & jnp.allclose(y, results[0], atol=1e-6)
        return [jnp.where(right, g, jnp.nan) for g in gradient((dy, dh, dc))]

    mlir.register_lowering(rnn.rnn_fwd_p, mlir.lower_fun(forward), platform="cpu")
    mlir.register_lowering(rnn.rnn_bwd_p, mlir.lower_fun(backward), platform="cpu")


_stand_in_of_library()
_reference_on_cpu()
reg_context(None, Named("cuda", SimpleNamespace(platform="gpu")))


def block_of(mode="lstm", dtype="float32", direction="unidirectional", **settings):
    return RNNBlock(dtype, HIDDEN, LAYERS, mode, direction_mode=direction, **settings)


def outputs_and_gradients(outputs, symbols):
    cost = T.sin(outputs[0]).sum() + T.sqr(outputs[2]).sum()
    return [*outputs, *T.grad(cost, symbols)]


def operators(f):
    """The classes of a function's operators, by name."""
    return [type(node.op).__name__ for node in f.maker.fgraph.toposort()]


def on_gpu(f, precision="HIGHEST"):
    """Return the function that the engine traces for a GPU."""
    import jax

    chosen = jax.lax.Precision[precision]
    return lambda *values: interpret(f.maker.fgraph, values, Context(chosen, platform="gpu"))


def kernels(f, values, precision="HIGHEST"):
    """The calls of cuDNN's kernels in the program for a GPU."""
    import jax

    traced = jax.jit(on_gpu(f, precision)).trace(*values)
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    return {name: text.count(f"@{name}(") for name in KERNELS}, text


def check_each_pass_is_one_kernel():
    assert dnn_available(None) and get_context(None).kind == b"cuda"
    for direction in ("unidirectional", "bidirectional"):
        block = block_of(direction=direction)
        symbols, values = variables("float32"), values_of(block, "float32")
        outputs = block.apply(*symbols)
        forward = theano.function(symbols, outputs, mode="XLA")
        both = theano.function(symbols, outputs_and_gradients(outputs, symbols), mode="XLA")
        # arrays of several dimensions, whose order in memory is the kernel's: x, h, c, y, last h and c
        for f, expected, pinned in ((forward, [1, 0], 6), (both, [1, 1], 16)):
            found, text = kernels(f, values)
            assert list(found.values()) == expected, found
            assert "stablehlo.while" not in text
            assert text.count("@LayoutConstraint(") == pinned


def check_kernels_agree_with_loops():
    import jax

    for direction in ("unidirectional", "bidirectional"):
        block = block_of(direction=direction)
        symbols, values = variables("float32"), values_of(block, "float32")
        wanted = outputs_and_gradients(block.apply(*symbols), symbols)
        through_kernels = theano.function(symbols, wanted, mode="XLA")
        as_loops = theano.function(symbols, wanted)
        assert "LSTMGradient" in operators(through_kernels)
        assert {"LSTMLayers", "LSTMGradient"}.isdisjoint(operators(as_loops))
        expected = as_loops(*values)
        on_cpu = through_kernels(*values)
        for found in (jax.jit(on_gpu(through_kernels))(*values), on_cpu):
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6)


def check_without_steps_the_last_states_are_the_first():
    for direction in ("unidirectional", "bidirectional"):
        block = block_of(direction=direction)
        symbols = variables("float32")
        w, x, h, c = values_of(block, "float32")
        f = theano.function(
            symbols, outputs_and_gradients(block.apply(*symbols), symbols), mode="XLA"
        )
        y, last, memory, dw, dx, dh, dc = f(w, x[:0], h, c)
        assert y.shape == (0, SIZE[0], HIDDEN * block.layout.num_directions)
        assert dx.shape == (0, *SIZE) and not dw.any() and not dh.any()
        np.testing.assert_array_equal(last, h)
        np.testing.assert_array_equal(memory, c)
        np.testing.assert_allclose(dc, 2 * c)


def check_gradients_of_gradients_are_loops():
    # one layer: the gradient of a gradient of two compiles for minutes
    block = RNNBlock("float32", HIDDEN, 1, "lstm")
    w, *others = symbols = variables("float32")
    values = values_of(block, "float32")
    found = []
    for outputs in (block.apply(*symbols), block._as_loops(*symbols)):
        (g,) = T.grad(T.sqr(outputs[0]).sum(), [w])
        second = T.grad(T.sqr(g).sum(), w)
        product = theano.Rop(outputs[1], w, w)
        f = theano.function([w, *others], [second, product], on_unused_input="ignore")
        found.append(f(*values))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def check_precision_is_the_flags():
    block = block_of()
    symbols, values = variables("float32"), values_of(block, "float32")
    import jax

    f = theano.function(symbols, outputs_and_gradients(block.apply(*symbols), symbols), mode="XLA")
    for precision, tf32 in (("HIGHEST", "False"), ("DEFAULT", "True")):
        text = str(jax.make_jaxpr(on_gpu(f, precision))(*values))
        assert text.count(f"cudnn_allow_tf32={tf32}") == 2, text


def check_others_are_loops():
    w, x, h, c = variables("float32")
    f = theano.function([w, x, h, c], block_of().apply(w, x, h, c), mode="XLA")
    params, *arrays = values_of(block_of(), "float32")
    found, _ = kernels(f, [params, *(array[:, :0] for array in arrays)])
    assert sum(found.values()) == 0, found
    blocks = {
        "cell": (block_of("gru"), (w, x, h)),
        "input": (block_of(input_mode="skip"), (w, x, h, c)),
        "type": (block_of(dtype="float64"), variables("float64")),
        "context": (block_of(context_name="dev7"), None),
    }
    for what, (block, symbols) in blocks.items():
        assert not block._has_kernel(), what
        if symbols is not None:
            f = theano.function(symbols, block.apply(*symbols), mode="XLA")
            assert "Scan" in operators(f), what
    with theano.config.change_flags(dnn__enabled="False"):
        assert not block_of()._has_kernel()


def check_two_devices_have_their_own_rows():
    block = block_of()
    _w, x, h, c = symbols = variables("float32")
    rng = np.random.default_rng(3)
    start = rng.standard_normal((LAYERS, 4, HIDDEN)).astype("float32")
    values = [
        values_of(block, "float32")[0],
        rng.standard_normal((5, 4, SIZE[1])).astype("float32"),
        start,
        start,
    ]
    wanted = outputs_and_gradients(block.apply(*symbols), symbols)
    split = theano.function(symbols, wanted, data_parallel=[(x, 1), (h, 1), (c, 1)])
    alone = theano.function(symbols, wanted, mode="XLA")
    for one, other in zip(split(*values), alone(*values), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6)


CHECKS = {name: value for name, value in globals().items() if name.startswith("check_")}
