"""Loops that are kernels in programs of XLA, launched by a stand-in for CUDA's driver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import theano
import theano.tensor as T
from tests_scan_grad.cuda import measured
from tests_scan_grad.cuda.functions import kernel_of_blocks
from tests_scan_grad.cuda.host import SMALL, built, needs_compiler
from tests_scan_grad.cuda.test_kernels_on_the_host import REFUSED, function_of, gated, same
from tests_scan_grad.generated.built_loops import numbers
from tests_scan_grad.generated.generated_loops import FAMILIES, describe, loops, share_of_loops
from tests_scan_grad.loop_counts import theano_scan
from tests_scan_grad.loop_rewrites.test_golden_loops import FUNCTIONS
from tests_scan_grad.loop_runs import CompiledLoop
from theano.link.cuda import handler

pytest.importorskip("jax")
from theano.link.xla import report
from theano.link.xla.loop import kernels

pytestmark = needs_compiler

FLAGS = ("-shared", "-fPIC")


@pytest.fixture
def driver(stand_in, monkeypatch):
    """XLA's CPU as a device that has kernels, and the stand-in for its driver."""
    monkeypatch.setattr(handler, "DRIVER", stand_in.path)
    handler.library.cache_clear()
    monkeypatch.setattr(kernels, "PLATFORMS", {"cpu"})
    monkeypatch.setattr(kernels, "_limits_of", lambda _: SMALL)
    monkeypatch.setattr(kernels, "code_for", code)
    # as many as the device has, where the model finds fewer better for what is so small
    monkeypatch.setattr(kernels, "kernel_of_node", kernel_of_blocks)
    with theano.config.change_flags(scan__gpu_kernels="always"):
        yield stand_in
    handler.library.cache_clear()


def code(kernel, _, flags=()):
    """Return what the stand-in loads: the path of a library."""
    return f"{built(kernel, (*FLAGS, *flags))}\0".encode()


# networks of all kinds of states and results in the default run
SOME = ["gated_rnn", "attention", "stopping", "nested"]


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name in SOME])
def test_a_network(driver, name):
    check_network(driver, name)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in SOME])
def test_another_network(driver, name):
    check_network(driver, name)


def check_network(driver, name):
    function, values = function_of(name)
    on_xla, _ = function_of(name, "XLA")
    if name in REFUSED:
        with pytest.warns(UserWarning, match=REFUSED[name]):
            ours = on_xla(*values)
    else:
        ours = on_xla(*values)
        assert driver.launched
    same(ours, function(*values), name)


@pytest.mark.parametrize("family", FAMILIES)
def test_generated_loops(driver, family):
    @share_of_loops(4 * len(FAMILIES))
    @given(loops(family))
    def check(loop):
        ours, theirs = (CompiledLoop(loop, theano.scan, mode) for mode in ("XLA", "FAST_COMPILE"))
        values = numbers(loop) | {"n": np.int64(loop.length)}
        given = [np.asarray(values[name]) for name in ours.built.inputs]
        if ours.built.generator is not None:
            return
        try:
            expected = theirs.function(*given)
        except IndexError:
            with pytest.raises(IndexError):
                ours.function(*given)
            return
        same(ours.function(*given), expected, describe(loop))

    check()


def summed(x, h0, **options):
    return theano_scan(lambda x, h: T.tanh(x + h), sequences=[x], outputs_info=[h0], **options)


def test_a_kernel_is_loaded_once_for_all_numbers_of_steps(driver):
    x, h0, n = T.matrix("x"), T.vector("h0"), T.iscalar("n")
    h = summed(x, h0, n_steps=n)
    f, g = (theano.function([x, h0, n], h, mode=mode) for mode in ("XLA", "FAST_COMPILE"))
    before = driver.loaded
    for steps in (1, 4, 9, 0):
        values = [np.ones((9, 3)), np.zeros(3), np.int32(steps)]
        same([f(*values)], [g(*values)])
    assert (driver.loaded - before, driver.launched) == (1, 3)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_the_last_rows(driver, rows):
    x, h0 = T.matrix("x"), T.vector("h0")
    h = summed(x, h0)[-rows:]
    f, g = (theano.function([x, h0], h, mode=mode) for mode in ("XLA", "FAST_COMPILE"))
    for steps in (3, 7):
        values = [np.arange(3.0 * steps).reshape(steps, 3), np.zeros(3)]
        same([f(*values)], [g(*values)])
    assert driver.launched == 2


def test_a_loop_that_stops(driver):
    x = T.vector("x")
    h, _ = theano.scan(
        lambda x, h: (h + x, theano.scan_module.until(h + x > 5)),
        sequences=[x],
        outputs_info=[T.zeros(())],
    )
    f, g = (theano.function([x], [h, h[-1]], mode=mode) for mode in ("XLA", "FAST_COMPILE"))
    for values in ([1.0, 2, 3, 4], [1.0, 1, 1], [9.0]):
        same(f(values), g(values))
    assert driver.launched == 3


