"""Compiled functions called from C: the same numbers as from Python, from many threads at once."""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import ROOT
from theano.ifelse import ifelse
from theano.link.native import NotNativeError, c_function, header_folder, report
from theano.link.native.runtime.build import find_compiler

THREADS = 4


def recurrent(width):
    """A vector, the value of a recurrent model at it, and the model's weights."""
    x, w = T.dvector("x"), theano.shared(np.linspace(-0.5, 1, width), "w")
    h, _ = theano.scan(lambda x_t, h, w: T.tanh(w * h + x_t), x, T.zeros((width,)), w)
    return x, (h[-1] ** 2).sum() + T.exp(-x).sum(), w


def model(width=3):
    """The value of a recurrent model at a vector, and its gradient."""
    x, value, w = recurrent(width)
    return theano.function([x], [value, theano.grad(value, x)], mode="NATIVE"), w


def volatility(days=200):
    """The log density of daily returns (Bollerslev 1986) by its parameters, and its gradient."""
    x = T.dvector("x")
    scale, shocks, memory = T.exp(x[0]), T.nnet.sigmoid(x[1]) / 2, T.nnet.sigmoid(x[2]) / 2
    returns = theano.shared(np.random.default_rng(1).standard_normal(days), "returns")

    def step(before, variance, scale, shocks, memory):
        return scale + shocks * before**2 + memory * variance

    start = T.constant(np.float64(1))
    variances, _ = theano.scan(step, returns[:-1], start, [scale, shocks, memory])
    density = -0.5 * (T.log(variances) + returns[1:] ** 2 / variances).sum() - 0.5 * (x**2).sum()
    return theano.function([x], [density, theano.grad(density, x)], mode="NATIVE"), returns


class Cube(Op):
    """An operation that Python runs."""

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] ** 3


def model_with_python():
    """The same as `model` plus cubes, which each call computes in Python, before and after the loops."""
    x, value, w = recurrent(3)
    cubes = Cube()(T.sin(x))
    results = [value + cubes.sum(), Cube()(theano.grad(value, x) + 3 * cubes)]
    return theano.function([x], results, mode="NATIVE"), w


# how many numbers a point has, and whether Python runs a part
CALLED = {
    "network": (model, 50, False),
    "volatility": (volatility, 3, False),
    "of Python": (model_with_python, 50, True),
}


def assert_same(function, *arguments):
    expected = function(*arguments)
    found = c_function(function)(*arguments)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype


@pytest.mark.parametrize("length", [0, 1, 7, 300])
def test_a_model_and_its_gradient(length):
    function, _ = model()
    assert_same(function, np.linspace(0, 1, length))


def test_inputs_and_constants_that_are_results():
    x, y = T.dmatrix("x"), T.lscalar("y")
    table = T.constant(np.arange(4.0))
    function = theano.function([x, y], [x, y, table, x.T, x * 2, x * 2], mode="NATIVE")
    assert_same(function, np.ones((2, 3)), 7)


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "float32", "float64", "bool"])
def test_every_kind_of_number(dtype):
    x = T.TensorType(dtype, (False, False))("x")
    function = theano.function([x], [x.sum(axis=0), T.concatenate([x, x])], mode="NATIVE")
    assert_same(function, np.array([[1, 0, 1], [1, 1, 0]], dtype))


@pytest.mark.parametrize("count", [2, -1])
def test_branches_and_parts_one_after_the_other(count):
    x, y, k = T.dvector("x"), T.dmatrix("y"), T.lscalar("k")
    # where the branch is not taken, its products do not fit one another
    either = ifelse(T.gt(k, 0), T.exp(x)[:k], y.dot(x) if count < 0 else y.dot(y).sum(axis=0))
    function = theano.function([x, y, k], [either, y[k]], mode="NATIVE")
    assert len(report(function).segments) > 1
    assert_same(function, np.linspace(0, 1, 7), np.ones((3, 7)), count)


