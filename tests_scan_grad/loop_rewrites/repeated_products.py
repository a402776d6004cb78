"""Products of a compiled function that are computed more than once."""

from __future__ import annotations

from collections.abc import Iterable

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import HasInnerGraph
from pytensor.scan.op import Scan as PyTensorScan
from pytensor.tensor.elemwise import DimShuffle

from tests_scan_grad.loop_counts import is_product
from theano.pytensor_internals.operations.tensor import Gemm, Gemv, Ger

# where the two operands are among a product's inputs; the first two elsewhere
_FIRST_OPERAND = {Gemm: 2, Gemv: 2, Ger: 2}


def repeated_products(function) -> list[list[Apply]]:
    """Groups of products of the same operands, in the function's graph or in one loop's step."""
    found = _repeated(function.maker.fgraph.toposort())
    for node in function.maker.fgraph.toposort():
        if isinstance(node.op, HasInnerGraph):
            graph = node.op.fn.maker.fgraph if isinstance(node.op, PyTensorScan) else node.op.fgraph
            found += _repeated(graph.toposort())
    return found


def _repeated(nodes: Iterable[Apply]) -> list[list[Apply]]:
    groups: dict[tuple, list[Apply]] = {}
    for node in nodes:
        if is_product(node):
            groups.setdefault(_operands(node), []).append(node)
    return [group for group in groups.values() if len(group) > 1]


def _operands(node: Apply) -> tuple:
    """Return a key of a product's operands, the same for ``a.dot(b)`` and ``b.T.dot(a.T)``."""
    first = next((k for c, k in _FIRST_OPERAND.items() if isinstance(node.op, c)), 0)
    (left, left_turned), (right, right_turned) = map(_turned, node.inputs[first : first + 2])
    straight = (id(left), left_turned, id(right), right_turned)
    if left.type.ndim != 2 or right.type.ndim != 2:
        return straight
    return min(straight, (id(right), not right_turned, id(left), not left_turned))


def _turned(operand: Variable) -> tuple[Variable, bool]:
    """A matrix, or that of which it is the transpose."""
    turned = False
    while operand.owner is not None and isinstance(operand.owner.op, DimShuffle):
        if tuple(operand.owner.op.new_order) != (1, 0):
            break
        operand, turned = operand.owner.inputs[0], not turned
    return operand, turned
