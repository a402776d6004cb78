"""The kernels of a function's loops: which there are, for which sizes, and why others have none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theano.link.cuda.calls import kernel_of_node, performed, result_shapes, values_of_graph
from theano.link.cuda.kernel import Kernel
from theano.link.cuda.model import DEVICE, Device
from theano.link.cuda.refusals import NoKernel
from theano.pytensor_internals.functions.compiling import expect_function
from theano.pytensor_internals.graphs.scan import Scan
from theano.scan_module.report.input_values import input_values
from theano.support.data_classes import dataclass


@dataclass(frozen=True, eq=False)
class LoopKernel:
    """A loop of a function as a kernel.

    Attributes
    ----------
    name
        Of the loop.
    kernel
        None if it has none.
    reason
        Why it has none.
    """

    name: str
    kernel: Kernel | None
    reason: str = ""

    def __str__(self) -> str:
        kernel = self.kernel
        if kernel is None:
            return f"{self.name}: no kernel: {self.reason}"
        blocks = f"{kernel.blocks} block{'s' if kernel.blocks > 1 else ''}"
        return (
            f"{self.name}: {blocks} of {kernel.lanes} threads, "
            f"{kernel.own_bytes:,} bytes of each block's memory, {kernel.barriers} barriers a step; "
            f"{kernel.microseconds:.1f} us a step by the model"
        )


@dataclass(frozen=True)
class KernelReport:
    """The loops of a function, in the order in which they run."""

    loops: tuple[LoopKernel, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.loops)) or "The function has no loop."


def report(function: Any, *inputs: object, device: Device = DEVICE) -> KernelReport:
    """Return the kernels that the loops of a compiled function have for some inputs.

    A loop that has a kernel does not run: its results count as 0. No compiler runs.

    Parameters
    ----------
    function
        A compiled function of any engine.
    inputs
        Values of its explicit inputs, of which the shapes matter.
    device
        What the kernels are to run on.
    """
    graph = expect_function(function, "report").maker.fgraph
    loops = []

    def run(node: Any, given: list[Any]) -> list[Any]:
        if not isinstance(node.op, Scan):
            return performed(node, given)
        found, results = _loop_kernel(node, given, device)
        loops.append(found)
        return results

    values_of_graph(graph, input_values(function, inputs, "report"), run)
    return KernelReport(tuple(loops))


def _loop_kernel(
    node: Any, given: Sequence[Any], device: Device
) -> tuple[LoopKernel, list[np.ndarray]]:
    """Return the kernel of a node, and results of it, or arrays of their shapes."""
    name = node.op.name or "scan"
    try:
        kernel = kernel_of_node(node, given, device)
    except NoKernel as reason:
        return LoopKernel(name, None, str(reason)), performed(node, given)
    shapes = result_shapes(node.op, kernel.plan, given)
    pairs = zip(shapes, node.outputs, strict=True)
    results = [np.zeros(shape, variable.type.dtype) for shape, variable in pairs]
    return LoopKernel(name, kernel), results
