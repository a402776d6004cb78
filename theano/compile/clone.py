"""`theano.clone`: copy a graph, with parts of it replaced."""

from collections.abc import Iterable, Mapping
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.tensor.type import TensorType

from theano.gof.test_values import compute_possible_test_values

__all__ = ["clone"]


def clone(
    output: Variable | list[Variable],
    replace: Mapping[Variable, Variable] | Iterable[tuple[Variable, Variable]] | None = None,
    strict: bool = True,
    share_inputs: bool = True,
) -> Variable | list[Variable]:
    """Copy the graph of one or several variables.

    Parameters
    ----------
    output : Variable or list of Variable
        What to copy.
    replace : mapping or pairs, optional
        Variables, and what stands in their place in the copy.
    strict : bool, optional
        Whether a replacement must keep the type of what it replaces.
    share_inputs : bool, optional
        Whether the copy uses the same inputs and shared variables, or copies of them.

    Returns
    -------
    Variable or list of Variable
        The copies, as `output` was given.

    Raises
    ------
    TypeError
        When `strict` and a replacement has another type.

    Examples
    --------
    >>> import theano
    >>> import theano.tensor as T
    >>> x, y = T.scalars("x", "y")
    >>> theano.clone(x + 1, replace={x: 2 * y}).eval({y: 3.0})
    array(7.)
    """
    pairs = dict(replace or {})
    if any(_of_another_length(old, new) for old, new in pairs.items()):
        if strict:
            _check_types(pairs)
        strict = False
    copies = clone_replace(output, pairs, rebuild_strict=strict, copy_inputs_over=share_inputs)
    # what is rebuilt, for another type, has none; a copy has the original's
    compute_possible_test_values(copies if isinstance(copies, list | tuple) else [copies])
    return copies


def _of_another_length(old: Variable, new: Any) -> bool:
    """Return whether two arrays' types, the same for Theano, say that their lengths differ."""
    types = getattr(old, "type", None), getattr(new, "type", None)
    if not all(isinstance(kind, TensorType) for kind in types):
        return False
    known = zip(old.type.shape, new.type.shape, strict=False)
    return _same_in_theano(old, new) and any(a != b for a, b in known if None not in (a, b))


def _same_in_theano(old: Variable, new: Variable) -> bool:
    return old.type.dtype == new.type.dtype and old.type.broadcastable == new.type.broadcastable


def _check_types(pairs: dict[Variable, Any]) -> None:
    for old, new in pairs.items():
        if not (_of_another_length(old, new) or old.type.is_super(new.type)):
            raise TypeError(f"clone: {new} of type {new.type} cannot replace {old} of {old.type}")
