"""Names that programs take from `theano.tests`: helpers for their tests, and a breakpoint."""

import pdb
import sys

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tests import unittest_tools as utt
from theano.tests.breakpoint import PdbBreakpoint


@pytest.fixture
def debugger(monkeypatch):
    """In place of pdb: doubles the first of what is watched, and notes all of it."""
    seen = []

    def set_trace():
        monitored = sys._getframe(1).f_locals["monitored"]
        seen.append([value.copy() for value in monitored])
        monitored[0] *= 2

    monkeypatch.setattr(pdb, "set_trace", set_trace)
    monkeypatch.setattr("theano.tests.breakpoint._DEBUGGERS", {"pdb": lambda: pdb})
    return seen


def test_a_breakpoint_starts_the_debugger_where_its_condition_holds(debugger, capsys):
    given, target = T.fvectors("given", "target")
    error = (given - target) ** 2
    watched = PdbBreakpoint("MSE too high")(T.gt(error.sum(), 100), error, given, target)
    f = theano.function([given, target], watched[0])
    assert f([10, 0], [10, 5]).tolist() == [0, 25] and not debugger
    assert f([0, 0], [10, 5]).tolist() == [200, 50]
    assert "Conditional breakpoint 'MSE too high' activated" in capsys.readouterr().out
    [values] = debugger
    assert [value.tolist() for value in values] == [[100, 25], [0, 0], [10, 5]]


def test_a_breakpoint_in_a_loop_and_its_gradient(debugger):
    x = T.dvector("x")
    sums, _ = theano.scan(
        lambda x_t, s: PdbBreakpoint("sum")(s > 2, s + x_t) ** 2,
        sequences=x,
        outputs_info=T.zeros(()),
    )
    f = theano.function([x], [sums, theano.grad(sums[-1], x)])
    values, gradient = f([1.0, 0.5])
    assert values.tolist() == [1.0, 2.25] and gradient.tolist() == [6.0, 3.0] and not debugger
    f([2.0, 0.5])
    assert len(debugger) >= 1


def test_the_shape_of_what_a_breakpoint_gives_is_known_without_it(debugger):
    x = T.dvector("x")
    watched = PdbBreakpoint("p")(x.sum() > 0, x)
    shape = theano.function([x], watched.shape)
    assert shape([1.0, 2.0]).tolist() == [2] and not debugger
    with pytest.raises(ValueError, match="one boolean"):
        PdbBreakpoint("p")(x > 0, x)


def test_seeds_are_those_of_the_flag():
    assert utt.fetch_seed() == 666 and utt.fetch_seed(3) == 3
    with theano.config.change_flags(unittests__rseed="random"):
        assert utt.fetch_seed() is None
    assert utt.seed_rng() == 666
    np.testing.assert_array_equal(np.random.rand(3), np.random.RandomState(666).rand(3))


def test_gradients_are_compared_with_finite_differences():
    utt.verify_grad(lambda x: T.tanh(x).sum(), [np.array([0.1, 0.2])])

    class Wrong(theano.Op):
        __props__ = ()
        itypes = [T.dvector]
        otypes = [T.dvector]

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] ** 2

        def grad(self, inputs, output_gradients):
            return [3 * inputs[0] * output_gradients[0]]

    with pytest.raises(utt.verify_grad.E_grad):
        utt.verify_grad(Wrong(), [np.array([0.5, 0.7])])


def test_arrays_that_differ_are_told_apart():
    utt.assert_allclose(np.ones(3), np.ones(3) + 1e-9)
    utt.assert_allclose(np.ones(3, "float32"), np.ones(3, "float32") * (1 + 1e-6))
    with pytest.raises(utt.WrongValue) as error:
        utt.assert_allclose(np.ones(3), np.array([1.0, 2.0, np.nan]), rtol=0.1)
    assert "max 1.0" in str(error.value) and "rtol, atol: 0.1" in str(error.value)
    with pytest.raises(utt.WrongValue):
        utt.assert_allclose(np.ones(3), np.ones(3) + 1e-3)


class TestShapes(utt.InferShapeTester):
    """As the documentation of Theano tells to test an operation."""

    def test_a_shape_that_is_known(self):
        x = T.dmatrix("x")
        self._compile_and_check([x], [T.exp(x)], [np.ones((2, 3))], T.Elemwise)

    def test_lengths_that_are_the_same_are_warned_of(self):
        x = T.dmatrix("x")
        with pytest.warns(UserWarning, match="may be mixed up"):
            self._compile_and_check([x], [T.exp(x)], [np.ones((2, 2))], T.Elemwise)

    def test_a_shape_that_is_not_known(self):
        x = T.dvector("x")
        with pytest.raises(AssertionError):
            self._compile_and_check([x], [x.nonzero()[0]], [np.ones(2)], T.basic.Nonzero)


class TestContract(utt.T_OpContractMixin):
    """An operation keeps to what all must."""

    ops = [PdbBreakpoint("one"), PdbBreakpoint("other")]

    def clone(self, op):
        return PdbBreakpoint(op.name)


class TestFunctions(utt.TestOptimizationMixin):
    """Assertions on what a function applies."""

    __test__ = True

    def test_operations_are_counted(self):
        x = T.dvector("x")
        f = theano.function([x], T.exp(x), mode=theano.Mode("py", None))
        self.assertFunctionContains1(f, T.exp)
        self.assertFunctionContains0(f, T.log)
        self.assertFunctionContainsClassN(f, T.Elemwise, 1)
        with pytest.raises(AssertionError, match="expected 2 to 2 nodes"):
            self.assertFunctionContainsN(f, T.exp, 2)


def test_a_test_that_may_fail_is_attempted_again_with_another_seed():
    seeds = []

    @utt.AttemptManyTimes(n_attempts=4, n_req_successes=2)
    def test():
        seeds.append(utt.fetch_seed())
        assert len(seeds) % 2 == 0

    test()
    assert seeds == [666, 667, 668, 669] and utt.fetch_seed() == 666

    @utt.AttemptManyTimes(n_attempts=3, n_req_successes=2)
    def fails():
        seeds.append(0)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert seeds.count(0) == 2


def test_draws_of_a_mock():
    assert utt.MockRandomState(0).randint(3, 7) == 3 and utt.MockRandomState(1).randint(3, 7) == 6
    assert utt.MockRandomState(0.5).rand(2, 1).tolist() == [[0.5], [0.5]]


def test_what_was_removed_names_what_replaced_it():
    with pytest.raises(NotImplementedError, match="profile=True"):
        theano.compile.ProfileMode(optimizer="fast_run", linker="py")
    assert not isinstance(theano.compile.get_default_mode(), theano.compile.ProfileMode)
    assert theano.compile.profilemode.ProfileMode is theano.compile.ProfileMode
    with pytest.raises(NotImplementedError, match=r"pydotprint\(variables"):
        theano.printing.pydotprint_variables([T.dvector()], "graph.png")


def test_constants_are_known_by_the_names_of_opt():
    assert T.opt.get_scalar_constant_value(T.constant(3) + 1) == 4
    with pytest.raises(T.opt.NotScalarConstantError):
        T.opt.get_scalar_constant_value(T.dscalar())
