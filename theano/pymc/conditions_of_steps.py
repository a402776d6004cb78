"""Conditions on distributions' parameters, as PyMC writes them, in the steps of loops too.

PyTensor's modes rewrite steps by all that they rewrite functions by; the steps of this package are
rewritten by the same, whatever the mode, and know nothing of what PyMC adds to one.
"""

from __future__ import annotations

from collections.abc import Iterable

from pymc.logprob.utils import CheckParameterValue
from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.graphs.rewriting import GraphRewriter, RewriteDatabaseQuery
from theano.rewriting.database import optdb
from theano.scan_module.scan_op import Scan
from theano.scan_module.scan_opt.loop_rewriter import loops_of

# a condition that is not met gives a density of -inf, or is not asked
REWRITES_OF_CONDITIONS = (
    "local_check_parameter_to_ninf_switch",
    "local_remove_check_parameter",
)


class ConditionsOfSteps(GraphRewriter):
    """Rewrites conditions in the steps of loops, and of loops inside them.

    Parameters
    ----------
    tags
        The names of rewrites that a mode includes; of which those of conditions are taken.
    """

    def __init__(self, tags: Iterable[str]):
        super().__init__()
        names = [name for name in REWRITES_OF_CONDITIONS if name in tags]
        self._rewriter = None
        if names:
            self._rewriter = optdb["canonicalize"].query(RewriteDatabaseQuery(include=names))

    def apply(self, graph: FunctionGraph) -> None:
        """Replace the loops of a graph whose steps have conditions."""
        for node in list(loops_of(graph)) if self._rewriter is not None else []:
            made = Scan.of_pytensor(node.op).clone()
            before = set(made.fgraph.apply_nodes)
            self._rewrite(made.fgraph)
            if before != made.fgraph.apply_nodes:
                replacing = Apply(made, node.inputs, [v.clone() for v in node.outputs])
                pairs = zip(node.outputs, replacing.outputs, strict=True)
                graph.replace_all(list(pairs), reason="conditions_of_steps")

    def _rewrite(self, step: FunctionGraph) -> None:
        self.apply(step)
        if any(isinstance(node.op, CheckParameterValue) for node in step.apply_nodes):
            assert self._rewriter is not None
            self._rewriter.rewrite(step)
