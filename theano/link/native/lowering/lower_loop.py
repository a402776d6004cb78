"""Lower the step of a loop, node by node, to what becomes one C function."""

from __future__ import annotations

from collections.abc import Sequence

from pytensor.graph.basic import Variable

from theano.link.native.graph.lazy_choices import OneStep, with_lazy_choices
from theano.link.native.ir.ir import (
    CannotLower,
    Value,
)
from theano.link.native.lowering.loop import Loop, LowerLoop
from theano.link.native.lowering.loop_arguments import LoopArguments
from theano.link.native.lowering.loop_results import LoopResults
from theano.link.native.lowering.nodes import Nodes
from theano.link.native.lowering.step import Step
from theano.link.native.passes.pipeline import run_passes
from theano.link.step_graph import prepared
from theano.pytensor_internals.graphs.order import in_order
from theano.pytensor_internals.graphs.scan import Scan


def lower_scan(
    op: Scan, outer_names: Sequence[str | None], name: str, lower_loop: LowerLoop
) -> Loop:
    """Lower the step of a Scan to what becomes a C function of this name.

    Parameters
    ----------
    lower_loop
        Lowers the loops inside.

    Raises
    ------
    CannotLower
        With the first reason found.
    """
    graph = with_lazy_choices(prepared(op))
    step = Step(name, lower_loop=lower_loop)
    step.packs = not isinstance(op, OneStep)
    loop = Loop(op.name or "scan", step, [], [])
    arguments = LoopArguments(loop, op, outer_names)
    step.constant_array = arguments.constant_array
    nodes = Nodes(step, _no_input)
    arguments.bind(graph.inputs, nodes.values)
    for node in in_order(graph):
        nodes.lower(node)
    results = [nodes.value(variable) for variable in graph.outputs]
    LoopResults(loop, arguments).bind(graph.outputs, results)
    loop.number_count = arguments.number_count
    run_passes(loop)
    return loop


def _no_input(variable: Variable) -> Value:
    raise CannotLower(f"the input {variable}")
