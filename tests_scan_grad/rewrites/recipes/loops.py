"""Loops, under PyTensor's rewrites of them and the project's own."""

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.replace import vectorize_graph

import theano
from tests_scan_grad.rewrites.making import Maker, recipe
from theano.compile.rebroadcast import unbroadcast

FAMILY = "loops"
TYPES = ("float64", "float32")


@recipe(
    FAMILY,
    "scan_remove_unused",
    "unify_forward_loops",
    "HoistInvariants",
    "record_loops",
    "drop_dead_results",
    "cleaned_loops_are_ours",
    "joined_loops_are_ours",
    "loops_are_ours",
    "results_apart",
)
def loops_with_arguments_of_no_use(m: Maker):
    x = m.array((m.one_of(1, 3), 2), TYPES)
    y, w = m.same(x), m.array((2,), x.type.dtype)
    unused = m.array((2,), x.type.dtype)

    def step(a, b, h, k, w, v):
        return [pt.tanh(a + h * w), k + b.sum(), (w * 2).sum()]

    outputs, _ = theano.scan(
        step, [x, y], [pt.zeros_like(w), np.array(0, x.type.dtype), None], [w, unused]
    )
    return [outputs[m.one_of(0, 1, 2)], *m.one_of([], [outputs[1]])]


@recipe(
    FAMILY,
    "scan_merge_duplicate_inputs",
    "scan_inline_invariant_constants",
    "scan_merge",
    "merge_equal_results",
)
def loops_over_the_same_values(m: Maker):
    x = m.array((m.one_of(1, 3), 2), TYPES)
    w = m.array((2,), x.type.dtype)
    c = pt.constant(np.array([1.0, 2.0], x.type.dtype))
    first, _ = theano.scan(
        lambda a, b, h, w, v, c: pt.tanh(a * b + h * w * v * c),
        [x, x],
        [pt.zeros_like(w)],
        [w, w * 1, c],
    )
    second, _ = theano.scan(lambda a, h, w: pt.tanh(a + h) * w, [x], [pt.zeros_like(w)], [w])
    third, _ = theano.scan(
        lambda a, h, k: [pt.tanh(a + h), pt.tanh(a + k)], [x], [pt.zeros_like(w)] * 2
    )
    return [*m.one_of([first], [first, second]), *m.one_of([], third, [third[1][-1]])]


@recipe(FAMILY, "one_length_each")
def loops_that_are_given_equal_lengths(m: Maker):
    x = m.array((m.one_of(1, 3), 2), TYPES)
    w = m.array((2, m.one_of(1, 2)), x.type.dtype)
    y = pt.concatenate([x.dot(w), x], axis=1)
    lengths = [y.shape[0], y.reshape((-1, y.shape[1])).shape[1], y.dot(y.T).shape[0]]
    outputs, _ = theano.scan(
        lambda a, h, n, k, j: (pt.tanh(a * n + h * k) - pt.sin(h * j)).astype(h.type.dtype),
        [x],
        [pt.zeros((2,), x.type.dtype)],
        lengths,
    )
    return [outputs]


@recipe(FAMILY, "HoistInvariants", "scan_inline_invariant_constants", "remember_lengths")
def invariants_that_turn_out_to_be_rows(m: Maker):
    x = m.array((1, 2), TYPES)
    w = m.array((2,), x.type.dtype)
    row = unbroadcast(w.dimshuffle("x", 0), 0)
    outputs, _ = theano.scan(
        lambda h, row, twice: pt.tanh(h * twice + m.one_of(row, row * w)),
        outputs_info=[x],
        non_sequences=[m.one_of(row, 2 * row * w[0] * 3), pt.constant(np.array(2, x.type.dtype))],
        n_steps=2,
    )
    return [outputs]


@recipe(FAMILY, "scan_merge")
def loops_side_by_side_of_different_lengths(m: Maker):
    x = m.array((3, 2), TYPES)
    n = m.one_of(3, 2, x.shape[0], m.scalar("int64", among=lambda s: m.one_of(2, 3)))
    first, _ = theano.scan(lambda a, h: a + h, [x], [pt.zeros((2,), x.type.dtype)])
    second, _ = theano.scan(
        lambda a, h: a * h, [x], [pt.ones((2,), x.type.dtype)], n_steps=n, go_backwards=m.chance()
    )
    return [first, second]


