"""Loops of equal steps are rewritten as one, and each keeps its own name and line."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import theano
import theano.link.native
import theano.tensor as T
from theano.pytensor_internals.graphs.scan import Scan
from theano.scan_module.loop import op_of_step
from theano.scan_module.scan_opt.steps import steps_rewritten_once
from theano.scan_module.step import normal_form, step_analysis


def rows(name: str, x, W):
    """A layer whose step is equal to those of the other layers that this makes."""
    h, _ = theano.scan(
        lambda x_t, h, W: T.tanh(x_t + h.dot(W)),
        sequences=x,
        outputs_info=T.zeros_like(x[0]),
        non_sequences=W,
        name=name,
    )
    return h


def cost_of_layers(number: int):
    x, Ws = T.tensor3("x"), [T.matrix(f"W{k}") for k in range(number)]
    h = x
    for k, W in enumerate(Ws):
        h = rows(f"layer{k}", h, W)
    return h.sum(), x, Ws


def gradients_of_layers(number: int, **settings):
    cost, x, Ws = cost_of_layers(number)
    return theano.function([x, *Ws], theano.grad(cost, Ws), **settings)


def counted(monkeypatch, module, name: str) -> list[None]:
    """Grows by one for each call of a function of a module."""
    calls: list[None] = []
    function = getattr(module, name)

    def counting(*arguments):
        calls.append(None)
        return function(*arguments)

    monkeypatch.setattr(module, name, counting)
    return calls


@pytest.mark.parametrize(
    "module, name",
    [(normal_form, "_normalized"), (step_analysis, "_found_in_step")],
    ids=["normal forms", "facts about steps"],
)
def test_what_rewrites_make_of_a_step_is_made_once_for_equal_layers(monkeypatch, module, name):
    def calls(layers: int) -> int:
        with theano.config.change_flags(cache_optimizations=False), monkeypatch.context() as patch:
            made = counted(patch, module, name)
            gradients_of_layers(layers)
            return len(made)

    few, many = calls(4), calls(8)
    assert few == many > 0


def test_steps_are_copied_for_their_gradients_alone_and_not_for_each_rewrite(monkeypatch):
    """A further layer is a loop, one with what its gradient reads, and one backwards."""
    copies = counted(monkeypatch, op_of_step, "copied")
    numbers = []
    for layers in (4, 5, 6):
        with theano.config.change_flags(cache_optimizations=False):
            copies.clear()
            cost, x, Ws = cost_of_layers(layers)
            gradients = theano.grad(cost, Ws)
            copies.clear()
            theano.function([x, *Ws], gradients)
        numbers.append(len(copies))
    assert numbers[1] - numbers[0] == numbers[2] - numbers[1] <= 2


def test_layers_of_equal_steps_get_the_gradients_of_unrolled_ones():
    rng = np.random.default_rng(1)
    x, Ws = rng.normal(size=(3, 2, 4)), [rng.normal(size=(4, 4)) for _ in range(3)]
    found = gradients_of_layers(3)(x, *Ws)

    def cost(weights):
        h = x
        for W in weights:
            state, states = np.zeros_like(x[0]), []
            for row in h:
                state = np.tanh(row + state @ W)
                states.append(state)
            h = np.array(states)
        return h.sum()

    for k, gradient in enumerate(found):
        for place in np.ndindex(4, 4):
            ends = []
            for change in (1e-6, -1e-6):
                moved = [W.copy() for W in Ws]
                moved[k][place] += change
                ends.append(cost(moved))
            np.testing.assert_allclose(gradient[place], (ends[0] - ends[1]) / 2e-6, atol=1e-7)


def first_step(x_t, h, W):
    return T.tanh(x_t + h.dot(W))  # the first layer's line


def second_step(x_t, h, W):
    return T.tanh(x_t + h.dot(W))  # the second layer's line


def line_of(text: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return 1 + next(k for k, line in enumerate(lines) if f"# {text}" in line)


def two_layers(**settings):
    """Two loops of equal steps, written in different lines."""
    x, W1, W2 = T.matrix("x"), T.matrix("W1"), T.matrix("W2")
    h = x
    for name, step, W in (("lower", first_step, W1), ("upper", second_step, W2)):
        h, _ = theano.scan(
            step, sequences=h, outputs_info=T.zeros_like(x[0]), non_sequences=W, name=name
        )
    return theano.function([x, W1, W2], h[-1], **settings)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("wrong", [0, 1], ids=["lower", "upper"])
def test_an_error_names_the_loop_and_the_line_that_it_is_of(mode, wrong):
    Ws = [np.eye(3), np.eye(3)]
    Ws[wrong] = np.ones((4, 4))
    with pytest.raises(ValueError) as caught:
        two_layers(mode=mode)(np.ones((2, 3)), *Ws)
    told = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    names, texts = ("lower", "upper"), ("the first layer's line", "the second layer's line")
    lines = [f"{Path(__file__).name}:{line_of(text)}\n" for text in texts]
    assert names[wrong] in told and lines[wrong] in told
    assert names[1 - wrong] not in told and lines[1 - wrong] not in told


def test_a_profile_tells_equal_loops_apart():
    f = two_layers(profile=theano.ProfileStats(atexit_print=False))
    f(np.ones((2, 3)), np.eye(3), np.eye(3))
    assert sorted(loop.name for loop in theano.link.native.profile(f).loops) == ["lower", "upper"]


def test_the_steps_of_equal_layers_are_rewritten_once_in_fast_compile(monkeypatch):
    def rewritten(layers: int) -> int:
        with monkeypatch.context() as patch:
            made = counted(patch, steps_rewritten_once, "copy_of_graph_inside")
            gradients_of_layers(layers, mode="FAST_COMPILE")
            return len(made)

    few, many = rewritten(4), rewritten(8)
    assert few == many > 0


def tags(mode) -> set[str]:
    """Of the rewrites that a mode chooses."""
    return set(mode.provided_optimizer.include)


def test_steps_that_were_rewritten_once_are_only_linked_and_copies_are_rewritten():
    f = gradients_of_layers(2, mode="FAST_COMPILE")
    loops = [node.op for node in f.maker.fgraph.apply_nodes if isinstance(node.op, Scan)]
    assert loops
    for loop in loops:
        assert loop.mode is theano.compile.mode.FAST_COMPILE
        assert tags(loop.fn.maker.mode) == tags(theano.compile.mode.Mode("py", None))
        assert tags(loop.clone().fn.maker.mode) == tags(theano.compile.mode.FAST_COMPILE)
    given = [np.ones((5, 2, 3)), np.eye(3) / 2, np.eye(3) / 3]
    wanted = gradients_of_layers(2)(*given)
    for made in (f, pickle.loads(pickle.dumps(f)), f.copy()):
        for got, expected in zip(made(*given), wanted, strict=True):
            np.testing.assert_allclose(got, expected)
