"""Golden networks become the same graphs under this schedule as under PyTensor's."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from pytensor.graph.rewriting.basic import GraphRewriter
from pytensor.tensor.rewriting.shape import ShapeOptimizer

import theano
import theano.tensor as T
from tests_scan_grad import networks
from tests_scan_grad.loop_counts import theano_scan
from theano.pytensor_internals.operations.tensor_rewrites import ShapesWhenAsked
from theano.rewriting.rewrites.of_pytensor.left_out import SLOW_IN_PYTHON
from theano.scan_module.report.scan_report import scan_report


class AttachShapes(GraphRewriter):
    """Gives a graph its shapes as PyTensor works them out, all of them at once."""

    def apply(self, fgraph):
        fgraph.attach_feature(ShapesWhenAsked())


class PyTensorsSchedule(theano.Mode):
    """The same rewrites, run by PyTensor's classes."""

    @property
    def optimizer(self):
        # what Python does not run well is in neither
        chosen = self.optdb.query(self._optimizer.excluding(*SLOW_IN_PYTHON))
        chosen.data = [
            AttachShapes() if isinstance(rewriter, ShapeOptimizer) else rewriter
            for rewriter in chosen.data
        ]
        return chosen


GOLDEN = [
    networks.gated_rnn,
    networks.lstm,
    networks.plain_rnn,
    networks.bidirectional,
    networks.stacked,
    networks.attention,
    networks.tied_weights,
]


def operations(function):
    """Count each operation in a function's graph, loops by what is in their steps."""
    return Counter(str(node.op) for node in function.maker.fgraph.apply_nodes)


def by_both_schedules(inputs, outputs):
    return [
        theano.function(inputs, outputs, mode=mode("py", "fast_run"))
        for mode in (theano.Mode, PyTensorsSchedule)
    ]


def report_without_lengths(function):
    """Return the report on loops without bytes: lengths that are not static have many spellings."""
    report = scan_report(function)
    loops = [replace(loop, bytes_before=None, bytes_after=None) for loop in report.loops]
    return replace(report, loops=loops)


@pytest.mark.parametrize("build", GOLDEN, ids=lambda build: build.__name__)
def test_golden_networks_become_what_pytensors_schedule_makes_of_them(build):
    network = build(theano_scan)
    outputs = [network.cost, *theano.grad(network.cost, network.weights)]
    ours, theirs = by_both_schedules(network.inputs, outputs)
    assert report_without_lengths(ours) == report_without_lengths(theirs)
    assert operations(ours) == operations(theirs)
    for got, expected in zip(ours(*network.values), theirs(*network.values), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("build", GOLDEN, ids=lambda build: build.__name__)
def test_golden_networks_of_known_lengths_are_reported_alike(build):
    network = build(theano_scan)
    outputs = [network.cost, *theano.grad(network.cost, network.weights)]
    known = [
        T.TensorType(variable.dtype, shape=np.shape(value))(variable.name)
        for variable, value in zip(network.inputs, network.values, strict=True)
    ]
    outputs = theano.clone(outputs, replace=dict(zip(network.inputs, known, strict=True)))
    ours, theirs = map(scan_report, by_both_schedules(known, outputs))
    assert ours == theirs
    assert all(isinstance(loop.bytes_after, int) for loop in ours.loops)