@pytest.mark.parametrize("value", [-0.0, 0.0, 1e-300, -2.0, np.nan])
def test_a_branch_by_a_floating_number(value):
    x, k = T.dvector("x"), T.dscalar("k")
    function = theano.function([x, k], [ifelse(k, T.exp(x), T.log(x))], mode="NATIVE")
    assert_same(function, np.ones(3), value)


def test_loops_that_stop_early():
    x, limit = T.dvector("x"), T.dscalar("limit")

    def step(x_t, total, limit):
        total = total + x_t
        return total, theano.scan_module.until(total > limit)

    totals, _ = theano.scan(step, x, T.constant(np.float64(0)), limit)
    function = theano.function([x, limit], totals, mode="NATIVE")
    x_value = np.arange(10.0)
    (found,) = c_function(function)(x_value, 5.0)
    np.testing.assert_array_equal(found, function(x_value, 5.0))
    assert len(found) == 4


def test_shared_variables_have_the_values_that_were_bound():
    function, w = model()
    in_c = c_function(function)
    x = np.linspace(0, 1, 5)
    before = in_c(x)
    w.set_value(np.full(3, 0.25))
    np.testing.assert_array_equal(in_c(x)[0], before[0])
    in_c.bind(w, w.get_value())
    np.testing.assert_array_equal(in_c(x)[0], function(x)[0])
    with pytest.raises(KeyError):
        in_c.bind(theano.shared(1.0), 2.0)


def test_what_fails_says_why():
    x, k = T.dvector("x"), T.lscalar("k")
    in_c = c_function(theano.function([x, k], x[k], mode="NATIVE"))
    with pytest.raises(ValueError, match="index out of range"):
        in_c(np.ones(3), 3)
    assert in_c(np.ones(3), 2) == [1]
    with pytest.raises(TypeError, match="x: expected 1 dimensions, got 2"):
        in_c(np.ones((3, 3)), 3)
    with pytest.raises(TypeError, match="expected 2 arguments, got 1"):
        in_c(np.ones(3))


a, b, matrix = T.dvector("a"), T.dvector("b"), T.dmatrix("M%s")
SIZES = {
    "two operands": (
        [a, b],
        a * T.exp(b),
        [(6,), (5,)],
        "dimension 0: expected 6, as dimension 0 of a has, got 5 along dimension 0 of b",
    ),
    "a product": (
        [a, matrix],
        matrix.dot(a),
        [(6,), (5, 4)],
        "expected 4, as dimension 1 of M%s has, got 6 along dimension 0 of a",
    ),
    "a number": (
        [b],
        T.exp(T.specify_shape(b, (4,))),
        [(6,)],
        "expected 4, got 6 along dimension 0 of b",
    ),
    "what is computed": (
        [a, b],
        T.exp(a[1:]) * b,
        [(6,), (6,)],
        "operands along dimension 0: got 6 along dimension 0 of b",
    ),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_that_differ_are_given_with_their_variables(name):
    inputs, result, shapes, message = SIZES[name]
    function = c_function(theano.function(inputs, result, mode="NATIVE"))
    with pytest.raises(ValueError, match=message):
        function(*map(np.ones, shapes))


def test_a_table_read_in_a_loop_beyond_its_end_names_the_step():
    x, places = T.dvector("x"), T.lvector("places")
    read, _ = theano.scan(lambda k, total, x: total + x[k], places, T.zeros(()), x)
    in_c = c_function(theano.function([x, places], read, mode="NATIVE"))
    with pytest.raises(ValueError, match="step 2"):
        in_c(np.ones(3), [0, 1, 5, 1])


def test_results_without_room_tell_their_lengths():
    x = T.dmatrix("x")
    in_c = c_function(theano.function([x], T.concatenate([x, x]), mode="NATIVE"))
    value, small = np.ones((2, 3)), np.empty(4)
    shape, lengths = (ctypes.c_int64 * 2)(2, 3), (ctypes.c_int64 * 2)()
    given = (ctypes.c_void_p * 2)(value.ctypes.data, ctypes.addressof(shape))
    made = (ctypes.c_void_p * 3)(small.ctypes.data, small.nbytes, ctypes.addressof(lengths))
    call = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3)(in_c.address)
    assert call(in_c.function, given, made) == 2
    assert list(lengths) == [4, 3]


