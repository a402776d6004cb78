"""`theano.clone`: copy a graph, with parts of it replaced."""

from collections.abc import Iterable, Mapping

from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace

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
    return clone_replace(output, pairs, rebuild_strict=strict, copy_inputs_over=share_inputs)
