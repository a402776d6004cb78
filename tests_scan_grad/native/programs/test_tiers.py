"""A function runs soon, by quickly compiled code, and is optimized while it is used."""

import gc
import logging
import os
import time
from textwrap import dedent

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import run_python
from theano.link.native.build import compiler, libraries, objects, optimized_later, programs
from theano.link.native.ir.ir import CannotLower
from theano.link.native.run.c_function import c_function

VALUE = np.random.default_rng(0).standard_normal((5, 3))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache."""
    for module in (libraries, objects, optimized_later):
        monkeypatch.setattr(module, "cache_folder", lambda: tmp_path)
    with theano.config.change_flags(**{"native.quick": True}):
        yield tmp_path


def network():
    """A loop, its gradient and updates, which ran long enough to be optimized."""
    function = new_network()
    for native in segments(function):
        if native._later is not None:
            native._later.seconds = programs.SECONDS_WORTH_COMPILING
    return function


def new_network():
    x = T.matrix("x")
    w = theano.shared(np.eye(3) / 4, "w")
    states, _ = theano.scan(
        lambda v, h: T.nnet.sigmoid(v + h.dot(w)) * T.exp(-(h**2)) + 0.3 * v * h,
        sequences=[x],
        outputs_info=[T.zeros_like(x[0])],
    )
    cost = (states**2).sum()
    gradient = theano.grad(cost, w)
    outputs = [cost, states, gradient, T.log1p(abs(x)).mean(axis=0), T.erf(x), T.gammaln(abs(x))]
    return theano.function([x], outputs, mode="NATIVE")


def segments(function):
    """The segments of a function."""
    found = [getattr(unit.run, "native", None) for unit in function.vm.units]
    return [native for native in found if native is not None]


def waits(function) -> bool:
    """Return whether optimized code may still replace what runs."""
    return any(native._later is not None for native in segments(function))


def call_until_optimized(function, value=VALUE):
    """The results of each call, to the first one by optimized code."""
    results = [function(value), function(value)]
    end = time.monotonic() + 120
    while waits(function) and time.monotonic() < end:
        results.append(function(value))
    assert not waits(function)
    return [*results, function(value)]


def assert_same_bits(first, second):
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


def test_results_have_the_same_bits_before_and_after(folder):
    function = network()
    assert waits(function)
    first, *others = call_until_optimized(function)
    for other in others:
        assert_same_bits(first, other)


def test_what_is_called_once_is_not_optimized(folder, monkeypatch):
    function = network()
    started = []
    monkeypatch.setattr(compiler, "run", lambda *arguments, **_: started.append(arguments))
    function(VALUE)
    assert waits(function) and not started


def test_what_runs_shortly_is_not_optimized(folder, monkeypatch):
    monkeypatch.setattr(programs, "SECONDS_WORTH_COMPILING", 1e9)
    function = new_network()
    started = []
    monkeypatch.setattr(compiler, "run", lambda *arguments, **_: started.append(arguments))
    for _ in range(3):
        function(VALUE)
    assert waits(function) and not started


def test_calls_are_counted_until_it_pays(folder, monkeypatch):
    monkeypatch.setattr(programs, "SECONDS_WORTH_COMPILING", 1e-3)
    call_until_optimized(new_network())


def test_calls_are_prepared_before_code_is_optimized(folder):
    """Now and then one is made by Python, which looks for better code."""
    function = new_network()
    results = [function(VALUE) for _ in range(20)]
    quick = function._prepared
    assert waits(function) and quick is not None
    (native,) = segments(function)
    native._later.seconds = programs.SECONDS_WORTH_COMPILING
    end = time.monotonic() + 120
    while waits(function) and time.monotonic() < end:
        last = function(VALUE)
    assert not waits(function)
    results.append(last)
    results += [function(VALUE) for _ in range(20)]
    assert function._prepared not in (None, quick)
    for found in results:
        assert_same_bits(results[0], found)


def test_optimized_code_of_a_process_before_is_used_at_once(folder):
    call_until_optimized(network())
    assert not waits(network())


def test_without_the_flag_all_is_optimized(folder):
    with theano.config.change_flags(**{"native.quick": False}):
        assert not waits(network())


def test_short_functions_and_profiled_ones_are_optimized(folder):
    x = T.vector("x")
    with theano.change_flags({"native.compiler": "cc"}):
        assert not waits(theano.function([x], T.exp(x) + 1, mode="NATIVE"))
    with theano.config.change_flags(profile=True, profiling__destination="/dev/null"):
        assert not waits(network())


def test_what_takes_long_is_optimized_first(folder):
    x = T.matrix("x")
    parts = [T.exp(x * k).sum(axis=k % 2) for k in range(1, 20)]
    function = theano.function([x], [*parts, T.cumsum(x, axis=0).max()], mode="NATIVE")
    few = function(VALUE)
    assert waits(function)
    function(np.ones((1000, 1000)))
    assert not waits(function)
    assert_same_bits(function(VALUE), few)


def test_products_and_loops_are_not_waited_for(folder):
    x = T.matrix("x")
    sums, _ = theano.scan(lambda row, s: T.exp(row) + 0.5 * s, [x], [T.zeros_like(x[0])])
    product = x.dot(x).dot(x).dot(x)
    function = theano.function([x], [product.sum(), sums[-1], x[0]], mode="NATIVE")
    with_loop = np.random.default_rng(1).standard_normal((800, 800)) / 100
    first = function(with_loop)
    assert waits(function)
    assert_same_bits(first, call_until_optimized(function, with_loop)[-1])


def test_a_c_function_is_optimized(folder):
    function = network()
    compiled = c_function(function)
    assert not waits(function)
    assert_same_bits(function(VALUE), compiled(VALUE))


@pytest.mark.parametrize("error", [CannotLower("anything"), OSError("no space left")])
def test_where_that_fails_quick_code_goes_on(error, folder, monkeypatch, caplog):
    function = network()
    first = function(VALUE)

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(compiler, "run", fail)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert_same_bits(first, function(VALUE))
            time.sleep(optimized_later.SECONDS_BETWEEN_POLLS)
    assert sum("not optimized" in record.getMessage() for record in caplog.records) == 1


def test_a_signal_while_the_compiler_is_started_is_no_end_of_it(folder, monkeypatch):
    function = network()
    first = function(VALUE)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(compiler, "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            function(VALUE)
    for result in call_until_optimized(function):
        assert_same_bits(first, result)


def test_the_compiler_ends_with_the_function(folder, monkeypatch):
    runs = []
    start = compiler.run

    def record(*arguments, **options):
        runs.append(start(*arguments, **options))
        return runs[-1]

    function = network()
    function(VALUE)
    monkeypatch.setattr(compiler, "run", record)
    function(VALUE)
    assert runs and not any(run.process.returncode is not None for run in runs)
    del function
    gc.collect()
    assert all(run.process.returncode is not None for run in runs)
    assert all(path.is_file() for path in folder.iterdir())


FORK = """
import os
import numpy as np
from tests_scan_grad.native.programs.test_tiers import VALUE, call_until_optimized, network
from theano.link.native.build.compiler import Run
function = network()
is_done, Run.is_done = Run.is_done, lambda run: False
results = [function(VALUE), function(VALUE)]
Run.is_done = is_done
child = os.fork()
if child == 0:
    same = all(map(np.array_equal, function(VALUE), results[0]))
    os._exit(0 if same else 1)
print(os.waitpid(child, 0)[1])
for result in call_until_optimized(function):
    print(all(map(np.array_equal, result, results[0])))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_process_leaves_its_parents_compiler_alone(tmp_path):
    done = run_python(FORK, THEANO_FLAGS=f"base_compiledir={tmp_path}")
    status, *same = done.stdout.split()
    assert status == "0" and same and set(same) == {"True"}, done.stderr


def test_a_process_that_ends_leaves_nothing_behind(tmp_path):
    program = dedent("""
        from tests_scan_grad.native.programs.test_tiers import VALUE, network, waits
        function = network()
        function(VALUE), function(VALUE)
        print(waits(function))
    """)
    flags = {"THEANO_FLAGS": f"base_compiledir={tmp_path}"}
    assert run_python(program, **flags).stdout.strip() == "True"
    assert all(path.is_file() for path in (tmp_path / "native").iterdir())
