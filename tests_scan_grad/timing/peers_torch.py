"""The same problems in PyTorch, eager, differentiated by its autograd."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from .experiment import Program


def operations() -> SimpleNamespace:
    """Return PyTorch's functions under the names that a step uses."""
    import torch

    return SimpleNamespace(dot=torch.matmul, sigmoid=torch.sigmoid, tanh=torch.tanh)


def to_numpy(results) -> list[np.ndarray]:
    """Return PyTorch's results as arrays."""
    return [result.detach().numpy() for result in results]


def loop_gradient(step: Callable, arrays: dict[str, np.ndarray], sequences: int) -> Program:
    """Return a program for the gradient of the sum of the last state by the weights.

    The arrays are so many sequences, then the first state, then the weights.
    """
    import torch

    library = operations()
    tensors = [torch.from_numpy(array) for array in arrays.values()]
    parameters = tensors[sequences + 1 :]
    for parameter in parameters:
        parameter.requires_grad_(True)

    def call():
        h = tensors[sequences]
        for slices in zip(*tensors[:sequences], strict=True):
            h = step(library, *slices, h, *parameters)
        return torch.autograd.grad(h.sum(), parameters)

    return Program(call=call, to_numpy=to_numpy)


def product(arrays: dict[str, np.ndarray]) -> Program:
    """Return a program for the product of two arrays, plus the third if there is one."""
    import torch

    left, right, *addend = [torch.from_numpy(array) for array in arrays.values()]
    if addend:
        return Program(call=lambda: [torch.addmm(addend[0], left, right)], to_numpy=to_numpy)
    return Program(call=lambda: [left @ right], to_numpy=to_numpy)
