"""Correlations of images with filters and their gradients: by the engine as by their ``perform``."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.native.lowering.evaluations import EVALUATORS, python_function
from tests_scan_grad.native.lowering.lowering_checks import check, numbers, of
from tests_scan_grad.native.runtime import runtime_calls
from theano.link.native import report
from theano.tensor.nnet.correlation.operators import Corr3dMM, CorrMM

# name: the operator, and shapes of images and filters
CONFIGURATIONS = {
    "valid": (CorrMM(), (2, 3, 7, 8), (4, 3, 3, 2)),
    "half": (CorrMM("half"), (2, 3, 7, 8), (4, 3, 3, 5)),
    "full": (CorrMM("full"), (2, 2, 4, 5), (3, 2, 3, 2)),
    "borders": (CorrMM((1, 2)), (2, 2, 4, 5), (3, 2, 3, 2)),
    "borders of two widths": (CorrMM(((1, 0), (3, 2))), (2, 2, 4, 5), (3, 2, 3, 2)),
    "steps": (CorrMM(subsample=(2, 3)), (2, 2, 8, 9), (3, 2, 3, 2)),
    "steps with borders": (CorrMM("half", subsample=(2, 2)), (2, 2, 8, 9), (3, 2, 3, 3)),
    "dilated": (CorrMM((1, 0), filter_dilation=(2, 3)), (2, 2, 8, 9), (3, 2, 3, 2)),
    "all of it": (CorrMM("full", (2, 3), (3, 2), 2), (2, 4, 8, 9), (6, 2, 2, 3)),
    "groups": (CorrMM("half", num_groups=3), (2, 6, 5, 6), (3, 2, 3, 3)),
    "each channel": (CorrMM("half", num_groups=4), (2, 4, 5, 6), (4, 1, 3, 3)),
    "points": (CorrMM(), (2, 3, 5, 6), (4, 3, 1, 1)),
    "whole images": (CorrMM(), (2, 3, 5, 6), (4, 3, 5, 6)),
    "no images": (CorrMM(), (0, 3, 5, 6), (4, 3, 2, 2)),
    "no channels": (CorrMM(), (2, 0, 5, 6), (4, 0, 2, 2)),
    "no filters": (CorrMM(), (2, 3, 5, 6), (0, 3, 2, 2)),
    "solid": (Corr3dMM((1, 0, 2)), (2, 3, 4, 5, 6), (2, 3, 2, 3, 2)),
    "solid with all of it": (
        Corr3dMM("full", (2, 1, 3), (1, 2, 2), num_groups=2),
        (2, 4, 4, 5, 6),
        (4, 2, 2, 2, 3),
    ),
}


def quarters(*shape, dtype="float64"):
    """Numbers whose sums are exact, in any order."""
    return (np.round(4 * numbers(*shape)) / 4).astype(dtype)


def sample(name, dtype="float64"):
    """The operator, an image and filters, and what its result is multiplied with."""
    op, image, filters = CONFIGURATIONS[name]
    values = [quarters(*shape, dtype=dtype) for shape in (image, filters)]
    variables = [of(*value.shape, dtype=dtype) for value in values]
    top = quarters(*theano.function(variables, op(*variables).shape)(*values), dtype=dtype)
    return op, [*variables, of(*top.shape, dtype=dtype)], [*values, top]


def all_three(op, image, filters, top):
    """The correlation and both of its gradients."""
    lengths = image.shape[2:], filters.shape[2:]
    return [
        op(image, filters),
        op.sibling("inputs")(filters, top, lengths[0]),
        op.sibling("weights")(image, top, lengths[1]),
    ]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_correlations(name, dtype):
    op, variables, values = sample(name, dtype)
    check(variables, all_three(op, *variables), values)


@pytest.mark.parametrize("name", ["valid", "groups", "steps", "solid with all of it"])
def test_views_of_other_arrays(name):
    op, (image, filters, top), values = sample(name)
    turned = filters[..., ::-1, ::-1]
    outputs = all_three(op, image[::-1], turned, top.swapaxes(-1, -2).copy().swapaxes(-1, -2))
    check([image, filters, top], [*outputs, op(image * 2, turned.copy())], values)


@pytest.mark.parametrize("name", ["valid", "full", "solid"])
def test_lengths_that_follow_from_the_operands(name):
    op, (image, filters, top), values = sample(name)
    outputs = [op.sibling("inputs")(filters, top), op.sibling("weights")(image, top)]
    check([image, filters, top], outputs, values)


def drawn(random):
    """An operator of two or three dimensions and operands whose shapes fit it."""
    rank = int(random.integers(2, 4))
    sizes = random.integers(1, 5, rank)
    steps, dilations = random.integers(1, 4, (2, rank))
    extents = (sizes - 1) * dilations + 1
    pads = [tuple(map(int, random.integers(0, 4, 2))) for _ in range(rank)]
    mode = ("valid", "half", "full", tuple(pads))[random.integers(4)]
    lengths = extents + random.integers(0, 7, rank)
    groups, channels, filters = random.integers(1, 4, 3)
    options = {
        "border_mode": mode,
        "subsample": tuple(map(int, steps)),
        "filter_dilation": tuple(map(int, dilations)),
        "num_groups": int(groups),
    }
    op = (CorrMM if rank == 2 else Corr3dMM)(**options)
    image = (int(random.integers(1, 4)), groups * channels, *lengths)
    return op, image, (groups * filters, channels, *sizes)


@pytest.mark.parametrize("seed", range(12))
def test_generated(seed):
    op, image, filters = drawn(np.random.default_rng(seed))
    CONFIGURATIONS["drawn"] = op, image, filters
    _, variables, values = sample("drawn")
    del CONFIGURATIONS["drawn"]
    check(variables, all_three(op, *variables), values)


@pytest.mark.parametrize("where", ["function", "loop"])
@pytest.mark.parametrize("shape", [(5, 6, 12, 11), (1, 6, 30, 29)], ids=["images", "one image"])
@pytest.mark.parametrize("options", [{}, {"subsample": (2, 3)}, {"num_groups": 3}], ids=str)
def test_the_same_bits_on_any_number_of_threads(any_work, where, shape, options):
    op = CorrMM("half", **options)
    filters = (30, 6 // options.get("num_groups", 1), 3, 3)
    values = [numbers(*shape, dtype="float32"), numbers(*filters, dtype="float32")]
    image, kernels = (of(*value.shape, dtype="float32") for value in values)
    top = op(image, kernels)
    values.append(numbers(*theano.function([image, kernels], top.shape)(*values), dtype="float32"))
    weighted = of(*values[2].shape, dtype="float32")
    variables = [image, kernels, weighted]
    evaluate = EVALUATORS[where](variables, all_three(op, *variables))
    results = []
    for count in (1, 2, 3):
        runtime_calls.set_threads(count)
        results.append(evaluate(*values))
    for other in results[1:]:
        for ours, theirs in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_a_convolutional_loop_and_its_gradient_are_c_functions(any_work):
    runtime_calls.set_threads(2)
    images, state = T.tensor5("images"), T.tensor4("state")
    w, u = T.tensor4("w"), T.tensor4("u")
    op = CorrMM("half")
    states, _ = theano.scan(
        lambda image, state, w, u: T.tanh(op(image, w) + op(state, u)),
        sequences=images,
        outputs_info=state,
        non_sequences=[w, u],
    )
    outputs = [states, *theano.grad((states**2).sum(), [images, state, w, u])]
    f = theano.function([images, state, w, u], outputs)
    assert not report(f).calls, report(f)
    assert report(f).loops
    values = [
        numbers(4, 2, 3, 6, 7),
        numbers(2, 5, 6, 7),
        0.1 * numbers(5, 3, 3, 3),
        0.1 * numbers(5, 5, 3, 3),
    ]
    expected = python_function([images, state, w, u], outputs)(*values)
    for ours, theirs in zip(f(*values), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


WRONG = {
    "images too small": ((2, 3, 2, 8), (4, 3, 3, 2), "padded length of at least 3"),
    "channels": ((2, 5, 7, 8), (4, 3, 3, 2), "dimension 1 of image"),
    "empty filters": ((2, 3, 7, 8), (4, 3, 0, 2), "at least 1 element"),
}


@pytest.mark.parametrize("name", WRONG)
def test_shapes_that_do_not_fit(name):
    image, filters, message = WRONG[name]
    x, w = of(*image), of(*filters)
    f = theano.function([x, w], CorrMM()(x, w))
    assert f(numbers(2, 3, 7, 8), numbers(4, 3, 3, 2)).shape == (2, 4, 5, 7)
    with pytest.raises(ValueError, match=message):
        f(numbers(*image), numbers(*filters))
    weights = theano.function([x, w], CorrMM().sibling("weights")(x, w, (3, 2)))
    with pytest.raises(ValueError, match="dimension"):
        weights(numbers(2, 3, 7, 8), numbers(2, 4, 6, 7))


def test_filters_in_groups_that_are_not_whole():
    x, w = of(2, 4, 5, 5), of(3, 2, 2, 2)
    f = theano.function([x, w], CorrMM(num_groups=2)(x, w))
    with pytest.raises(ValueError, match="a multiple of 2 groups"):
        f(numbers(2, 4, 5, 5), numbers(3, 2, 2, 2))


def test_what_python_runs():
    x, w = of(2, 3, 4, 4), of(2, 3, 3, 3, 2, 2)
    op = CorrMM(unshared=True)
    f = theano.function([x, w], op(x, w))
    [call] = report(f).calls
    assert "their own filters" in str(call)
    values = numbers(2, 3, 4, 4), numbers(2, 3, 3, 3, 2, 2)
    expected = python_function([x, w], [op(x, w)])(*values)
    np.testing.assert_allclose(f(*values), expected[0], rtol=1e-9)
