"""Operations that a gradient makes of a loop, each naming the line that asked for the gradient."""

from __future__ import annotations

import inspect
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from pytensor.graph.traversal import ancestors
from pytensor.scan.op import Scan

import theano
import theano.tensor as T
from theano.source_locations.lines import asked_line, users_line


def test_all_of_a_loops_gradient_names_the_line_that_asked():
    x, w = T.matrix("x"), T.matrix("w")
    h, _ = theano.scan(
        lambda v, h, w: T.tanh(v + h.dot(w)), sequences=[x], outputs_info=[x[0]], non_sequences=[w]
    )
    gradient = theano.grad(h.sum(), w)
    loops = {v.owner for v in ancestors([gradient]) if v.owner and isinstance(v.owner.op, Scan)}
    (backward,) = (node for node in loops if "grad_of" in str(node.op.name))
    made = [*backward.outputs, *(v for n in backward.op.fgraph.toposort() for v in n.outputs)]
    asking = f"{__file__}:{inspect.currentframe().f_lineno - 4}"
    asked, named = ({line(v.owner) for v in made} for line in (asked_line, users_line))
    assert asked == {asking, ""}
    assert asking in named and all(line.startswith(__file__) for line in named)


def test_without_traces_there_is_none():
    x = T.vector("x")
    with theano.config.change_flags(**{"traceback.limit": 0}):
        h, _ = theano.scan(lambda v, h: h * v, sequences=[x], outputs_info=[x[0]])
        gradient = theano.grad(h.sum(), x)
    assert not any(
        getattr(v.tag, "trace", None) for v in ancestors([gradient], blockers=[x]) if v.owner
    )


def test_threads_that_compile_leave_the_flags_as_they_were():
    def flags():
        return theano.config.traceback.limit, str(theano.config.mode)

    before, interval = flags(), sys.getswitchinterval()

    def compile_gradient(_):
        x = T.vector("x")
        h, _ = theano.scan(lambda v, h: h * v, sequences=[x], outputs_info=[x[0]])
        theano.function([x], theano.grad(h.sum(), x))

    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(compile_gradient, range(8)))
    finally:
        sys.setswitchinterval(interval)
    after = flags()
    theano.config.traceback.limit, theano.config.mode = before
    assert after == before and before[0]


@pytest.mark.parametrize(
    "derive",
    [
        lambda cost, x: theano.grad(cost, x),
        lambda cost, x: theano.Lop(cost, x, T.ones_like(cost)),
        lambda cost, x: theano.gradient.hessian(cost, x),
        lambda cost, x: theano.gradient.jacobian(cost, x),
    ],
    ids=["grad", "Lop", "hessian", "jacobian"],
)
def test_a_gradient_outside_of_loops_names_the_line_that_asked_however_deep_it_is(derive):
    x, w = T.vector("x"), T.matrix("w")
    h = x
    for _ in range(20):
        h = T.tanh(h.dot(w))
    cost = h.sum()
    forward = set(ancestors([cost]))
    gradient = derive(cost, x)
    asking = f"{__file__}:{inspect.getsourcelines(derive)[1]}"
    made = {v.owner for v in ancestors([gradient], blockers=forward) if v.owner} - {
        v.owner for v in forward
    }
    assert made and {users_line(node) for node in made} == {asking}


class Halved(theano.Op):
    """Half of an array; its gradient is written here."""

    __props__ = ()

    def make_node(self, x):
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] / 2

    def grad(self, inputs, cotangents):
        return [cotangents[0] * T.exp(inputs[0])]


def test_a_gradient_that_a_user_wrote_names_the_line_in_it():
    x = T.vector("x")
    gradient = theano.grad(T.sqr(Halved()(x)).sum(), x)
    (node,) = (v.owner for v in ancestors([gradient]) if v.owner and v.owner.op == T.exp)
    lines, first = inspect.getsourcelines(Halved.grad)
    assert users_line(node) == f"{__file__}:{first + len(lines) - 1}"
