import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor import function
from pytensor.compile.mode import Mode
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import in2out
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.rewriting.uncanonicalize import local_dimshuffle_subtensor

MODE = Mode(linker="py", optimizer="fast_run")
X = np.arange(8.0).reshape(4, 2)
PARTS = [
    np.s_[3:2:-1],
    np.s_[:2:-1],
    np.s_[9:2:-1],
    np.s_[-9:1],
    np.s_[1:2],
    np.s_[-1:],
    np.s_[::9],
]


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_dropped_axis(part):
    """The one row of a slice is where the slice begins, not where its bound is."""
    x = pt.tensor("x", shape=(4, 2), dtype="float64")
    row = x[part].dimshuffle(1)
    # this rewrite alone, as others may change the bounds before
    graph = FunctionGraph([x], [row], clone=False)
    in2out(local_dimshuffle_subtensor).rewrite(graph)
    assert not any(isinstance(node.op, DimShuffle) for node in graph.apply_nodes)
    fn = function([x], graph.outputs[0], mode=Mode("py", None))
    np.testing.assert_array_equal(fn(X), X[part][0])


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_summed_axis(part):
    x = pt.tensor("x", shape=(4, 2), dtype="float64")
    np.testing.assert_array_equal(function([x], x[part].sum(0), mode=MODE)(X), X[part][0])


def test_dropped_axes_of_a_matrix():
    x = pt.tensor("x", shape=(4, 2), dtype="float64")
    element = x[:2:-1, 1:].dimshuffle()
    assert function([x], element, mode=MODE)(X) == X[3, 1]
