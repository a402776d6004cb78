"""Roots and minima in functions: SciPy searches, and what it calls is native."""

from __future__ import annotations

import sys

import numpy as np
import pytensor.tensor as pt
import pytest

import theano
from theano.link.native import c_function, report
from theano.link.native.linker import NativeLinker
from theano.link.native.run.virtual_machine import NativeMachine
from theano.pytensor_internals.functions.linking import with_function_linked_by

if sys.version_info < (3, 12):
    pytest.skip("PyTensor 3.0 compiles the functions by itself", allow_module_level=True)

from pytensor.tensor.optimize import (
    ScipyWrapperOp,
    minimize,
    minimize_scalar,
    root,
    root_scalar,
)

a, b = pt.dscalars("a", "b")
x, s = pt.dvector("x"), pt.dscalar("s")


def of_root():
    equations = pt.stack([pt.exp(x[0]) * a - 1 + x[1] ** 2 / 10, x[1] ** 3 + x[1] - b])
    return x, root(equations, x, method="hybr"), np.zeros(2)


def of_root_scalar():
    return s, root_scalar(s**3 + a * s - b, s, method="newton", jac=True), 0.3


def of_minimum():
    objective = (pt.exp(x) - a * x).sum() + (x[0] - x[1] * b) ** 2
    return x, minimize(objective, x, method="BFGS"), np.zeros(3)


def of_minimum_scalar():
    settings = {"optimizer_kwargs": {"tol": 1e-12}}
    return s, minimize_scalar((s - a) ** 2 + pt.exp(b * s), s, **settings), 0.3


PROBLEMS = {
    "root": of_root,
    "root of one equation": of_root_scalar,
    "minimum": of_minimum,
    "minimum along a line": of_minimum_scalar,
}
AT = np.array([2.0, 1.5])


@pytest.mark.parametrize("name", PROBLEMS)
def test_solutions_and_their_gradients(name):
    unknown, (solution, found), start = PROBLEMS[name]()
    gradients = theano.grad((solution**2).sum(), [a, b])
    f = theano.function([a, b, unknown], [solution, found, *gradients], mode="NATIVE")
    values = f(*AT, start)
    assert values[1]
    g = theano.function([a, b, unknown], (solution**2).sum(), mode="NATIVE")
    step = 1e-4
    for k, gradient in enumerate(values[2:]):
        moved = step * np.eye(2)[k]
        difference = (g(*(AT + moved), start) - g(*(AT - moved), start)) / (2 * step)
        np.testing.assert_allclose(gradient, difference, rtol=1e-3)
    assert "by PyTensor" in str(report(f))


def test_what_is_called_is_one_segment():
    _, (solution, _), _ = of_minimum_scalar()
    f = theano.function([a, b, s], solution, mode="NATIVE")
    (node,) = [node for node in f.vm.nodes if isinstance(node.op, ScipyWrapperOp)]
    machine = with_function_linked_by(node, NativeLinker()).op.fn.vm
    assert isinstance(machine, NativeMachine)
    assert [hasattr(unit.run, "native") for unit in machine.units] == [True]
    # others may share the operation
    assert node.op._fn is None


@pytest.mark.parametrize("name", PROBLEMS)
def test_functions_of_c_call_back(name):
    unknown, (solution, _), start = PROBLEMS[name]()
    gradient = theano.grad((solution**2).sum(), a)
    f = theano.function([a, b, unknown], [solution, gradient], mode="NATIVE")
    in_c = c_function(f, allow_python=True)
    for one, other in zip(in_c(*AT, start), f(*AT, start), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
