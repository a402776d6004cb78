"""Start the C compiler for loops while the function around them is still being rewritten.

A loop's C function depends on the loop alone (`lowered_loops.py`). Most loops are what they will be
when this package's rewrites of loops have run, long before the graph around them is; the compiler
then runs on another core. A loop that changes all the same is compiled as any other in the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pytensor.configdefaults import config
from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph

from theano.link.native.build import compiler
from theano.link.native.build.in_process import chosen_compiler
from theano.link.native.build.objects import compile_ahead
from theano.link.native.build.programs import first_tier
from theano.link.native.ir.ir import CannotLower
from theano.link.native.lowering.loop import loops_of
from theano.link.native.lowering.lowered_loops import shared_loop
from theano.link.native.lowering.operations.scan import argument_names
from theano.link.native.program import why_not
from theano.link.native.render.loop_code import LoopCode, loop_code
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.order import in_order
from theano.pytensor_internals.graphs.rewriting import GraphRewriter
from theano.pytensor_internals.graphs.scan import Scan
from theano.rewriting.database import optdb

TAG = "theano_native"


class CompileAhead(GraphRewriter):
    """Starts the compiler for the loops of a graph, which it leaves as it is.

    Parameters
    ----------
    alone
        Whether to leave out loops that may yet be joined with others.
    """

    def __init__(self, alone: bool):
        super().__init__()
        self.alone = alone

    def apply(self, fgraph: FunctionGraph) -> None:
        """Start the compiler, where there is a core for it."""
        if compiler.cores() == 1 or chosen_compiler() != "cc" or config.profile:
            return
        nodes = in_order(fgraph)
        loops = [node for node in nodes if is_a(node.op, Scan) and not why_not(node)]
        if self.alone:
            loops = _needed_one_after_the_other(nodes, loops)
        # the compiler has a core while the next loop is lowered
        for code in _codes(loops):
            compile_ahead([code], first_tier())


def _codes(nodes: Iterable[Apply]) -> Iterator[LoopCode]:
    """Yield the C functions of loops and of the loops in them, each once."""
    found: set[str] = set()
    for node in nodes:
        try:
            loop = shared_loop(node.op, argument_names(node), "")
        except CannotLower:
            continue
        for each in [*loops_of(loop.step), loop]:
            code = loop_code(each)
            if code.name not in found:
                found.add(code.name)
                yield code


def _needed_one_after_the_other(nodes: Iterable[Apply], loops: list[Apply]) -> list[Apply]:
    """Return the loops that need each of the others, or are needed by it: two that do not may be joined."""
    bits = {node: 1 << k for k, node in enumerate(loops)}
    # the loops that a node needs, and itself, as bits
    needed: dict[Any, int] = {}
    for node in nodes:
        mask = bits.get(node, 0)
        for variable in node.inputs:
            if variable.owner is not None:
                mask |= needed[variable.owner]
        needed[node] = mask
    return [
        node
        for node in loops
        if all(needed[node] & bits[other] or needed[other] & bits[node] for other in loops)
    ]


# after this package's rewrites of loops, and again after loops were joined and shortened
optdb.register("compile_ahead", CompileAhead(alone=True), TAG, position=0.081)
optdb.register("compile_ahead_of_joined", CompileAhead(alone=False), TAG, position=1.62)
