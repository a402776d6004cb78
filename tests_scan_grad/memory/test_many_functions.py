"""Small functions that are kept: what each takes, and what compiling one leaves behind."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from pytensor.graph.traversal import ancestors

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import printed_by
from theano.link import native
from theano.printing import debugprint
from theano.pytensor_internals.graphs.graph import features_of
from theano.pytensor_internals.graphs.rewriting import MergeFeature
from theano.rewriting.merging import Merge

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(),
    reason="the memory of a process is read where Linux has it",
)

MANY = """
import gc
import numpy as np
import theano
import theano.tensor as T

def resident():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))

def mappings():
    with open("/proc/self/maps") as lines:
        return len(list(lines))

def function(k):
    x = T.dvector("x")
    made = [x * 2 + k, T.exp(x) - k * x, (x * k).sum() + x][k % 3]
    f = theano.function([x], made, mode="NATIVE")
    f(np.ones(3))
    return f

"""


def test_a_small_function_takes_little_memory(tmp_path):
    lines = printed_by(
        MANY
        + """
functions = [function(k) for k in range(40)]
before = resident(), mappings()
functions += [function(k) for k in range(40, 160)]
print((resident() - before[0]) / 120, mappings() - before[1])
""",
        THEANO_FLAGS=f"base_compiledir={tmp_path}",
    )
    kibibytes, mappings = map(float, lines[-1].split())
    # 60 on the machine where this was written, and 150 before
    assert kibibytes < 75
    # compiled by LLVM or the C compiler, a library for each function is three or more
    assert mappings < 60


def test_compiling_leaves_no_cycles(tmp_path):
    lines = printed_by(
        MANY
        + """
functions = [function(k) for k in range(6)]
gc.collect()
functions.append(function(6))
print(gc.collect())
""",
        THEANO_FLAGS=f"base_compiledir={tmp_path}",
    )
    # the expressions above that are not compiled, and no nodes and statements of the engine: 290 with them
    assert int(lines[-1]) < 60


def test_what_served_to_compile_a_function_is_gone_and_found_again():
    x = T.dvector("x")
    f = theano.function([x], T.exp(x) + x.sum(), mode="NATIVE")
    graph = f.maker.fgraph
    assert not [feature for feature in features_of(graph) if isinstance(feature, MergeFeature)]
    for loaded in (f.copy(), pickle.loads(pickle.dumps(f))):
        np.testing.assert_allclose(np.ravel(loaded(np.ones(2)))[0], np.e + 2)
    assert "segment0" in native.source(f)
    assert debugprint(f, file="str").count("exp")
    # equal nodes that come later are made one again
    for _ in range(2):
        graph.add_output(T.exp(graph.inputs[0]), import_missing=True)
    Merge().rewrite(graph)
    assert isinstance(graph.merge_feature, MergeFeature)
    assert graph.outputs[-1] is graph.outputs[-2]


def test_variables_of_one_line_share_its_trace():
    x = T.dvector("x")
    y = T.exp(x) * 2.0 + 3.0
    theano.function([x], y, mode="NATIVE")
    twos = [v for v in ancestors([y]) if v is not x and v.tag.trace]
    assert len({id(frames) for v in twos for frames in v.tag.trace}) < len(twos)
    assert all(v.tag.trace[0][0][0].endswith(".py") for v in twos)
