"""Connectionist temporal classification by every engine, against sums over all paths."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.native.runtime import runtime_calls
from theano.tensor.nnet.ctc import (
    ConnectionistTemporalClassification,
    ctc,
    ctc_available,
)

ENGINES = ["FAST_RUN", "FAST_COMPILE", "XLA"]


def cost_of_all_paths(activations, labels):
    """The negative logarithm of the sum of the probabilities of all paths that give the labels."""
    probabilities = np.exp(activations)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    steps, classes = activations.shape
    total = 0.0
    for path in itertools.product(range(classes), repeat=steps):
        without_repetitions = [k for k, _ in itertools.groupby(path)]
        if [k for k in without_repetitions if k] == labels:
            total += np.prod([probabilities[t, k] for t, k in enumerate(path)])
    # as Theano's library has it where there is none
    return -np.log(total) if total > 0 else 0.0


def costs(activations, labels, lengths):
    rows = [[label for label in row if label >= 0] for row in labels.tolist()]
    return np.array(
        [cost_of_all_paths(activations[:n, k], rows[k]) if n else 0 for k, n in enumerate(lengths)]
    )


def drawn(seed):
    """Activations, labels with negative ones among them, and how many steps count."""
    rng = np.random.default_rng(seed)
    steps, sequences, classes, room = (int(n) for n in rng.integers((1, 1, 2, 0), (6, 4, 5, 4)))
    activations = 3 * rng.normal(size=(steps, sequences, classes))
    labels = rng.integers(1, classes, size=(sequences, room)).astype("int32")
    labels[rng.uniform(size=labels.shape) < 0.3] = -1
    lengths = rng.integers(0, steps + 1, size=sequences).astype("int32")
    return activations, labels, lengths, rng.normal(size=sequences)


def weighted(mode, dtype="float64"):
    """A function of the costs, and the gradient of a weighted sum of them."""
    x, labels, lengths = T.TensorType(dtype, (None,) * 3)("x"), T.imatrix(), T.ivector()
    weights = T.TensorType(dtype, (None,))("weights")
    cost = ctc(x, labels, lengths)
    gradient = theano.grad((cost * weights).sum(), x)
    inputs = [x, labels, lengths, weights]
    return theano.function(inputs, [cost, gradient], mode=mode)


@pytest.mark.parametrize("engine", ENGINES)
def test_against_all_paths(engine):
    if engine == "XLA":
        pytest.importorskip("jax")
    function = weighted(engine)
    if engine == "FAST_RUN":
        assert "by PyTensor" not in str(theano.link.native.report(function))
    # each length is an XLA compilation
    for seed in range(4 if engine == "XLA" else 25):
        activations, labels, lengths, weights = drawn(seed)
        cost, gradient = function(activations, labels, lengths, weights)
        np.testing.assert_allclose(cost, costs(activations, labels, lengths), 1e-9, 1e-12)
        along = np.random.default_rng(seed).normal(size=activations.shape)
        away = [costs(activations + h * along, labels, lengths) for h in (1e-4, -1e-4)]
        slope = ((away[0] - away[1]) * weights).sum() / 2e-4
        np.testing.assert_allclose((gradient * along).sum(), slope, 1e-5, 1e-6)


def test_long_sequences_agree():
    rng = np.random.default_rng(0)
    activations = 40 * rng.normal(size=(60, 5, 300))
    labels = rng.integers(1, 300, size=(5, 21)).astype("int32")
    labels[1, 3:] = -1
    labels[2] = -1
    labels[3, 1:] = labels[3, :-1]
    lengths = np.array([60, 23, 8, 60, 20], "int32")
    weights = rng.normal(size=5)
    expected = weighted("FAST_COMPILE")(activations, labels, lengths, weights)
    assert expected[0][4] == 0 and not expected[1][:, 4].any()
    for ours, theirs in zip(
        weighted("FAST_RUN")(activations, labels, lengths, weights), expected, strict=True
    ):
        np.testing.assert_allclose(ours, theirs, 1e-9, 1e-12)
    single = weighted("FAST_RUN", "float32")(
        activations.astype("float32"), labels, lengths, weights.astype("float32")
    )
    for ours, theirs in zip(single, expected, strict=True):
        assert ours.dtype == "float32"
        np.testing.assert_allclose(ours, theirs, 2e-5, 2e-5)


@pytest.mark.parametrize("engine", ENGINES)
def test_in_a_loop(engine):
    if engine == "XLA":
        pytest.importorskip("jax")
    x, labels, lengths = T.tensor4(), T.imatrix(), T.ivector()
    summed, _ = theano.scan(
        lambda a, labels, lengths: ctc(a, labels, lengths).sum(),
        sequences=x,
        non_sequences=[labels, lengths],
    )
    outputs = [summed, theano.grad((summed**2).sum(), x)]
    function = theano.function([x, labels, lengths], outputs, mode=engine)
    activations, row, length, _ = drawn(7)
    both = np.stack([activations, 0.5 * activations])
    found = function(both, row, length)
    apart = [weighted("FAST_COMPILE")(a, row, length, np.ones(len(length))) for a in both]
    sums = np.array([cost.sum() for cost, _ in apart])
    np.testing.assert_allclose(found[0], sums, 1e-9)
    slopes = [2 * total * slope for total, (_, slope) in zip(sums, apart, strict=True)]
    np.testing.assert_allclose(found[1], slopes, 1e-9, 1e-12)


def test_gradients_that_nobody_uses_are_not_computed():
    x, labels, lengths = T.ftensor3(), T.imatrix(), T.ivector()
    cost = ctc(x, labels, lengths)
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        for outputs, wanted in (([cost], False), ([cost, theano.grad(cost.sum(), x)], True)):
            nodes = theano.function(
                [x, labels, lengths], outputs, mode=mode
            ).maker.fgraph.toposort()
            operators = [
                n.op for n in nodes if isinstance(n.op, ConnectionistTemporalClassification)
            ]
            assert [operator.compute_grad for operator in operators] == [wanted]
    # the gradient of an operator without it
    alone = ConnectionistTemporalClassification(compute_grad=False)(x, labels, lengths)
    gradient = theano.function([x, labels, lengths], theano.grad(alone.sum(), x))
    activations, row, length, _ = drawn(3)
    activations = activations.astype("float32")
    expected = weighted("FAST_RUN", "float32")(
        activations, row, length, np.ones(len(length), "float32")
    )
    np.testing.assert_array_equal(gradient(activations, row, length), expected[1])


def test_the_same_bits_on_any_number_of_threads(any_work):
    rng = np.random.default_rng(1)
    values = [
        rng.normal(size=(12, 7, 9)).astype("float32"),
        rng.integers(1, 9, size=(7, 4)).astype("int32"),
        rng.integers(6, 13, size=7).astype("int32"),
        rng.normal(size=7).astype("float32"),
    ]
    function = weighted("FAST_RUN", "float32")
    results = []
    for count in (1, 2, 3):
        runtime_calls.set_threads(count)
        results.append([np.array(result) for result in function(*values)])
    for other in results[1:]:
        for ours, theirs in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_wrong_in_a_call(engine):
    if engine == "XLA":
        pytest.importorskip("jax")
    function = weighted(engine)
    x = np.zeros((3, 2, 4))

    def call(labels, lengths):
        function(x, np.array(labels, "int32"), np.array(lengths, "int32"), np.ones(len(lengths)))

    call([[1], [3]], [3, 0])
    for labels, lengths, text in (
        ([[1], [4]], [3, 3], "labels below the number of classes"),
        ([[1], [2]], [3, 4], "input_lengths between 0 and the number of steps"),
        ([[1], [2]], [-1, 3], "input_lengths between 0 and the number of steps"),
        ([[1]], [3, 3], "as many sequences"),
    ):
        with pytest.raises(ValueError, match=text):
            call(labels, lengths)


def test_what_is_wrong_when_a_function_is_made():
    x, labels, lengths = T.ftensor3(), T.imatrix(), T.ivector()
    assert ctc_available()
    for operands, kind, text in (
        ((x.astype("float16"), labels, lengths), TypeError, "activations must be float32"),
        ((x, labels.astype("int64"), lengths), TypeError, "labels must be int32"),
        ((x, labels, lengths.astype("float32")), TypeError, "input_lengths must be int32"),
        ((x[0], labels, lengths), ValueError, "activations must have 3 dimensions"),
        ((x, labels[0], lengths), ValueError, "labels must have 2 dimensions"),
        ((x, labels, lengths[0]), ValueError, "input_lengths must have 1 dimensions"),
    ):
        with pytest.raises(kind, match=text):
            ctc(*operands)
