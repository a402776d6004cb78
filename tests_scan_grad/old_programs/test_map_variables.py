"""``map_variables``: replacements that a program attached to variables of its graphs."""

import pickle

import numpy as np

import theano
import theano.tensor as T
from theano.scan_module.scan_utils import map_variables


def replacement(variable):
    return getattr(variable.tag, "replacement", variable)


def test_a_variable_stands_for_itself_within_its_replacement():
    x, mask = T.vectors("x", "mask")
    hidden = T.tanh(x)
    hidden.tag.replacement = hidden * mask
    (mapped,) = map_variables(replacement, [(hidden + hidden).sum()])
    value = mapped.eval({x: np.ones(2), mask: np.array([0.0, 1.0])})
    np.testing.assert_allclose(value, 2 * np.tanh(1))


def test_states_taps_and_traces_of_a_loop():
    x, scale, bias = T.vector("x"), T.scalar("scale"), T.scalar("bias")

    def step(x_t, before_last, last, trace_of, scale):
        new = before_last + last * x_t
        seen = new * scale
        seen.tag.replacement = seen + bias
        return new, trace_of + x_t, seen

    outputs, _ = theano.scan(
        step,
        x,
        [{"initial": T.constant(np.ones(2)), "taps": [-2, -1]}, T.constant(np.float64(0)), None],
        scale,
    )
    mapped = map_variables(replacement, outputs)
    function = theano.function([x, scale, bias], outputs + mapped)
    new, trace, seen, new_mapped, trace_mapped, seen_mapped = function([1.0, 2.0, 3.0], 2.0, 0.5)
    np.testing.assert_allclose(new_mapped, new)
    np.testing.assert_allclose(trace_mapped, trace)
    np.testing.assert_allclose(seen_mapped, seen + 0.5)
    loop = mapped[0].owner.inputs[0].owner
    assert loop.op.n_mit_sot == 1 and loop.op.n_nit_sot == 1


def test_a_loop_that_ends_early():
    x = T.vector("x")

    def step(x_t):
        new = x_t + 1
        new.tag.replacement = new * 10
        return new, theano.scan_module.until(x_t > 1)

    shifted, _ = theano.scan(step, x)
    (mapped,) = map_variables(replacement, [shifted])
    value = theano.function([x], mapped)([0.0, 2.0, 4.0])
    np.testing.assert_allclose(value, [10, 30])


def test_ops_are_pickled_without_what_was_written():
    x = T.vector("x")
    total, _ = theano.scan(lambda x_t, s: s + x_t, x, T.constant(np.float64(0)))
    op = total.owner.inputs[0].owner.op
    assert op.as_written is not None
    assert pickle.loads(pickle.dumps(op)).as_written is None
