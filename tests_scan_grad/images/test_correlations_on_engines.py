"""Convolutions of any sizes and options agree with plain loops, on each engine."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import printed_by
from tests_scan_grad.images.plain_correlations import random_problem
from theano.tensor.nnet import abstract_conv

pytest.importorskip("jax")

CONVOLUTIONS = {2: abstract_conv.conv2d, 3: abstract_conv.conv3d}
KINDS = [(2, False), (3, False), (2, True)]


def turned(filters, rank):
    return filters[(..., *(slice(None, None, -1),) * rank)]


def compiled(inputs, outputs, mode):
    return theano.function(inputs, outputs, mode=mode, on_unused_input="ignore")


def value_and_gradients(problem, flip):
    """The variables of a problem, and its result and gradients for a given gradient of the result."""
    shapes = (problem.image, problem.filters, problem.result)
    x, w, g = (T.tensor(dtype="float64", shape=(None,) * len(shape)) for shape in shapes)
    result = CONVOLUTIONS[problem.rank](x, w, filter_flip=flip, **problem.options)
    gradients = theano.grad(None, [x, w], known_grads={result: g})
    return [x, w, g], [result, *gradients]


def expected_of(problem, flip, image, filters, result):
    """The same by plain loops."""
    rank = problem.rank
    kernels = turned(filters, rank) if flip else filters
    by_filters = problem.evaluated("weights", image=image, result=result)
    return [
        problem.evaluated("forward", image=image, filters=kernels),
        problem.evaluated("inputs", filters=kernels, result=result),
        turned(by_filters, rank) if flip else by_filters,
    ]


def check(problem, flip, rng, mode):
    values = problem.drawn(rng)
    inputs, outputs = value_and_gradients(problem, flip)
    found = compiled(inputs, outputs, mode)(*values.values())
    for ours, theirs in zip(found, expected_of(problem, flip, **values), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "XLA"])
@pytest.mark.parametrize("rank, unshared", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_generated_convolutions(rank, unshared, seed, mode):
    rng = np.random.default_rng([7, seed, rank])
    check(random_problem(rng, rank, unshared), bool(seed % 2), rng, mode)


@pytest.mark.heavy
@pytest.mark.parametrize("mode", ["FAST_RUN", "XLA"])
@pytest.mark.parametrize("rank, unshared", KINDS)
@pytest.mark.parametrize("seed", range(40))
def test_many_generated_convolutions(rank, unshared, seed, mode):
    rng = np.random.default_rng([8, seed, rank])
    check(random_problem(rng, rank, unshared), bool(seed % 2), rng, mode)


@pytest.mark.parametrize("mode", ["FAST_RUN", "XLA"])
@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("direction", ["forward", "weights", "inputs"])
def test_gradients_by_finite_differences(rank, direction, mode):
    rng = np.random.default_rng([9, rank])
    problem = random_problem(rng, rank)
    values = problem.drawn(rng)
    kinds = abstract_conv.AbstractConv2d.directions if rank == 2 else None
    kinds = kinds or abstract_conv.AbstractConv3d.directions
    operator = kinds[direction](**problem.options)
    names = {"forward": ("image", "filters"), "weights": ("image", "result")}
    operands = names.get(direction, ("filters", "result"))
    lengths = {"weights": problem.filters, "inputs": problem.image}.get(direction)
    shape = [] if lengths is None else [lengths[-rank:]]
    theano.gradient.verify_grad(
        lambda *variables: operator(*variables, *shape),
        [values[name] for name in operands],
        rng=rng,
        mode=mode,
    )


@pytest.mark.parametrize("mode", ["FAST_RUN", "XLA"])
def test_convolutions_in_loops(mode):
    rng = np.random.default_rng(10)
    problem = random_problem(rng, 2)
    steps = 3
    x, w, g = T.tensor5("x"), T.tensor4("w"), T.tensor5("g")
    x, w, g = (T.TensorType("float64", (False,) * n)() for n in (5, 4, 5))
    results, _ = theano.scan(
        lambda image, kernels: T.nnet.conv2d(image, kernels, **problem.options), x, None, w
    )
    gradients = theano.grad(None, [x, w], known_grads={results: g})
    drawn = [problem.drawn(rng) for _ in range(steps)]
    filters = drawn[0]["filters"]
    images, topgrads = (np.stack([one[name] for one in drawn]) for name in ("image", "result"))
    found = compiled([x, w, g], [results, *gradients], mode)(images, filters, topgrads)
    each = [
        expected_of(problem, True, image, filters, topgrad)
        for image, topgrad in zip(images, topgrads, strict=True)
    ]
    np.testing.assert_allclose(found[0], [one[0] for one in each], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found[1], [one[1] for one in each], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found[2], sum(one[2] for one in each), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mode", ["FAST_RUN", "XLA"])
def test_no_images_and_no_channels(mode):
    x, w = T.dtensor4(), T.dtensor4()
    result = T.nnet.conv2d(x, w, border_mode="half")
    function = compiled([x, w], [result, *theano.grad(result.sum(), [x, w])], mode)
    for image, filters in (((0, 2, 5, 5), (3, 2, 3, 3)), ((2, 0, 5, 5), (3, 0, 3, 3))):
        y, by_image, by_filters = function(np.ones(image), np.ones(filters))
        assert not y.any() and y.shape == (image[0], 3, 5, 5)
        assert by_image.shape == image
        assert not by_filters.any() and by_filters.shape == filters


def test_xla_traces_all_of_it():
    x, w = T.dtensor4(), T.dtensor4()
    result = T.nnet.conv2d(x, w, subsample=(2, 1))
    function = compiled([x, w], theano.grad((result**2).sum(), [x, w]), "XLA")
    function(np.ones((1, 2, 6, 6)), np.ones((3, 2, 3, 3)))
    assert not function.vm.plan.reasons


@pytest.mark.parametrize("mode", ["FAST_RUN", "XLA"])
def test_shapes_that_do_not_fit_name_the_operation_and_the_line(mode):
    x, w = T.dtensor4("x"), T.dtensor4("w")
    function = compiled([x, w], T.nnet.conv2d(x, w), mode)
    message = "CorrMM: expected 3 in dimension 1 of image, got 2"
    with pytest.raises(ValueError, match=message) as raised:
        function(np.ones((1, 2, 5, 5)), np.ones((4, 3, 2, 2)))
    assert "test_correlations_on_engines.py" in str(raised.value)
    with pytest.raises(ValueError, match="a padded length of at least 7.*dimension 3 of image"):
        function(np.ones((1, 3, 7, 5)), np.ones((4, 3, 2, 7)))


# jaxlib 0.12 ended the process on it
NO_BORDER_AND_STEPS_AS_LONG_AS_FILTERS = """
import numpy as np
import theano
import theano.tensor as T
from theano.tensor.nnet.corr import CorrMM_gradInputs

rng = np.random.default_rng(0)
for unshared in (False, True):
    filters = rng.normal(size=(8, 3, 3, 1, 4, 2) if unshared else (8, 1, 4, 2))
    topgrad = rng.normal(size=(3, 8, 3, 3))
    w = T.tensor(dtype="float64", shape=(None,) * filters.ndim)
    gradient = CorrMM_gradInputs("full", (3, 2), unshared=unshared)
    for filters_of_graph, given in ((w, [filters]), (T.constant(filters), [])):
        result = gradient(filters_of_graph, topgrad, (T.constant(4), T.constant(4)))
        inputs = [w] if given else []
        found, expected = (
            theano.function(inputs, result, mode=mode)(*given) for mode in ("XLA", "FAST_COMPILE")
        )
        print(found.shape, np.allclose(found, expected, 1e-9, 1e-9))
"""


def test_steps_as_long_as_filters_and_no_border():
    lines = printed_by(NO_BORDER_AND_STEPS_AS_LONG_AS_FILTERS)
    assert lines == ["(3, 1, 4, 4) True"] * 4
