"""The ``Scan`` op of a step: as PyTensor's constructor makes it, with one copy and no comparison."""

import numpy as np
import pytest
from pytensor.graph.utils import InconsistencyError, MissingInputError
from pytensor.scan.op import Scan as PyTensorScan

import theano
import theano.tensor as T
from tests_scan_grad import networks
from tests_scan_grad.loop_counts import theano_scan
from theano.scan_module.loop.arguments import unpack
from theano.scan_module.scan_op import Scan
from theano.tensor.shared_randomstreams import RandomStreams

ATTRIBUTES = [
    "info",
    "output_types",
    "mintaps",
    "seqs_arg_offset",
    "untraced_sit_sot_arg_offset",
    "nit_sot_arg_offset",
    "n_tap_outs",
    "mitmots_preallocated",
    "n_outer_inputs",
    "n_outer_outputs",
    "view_map",
    "destroy_map",
    "name",
    "profile",
    "allow_gc",
    "strict",
    "truncate_gradient",
    "mode",
]


def loops_of(outputs):
    return [
        node
        for node in theano.gof.graph.io_toposort([], outputs)
        if isinstance(node.op, PyTensorScan)
    ]


def several_taps():
    x = T.vector("x")
    states, _ = theano.scan(
        lambda x, a, b: (a * x + b, T.tanh(a)),
        sequences=[x],
        outputs_info=[{"initial": T.zeros(2), "taps": [-2, -1]}, None],
    )
    return theano.grad(states[0].sum(), x)


def draws_and_a_condition():
    random = RandomStreams(1)
    states, _ = theano.scan(
        lambda h: (h + random.normal(), theano.scan_module.until(h > 3)),
        outputs_info=[T.constant(0.0, dtype="float64")],
        n_steps=9,
    )
    return states.sum()


def gated():
    built = networks.gated_rnn(theano_scan)
    return theano.grad(built.cost, built.weights[0])


@pytest.mark.parametrize("build", [several_taps, draws_and_a_condition, gated])
def test_the_op_is_what_pytensor_makes_of_the_step(build):
    nodes = loops_of([build()])
    assert nodes
    for node in nodes:
        loop = unpack(node)
        settings = loop.settings
        made = [
            op_class(
                loop.inner_inputs,
                loop.inner_outputs,
                loop.roles.info(),
                mode=settings.mode,
                name=settings.name,
                truncate_gradient=settings.truncate_gradient,
                allow_gc=settings.allow_gc,
                strict=settings.strict,
            )
            for op_class in (PyTensorScan, Scan)
        ]
        for name in ATTRIBUTES:
            theirs, ours = (getattr(op, name) for op in made)
            assert theirs == ours, name
        assert Scan.of_pytensor(made[0]) == made[1]


def test_a_step_is_made_comparable_when_it_is_compared():
    h = T.vector("h")
    ops = [Scan([h], [T.tanh(h)], loops_of([several_taps()])[0].op.info) for _ in range(2)]
    # it is kept by the op in 3.0, by its graph in 3.3
    assert not any({"_frozen_fgraph"} & vars(op).keys() for op in ops)
    assert not any({"frozen"} & vars(op.fgraph).keys() for op in ops)
    assert ops[0] == ops[1]
    assert all({"_frozen_fgraph", "frozen"} & (vars(op) | vars(op.fgraph)).keys() for op in ops)


def test_a_step_that_reads_what_it_is_not_given_is_refused():
    x, y = T.vectors("x", "y")
    info = loops_of([several_taps()])[0].op.info
    with pytest.raises(MissingInputError, match="y"):
        Scan([x], [x + y], info)


def test_a_step_that_overwrites_is_refused():
    x = T.vector("x")
    info = loops_of([several_taps()])[0].op.info
    with pytest.raises(InconsistencyError, match="in-place"):
        Scan([x], [T.inplace.exp_inplace(x)], info)


def test_a_loop_can_be_without_what_its_step_never_reads():
    x, y, w, v = T.vectors("x", "y", "w", "v")
    states, _ = theano.scan(
        lambda x, y, w, v: x * w + 0 * y[:0].sum() + 0 * v[:0].sum(),
        sequences=[x, T.stack([y, y])],
        non_sequences=[w, v],
    )
    loop = unpack(loops_of([states])[0])
    read = loop.with_inner_outputs([loop.sequences[0].inner * loop.invariants[0].inner])
    reduced = read.without_unused_inputs()
    assert [entry.outer for entry in reduced.sequences] == [loop.sequences[0].outer]
    assert [entry.outer for entry in reduced.invariants] == [loop.invariants[0].outer]
    assert len(loop.sequences) == len(loop.invariants) == 2


@pytest.mark.parametrize("layers", [2, 6])
def test_no_buffer_of_a_stack_asks_for_all_that_is_below_it(layers, monkeypatch):
    from pytensor.tensor import basic

    sizes = []
    infer = basic.infer_static_shape

    def counted(shape):
        variables = [length for length in shape if not isinstance(length, int)]
        sizes.append(len(list(theano.gof.graph.io_toposort([], variables))))
        return infer(shape)

    monkeypatch.setattr(basic, "infer_static_shape", counted)
    h = x = T.tensor3("x")
    W = T.matrix("W")
    for _ in range(layers):
        h, _ = theano.scan(
            lambda x, h, W: T.tanh(x + T.dot(h, W)),
            sequences=[h],
            outputs_info=[T.zeros_like(x[0])],
            non_sequences=[W],
        )
    theano.grad(h.sum(), W)
    assert max(sizes, default=0) < 20


def test_memory_that_nothing_was_written_to_may_be_nan():
    x, W = T.matrices("x", "W")
    h, _ = theano.scan(
        lambda x, h, W: T.tanh(x + T.dot(h, W)),
        sequences=[x],
        outputs_info=[T.zeros_like(x[0])],
        non_sequences=[W],
    )
    order = theano.gof.graph.io_toposort([], [theano.grad(h.sum(), W)])
    memory = [node for node in order if isinstance(node.op, T.AllocEmpty)]
    # of the states of the loop and of its gradient, and of the sum for the weights
    assert len(memory) == 3
    readers = [node for node in order if any(m.outputs[0] in node.inputs for m in memory)]
    written = [node for node in readers if isinstance(node.op, T.IncSubtensor)]
    assert len(written) == 3
    for node in (*memory, *written):
        assert node.outputs[0].tag.nan_guard_mode_check is False
    for node in memory:
        assert node.outputs[0].tag.values_eq_approx(np.zeros(1), np.ones(1))
