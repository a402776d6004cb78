"""Loops that run in blocks of steps, with what is next to them: values, structure, bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import theano
import theano.tensor as T
from tests_scan_grad.generated.generated_loops import FAMILIES, loops, share_of_loops
from tests_scan_grad.loop_runs import WRONG_REWRITES, check_against_python
from tests_scan_grad.networks import STEPS as STEPS_OF_NETWORKS
from tests_scan_grad.networks import gated_rnn, lstm
from tests_scan_grad.timing.programs.memory_networks import gru, tanh
from tests_scan_grad.timing.programs.memory_networks import lstm as lstm_of
from tests_scan_grad.timing.programs.network_programs import jax_step, ours
from tests_scan_grad.xla.loop_programs import agree, compiled_texts, loop_bodies
from theano.compile.mode import get_mode
from theano.link.xla import memory_of
from theano.link.xla.step_blocks import plan

jax = pytest.importorskip("jax")

STEPS = 12
RNG = np.random.default_rng(7)


def scan(*args, **kwargs):
    return theano.scan(*args, **kwargs)[0]


@pytest.fixture
def groups(monkeypatch):
    """Have every loop run in blocks of the same number of steps; returns what belongs to loops."""
    found = []

    def by(steps):
        def steps_of_block(group, platform):
            if not (group.sequences or group.traces) or group.steps < steps:
                return 0
            found.append(group)
            return steps

        monkeypatch.setattr(plan, "LEAST_SAVED", -1)
        monkeypatch.setattr(plan, "steps_of_block", steps_of_block)
        return found

    return by


@pytest.mark.parametrize("build", (gated_rnn, lstm))
@pytest.mark.parametrize("length", (1, 2, 3, 7))
def test_networks_have_the_same_values(build, length, groups):
    found, network = groups(length), build(scan)
    gradients = theano.grad(network.cost, network.weights)
    f = agree(network.inputs, [network.cost, *gradients], list(network.values))
    if length > STEPS_OF_NETWORKS:
        assert not found
        return
    assert [len(group.traces) > 0 for group in found] == [True]
    if length == 2:
        # the backward loop is within one over its blocks
        assert len(loop_bodies(compiled_texts(f)[0])) == 3


def rows_and_weights(*widths):
    x, weights = T.tensor3("x"), [T.matrix(f"w{k}") for k in range(len(widths))]
    values = [RNG.normal(size=(STEPS, 2, widths[0][0]))]
    return x, weights, values + [RNG.normal(size=width) / 2 for width in widths]


def plain(x, w, u, **settings):
    """A plain recurrent loop, its product of `x` outside."""
    start = T.zeros((x.shape[1], u.shape[0]))
    return scan(lambda p, h, u: T.tanh(p + h.dot(u)), [x.dot(w)], [start], [u], **settings)


@pytest.mark.parametrize("length", (1, 5))
def test_rows_that_another_loop_reads_are_stored(length, groups):
    found = groups(length)
    x, weights, values = rows_and_weights((3, 4), (4, 4), (4, 5), (5, 5))
    h = plain(plain(x, *weights[:2]), *weights[2:])
    cost = T.sqr(h).sum()
    agree([x, *weights], [cost, *theano.grad(cost, weights)], values)
    assert [len(group.whole) for group in found if group.traces] == [1, 0]


@pytest.mark.parametrize("backwards", (False, True))
def test_loops_over_reversed_rows(backwards, groups):
    found = groups(5)
    x, weights, values = rows_and_weights((3, 4), (4, 4))
    h = plain(x[::-1], *weights, go_backwards=backwards)
    cost = (T.exp(h) * T.arange(STEPS, dtype="float64")[:, None, None]).sum()
    agree([x, *weights], [cost, *theano.grad(cost, [x, *weights])], values)
    assert found


def test_fewer_steps_than_rows(groups):
    found, n = groups(2), T.lscalar("n")
    x, weights, values = rows_and_weights((3, 4), (4, 4))
    h = plain(x, *weights, n_steps=n)
    cost = T.sqr(h).sum()
    f = agree([x, *weights, n], [cost, *theano.grad(cost, weights)], [*values, 7], [*values, 12])
    assert found
    with pytest.raises(ValueError, match="number of steps"):
        f(*values, 13)


def test_results_that_are_returned_are_whole(groups):
    groups(4)
    x, weights, values = rows_and_weights((3, 4), (4, 4))
    h = plain(x, *weights)
    cost = T.sqr(h).sum()
    outputs = [x.dot(weights[0]), h, T.sqr(h), T.sqr(h).sum(axis=0), h.sum(axis=2)]
    agree([x, *weights], [*outputs, *theano.grad(cost, [x, *weights])], values)


@pytest.mark.parametrize("dtype", ("float16", "float32"))
def test_only_what_keeps_its_digits_is_added_up_in_parts(dtype, groups):
    found = groups(3)
    x, h0 = T.tensor3("x", dtype), T.matrix("h0", dtype)
    w, u = T.matrix("w", dtype), T.matrix("u", dtype)
    h = scan(lambda p, h, u: T.tanh(p + h.dot(u)), [x.dot(w)], [h0], [u])
    f = theano.function([x, h0, w, u], theano.grad(T.sqr(h).sum(), [w, u]), mode="XLA")
    f(*(np.ones(shape, dtype) for shape in ((STEPS, 2, 3), (2, 4), (3, 4), (4, 4))))
    assert found
    products = [v for group in found for v in group.sums if len(v.shape) == 2]
    assert len(products) == (0 if dtype == "float16" else 2)


def test_an_error_of_a_step_is_raised(groups):
    found, index = groups(3), T.lvector("index")
    x, (w,), values = rows_and_weights((3, 4))
    v = T.vector("v")
    results = scan(lambda p, k, v: p * v[k], [x.dot(w), index], non_sequences=[v])
    f = agree([x, w, index, v], [T.sqr(results).sum()], [*values, np.arange(STEPS), np.ones(STEPS)])
    assert found
    with pytest.raises(IndexError):
        f(*values, np.full(STEPS, STEPS), np.ones(STEPS))


def step_of(network):
    """The function of a step of training."""
    made = []
    real = theano.function
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(theano, "function", lambda *a, **k: made.append(real(*a, **k)) or made[-1])
        ours(network, mode="XLA")(network.arrays())
    return made[0]


def bytes_of_jax(network):
    """Return the bytes of JAX's program of a training step that may overwrite its parameters."""
    programs = []
    real = jax.jit
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jax, "jit", lambda *a, **k: programs.append(real(*a, **k)) or programs[-1])
        jax_step(network)
    memory = programs[0].lower(network.initial(), network.arrays()).compile().memory_analysis()
    return memory.temp_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes


