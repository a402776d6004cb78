"""The step of a loop as rewrites of loops want it, made once and handed from one to the next.

A loop is unpacked by each rewrite that looks at it, and most find nothing to do. What a rewrite
makes of a step in normal form is in normal form.
"""

from __future__ import annotations

from dataclasses import replace

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.blockwise import Blockwise

from theano.pytensor_internals.graphs.order import in_order
from theano.rewriting.merging import Merge
from theano.rewriting.rewrites.matrices.transposed_products import TransposedProducts
from theano.scan_module.loop.arguments import NORMAL_STEP, Loop, loop_of, unpack
from theano.scan_module.loop.equal_loops import once_for_equal_steps
from theano.scan_module.step.dead_results import drop_dead_results
from theano.scan_module.step.equal_steps import what_decides
from theano.scan_module.step.shape_only_uses import with_shapes_from_outside


def normal_form(node: Apply) -> Loop:
    """Return the loop of a node, with equal computations merged and products in one form.

    A ``Blockwise`` op without batch dimensions becomes its core op, so that ``a @ b`` and
    ``a.dot(b)`` are the same product. What reads only shapes of what enters the step is given them.
    Loops of the step give what is read.

    Parameters
    ----------
    node
        An apply node of a ``Scan`` op. The variables of the step are shared by all who ask, and
        must not be changed: who edits a step in place copies it before.
    """
    kept = vars(node.op)
    if NORMAL_STEP not in kept:
        kept[NORMAL_STEP] = once_for_equal_steps(
            ("normal form", what_decides(node.op)), lambda: _made_of(node)
        )
    loop = replace(loop_of(node, *kept[NORMAL_STEP]), is_normal=True)
    return with_shapes_from_outside(loop)


def _made_of(node: Apply) -> tuple[list[Variable], list[Variable]]:
    loop = unpack(node)
    inner_inputs = loop.inner_inputs
    return inner_inputs, _normalized(inner_inputs, loop.inner_outputs)


def forget_normal_form(node: Apply) -> None:
    """Forget the normal form of a node's step, which is memory that nothing needs any more."""
    vars(node.op).pop(NORMAL_STEP, None)


def _normalized(inputs: list[Variable], outputs: list[Variable]) -> list[Variable]:
    graph = FunctionGraph(inputs, outputs, clone=False)
    for node in in_order(graph):
        if isinstance(node.op, Blockwise) and node.op.batch_ndim(node) == 0:
            new_outputs = node.op.core_op.make_node(*node.inputs).outputs
            graph.replace_all(
                [
                    (old, old.type.filter_variable(new))
                    for old, new in zip(node.outputs, new_outputs, strict=True)
                ],
                reason="unbatched_blockwise",
            )
    Merge().rewrite(graph)
    drop_dead_results(graph)
    TransposedProducts().rewrite(graph)
    return list(graph.outputs)
