"""Loops of ``vectorize_graph`` become one loop with batch dimensions, and compute what each loop does."""

from itertools import product

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.traversal import ancestors
from pytensor.scan.utils import until
from pytensor.tensor.blockwise import Blockwise

import theano
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.scan_module.adopt import adopt

ZERO = pt.constant(np.float64(0))


def scan(step, **given):
    return pytensor.scan(step, return_updates=False, **given)


def recurrence(x, a, m):
    return scan(
        lambda v, h, a: pt.tanh(a * h + v), sequences=[x], outputs_info=[ZERO], non_sequences=[a]
    )


def two_taps(x, a, m):
    """A state of two taps, a sequence read at three places, and a trace."""
    first = scan(
        lambda w, v, u, g, h, a: [a * h - g / 2 + v * u, pt.exp(-(g**2)) + w],
        sequences=[dict(input=x, taps=[-1, 0, 1])],
        outputs_info=[dict(initial=pt.stack([a, 1 - a]), taps=[-2, -1]), None],
        non_sequences=[a],
    )
    return first[0].sum() + first[1].prod()


def backwards(x, a, m):
    return scan(lambda v, h: h / 2 + v**2, sequences=[x], outputs_info=[a], go_backwards=True)


def of_matrices(x, a, m):
    """Products in the step, and a state that does not depend on the batch where m does not."""
    h, k = scan(
        lambda h, k, m: [pt.tanh(m @ h), k + m[0]],
        outputs_info=[m[:, 0], pt.zeros_like(m[0])],
        non_sequences=[m],
        n_steps=4,
    )
    return pt.concatenate([h[-1] * a, k[-1]])


def of_constants(x, a, m):
    """A trace and a state that are the same for the whole batch, next to ones that are not."""
    h, k, t = scan(
        lambda h, k, a: [h + a, k * 2 + 1, k**2],
        outputs_info=[ZERO, ZERO, None],
        non_sequences=[a],
        n_steps=3,
    )
    return h + k + t


def nested(x, a, m):
    def outer(row, h, a):
        inner = scan(
            lambda v, k, a: pt.sin(k + v * a), sequences=[row], outputs_info=[h], non_sequences=[a]
        )
        return inner[-1]

    return scan(outer, sequences=[m], outputs_info=[ZERO], non_sequences=[a])


def several_lengths(x, a, m):
    """Lengths that are computed from the batch's arrays."""
    return scan(
        lambda v, h: h + v,
        sequences=[x[1 : x.shape[0] - 1]],
        outputs_info=[a],
        n_steps=x.shape[0] // 2,
    )


LOOPS = [recurrence, two_taps, backwards, of_matrices, of_constants, nested, several_lengths]
CORE = dict(x=(6,), a=(), m=(3, 3))
# how many batch dimensions x, a and m have, and which of them are of length 1
BATCHES = {
    "all": ((4,), (4,), (4,)),
    "sequence": ((4,), (), ()),
    "number": ((), (4,), ()),
    "matrix": ((), (), (4,)),
    "two dimensions": ((2, 3), (2, 3), (2, 3)),
    "repeated": ((2, 1), (1, 3), (1, 1)),
    "of one": ((1,), (1,), (1,)),
}


def made(loop, batches, static):
    """The loop of one element, its batched form, the inputs of both, and values."""
    rng = np.random.default_rng(1)
    names = ["x", "a", "m"]
    core = [
        pt.tensor(n, dtype="float64", shape=CORE[n] if static else (None,) * len(CORE[n]))
        for n in names
    ]
    shapes = [(*batch, *CORE[n]) for n, batch in zip(names, batches, strict=True)]
    full = [
        pt.tensor(
            n,
            dtype="float64",
            shape=tuple(k if static or k == 1 else None for k in shape[: len(b)]) + c.type.shape,
        )
        for n, shape, b, c in zip(names, shapes, batches, core, strict=True)
    ]
    result = loop(*core)
    return (
        result,
        core,
        vectorize_graph(result, dict(zip(core, full, strict=True))),
        full,
        [rng.normal(size=shape) / 2 for shape in shapes],
    )


def elementwise(function, batches, values):
    """Results of a function of one element, for each of the batch."""
    batch = np.broadcast_shapes(*batches)
    whole = [
        np.broadcast_to(v, (*batch, *v.shape[len(b) :]))
        if b
        else np.broadcast_to(v, (*batch, *v.shape))
        for v, b in zip(values, batches, strict=True)
    ]
    return np.array(
        [function(*(v[place] for v in whole)) for place in product(*map(range, batch))]
    ).reshape(*batch, *np.shape(function(*(v[(0,) * len(batch)] for v in whole))))


def blockwise_loops(outputs):
    return [
        node
        for v in ancestors(outputs)
        if (node := v.owner) is not None
        and isinstance(node.op, Blockwise)
        and isinstance(node.op.core_op, PyTensorScan)
    ]


