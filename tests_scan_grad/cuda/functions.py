"""Functions whose loops run as kernels on the host, the rest by PyTensor's Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests_scan_grad.cuda.host import SMALL, launch
from theano.link.cuda.calls import bound_arrays, kernel_of_node, performed, values_of_graph
from theano.link.cuda.kernel import Kernel
from theano.link.cuda.model import Device
from theano.link.cuda.refusals import NoKernel
from theano.pytensor_internals.graphs.scan import Scan
from theano.scan_module.loop.roles import Roles


def loops_of(function: Any, values: Sequence[Any]) -> list[tuple[Any, list[Any]]]:
    """Return the nodes of a function's loops, each with the values of its inputs."""
    loops = []

    def run(node: Any, inputs: list[Any]) -> Sequence[Any]:
        if isinstance(node.op, Scan):
            loops.append((node, inputs))
        return performed(node, inputs)

    values_of_graph(function.maker.fgraph, values, run)
    return loops


def kernel_of_blocks(node: Any, inputs: Sequence[Any], device: Device = SMALL) -> Kernel:
    """Return the kernel of a loop's node with as many blocks as the device has."""
    return kernel_of_node(node, inputs, device, device.blocks)


def arrays_of_node(node: Any, kernel: Kernel, inputs: Sequence[Any]) -> list[np.ndarray]:
    """Return the arrays that a kernel is given for a node, new ones where it writes."""
    given = bound_arrays(node.op, kernel.plan.loop, inputs)
    lengths = iter(Roles.of(node.op).outer_inputs(inputs).trace_lengths)
    arrays = []
    for a in kernel.arguments:
        if a.kind == "trace":
            shape = int(next(lengths)), *kernel.plan.fixed.shape(a.shape)
            array = np.full(shape, 7, a.dtype)
        else:
            array = np.array(given[a.name], a.dtype, order="C")
        arrays.append(array[None] if a.kind == "untraced" else array)
    return arrays


def run_node(node: Any, kernel: Kernel, inputs: Sequence[Any], **options: Any) -> list[np.ndarray]:
    """Return the results of a node by its kernel."""
    arrays = arrays_of_node(node, kernel, inputs)
    rows = [a.shape[0] if a.ndim else 1 for a in arrays]
    done = launch(kernel, arrays, rows, int(inputs[0]), **options)
    return results_of(node, kernel, arrays, done)


def results_of(
    node: Any, kernel: Kernel, arrays: Sequence[np.ndarray], done: int
) -> list[np.ndarray]:
    """Return the results of a node from the arrays that its kernel wrote, and how many steps it made."""
    by_kind: dict[str, list[np.ndarray]] = {
        kind: [] for kind in ("mit_mot", "ring", "trace", "untraced")
    }
    for a, array in zip(kernel.arguments, arrays, strict=True):
        if a.kind in ("ring", "trace") and node.op.info.as_while:
            array = array[: done + (a.history if a.kind == "ring" else 0)]
        if a.kind in by_kind:
            by_kind[a.kind].append(array[0] if a.kind == "untraced" else array)
    return [array for arrays in by_kind.values() for array in arrays]


def run_function(
    function: Any, values: Sequence[Any], device: Device = SMALL, **options: Any
) -> tuple[list[np.ndarray], list[Kernel | str]]:
    """Return the results of a compiled function, and the kernel of each loop, or why it has none."""
    kernels: list[Kernel | str] = []

    def run(node: Any, inputs: list[Any]) -> Sequence[Any]:
        if isinstance(node.op, Scan):
            try:
                kernel = kernel_of_blocks(node, inputs, device)
                kernels.append(kernel)
                return run_node(node, kernel, inputs, **options)
            except NoKernel as reason:
                kernels.append(str(reason))
        return performed(node, inputs)

    return values_of_graph(function.maker.fgraph, values, run), kernels
