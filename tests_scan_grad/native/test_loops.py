"""Loops by the native engine agree with PyTensor's Python linker; what it cannot do falls back."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.scan.utils import until
from pytensor.tensor.random.utils import RandomStream

import theano
from tests_scan_grad import networks
from tests_scan_grad.native.loops import check, native_mode, numbers, same, scan
from theano.link.native import mode, report, source


def zero(dtype: str = "float64"):
    return pt.constant(np.zeros((), dtype))


def autoregression(series, a, b, scale):
    def step(y, before1, before2, total, a, b, scale):
        error = y - a * before1 - b * before2
        return y, before1, total - 0.5 * (error / scale) ** 2 - pt.log(scale)

    return scan(
        step,
        sequences=[series],
        outputs_info=[zero(), zero(), zero()],
        non_sequences=[a, b, scale],
    )


@pytest.mark.parametrize("read", ["all", "last", "last three", "all but the first"])
def test_numbers_as_states(read):
    series, (a, b, scale) = pt.dvector("series"), pt.dscalars("a", "b", "scale")
    part = {"all": slice(None), "last": -1, "last three": slice(-3, None)}
    outputs = [y[part.get(read, slice(1, None))] for y in autoregression(series, a, b, scale)]
    check([series, a, b, scale], outputs, [numbers(20), 0.5, 0.2, 1.3], [numbers(4), 0.5, 0.2, 2.0])


def test_epidemic_with_a_symbolic_number_of_steps():
    beta, gamma, width = pt.dscalars("beta", "gamma", "width")
    steps = pt.lscalar("steps")

    def euler(s, i, r, beta, gamma, width):
        infected, recovered = beta * s * i * width, gamma * i * width
        return s - infected, i + infected - recovered, r + recovered

    start = [pt.constant(np.float64(x)) for x in (0.99, 0.01, 0.0)]
    states = scan(euler, outputs_info=start, non_sequences=[beta, gamma, width], n_steps=steps)
    calls = [[0.3, 0.1, 0.1, n] for n in (1, 2, 7, 30)]
    check([beta, gamma, width, steps], [*states, states[0][-1]], *calls)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("taps", [(-1,), (-2,), (-1, -2), (-3, -1)])
@pytest.mark.parametrize("read", ["all", "last", "last two"])
def test_taps_and_rings(taps, read, dtype):
    x, start = pt.matrix("x", dtype=dtype), pt.matrix("start", dtype=dtype)

    def step(x, *states):
        return pt.tanh(x + 0.5 * states[0] - 0.25 * states[-1])

    (y,) = scan(step, sequences=[x], outputs_info=[{"initial": start, "taps": list(taps)}])
    output = {"all": y, "last": y[-1], "last two": y[-2:]}[read]
    first = numbers(-min(taps), 3, seed=1, dtype=dtype)
    calls = [[numbers(n, 3, dtype=dtype), first] for n in (2, 5, 11)]
    check([x, start], [output], *calls)


def theano_loops(step, **options):
    outputs, _ = theano.scan(step, **options)
    return outputs


NETWORKS = {
    "plain": networks.plain_rnn,
    "plain on vectors": lambda scan: networks.plain_rnn(scan, vectors=True),
    "gated": networks.gated_rnn,
    "lstm": networks.lstm,
    "peepholes": lambda scan: networks.lstm(scan, peepholes=True),
    "transposed weight": networks.weight_used_twice,
    "bidirectional": networks.bidirectional,
    "stacked": networks.stacked,
    "attention": networks.attention,
    "tied weights": networks.tied_weights,
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_and_their_gradients(name):
    network = NETWORKS[name](theano_loops)
    outputs = [network.cost, *theano.grad(network.cost, network.weights)]
    rewrites = theano.compile.mode.OPT_FAST_RUN
    native = theano.function(
        network.inputs, outputs, mode=theano.Mode(native_mode().linker, rewrites)
    )
    assert report(native).loops and all(record.reason is None for record in report(native).loops)
    python = theano.Mode(pytensor.link.vm.VMLinker(use_cloop=False, c_thunks=False), rewrites)
    same(
        native(*network.values),
        theano.function(network.inputs, outputs, mode=python)(*network.values),
    )


@pytest.mark.parametrize("read", ["all", "last"])
def test_until(read):
    bound, x = pt.dscalar("bound"), pt.dvector("x")

    def step(x, total):
        total = total + x**2
        return (total, 2 * total), until(total > bound)

    y, doubled = scan(step, sequences=[x], outputs_info=[zero(), None])
    outputs = [y, doubled] if read == "all" else [y[-1], doubled[-1]]
    check([x, bound], outputs, *([numbers(12), limit] for limit in (0.0, 1.5, 4.0, 1e9)))


def test_a_loop_of_no_steps():
    x, start = pt.dmatrix("x"), pt.dvector("start")
    y, _trace = scan(
        lambda x, h: (pt.tanh(x + h), x * h), sequences=[x], outputs_info=[start, None]
    )
    # what PyTensor returns as a trace of no steps has no columns either
    native = check([x, start], [y], [numbers(0, 3), numbers(3)], [numbers(1, 3), numbers(3)])
    assert native(numbers(0, 3), numbers(3))[0].shape == (0, 3)


def test_the_columns_of_a_product_are_reshaped():
    """A product that is computed with its operands turned is not put where its rows have gaps."""
    steps, start, w = pt.dvector("steps"), pt.dmatrix("start"), pt.dmatrix("w")

    def step(by, h, w):
        cubes = pt.dot(w, pt.tanh(h * by)).reshape((4, 2, 3))
        return cubes.transpose(0, 2, 1).reshape((4, 6)) + 1

    (y,) = scan(step, sequences=[steps], outputs_info=[start], non_sequences=[w])
    check([steps, start, w], [y], [numbers(5), numbers(4, 6), numbers(4, 4)])


def test_reversed_strided_and_transposed_arguments():
    x, start, w = pt.dtensor3("x"), pt.dmatrix("start"), pt.dmatrix("w")
    (y,) = scan(
        lambda x, h, w: pt.tanh(x + pt.dot(h, w) * w[0]),
        sequences=[x],
        outputs_info=[start],
        non_sequences=[w],
        go_backwards=True,
    )
    values = [numbers(4, 2, 3), numbers(2, 3), numbers(3, 3)]
    turned = [
        np.ascontiguousarray(values[0].transpose(2, 1, 0)).transpose(2, 1, 0),
        np.asfortranarray(values[1]),
        np.repeat(values[2], 2, axis=1)[:, ::2],
    ]
    backwards = [values[0][::-1], values[1][::-1], values[2].T]
    native = check([x, start, w], [y], values, turned, backwards)
    same(native(*turned), native(*values))


def test_an_array_is_a_sequence_and_an_operand_of_products():
    start, w = pt.dvector("start"), pt.dmatrix("w")

    def along_rows(h, w):
        def step(x, h, w):
            return pt.tanh(x + pt.dot(h, w))

        (rows,) = scan(step, sequences=[w], outputs_info=[h], non_sequences=[w])
        return rows

    once = [along_rows(start, w)]
    inside = scan(
        lambda h, w: along_rows(h, w)[-1], outputs_info=[start], non_sequences=[w], n_steps=2
    )
    values = [numbers(3), numbers(3, 3)]
    spread = [values[0], np.repeat(values[1], 2, axis=1)[:, ::2]]
    turned = [values[0][::-1], values[1].T]
    for loop in (once, inside):
        check([start, w], loop, values, spread, turned)


STEPS = {
    "comparisons": lambda x, h: pt.switch(x > h, x, h) + pt.maximum(x, 0.5) * (x <= h),
    "powers": lambda x, h: pt.abs(x) ** 1.5 + h**2 / (1 + h**2),
    "logarithms": lambda x, h: pt.log1p(pt.exp(x)) - pt.expm1(-pt.abs(h)),
    "softplus": lambda x, h: pt.softplus(x) - pt.sigmoid(h) + pt.erf(x),
    "sums": lambda x, h: pt.tanh(x.sum(axis=1, keepdims=True) + h - h.mean(axis=0)),
    "extremes": lambda x, h: x - x.max(axis=1, keepdims=True) + 0.5 * h.min() + pt.prod(h),
    "softmax": lambda x, h: pt.special.softmax(x + h, axis=1) + pt.special.log_softmax(h, axis=0),
    "transposes": lambda x, h: pt.tanh(pt.dot(x.T, h)[:2] + h),
    "products of states": lambda x, h: pt.tanh(pt.dot(pt.dot(h, h.T), x)),
    "reversed part": lambda x, h: pt.concatenate([x[:, 1:], h[:, :1]], axis=1)[:, ::-1],
    "updates": lambda x, h: pt.set_subtensor(h[0], x[1])[:, :] + pt.inc_subtensor(x[:, 1:], 2.0),
    "reshapes": lambda x, h: 0.5 * h.reshape((3, 2)).reshape((-1,)).reshape((2, 3)) + x,
    "stacks": lambda x, h: pt.stack([x.sum(axis=0), h[0]]),
    "broadcast": lambda x, h: pt.tanh(h * x.sum(axis=0)) + pt.ones_like(x) * x[0, 1],
    "remainders": lambda x, h: pt.mod(x, 0.7) + pt.floor(h) + pt.round(x),
    "integers": lambda x, h: 0.1 * h + pt.cast(pt.cast(x * 10, "int32") // 3, "float64"),
    "outer": lambda x, h: pt.outer(x[0, :2], h[1]) + 0.1 * h,
    "inner": lambda x, h: pt.tanh(h * pt.dot(x[0], h[1])),
    "matrix and vector": lambda x, h: pt.tanh(h + pt.dot(x, h[0])[:, None]),
}


@pytest.mark.parametrize("name", STEPS)
def test_operations_of_a_step(name):
    x, start = pt.dtensor3("x"), pt.dmatrix("start")
    (y,) = scan(STEPS[name], sequences=[x], outputs_info=[start])
    check([x, start], [y], [numbers(5, 2, 3), numbers(2, 3, seed=1)])


def test_rows_by_index_forward_and_backward():
    rows, table = pt.lmatrix("rows"), pt.dmatrix("table")
    (y,) = scan(
        lambda row, h, table: pt.tanh(table[row] + h),
        sequences=[rows],
        outputs_info=[pt.zeros((2, 3))],
        non_sequences=[table],
    )
    values = [np.array([[0, 3], [1, 1], [-1, 2]]), numbers(4, 3)]
    native = check([rows, table], [y, pytensor.grad(y.sum(), table)], values)
    with pytest.raises(IndexError, match="out of bounds"):
        native(np.array([[0, 4]]), values[1])
    native(*values)


def test_one_row_by_a_number():
    rows, table = pt.lvector("rows"), pt.dmatrix("table")
    (y,) = scan(
        lambda row, h, table: 0.5 * h + table[row],
        sequences=[rows],
        outputs_info=[pt.zeros(3)],
        non_sequences=[table],
    )
    native = check([rows, table], [y], [np.array([0, 3, -2]), numbers(4, 3)])
    with pytest.raises(IndexError, match="out of bounds"):
        native(np.array([0, -5]), numbers(4, 3))


def test_a_shape_mismatch_is_an_error_and_the_function_goes_on():
    x, start, w = pt.dmatrix("x"), pt.dvector("start"), pt.dmatrix("w")
    (y,) = scan(
        lambda x, h, w: pt.tanh(x + pt.dot(h, w)),
        sequences=[x],
        outputs_info=[start],
        non_sequences=[w],
    )
    good = [numbers(4, 3), numbers(3), numbers(3, 3)]
    native = check([x, start, w], [y], good)
    expected = native(*good)
    for bad in (
        [good[0][:, :2], *good[1:]],
        [*good[:2], numbers(2, 3)],
        [*good[:2], numbers(3, 2)],
    ):
        with pytest.raises(ValueError):
            native(*bad)
        same(native(*good), expected)


def test_arguments_are_not_changed():
    x, start = pt.dmatrix("x"), pt.dvector("start")
    (y,) = scan(lambda x, h: x - h, sequences=[x], outputs_info=[start])
    native = check([x, start], [y, y[-1]], [numbers(4, 3), numbers(3)])
    values = [numbers(4, 3), numbers(3)]
    first = native(*values)
    kept = [array.copy() for array in (*values, *first)]
    native(numbers(4, 3, seed=5), numbers(3, seed=6))
    same([*values, *first], kept)


def test_denormals_are_zero_inside_and_the_mode_is_restored():
    x = pt.dvector("x")
    (y,) = scan(lambda x, h: h * 1e-160 + x, sequences=[x], outputs_info=[pt.constant(1e-160)])
    native = pytensor.function([x], y, mode=native_mode())
    assert report(native).loops[0].reason is None
    assert native(np.zeros(3))[0] == 0
    assert np.float64(1e-160) * np.float64(1e-160) > 0


def test_what_has_no_code_runs_by_pytensor_and_says_why():
    x = pt.dtensor3("x")
    (y,) = scan(lambda x, h: pt.linalg.pinv(x) + h, sequences=[x], outputs_info=[pt.zeros((2, 2))])
    function = pytensor.function([x], y, mode=native_mode())
    (record,) = report(function).loops
    assert "MatrixPinv" in record.reason
    assert "MatrixPinv" in str(record) and "MatrixPinv" not in source(function)
    value = numbers(3, 2, 2)
    np.testing.assert_allclose(function(value), np.cumsum(np.linalg.pinv(value), axis=0))


def test_random_draws_run_by_pytensor():
    random = RandomStream(1)
    y, _ = pytensor.scan(
        lambda h: h + random.normal(), outputs_info=[zero()], n_steps=4, return_updates=True
    )
    function = pytensor.function([], y, mode=native_mode(), updates=random.updates())
    assert "random" in report(function).loops[0].reason.lower()
    assert function().shape == (4,)


def test_report_and_source():
    x = pt.dvector("prices")
    (y,) = scan(lambda x, h: h + x, sequences=[x], outputs_info=[zero()])
    function = pytensor.function([x], y, mode=mode)
    assert [str(record) for record in report(function).loops] == ["scan_fn: native"]
    assert "prices" in source(function) and "for (; step < steps; step++)" in source(function)
    np.testing.assert_allclose(function([1.0, 2.0, 4.0]), [1, 3, 7])
    with pytest.raises(TypeError, match="not with the native engine"):
        report(pytensor.function([x], y, mode="FAST_COMPILE"))


def test_the_mode_of_that_name():
    x = theano.tensor.dvector("x")
    y, _ = theano.scan(lambda x, h: h + x, sequences=[x], outputs_info=[zero()])
    function = theano.function([x], y, mode="NATIVE")
    assert [record.reason for record in report(function).loops] == [None]
    np.testing.assert_allclose(function([1.0, 2.0, 4.0]), [1, 3, 7])
