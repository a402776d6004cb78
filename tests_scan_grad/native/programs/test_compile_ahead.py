"""The C compiler is started for loops while their function is rewritten, once for each."""

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad import networks
from theano.link.native import source
from theano.link.native.build import compiler, objects
from theano.link.native.build import libraries as build
from theano.link.native.build.processor_time import seconds_used
from theano.link.native.lowering import lowered_loops


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Provide the loops started with an empty cache, each with whether that was ahead."""
    lowered_loops._lowered.cache_clear()
    for module in (build, objects):
        monkeypatch.setattr(module, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(compiler, "cores", lambda: 2)
    # however busy the machine is
    monkeypatch.setattr(objects, "SECONDS_OF_PATIENCE", 600)
    found = []
    start = objects._start

    def record(code, path, tier, behind=False):
        found.append((code.name, behind))
        return start(code, path, tier, behind)

    monkeypatch.setattr(objects, "_start", record)
    with theano.config.change_flags(cache_optimizations=False):
        yield found


def written(function) -> list[str]:
    """The names of the loops in a function's C text."""
    return re.findall(
        r"^TN_(?:SHARED int64_t |LOOP_OF_THREADS\()(loop_\w+)\S*\)$", source(function), re.M
    )


def layer(x, w, **kwargs):
    return theano.scan(
        lambda x_t, h, w: T.tanh(x_t + h.dot(w)),
        sequences=[x],
        outputs_info=[T.zeros_like(x[0])],
        non_sequences=[w],
        **kwargs,
    )[0]


def stack(count):
    x = T.matrix("x")
    weights = [theano.shared(np.eye(3) * (k + 1) / 4, f"w{k}") for k in range(count)]
    top = x
    for w in weights:
        top = layer(top, w)
    return theano.function([x], theano.grad((top**2).sum(), weights))


def test_all_loops_of_a_stack_are_started_ahead(started):
    function = stack(3)
    assert sorted(started) == sorted((name, True) for name in written(function))
    again = stack(3)
    assert written(again) == written(function) and len(started) == len(written(function))
    value = np.random.default_rng(0).standard_normal((5, 3))
    for first, second in zip(function(value), again(value), strict=True):
        np.testing.assert_array_equal(first, second)


def test_equal_layers_are_lowered_once(started, monkeypatch):
    lowered = []
    lower = lowered_loops.lower_scan

    def count(op, *arguments):
        lowered.append(op)
        return lower(op, *arguments)

    monkeypatch.setattr(lowered_loops, "lower_scan", count)
    assert len(written(stack(4))) == len(lowered) < 8


def test_loops_that_will_be_joined_are_started_when_they_are(started):
    x, w = T.matrix("x"), theano.shared(np.eye(3) / 2, "w")
    ahead, back = layer(x, w), layer(x, w, go_backwards=True)
    function = theano.function([x], theano.grad((ahead * back[::-1]).sum(), w))
    names = written(function)
    assert len(names) == 2
    assert sorted(started) == sorted((name, True) for name in names)


def test_loops_that_are_given_a_length_twice_are_started_once(started):
    """As the backward loop of a decoder that attends is: its annotations' lengths are its keys'."""

    def loop(step, **arguments):
        states, _ = theano.scan(step, **arguments)
        return states

    built = networks.attention(loop)
    inputs, weights = built.inputs, built.weights
    projected = T.tensordot(inputs[0], T.eye(inputs[0].shape[2]), 1)
    cost = theano.clone(built.cost, replace={inputs[0]: projected})
    function = theano.function(inputs, theano.grad(cost, weights), mode="NATIVE")
    assert sorted(started) == sorted((name, True) for name in written(function))
    expected = theano.function(inputs, theano.grad(cost, weights), mode="FAST_COMPILE")
    for ours, theirs in zip(function(*built.values), expected(*built.values), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_loops_inside_loops_are_started_ahead(started):
    x = T.matrix("x")
    sums, _ = theano.scan(
        lambda row: theano.scan(lambda e, s: T.tanh(s + e), row, T.zeros((), row.dtype))[0][-1], x
    )
    function = theano.function([x], sums)
    assert sorted(started) == sorted((name, True) for name in written(function))
    assert len(started) == 2
    value = np.arange(6.0).reshape(2, 3) / 10
    expected = [np.tanh(np.tanh(np.tanh(a) + b) + c) for a, b, c in value]
    np.testing.assert_allclose(function(value), expected)


@pytest.mark.parametrize("share, again", [(1.0, False), (0.1, True), (None, True)])
def test_what_gets_a_core_is_not_started_again(share, again, started, monkeypatch, tmp_path):
    monkeypatch.setattr(objects, "SECONDS_OF_PATIENCE", 0.001)
    if again:
        # what is started behind all else never ends
        tools = tmp_path / "tools"
        tools.mkdir()
        nice = tools / "nice"
        nice.write_text("#!/bin/sh\nexec sleep 3000\n")
        nice.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    used = None if share is None else (lambda: share * time.monotonic())
    monkeypatch.setattr(compiler.Run, "seconds_used", lambda run: used and used())
    names = written(stack(2))
    assert {name for name, ahead in started if ahead} == set(names)
    assert any(not ahead for _, ahead in started) == again


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_the_time_of_a_process_is_that_of_those_that_it_started_too():
    # a tick of the system's account is a hundredth of a second
    busy = (
        "import time\nwhile time.process_time() < 0.3: pass\n"
        "print(time.process_time(), flush=True); time.sleep(600)"
    )
    shell = f"{sys.executable} -c '{busy}'; true"
    command = ["sh", "-c", shell]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        at_least = float(process.stdout.readline()) - 0.05
        used = seconds_used(process.pid)
        os.killpg(process.pid, signal.SIGKILL)
    assert used >= at_least
    assert seconds_used(process.pid) is None


def test_with_one_core_nothing_is_started(started, monkeypatch):
    monkeypatch.setattr(compiler, "cores", lambda: 1)
    function = stack(2)
    assert written(function) and not any(ahead for _, ahead in started)


def test_what_is_watched_or_run_by_python_is_not_started(started):
    x, w = T.matrix("x"), theano.shared(np.eye(3), "w")
    with theano.config.change_flags(profile=True):
        theano.function([x], layer(x, w)[-1])
    theano.function([x], layer(x, w)[-1], mode=theano.Mode("py", "fast_run"))
    assert not started