@pytest.mark.parametrize("build", (lstm_of, gru, tanh))
def test_a_step_of_training_takes_six_tenths_of_what_jax_takes(build, monkeypatch):
    monkeypatch.setattr(plan, "LEAST_SAVED", 1 << 16)
    network = build(16, 64, 500)
    with theano.change_flags(floatX="float32"):
        (in_blocks,) = memory_of(step_of(network))
    assert in_blocks.added <= 0.6 * bytes_of_jax(network)
    # the new values of the parameters take the memory of the old ones
    assert in_blocks.reused >= sum(v.nbytes for v in network.initial().values())


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("length", (1, 2, 3))
def test_generated_loops(family, length, groups):
    groups(length)

    @share_of_loops(45 * len(FAMILIES))
    @given(loops(family))
    def check(loop):
        check_against_python(loop, get_mode("XLA").excluding(*WRONG_REWRITES))

    check()


def test_steps_add_up_and_store_what_is_made_of_their_results():
    """No trace of the summands, and none that is turned afterwards."""
    x, a = T.matrix("x"), T.vector("a")
    h = scan(lambda x, h, a: a * h + x, sequences=x, outputs_info=T.zeros_like(a), non_sequences=a)
    gradients = theano.grad(T.sqr(h[-1]).sum(), [x, a])
    f = agree([x, a], gradients, [RNG.normal(size=(30, 3)), RNG.normal(size=3)])
    (text,) = compiled_texts(f)
    assert " reverse(" not in text
    (stage,) = memory_of(f)
    # the states of all steps, next to the results
    assert stage.temporary < 1.5 * 31 * 3 * 8 + 512


def test_steps_do_not_multiply_single_rows():
    x, w = T.matrix("x"), T.matrix("w")
    h = scan(lambda x, h, w: T.tanh(h.dot(w) + x), x, T.zeros_like(x[0]), non_sequences=w)
    gradients = theano.grad(h[-1].sum(), [w, x])
    f = agree([x, w], gradients, [RNG.normal(size=(9, 3)), RNG.normal(size=(3, 3))])
    assert len(loop_bodies(compiled_texts(f)[0])) == 2


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_a_trace_is_read_in_several_ways(dtype):
    x = T.matrix("x", dtype=dtype)
    h = scan(lambda x: x * 3 + 1, x)
    both = [h.sum(0), h[::-1], (h * 2).max(1), h.sum(), h]
    for chosen in (both, both[:2], both[:1], both[1:3], both[3:4]):
        agree([x], chosen, [np.arange(20).reshape(5, 4).astype(dtype)])
