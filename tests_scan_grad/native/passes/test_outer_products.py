"""Products outside loops by the engine's runtime agree with PyTensor's."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile.mode import Mode
from pytensor.link.vm import VMLinker

import theano
from tests_scan_grad.native.loops import numbers, same
from theano.link.native import NativeLinker, source


def both(inputs, output):
    """The function by the engine and by PyTensor's Python code, both with BLAS operators."""
    rewrites = "fast_run"
    native = pytensor.function(
        inputs, output, mode=Mode(NativeLinker(use_cloop=False, c_thunks=False), rewrites)
    )
    own = pytensor.function(
        inputs, output, mode=Mode(VMLinker(use_cloop=False, c_thunks=False), rewrites)
    )
    return native, own


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 1, 1), (0, 4, 5), (3, 0, 5), (70, 65, 130)])
def test_products_of_any_strides(shape, dtype):
    m, k, n = shape
    a, b, c = (pt.matrix(name, dtype=dtype) for name in "abc")
    left, right, addend = (
        numbers(m, k, dtype=dtype),
        numbers(k, n, seed=1, dtype=dtype),
        numbers(m, n, seed=2, dtype=dtype),
    )
    product, with_addend = both([a, b], pt.dot(a, b)), both([a, b, c], 0.5 * c + pt.dot(a, b))
    for x in (left, np.asfortranarray(left), np.repeat(left, 2, axis=1)[:, ::2]):
        for y in (right, np.asfortranarray(right), right[::-1][::-1]):
            native, own = product
            same([native(x, y)], [own(x, y)])
            native, own = with_addend
            same([native(x, y, addend)], [own(x, y, addend)])
    kept = addend.copy()
    with_addend[0](left, right, addend)
    same([addend], [kept])


def test_a_mismatch_is_an_error_and_the_function_goes_on():
    a, b = pt.dmatrices("a", "b")
    native, own = both([a, b], pt.dot(a, b))
    with pytest.raises(ValueError):
        native(numbers(2, 3), numbers(4, 2))
    same([native(numbers(2, 3), numbers(3, 2))], [own(numbers(2, 3), numbers(3, 2))])


def test_the_graph_keeps_its_operators():
    a, b = pt.dmatrices("a", "b")
    native, _ = both([a, b], pt.dot(a, b))
    kinds = [type(node.op).__name__ for node in native.maker.fgraph.apply_nodes]
    assert kinds in (["Dot"], ["Dot22"])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_column_times_a_row_is_multiplied_where_it_is_used(dtype):
    x, y = (pt.vector(name, dtype=dtype) for name in "xy")
    column, row = numbers(5, dtype=dtype), numbers(1, 7, seed=1, dtype=dtype)[0]
    native, own = both([x, y], pt.tanh(pt.dot(x[:, None], y[None, :])).sum(axis=1))
    for left in (column, np.repeat(column, 2)[::-2]):
        same([native(left, row)], [own(left, row)])
    assert "product" not in source(native)
    matrix = pt.matrix(dtype=dtype)
    native, own = both([x, matrix], pt.dot(x[:, None], matrix))
    same([native(column, row[None])], [own(column, row[None])])
    of_theanos = theano.function([x, matrix], pt.dot(x[:, None], matrix), mode="NATIVE")
    with pytest.raises(ValueError):
        of_theanos(column, np.ones((2, 3), dtype))
