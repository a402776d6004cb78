"""A product of what a step joins is the sum of the products of the parts, where one leaves the loop."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.loop_counts import python_mode
from theano.scan_module import scan_report, until

NAME = "SplitJoinedProducts"
MODES = {"native": theano.Mode("native", "fast_run"), "python": python_mode()}
STEPS, ROWS, WIDTH = 4, 3, 2


def values(*shape, dtype="float64", seed=0):
    rng = np.random.default_rng([seed, *shape])
    if dtype.startswith("float"):
        return rng.normal(size=shape).astype(dtype)
    return rng.integers(-100, 100, shape).astype(dtype)


def shared(*shape, **options):
    return theano.shared(values(*shape, **options))


def decisions(function, applied=True):
    """Return what the rewrite did, or refused, and why."""
    return [
        decision.detail
        for loop in scan_report(function).loops
        for decision in loop.decisions
        if decision.rewrite == NAME and decision.applied == applied
    ]


def recurrent(step, inputs, weights, *, start=(ROWS, WIDTH), states=1, **options):
    """The values of a loop's states, and the gradients by its inputs, weights and first states."""
    dtype = inputs[0].type.dtype
    first = [shared(*start, dtype=dtype, seed=9 + k) for k in range(states)]
    outputs, _ = theano.scan(step, inputs, first, weights, **options)
    outputs = outputs if isinstance(outputs, list) else [outputs]
    if not dtype.startswith("float"):
        return outputs
    cost = sum(T.sqr(output).sum() for output in outputs)
    return [*outputs, *T.grad(cost, [*inputs, *weights, *first])]


def joined(axis, *parts):
    return T.concatenate(parts, axis=axis)


def two_states(x, h, c, w):
    p = joined(1, x, h).dot(w)
    c = T.nnet.sigmoid(p[:, :WIDTH]) * c + T.tanh(p[:, WIDTH:])
    return T.tanh(c), c


def rows_below(x, h, w):
    return T.tanh(w.dot(joined(0, x, h)))


def one_in_another(x, h, w, u):
    return T.tanh(joined(1, x, T.tanh(joined(1, x, h).dot(w))).dot(u))


def product_in_a_join(x, h, w, u):
    return T.tanh(joined(1, x, joined(1, x, h).dot(w)).dot(u))


def split_again(x, h, w):
    a, b = T.split(joined(1, x, h).dot(w), [WIDTH, WIDTH], n_splits=2, axis=1)
    return [T.tanh(a), T.sin(b)]


MATRICES, VECTORS = (STEPS, ROWS, WIDTH), (STEPS, WIDTH)

