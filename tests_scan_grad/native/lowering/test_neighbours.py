"""Windows of images as rows of a matrix, by every engine, against plain loops."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.native.lowering.evaluations import EVALUATORS
from tests_scan_grad.native.lowering.lowering_checks import check, numbers, of
from tests_scan_grad.native.runtime import runtime_calls
from theano.tensor.nnet.neighbours import Images2Neibs, images2neibs
from theano.tensor.nnet.neighbours_operators import Images2NeibsGrad

MODES = ("valid", "half", "full", "wrap_centered", "ignore_borders")


def places(mode, length, size, step):
    """The positions of the elements of each window along a dimension; None next to the image."""
    around = {"half": size // 2, "full": size - 1, "wrap_centered": size // 2}.get(mode, 0)
    starts = range(-around, length if mode == "wrap_centered" else length + around - size + 1, step)
    if mode == "wrap_centered":
        starts = [k - around for k in range(0, length, step)]
    windows = [[start + k for k in range(size)] for start in starts]
    if mode == "wrap_centered":
        return [[k % length for k in window] for window in windows]
    return [[k if 0 <= k < length else None for k in window] for window in windows]


def rows_and_gradient(mode, images, size, step, given):
    """The rows by plain loops, and what `given` next to them adds to each element."""
    batch, channels, height, width = images.shape
    along = [places(mode, n, s, d) for n, s, d in zip((height, width), size, step, strict=True)]
    rows, gradient = [], np.zeros_like(images)
    for image, channel, at, beside in itertools.product(range(batch), range(channels), *along):
        row = []
        for k, (i, j) in enumerate(itertools.product(at, beside)):
            inside = i is not None and j is not None
            row.append(images[image, channel, i, j] if inside else 0)
            if inside:
                gradient[image, channel, i, j] += given[len(rows), k]
        rows.append(row)
    return np.array(rows, images.dtype).reshape(-1, size[0] * size[1]), gradient


def drawn(seed):
    rng = np.random.default_rng(seed)
    mode = MODES[seed % len(MODES)]
    size = rng.integers(1, 5, size=2)
    if mode == "wrap_centered":
        size |= 1
    step = rng.integers(1, 4, size=2)
    counts = rng.integers(0, 4, size=2)
    border = {"half": size // 2, "full": size - 1}.get(mode, 0 * size)
    lengths = size + counts * step - 2 * border
    # images are at least as large as windows
    lengths += step * np.maximum(0, -(-(size - lengths) // step))
    if mode in ("wrap_centered", "ignore_borders"):
        lengths += rng.integers(0, 3, size=2)
    shape = (*rng.integers(1, 4, size=2), *lengths)
    return mode, rng.normal(size=shape), tuple(map(int, size)), tuple(map(int, step)), rng


@pytest.mark.parametrize("engine", ["FAST_RUN", "FAST_COMPILE", "XLA"])
@pytest.mark.parametrize("seed", range(10))
def test_generated(seed, engine):
    if engine == "XLA":
        pytest.importorskip("jax")
    mode, images, size, step, rng = drawn(seed)
    x, given = T.tensor4(), T.matrix()
    symbolic = seed % 2 == 0
    vectors = [T.ivector(), T.lvector()] if symbolic else [size, step]
    rows = images2neibs(x, *vectors, mode=mode)
    gradient = theano.grad(None, x, known_grads={rows: given})
    inputs = [x, given, *(vectors if symbolic else [])]
    function = theano.function(inputs, [rows, gradient, rows.shape], mode=engine)
    if engine == "FAST_RUN":
        assert "by PyTensor" not in str(theano.link.native.report(function))
    along = [places(mode, n, s, d) for n, s, d in zip(images.shape[2:], size, step, strict=True)]
    count = images.shape[0] * images.shape[1] * len(along[0]) * len(along[1])
    weights = rng.normal(size=(count, size[0] * size[1]))
    expected = rows_and_gradient(mode, images, size, step, weights)
    found = function(images, weights, *([size, step] if symbolic else []))
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-9, atol=1e-12)
    assert tuple(found[2]) == expected[0].shape


@pytest.mark.parametrize("mode", MODES)
def test_in_functions_and_loops(mode):
    x = of(None, None, None, None, dtype="float32")
    rows = images2neibs(x, (3, 3), (1, 2), mode=mode)
    again = Images2NeibsGrad(mode)(x, rows, (3, 3), (1, 2))
    turned = images2neibs(x.dimshuffle(1, 0, 3, 2)[:, :, ::-1], (3, 1), mode="ignore_borders")
    shape = (2, 3, 7, 7)
    check([x], [rows, again, turned], [np.round(4 * numbers(*shape, dtype="float32")) / 4])


@pytest.mark.parametrize("where", ["function", "loop"])
def test_the_same_bits_on_any_number_of_threads(any_work, where):
    x = of(None, None, None, None, dtype="float32")
    rows = images2neibs(x, (3, 3), (1, 1), mode="wrap_centered")
    outputs = [rows, Images2NeibsGrad("wrap_centered")(x, rows**2, (3, 3), (1, 1))]
    evaluate = EVALUATORS[where]([x], outputs)
    results = []
    for count in (1, 2, 3):
        runtime_calls.set_threads(count)
        results.append(evaluate(numbers(3, 2, 6, 7, dtype="float32")))
    for other in results[1:]:
        for ours, theirs in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("engine", ["FAST_RUN", "FAST_COMPILE", "XLA"])
def test_what_is_wrong_in_a_call(engine):
    if engine == "XLA":
        pytest.importorskip("jax")
    x, size, step, rows = T.tensor4(), T.ivector(), T.ivector(), T.matrix()
    images = np.zeros((1, 1, 5, 5))

    def function(mode):
        return theano.function([x, size, step], images2neibs(x, size, step, mode), mode=engine)

    for mode, numbers_of_windows, kind, text in (
        ("valid", ([2, 1], [2, 1]), TypeError, "not consistent .* dimension 2"),
        ("half", ([2, 2], [2, 2]), TypeError, "not consistent"),
        ("full", ([2, 2], [3, 3]), TypeError, "not consistent"),
        ("wrap_centered", ([2, 3], [1, 1]), TypeError, "odd shapes, got 2 along dimension 2"),
        ("wrap_centered", ([7, 3], [1, 1]), TypeError, "larger than the image"),
        ("ignore_borders", ([0, 3], [1, 1]), ValueError, "must be positive"),
        ("ignore_borders", ([1, 3], [1, -1]), ValueError, "must be positive"),
        ("ignore_borders", ([1, 3, 1], [1, 1]), ValueError, "two numbers in neib_shape"),
    ):
        with pytest.raises(kind, match=text):
            function(mode)(images, *numbers_of_windows)
    back = theano.function([x, rows], Images2NeibsGrad()(x, rows, (5, 1)), mode=engine)
    with pytest.raises(ValueError, match="rows of shape"):
        back(images, np.zeros((4, 5)))


def test_what_is_wrong_when_a_function_is_made():
    with pytest.raises(NotImplementedError, match="expected a mode"):
        Images2Neibs("around")
    with pytest.raises(AssertionError, match="ten4 of 4 dimensions"):
        images2neibs(T.matrix(), (2, 2))
    with pytest.raises(AssertionError, match="neib_shape of 1 dimensions"):
        images2neibs(T.tensor4(), 2)
    with pytest.raises(AssertionError, match="a matrix of rows"):
        Images2NeibsGrad()(T.tensor4(), T.vector(), (2, 2))


def test_gradients_of_gradients():
    def rows(x):
        return T.sin(images2neibs(x, (2, 3), (1, 2), mode="full"))

    images = np.random.default_rng(0).normal(size=(2, 1, 4, 5))
    theano.gradient.verify_grad(rows, [images], rng=np.random.RandomState(0))
    theano.gradient.verify_grad(
        lambda x: theano.grad(rows(x).sum(), x), [images], rng=np.random.RandomState(0)
    )