@recipe(
    FAMILY,
    "scan_sit_sot_to_untraced",
    "fewer_steps",
    "shorten_outputs",
    "shorten_traces",
    "pad_initial_value",
    "trim_empty_buffer",
)
def parts_read_of_loops(m: Maker):
    x = m.array((m.one_of(1, 3, 4), 2), TYPES)
    outputs, _ = theano.scan(
        lambda a, h: [pt.tanh(a + h), a * 2], [x], [pt.zeros((2,), x.type.dtype), None]
    )
    return [
        outputs[0][m.one_of(-1, 0, slice(-2, None), slice(None, 2), slice(None, None, -1))],
        *m.one_of([], [outputs[1][-1]], [outputs[0].sum(0)]),
    ]


@recipe(
    FAMILY,
    "PushOutDotAccumulate",
    "PushOutTracedProducts",
    "HoistFromSequences",
    "MergeDots",
    "steps_for_fast_compile",
    "inline_ofg_expansion",
)
def gradients_of_loops(m: Maker):
    x, w = m.array((m.one_of(1, 3), 2), TYPES), m.array((2, 2), TYPES[:1])
    v = m.array((2, 2), "float64")
    h, _ = theano.scan(
        lambda a, h, w, v: pt.tanh(pt.dot(a, w) + pt.dot(h, v)) + m.one_of(0, pt.dot(h, w)),
        [x.astype("float64")],
        [pt.zeros((2,), "float64")],
        [w, v],
        truncate_gradient=m.one_of(-1, -1, 2),
        go_backwards=m.chance(0.3),
    )
    cost = m.one_of(h[-1].sum(), (h**2).sum())
    return pt.grad(cost, m.one_of([w, v], [x, w]))


@recipe(FAMILY, "SplitJoinedProducts", "HoistFromSequences", "PushOutDotAccumulate")
def loops_that_join_what_they_multiply(m: Maker):
    x, w = m.array((m.one_of(1, 3), 3, 2), TYPES), m.array((4, 2), TYPES)
    y = m.array((3, m.one_of(0, 1, 2)), x.type.dtype)
    h0 = m.array((3, 2), x.type.dtype)

    def step(a, h, w, y):
        parts = m.one_of([a, h], [h, a])
        if m.chance(0.3):
            return pt.tanh(pt.dot(w.T, pt.concatenate([p.T for p in parts])).T).astype(h.dtype)
        if m.chance(0.3):
            w = pt.concatenate([w, w[: y.shape[1]]])
            parts = [*parts, y]
        return pt.tanh(pt.dot(pt.concatenate(parts, axis=1), w)).astype(h.dtype)

    h, _ = theano.scan(step, [x], [h0], [w, y])
    return [h, *m.one_of([], pt.grad(h.sum(), [x, w, h0]))]


@recipe(FAMILY, "scan_split_non_sequence_decomposition_and_solve")
def loops_that_solve(m: Maker):
    from pytensor.tensor import slinalg

    a = m.array((2, 2), ("float64",), among=lambda s: m.rng.uniform(-0.3, 0.3, s) + 2 * np.eye(2))
    b = m.array((3, 2), ("float64",))
    out, _ = theano.scan(
        lambda b, h, a: slinalg.solve(
            a, b + h, assume_a=m.one_of("gen", "gen", "tridiagonal"), b_ndim=1
        ),
        [b],
        [pt.zeros((2,))],
        [a],
    )
    return out


@recipe(FAMILY, "cond_make_inplace", "late_inline_OpFromGraph", "inline_ofg_expansion")
def lazy_choices_and_graphs_as_operations(m: Maker):
    from pytensor.compile.builders import OpFromGraph
    from pytensor.ifelse import ifelse

    x, c = m.array((2,), TYPES), m.scalar("int8")
    i = pt.vector(dtype=x.type.dtype)
    op = OpFromGraph([i], [pt.exp(i) + 1], inline=m.chance())
    return [ifelse(c > 0, x * 2, x[::-1] + 1), op(x), op(op(x))]


@recipe(FAMILY, "scan_make_inplace")
def loops_whose_memory_may_be_used_again(m: Maker):
    x = m.array((3, 2), TYPES)
    h0 = m.array((2,), x.type.dtype)
    start = h0 * 2
    h, _ = theano.scan(lambda a, h: pt.tanh(a + h), [x], [start])
    return [h, *m.one_of([], [start], [start.sum()])]


@recipe(FAMILY, "loops_in_batches")
def loops_of_a_batch(m: Maker):
    x, batch = m.array((m.one_of(1, 3),), TYPES), m.one_of(1, 2)
    a = pt.scalar(dtype=x.type.dtype)
    rows, many = pt.stack([x, x + 1, x**2][:batch]), pt.as_tensor([x[0], x[-1] / 2, x[0]][:batch])
    h, _ = theano.scan(lambda v, h, a: pt.tanh(a * h + v), [x], [pt.zeros_like(a)], [a])
    return vectorize_graph(h, {x: rows, a: many})
