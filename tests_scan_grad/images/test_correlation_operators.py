"""The operators of correlations agree with plain loops, and say what does not fit."""

import pickle

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.images.plain_correlations import random_problem
from theano.tensor.nnet.correlation.operators import (
    Corr3dMM,
    Corr3dMM_gradInputs,
    Corr3dMM_gradWeights,
    CorrMM,
    CorrMM_gradInputs,
    CorrMM_gradWeights,
)

OPERATORS = {
    (2, "forward"): CorrMM,
    (2, "weights"): CorrMM_gradWeights,
    (2, "inputs"): CorrMM_gradInputs,
    (3, "forward"): Corr3dMM,
    (3, "weights"): Corr3dMM_gradWeights,
    (3, "inputs"): Corr3dMM_gradInputs,
}
OPERANDS = {
    "forward": ("image", "filters"),
    "weights": ("image", "result"),
    "inputs": ("filters", "result"),
}
OUTPUTS = {"forward": "result", "weights": "filters", "inputs": "image"}
DIRECTIONS = sorted(OPERANDS)
# without the engines: the operators' own NumPy
IN_NUMPY = theano.compile.mode.Mode(linker="py", optimizer="fast_compile")


def applied(problem, direction, operands, shape=None):
    """The operator of a problem, applied to variables or arrays."""
    operator = OPERATORS[problem.rank, direction](**problem.options)
    return operator(*operands) if shape is None else operator(*operands, shape)


def given_shape(problem, direction):
    """The lengths that the gradients are told."""
    return None if direction == "forward" else getattr(problem, OUTPUTS[direction])[-problem.rank :]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("rank, unshared", [(2, False), (3, False), (2, True)])
