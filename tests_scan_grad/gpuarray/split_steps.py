"""Training steps whose batch two devices share; each check runs in a fresh process."""

import re

import numpy as np

import theano
import theano.tensor as T
from theano.tensor import fft
from theano.tensor.signal.pool import pool_2d

RNG = np.random.default_rng(0)
STEPS, BATCH, WIDTH, HIDDEN, CLASSES = 5, 6, 4, 7, 3


def drawn(*shape):
    return RNG.standard_normal(shape)


def weights(**shapes):
    return [theano.shared(0.3 * drawn(*shape), name=name) for name, shape in shapes.items()]


def plain_updates(cost, params):
    return [(w, w - 0.1 * g) for w, g in zip(params, T.grad(cost, params), strict=True)]


def collectives(f, *values):
    """The operations between devices in the compiled program for these values."""
    (program,) = f.vm.programs
    known = {variable: cell[0] for variable, cell in f.vm.storage_map.items()}
    known.update(zip(f.vm.fgraph.inputs, values, strict=False))
    with f.vm.values.precision_in_use():
        moved = [f.vm.values.on_device(v, known, None) for v in program.stage.inputs]
        text = program.lowered(moved).compile().as_text()
    return re.findall(r" (all-reduce|all-gather|all-to-all|collective-permute)(?:-start)?\(", text)


def same_as_on_one_device(inputs, axes, outputs, cost, params, values, updates=plain_updates):
    """Check two steps of both; returns what the devices exchange in a step."""
    before = [w.get_value() for w in params]
    steps = updates(cost, params)
    kept = [variable for variable, _ in steps]
    states = [variable.get_value() for variable in kept]
    results = []
    for settings in ({}, {"data_parallel": list(zip(inputs, axes, strict=True))}):
        for variable, state in zip(kept, states, strict=True):
            variable.set_value(state)
        f = theano.function(inputs, [cost, *outputs], updates=steps, mode="XLA", **settings)
        called = [f(*values) for _ in range(2)]
        results.append([*called[0], *called[1], *(v.get_value() for v in kept)])
    for one, two in zip(*results, strict=True):
        np.testing.assert_allclose(two, one, rtol=1e-9, atol=1e-12)
    assert any(not np.array_equal(w.get_value(), b) for w, b in zip(params, before, strict=True))
    return collectives(f, *values)


def check_gated_rnn_needs_one_all_reduce():
    x, y = T.tensor3("x"), T.tensor3("y")
    params = U, V, W, b, out = weights(
        U=(HIDDEN, HIDDEN), V=(HIDDEN, HIDDEN), W=(WIDTH, HIDDEN), b=(HIDDEN,), out=(HIDDEN, 2)
    )

    def step(a, h):
        r = T.nnet.sigmoid(a + h.dot(U))
        return T.tanh(a + (r * h).dot(V))

    h, _ = theano.scan(step, x.dot(W) + b, T.zeros((x.shape[1], HIDDEN)))
    cost = ((h.dot(out) - y) ** 2).mean()
    values = [drawn(STEPS, BATCH, WIDTH), drawn(STEPS, BATCH, 2)]
    found = same_as_on_one_device([x, y], [1, 1], [h], cost, params, values)
    assert found == ["all-reduce"]


def check_recurrent_block():
    from theano.gpuarray.dnn import RNNBlock

    block = RNNBlock("float64", HIDDEN, 2, "lstm")
    (w,) = weights(w=(block.get_param_size([BATCH, WIDTH]),))
    x, h0 = T.tensor3("x"), T.tensor3("h0")
    y, h, c = block.apply(w, x, h0, h0)
    values = [drawn(STEPS, BATCH, WIDTH), drawn(2, BATCH, HIDDEN)]
    cost = (y**2).sum() + c.sum()
    found = same_as_on_one_device([x, h0], [1, 1], [y, h], cost, [w], values)
    assert found == ["all-reduce"]


