"""Nodes that Python runs in the memory of shared variables, such that it can be undone.

A call may fail after such a node has run, or while it runs. So it is given a copy of an array; a
generator of random numbers, which takes long to copy, is given its state again. Where the graph was
written such that the array itself is overwritten, it is, and gets its elements back.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from theano.tensor.numpy_samplers.generator_words import why_no_words, with_words, words_of

# What gives shared variables back what they held, in the order in which it was taken.
Undo = list[Callable[[], Any]]


def undoable(thunk: Any, cells: Sequence[list], undo: Undo, by_author: bool) -> Any:
    """Return what runs a node that overwrites what lies in cells, and notes how it is undone.

    Parameters
    ----------
    thunk
        What runs the node.
    cells
        Where the values are.
    undo
        What is noted.
    by_author
        Whether the program overwrites them, and not a rewrite.
    """

    def run() -> Any:
        values = [cell[0] for cell in cells]
        try:
            for cell, value in zip(cells, values, strict=True):
                back = _back_to_its_elements(value) if by_author else None
                back = back or _back_to_its_state(value)
                if back is None:
                    cell[0] = copy.deepcopy(value)
                else:
                    undo.append(back)
            return thunk()
        finally:
            for cell, value in zip(cells, values, strict=True):
                cell[0] = value

    run.inputs, run.outputs, run.lazy = thunk.inputs, thunk.outputs, thunk.lazy  # type: ignore
    return run


def _back_to_its_elements(value: object) -> Callable[[], Any] | None:
    """Return what gives an array the elements that it has now; None for other values."""
    return partial(np.copyto, value, value.copy()) if isinstance(value, np.ndarray) else None


def _back_to_its_state(value: object) -> Callable[[], Any] | None:
    """Return what gives a generator the state that it has now; None for other values."""
    if isinstance(value, np.random.Generator):
        bits = value.bit_generator
        if why_no_words(type(bits)):
            return partial(setattr, bits, "state", bits.state)
        return partial(with_words, value, words_of(value))
    if isinstance(value, np.random.RandomState):
        return partial(value.set_state, value.get_state(legacy=False))
    return None