@pytest.mark.parametrize("seed", range(8))
def test_values_shapes_and_types(rank, unshared, direction, seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, rank, unshared)
    values = problem.drawn(rng)
    operands = [values[name] for name in OPERANDS[direction]]
    shape = given_shape(problem, direction)
    expected = problem.evaluated(direction, **dict(zip(OPERANDS[direction], operands, strict=True)))
    variables = [T.tensor(dtype="float64", shape=(None,) * v.ndim) for v in operands]
    output = applied(problem, direction, variables, shape)
    function = theano.function(variables, [output, output.shape], mode=IN_NUMPY)
    value, its_shape = function(*operands)
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(its_shape, expected.shape)
    only_shape = theano.function(variables, output.shape, on_unused_input="ignore")
    np.testing.assert_array_equal(only_shape(*operands), expected.shape)
    known = applied(problem, direction, map(T.constant, operands), shape)
    assert known.type.shape == expected.shape


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("rank, unshared", [(2, False), (3, False), (2, True)])
@pytest.mark.parametrize("seed", range(2))
def test_gradients(rank, unshared, direction, seed):
    rng = np.random.default_rng(100 + seed)
    problem = random_problem(rng, rank, unshared)
    values = problem.drawn(rng)
    operands = [values[name] for name in OPERANDS[direction]]
    shape = given_shape(problem, direction)
    theano.gradient.verify_grad(
        lambda *variables: applied(problem, direction, variables, shape),
        operands,
        rng=rng,
        mode=IN_NUMPY,
    )


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_tangents(direction):
    rng = np.random.default_rng(5)
    problem = random_problem(rng, 2)
    values, tangents = problem.drawn(rng), problem.drawn(rng)
    names, shape = OPERANDS[direction], given_shape(problem, direction)
    variables = [T.dtensor4(), T.dtensor4()]
    output = applied(problem, direction, variables, shape)
    found = theano.Rop(output, variables, [tangents[name] for name in names])
    alone = theano.Rop(output, variables[1], tangents[names[1]])
    function = theano.function(variables, [found, alone], mode=IN_NUMPY)
    both, second = function(*(values[name] for name in names))
    terms = [
        problem.evaluated(direction, **{names[0]: first[names[0]], names[1]: other[names[1]]})
        for first, other in ((tangents, values), (values, tangents))
    ]
    np.testing.assert_allclose(both, sum(terms), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(second, terms[1], rtol=1e-9, atol=1e-9)


def test_sizes_are_inferred_where_they_follow():
    image, filters = np.ones((1, 2, 7, 9)), np.ones((3, 2, 3, 2))
    for options in (
        {},
        {"border_mode": "full"},
        {"border_mode": ((1, 2), (0, 3))},
        {"filter_dilation": (2, 3)},
    ):
        topgrad = CorrMM(**options)(image, filters)
        by_filters = CorrMM_gradWeights(**options)(image, topgrad)
        by_image = CorrMM_gradInputs(**options)(filters, topgrad)
        assert by_filters.eval().shape == by_filters.type.shape == filters.shape
        assert by_image.eval().shape == by_image.type.shape == image.shape


def test_options_of_operators():
    operator = CorrMM(border_mode=(1, (0, 2)), subsample=[2, 1], num_groups=2)
    assert operator == CorrMM(((1, 1), (0, 2)), (2, 1), (1, 1), 2)
    assert operator != CorrMM(((1, 1), (0, 2)), (2, 1))
    assert pickle.loads(pickle.dumps(operator)) == operator
    assert operator.borders([3, 5]) == [(1, 1), (0, 2)]
    assert CorrMM("half").borders([3, 6]) == [(1, 1), (3, 3)]
    assert Corr3dMM("full").borders([3, 6, 1]) == [(2, 2), (5, 5), (0, 0)]
    assert (operator.rank, operator.direction) == (2, "forward")
    assert Corr3dMM_gradWeights().unshared is False


@pytest.mark.parametrize(
    "options",
    [
        {"border_mode": "same"},
        {"border_mode": -1},
        {"border_mode": (1, -2)},
        {"border_mode": (1, 1, 1)},
        {"border_mode": ((1, 1, 1), 1)},
        {"border_mode": 1.5},
        {"subsample": (1,)},
        {"subsample": (0, 1)},
        {"filter_dilation": (1, 1, 1)},
        {"num_groups": 0},
    ],
    ids=str,
)
def test_wrong_options(options):
    [name] = options
    with pytest.raises(ValueError, match=f"CorrMM: .*{name}"):
        CorrMM(**options)


def test_wrong_operands():
    x, y = T.dtensor4(), T.dtensor3()
    with pytest.raises(TypeError, match="CorrMM: expected kern of 4 dimensions"):
        CorrMM()(x, y)
    with pytest.raises(TypeError, match="CorrMM_gradInputs: expected topgrad of 4 dimensions"):
        CorrMM_gradInputs()(x, y)
    with pytest.raises(TypeError, match="expected kern of 6 dimensions"):
        CorrMM(unshared=True)(x, x)
    with pytest.raises(ValueError, match="CorrMM_gradWeights: expected shape to be given"):
        CorrMM_gradWeights("half")(x, x)
    with pytest.raises(ValueError, match="CorrMM_gradInputs: expected shape to be given"):
        CorrMM_gradInputs(subsample=(2, 1))(x, x)
    with pytest.raises(TypeError, match="expected integer scalars in shape"):
        CorrMM_gradInputs()(x, x, (T.dscalar(), 3))


@pytest.mark.parametrize(
    "image, filters, topgrad, message",
    [
        ((1, 3, 5, 5), (2, 2, 3, 3), (1, 2, 3, 3), "expected 2 in dimension 1 of image, got 3"),
        ((1, 2, 5, 2), (2, 2, 3, 3), (1, 2, 3, 1), "length of at least 3.*dimension 3 of image"),
        ((1, 2, 5, 5), (2, 2, 3, 0), (1, 2, 3, 3), "at least 1 element.*dimension 3 of filters"),
        ((1, 2, 5, 5), (2, 2, 3, 3), (1, 2, 3, 4), "expected 3 in dimension 3 of result, got 4"),
        ((1, 2, 5, 5), (2, 2, 3, 3), (2, 2, 3, 3), "in dimension 0 of result, got 2"),
        ((1, 2, 5, 5), (2, 2, 3, 3), (1, 4, 3, 3), "expected 2 in dimension 1 of result, got 4"),
    ],
)
def test_shapes_that_do_not_fit(image, filters, topgrad, message):
    x, w, t = T.dtensor4(), T.dtensor4(), T.dtensor4()
    outputs = {
        CorrMM: ((x, w), CorrMM()(x, w)),
        CorrMM_gradWeights: ((x, t), CorrMM_gradWeights()(x, t, filters[2:])),
        CorrMM_gradInputs: ((w, t), CorrMM_gradInputs()(w, t, image[2:])),
    }
    values = {x: np.ones(image), w: np.ones(filters), t: np.ones(topgrad)}
    refused = 0
    for operator, (variables, output) in outputs.items():
        function = theano.function(list(variables), output, mode=IN_NUMPY)
        try:
            function(*(values[variable] for variable in variables))
        except ValueError as error:
            refused += 1
            with pytest.raises(ValueError, match=f"^{operator.__name__}: .*{message}"):
                raise error
    assert refused


def test_groups_that_do_not_divide_the_filters():
    with pytest.raises(ValueError, match="a multiple of 2 groups in dimension 0 of filters, got 3"):
        CorrMM(num_groups=2)(np.ones((1, 4, 5, 5)), np.ones((3, 2, 1, 1))).eval(mode=IN_NUMPY)


def test_windows_that_fit_nowhere_are_an_error_of_the_call():
    output = CorrMM()(np.ones((1, 2, 2, 2)), np.ones((1, 2, 7, 7)))
    with pytest.raises(
        ValueError, match="a padded length of at least 7, the extent of the filters"
    ):
        output.eval(mode=IN_NUMPY)