def check_layers_with_adam():
    x, y = T.matrix("x"), T.ivector("y")
    params = W, b, V = weights(W=(WIDTH, HIDDEN), b=(HIDDEN,), V=(HIDDEN, CLASSES))
    p = T.nnet.softmax(T.nnet.relu(x.dot(W) + b).dot(V))
    cost = T.nnet.categorical_crossentropy(p, y).mean()

    def adam(cost, params):
        steps = []
        for w, g in zip(params, T.grad(cost, params), strict=True):
            m, v = (theano.shared(0 * w.get_value()) for _ in range(2))
            steps += [(m, 0.9 * m + 0.1 * g), (v, 0.99 * v + 0.01 * g**2)]
            steps.append((w, w - 0.01 * steps[-2][1] / (T.sqrt(steps[-1][1]) + 1e-8)))
        return steps

    values = [drawn(BATCH, WIDTH), RNG.integers(0, CLASSES, BATCH).astype("int32")]
    found = same_as_on_one_device([x, y], [0, 0], [p], cost, params, values, adam)
    assert found == ["all-reduce"]


def check_embedding_and_clipping():
    x, y = T.imatrix("x"), T.imatrix("y")
    params = E, U, V = weights(E=(9, HIDDEN), U=(HIDDEN, HIDDEN), V=(HIDDEN, 9))
    h, _ = theano.scan(lambda e, h: T.tanh(e + h.dot(U)), E[x], T.zeros((x.shape[1], HIDDEN)))
    p = T.nnet.softmax(h.reshape((-1, HIDDEN)).dot(V))
    cost = T.nnet.categorical_crossentropy(p, y.flatten()).mean()

    def clipped(cost, params):
        gradients = T.grad(cost, params)
        norm = T.sqrt(sum((g**2).sum() for g in gradients))
        scale = T.minimum(1, 0.1 / norm)
        return [(w, w - g * scale) for w, g in zip(params, gradients, strict=True)]

    values = [RNG.integers(0, 9, (STEPS, BATCH)).astype("int32") for _ in range(2)]
    found = same_as_on_one_device([x, y], [1, 1], [h], cost, params, values, clipped)
    assert found == ["all-reduce"]


def check_gradient_of_a_loop_within_a_loop_is_refused():
    x = T.tensor3("x")
    U, W = weights(U=(HIDDEN, HIDDEN), W=(WIDTH, HIDDEN))

    def several(x, h):
        inner, _ = theano.scan(lambda h: T.tanh(h.dot(U) + x.dot(W)), outputs_info=h, n_steps=3)
        return inner[-1]

    h, _ = theano.scan(several, x, T.zeros((x.shape[1], HIDDEN)))
    value = drawn(STEPS, BATCH, WIDTH)
    alone = theano.function([x], h, mode="XLA")(value)
    split = theano.function([x], h, data_parallel=[(x, 1)])(value)
    np.testing.assert_allclose(split, alone, rtol=1e-9)
    f = theano.function([x], T.grad(h.sum(), U), data_parallel=[(x, 1)])
    assert "it computes with the number of rows" in error_of(lambda: f(value))


def check_gradients_summed_within_loops():
    x = T.tensor3("x")
    params = U, b = weights(U=(WIDTH, WIDTH), b=(WIDTH,))

    def several(x, h):
        inner, _ = theano.scan(lambda h: T.tanh(h * b + x), outputs_info=h, n_steps=3)
        return inner[-1].dot(U)

    h, _ = theano.scan(several, x, T.zeros((x.shape[1], WIDTH)))
    value = drawn(STEPS, BATCH, WIDTH)
    found = same_as_on_one_device([x], [1], [h], (h**2).mean(), params, [value])
    assert found == ["all-reduce"]
    total = theano.shared(drawn(WIDTH), name="total")

    def summed(x, h, s):
        h = T.tanh(h * b + x)
        return h, s + (h**2).sum(0)

    (h, s), _ = theano.scan(summed, x, [T.zeros((x.shape[1], WIDTH)), total])
    same_as_on_one_device([x], [1], [h, s], (s[-1] ** 2).mean(), [b, total], [value])


def check_gradients_of_gradients():
    x = T.tensor3("x")
    params = U, W = weights(U=(HIDDEN, HIDDEN), W=(WIDTH, HIDDEN))
    h, _ = theano.scan(lambda x, h: T.tanh(x.dot(W) + h.dot(U)), x, T.zeros((x.shape[1], HIDDEN)))
    penalty = (T.grad(h[-1].sum(), x) ** 2).sum((0, 2)).mean()
    cost = (h**2).mean() + penalty
    found = same_as_on_one_device([x], [1], [h], cost, params, [drawn(STEPS, BATCH, WIDTH)])
    assert found == ["all-reduce"]


