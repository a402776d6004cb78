"""Rewrites that move operations to devices, registered as Theano 1.0's were.

XLA moves what it computes by itself, so that this package has no such rewrites. Those of
a program run in modes that include the tag ``gpuarray``: where an operation's inputs come from a
device, or its output goes to one, the program's own operation takes its place.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.tensor import TensorLike

from theano.gof.optdb import EquilibriumDB, SequenceDB
from theano.gof.rewriters.graph_rewriters import TopoOptimizer
from theano.gof.rewriters.local_rewriters import local_optimizer
from theano.gpuarray.basic_ops import (
    GpuFromHost,
    HostFromGpu,
    as_gpuarray_variable,
    host_from_gpu,
)
from theano.gpuarray.type import GpuArrayType, get_context
from theano.rewriting.database import optdb

__all__ = [
    "gpu_optimizer",
    "gpu_seqopt",
    "op_lifter",
    "register_inplace",
    "register_opt",
    "register_opt2",
    "safe_to_cpu",
    "safe_to_gpu",
    "tensor_to_gpu",
]

# one after the other, and, as the second of them, those that go on until nothing changes
gpu_seqopt = SequenceDB()
gpu_optimizer = EquilibriumDB()
# the name as Theano spelt it, which programs look up
gpu_seqopt.register(
    "gpuarray_local_optimiziations", gpu_optimizer, 1, "fast_compile", "fast_run", "gpuarray"
)
# before results may overwrite inputs
optdb.register("gpuarray_opt", gpu_seqopt, "gpuarray", position=48.5)

# an operation, the context, inputs and outputs -> what takes its place
Maker = Callable[[Op, Hashable, Sequence[Variable], Sequence[Variable]], Any]


# names that `register_opt2` registered: Theano's programs decorate one function with both
_OF_GRAPHS: set[str] = set()


def register_opt(*tags: str, **kwargs: Any) -> Callable:
    """Decorate a rewrite, so that modes with the tag ``gpuarray`` run it.

    Parameters
    ----------
    *tags : str
        Further tags.
    name : str, optional
        By default the rewrite's.
    """

    def register(rewrite: Any) -> Any:
        name = kwargs.get("name") or rewrite.__name__
        if name not in _OF_GRAPHS:
            gpu_optimizer.register(name, rewrite, "fast_run", "gpuarray", *tags)
        return rewrite

    return register


def register_opt2(tracks: Sequence, *tags: str, **kwargs: Any) -> Callable:
    """Decorate a function that says what takes an operation's place: see `op_lifter`.

    It runs as if `op_lifter` and `register_opt` decorated it, which may do so too.

    Parameters
    ----------
    tracks : sequence of operators and operator classes
    *tags : str
    name : str, optional
        By default the function's.

    Returns
    -------
    callable
        A decorator that returns the function as it is.
    """

    def register(maker: Maker) -> Maker:
        name = kwargs.get("name") or maker.__name__
        register_opt(*tags, name=name)(op_lifter(tracks)(maker))
        _OF_GRAPHS.add(name)
        return maker

    return register


def register_inplace(*tags: str, **kwargs: Any) -> Callable:
    """Decorate a rewrite that lets operations overwrite their inputs: it runs last.

    Parameters
    ----------
    *tags : str
    name : str, optional
    """

    def register(rewrite: Any) -> Any:
        name = kwargs.get("name") or rewrite.__name__
        graph_rewrite = rewrite if hasattr(rewrite, "apply") else TopoOptimizer(rewrite)
        optdb.register(name, graph_rewrite, "inplace", "gpuarray", *tags, position=60)
        return rewrite

    return register


def safe_to_gpu(x: Any, ctx_name: Hashable) -> Any:
    """Move a tensor to a device; what is there already, or no tensor, stays as it is."""
    moves = hasattr(x, "type") and hasattr(x.type, "dtype") and not _is_on_device(x)
    return as_gpuarray_variable(x, ctx_name) if moves else x


def safe_to_cpu(x: TensorLike) -> Any:
    """Move what is on a device to the host."""
    return host_from_gpu(x) if isinstance(x, Variable) and _is_on_device(x) else x


def tensor_to_gpu(x: Variable, context_name: Hashable) -> Variable:
    """Make a variable on a device of the type of `x`; of another type, `x` itself."""
    if _is_on_device(x) or not hasattr(x.type, "broadcastable"):
        return x
    kind = GpuArrayType(x.type.dtype, x.type.broadcastable, context_name=context_name)
    return kind(name=f"gpu_{x.name}" if x.name else None)


def _is_on_device(x: Variable) -> bool:
    return isinstance(x.type, GpuArrayType)


def op_lifter(OP: Sequence, cuda_only: bool = False) -> Callable[[Maker], Any]:
    """Decorate a function that says what takes an operation's place on a device.

    The function is given the operation, the name of the context, the inputs and the outputs. It
    returns an operation, which is applied to the inputs; a variable, or several, that take the
    outputs' place; or False.

    Parameters
    ----------
    OP : sequence of operators and operator classes
        The operations that the function is asked about, where one of the inputs comes from a
        device or all that reads the outputs is there.
    cuda_only : bool
        Whether it is asked only where the device is a GPU of CUDA's.
    """

    def decorate(maker: Maker) -> Any:
        def lifted(node: Apply) -> Any:
            name = _context_of(node)
            if name is _NOWHERE or (cuda_only and not _is_cuda(name)):
                return False
            made = maker(node.op, name, node.inputs, node.outputs)
            if not made and not isinstance(made, Variable):
                return False
            if isinstance(made, Op):
                moved = [safe_to_gpu(value, name) for value in node.inputs]
                made = made(*moved, return_list=True)
            made = [made] if isinstance(made, Variable) else list(made)
            for old, new in zip(node.outputs, made, strict=True):
                new.tag.context_name = name
                if old.name and not new.name:
                    new.name = old.name
            return [safe_to_cpu(value) for value in made]

        lifted.__name__ = maker.__name__
        return local_optimizer(list(OP))(lifted)

    return decorate


_NOWHERE = object()


def _context_of(node: Apply) -> Any:
    """Return the context that inputs come from, or that all that reads the outputs is in."""
    for variable in node.inputs:
        if variable.owner is not None and isinstance(variable.owner.op, HostFromGpu):
            return variable.owner.inputs[0].type.context_name
    # while a graph is rewritten, outputs know who reads them
    readers = [reader for output in node.outputs for reader, _ in output.clients]  # type: ignore[attr-defined]
    if readers and all(
        isinstance(reader, Apply) and isinstance(reader.op, GpuFromHost) for reader in readers
    ):
        return readers[0].op.context_name
    return _NOWHERE


def _is_cuda(name: Hashable) -> bool:
    return get_context(name).kind == b"cuda"
