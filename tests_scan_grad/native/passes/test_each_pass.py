"""Each pass leaves what a step computes as it was: steps are run by NumPy after every one of them."""

from itertools import chain

import numpy as np
import pytensor
import pytest
from pytensor.compile.mode import Mode

import theano
import theano.tensor as T
from tests_scan_grad.loop_counts import python_mode
from tests_scan_grad.loop_rewrites.test_golden_loops import IS_OLDER
from tests_scan_grad.native.passes.interpreter import Interpreter
from tests_scan_grad.native.passes.nest_interpreter import NestInterpreter
from tests_scan_grad.native.passes.test_fused_gates import BATCH, CELLS, STEPS, WIDTH, gradient_of
from theano.link.native.lowering.lower_loop import lower_scan
from theano.link.native.lowering.lowered_loops import loops_of_their_own
from theano.link.native.passes.pipeline import watched_passes
from theano.pytensor_internals.graphs.scan import Scan
from theano.scan_module.loop.roles import Roles
from theano.scan_module.loop.step_copy import copied

pytestmark = pytest.mark.skipif(IS_OLDER, reason="PyTensor 3.0 has steps with operations in place")


def with_bias(x_t, h, u):
    """A plain step with its own softmax, and a reduction that is read in the step."""
    e = T.exp(T.dot(h, u) + x_t)
    return T.tanh(e / e.sum(axis=1, keepdims=True) + h.mean(axis=0))


def parts(x_t, h, u):
    """Parts of a state that are written back one by one."""
    p = T.dot(h, u)
    h = T.set_subtensor(h[:, :2], T.tanh(p[:, 1:3]))
    return T.inc_subtensor(h[:, 3:], x_t[:, ::-1][:, :2] * p[:, 2:4])


def two_before(x_t, before, h, u):
    """A state of which two rows are read."""
    return T.tanh(T.dot(before, u) - x_t * h)


OTHERS = {
    "bias": (with_bias, [-1]),
    "parts": (parts, [-1]),
    "two before": (two_before, [-2, -1]),
}


def function_of(name):
    """Return the function of a network's cost and gradients, all of whose sizes are static."""
    mode = python_mode()
    if name in CELLS:
        return gradient_of(name, True, mode)[0]
    step, taps = OTHERS[name]
    x = T.TensorType("float64", shape=(STEPS, BATCH, WIDTH))("x")
    u = T.TensorType("float64", shape=(WIDTH, WIDTH))("u")
    start = T.TensorType("float64", shape=(2, BATCH, WIDTH) if len(taps) > 1 else (BATCH, WIDTH))()
    state = {"initial": start, "taps": taps} if len(taps) > 1 else start
    rows, _ = theano.scan(step, [x], outputs_info=[state], non_sequences=[u])
    cost = (rows**2).sum()
    return theano.function([x, u, start], [cost, *T.grad(cost, [x, u, start])], mode=mode)


def step_function(op):
    """Return the inner graph of a Scan as a function, without rewrites."""
    inputs = [v.type() for v in op.inner_inputs]
    outputs = copied(op.inner_outputs, dict(zip(op.inner_inputs, inputs, strict=True)))
    mode = Mode(linker="py", optimizer=None)
    return pytensor.function(inputs, outputs, mode=mode, on_unused_input="ignore")


def drawn(op):
    """Return a value for each inner input of a Scan."""
    rng = np.random.default_rng(0)
    return [rng.uniform(0.2, 0.8, v.type.shape).astype(v.type.dtype) for v in op.inner_inputs]


def results_by_role(op, outputs):
    """Return what a step gives, in the order in which a lowered loop writes it."""
    of = Roles.of(op).inner_outputs(outputs)
    return [*chain.from_iterable(of.states), *of.traces, *of.untraced]


@pytest.mark.parametrize("name", [*CELLS, *OTHERS])
def test_a_step_computes_the_same_after_each_pass(name):
    checked = []
    for node in function_of(name).maker.fgraph.toposort():
        if not isinstance(node.op, Scan):
            continue
        values = drawn(node.op)
        expected = results_by_role(node.op, step_function(node.op)(*values))
        read = Roles.of(node.op).inner_inputs(values)
        rows = [*read.sequences, *chain.from_iterable(read.states), *read.untraced]

        def check(loop, after, rows=rows, read=read, expected=expected):
            names = [a.name for a in loop.arguments if a.kind == "invariant" and a.constant is None]
            invariants = dict(zip(names, read.invariants, strict=True))
            invariants |= {a.name: a.constant for a in loop.arguments if a.constant is not None}
            # what is stored is known once the partition is
            nests = [NestInterpreter] if after == "partition_work" else []
            for interpreter in (Interpreter, *nests):
                found = interpreter(loop, rows, invariants).results()
                for ours, theirs in zip(found, expected, strict=True):
                    np.testing.assert_allclose(ours, theirs, rtol=1e-12, err_msg=after)
            checked.append(after)

        with watched_passes(check):
            lower_scan(node.op, [], "loop", loops_of_their_own())
    assert {"the lowering", "fuse_maps", "partition_work"} <= {*checked}