# name -> the step, shapes of sequences and weights, and what else differs
LOOPS = {
    "two": (lambda x, h, w: T.tanh(joined(1, x, h).dot(w)), [MATRICES], [(4, 2)], {}),
    "linear": (lambda x, h, w: joined(1, x, h).dot(w), [MATRICES], [(4, 2)], {}),
    "the state first": (lambda x, h, w: T.tanh(joined(1, h, x).dot(w)), [MATRICES], [(4, 2)], {}),
    "twice the state": (
        lambda x, h, w: T.tanh(joined(1, h, x, h).dot(w)),
        [MATRICES],
        [(6, 2)],
        {},
    ),
    "three": (
        lambda x, y, h, w: T.tanh(joined(1, x, h, y).dot(w)),
        [MATRICES, (STEPS, ROWS, 5)],
        [(9, 2)],
        {},
    ),
    "two states": (two_states, [MATRICES], [(4, 4)], {"states": 2}),
    "rows": (rows_below, [(STEPS, 2, 3)], [(2, 4)], {"start": (2, 3)}),
    "vectors": (
        lambda x, h, w: T.tanh(joined(0, x, h).dot(w)),
        [VECTORS],
        [(4, 2)],
        {"start": (2,)},
    ),
    "a matrix by a vector": (
        lambda x, h, w: T.tanh(w.dot(joined(0, x, h))),
        [VECTORS],
        [(2, 4)],
        {"start": (2,)},
    ),
    "transposed": (
        lambda x, h, w: T.tanh(w.dot(joined(1, x, h).T).T),
        [MATRICES],
        [(2, 4)],
        {},
    ),
    "a broadcast row": (
        lambda x, h, w: T.tanh(joined(1, T.ones((ROWS, 1)) * x, h).dot(w)),
        [VECTORS],
        [(4, 2)],
        {},
    ),
    "an invariant": (
        lambda x, h, w, v: T.tanh(x + joined(1, v, h).dot(w)),
        [MATRICES],
        [(4, 2), (ROWS, WIDTH)],
        {},
    ),
    "one in another": (one_in_another, [MATRICES], [(4, 2), (4, 2)], {}),
    "a product in a join": (product_in_a_join, [MATRICES], [(4, 2), (4, 2)], {}),
    "no columns": (
        lambda x, h, w: T.tanh(joined(1, x, h).dot(w)),
        [(STEPS, ROWS, 0)],
        [(2, 2)],
        {},
    ),
    "no rows": (
        lambda x, h, w: T.tanh(joined(1, x, h).dot(w)),
        [(STEPS, 0, 2)],
        [(4, 2)],
        {"start": (0, 2)},
    ),
    "no steps": (
        lambda x, h, w: T.tanh(joined(1, x, h).dot(w)),
        [(0, ROWS, 2)],
        [(4, 2)],
        {},
    ),
    "one column": (
        lambda x, h, w: T.tanh(joined(1, x[:, :1], h).dot(w)),
        [MATRICES],
        [(3, 2)],
        {},
    ),
    "backwards": (
        lambda x, h, w: T.tanh(joined(1, x, h).dot(w)),
        [MATRICES],
        [(4, 2)],
        {"go_backwards": True},
    ),
    "truncated": (
        lambda x, h, w: T.tanh(joined(1, x, h).dot(w)),
        [MATRICES],
        [(4, 2)],
        {"truncate_gradient": 2},
    ),
}


def compiled_with_and_without(results, mode):
    """The results' function in a mode, and one whose graph is as it was written."""
    with_it = theano.function([], results, mode=MODES[mode])
    return with_it, theano.function([], results, mode=theano.Mode("py", None))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", LOOPS)
def test_values_and_gradients_are_those_of_the_loop_as_written(name, mode):
    step, inputs, weights, options = LOOPS[name]
    inputs = [shared(*shape, seed=k) for k, shape in enumerate(inputs)]
    weights = [shared(*shape, seed=5 + k) for k, shape in enumerate(weights)]
    results = recurrent(step, inputs, weights, **options)
    with_it, without = compiled_with_and_without(results, mode)
    assert "a sum of products of the parts" in decisions(with_it)
    for ours, theirs in zip(with_it(), without(), strict=True):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float32"])
def test_each_dtype(dtype, mode):
    """Products of narrow integers wrap, as do their sums."""
    x, w = shared(*MATRICES, dtype=dtype), shared(4, 2, dtype=dtype)
    results = recurrent(lambda x, h, w: joined(1, x, h).dot(w), [x], [w])
    with_it, without = compiled_with_and_without(results, mode)
    assert decisions(with_it)
    for ours, theirs in zip(with_it(), without(), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-4 if dtype == "float32" else 0)


