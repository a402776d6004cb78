"""Arrays that are filled with a value, of a static type that is not inferred.

PyTensor finds the lengths that are numbers by rewriting what computes the lengths, which in a
stack of loops is the whole graph below.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.basic import Alloc, constant
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.rewriting.lengths import static_length


def allocated(value: Variable, *lengths: Any) -> TensorVariable:
    """Return an array of some lengths, filled with a value.

    Parameters
    ----------
    value
        A tensor that is stretched to the lengths.
    lengths
        Numbers or variables of 64 bits; those that are numbers are static in the type.
    """
    kind = TensorType(value.type.dtype, [static_length(length) for length in lengths])
    given = [
        length if isinstance(length, Variable) else constant(int(length), dtype="int64")
        for length in lengths
    ]
    return known_tensor(Apply(Alloc(), [value, *given], [kind()]).out)
