"""Reports of what rewrites of loops did and refused, for new rewrites as well."""

from dataclasses import replace

import numpy as np
import pytest
from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import SequentialGraphRewriter
from pytensor.link.vm import VMLinker

import theano
import theano.tensor as T
from theano.scan_module import scan_report, until
from theano.scan_module.loop.arguments import unpack
from theano.scan_module.report.describe import describe
from theano.scan_module.scan_op import Scan
from theano.scan_module.scan_opt.loop_rewriter import Checked, Finding, LoopRewriter
from theano.scan_module.scan_opt.record_loops import RecordLoops

# what is reported does not depend on the engine, and nothing is compiled to C
MODE = theano.Mode(VMLinker(use_cloop=False, c_thunks=False), "fast_run")


class DropUnreadTraces(LoopRewriter):
    """A toy: outputs that nobody reads are not computed, but for those that are integers."""

    name = "DropUnreadTraces"
    heading = "dropped, as nobody reads it"

    def check(self, graph: FunctionGraph, node: Apply) -> Checked | None:
        loop = unpack(node)
        dead = [trace for trace in loop.traces if not graph.clients[trace.output]]
        if not dead:
            return None
        dropped = [trace for trace in dead if trace.inner.type.dtype.startswith("float")]
        findings = [
            Finding(
                f"output {describe(trace.inner, loop)}",
                trace in dropped,
                "its step computes it no more" if trace in dropped else "it is no floating number",
            )
            for trace in dead
        ]
        kept = replace(loop, traces=tuple(t for t in loop.traces if t not in dropped))
        return Checked(findings, lambda: kept.build(type(node.op)).replacements())


@pytest.fixture(scope="module")
def toy():
    """A function whose mode runs the toy after the loops were recorded, and its report."""
    x = T.vector("x")
    outputs, _ = theano.scan(
        lambda u, s: [s + u, T.exp(u), T.ge(u, 0)], x, [T.zeros(()), None, None], mode=MODE
    )
    mode = theano.Mode(MODE.linker, SequentialGraphRewriter(RecordLoops(), DropUnreadTraces()))
    return theano.function([x], outputs[0], mode=mode, name="toy")


def test_a_toy_rewrite_runs(toy):
    [loop] = scan_report(toy).loops
    [node] = [n for n in toy.maker.fgraph.apply_nodes if isinstance(n.op, Scan)]
    assert [trace.inner.type.dtype for trace in unpack(node).traces] == ["bool"]
    np.testing.assert_allclose(toy([1.0, 2.0]), [1.0, 3.0])
    assert [d.rewrite for d in loop.decisions] == ["DropUnreadTraces"] * 2


def test_what_a_toy_rewrite_did_and_refused_is_printed(toy):
    text = str(scan_report(toy))
    assert (
        "  dropped, as nobody reads it:\n    output exp(x[t]): its step computes it no more" in text
    )
    assert "  left as it was:\n    output gE(x[t], 0): it is no floating number" in text


def report_of(results, inputs):
    return scan_report(theano.function(inputs, results, mode=MODE))


def recurrent(**options):
    x, h0 = T.tensor3("x"), T.matrix("h0")
    states, _ = theano.scan(lambda u, h: T.tanh(u + h), x, h0, mode=MODE, **options)
    return [x, h0], states


def test_fewer_steps_are_reported():
    inputs, states = recurrent()
    [loop] = report_of(states[2], inputs).loops
    [decision] = [d for d in loop.shortened if d.rewrite == "fewer_steps"]
    assert decision.subject == "number of steps"
    assert decision.detail == "minimum(3, x.shape[0]) in place of x.shape[0], as many as are read"


def test_steps_that_are_run_for_a_later_read_are_reported():
    inputs, states = recurrent()
    [loop] = report_of([states[2], states[-1]], inputs).loops
    [decision] = [d for d in loop.refused if d.rewrite == "fewer_steps"]
    assert decision.detail == "the last steps are read, too"


def test_rows_that_are_not_kept_are_reported():
    inputs, states = recurrent()
    [loop] = report_of(states[-1], inputs).loops
    [decision] = [d for d in loop.shortened if d.rewrite == "shorten_traces"]
    assert decision.subject == "output scan_fn.0"


def test_last_rows_of_an_output_are_reported():
    x = T.tensor3("x")
    h0 = T.matrix("h0")
    outputs, _ = theano.scan(lambda u, h: [T.tanh(u + h), T.exp(h)], x, [h0, None], mode=MODE)
    [loop] = report_of([outputs[0], outputs[1][-3:]], [x, h0]).loops
    [decision] = [d for d in loop.shortened if d.rewrite == "shorten_outputs"]
    assert decision.detail == "its last minimum(3, x.shape[0]) rows are kept"


def test_rows_that_are_kept_as_a_loop_may_stop_are_reported():
    x, h0 = T.tensor3("x"), T.matrix("h0")
    states, _ = theano.scan(lambda u, h: (T.tanh(u + h), until(h.sum() > 9)), x, h0, mode=MODE)
    [loop] = report_of(states[-3:], [x, h0]).loops
    [decision] = [d for d in loop.refused if d.rewrite == "shorten_traces"]
    assert decision.detail.startswith("the loop may stop early")


def test_an_output_that_is_the_same_in_every_step_is_reported():
    x, h0, w = T.tensor3("x"), T.matrix("h0"), T.matrix("w")
    outputs, _ = theano.scan(lambda u, h, w: [T.tanh(u + h), T.exp(w)], x, [h0, None], w, mode=MODE)
    [loop] = report_of(outputs, [x, h0, w]).loops
    assert [(d.subject, d.detail) for d in loop.hoisted] == [
        ("output exp(w)", "one value, repeated")
    ]
