"""``map_variables``: graphs in which a function says what stands for each variable."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from pytensor.compile.builders import OpFromGraph as PyTensorOpFromGraph
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import graph_inputs, walk_toposort

from theano.compile.builders import OpFromGraph
from theano.pytensor_internals.graphs.annotations import all_results
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.scan_module.loop.arguments import Invariant, unpack
from theano.scan_module.scan_op import Scan


def map_variables(
    replacer: Callable[[Variable], Variable],
    graphs: Iterable[Variable],
    additional_inputs: Iterable[Variable] = (),
) -> list[Variable]:
    """Copy graphs with variables replaced, those inside loops and ``OpFromGraph`` too.

    Parameters
    ----------
    replacer
        Returns what stands for a variable: a graph, which may contain the variable, or the
        variable itself.
    graphs
        The variables to compute.
    additional_inputs
        Inputs that only replacements use; they are found without being named.

    Returns
    -------
    list of Variable
        The graphs, in the order of ``graphs``.

    Raises
    ------
    NotImplementedError
        If a replacement inside a loop or an ``OpFromGraph`` uses a shared variable with an
        update, which would be used another number of times.

    Examples
    --------
    >>> import theano.tensor as T
    >>> from theano.scan_module.scan_utils import map_variables
    >>> a, b = T.scalars("a", "b")
    >>> total = a + b
    >>> total.tag.replacement = a * b
    >>> (mapped,) = map_variables(lambda v: getattr(v.tag, "replacement", v), [2 * total])
    >>> mapped.eval({a: 3.0, b: 4.0})
    array(24.)
    """
    return _Mapping(replacer, set()).of(list(graphs), {})


class _Mapping:
    """The replacement of each variable of a graph.

    ``placed`` holds the replacements, which are not replaced themselves; ``inside`` says whether
    the graph belongs to an operator.
    """

    def __init__(self, replacer: Callable, placed: set[Variable], inside: bool = False):
        self.replacer, self.placed, self.inside = replacer, placed, inside

    def of(self, graphs: list[Variable], known: dict[Variable, Variable]) -> list[Variable]:
        """Return the graphs, with variables replaced; ``known`` has what is decided already."""
        for variable in _in_order(graphs, known):
            if variable not in known:
                known[variable] = self._of_one(variable, known)
        return [known[graph] for graph in graphs]

    def _of_one(self, variable: Variable, known: dict[Variable, Variable]) -> Variable:
        rebuilt = variable
        node = variable.owner
        if node is not None:
            inputs = [known[argument] for argument in node.inputs]
            outputs = self._rebuilt(node, inputs)
            rebuilt = outputs[node.outputs.index(variable)]
            for other, new in zip(node.outputs, outputs, strict=True):
                if other is not variable and other not in known:
                    known[other] = self._replaced(other, new, known)
        return self._replaced(variable, rebuilt, known)

    def _replaced(
        self, variable: Variable, rebuilt: Variable, known: dict[Variable, Variable]
    ) -> Variable:
        replacement = variable if variable in self.placed else self.replacer(variable)
        if replacement is variable:
            return rebuilt
        self.placed.add(replacement)
        if self.inside:
            _refuse_updates(replacement)
        # within its own replacement a variable stands for itself
        return self.of([replacement], known | {variable: rebuilt})[0]

    def _rebuilt(self, node: Apply, inputs: list[Variable]) -> list[Variable]:
        if isinstance(node.op, PyTensorScan):
            return self._loop(node.clone_with_new_inputs(inputs))
        if isinstance(node.op, PyTensorOpFromGraph):
            return self._op_from_graph(node, inputs)
        if inputs == node.inputs:
            return node.outputs
        return node.clone_with_new_inputs(inputs).outputs

    def _loop(self, node: Apply) -> list[Variable]:
        loop = unpack(node)
        if getattr(node.op, "as_written", None) is not None:
            loop = loop.with_step(*node.op.as_written)
        else:
            loop = loop.with_step(node.op.inner_inputs, node.op.inner_outputs)
        inner, foreign = self._inside(loop.inner_inputs, loop.inner_outputs)
        invariants = [Invariant(outer, place) for outer, place in foreign.items()]
        loop = replace(loop.with_inner_outputs(inner), invariants=(*loop.invariants, *invariants))
        op_class = type(node.op) if isinstance(node.op, Scan) else Scan
        return loop.build(op_class).node.outputs

    def _op_from_graph(self, node: Apply, inputs: list[Variable]) -> list[Variable]:
        written = getattr(node.op, "as_written", None)
        inner_inputs, outputs = written or (node.op.inner_inputs, node.op.inner_outputs)
        inner, foreign = self._inside(list(inner_inputs), list(outputs))
        op = OpFromGraph(
            [*inner_inputs, *foreign.values()],
            inner,
            inline=node.op.is_inline,
            name=node.op.name,
            on_unused_input="ignore",
        )
        return all_results(op(*inputs[: len(inner_inputs)], *foreign, return_list=True))

    def _inside(
        self, inputs: list[Variable], outputs: list[Variable]
    ) -> tuple[list[Variable], dict[Variable, Variable]]:
        """Return the mapped outputs of an inner graph; variables of outside, and what they are inside."""
        mapped = _Mapping(self.replacer, self.placed, inside=True).of(outputs, {})
        foreign = {
            leaf: leaf.type(name=leaf.name)
            for leaf in dict.fromkeys(graph_inputs(mapped))
            if leaf not in inputs and not isinstance(leaf, Constant)
        }
        return clone_replace(mapped, replace=foreign), foreign


def _in_order(graphs: list[Variable], known: dict[Variable, Variable]) -> list[Variable]:
    """Return the variables of the graphs that are not known, each after those it is computed from."""

    def arguments(variable: Variable) -> list[Variable]:
        if variable in known or variable.owner is None:
            return []
        return variable.owner.inputs

    return list(walk_toposort(graphs, arguments))


def _refuse_updates(replacement: Variable) -> None:
    for leaf in graph_inputs([replacement]):
        updated = getattr(leaf, "update", None), getattr(leaf, "default_update", None)
        if isinstance(leaf, SharedVariable) and any(update is not None for update in updated):
            raise NotImplementedError(
                f"map_variables: a replacement inside a loop or an OpFromGraph uses the shared"
                f" variable {leaf}, which has an update"
            )