def rejected(function):
    with pytest.raises(NotNativeError) as caught:
        c_function(function)
    return str(caught.value)


def test_functions_that_c_cannot_call_are_refused_with_the_reason():
    x, total = T.dvector("x"), theano.shared(0.0, "total")
    updating = theano.function([x], x, updates=[(total, x.sum())], mode="NATIVE")
    assert "updates shared variables" in rejected(updating) and "total" in rejected(updating)
    of_python = theano.function([x], theano.printing.Print("x")(x), mode="NATIVE")
    assert "Print" in rejected(of_python)
    with pytest.raises(TypeError, match="native"):
        c_function(theano.function([x], x + 1, mode="FAST_COMPILE"))


def caller(folder: Path) -> ctypes.CDLL:
    """The C program of a sampler with threads, loaded."""
    compiler, library = find_compiler(), folder / "called_from_threads.so"
    if compiler is None:
        pytest.skip("a C compiler makes the program that calls the function")
    source = Path(__file__).with_name("called_from_threads.c")
    flags = ("-std=gnu11", "-Wall", "-Werror", "-shared", "-fPIC", "-pthread")
    command = [*compiler, *flags, "-I", header_folder(), str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def assert_called_from_threads(folder: Path, times: int, name: str) -> None:
    """Call a model from C, on each thread at its own point, with the lock of Python held unless it needs it."""
    make, length, python = CALLED[name]
    function, _ = make()
    found = report(function)
    assert len(found.loops) == 2 and all(loop.reason is None for loop in found.loops)
    in_c = c_function(function, allow_python=python)
    points = np.random.default_rng(0).normal(size=(THREADS, length))
    values, gradients = np.empty(THREADS), np.empty_like(points)
    kind = ctypes.CFUNCTYPE if python else ctypes.PYFUNCTYPE
    call = kind(
        ctypes.c_int64,
        *[ctypes.c_void_p] * 2,
        *[ctypes.c_int64] * 3,
        *[ctypes.c_void_p] * 3,
    )(("call_from_threads", caller(folder)))
    arrays = (points.ctypes.data, values.ctypes.data, gradients.ctypes.data)
    assert call(in_c.address, in_c.function, THREADS, times, points.shape[1], *arrays) == 0
    for point, value, gradient in zip(points, values, gradients, strict=True):
        expected = function(point)
        np.testing.assert_array_equal(value, expected[0])
        np.testing.assert_array_equal(gradient, expected[1])


@pytest.mark.parametrize("name", CALLED)
def test_calls_from_many_threads_of_c(tmp_path, name):
    assert_called_from_threads(tmp_path, 200, name)


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", CALLED)
def test_calls_from_many_threads_do_not_race(with_sanitizers, tmp_path, name):
    compiler = find_compiler()
    if sys.platform != "linux" or compiler is None:
        pytest.skip("the sanitizer's flags are those of compilers on Linux")
    found = subprocess.run(
        [*compiler, "-print-file-name=libtsan.so"], capture_output=True, text=True
    ).stdout.strip()
    if not os.path.isabs(found):
        pytest.skip(f"{shlex.join(compiler)} has no thread sanitizer")
    wrapper = tmp_path / "cc"
    text = f'#!/bin/sh\nexec {shlex.join(compiler)} "$@" -g1 -fsanitize=thread\n'
    wrapper.write_text(text)
    wrapper.chmod(0o755)
    environment = os.environ | {
        "CC": str(wrapper),
        "LD_PRELOAD": found,
        "TSAN_OPTIONS": "exitcode=66",
        "THEANO_FLAGS": f"base_compiledir={tmp_path / 'compiled'}",
        "PYTHONPATH": str(ROOT),
    }
    code = (
        # the compiler is to run without it
        "import os; del os.environ['LD_PRELOAD'];"
        f"from pathlib import Path; from {__name__} import assert_called_from_threads;"
        f"assert_called_from_threads(Path({str(tmp_path)!r}), 50, {name!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0 and "data race" not in done.stderr, done.stderr[-4000:]
