"""Correlations leave loops: of all steps at once, their gradients by the filters as one sum."""

from collections import Counter

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.images.plain_correlations import random_problem
from tests_scan_grad.loop_counts import loops, python_mode, theano_scan
from tests_scan_grad.networks import convolutional_lstm
from theano.scan_module import scan_report, until
from theano.tensor.nnet import abstract_conv
from theano.tensor.nnet.correlation.filtering import Filtering

CONVOLUTIONS = {2: abstract_conv.conv2d, 3: abstract_conv.conv3d}
KINDS = [(2, False), (3, False), (2, True)]
STEPS, KEPT = 3, 0.5


def correlations(graph):
    """Count a graph's correlations of each direction, without those in loops."""
    return Counter(n.op.direction for n in graph.toposort() if isinstance(n.op, Filtering))


def in_loops(function):
    """The same of the step of each loop of a compiled function."""
    return [correlations(node.op.fgraph) for node in loops(function)]


def leaky_sum(problem, flip, x, w, start, **options):
    """The sum over the steps of correlations, of which each step keeps a part."""

    def step(image, total, filters):
        given = problem.options | options
        found = CONVOLUTIONS[problem.rank](image, filters, filter_flip=flip, **given)
        return KEPT * total + found

    totals, _ = theano.scan(step, sequences=x, outputs_info=start, non_sequences=w, name="leaky")
    return totals[-1]


def symbols(*shapes, dtype="float64"):
    return [T.tensor(dtype=dtype, shape=(None,) * len(shape)) for shape in shapes]


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("rank, unshared", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_generated_sums_of_correlations(rank, unshared, seed, flip):
    rng = np.random.default_rng([11, seed, rank])
    problem = random_problem(rng, rank, unshared)
    drawn = problem.drawn(rng)
    images = rng.normal(size=(STEPS, *problem.image))
    x, w, g = symbols(images.shape, problem.filters, problem.result)
    total = leaky_sum(problem, flip, x, w, T.zeros_like(g))
    results = [total, *theano.grad((total * g).sum(), [x, w])]
    weights = KEPT ** np.arange(STEPS)[::-1]
    turn = (..., *(slice(None, None, -1 if flip else 1),) * rank)
    filters = drawn["filters"][turn]
    expected = [
        sum(
            weight * problem.evaluated("forward", image=image, filters=filters)
            for weight, image in zip(weights, images, strict=True)
        ),
        np.stack(
            [
                weight * problem.evaluated("inputs", filters=filters, result=drawn["result"])
                for weight in weights
            ]
        ),
        sum(
            weight * problem.evaluated("weights", image=image, result=drawn["result"])
            for weight, image in zip(weights, images, strict=True)
        )[turn],
    ]
    function = theano.function([x, w, g], results)
    for found, right in zip(
        function(images, *map(drawn.get, ("filters", "result"))), expected, strict=True
    ):
        np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-9)
    assert in_loops(function) == [Counter()] * len(loops(function))
    assert correlations(function.maker.fgraph) == Counter(forward=1, inputs=1, weights=1)


def compiled_lstm(mode=None):
    network = convolutional_lstm(theano_scan)
    results = [network.cost, *theano.grad(network.cost, network.weights)]
    return network, theano.function(network.inputs, results, mode=mode or python_mode())


def test_a_convolutional_lstm_keeps_what_reads_the_state():
    """Of the forward step, the correlation with the state; of the backward step, its gradient."""
    _, function = compiled_lstm()
    assert in_loops(function) == [Counter(forward=1), Counter(inputs=1)]
    assert correlations(function.maker.fgraph) == Counter(forward=1, weights=2)
    report = str(scan_report(function))
    assert "correlation abstractConv2d(x[t], W): one correlation before the loop" in report
    pushed = [
        line for line in report.splitlines() if "sum over the steps of abstractConv2d" in line
    ]
    assert len(pushed) == 2
    assert all(line.endswith("computed once outside the loop") for line in pushed)


