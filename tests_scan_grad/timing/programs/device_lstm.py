"""The gradient of stacked LSTM layers by their parameters on a device: our RNNBlock and PyTorch's.

The parameters are one vector in cuDNN's layout in both.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from tests_scan_grad.timing.experiment import Problem, Sizes
from tests_scan_grad.timing.measuring.device_floors import floors
from tests_scan_grad.timing.peers import torch_programs
from tests_scan_grad.timing.programs.device_programs import on_a_gpu, our_gradient
from theano import gpuarray
from theano.gpuarray.dnn import RNNBlock

LAYERS = 2


def problem(sizes: Sizes, tf32: bool, as_loops: bool) -> Problem:
    """Return the problem: by cuDNN where there is a GPU, or by our loops."""
    arrays = random_arrays(sizes)
    way = "loops" if as_loops else "RNNBlock"
    precision = ", TF32" if tf32 else ""
    device = "cuda" if on_a_gpu() else "cpu"
    lstm = partial(torch_programs.lstm, arrays, LAYERS, device=device, tf32=tf32)
    # of each layer, step, gate and row: two matrices, in each of three passes
    operations = 3 * LAYERS * sizes.steps * 2 * sizes.batch * 4 * sizes.dim * 2 * sizes.dim
    # of each layer: read and written are outputs, memories and gates, and their derivatives
    traces = 2 * 2 * 6 * LAYERS * arrays["x"].nbytes
    return Problem(
        label=f"lstm, {way}, {sizes.steps} steps, {sizes.batch} x {sizes.dim}{precision}",
        results=("dw",),
        methods={"xla": partial(our_gradient, partial(gradients, as_loops), arrays, ("w",), tf32)},
        peers={"torch": lstm},
        dtype="tf32" if tf32 else sizes.dtype,
        steps=sizes.steps,
        floors=floors(operations, traces + 2 * arrays["w"].nbytes, sizes.dtype, tf32),
    )


def random_arrays(sizes: Sizes) -> dict[str, np.ndarray]:
    """Return the parameters, the input, and the first states and memories."""
    random = np.random.default_rng(0)
    size = RNNBlock(sizes.dtype, sizes.dim, LAYERS, "lstm").get_param_size([sizes.batch, sizes.dim])
    start = (LAYERS, sizes.batch, sizes.dim)
    shapes = {"w": (size,), "x": (sizes.steps, sizes.batch, sizes.dim), "h0": start, "c0": start}
    scales = {"w": sizes.dim**-0.5, "x": 1.0, "h0": 0.1, "c0": 0.1}
    return {
        name: (scales[name] * random.standard_normal(shape)).astype(sizes.dtype)
        for name, shape in shapes.items()
    }


def gradients(as_loops: bool, mode: Any, w: Any, x: Any, h0: Any, c0: Any) -> list:
    """Build the gradient of the squared outputs' sum by the parameters."""
    if on_a_gpu() and None not in gpuarray.list_contexts():
        gpuarray.init_dev("cuda", None)
    hidden = h0.get_value(borrow=True).shape[2]
    block = RNNBlock(x.dtype, hidden, LAYERS, "lstm")
    with theano.change_flags({"dnn.enabled": "False" if as_loops else "auto"}):
        y, *_ = block.apply(w, x, h0, c0)
    return [theano.grad(T.sqr(y).sum(), w)]
