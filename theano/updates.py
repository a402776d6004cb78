"""The updates that `theano.scan` returns: a dictionary that refuses to lose an update."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from pytensor.compile.sharedvalue import SharedVariable

__all__ = ["OrderedUpdates"]


class OrderedUpdates(OrderedDict):
    """Shared variables, in order, and the expressions that replace their values.

    Adding two of them, or adding one to a dictionary, joins them.

    Raises
    ------
    TypeError
        When a key is not a shared variable.
    KeyError
        When two expressions would update the same variable.
    """

    def __init__(self, *args: object, **kwargs: object):
        super().__init__()
        self.update(*args, **kwargs)

    def __setitem__(self, key: SharedVariable, value: object) -> None:
        if not isinstance(key, SharedVariable):
            raise TypeError(f"Updates are of shared variables, not of {key!r}")
        super().__setitem__(key, value)

    def __getattr__(self, name: str) -> Any:
        untaken = "" if name.startswith("_") else "; what a loop computed is the first of the two"
        taken = " that theano.scan returns: outputs, updates = theano.scan(...)" if untaken else ""
        raise AttributeError(f"updates have no attribute {name!r}{untaken}{taken}")

    def update(self, other: Any = (), /, **kwargs: object) -> None:
        """Add updates; a variable that already has a different one is a KeyError."""
        for key, value in OrderedDict(other or (), **kwargs).items():
            if key in self and self[key] is not value:
                raise KeyError(f"Collision: {key} already has an update")
            self[key] = value

    def __add__(self, other: Mapping) -> "OrderedUpdates":
        joined = OrderedUpdates(self)
        joined.update(other)
        return joined

    def __radd__(self, other: Mapping) -> "OrderedUpdates":
        joined = OrderedUpdates(other)
        joined.update(self)
        return joined