def check_numbers_of_rows_within_loops():
    x, y = T.tensor3("x"), T.tensor3("y")
    params = U, W = weights(U=(HIDDEN, HIDDEN), W=(WIDTH, HIDDEN))
    count = x.shape[1] * HIDDEN

    def step(x, y, h):
        h = T.tanh(x.dot(W) + h.dot(U))
        return h, ((h - y) ** 2).sum() / count

    (h, losses), _ = theano.scan(step, [x, y], [T.zeros((x.shape[1], HIDDEN)), None])
    values = [drawn(STEPS, BATCH, WIDTH), drawn(STEPS, BATCH, HIDDEN)]
    found = same_as_on_one_device([x, y], [1, 1], [h, losses], losses.mean(), params, values)
    assert found == ["all-reduce"]
    means, _ = theano.scan(lambda x: (x**2).mean(), x)
    f = theano.function([x], means, data_parallel=[(x, 1)], mode="XLA")
    message = error_of(lambda: f(values[0]))
    assert "it computes with the number of rows" in message, message
    powers, _ = theano.scan(lambda w: w / 2, outputs_info=W, n_steps=x.shape[1])
    f = theano.function([x], powers[-1], data_parallel=[(x, 1)])
    assert "as many steps as the batch has rows" in error_of(lambda: f(values[0]))


def check_convolutions_and_pooling():
    x = T.tensor4("x")
    params = F, G, V = weights(F=(3, 2, 2, 2), G=(2, 3, 2, 2), V=(8, CLASSES))
    z = T.tanh(T.nnet.conv2d(x, F, border_mode="full"))
    z = T.tanh(T.nnet.conv2d(z, G, subsample=(2, 1)))
    for mode in ("max", "average_exc_pad"):
        pooled = pool_2d(z, (2, 2), ignore_border=True, mode=mode)
        p = T.nnet.softmax(pooled.flatten(2).dot(V))
        cost = -T.log(p[:, 0]).mean()
        found = same_as_on_one_device([x], [0], [p], cost, params, [drawn(BATCH, 2, 7, 4)])
        assert found == ["all-reduce"]


def check_normalised_batch():
    x = T.matrix("x")
    params = W, U = weights(W=(WIDTH, HIDDEN), U=(HIDDEN, HIDDEN))
    z = x.dot(W)
    z = (z - z.mean(0)) / T.sqrt(z.var(0) + 1e-4)
    cost = (T.tanh(z.dot(U)) ** 2).mean()
    same_as_on_one_device([x], [0], [z], cost, params, [drawn(BATCH, WIDTH)])


def check_weights_shared_by_steps_and_regularised():
    x = T.tensor3("x")
    params = U, W = weights(U=(HIDDEN, HIDDEN), W=(WIDTH, HIDDEN))
    start = theano.shared(0.1 * drawn(HIDDEN), name="start")
    first = T.alloc(start, x.shape[1], HIDDEN)
    h, _ = theano.scan(lambda x, h: T.tanh(x.dot(W) + h.dot(U)), x[::-1], first)
    cost = (h[-1] ** 2).mean() + 0.01 * (U**2).sum()
    same_as_on_one_device([x], [1], [h[-1]], cost, [*params, start], [drawn(STEPS, BATCH, WIDTH)])


def error_of(call):
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__} {error}"
    raise AssertionError("no error")


def check_errors():
    x, y, w = T.matrix("x"), T.matrix("y"), theano.shared(np.ones((2, 2)))

    def split(outputs, entries=(x,), inputs=(x,), **settings):
        return theano.function(list(inputs), outputs, data_parallel=list(entries), **settings)

    total = split(x.dot(w).sum())
    assert "x has 5 rows in dimension 0, which do not divide over 2 devices" in error_of(
        lambda: total(np.ones((5, 2)))
    )
    assert "y is not an input" in error_of(lambda: split(x.sum(), [y]))
    assert "x has no dimension 2" in error_of(lambda: split(x.sum(), [(x, 2)]))
    assert "must name the inputs" in error_of(
        lambda: theano.function([x], x.sum(), devices=["xla:cpu0"])
    )
    assert "names a device twice" in error_of(lambda: split(x.sum(), devices=["xla:cpu"] * 2))
    assert "this machine has xla:cpu0 to xla:cpu1 only" in error_of(
        lambda: split(x.sum(), devices=["xla:cpu0", "xla:cpu2"])
    )
    largest = split(x.max())
    assert "cannot be split over the batch: it reduces the batch by another operation" in error_of(
        lambda: largest(np.ones((4, 2)))
    )
    rows, _ = theano.scan(lambda row, s: s + row, x, T.zeros(2))
    over_batch = error_of(lambda: split(rows)(np.ones((4, 2))))
    assert "cannot be split over the batch" in over_batch, over_batch
    both = split((x.sum() + y.sum()), [x, y], [x, y])
    assert "different numbers of rows" in error_of(lambda: both(np.ones((4, 2)), np.ones((2, 2))))


