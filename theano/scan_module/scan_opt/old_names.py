"""The rewrites of loops by the names of Theano 1.0's classes: those of today that do the same."""

from __future__ import annotations

from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.graphs.rewriting import GraphRewriter
from theano.pytensor_internals.graphs.scan import ScanInplaceOptimizer, ScanMerge
from theano.scan_module.scan_opt.conversion.pad_initial_values import PAD_INITIAL_VALUES
from theano.scan_module.scan_opt.hoist_from_sequences import HoistFromSequences
from theano.scan_module.scan_opt.hoist_invariants import HoistInvariants
from theano.scan_module.scan_opt.kept_rows.fewer_steps import FewerSteps
from theano.scan_module.scan_opt.kept_rows.shorten_outputs import ShortenOutputs
from theano.scan_module.scan_opt.kept_rows.shorten_traces import ShortenTraces
from theano.scan_module.scan_opt.kept_rows.trim_empty_buffers import TRIM_EMPTY_BUFFERS
from theano.scan_module.scan_opt.push_out_dot_accumulate import PushOutDotAccumulate
from theano.scan_module.scan_opt.push_out_traced_products import PushOutTracedProducts

__all__ = [
    "PushOutDot1",
    "PushOutNonSeqScan",
    "PushOutScanOutput",
    "PushOutSeqScan",
    "ScanInplaceOptimizer",
    "ScanMerge",
    "ScanSaveMem",
]

PushOutNonSeqScan = HoistInvariants
PushOutSeqScan = HoistFromSequences
PushOutDot1 = PushOutDotAccumulate


class _OneAfterTheOther(GraphRewriter):
    parts: tuple[GraphRewriter, ...]

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for part in self.parts:
            part.add_requirements(fgraph)

    def apply(self, fgraph: FunctionGraph) -> None:
        """Apply each part once."""
        for part in self.parts:
            part.apply(fgraph)


class PushOutScanOutput(_OneAfterTheOther):
    """Products that only make outputs are computed after the loop."""

    parts = (PushOutDotAccumulate(), PushOutTracedProducts())


class ScanSaveMem(_OneAfterTheOther):
    """A loop keeps only what is read of its outputs."""

    parts = (
        FewerSteps(),
        ShortenOutputs(),
        PAD_INITIAL_VALUES,
        ShortenTraces(in_buffer=True),
        TRIM_EMPTY_BUFFERS,
    )
