"""`RNNBlock`: against networks written with `scan`, PyTorch's networks, and what cuDNN documents."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.gpuarray.recurrent_networks import scanned
from theano.gpuarray.dnn import RNNBlock, params_from_scan, params_to_scan

STEPS, BATCH, WIDTH, HIDDEN, LAYERS = 4, 3, 5, 4, 2
SIZE = [BATCH, WIDTH]
MODES = ("rnn_relu", "rnn_tanh", "lstm", "gru")
DIRECTIONS = {"unidirectional": 1, "bidirectional": 2}


def block_of(mode, direction="unidirectional", **settings):
    return RNNBlock("float64", HIDDEN, LAYERS, mode, direction_mode=direction, **settings)


def drawn(*shape, seed=0):
    return 0.5 * np.random.default_rng(seed).standard_normal(shape)


def arguments(mode, direction):
    """Symbols and values of the input and the first states."""
    pseudo_layers = LAYERS * DIRECTIONS[direction]
    states = 2 if mode == "lstm" else 1
    symbols = [T.tensor3(name) for name in ("x", "h0", "c0")[: 1 + states]]
    start = (pseudo_layers, BATCH, HIDDEN)
    return symbols, [drawn(STEPS, BATCH, WIDTH), *(drawn(*start, seed=k) for k in range(states))]


def cost_of(outputs):
    return sum((output * (k + 1) ** 0.5).sin().sum() for k, output in enumerate(outputs))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("mode", MODES)
def test_outputs_and_gradients_are_those_of_a_network_written_with_scan(mode, direction):
    block = block_of(mode, direction)
    params = drawn(block.get_param_size(SIZE), seed=9)
    symbols, values = arguments(mode, direction)
    w = T.vector("w")
    outputs = block.apply(w, *symbols)
    weights = [
        {name: theano.shared(value, name=name) for name, value in layer.items()}
        for layer in params_to_scan(block, params, SIZE)
    ]
    written = scanned(mode, weights, symbols[0], symbols[1:], DIRECTIONS[direction])
    of_block = theano.function([w, *symbols], [*outputs, *T.grad(cost_of(outputs), [*symbols, w])])(
        params, *values
    )
    flat = [variable for layer in weights for variable in layer.values()]
    of_scan = theano.function(symbols, [*written, *T.grad(cost_of(written), [*symbols, *flat])])(
        *values
    )
    shared = len(outputs) + len(symbols)
    for ours, theirs in zip(of_block[:shared], of_scan[:shared], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    by_layer = iter(of_scan[shared:])
    gradients = [{name: next(by_layer) for name in layer} for layer in weights]
    check_gradient_of_params(block, of_block[-1], gradients)


def check_gradient_of_params(block, gradient, gradients):
    """Each array's gradient is the network's; two biases of a sum have the same one."""
    for k, of_layer in enumerate(gradients):
        arrays = block.split_params(theano.shared(gradient), k, SIZE)
        gates = block.cell.gates
        for number, gate in enumerate(gates):
            W, b_W = arrays[2 * number : 2 * number + 2]
            U, b_U = arrays[2 * (number + len(gates)) : 2 * (number + len(gates)) + 2]
            expected = [of_layer[f"{name}_{gate}"] for name in ("W", "U", "b")]
            expected.append(of_layer.get(f"bU_{gate}", expected[2]))
            for ours, theirs in zip((W, U, b_W, b_U), expected, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("mode", MODES)
def test_layout_is_that_of_pytorch_networks(mode, direction):
    torch = pytest.importorskip("torch")
    kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}.get(mode, torch.nn.RNN)
    settings = {"nonlinearity": mode[4:]} if mode.startswith("rnn_") else {}
    network = kind(
        WIDTH, HIDDEN, LAYERS, bidirectional=direction == "bidirectional", **settings
    ).double()
    named = dict(network.named_parameters())
    ordered = [named[name] for part in ("weight", "bias") for name in named if part in name]
    params = torch.cat([p.detach().flatten() for p in ordered]).numpy()
    block = block_of(mode, direction)
    assert block.get_param_size(SIZE) == len(params)
    symbols, (x, *starts) = arguments(mode, direction)
    ours = theano.function(symbols, block.apply(theano.shared(params), *symbols))(x, *starts)
    starts = [torch.tensor(start) for start in starts]
    with torch.no_grad():
        y, last = network(torch.tensor(x), tuple(starts) if len(starts) == 2 else starts[0])
    for value, expected in zip(ours, [y, *(last if mode == "lstm" else [last])], strict=True):
        np.testing.assert_allclose(value, expected.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_skipped_input_is_a_first_layer_with_identity_matrices(mode):
    skipping = RNNBlock("float64", WIDTH, LAYERS, mode, input_mode="skip")
    linear = RNNBlock("float64", WIDTH, LAYERS, mode)
    layers = params_to_scan(skipping, drawn(skipping.get_param_size(SIZE), seed=3), SIZE)
    assert not any(name.startswith("W_") for name in layers[0])
    params = params_from_scan(skipping, layers, SIZE)
    symbols = [T.tensor3(name) for name in ("x", "h0", "c0")][: 3 if mode == "lstm" else 2]
    values = [drawn(STEPS, BATCH, WIDTH), *(drawn(LAYERS, BATCH, WIDTH, seed=k) for k in (1, 2))]
    identities = {f"W_{gate}": np.eye(WIDTH) for gate in linear.cell.gates}
    same = params_from_scan(linear, [layers[0] | identities, *layers[1:]], SIZE)
    f = theano.function(
        symbols,
        [
            *skipping.apply(theano.shared(params), *symbols),
            *linear.apply(theano.shared(same), *symbols),
        ],
    )
    results = f(*values[: len(symbols)])
    half = len(results) // 2
    for ours, theirs in zip(results[:half], results[half:], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_split_params_writes_through(mode):
    block = block_of(mode, "bidirectional")
    size = block.get_param_size(SIZE)
    w = theano.shared(np.zeros(size))
    written = 0
    for layer in range(2 * LAYERS):
        for array in block.split_params(w, layer, SIZE):
            array[:] = np.arange(written, written + array.size).reshape(array.shape)
            written += array.size
    assert written == size
    assert sorted(w.get_value()) == list(range(size))


def test_split_params_has_cudnns_order():
    block = block_of("lstm")
    w = theano.shared(np.arange(float(block.get_param_size(SIZE))))
    first = block.split_params(w, 0, SIZE)
    assert [array.shape for array in first] == [(WIDTH, HIDDEN), (HIDDEN,)] * 4 + [
        (HIDDEN, HIDDEN),
        (HIDDEN,),
    ] * 4
    assert [array[0, 0] for array in first[::2]] == [0, 20, 40, 60, 80, 96, 112, 128]
    biases = 4 * HIDDEN * (WIDTH + HIDDEN + HIDDEN + HIDDEN)
    assert [array[0] for array in first[1::2]] == [biases + HIDDEN * k for k in range(8)]
    # a row of cuDNN's matrix, all that one output is made from, is a column here
    np.testing.assert_array_equal(first[0][:, 0], np.arange(WIDTH))


def test_conversion_there_and_back_keeps_the_function():
    block = block_of("gru", "bidirectional")
    params = drawn(block.get_param_size(SIZE), seed=4)
    again = params_from_scan(block, params_to_scan(block, params, SIZE), SIZE)
    symbols, values = arguments("gru", "bidirectional")
    w = T.vector("w")
    f = theano.function([w, *symbols], block.apply(w, *symbols))
    for before, after in zip(f(params, *values), f(again, *values), strict=True):
        np.testing.assert_allclose(before, after, rtol=1e-9, atol=1e-12)


def test_each_layer_and_direction_is_one_loop_with_one_product():
    block = block_of("gru")
    symbols, _ = arguments("gru", "unidirectional")
    w = theano.shared(np.zeros(block.get_param_size(SIZE)))
    f = theano.function(symbols, block.apply(w, *symbols)[0])
    loops = [
        node.op for node in f.maker.fgraph.toposort() if type(node.op).__name__.endswith("Scan")
    ]
    products = [
        sum(type(node.op).__name__ in ("Dot", "Dot22", "Gemm") for node in loop.fgraph.apply_nodes)
        for loop in loops
    ]
    assert products == [1] * LAYERS


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rnn_mode": "elman"}, "rnn_mode should be one of rnn_relu, rnn_tanh, lstm, gru"),
        ({"direction_mode": "both"}, "direction_mode should be one of unidirectional"),
        ({"input_mode": "none"}, "input_mode should be one of linear, skip"),
        ({"hidden_size": 0}, "hidden_size should be a positive integer; got 0"),
        ({"num_layers": 1.5}, "num_layers should be a positive integer; got 1.5"),
    ],
)
def test_unknown_setting_is_an_error(settings, message):
    with pytest.raises(ValueError, match=message):
        RNNBlock(
            **(
                {"dtype": "float32", "hidden_size": 2, "num_layers": 1, "rnn_mode": "gru"}
                | settings
            )
        )


def test_input_size_is_checked():
    with pytest.raises(ValueError, match="number of rows in a batch, width of the input"):
        block_of("gru").get_param_size([5])
    with pytest.raises(ValueError, match="as wide as the state, 4; got 5"):
        block_of("gru", input_mode="skip").get_param_size(SIZE)


def test_split_params_checks_its_arguments():
    block = block_of("gru")
    w = theano.shared(np.zeros(block.get_param_size(SIZE)))
    with pytest.raises(TypeError, match="w should be a shared variable"):
        block.split_params(np.zeros(3), 0, SIZE)
    with pytest.raises(ValueError, match="layer should be from 0 to 1; got 2"):
        block.split_params(w, 2, SIZE)
    with pytest.raises(ValueError, match=r"width 6 the parameters should have the shape \(2"):
        block.split_params(w, 0, [BATCH, 6])


def test_apply_checks_its_arguments():
    block, lstm = block_of("gru"), block_of("lstm")
    w, x, h = T.vector(), T.tensor3(), T.tensor3()
    with pytest.raises(ValueError, match="lstm needs initial memory cx"):
        lstm.apply(w, x, h)
    with pytest.raises(ValueError, match="gru has no initial memory cx"):
        block.apply(w, x, h, h)
    with pytest.raises(
        TypeError, match="x should be float64 with 3 dimensions; got float64 with 2"
    ):
        block.apply(w, x[0], h)
    with pytest.raises(TypeError, match="hx should be float64 with 3 dimensions; got float32"):
        block.apply(w, x, T.tensor3(dtype="float32"))


def test_a_vector_of_another_length_is_an_error_in_the_call():
    block = block_of("gru")
    w, x, h = T.vector(), T.tensor3(), T.tensor3()
    f = theano.function([w, x, h], block.apply(w, x, h))
    with pytest.raises(AssertionError, match="length of w is not get_param_size"):
        f(np.zeros(7), np.zeros((2, BATCH, WIDTH)), np.zeros((LAYERS, BATCH, HIDDEN)))


def test_conversion_names_what_does_not_fit():
    block = block_of("gru")
    layers = params_to_scan(block, np.zeros(block.get_param_size(SIZE)), SIZE)
    with pytest.raises(ValueError, match="the block has 2 layers, both directions counted; got 1"):
        params_from_scan(block, layers[:1], SIZE)
    with pytest.raises(ValueError, match="layer 1 of the block has no V_h"):
        params_from_scan(block, [layers[0], layers[1] | {"V_h": np.zeros(2)}], SIZE)
    with pytest.raises(ValueError, match=r"W_r of layer 0 should have the shape \(5, 4\); got \(4"):
        params_from_scan(block, [layers[0] | {"W_r": np.zeros((4, 5))}, layers[1]], SIZE)
    del layers[1]["U_z"]
    with pytest.raises(ValueError, match="layer 1 needs U_z"):
        params_from_scan(block, layers, SIZE)


def test_a_missing_bias_is_zero():
    block = RNNBlock("float64", 2, 1, "rnn_tanh")
    params = params_from_scan(block, [{"W_h": np.ones((3, 2)), "U_h": np.eye(2)}], [1, 3])
    np.testing.assert_array_equal(params, [1] * 6 + [1, 0, 0, 1] + [0] * 4)
