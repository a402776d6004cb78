"""Join and Split as Theano's are called: with the axis among the arguments of a call."""

from __future__ import annotations

from typing import Any

from pytensor.tensor import basic


def _of_pytensor(operator: type) -> type:
    """The class of a class whose instances are those of an operator of PyTensor's, too."""

    class OfPyTensor(type(operator)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: Any) -> bool:
            return operator in type(instance).__mro__

        def __subclasscheck__(cls, other: type) -> bool:
            # ``issubclass`` would ask this class again, which is one of the operator's
            return operator in other.__mro__

    return OfPyTensor


class Join(basic.Join, metaclass=_of_pytensor(basic.Join)):  # type: ignore[misc]
    """Joins tensors along an axis: ``Join()(axis, *tensors)``.

    Parameters
    ----------
    view : int
        Taken as Theano's is; whether a result shares memory with a tensor is the engine's choice.
    """

    __props__ = ()

    def __init__(self, view: int = -1):
        self.view = view

    def __call__(self, axis: Any, *tensors: Any, **kwargs: Any) -> Any:
        """The tensors joined, by an operator that holds the axis."""
        return basic.join(axis, *tensors)

    def make_node(self, axis: Any, *tensors: Any) -> Any:
        """The node that joins the tensors."""
        return self(axis, *tensors).owner

    def __str__(self) -> str:
        return "Join"


class Split(basic.Split, metaclass=_of_pytensor(basic.Split)):  # type: ignore[misc]
    """Splits a tensor along an axis: ``Split(2)(tensor, axis, lengths)``.

    Parameters
    ----------
    len_splits : int
        How many parts there are.
    """

    __props__ = ("len_splits",)

    def __init__(self, len_splits: int):
        self.len_splits = int(len_splits)

    def __call__(self, tensor: Any, axis: Any, lengths: Any, **kwargs: Any) -> Any:
        """The parts, by an operator that holds the axis."""
        return basic.split(tensor, lengths, n_splits=self.len_splits, axis=axis)

    def make_node(self, tensor: Any, axis: Any, lengths: Any) -> Any:
        """The node that splits the tensor."""
        parts = self(tensor, axis, lengths)
        return (parts[0] if isinstance(parts, list | tuple) else parts).owner

    def __str__(self) -> str:
        return f"Split{{{self.len_splits}}}"
