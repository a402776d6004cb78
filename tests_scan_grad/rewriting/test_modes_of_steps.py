"""The modes in which the steps of loops are compiled."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.scan_module.scan_op import Scan


def modes_of_steps(graph):
    """The modes of a graph's loops and of the loops inside them."""
    loops = [node.op for node in graph.apply_nodes if isinstance(node.op, Scan)]
    return [mode for op in loops for mode in (op.mode, *modes_of_steps(op.fgraph))]


@pytest.mark.parametrize("named", [None, "FAST_RUN"])
def test_fast_compile_compiles_steps_fast_unless_they_name_a_mode(named):
    x = T.matrix("x")

    def row_sums(row):
        sums, _ = theano.scan(
            lambda x_t, s: s + x_t, sequences=[row], outputs_info=[T.zeros_like(row[0])], mode=named
        )
        return sums[-1]

    totals, _ = theano.scan(row_sums, sequences=[x], mode=named)
    outputs = [totals, theano.grad((totals**2).sum(), x)]
    modes = {
        name: theano.function([x], outputs, mode=name) for name in ("FAST_COMPILE", "FAST_RUN")
    }
    found = modes_of_steps(modes["FAST_COMPILE"].maker.fgraph)
    assert len(found) >= 3
    is_fast = [mode is theano.compile.mode.FAST_COMPILE for mode in found]
    assert all(is_fast) if named is None else not any(is_fast)
    value = np.arange(6.0).reshape(2, 3)
    for got, expected in zip(*(f(value) for f in modes.values()), strict=True):
        np.testing.assert_allclose(got, expected)
