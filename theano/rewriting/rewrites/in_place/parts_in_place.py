"""Changes of a part of an array, made in its own memory.

The native engine decides by itself where values inside of a function lie. What it has to know is
that an input may be overwritten, such as a table of which an update changes some rows.
"""

from __future__ import annotations

from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.subtensor import IncSubtensor

from theano.pytensor_internals.graphs.graph import ReplaceValidate, protected_inputs
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.rewriting import GraphRewriter
from theano.pytensor_internals.operations.tensor import view_roots
from theano.rewriting.rewrites.in_place.replace_together import replace_together


class PartsInPlace(GraphRewriter):
    """``set_subtensor`` and ``inc_subtensor`` overwrite an array, where the graph allows it.

    Those whose array nobody else reads are tried together. One that is read elsewhere, too, is
    tried by itself, if it is an input: the others may read it before.
    """

    name = "parts_in_place"

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Let changes be taken back."""
        fgraph.attach_feature(ReplaceValidate())

    def apply(self, fgraph: FunctionGraph) -> None:
        """Replace the operators."""
        protected = {*(protected_inputs(fgraph) or ())}
        alone, shared = [], []
        for node in fgraph.toposort():
            if not is_a(node.op, IncSubtensor) or node.op.inplace:
                continue
            roots = view_roots(node.inputs[0])
            if protected.intersection(roots):
                continue
            if len(fgraph.clients[node.inputs[0]]) == 1:
                alone.append(node)
            elif any(root in fgraph.inputs for root in roots):
                shared.append(node)
        replace_together(fgraph, alone, _in_place, self.name)
        for node in shared:
            replace_together(fgraph, [node], _in_place, self.name)


def _in_place(node: Apply) -> Apply:
    op = node.op
    made = type(op)(
        op.idx_list,
        inplace=True,
        set_instead_of_inc=op.set_instead_of_inc,
        destroyhandler_tolerate_aliased=op.destroyhandler_tolerate_aliased,
    ).make_node(*node.inputs)
    if not getattr(node.outputs[0].tag, "nan_guard_mode_check", True):
        made.outputs[0].tag.nan_guard_mode_check = False
    return made
