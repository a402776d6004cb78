"""Next values of shared variables that are views of what such variables hold.

Check: the next value is an input that gets a new value itself, looked at through operations that
make views, which nothing else uses, and nothing overwrites that input. Python passes such a view
on, as Theano did; native code would copy it into its own memory.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph


def views_passed_on(fgraph: FunctionGraph) -> list[Apply]:
    """Return the nodes that make such views."""
    updates: Any = fgraph.update_mapping or {}
    states = {fgraph.inputs[place] for place in updates.values()}
    found: list[Apply] = []
    for result in updates:
        variable, nodes = fgraph.outputs[result], []
        while (node := variable.owner) is not None and _only_views(fgraph, node):
            nodes.append(node)
            variable = node.inputs[0]
        if variable in states and not _overwritten(fgraph, variable):
            found += nodes
    return found


def _only_views(fgraph: FunctionGraph, node: Apply) -> bool:
    return node.op.view_map == {0: [0]} and len(fgraph.clients[node.outputs[0]]) == 1


def _overwritten(fgraph: FunctionGraph, variable: Variable) -> bool:
    return hasattr(fgraph, "has_destroyers") and fgraph.has_destroyers([variable])
