"""Operands of a softmax of rows: scores, and a bias that is added to them."""

from collections.abc import Sequence

import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.exceptions import NotScalarConstantError
from pytensor.tensor.special import LogSoftmax, Softmax

from theano.pytensor_internals.graphs.annotations import known_tensor

Scores = tuple[Variable, Variable]


def is_constant(variable: Variable, value: float) -> bool:
    """Return whether a variable is a constant all of whose elements are one number."""
    try:
        found = pt.get_underlying_scalar_constant_value(variable)
    except NotScalarConstantError:
        return False
    return bool(found == value)


def is_of_rows(node: Apply | None, operator: type[Softmax | LogSoftmax]) -> bool:
    """Return whether a node is a softmax, or its logarithm, of each row of a matrix."""
    return node is not None and isinstance(node.op, operator) and node.op.axis == (1,)


def _is_row(variable: Variable) -> bool:
    return tuple(variable.type.broadcastable) == (True, False)


def _total(terms: Sequence[Variable]) -> Variable:
    return terms[0] if len(terms) == 1 else pt.add(*terms)


def split_bias(scores: Variable) -> Scores | None:
    """Return a matrix and a vector whose sum the scores are, if they are such a sum."""
    node = scores.owner
    if node is None or node.op != pt.add:
        return None
    rows = [term for term in node.inputs if _is_row(term)]
    others = [term for term in node.inputs if not _is_row(term)] or [rows.pop()]
    matrix = _total(others)
    if not rows or matrix.type.broadcastable != scores.type.broadcastable:
        return None
    bias = _total([_as_vector(row) for row in rows])
    for terms, total in ((others, matrix), (rows, bias)):
        # added up apart from the others they might have fewer digits
        if len(terms) > 1 and total.type.dtype != scores.type.dtype:
            return None
    return matrix, bias


def _as_vector(row: Variable) -> Variable:
    node = row.owner
    if node is not None and isinstance(node.op, DimShuffle) and node.op.new_order == ("x", 0):
        return node.inputs[0]
    return known_tensor(row).dimshuffle(1)