def check_one_named_device_is_enough():
    x = T.matrix("x")
    f = theano.function([x], x.sum(), data_parallel=[x], devices=["xla:cpu1"])
    assert f(np.ones((3, 2))) == 6


def expressions(x, y, s, w):
    """Of a batch `x` (rows, 4), `y` (steps, rows, 4), `s` integers of the rows, and weights."""
    n = x.shape[0]
    yield from (x.mean(), x.sum(0), x.sum(1), x.mean(axis=0), x.var(), x.std(0), x - x.mean(0))
    yield from (n * w.sum(), x / n, x.sum() / (n + 1), T.zeros_like(x) + 1, T.ones((n, 2)).sum())
    yield from (x.dot(w).sum(0), x.T.dot(x), T.dot(x.T, T.tanh(x)), y.dot(w).mean((0, 1)))
    yield from (y.dimshuffle(1, 0, 2).reshape((n, -1)), y.reshape((-1, 4)).sum(0), x.flatten())
    yield from (y[1], y[::-1].sum(0), y[:2].mean(), x[:, 1:3], x[:, ::-1], x[::-1], x[1:], x[0])
    yield from (w[s], w[s].sum(0), x[T.arange(n), s], T.exp(x).max(1), x.max(), x.argmax(1))
    yield from (T.concatenate([x, x**2], axis=1), T.concatenate([x, x]), T.stack([x, x], axis=0))
    yield from (T.switch(x > 0, x, 0).sum(), T.set_subtensor(x[:, 0], 0), T.eye(n), T.arange(n))
    yield from (x.norm(2), T.nnet.softmax(x), x.cumsum(1), x.cumsum(0), T.sort(x, 1), T.sort(x, 0))
    yield from (T.batched_dot(x[:, None], x[:, :, None]), T.tensordot(y, y, [[0, 1], [0, 1]]))
    yield from (w[:n], w.reshape((n, -1)), T.alloc(w[0], n, 4), T.inc_subtensor(w[s], x), n + w)
    yield from (T.grad(cost, w) for cost in (x.dot(w).mean(), (w[s] * x).mean(), w.sum() / n))
    yield T.grad(T.sqr(x - x.mean(0)).mean() + (x.dot(w).sum(0) ** 2).sum(), w)


def check_each_device_transforms_its_rows():
    x = T.matrix("x")
    spectrum = fft.rfft(x)
    outputs = [spectrum, fft.irfft(spectrum), T.grad((spectrum**2).sum(), x), spectrum.sum(0)]
    values = drawn(BATCH, 8)
    found = theano.function([x], outputs, data_parallel=[x])(values)
    for one, right in zip(found, theano.function([x], outputs)(values), strict=True):
        np.testing.assert_allclose(one, right, rtol=1e-9, atol=1e-12)


def check_expressions_are_right_or_refused():
    x, y, s, w = T.matrix("x"), T.tensor3("y"), T.lvector("s"), T.matrix("w")
    inputs, values = (
        [x, y, s, w],
        [drawn(4, 4), drawn(3, 4, 4), np.array([2, 0, 1, 2]), drawn(4, 4)],
    )
    right = 0
    for expression in expressions(*inputs):
        expected = theano.function(inputs, expression, on_unused_input="ignore")(*values)
        try:
            f = theano.function(
                inputs, expression, data_parallel=[x, (y, 1), s], on_unused_input="ignore"
            )
            found = f(*values)
        except ValueError as error:
            assert "data_parallel: " in str(error), error
            continue
        np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=theano.pp(expression))
        right += 1
    assert right >= 45, right


CHECKS = {name: value for name, value in globals().items() if name.startswith("check_")}