@pytest.mark.parametrize("memory", [0.0, 0.01])
def test_a_convolutional_lstm_in_blocks_of_steps_and_without(memory):
    with theano.config.change_flags(scan__push_out_memory=memory):
        network, function = compiled_lstm()
        expected = function(*network.values)
        _, function = compiled_lstm("FAST_RUN")
        for found, right in zip(function(*network.values), expected, strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-12)


def test_the_gradient_of_a_convolutional_lstm():
    network, function = compiled_lstm("FAST_RUN")
    gradients = function(*network.values)[1:]
    rng = np.random.default_rng(3)
    for weight, gradient in zip(network.weights, gradients, strict=True):
        place = network.inputs.index(weight)
        direction = rng.normal(size=gradient.shape)
        costs = []
        for sign in (1, -1):
            moved = [*network.values]
            moved[place] = moved[place] + sign * 1e-5 * direction
            costs.append(function(*moved)[0])
        slope = (costs[0] - costs[1]) / 2e-5
        np.testing.assert_allclose((gradient * direction).sum(), slope, rtol=1e-6)


def test_images_whose_shape_is_told():
    """One step's images have it, not those of all steps."""
    rng = np.random.default_rng(5)
    problem = random_problem(rng, 2)
    images = rng.normal(size=(STEPS, *problem.image))
    x, w, start = symbols(images.shape, problem.filters, problem.result)
    told = {"input_shape": problem.image, "filter_shape": problem.filters}
    with theano.config.change_flags(conv__assert_shape=True):
        total = leaky_sum(problem, False, x, w, start, **told)
        results = [total, *theano.grad((total**2).sum(), [x, w])]
        function = theano.function([x, w, start], results)
    plain = leaky_sum(problem, False, x, w, start)
    expected = theano.function([x, w, start], [plain, *theano.grad((plain**2).sum(), [x, w])])
    given = images, *map(problem.drawn(rng).get, ("filters", "result"))
    for found, right in zip(function(*given), expected(*given), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-9)


def test_a_loop_that_may_stop_correlates_in_its_steps():
    x, w, start = symbols((4, 1, 1, 5, 5), (1, 1, 3, 3), (1, 1, 3, 3))

    def step(image, total, filters):
        total = total + T.nnet.conv2d(image, filters)
        return total, until(total.sum() > 1e9)

    totals, _ = theano.scan(step, sequences=x, outputs_info=start, non_sequences=w, name="stopping")
    function = theano.function(
        [x, w, start], [totals[-1], theano.grad(totals[-1].sum(), w)], mode=python_mode()
    )
    assert in_loops(function)[0] == Counter(forward=1)
    assert sum(in_loops(function)[1:], Counter()) == Counter()
    assert "the loop may stop early" in str(scan_report(function))
    images, filters = np.random.default_rng(1).normal(size=(4, 1, 1, 5, 5)), np.ones((1, 1, 3, 3))
    windows = np.lib.stride_tricks.sliding_window_view(images.sum(axis=(0, 1, 2)), (3, 3))
    total, gradient = function(images, filters, np.zeros((1, 1, 3, 3)))
    np.testing.assert_allclose(total[0, 0], windows.sum(axis=(2, 3)), rtol=1e-9)
    np.testing.assert_allclose(gradient[0, 0, ::-1, ::-1], windows.sum(axis=(0, 1)), rtol=1e-9)


def test_filters_that_change_are_correlated_in_the_loop():
    x, w = symbols((4, 2, 1, 5, 5), (1, 1, 3, 3))

    def step(image, filters):
        return filters * T.nnet.conv2d(image, filters).mean()

    all_filters, _ = theano.scan(step, sequences=x, outputs_info=w, name="changing")
    function = theano.function([x, w], all_filters[-1], mode=python_mode())
    assert in_loops(function) == [Counter(forward=1)]
