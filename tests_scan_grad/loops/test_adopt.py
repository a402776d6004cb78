"""Loops made with PyTensor: ours on request, and otherwise left alone."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.graph.traversal import ancestors
from pytensor.scan.op import Scan as PyTensorScan

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import printed_by
from tests_scan_grad.loop_counts import python_mode
from tests_scan_grad.loop_runs import unrewritten_mode
from tests_scan_grad.networks import array
from theano.scan_module.scan_op import Scan

X, H, W = T.tensor3("X"), T.matrix("H"), T.matrix("W")
INPUTS = [X, H, W]
GIVEN = [array(5, 3, 2, seed=1), array(3, 2, seed=2), array(2, 2, seed=3)]


def pytensor_cost():
    """A loop in a loop, both PyTensor's."""

    def step(x, h, w):
        inner = pytensor.scan(
            lambda g, w: pt.tanh(g.dot(w)),
            outputs_info=[h],
            non_sequences=[w],
            n_steps=2,
            mode=unrewritten_mode(),
            return_updates=False,
        )
        return inner[-1] + x

    states = pytensor.scan(
        step,
        sequences=[X],
        outputs_info=[H],
        non_sequences=[W],
        mode=unrewritten_mode(),
        return_updates=False,
    )
    return (states**2).sum()


def scans_in(variables) -> list[PyTensorScan]:
    """The ops of all loops that the variables are computed by, nested ones too."""
    found = []
    for variable in ancestors(variables):
        if variable.owner is not None and isinstance(variable.owner.op, PyTensorScan):
            found.append(variable.owner.op)
            found += scans_in(variable.owner.op.inner_outputs)
    return found


def test_adopt_rebuilds_nested_loops_and_leaves_the_graph():
    cost = pytensor_cost()
    adopted = theano.scan_module.adopt(cost)
    assert all(type(op) is Scan for op in scans_in([adopted]))
    assert all(type(op) is PyTensorScan for op in scans_in([cost]))


def test_adopted_gradient_is_right():
    cost = pytensor_cost()
    adopted = theano.scan_module.adopt([cost])[0]
    f = theano.function(INPUTS, theano.grad(adopted, INPUTS), mode=python_mode())
    g = pytensor.function(INPUTS, pytensor.grad(cost, INPUTS), mode=unrewritten_mode())
    for ours, expected in zip(f(*GIVEN), g(*GIVEN), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-9)


PYTENSOR_PROGRAM = """
import pytensor, pytensor.tensor as pt
x, h, w = pt.tensor3("x"), pt.matrix("h"), pt.matrix("w")
def step(x, h, w):
    r = pt.sigmoid(x + h.dot(w))
    return pt.tanh(x + (r * h).dot(w))
states = pytensor.scan(step, [x], [h], [w], return_updates=False)
gradients = pytensor.grad((states ** 2).sum(), [x, h, w])
f = pytensor.function([x, h, w], gradients)
pytensor.dprint(f, print_op_info=True)
for node in f.maker.fgraph.toposort():
    print(type(node.op).__module__, node.op)
"""


def test_importing_theano_changes_nothing_for_pytensor():
    alone = printed_by(PYTENSOR_PROGRAM)
    beside = printed_by("import theano\n" + PYTENSOR_PROGRAM)
    assert len(alone) > 50
    assert beside == alone


def test_a_second_gradient_of_pytensors_by_several_taps_has_a_gradient():
    """Its step reads places that it writes again, which no result holds for all steps."""
    y, start, w = T.vector("y"), T.vector("start"), T.scalar("w")
    info = {"initial": start, "taps": [-3, -1]}

    def step(y, older, newer, w):
        return y - w * newer - T.sin(w * older)

    def third(scan, grad):
        states = scan(step, [y], [info], [w], mode=unrewritten_mode())
        return grad(grad((states**2).sum(), w) ** 2, w)

    [theirs] = theano.scan_module.adopt(
        [third(lambda *a, **k: pytensor.scan(*a, return_updates=False, **k), pytensor.grad)]
    )
    ours = third(lambda *a, **k: theano.scan(*a, **k)[0], theano.grad)
    wrt = [y, start, w]
    results = [[cost, *theano.grad(cost, wrt)] for cost in (theirs, ours)]
    function = theano.function(wrt, results[0] + results[1], mode=python_mode())
    found = function(array(5, seed=1), array(3, seed=2), 0.3)
    for one, other in zip(found[:4], found[4:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_the_gradient_with_respect_to_a_number_compiles_with_pytensor(monkeypatch):
    monkeypatch.setattr(pytensor.config, "on_opt_error", "raise")
    v, a = pt.dvector(), pt.dscalar()
    values = pytensor.scan(
        lambda u, h, a: pt.tanh(h * a + u),
        sequences=v,
        outputs_info=pt.constant(0.5, dtype="float64"),
        non_sequences=a,
        return_updates=False,
    )
    [total] = theano.scan_module.adopt([values.sum()])
    plain = pytensor.compile.mode.Mode("py", "fast_run")
    ours = pytensor.function([v, a], theano.grad(total, a), mode=plain)
    theirs = pytensor.function([v, a], pytensor.grad(values.sum(), a), mode=plain)
    np.testing.assert_allclose(ours([0.1, 0.2], 0.7), theirs([0.1, 0.2], 0.7), rtol=1e-12)