def test_updates_of_shared_variables(driver):
    x, h0 = T.matrix("x"), theano.shared(np.zeros(3), name="h0")
    h = summed(x, h0)
    f = theano.function([x], h, updates=[(h0, h[-1])], mode="XLA")
    expected = np.zeros(3)
    for k in range(3):
        values = np.full((4, 3), 0.1 * k)
        for row in values:
            expected = np.tanh(row + expected)
        f(values)
        np.testing.assert_allclose(h0.get_value(), expected, rtol=1e-12)
    assert driver.launched == 3


def test_an_index_out_of_range_is_an_error_and_leaves_shared_variables(driver):
    table, indices = T.matrix("table"), T.imatrix("indices")
    total = theano.shared(np.zeros((2, 4)), name="total")
    rows = theano_scan(
        lambda i, s, table: s + table[i],
        sequences=[indices],
        outputs_info=[total],
        non_sequences=[table],
    )
    f = theano.function([table, indices], rows[-1], updates=[(total, rows[-1])], mode="XLA")
    values = [np.arange(20.0).reshape(5, 4), np.array([[0, 1], [4, -5]], "int32")]
    same([f(*values)], [values[0][[0, 1]] + values[0][[4, 0]]])
    before = total.get_value()
    values[1][1, 1] = 5
    with pytest.raises(IndexError, match="out of range"):
        f(*values)
    np.testing.assert_array_equal(total.get_value(), before)
    assert driver.launched == 2


def test_blocks_that_never_start_are_an_error(driver, monkeypatch):
    patient = lambda kernel, gpu: code(kernel, gpu, ("-DTK_PATIENCE=300000",))  # noqa: E731
    monkeypatch.setattr(kernels, "code_for", patient)
    function, values = gated()
    f, _ = gated(mode="XLA")
    same(f(*values), function(*values))
    driver.set(absent=1)
    with pytest.raises(RuntimeError, match="waited in vain"):
        f(*values)
    driver.set(absent=0)
    same(f(*values), function(*values))


# ---- the choice ----


def test_the_report_says_which_loops_are_kernels(driver):
    f, values = gated(mode="XLA")
    assert "kernel" not in str(report(f))
    f(*values)
    lines = [line for line in str(report(f)).splitlines() if "a kernel of" in line]
    assert len(lines) == 2 and all("barriers a step" in line for line in lines), lines


@pytest.mark.parametrize("flag", ["never", "auto"])
def test_the_flag_decides(driver, monkeypatch, flag):
    function, values = gated()
    with theano.config.change_flags(scan__gpu_kernels=flag):
        monkeypatch.setattr(kernels, "MICROSECONDS_OF_XLA", 0.1)
        f, _ = gated(mode="XLA")
    # the flag is read when a function is compiled
    same(f(*values), function(*values))
    assert not driver.launched
    assert ("which the model takes for faster" in str(report(f))) == (flag == "auto")


def test_a_kernel_that_the_model_finds_faster_runs(driver):
    function, values = gated()
    with theano.config.change_flags(scan__gpu_kernels="auto"):
        f, _ = gated(mode="XLA")
    same(f(*values), function(*values))
    assert driver.launched == 2


def test_blocks_that_do_not_fit_leave_the_loop_to_xla(driver):
    (function, values), (on_xla, _) = gated(), gated(mode="XLA")
    driver.set(fitting=0)
    with pytest.warns(UserWarning, match="no kernel: 2 blocks, of which 0 fit on the device"):
        results = on_xla(*values)
    same(results, function(*values))
    assert not driver.launched


def test_code_that_the_driver_refuses_leaves_the_loop_to_xla(driver, monkeypatch):
    monkeypatch.setattr(kernels, "code_for", lambda *_: b"/nowhere/kernel.so\0")
    (function, values), (on_xla, _) = gated(), gated(mode="XLA")
    with pytest.warns(UserWarning, match="cuModuleLoadData: not valid"):
        results = on_xla(*values)
    same(results, function(*values))


def test_without_a_driver_there_is_xlas_loop(driver, monkeypatch):
    monkeypatch.setattr(handler, "DRIVER", "/nowhere/libcuda.so.1")
    handler.library.cache_clear()
    (function, values), (on_xla, _) = gated(), gated(mode="XLA")
    with pytest.warns(UserWarning, match="CUDA's driver is not there"):
        results = on_xla(*values)
    handler.library.cache_clear()
    same(results, function(*values))


def test_a_device_that_is_not_known_has_no_kernels(driver, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(kernels, "PLATFORMS", {"cpu"})
    (function, values), (on_xla, _) = gated(), gated(mode="XLA")
    with pytest.warns(UserWarning, match="no kernel: kernels are not made for compute capability"):
        same(on_xla(*values), function(*values))


def test_measured_rows(driver, monkeypatch):
    monkeypatch.setattr(measured, "REPEATS", 2)
    rows = list(measured.rows_in_xla([(2, 6, 4)]))
    assert [row.split("=")[1].split(":")[0] for row in rows] == ["always", "never"]
    assert all(float(row.split()[-1]) < 1e-5 for row in rows)
    assert driver.launched == 2 * (1 + 2)
