"""Give loops that were built with PyTensor our gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import io_toposort
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.subtensor import Subtensor

from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.scan_module.batched_loops import batched, is_graph_of_loops
from theano.scan_module.loop.arguments import Loop, unpack
from theano.scan_module.loop.state_types import with_states_typed_by_both
from theano.scan_module.loop.step_copy import copied
from theano.scan_module.scan_op import Scan


def adopt(outputs: Variable | Sequence[Variable]) -> Variable | list[Variable]:
    """Rebuild a graph so that each of its loops is ours, nested ones too.

    Parameters
    ----------
    outputs
        A variable or several, computed by a graph that may hold loops made with
        ``pytensor.scan``. The graph itself is left as it is.

    Returns
    -------
    Variable or list of Variable
        The same values, computed by loops whose gradient is ours. Compile what you derive from
        them with ``theano.function``: its rewrites make the loops that a gradient adds one with
        the original.

    Examples
    --------
    >>> import pytensor, pytensor.tensor as pt, theano
    >>> w = pt.vector("w")
    >>> trace = pytensor.scan(lambda h, w: h * w, outputs_info=[pt.ones(3)],
    ...                       non_sequences=[w], n_steps=4, return_updates=False)
    >>> cost = theano.scan_module.adopt(trace[-1].sum())
    >>> gradient = theano.function([w], theano.grad(cost, w))
    >>> gradient([1.0, 2.0, 3.0])
    array([  4.,  32., 108.])
    """
    if isinstance(outputs, Variable):
        return _adopted([outputs])[0]
    return _adopted(list(outputs))


def adopt_node(node: Apply, mode: object = None) -> Apply:
    """Return the same loop made with our op; its step's loops are adopted too.

    Parameters
    ----------
    node
        A node of PyTensor's ``Scan``.
    mode
        The mode that compiles the step, if the op names none.
    """
    return adopted_loop(unpack(node), mode).build(Scan).node


def read_from_our_loop(
    value: Variable,
    adopted: dict[Apply, Apply],
    mode: object,
) -> Variable:
    """Return a result of PyTensor's scan, which is a slice of a loop's output, read from one of our loops.

    Parameters
    ----------
    value
        The result; it is returned as it is if no loop of PyTensor computes it.
    adopted
        The loops that became ours so far, by those that they were; new ones are added.
    mode
        The mode that compiles the step, if the op names none.
    """
    slices = []
    source = value
    while source.owner is not None and isinstance(source.owner.op, Subtensor):
        slices.append(source.owner)
        source = source.owner.inputs[0]
    node = source.owner
    if node is None or type(node.op) is not PyTensorScan:
        return value
    if node not in adopted:
        adopted[node] = adopt_node(node, mode)
    result = adopted[node].outputs[node.outputs.index(source)]
    for slice_node in reversed(slices):
        result = slice_node.clone_with_new_inputs([result, *slice_node.inputs[1:]]).outputs[0]
    result.name = value.name
    return result


def adopted_loop(loop: Loop, mode: object) -> Loop:
    """Return a loop whose states keep their types, and whose step has no PyTensor loops.

    Parameters
    ----------
    loop
        A loop as it was written.
    mode
        The mode that compiles the step, if the loop names none.
    """
    loop = with_states_typed_by_both(loop.with_inner_outputs(_adopted(loop.inner_outputs)))
    return replace(loop, settings=replace(loop.settings, mode=loop.settings.mode or mode))


def _adopted(outputs: list[Variable]) -> list[Variable]:
    new: dict[Variable, Variable] = {}
    for node in io_toposort([], outputs):
        inputs = [new.get(variable, variable) for variable in node.inputs]
        unchanged = inputs == node.inputs
        rebuilt = node if unchanged else node.clone_with_new_inputs(inputs)
        results = _adopted_results(rebuilt)
        if results is None and unchanged:
            continue
        new.update(zip(node.outputs, results or rebuilt.outputs, strict=True))
    return [new.get(variable, variable) for variable in outputs]


def _adopted_results(node: Apply) -> list[Variable] | None:
    """Return the results of a node by loops of this package; None where none of its own is foreign."""
    if isinstance(node.op, PyTensorScan):
        return None if isinstance(node.op, Scan) else adopt_node(node).outputs
    if isinstance(node.op, Blockwise):
        results = batched(node)
        return None if results is None else _adopted(results)
    if isinstance(node.op, OpFromGraph) and is_graph_of_loops(node.op):
        given = dict(zip(node.op.inner_inputs, node.inputs, strict=True))
        return _adopted(copied(node.op.inner_outputs, given))
    return None
