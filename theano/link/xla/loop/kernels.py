"""Loops that run as one kernel of a GPU, in XLA's programs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pytensor.graph.basic import Apply

from theano.configparser import caller_stacklevel
from theano.link.cuda.calls import bound_arrays, kernel_of_node, trace_shapes
from theano.link.cuda.handler import called, expect_resident
from theano.link.cuda.kernel import HUNG, Kernel
from theano.link.cuda.model import DEVICE, Device
from theano.link.cuda.nvrtc import CompilationFailed, NoCompiler, kept_code
from theano.link.cuda.refusals import NoKernel
from theano.link.xla.context import Context
from theano.link.xla.loop.step import as_array
from theano.pytensor_internals.graphs.scan import Scan
from theano.scan_module.loop.roles import Roles
from theano.support.data_classes import dataclass

# what JAX calls the devices that run kernels
PLATFORMS = {"gpu"}
# the least that XLA's loop took for a step on an H100, of networks from 1 x 64 to 80 x 1000 (2026-11-27)
MICROSECONDS_OF_XLA = 26.0
# memory that a block may have, in KiB, by the compute capability ("CUDA C++ Programming Guide", table 30)
_OWN_KIB = {"8.0": 163, "8.6": 99, "8.7": 163, "8.9": 99, "9.0": 227, "10.0": 227, "12.0": 99}

_WAITED_IN_VAIN = "a kernel of a loop was stopped: some of its blocks waited in vain for others"


@dataclass(frozen=True, eq=False)
class KernelCall:
    """A loop's kernel with the arrays that it is given.

    Attributes
    ----------
    code
        The kernel as the device runs it.
    arrays
        Those of its arguments that are no traces, in their order.
    traces
        Shape and dtype of each trace.
    steps
        How many it makes, at most.
    """

    kernel: Kernel
    code: bytes
    arrays: Sequence[Any]
    traces: Sequence[Any]
    steps: int

    @property
    def trace_rows(self) -> list[Any]:
        """Return the shape and dtype of a row of each trace."""
        return [trace.update(shape=trace.shape[1:]) for trace in self.traces]

    def run(self, context: Context) -> tuple[list[Any], Any]:
        """Return the outputs of the loop in the order of its node, and how many steps it has made."""
        arguments = self.kernel.arguments
        results, status = called(self.kernel, self.code, self.arrays, self.traces, self.steps)
        for position, error in enumerate(self.kernel.errors):
            context.require(status[1] != -1 - position, error.kind(error.text))
        if self.kernel.blocks > 1:
            context.require(status[1] != HUNG, RuntimeError(_WAITED_IN_VAIN))
        written = [a for a in arguments if a.kind in _OUTPUTS]
        by_kind: dict[str, list[Any]] = {kind: [] for kind in _OUTPUTS}
        for argument, result in zip(written, results, strict=True):
            by_kind[argument.kind].append(result)
        return [result for results in by_kind.values() for result in results], status[0]


# the kinds of arguments that are outputs, in the order in which a Scan has them
_OUTPUTS = ("mit_mot", "ring", "trace", "untraced")


def kernel_call(
    op: Scan, node: Apply, inputs: Sequence[Any], context: Context
) -> KernelCall | None:
    """Return the kernel of a loop with its arrays; None if XLA's loop is to run, and the report says why."""
    if context.platform not in PLATFORMS:
        return None
    name = op.name or "scan"
    try:
        call, line = _kernel_call(op, node, inputs, context.gpu_kernels == "auto")
    except (NoKernel, NoCompiler, CompilationFailed) as reason:
        call, line = None, f"XLA's loop: {reason}"
        if type(reason) is not NoKernel or context.gpu_kernels == "always":
            _warn_once(f"{name} is XLA's loop and no kernel: {str(reason).strip()[:500]}")
    context.loops_on_gpu[f"{name}: {line}"] = None
    return call


def _kernel_call(
    op: Scan, node: Apply, inputs: Sequence[Any], only_faster: bool
) -> tuple[KernelCall | None, str]:
    """Return the call of a kernel and a line about it; no call if only a faster one is wanted, and XLA's loop is.

    Raises
    ------
    NoKernel, NoCompiler, CompilationFailed
        If it has none here.
    """
    import jax

    gpu = jax.default_device.value or jax.local_devices()[0]
    given = [_typed(value, variable) for value, variable in zip(inputs, node.inputs, strict=True)]
    kernel = kernel_of_node(node, given, _limits_of(gpu))
    line = (
        f"a kernel of {kernel.blocks} x {kernel.lanes} threads, {kernel.barriers} barriers a step, "
        f"{kernel.microseconds:.1f} us a step by the model"
    )
    if only_faster and kernel.microseconds > MICROSECONDS_OF_XLA:
        return None, f"XLA's loop, which the model takes for faster than {line}"
    code = code_for(kernel, gpu)
    expect_resident(kernel, code, gpu.local_hardware_id or 0)
    arrays = bound_arrays(op, kernel.plan.loop, given)
    given_to_kernel = [arrays[a.name] for a in kernel.arguments if a.kind != "trace"]
    shapes = trace_shapes(op, kernel.plan, given)
    traces = [
        jax.ShapeDtypeStruct(shape, a.dtype)
        for shape, a in zip(shapes, (a for a in kernel.arguments if a.kind == "trace"), strict=True)
    ]
    steps = int(Roles.of(op).outer_inputs(given).n_steps)
    return KernelCall(kernel, code, given_to_kernel, traces, steps), line


def code_for(kernel: Kernel, gpu: Any) -> bytes:
    """Return a kernel as a device of JAX runs it."""
    return kept_code(kernel.source, "sm_" + gpu.compute_capability.replace(".", ""))


def _limits_of(gpu: object) -> Device:
    """Return what a device of JAX has room for."""
    capability = str(getattr(gpu, "compute_capability", ""))
    if capability not in _OWN_KIB:
        raise NoKernel(
            f"kernels are not made for compute capability {capability or 'of ' + str(gpu)}"
        )
    blocks = int(getattr(gpu, "core_count", DEVICE.blocks))
    return replace(DEVICE, blocks=blocks, own_bytes=_OWN_KIB[capability] * 1024)


def _typed(value: Any, variable: Any) -> Any:
    """Return an input of a loop in its declared type, which a kernel reads it in."""
    if hasattr(value, "shape") and value.dtype == variable.type.dtype:
        return value
    return as_array(value, variable)


_warned: set[str] = set()


def _warn_once(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, stacklevel=caller_stacklevel())
