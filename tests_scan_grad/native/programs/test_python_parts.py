"""Parts of functions of C that Python runs: called back, from any thread, and calling C again."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

import theano
import theano.tensor as T
from theano.link.native import NotNativeError, c_function
from theano.tensor import as_tensor_variable


class OfPython(Op):
    """A function of Python as an operation."""

    def __init__(self, function, made=T.dvector):
        self.function, self.made = function, made

    def make_node(self, *given):
        return Apply(self, list(map(as_tensor_variable, given)), [self.made()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = self.function(*inputs)


def called(function, *made):
    """A function of C of a vector, and of what Python computes of it."""
    x = T.dvector("x")
    results = [OfPython(one, kind)(x) + 1 for one, kind in (function, *made)]
    return c_function(theano.function([x], results, mode="NATIVE"), allow_python=True)


def test_a_part_of_python_is_refused_unless_it_is_allowed():
    x = T.dvector("x")
    function = theano.function([x], OfPython(np.negative)(x), mode="NATIVE")
    with pytest.raises(NotNativeError, match="OfPython"):
        c_function(function)


@pytest.mark.parametrize("length", [0, 1, 5])
def test_results_of_any_strides_and_lengths(length):
    function = called(
        (lambda v: v[::-1], T.dvector),
        (lambda v: v[:0], T.dvector),
        (lambda v: v.sum(), T.dscalar),
        (lambda v: np.asfortranarray(np.outer(v, v))[::-1, ::2], T.dmatrix),
    )
    x = np.arange(1.0, length + 1)
    expected = x[::-1] + 1, x[:0], x.sum() + 1, np.outer(x, x)[::-1, ::2] + 1
    for found, wanted in zip(function(x), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_length_that_an_author_has_wrong_is_the_one_that_comes():
    """PyTensor does not look at it; the model of a public catalogue relies on that."""
    x = T.dvector("x")
    made = OfPython(lambda v: v[:2], lambda: theano.tensor.TensorType("float64", shape=(5,))())(x)
    result = made[0] + 3 * made[1]
    function = theano.function([x], result, mode="NATIVE")
    given = np.arange(1.0, 6)
    assert function(given) == 7
    assert c_function(function, allow_python=True)(given)[0] == 7


def test_what_python_runs_may_call_a_function_of_c():
    """The memory of the call around it stays, whether the inner one needs less or more."""
    z = T.dmatrix("z")
    inner = c_function(theano.function([z], [z.dot(z).sum(axis=0), T.exp(z)], mode="NATIVE"))

    def doubled(v):
        for size in (3, 50, 3):
            sums, _ = inner(np.ones((size, size)))
            np.testing.assert_array_equal(sums, np.full(size, size**2))
        return 2 * v

    x, w = T.dvector("x"), T.dmatrix("w")
    a = T.tanh(w.dot(x))
    b = OfPython(doubled)(a)
    c = OfPython(doubled)(b + 1)
    function = theano.function([x, w], [a.sum() + (a * b * c).sum(), a, b, c], mode="NATIVE")
    function = c_function(function, allow_python=True)
    rng = np.random.default_rng(1)
    for size in (2, 60, 2):
        given = rng.normal(size=size), rng.normal(size=(size, size))
        first = np.tanh(given[1] @ given[0])
        second = 2 * first
        third = 2 * (second + 1)
        total = first.sum() + (first * second * third).sum()
        for found, wanted in zip(function(*given), (total, first, second, third), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_what_python_runs_may_call_the_function_that_it_is_a_part_of():
    functions = []

    def counted(v):
        return functions[0](v - 1)[0] if v[0] > 0 else v

    functions.append(called((counted, T.dvector)))
    np.testing.assert_array_equal(functions[0](np.array([3.0, 0.0]))[0], [4.0, 1.0])


class WithoutText(Exception):
    def __str__(self):
        raise ValueError("no text")


@pytest.mark.parametrize(
    "error, raised, text",
    [
        (WithoutText(), RuntimeError, "OfPython raised WithoutText"),
        (TypeError("half of a pair: \ud800"), RuntimeError, "raised TypeError: half of a pair: ?"),
        (ArithmeticError("x" * 600), ValueError, "raised ArithmeticError: xxx"),
        (KeyboardInterrupt(), RuntimeError, "raised KeyboardInterrupt"),
    ],
    ids=["without a text", "no unicode", "a long one", "an interrupt"],
)
def test_any_error_of_python_ends_the_call(error, raised, text):
    def refuses(v):
        if v[0] > 1:
            raise error
        return v

    function = called((refuses, T.dvector))
    np.testing.assert_array_equal(function(np.zeros(2))[0], [1, 1])
    with pytest.raises(raised) as found:
        function(np.full(2, 5.0))
    assert text in str(found.value)
    np.testing.assert_array_equal(function(np.zeros(2))[0], [1, 1])


def test_a_result_of_other_dimensions_is_an_error():
    function = called((lambda v: v[None], T.dvector))
    with pytest.raises(RuntimeError, match="expected 1 dimensions of .*, got 2"):
        function(np.zeros(2))


def test_threads_call_back_at_the_same_time():
    function = called((lambda v: v * 2, T.dvector), (lambda v: v[:1].sum(), T.dscalar))
    points = [np.full(k % 50, float(k)) for k in range(400)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(function, points))
    for point, (doubled, first) in zip(points, found, strict=True):
        np.testing.assert_array_equal(doubled, 2 * point + 1)
        assert first == point[:1].sum() + 1


def test_an_operation_is_called_once_at_a_time():
    """Whichever functions it is a part of: it may keep what it computed last."""
    running, most = [], []

    def slow(v):
        running.append(1)
        time.sleep(0.01)
        most.append(len(running))
        running.pop()
        return v

    x, of_python = T.dvector("x"), OfPython(slow)
    functions = [
        c_function(
            theano.function([x], [of_python(x) * k, of_python(x + k)], mode="NATIVE"),
            allow_python=True,
        )
        for k in (1, 2)
    ]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda function: function(np.zeros(2)), functions * 4))
    assert set(most) == {1}