@pytest.mark.parametrize("mode", MODES)
def test_a_wider_matrix(mode):
    x, w = shared(*MATRICES, dtype="float32"), shared(4, 2)
    results = recurrent(lambda x, h, w: T.tanh(joined(1, x, h).dot(w)).astype("float32"), [x], [w])
    with_it, without = compiled_with_and_without(results, mode)
    assert decisions(with_it)
    for ours, theirs in zip(with_it(), without(), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


def test_a_part_of_an_own_dtype_is_not_split_off():
    x, w = shared(*MATRICES, dtype="float32"), shared(4, 2)
    weighted = lambda x, h, w: T.tanh(joined(1, x, h).dot(w))  # noqa: E731
    states, _ = theano.scan(weighted, x, shared(ROWS, WIDTH), w)
    results = [states, *T.grad(T.sqr(states).sum(), [x, w])]
    with_it, without = compiled_with_and_without(results, "python")
    for ours, theirs in zip(with_it(), without(), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def stops(x, h, w):
    h = T.tanh(joined(1, x, h).dot(w))
    return h, until(T.gt(h.sum(), 1e9))


@pytest.mark.parametrize(
    ("step", "shape", "reason"),
    [
        pytest.param(stops, (4, 2), "the loop may stop early", id="stops"),
        pytest.param(
            lambda x, h, w: T.tanh(x + joined(1, h, T.sin(h)).dot(w)),
            (4, 2),
            "no part of it can be had for all steps before the loop",
            id="states alone",
        ),
        pytest.param(
            lambda x, h, w: T.tanh(joined(1, x, h, x, h, x).dot(w)),
            (10, 2),
            "it would be a sum of 5 products",
            id="five parts",
        ),
        pytest.param(
            lambda x, h, w: T.tanh(joined(1, T.cast(x, "float32"), h).dot(w)),
            (4, 2),
            "the parts have several dtypes",
            id="dtypes",
        ),
    ],
)
def test_why_a_product_stays(step, shape, reason):
    results = recurrent(step, [shared(*MATRICES)], [shared(*shape)])
    with_it, without = compiled_with_and_without(results, "python")
    assert reason in decisions(with_it, applied=False)
    for ours, theirs in zip(with_it(), without(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_parts_whose_lengths_change(mode):
    """The whole has one shape in all steps, and its parts have not."""
    k, x, w = T.lvector("k"), T.matrix("x"), T.matrix("w")
    states, _ = theano.scan(
        lambda k, h, x, w: T.tanh(joined(0, x[:k], h[k:]).dot(w)), k, T.ones((3, 2)), [x, w]
    )
    results = [states, *T.grad(T.sqr(states).sum(), [x, w])]
    given = np.array([0, 1, 3, 2]), values(3, 2), values(2, 2)
    computed = theano.function([k, x, w], results, mode=MODES[mode])(*given)
    expected = theano.function([k, x, w], results, mode=theano.Mode("py", None))(*given)
    for ours, theirs in zip(computed, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rows", [3, 5])
def test_a_matrix_of_other_lengths_is_an_error(rows, mode):
    x, w = shared(*MATRICES), T.matrix("w")
    states, _ = theano.scan(lambda x, h, w: joined(1, x, h).dot(w), x, shared(ROWS, WIDTH), w)
    for results in (states, theano.grad(states.sum(), x), theano.grad(states.sum(), w)):
        function = theano.function([w], results, mode=MODES[mode])
        with pytest.raises((ValueError, AssertionError)):
            function(values(rows, 2))


@pytest.mark.parametrize("mode", MODES)
def test_a_part_of_one_row_is_not_stretched(mode):
    x, w = T.tensor3("x"), shared(4, 2)
    states, _ = theano.scan(lambda x, h, w: joined(1, x, h).dot(w), x, shared(ROWS, WIDTH), w)
    function = theano.function([x], states, mode=MODES[mode])
    with pytest.raises((ValueError, AssertionError)):
        function(values(STEPS, 1, WIDTH))


def test_nothing_joined_is_stored_for_the_gradient():
    """No stack of matrices is as wide as what is joined."""
    x, w, h0 = (
        theano.shared(value, shape=value.shape)
        for value in (values(STEPS, ROWS, 5), values(7, 2), values(ROWS, WIDTH))
    )
    states, _ = theano.scan(lambda x, h, w: T.tanh(joined(1, x, h).dot(w)), x, h0, w)
    function = theano.function([], theano.grad(T.sqr(states).sum(), w), mode=MODES["python"])
    stacks = [
        variable.type.shape
        for node in function.maker.fgraph.apply_nodes
        for variable in (*node.inputs, *node.outputs)
        if getattr(variable.type, "ndim", 0) == 3
    ]
    assert 5 in {shape[-1] for shape in stacks}
    assert 7 not in {shape[-1] for shape in stacks}
