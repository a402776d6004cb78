"""The table of operations for the gradient and the rewrites of loops.

An operation of another package says of itself what a row would: ``sized_by_operands`` where its
result is as large as the shapes of its operands say, ``works_along_axis`` where it has an ``axis``
and is applied to all other dimensions alone.
"""

from __future__ import annotations

from collections.abc import Callable

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.op import Op
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import (
    Alloc,
    ARange,
    Eye,
    Join,
    MakeVector,
    ScalarFromTensor,
    Split,
    TensorFromScalar,
)
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.math import Dot
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.special import LogSoftmax, Softmax
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
)

from theano.pytensor_internals.operations.axes import positions_with_axis
from theano.pytensor_internals.operations.tensor import (
    AdvancedIncSubtensor1,
    AdvancedSubtensor1,
    BatchedDot,
    GemmRelated,
    Gemv,
    Ger,
    JoinDims,
    SplitDims,
)
from theano.scan_module.step import over_all_steps
from theano.scan_module.step.gathers import is_gather
from theano.scan_module.step.over_all_steps import Arguments
from theano.support.data_classes import dataclass
from theano.tensor.nnet.correlation.filtering import ByFilters, ByImages, Forward

# Which operands must be constants for the shape to follow from the shapes of the operands.
NONE, ALL_BUT_FIRST, ALL_BUT_OPERANDS = slice(0, 0), slice(1, None), slice(2, None)


@dataclass(frozen=True)
class Kind:
    """The facts about an operation.

    Attributes
    ----------
    cheap
        Whether computing it again costs about as much as reading the result from memory.
    sized_with_constants
        The operands that must be constants for the result to be as large as the shapes of the
        operands say, whatever is in them; None if it may have another size even then.
    over_all_steps
        How it is done for all steps at once; None if it is not.
    is_product
        Whether it is a product of vectors, matrices or stacks of them, or a correlation, which is one.
    rows_of_first
        Whether the result has as many rows as the first operand.
    """

    cheap: bool = False
    sized_with_constants: slice | None = None
    over_all_steps: Callable[[Apply, Arguments], Variable | None] | None = None
    is_product: bool = False
    rows_of_first: bool = False


_CHEAP = Kind(cheap=True)
_PRODUCT = Kind(is_product=True)
_ALONG_AXIS = Kind(False, NONE, over_all_steps.along_axis, rows_of_first=True)

KINDS: dict[type, Kind] = {
    Elemwise: Kind(True, NONE, over_all_steps.elementwise),
    DimShuffle: Kind(True, NONE, over_all_steps.transposed),
    CAReduce: Kind(False, NONE, over_all_steps.reduced),
    Dot: Kind(False, NONE, over_all_steps.product, is_product=True, rows_of_first=True),
    # Gemm, Dot22 and Dot22Scalar
    GemmRelated: _PRODUCT,
    Gemv: _PRODUCT,
    Ger: _PRODUCT,
    BatchedDot: _PRODUCT,
    Forward: Kind(False, NONE, over_all_steps.filtered, is_product=True),
    ByImages: Kind(False, ALL_BUT_OPERANDS, over_all_steps.filtered, is_product=True),
    ByFilters: Kind(False, ALL_BUT_OPERANDS, is_product=True),
    Softmax: _ALONG_AXIS,
    LogSoftmax: _ALONG_AXIS,
    Subtensor: Kind(True, ALL_BUT_FIRST, over_all_steps.sliced),
    IncSubtensor: Kind(True, NONE, rows_of_first=True),
    # of positions along the first dimension it is sized, too: see is_sized_by_operands
    AdvancedSubtensor: Kind(True, None, over_all_steps.gathered),
    AdvancedSubtensor1: Kind(True, NONE, over_all_steps.gathered),
    AdvancedIncSubtensor: _CHEAP,
    AdvancedIncSubtensor1: _CHEAP,
    Join: Kind(True, slice(len(positions_with_axis(Join)))),
    Split: _CHEAP,
    Reshape: _CHEAP,
    JoinDims: _CHEAP,
    SplitDims: _CHEAP,
    SpecifyShape: Kind(True, rows_of_first=True),
    CheckAndRaise: Kind(rows_of_first=True),
    Shape: _CHEAP,
    Shape_i: _CHEAP,
    Alloc: _CHEAP,
    MakeVector: _CHEAP,
    Eye: _CHEAP,
    ARange: _CHEAP,
    TensorFromScalar: _CHEAP,
    ScalarFromTensor: _CHEAP,
}


def kind_of(op: Op) -> Kind:
    """Return the row of an operation's class, or of one that it derives from; else what it says itself."""
    for op_class in type(op).__mro__:
        if op_class in KINDS:
            return KINDS[op_class]
    if getattr(op, "works_along_axis", False):
        return _ALONG_AXIS
    return Kind(sized_with_constants=NONE if getattr(op, "sized_by_operands", False) else None)


def is_cheap(node: Apply) -> bool:
    """Return whether computing a node again is cheaper than saving its result."""
    # Views that other packages define (a gradient clipper, say) count as cheap too.
    return kind_of(node.op).cheap or bool(getattr(node.op, "view_map", None))


def is_sized_by_operands(node: Apply) -> bool:
    """Return whether the shapes of a node's operands say how large its result is."""
    if is_gather(node):
        return True
    counted = kind_of(node.op).sized_with_constants
    return counted is not None and all(isinstance(v, Constant) for v in node.inputs[counted])


def is_product(op: Op) -> bool:
    """Return whether an operation is a product of vectors, matrices or stacks of them, or a correlation."""
    return kind_of(op.core_op if isinstance(op, Blockwise) else op).is_product
