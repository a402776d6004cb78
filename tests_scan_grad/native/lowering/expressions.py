"""Expressions with values for their inputs, and what they compute by ``perform``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Constant


@dataclass
class Item:
    """A variable, its value, and whether no rounding was involved."""

    variable: Any
    value: np.ndarray
    exact: bool = True

    @property
    def ndim(self) -> int:
        return self.value.ndim

    @property
    def is_float(self) -> bool:
        return self.value.dtype.kind == "f"


@dataclass(repr=False)
class Expressions:
    """The inputs with their values, and the outputs with what they should be."""

    inputs: list[Item]
    outputs: list[Item]
    operations: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        lines = [
            f"input {k}: {item.value.dtype}{item.value.shape} with strides {item.value.strides}, "
            f"{item.value.tolist()}"
            for k, item in enumerate(self.inputs)
        ]
        return "\n".join([*lines, *self.operations])


def performed(variables, known: dict) -> list[np.ndarray]:
    """The values of variables by the ``perform`` of each operation."""
    for variable in variables:
        if variable in known:
            continue
        if isinstance(variable, Constant):
            known[variable] = variable.data
            continue
        node = variable.owner
        values = performed(node.inputs, known)
        if isinstance(node.op, OpFromGraph):
            inner = dict(zip(node.op.fgraph.inputs, values, strict=True))
            results = performed(node.op.fgraph.outputs, inner)
        else:
            cells: list[list] = [[None] for _ in node.outputs]
            with np.errstate(all="ignore"):
                node.op.perform(node, values, cells)
            results = [cell[0] for cell in cells]
        for output, result in zip(node.outputs, results, strict=True):
            dtype = getattr(output.type, "dtype", None)
            if dtype is not None and np.asarray(result).dtype != dtype:
                raise TypeError(f"{node.op} returns another type than it says")
        known.update(zip(node.outputs, results, strict=True))
    return [known[variable] for variable in variables]
