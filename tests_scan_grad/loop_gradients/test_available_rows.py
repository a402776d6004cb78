"""Values of a step that can be read for all steps from what a loop is given and gives."""

from dataclasses import replace

import numpy as np
import pytest
from pytensor.tensor.type import TensorType

import theano
import theano.tensor as T
from tests_scan_grad import networks
from tests_scan_grad.loop_counts import loops_as_built, python_mode, theano_scan
from theano.scan_module.loop.arguments import Sequence, State, Trace, unpack
from theano.scan_module.loop.available_rows import available_values, rows_of
from theano.scan_module.scan_op import Scan

BUILDERS = [
    *(networks.lstm, networks.taps, networks.stopping, networks.truncated),
    *(networks.bidirectional, networks.runge_kutta),
]


@pytest.mark.parametrize("build", BUILDERS, ids=lambda build: build.__name__)
def test_available_rows_are_the_values_of_the_steps(build):
    network = build(theano_scan)
    pairs = []
    for node in loops_as_built(network):
        loop = unpack(node)
        places = {v: p for v, p in available_values(loop).items() if isinstance(v.type, TensorType)}
        traces = {value: Trace(loop.n_steps, value) for value in places}
        built = replace(loop, traces=(*loop.traces, *traces.values())).build(Scan)
        pairs += [(rows_of(places[v], built), built.outputs[traces[v]]) for v in places]
    function = theano.function(
        network.inputs,
        [value for pair in pairs for value in pair],
        mode=python_mode(),
        on_unused_input="ignore",
    )
    found = function(*network.values)
    assert len(pairs) > 4
    for read, computed in zip(found[::2], found[1::2], strict=True):
        np.testing.assert_allclose(read[: len(computed)], computed)


def places_of_results(step, **options):
    """Return where the results of a step over ``x``, from ``h0``, are available."""
    x, h0 = T.matrix("x"), T.vector("h0")
    outputs = theano_scan(step, x, [h0, None], return_list=True, **options)
    [node] = [v.owner for v in theano.gof.graph.ancestors(outputs) if _is_loop(v)][:1]
    loop = unpack(node)
    return [type(available_values(loop)[value].entry) for value in loop.inner_outputs]


def _is_loop(variable):
    return variable.owner is not None and isinstance(variable.owner.op, Scan)


def test_a_state_that_is_an_output_too_is_read_from_its_buffer():
    def twice(u, h):
        h = T.tanh(u + h)
        return h, h

    assert places_of_results(twice) == [State, State]


def test_an_element_that_is_returned_as_it_is_is_read_from_the_sequence():
    assert places_of_results(lambda u, h: [T.tanh(u + h), u]) == [State, Sequence]


def test_a_further_value_is_read_from_its_trace():
    assert places_of_results(lambda u, h: [T.tanh(u + h), u * h]) == [State, Trace]
