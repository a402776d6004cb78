"""PyTensor's types of arrays whose axes have names; nothing of them is imported before a program does."""

import sys

from pytensor.graph.type import Type


def has_named_axes(kind: Type) -> bool:
    """Return whether it is a type of ``pytensor.xtensor``, whose values are arrays without the names."""
    module = sys.modules.get("pytensor.xtensor.type")
    return module is not None and isinstance(kind, module.XTensorType)
