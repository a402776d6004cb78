"""Making a tensor variable of anything, with Theano's errors."""

from typing import Any

import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.tensor.variable import TensorVariable

# how PyTensor says that an array of the elements is one of objects, of text or of dates
_NO_NUMBERS = "Unsupported dtype for TensorType"


class AsTensorError(TypeError):
    """Something cannot be made a tensor variable."""


def as_tensor_variable(
    x: Any, name: str | None = None, ndim: int | None = None, **kwargs: object
) -> TensorVariable:
    """Return `x` as a tensor variable.

    Parameters
    ----------
    x : variable, Apply, array, number, or sequence of these
        For an Apply, its default output is meant.
    name : str, optional
        A name for the variable, if it is a new one.
    ndim : int, optional
        How many dimensions it must have; leading ones of length 1 are added or dropped.

    Returns
    -------
    TensorVariable

    Raises
    ------
    AttributeError
        The default output of the Apply is not one of its outputs.
    ValueError
        The Apply has several outputs and no default one, or `x` cannot have `ndim` dimensions.
    AsTensorError
        `x` is no tensor; a TypeError.
    """
    if isinstance(x, Apply):
        x = _default_output(x)
    try:
        return pt.as_tensor_variable(x, name=name, ndim=ndim, **kwargs)
    except NotImplementedError:
        raise AsTensorError(f"Cannot convert {x!r} of {type(x)} to a tensor variable") from None
    except TypeError as error:
        if not str(error).startswith(_NO_NUMBERS):
            raise
        reason = "its elements are expected to be numbers or tensors"
        raise AsTensorError(
            f"Cannot convert {x!r} of {type(x)} to a tensor variable: {reason}"
        ) from None


as_tensor = as_tensor_variable


def _default_output(node: Apply):
    chosen, count = node.op.default_output, len(node.outputs)
    if chosen is None:
        if count != 1:
            raise ValueError(f"expected an Apply with one output, or a default one, got {node}")
        return node.outputs[0]
    if not isinstance(chosen, int) or not 0 <= chosen < count:
        raise AttributeError(f"{node.op}: expected a default_output below {count}, got {chosen!r}")
    return node.outputs[chosen]
