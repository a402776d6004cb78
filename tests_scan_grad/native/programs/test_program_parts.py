"""Long programs: the C of a segment leaves the work to functions, which are compiled in parts."""

from __future__ import annotations

import re

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.link.native import source
from theano.link.native.build import compiler, objects
from theano.link.native.build import libraries as build
from theano.link.native.render import program_text, segment


def long_program():
    """A function whose segment has statements of many kinds, and two loops."""
    x, rows = T.matrix("x"), T.lvector("rows")
    weights = [theano.shared(np.eye(3) * (k + 1) / 8, f"w{k}") for k in range(12)]
    picked = x[rows]
    h, _ = theano.scan(
        lambda v, h, w: T.tanh(v + h.dot(w)),
        sequences=[picked],
        outputs_info=[T.zeros_like(x[0])],
        non_sequences=[weights[0]],
    )
    for w in weights[1:]:
        h = T.nnet.sigmoid(h.dot(w))
    cost = (h**2).sum() + T.cumsum(picked, axis=0).max()
    outputs = [cost, h.sum(), picked.mean(axis=0), *theano.grad(cost, weights)]
    return [x, rows], outputs


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    for module in (build, objects):
        monkeypatch.setattr(module, "cache_folder", lambda: tmp_path)


def segment_of(text: str) -> str:
    """The C function of the one segment that is not optimized."""
    (found,) = re.findall(r"^TN_ONCE int64_t segment\d+\(.*?^}$", text, re.M | re.S)
    return found


@pytest.fixture
def short_parts(monkeypatch):
    """As if each part of this program were worth a run of the compiler."""
    monkeypatch.setattr(program_text, "LINES_OF_A_PART", 20)
    monkeypatch.setattr(segment, "LINES_OF_ITS_OWN", 20)


@pytest.mark.parametrize("cores", [1, 4])
def test_parts_compute_what_the_whole_does(cores, empty_cache, short_parts, monkeypatch):
    monkeypatch.setattr(compiler, "cores", lambda: cores)
    inputs, outputs = long_program()
    function = theano.function(inputs, outputs, mode="NATIVE")
    reference = theano.function(inputs, outputs, mode=theano.Mode("py", "fast_run"))
    values = np.random.default_rng(1).standard_normal((5, 3)), np.array([4, 0, 0, 2])
    for got, expected in zip(function(*values), reference(*values), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)
    with pytest.raises(IndexError):
        function(values[0], np.array([7]))


def test_a_long_segment_has_no_loop_of_its_own(short_parts):
    text = source(theano.function(*long_program(), mode="NATIVE"))
    assert "for (" not in segment_of(text)
    assert "#if TN_IN_PART(1, 1)" in text
    assert len(re.findall(r"^TN_SHARED .* statement\d+\(.*\)$", text, re.M)) > 5


def test_what_a_long_segment_computes_is_in_another_part(short_parts):
    text = source(theano.function(*long_program(), mode="NATIVE"))
    part = r"^#if TN_IN_PART\((\d), \d\)\n/\* {about}"
    (own,) = re.findall(part.format(about="segment0: "), text, re.M)
    (computing,) = re.findall(part.format(about="what segment0 computes"), text, re.M)
    assert own != computing
    assert "statement" not in segment_of(text) and "segment0_computes(" in segment_of(text)


@pytest.mark.short_segments
def test_nothing_that_repeats_is_left_unoptimized(monkeypatch):
    """Few statements, each of many lines: what computes them is a function of its own."""
    monkeypatch.setattr(segment, "LINES_OF_ITS_OWN", 20)
    x, y = (T.TensorType("float64", shape=(7,))(name) for name in "xy")
    f = theano.function([x, y], [T.tanh(x).sum(), T.exp(y)[::-1], T.cumsum(x * y)], mode="NATIVE")
    once = re.findall(r"^(?:TN_SHARED )?TN_ONCE int64_t .*?^}$", source(f), re.M | re.S)
    assert once and not any("for (" in function for function in once)
    value = np.linspace(-1, 1, 7)
    found = f(value, value)
    np.testing.assert_allclose(found[0], np.tanh(value).sum(), atol=1e-14)
    np.testing.assert_allclose(found[1], np.exp(value[::-1]))
    np.testing.assert_allclose(found[2], np.cumsum(value * value))


@pytest.mark.short_segments
def test_a_short_segment_is_one_optimized_function():
    x = T.vector("x")
    text = source(theano.function([x], T.exp(x) + 1, mode="NATIVE"))
    assert re.search(r"^int64_t segment0\(", text, re.M)
    assert not re.search(r"^#if TN_IN_PART|^TN_ONCE int64_t", text, re.M)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_text_has_the_functions_of_vectors_that_it_calls(dtype):
    x = T.matrix("x", dtype)
    f = theano.function([x], [T.tanh(x), x.max(axis=1)], mode="NATIVE")
    text, suffix = source(f), dtype.replace("float", "f")
    other = {"f32": "f64", "f64": "f32"}[suffix]
    for called in (f"tn_v_tanh_{suffix}(", f"TN_REDUCTION(maximum, -__builtin_inf(), {suffix}"):
        assert called in text
    assert "TN_REDUCTION(add" not in text
    assert f"TN_REDUCTION(maximum, -__builtin_inf(), {other}" not in text
    assert ("tn_v_tanh_f64(" in text) == (dtype == "float64")
    value = np.arange(40, dtype=dtype).reshape(2, 20) / 20
    np.testing.assert_allclose(f(value)[0], np.tanh(value), rtol=1e-6)
    np.testing.assert_array_equal(f(value)[1], value.max(axis=1))


@pytest.mark.parametrize("running, parts", [(0, 2), (1, 1), (2, 1), (5, 1)])
def test_program_has_a_part_for_each_core_that_compiles_no_loop(
    running, parts, empty_cache, short_parts, monkeypatch
):
    monkeypatch.setattr(compiler, "cores", lambda: 2)
    monkeypatch.setattr(build, "running_ahead", lambda: running)
    run, started = compiler.run, []

    def counted(folder, made, flags, *rest):
        if any(flag.startswith("-DTN_PART=") for flag in flags):
            started.append(made)
        return run(folder, made, flags, *rest)

    monkeypatch.setattr(compiler, "run", counted)
    inputs, outputs = long_program()
    function = theano.function(inputs, outputs, mode="NATIVE")
    assert len(started) == parts
    values = np.random.default_rng(1).standard_normal((5, 3)), np.array([4, 0, 0, 2])
    reference = theano.function(inputs, outputs, mode=theano.Mode("py", "fast_run"))
    np.testing.assert_allclose(function(*values)[0], reference(*values)[0], rtol=1e-10)
