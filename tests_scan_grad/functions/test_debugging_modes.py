"""The modes that look at what a function computes: DebugMode, NanGuardMode, MonitorMode."""

import warnings

import numpy as np
import pytest
from pytensor.tensor.type import TensorType as PyTensorTensorType

import theano
import theano.tensor as T
from theano.compile import DebugMode, MonitorMode, NanGuardMode
from theano.compile.debugmode import BadThunkOutput, InvalidValueError
from theano.compile.monitormode import detect_nan

ONES = np.ones((2, 3))


@pytest.fixture
def x():
    return T.matrix("x", dtype="float64")


def test_debug_mode_finds_an_operator_that_lies(x):
    calls = []

    @theano.as_op(itypes=[T.dmatrix], otypes=[T.dmatrix])
    def unsteady(value):
        calls.append(1)
        return value + len(calls)

    mode = DebugMode(check_preallocated_output=["initial", "previous", "c_contiguous"])
    with pytest.raises(BadThunkOutput):
        theano.function([x], unsteady(x), mode=mode)(ONES)


def test_debug_mode_reads_its_flags_when_it_is_made():
    flags = {"DebugMode.patience": 3, "DebugMode.check_finite": False, "DebugMode.check_c": False}
    with theano.change_flags(flags):
        mode = DebugMode()
    assert (mode.stability_patience, mode.check_isfinite, mode.check_c_code) == (3, False, False)
    assert DebugMode(stability_patience=1).stability_patience == 1


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_debug_mode_refuses_what_is_not_finite(x):
    f = theano.function([x], T.log(x), mode=DebugMode())
    assert f(ONES).sum() == 0
    for wrong in (-ONES, ONES * np.inf):
        with pytest.raises(InvalidValueError):
            f(wrong)
    assert "is_valid_value" not in vars(PyTensorTensorType)
    lenient = theano.function([x], T.log(x), mode=DebugMode(check_isfinite=False))
    assert np.isnan(lenient(-ONES)).all()


@pytest.mark.filterwarnings("ignore:All-NaN slice:RuntimeWarning")
def test_nan_guard_mode(x):
    nan = theano.function([x], T.log(x), mode="NanGuardMode")
    assert nan(ONES).sum() == 0
    with pytest.raises(AssertionError, match="NaN detected"):
        nan(-ONES)
    with pytest.raises(AssertionError, match="Inf detected"):
        nan(0 * ONES)
    lenient = NanGuardMode(nan_is_error=True, inf_is_error=False, big_is_error=False)
    for mode in (lenient, lenient.excluding("fusion")):
        f = theano.function([x], T.log(x), mode=mode)
        assert np.isinf(f(0 * ONES)).all()
        with pytest.raises(AssertionError, match="NaN detected"):
            f(-ONES)
    with theano.change_flags({"NanGuardMode.nan_is_error": False}):
        assert np.isnan(theano.function([x], T.log(x), mode="NanGuardMode")(-ONES)).all()


def test_nan_guard_mode_ignores_memory_that_a_loop_has_not_written_yet():
    x, h0, w = T.matrix("x"), T.vector("h0"), theano.shared(0.5 * np.eye(4))
    h, _ = theano.scan(lambda x_t, h: T.tanh(x_t + T.dot(h, w)), sequences=x, outputs_info=h0)
    f = theano.function([x, h0], [h[-1], theano.grad(h[-1].sum(), w)], mode="NanGuardMode")
    for _ in range(5):
        # freed memory of these sizes is what the loops get
        for rows in (1, 2, 5, 6):
            np.full((rows, 4), np.nan)
        f(np.ones((5, 4)), np.ones(4))
    with pytest.raises(AssertionError, match="NaN detected"):
        f(np.full((5, 4), np.nan), np.ones(4))


def test_monitor_mode_sees_every_node(x):
    seen = []

    def before(i, node, fn):
        seen.append((i, str(node.op), fn.inputs[0][0].shape))

    mode = MonitorMode(pre_func=before, optimizer="fast_compile").excluding("fusion")
    theano.function([x], T.exp(x).sum(), mode=mode)(ONES)
    assert [i for i, _, _ in seen] == [0, 1]
    assert seen[0][2] == (2, 3)


def test_detect_nan_prints_the_node(capsys, x):
    f = theano.function([x], T.log(x), mode=MonitorMode(post_func=detect_nan))
    f(ONES)
    assert capsys.readouterr().out == ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f(-ONES)
    printed = capsys.readouterr().out
    assert "NaN detected" in printed and "Elemwise{log,no_inplace} [id A]" in printed


def test_programs_see_whether_an_operator_makes_its_own_thunks():
    from theano.compile.debugmode import default_make_thunk

    class OfItsOwn(theano.Op):
        def make_thunk(self, *arguments):
            return lambda: None

    for op in (T.exp, T.nlinalg.MatrixInverse(), theano.compile.as_op([], [])(max)):
        assert op.make_thunk.__func__ in default_make_thunk
    assert OfItsOwn().make_thunk.__func__ not in default_make_thunk
