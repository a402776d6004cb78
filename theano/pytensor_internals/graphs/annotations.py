"""Casts for what PyTensor's annotations leave open: which variables are tensors, how many results a call returns.

PyTensor annotates arguments and results of nodes as `Variable`, which has no arithmetic, and a call
of an operation as one variable or a list of them. Whoever writes a graph knows more, and says it
with these functions, which return what they are given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, cast

from pytensor import tensor as pt
from pytensor.graph.basic import Variable
from pytensor.tensor.variable import TensorVariable

# of PyTensor's `grad`: what to do where nothing depends on a variable, and what it returns for it
OnDisconnected: TypeAlias = Literal["ignore", "warn", "raise"]
ForDisconnected: TypeAlias = Literal["none", "zero", "disconnected"]

Results: TypeAlias = Variable | Sequence[Variable | None] | None


# PyTensor annotates its operands as arrays of numbers
matmul = cast("Callable[[Variable, Variable], TensorVariable]", pt.matmul)


def known_tensor(result: Results) -> TensorVariable:
    """Return a variable, or the only result of a call, which is known to be a tensor."""
    return cast("TensorVariable", result)


def known_tensors(results: Results) -> list[TensorVariable]:
    """Return a list of variables, or the results of a call with several, which are known to be tensors."""
    return cast("list[TensorVariable]", results)


def only_result(result: Results) -> Variable:
    """Return the result of a call that is known to have one."""
    return cast("Variable", result)


def all_results(results: Results) -> list[Variable]:
    """Return the results of a call that is known to have several."""
    return cast("list[Variable]", results)