@pytest.mark.parametrize("static", [True, False], ids=["static", "dynamic"])
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_a_loop_in_a_batch_computes_what_each_does(loop, batch, static):
    batches = BATCHES[batch]
    one, core, many, full, values = made(loop, batches, static)
    f = theano.function(full, many, on_unused_input="ignore")
    single = pytensor.function(core, one, mode="FAST_COMPILE", on_unused_input="ignore")
    expected = elementwise(single, batches, values)
    # what is the same for all of the batch is one array
    found = np.broadcast_to(f(*values), expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    assert not blockwise_loops(f.maker.fgraph.outputs)


@pytest.mark.parametrize("batch", ["all", "repeated"])
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_gradients_of_a_loop_in_a_batch(loop, batch):
    """Ours, after `adopt`, and PyTensor's, whose backward loop is in a batch, too."""
    _, _, many, full, values = made(loop, BATCHES[batch], True)
    cost = (many**2).sum()
    wrt = [v for v in full if v in ancestors([cost])]
    adopted = adopt(cost)
    assert not blockwise_loops([adopted])
    ours, theirs = theano.grad(adopted, wrt), pytensor.grad(cost, wrt)
    found = []
    for gradients in (ours, theirs):
        f = theano.function(full, gradients, on_unused_input="ignore")
        assert not blockwise_loops(f.maker.fgraph.outputs)
        found.append(f(*values))
    # last: PyTensor 3.0 rewrites the step of the loop that it compiles
    f = pytensor.function(full, theirs, mode="FAST_COMPILE", on_unused_input="ignore")
    for wanted, *computed in zip(f(*values), *found, strict=True):
        for one in computed:
            np.testing.assert_allclose(one, wanted, rtol=1e-9, atol=1e-11)


def of_the_same(x, w):
    return scan(lambda v, w: v * w, sequences=[x], non_sequences=[w])


def test_a_loop_that_is_the_same_for_a_batch_of_any_length():
    """No array that a step reads has the length of the batch."""
    x, w, b = pt.dvector("x"), pt.dscalar("w"), pt.lscalar("b")
    W = pt.tensor("W", dtype="float64", shape=(1, None))
    X = pt.alloc(x, b, x.shape[0])
    values = np.array([1.0, 2.0, 3.0]), np.arange(5.0)[None], 4
    for given, batch, expected in (
        (w, {x: X}, np.tile(2 * values[0], (4, 1))),
        (
            W,
            {x: pt.alloc(x, b, 5, x.shape[0]), w: W},
            np.tile(np.outer(values[1], values[0]), (4, 1, 1)),
        ),
    ):
        many = vectorize_graph(of_the_same(x, w), batch)
        for result in (many, adopt(many)):
            f = theano.function([x, given, b], result)
            assert not blockwise_loops(f.maker.fgraph.outputs)
            found = f(values[0], 2.0 if given is w else values[1], 4)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("rows", [0, 1], ids=["rows", "stacks"])
def test_a_batch_of_parts_of_what_is_the_same_for_all(rows):
    """The loop's batch has more dimensions than that of what it is given, or fewer."""
    m, b = pt.dmatrix("m"), pt.lscalar("b")
    factors = pt.linalg.cholesky(pt.alloc(m, b, *[2] * rows, *m.shape))
    x, w = pt.tensor(dtype="float64", shape=(None,) * (1 + 2 * rows)), pt.dscalar("w")
    W = pt.dmatrix("W") if not rows else pt.dvector("W")
    many = vectorize_graph(of_the_same(x, w), {x: factors, w: W})
    f = theano.function([m, b, W], many)
    assert not blockwise_loops(f.maker.fgraph.outputs)
    matrix = np.eye(3) * 4 + 1
    value = np.arange(1.0, 7.0).reshape(2, 3) if not rows else np.array([1.0, 2.0])
    factor = np.linalg.cholesky(matrix)
    expected = factor * (value[..., None] if not rows else value[:, None, None, None])
    np.testing.assert_allclose(
        f(matrix, 2, value), np.broadcast_to(expected, (2, *[2] * rows, 3, 3)), rtol=1e-12
    )


def test_loops_that_may_end_early_stay_apart():
    x, X = pt.dvector("x"), pt.dmatrix("X")
    last = scan(
        lambda v, h: (h + v, until(h + v > 1)),
        sequences=[x],
        outputs_info=[ZERO],
    )[-1]
    f = theano.function([X], vectorize_graph(last, {x: X}))
    np.testing.assert_allclose(f([[0.7, 0.6, 0.5], [0.1, 1.0, 0.3]]), [1.3, 1.1])


def test_a_loop_in_an_operation_made_of_a_graph():
    x, a, X = pt.dvector("x"), pt.dscalar("a"), pt.dmatrix("X")
    inner = OpFromGraph([x, a], [recurrence(x, a, None)])
    batch = vectorize_graph(inner(x, a)[-1], {x: X})
    for given, result in [([x, a], inner(x, a)[-1]), ([X, a], batch.sum())]:
        ours = adopt(result)
        assert not any(
            isinstance(v.owner.op, OpFromGraph)
            or isinstance(getattr(v.owner.op, "core_op", None), OpFromGraph)
            for v in ancestors([ours])
            if v.owner is not None
        )
        value = np.linspace(-1, 1, 5) if given[0] is x else np.linspace(-1, 1, 10).reshape(2, 5)
        expected = pytensor.function(given, result, mode="FAST_COMPILE")(value, 0.5)
        np.testing.assert_allclose(theano.function(given, ours)(value, 0.5), expected, rtol=1e-12)
