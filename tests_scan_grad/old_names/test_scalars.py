"""`theano.scalar`: operators on single numbers."""

import numpy as np
import pytest

import theano
from theano import gof, scalar
from theano.gof import FunctionGraph


def values(inputs, outputs, *given):
    return gof.DualLinker().accept(FunctionGraph(inputs, outputs)).make_function()(*given)


def test_ranges():
    x, low, high = scalar.floats("x", "l", "h")
    for operator, at_bounds in ((scalar.inopenrange, False), (scalar.inclosedrange, True)):
        between = operator(x, low, high)
        assert [values([x, low, high], [between], v, 1.0, 2.0) for v in (0.5, 1.0, 1.5, 2.0)] == [
            False,
            at_bounds,
            True,
            at_bounds,
        ]
        (gradient,) = theano.grad(scalar.switch(between, 3 * x, 0.0), [x])
        f = theano.function([x, low, high], gradient, on_unused_input="ignore")
        assert (f(1.5, 1.0, 2.0), f(0.0, 1.0, 2.0)) == (3.0, 0.0)
    assert scalar.InRange(True, False) == scalar.InRange(True, False) != scalar.inopenrange
    arrays = theano.tensor.Elemwise(scalar.inopenrange)
    x = theano.tensor.dvector("x")
    assert theano.function([x], arrays(x, 0.0, 1.0))([0.0, 0.5]).tolist() == [False, True]


def test_division_of_either_kind():
    x, y = scalar.floats("xy")
    i, j = scalar.ints("ij")
    assert values([x, y], [scalar.div_proxy(x, y)], 1.0, 2.0) == 0.5
    assert isinstance(scalar.div_proxy(i, j).owner.op, scalar.IntDiv)
    assert isinstance(scalar.div_proxy(i, y).owner.op, scalar.TrueDiv)


def test_an_operator_made_of_another_one():
    x, y, z = scalar.floats("xyz")
    inner = scalar.Composite([x, y], [x + y])
    outer = scalar.Composite([x, y, z], [inner(x * y, z)])
    assert not isinstance(outer.fgraph.outputs[0].owner.op, scalar.Composite)
    assert values([x, y, z], [outer(x, y, z)], 2.0, 3.0, 4.0) == 10.0
    assert values([x, y], [inner(x, y)], 2.0, 3.0) == 5.0
    graph = FunctionGraph([x, y], [inner(x, y)])
    assert str(graph) == "[Composite{(i0 + i1)}(x, y)]"


def test_expressions_of_sympy():
    sympy = pytest.importorskip("sympy")
    from theano.scalar.basic_sympy import SymPyCCode

    a, b = sympy.symbols("a b")
    x, y = scalar.floats("xy")
    z = SymPyCCode([a, b], a**2 * b)(x, y)
    gradients = theano.grad(3 * z, [x, y])
    np.testing.assert_allclose(values([x, y], [z, *gradients], 2.0, 5.0), [20.0, 60.0, 12.0])
    in_python = gof.PerformLinker().accept(FunctionGraph([x, y], [z])).make_function()
    assert in_python(2.0, 5.0) == 20.0
    with pytest.raises(TypeError, match="Wrong number of inputs"):
        SymPyCCode([a, b], a + b)(x)
