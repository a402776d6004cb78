"""Views of dictionaries and iterators where a list is expected: they were lists in Python 2."""

from collections.abc import Iterator, KeysView, ValuesView
from typing import Any


def as_list(values: object) -> Any:
    """Return a view of a dictionary or an iterator as a list, and anything else as it is.

    Examples
    --------
    >>> as_list({"w": 1, "b": 2}.values()), as_list((1, 2)), as_list(3)
    ([1, 2], (1, 2), 3)
    """
    return list(values) if isinstance(values, KeysView | ValuesView | Iterator) else values
