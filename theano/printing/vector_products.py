"""Products with vectors as they were written: PyTensor multiplies matrices of one row or column."""

from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.math import Dot

# What PyTensor makes of a vector that is the first and the second factor.
_ROW, _COLUMN = ("x", 0), (0, "x")


def factors_of_vectors(variable: Variable) -> tuple[Variable, Variable] | None:
    """Return the two factors of a product with a vector, or None for any other variable.

    Examples
    --------
    >>> import theano.tensor as T
    >>> v, W = T.vector("v"), T.matrix("W")
    >>> factors_of_vectors(T.dot(v, W)), factors_of_vectors(T.dot(W, W))
    ((v, W), None)
    """
    product, kept = _without_dropped(variable)
    if product is None or len(kept) == 2:
        return None
    left, right = product.inputs
    first, second = _expanded(left, _ROW), _expanded(right, _COLUMN)
    # a dimension that is dropped is one that was added to a vector
    if (0 not in kept and first is None) or (1 not in kept and second is None):
        return None
    return (left if 0 in kept else first, right if 1 in kept else second)  # type: ignore[return-value]


def _without_dropped(variable: Variable) -> tuple[Apply | None, list[int]]:
    """Return the product below, and which of its dimensions are left in `variable`."""
    node = variable.owner
    if node is None:
        return None, []
    if isinstance(node.op, Dot):
        return node, [0, 1]
    order = node.op.new_order if isinstance(node.op, DimShuffle) else ("x",)
    if "x" in order or list(order) != sorted(order):
        return None, []
    product, kept = _without_dropped(node.inputs[0])
    return product, [kept[int(axis)] for axis in order] if product is not None else []


def _expanded(factor: Variable, order: tuple) -> Variable | None:
    node = factor.owner
    if node is None or not isinstance(node.op, DimShuffle) or tuple(node.op.new_order) != order:
        return None
    return node.inputs[0]
