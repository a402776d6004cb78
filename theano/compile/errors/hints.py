"""Hints about the errors of operations: what they often mean, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from pytensor.graph.basic import Apply
from pytensor.tensor.basic import AllocEmpty
from pytensor.tensor.elemwise import Elemwise

from theano.pytensor_internals.graphs.scan import Scan
from theano.support.data_classes import dataclass

__all__ = ["hints_for", "lengths_that_differ"]


@dataclass(frozen=True)
class Hint:
    """A hint for the errors of an operation whose message has some words."""

    op_class: type
    phrase: str
    text: str


HINTS = (
    Hint(
        Elemwise,
        "Runtime broadcasting not allowed",
        "A dimension of length 1 is repeated only where the variable's type says that it is 1:"
        " T.addbroadcast(x, axis), x.dimshuffle(0, 'x'), or T.row and T.col for inputs. A state of a"
        " loop keeps the length of its first value: T.zeros((x.shape[1], n)), not T.zeros((1, n)),"
        " where the later ones have more rows than one.",
    ),
    Hint(
        Scan,
        "could not broadcast input array",
        "A state keeps its shape: a step returned a value of another shape than the initial value"
        " of that output has (doc/tutorials/scan_by_example.md).",
    ),
    Hint(
        AllocEmpty,
        "negative dimensions are not allowed",
        "If this is the memory of a loop's results, the loop was asked for a negative number of"
        " steps (n_steps).",
    ),
)


def hints_for(error: BaseException, node: Apply) -> list[str]:
    """Return what a message adds about an error that a node raised, besides where and with what.

    Parameters
    ----------
    error
        What was raised.
    node
        The operation that raised it.
    """
    message = str(error)
    return [
        hint.text for hint in HINTS if isinstance(node.op, hint.op_class) and hint.phrase in message
    ]


def lengths_that_differ(node: Apply, shapes: Sequence[tuple[int, ...] | None]) -> list[str]:
    """In Theano's wording, which lengths of an element-wise operation's inputs do not fit; if any.

    Parameters
    ----------
    shapes
        Of the inputs; None of what has none.
    """
    if not isinstance(node.op, Elemwise):
        return []
    known = [(k, shape) for k, shape in enumerate(shapes) if shape]
    for axis in range(min((len(shape) for _, shape in known), default=0)):
        lengths = [(k, shape[axis]) for k, shape in known if shape[axis] != 1]
        other = next((pair for pair in lengths if pair[1] != lengths[0][1]), None)
        if other is not None:
            phrase = (f"input[{k}].shape[{axis}] = {n}" for k, n in (lengths[0], other))
            return [f"Input dimension mis-match. ({', '.join(phrase)})"]
    return []
