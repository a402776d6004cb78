"""The same problems in PyTorch, eager, differentiated by its autograd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests_scan_grad.timing.experiment import Program


def operations() -> SimpleNamespace:
    """Return PyTorch's functions under the names that a step uses."""
    import torch

    return SimpleNamespace(dot=torch.matmul, sigmoid=torch.sigmoid, tanh=torch.tanh, log=torch.log)


def to_numpy(results) -> list[np.ndarray]:
    """Return PyTorch's results as arrays."""
    return [result.detach().cpu().numpy() for result in results]


def scan(body: Callable, carry, sequences: tuple):
    """Loop as ``jax.lax.scan`` does: return the last state, and the steps' outputs stacked."""
    import torch

    outputs = []
    for slices in zip(*sequences, strict=True):
        carry, output = body(carry, slices)
        outputs.append(output)
    return carry, None if outputs[0] is None else torch.stack(outputs)


def loop_cost(cost: Callable, arrays: dict[str, np.ndarray]) -> Program:
    """Return a program for a cost: a function of a scan, of operations and of the arrays."""
    import torch

    library = operations()
    tensors = [torch.from_numpy(array) for array in arrays.values()]

    def call():
        with torch.no_grad():
            return [cost(scan, library, *tensors)]

    return Program(call=call, to_numpy=to_numpy)


def loop_gradient(
    cost: Callable,
    arrays: dict[str, np.ndarray],
    positions: Sequence[int],
    with_cost: bool = False,
    device: str = "cpu",
    tf32: bool = False,
) -> Program:
    """Return a program for a cost's gradient by the arrays at these positions."""
    import torch

    allow_tf32(tf32)
    library = operations()
    tensors = [torch.from_numpy(array).to(device) for array in arrays.values()]
    parameters = [tensors[position].requires_grad_(True) for position in positions]

    def call():
        value = cost(scan, library, *tensors)
        gradients = torch.autograd.grad(value, parameters)
        finish(device)
        return [value, *gradients] if with_cost else gradients

    return Program(call=call, to_numpy=to_numpy)


def finish(device: str) -> None:
    """Wait for a GPU, which computes while Python goes on."""
    import torch

    if device == "cuda":
        torch.cuda.synchronize()


def allow_tf32(allowed: bool) -> None:
    """Let GPUs compute products of float32 with 10 bits of mantissa, or in full, from now on."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed


def compiled_step_cost(cell: Any, scan: Callable, library: Any, *arguments: Any) -> Any:
    """Return the sum of a cell's last state, by a loop whose step is compiled."""
    import torch

    sequences, h, weights = cell.split(arguments)
    step = compiled_step(cell.step, torch.compile)
    for slices in zip(*sequences, strict=True):
        h = step(library, *slices, h, *weights)
    return h.sum()


@cache
def compiled_step(step: Callable, compile_function: Callable) -> Callable:
    """Compile a step once: every call would otherwise begin again."""
    return compile_function(step)


def gru(
    arrays: dict[str, np.ndarray], differentiate: bool, device: str = "cpu", tf32: bool = False
) -> Program:
    """Return a program for ``torch.nn.GRU`` on the sequence ``x``: its own cell.

    Its reset gate follows the product, so its results are not a gated RNN's; and the
    projection of its input, which the other programs are given, is part of it.
    """
    import torch

    allow_tf32(tf32)
    x, h0 = (torch.from_numpy(arrays[name]).to(device) for name in ("x", "h0"))
    h0 = h0[None]
    dim = h0.shape[-1]
    module = torch.nn.GRU(dim, dim, bias=False, dtype=x.dtype, device=device)

    def call():
        with torch.set_grad_enabled(differentiate):
            cost = module(x, h0)[1].sum()
        if not differentiate:
            return [cost]
        gradients = torch.autograd.grad(cost, [module.weight_hh_l0])
        finish(device)
        return [cost, *gradients]

    return Program(call=call, to_numpy=to_numpy)


def lstm(arrays: dict[str, np.ndarray], layers: int, device: str, tf32: bool) -> Program:
    """Return a program for the gradient of ``torch.nn.LSTM`` by its parameters.

    They are given, and their gradient returned, as one vector in cuDNN's layout: the matrices of
    all layers, then their biases. The cost is the sum of the squared outputs.
    """
    import torch

    allow_tf32(tf32)
    w, x, h0, c0 = (torch.from_numpy(arrays[name]).to(device) for name in ("w", "x", "h0", "c0"))
    module = torch.nn.LSTM(x.shape[2], h0.shape[2], layers, dtype=x.dtype, device=device)
    names = [
        f"{kind}_{of}_l{k}"
        for kind in ("weight", "bias")
        for k in range(layers)
        for of in ("ih", "hh")
    ]
    parameters = [getattr(module, name) for name in names]
    with torch.no_grad():
        parts = torch.split(w, [parameter.numel() for parameter in parameters])
        for parameter, part in zip(parameters, parts, strict=True):
            parameter.copy_(part.view_as(parameter))

    def call():
        y, _ = module(x, (h0, c0))
        found = torch.autograd.grad((y * y).sum(), parameters)
        finish(device)
        return found

    def in_one(found):
        return to_numpy([torch.cat([gradient.reshape(-1) for gradient in found])])

    return Program(call=call, to_numpy=in_one)


def product(arrays: dict[str, np.ndarray]) -> Program:
    """Return a program for the product of two arrays, plus the third if there is one."""
    import torch

    left, right, *addend = [torch.from_numpy(array) for array in arrays.values()]
    if addend:
        return Program(call=lambda: [torch.addmm(addend[0], left, right)], to_numpy=to_numpy)
    return Program(call=lambda: [left @ right], to_numpy=to_numpy)
