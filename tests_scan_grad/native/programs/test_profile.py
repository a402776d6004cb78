"""Profiles of native code: what is counted, and how it is printed and read."""

import io

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.native.loops import numbers
from theano.link.native import profile, source

STEPS, BATCH, WIDTH = 7, 5, 6
CALLS = 3


def gated(**options):
    """The gradient of a loop with one product in a step, and the values to call it with."""
    x, w = T.tensor3("x"), T.matrix("w")
    states, _ = theano.scan(
        lambda x, h, w: T.tanh(x + h.dot(w)),
        sequences=[x],
        outputs_info=[T.zeros_like(x[0])],
        non_sequences=[w],
    )
    f = theano.function([x, w], T.grad((states**2).sum(), w), mode="NATIVE", **options)
    return f, (numbers(STEPS, BATCH, WIDTH), numbers(WIDTH, WIDTH, seed=1))


@pytest.fixture
def profiled():
    f, values = gated(profile=True)
    for _ in range(CALLS):
        f(*values)
    return f


def statements_of(part, text):
    return [s for s in part.statements if s.text.startswith(text)]


def test_each_statement_of_a_loop_is_counted(profiled):
    measured = profile(profiled)
    forward, backward = measured.loops
    assert (forward.name, backward.name) == ("scan_fn", "grad_of_scan_fn")
    for loop in (forward, backward):
        assert (loop.calls, loop.steps) == (CALLS, CALLS * STEPS)
        (product,) = statements_of(loop, "product")
        assert product.calls == loop.steps and product.operation.startswith("Dot")
        assert product.operations == 2 * BATCH * WIDTH * WIDTH * loop.steps
        assert product.bytes == 8 * (2 * BATCH * WIDTH + WIDTH * WIDTH) * loop.steps
        assert product.gflops == pytest.approx(product.operations / product.seconds / 1e9)
        assert statements_of(loop, "map: ")
        counted = sum(s.seconds for s in loop.statements)
        assert 0 < counted + loop.overhead_per_step * loop.steps <= loop.seconds
    (segment,) = measured.segments
    assert [s.calls for s in statements_of(segment, "the loop")] == [CALLS, CALLS]
    assert segment.outputs == 8 * WIDTH * WIDTH and segment.work > 0


def test_the_profile_is_printed_in_theanos_layout(profiled):
    file = io.StringIO()
    profiled.profile.summary(file)
    text = file.getvalue()
    _, _, after_title = text.partition("\nOps\n---\n")
    operations = after_title.split("\nApply\n")[0]
    assert "Scan{scan_fn" in operations and "Dot" in operations
    assert "\nNative loop grad_of_scan_fn\n" in text and "Overhead per step: " in text
    assert "Native code outside of loops: segment0" in text


def test_the_time_of_a_segment_is_shared_out_among_its_nodes(profiled):
    statistics = profiled.profile
    nodes = set(profiled.maker.fgraph.apply_nodes)
    assert {node for _, node in statistics.apply_time} == nodes
    assert set(statistics.apply_callcount.values()) == {CALLS}
    total = sum(statistics.apply_time.values())
    assert 0 < total <= statistics.vm_call_time


def test_bytes_are_printed_when_memory_is_profiled(profiled):
    assert "Bytes kept" not in str(profile(profiled))
    with theano.config.change_flags(profile_memory=True):
        assert f"Bytes kept: {8 * WIDTH * WIDTH} results" in str(profile(profiled))


def test_a_flag_profiles_every_function():
    with theano.config.change_flags(profile=True):
        f, values = gated()
    f(*values)
    assert profile(f).loops[0].steps == STEPS


def test_what_is_not_profiled_counts_nothing(profiled):
    f, values = gated()
    np.testing.assert_array_equal(f(*values), profiled(*values))
    assert "tn_count" not in source(f) and "tn_count" in source(profiled)
    with pytest.raises(TypeError, match="profile=True"):
        profile(f)


def test_functions_of_the_same_text_count_apart():
    (first, values), (second, _) = gated(profile=True), gated(profile=True)
    first(*values)
    first(*values)
    second(*values)
    assert [profile(f).loops[0].calls for f in (first, second)] == [2, 1]


def test_a_call_that_fails_or_is_refused_is_profiled():
    x, indices = T.vector("x"), T.lvector("indices")
    picked, _ = theano.scan(lambda i, x: x[i] * 2, sequences=[indices], non_sequences=[x])
    f = theano.function([x, indices], picked.sum(), mode="NATIVE", profile=True)
    values = numbers(4)
    with pytest.raises(IndexError):
        f(values, [1, 9])
    assert f(values, [1, 3]) == pytest.approx(2 * (values[1] + values[3]))
    assert f(values, np.array([], "int64")) == 0
    f.profile.summary(io.StringIO())


def test_a_loop_within_a_loop():
    x = T.matrix("x")
    outer, _ = theano.scan(
        lambda row: theano.scan(lambda e, s: T.tanh(s + e), [row], [T.zeros(())])[0][-1], [x]
    )
    f = theano.function([x], outer, mode="NATIVE", profile=True)
    f(numbers(3, 4))
    steps = sorted((loop.calls, loop.steps) for loop in profile(f).loops)
    assert steps == [(1, 3), (3, 12)]
