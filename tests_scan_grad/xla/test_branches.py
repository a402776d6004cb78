"""Choices between values, and conditions that must hold."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.scalar
import theano.tensor as T
from theano.ifelse import ifelse
from theano.raise_op import Assert, Raise

pytest.importorskip("jax")

VALUES = np.arange(3.0)


def function_of_branches(gradient=False):
    x, c = T.vector("x"), T.scalar("c")
    positive = Assert("no sum above 0")(T.exp(x), x.sum() > 0)
    taken = x[T.cast(c, "int64")] * x
    result = ifelse(c > 0, taken, positive + ifelse(c < -5, x, 2 * x))
    return theano.function([x, c], theano.grad(result.sum(), x) if gradient else result, mode="XLA")


def test_the_branch_of_the_condition_is_computed():
    f = function_of_branches()
    assert not f.vm.plan.reasons
    np.testing.assert_allclose(f(VALUES, 1.0), VALUES)
    np.testing.assert_allclose(f(VALUES, -1.0), np.exp(VALUES) + 2 * VALUES)


def test_the_gradient_is_that_of_the_branch():
    f = function_of_branches(gradient=True)
    np.testing.assert_allclose(f(VALUES, 1.0), [1, 4, 1])
    np.testing.assert_allclose(f(VALUES, -2.0), np.exp(VALUES) + 2)


def test_what_the_other_branch_requires_does_not_matter():
    f = function_of_branches()
    np.testing.assert_allclose(f(-VALUES, 2.0), [0, 2, 4])
    np.testing.assert_allclose(f(VALUES, -7.0), np.exp(VALUES) + VALUES)


def test_what_the_taken_branch_requires_is_checked():
    f = function_of_branches()
    with pytest.raises(AssertionError, match="no sum above 0\n.*Assert"):
        f(-VALUES, -1.0)
    with pytest.raises(IndexError, match="dimension 0 has length 3\n.*Subtensor"):
        f(VALUES, 7.0)


def test_branches_of_different_shapes_are_chosen_on_the_host():
    x, c = T.vector("x"), T.scalar("c")
    f = theano.function([x, c], ifelse(c > 0, x, x[1:]) * 2, mode="XLA")
    np.testing.assert_allclose(f(VALUES, 1.0), 2 * VALUES)
    np.testing.assert_allclose(f(VALUES, -1.0), 2 * VALUES[1:])
    assert list(f.vm.plan.reasons.values()) == ["branches of different shapes"]


def test_a_branch_of_which_a_part_is_on_the_host_runs_only_if_it_is_taken():
    x, c = T.vector("x"), T.scalar("c")
    never = Raise("no", KeyError)(T.exp(x)) + 1
    f = theano.function([x, c], ifelse(c > 0, 2 * x, never) * 3, mode="XLA")
    np.testing.assert_allclose(f(VALUES, 1.0), 6 * VALUES)
    with pytest.raises(KeyError, match="no"):
        f(VALUES, -1.0)


def test_a_scalar_that_is_returned_is_a_number():
    x = theano.scalar.int8("x")
    f = theano.function([x], x + x, mode="XLA")
    assert type(f(3)) is np.int8
