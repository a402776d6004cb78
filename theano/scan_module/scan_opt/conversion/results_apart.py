"""results_apart: results of a step that have become places of buffers are copied.

``apart_from`` copies them where a loop is built. Rewrites of the step, when it is compiled by
PyTensor, may then find that another result is such a place: ``0 + place`` is.
"""

from __future__ import annotations

from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.graphs.graph import NoOutputFromInplace, features_of
from theano.pytensor_internals.graphs.rewriting import GraphRewriter
from theano.scan_module.loop.result_copy import apart_from


class ResultsApart(GraphRewriter):
    """Copies the results of steps that PyTensor's loop would clear before it has read them."""

    name = "results_apart"

    def apply(self, fgraph: FunctionGraph) -> None:
        """Copy them; a graph that is no step of a loop that writes its buffers is left alone."""
        updated = getattr(fgraph, "update_mapping", None)
        is_step = any(isinstance(one, NoOutputFromInplace) for one in features_of(fgraph))
        if not updated or not is_step:
            return
        places = {fgraph.inputs[position] for position in updated.values()}
        for k, result in enumerate(fgraph.outputs):
            copied = apart_from(places, result)
            if copied is not result:
                client = fgraph.get_output_client(k)
                fgraph.change_node_input(*client, copied, reason=self.name)
