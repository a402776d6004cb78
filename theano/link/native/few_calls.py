"""The engine for functions that are called once or twice: what NumPy does well, it does."""

from collections.abc import Collection, Sequence

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import HasInnerGraph

from theano.link.native.build.programs import LoadedProgram
from theano.link.native.graph.partition import Part
from theano.link.native.linker import NativeLinker
from theano.link.native.program import Program
from theano.link.native.render.counters import Counters
from theano.link.native.render.program_text import ProgramText
from theano.link.native.run.one_by_one import slow_in_python


class FewCallsLinker(NativeLinker):
    """Runs a graph by NumPy, node by node, if no node needs C; no compiler is started for it.

    To compile a few operations takes the C compiler longer than NumPy takes for a million numbers.

    Attributes
    ----------
    left_to_numpy : bool
        Whether that was so, once the graph is known.
    """

    left_to_numpy = False
    # to look for what takes no time to rewrite takes longer than to rewrite it
    stores_graphs = False

    def _compile(
        self,
        fgraph: FunctionGraph,
        order: Sequence[Apply],
        counters: Counters | None,
        in_columns: Collection[Variable],
    ) -> tuple[Program, LoadedProgram | None]:
        if any(_needs_c(node) for node in order):
            return super()._compile(fgraph, order, counters, in_columns)
        self.left_to_numpy = True
        reasons = dict.fromkeys(order, "what is computed once or twice")
        parts = [Part((node,), False) for node in order]
        return Program(parts, [None] * len(parts), ProgramText.of(""), reasons), None


def _needs_c(node: Apply) -> bool:
    return isinstance(node.op, HasInnerGraph) or slow_in_python(node)
