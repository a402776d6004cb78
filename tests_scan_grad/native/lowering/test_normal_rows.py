"""Multivariate normal samples in native code are those of PyTensor's `perform`, to the bit."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

import theano
from theano.link.native import report

NATIVE = theano.compile.mode.get_mode("NATIVE")

# the dimensions of the mean and of the matrix besides their own, and the size
FORMS = {
    "one": ((), (), None),
    "a size": ((), (), (2, 3)),
    "means": ((4,), (), None),
    "matrices": ((), (3,), None),
    "means and matrices": ((2, 1), (3,), None),
    "means and matrices, and a size": ((3,), (3,), (2, 3)),
}


def drawing(form, method, in_loop, mode, dtype="float64"):
    of_mean, of_matrix, size = FORMS[form]
    mean = pt.tensor(dtype=dtype, shape=(None,) * (len(of_mean) + 1))
    matrix = pt.tensor(dtype="float64", shape=(None,) * (len(of_matrix) + 2))
    generator = pytensor.shared(np.random.default_rng(0))

    def step(rng, mean, matrix):
        return pt.random.multivariate_normal(
            mean, matrix, size=size, method=method, rng=rng, return_next_rng=True
        )

    if in_loop:
        last, samples = pytensor.scan(
            step,
            outputs_info=[generator, None],
            non_sequences=[mean, matrix],
            n_steps=3,
            return_updates=False,
        )
    else:
        last, samples = step(generator, mean, matrix)
    function = pytensor.function([mean, matrix], samples, updates={generator: last}, mode=mode)
    return function, generator


def check_native(function):
    found = report(function)
    by_python = {str(one).split(":")[0].split("{")[0] for one in found.calls}
    assert by_python <= {"WordsOfGenerator", "GeneratorOfWords"}, found
    assert all(loop.reason is None for loop in found.loops), found


def covariances(rng, shape, n):
    factor = rng.normal(size=(*shape, n, n))
    return factor @ np.swapaxes(factor, -1, -2) + 1e-3 * np.eye(n)


@pytest.mark.parametrize("in_loop", [False, True])
@pytest.mark.parametrize("method", ["cholesky", "svd", "eigh"])
@pytest.mark.parametrize("form", FORMS)
def test_rows_have_the_same_bits(form, method, in_loop):
    cases = [drawing(form, method, in_loop, mode) for mode in (NATIVE, "FAST_COMPILE")]
    check_native(cases[0][0])
    rng = np.random.default_rng(1)
    of_mean, of_matrix, _ = FORMS[form]
    for n in (1, 2, 3, 5, 8, 9, 16, 23, 40):
        mean = rng.normal(size=(*of_mean, n))
        # its transpose, too, which is symmetric to the last bit or not
        for matrix in (covariances(rng, of_matrix, n), rng.normal(size=(*of_matrix, n, n))):
            if method == "cholesky" and matrix.min() < 0 and n > 1:
                matrix = covariances(rng, of_matrix, n).swapaxes(-1, -2)
            results = []
            for function, generator in cases:
                generator.set_value(np.random.default_rng(n))
                try:
                    with np.errstate(all="ignore"):
                        found = function(mean, matrix)
                except np.linalg.LinAlgError as error:
                    found = str(error).split("\n")[0]
                results.append((found, generator.get_value().bit_generator.state))
            np.testing.assert_equal(*results)


def test_single_precision_of_means():
    cases = [drawing("means", "svd", False, m, "float32") for m in (NATIVE, "FAST_COMPILE")]
    check_native(cases[0][0])
    rng = np.random.default_rng(1)
    mean, matrix = rng.normal(size=(4, 6)).astype("float32"), covariances(rng, (), 6)
    np.testing.assert_array_equal(*(function(mean, matrix) for function, _ in cases))


@pytest.mark.parametrize("form", ["one", "matrices"])
def test_a_matrix_without_a_factor_is_refused_by_numpy(form):
    function, generator = drawing(form, "cholesky", False, NATIVE)
    matrix = np.array([[1.0, 2.0], [2.0, 1.0]])
    given = matrix if form == "one" else np.stack([np.eye(2), matrix])
    before = generator.get_value().bit_generator.state
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        function(np.zeros(2), given)
    assert generator.get_value().bit_generator.state == before
    assert function(np.zeros(2), np.eye(2) + 0 * given).shape == given.shape[:-1]
