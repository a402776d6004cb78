"""Rewrites that run under a condition: a graph that each rewrites, and one that it leaves alone."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.rewriting.refused.of_elements import OF_ELEMENTS
from tests_scan_grad.rewriting.refused.of_matrices import OF_MATRICES
from tests_scan_grad.rewriting.refused.of_parts import OF_PARTS
from tests_scan_grad.rewriting.refused.of_replaced import OF_REPLACED
from tests_scan_grad.rewriting.refused.sides import changes, made
from theano.pytensor_internals.graphs.scan import KEEPING_LINES
from theano.pytensor_internals.operations.tensor_rewrites import basic, math, subtensor
from theano.rewriting.rewrites.of_pytensor.guarded import Guarded
from theano.rewriting.rewrites.of_pytensor.replacements import INSTEAD

SIDES = {
    name: sides
    for name, sides in (OF_ELEMENTS | OF_PARTS | OF_MATRICES | OF_REPLACED).items()
    if sides.rewrite is not None
}

# constants that overflow, in the graphs and in PyTensor's rewrites
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

# what takes the place of these does all that they do, and more or the same in less time
WITHOUT_CONDITION = {
    basic.local_second_to_alloc,
    math.local_exp_over_1_plus_exp,
    subtensor.local_IncSubtensor_serialize,
    *KEEPING_LINES,
}


def test_each_condition_has_a_graph_on_both_sides():
    of_rows = {sides.rewrite for sides in SIDES.values()}
    assert of_rows <= set(INSTEAD)
    assert not [
        rewrite
        for rewrite, instead in INSTEAD.items()
        if rewrite not in of_rows
        and (isinstance(instead, Guarded) or rewrite not in WITHOUT_CONDITION)
    ]


@pytest.mark.parametrize("name", SIDES)
def test_a_rewrite_runs_where_it_is_right_and_is_refused_elsewhere(name):
    sides = SIDES[name]
    instead = INSTEAD[sides.rewrite]
    of_rewritten = list(changes(instead, made(sides.rewritten())))
    assert of_rewritten and not any(of_rewritten)
    of_refused = list(changes(instead, made(sides.refused())))
    assert bool(of_refused) == sides.otherwise and not any(of_refused)


@pytest.mark.parametrize("name", [name for name, sides in SIDES.items() if sides.wrong])
def test_the_rewrite_of_pytensor_is_wrong_where_it_is_refused(name):
    sides = SIDES[name]
    if not any(changes(sides.rewrite, made(sides.refused()))):
        pytest.skip("right in this release of PyTensor, wrong in another")


def called(graph, mode):
    """Return what a compiled function returns, or the class of its error."""
    fn = theano.function([*graph.values], graph.outputs, mode=mode, on_unused_input="ignore")
    try:
        with np.errstate(all="ignore"):
            return fn(*graph.values.values())
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("side", ["rewritten", "refused"])
@pytest.mark.parametrize("name", SIDES)
def test_results_are_those_without_rewriting(name, side):
    graph = made(getattr(SIDES[name], side)())
    expected, found = (called(graph, mode) for mode in (theano.Mode("py", None), "FAST_RUN"))
    if isinstance(expected, type) or isinstance(found, type):
        assert found is expected
        return
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        precision = np.finfo(one.dtype).eps if one.dtype.kind in "fc" else 0
        np.testing.assert_allclose(one, other, rtol=1e4 * precision, atol=10 * precision)


def test_casts_are_explicit_only_while_rewrites_run():
    w, counts = T.dscalar("w"), T.bvector("counts")
    f = theano.function([w, counts], w * counts + counts)
    names = [str(node.op) for node in f.maker.fgraph.apply_nodes]
    assert not [name for name in names if "Cast" in name], names
    np.testing.assert_allclose(f(0.5, np.array([2, -3], "int8")), [3, -4.5])
