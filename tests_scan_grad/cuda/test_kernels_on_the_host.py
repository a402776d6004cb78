"""Loops as kernels, on a stand-in for a device: against PyTensor's Python linker."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given

import theano
import theano.tensor as T
from tests_scan_grad import networks
from tests_scan_grad.cuda.functions import run_function
from tests_scan_grad.cuda.host import Hung, needs_compiler
from tests_scan_grad.cuda.measured import gated_gradient
from tests_scan_grad.generated.built_loops import numbers
from tests_scan_grad.generated.generated_loops import FAMILIES, describe, loops, share_of_loops
from tests_scan_grad.loop_counts import python_mode, theano_scan
from tests_scan_grad.loop_rewrites.test_golden_loops import FUNCTIONS
from tests_scan_grad.loop_runs import CompiledLoop, rewritten_mode
from theano.link.cuda.kernel import Kernel
from theano.link.cuda.model import Device

pytestmark = needs_compiler

# the networks whose loops become none, with the words of the reason
REFUSED = {"convolutional_lstm": "correlation", "nested": "a loop inside"}


def same(ours, theirs, context: str = "") -> None:
    """Assert that results agree within rounding."""
    for k, (actual, expected) in enumerate(zip(ours, theirs, strict=True)):
        actual, expected = np.asarray(actual), np.asarray(expected)
        assert actual.shape == expected.shape and actual.dtype == expected.dtype, context
        bound = 1e-4 if expected.dtype == np.float32 else 1e-9
        scale = max(1.0, np.nanmax(np.abs(expected), initial=0))
        message = f"result {k}, {context}"
        np.testing.assert_allclose(actual, expected, bound, bound * scale, err_msg=message)


def function_of(name: str, mode=None):
    """Return a network's function of its gradient, and values for it; without a mode by Python."""
    build, results = FUNCTIONS[name]
    network = build(theano_scan)
    function = theano.function(
        network.inputs,
        results(network),
        mode=python_mode() if mode is None else mode,
        on_unused_input="ignore",
    )
    rng = np.random.default_rng(3)
    more = [rng.normal(size=(networks.DIM,) * v.ndim) for v in network.inputs]
    return function, [*network.values, *more[len(network.values) :]]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_network_and_its_gradient(name):
    function, values = function_of(name)
    results, kernels = run_function(function, values)
    same(results, function(*values))
    for kernel in kernels:
        if name in REFUSED:
            assert REFUSED[name] in str(kernel)
        else:
            assert isinstance(kernel, Kernel), kernel


@pytest.mark.parametrize("family", FAMILIES)
def test_generated_loops(family):
    @share_of_loops(4 * len(FAMILIES))
    @given(loops(family))
    def check(loop):
        compiled = CompiledLoop(loop, theano.scan, rewritten_mode())
        values = numbers(loop) | {"n": np.int64(loop.length)}
        given = [np.asarray(values[name]) for name in compiled.built.inputs]
        if compiled.built.generator is not None or len(given) < len(_inputs(compiled)):
            # shared variables: what they hold stands in the function
            return
        try:
            expected = compiled.function(*given)
        except IndexError:
            with pytest.raises(IndexError):
                run_function(compiled.function, given)
            return
        same(run_function(compiled.function, given)[0], expected, describe(loop))

    check()


def _inputs(compiled: CompiledLoop) -> list:
    return compiled.function.maker.fgraph.inputs


# ---- one loop ----


def gated(dtype: str = "float64", mode=None):
    """Return the function of a gated network's loop and of its backward loop, and values for it."""
    steps, batch, width = 5, 3, 7
    function = gated_gradient(dtype, python_mode() if mode is None else mode)
    rng = np.random.default_rng(0)
    shapes = (steps, batch, width), (batch, width), *[(width, width)] * 3
    return function, [rng.normal(size=shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "device", [Device(1, 1), Device(1, 5), Device(3, 2), Device(7, 1), Device(9, 1)], ids=str
)
def test_any_number_of_blocks_and_lanes(device, dtype):
    function, values = gated(dtype)
    results, kernels = run_function(function, values, device)
    same(results, function(*values))
    assert [kernel.blocks for kernel in kernels] == [min(device.blocks, 7)] * 2


def test_a_kernel_is_for_any_number_of_steps():
    x, h0, n = T.matrix("x"), T.vector("h0"), T.iscalar("n")
    h = theano_scan(lambda x, h: T.tanh(x + h), sequences=[x], outputs_info=[h0], n_steps=n)
    function = theano.function([x, h0, n], h, mode=python_mode())
    kernels = set()
    for steps in (1, 4, 9):
        values = [np.ones((9, 3)), np.zeros(3), np.int32(steps)]
        (result,), (kernel,) = run_function(function, values)
        same([result], [function(*values)])
        kernels.add(kernel.source)
    assert len(kernels) == 1


def test_blocks_that_never_start_end_a_kernel_with_an_error():
    function, values = gated()
    with pytest.raises(Hung):
        run_function(function, values, absent=1, flags=("-DTK_PATIENCE=1000",))


def test_an_index_out_of_range_is_an_error():
    table, indices = T.matrix("table"), T.imatrix("indices")
    rows = theano_scan(
        lambda i, s, table: s + table[i],
        sequences=[indices],
        outputs_info=[T.zeros((3, 4))],
        non_sequences=[table],
    )
    function = theano.function([table, indices], rows, mode=python_mode())
    values = [np.arange(20.0).reshape(5, 4), np.array([[0, 1, -5], [4, 2, 3]], "int32")]
    same(run_function(function, values)[0], [function(*values)])
    values[1][1, 1] = 5
    with pytest.raises(IndexError, match="out of range"):
        run_function(function, values)


@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
@pytest.mark.parametrize("operation", ["sum", "max", "prod", "any"])
def test_reductions(operation, axis):
    x, s0 = T.tensor3("x"), T.vector("s0")
    reduce = partial(getattr(T, operation), axis=axis)

    def step(x, s):
        found = reduce(x > 0.5 if operation == "any" else x * x)
        return T.tanh(s + (found if axis == 0 else found.sum()))

    s = theano_scan(step, sequences=[x], outputs_info=[s0])
    function = theano.function([x, s0], s, mode=python_mode())
    values = [np.random.default_rng(1).normal(size=(4, 6, 5)), np.zeros(5)]
    results, (kernel,) = run_function(function, values)
    assert isinstance(kernel, Kernel)
    same(results, [function(*values)])


def test_a_loop_of_numbers_is_one_block():
    x, s0 = T.vector("x"), T.scalar("s0")
    s = theano_scan(lambda x, s: 0.9 * s + x * x, sequences=[x], outputs_info=[s0])
    function = theano.function([x, s0], [s, *T.grad(s.sum(), [x, s0])], mode=python_mode())
    values = [np.linspace(-1, 1, 9), np.float64(0.5)]
    results, kernels = run_function(function, values)
    same(results, function(*values))
    assert {kernel.blocks for kernel in kernels} == {1}


@pytest.mark.parametrize("shape", [(4, 0, 5), (4, 6, 0)])
def test_arrays_without_elements(shape):
    x, s0 = T.tensor3("x"), T.vector("s0")
    s = theano_scan(
        lambda x, s: T.tanh(s + (x * x).sum(axis=0) + x.sum()), sequences=[x], outputs_info=[s0]
    )
    function = theano.function([x, s0], s, mode=python_mode())
    values = [np.ones(shape), np.ones(shape[-1])]
    results, (kernel,) = run_function(function, values)
    assert isinstance(kernel, Kernel) and "/ 0" not in kernel.source
    same(results, [function(*values)])
