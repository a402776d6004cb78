"""Replacements for libgpuarray's names in the process that runs Theano's tests for GPUs.

Theano had a separate operator for devices next to each of the host's, ``GpuSubtensor`` next to
``Subtensor``, and its tests look for them in compiled graphs. XLA runs the host's operators on the
device, so each of those names is bound to what computes the same here. A name without a counterpart
is bound to a class that has no instances: a test that looks for it fails.
"""

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

_FOLDER = "theano.gpuarray"

# module of theano.gpuarray -> its name -> where this package has what stands for it
NAMES: dict[str, dict[str, str]] = {
    "basic_ops": {
        "GpuReshape": "theano.tensor.Reshape",
        "GpuJoin": "theano.tensor.Join",
        "GpuSplit": "theano.tensor.Split",
        "gpu_join": "theano.tensor.join",
        "GpuContiguous": "",
    },
    "elemwise": {
        "Elemwise": "theano.tensor.Elemwise",
        "GpuElemwise": "theano.tensor.Elemwise",
        "GpuDimShuffle": "theano.tensor.DimShuffle",
        "GpuCAReduceCuda": "theano.tensor.elemwise.CAReduce",
        "GpuCAReduceCPY": "theano.tensor.elemwise.CAReduce",
        "GpuErfinv": "theano.scalar.basic_scipy.Erfinv",
        "GpuErfcinv": "theano.scalar.basic_scipy.Erfcinv",
    },
    "subtensor": {
        "GpuSubtensor": "theano.tensor.subtensor.Subtensor",
        "GpuIncSubtensor": "theano.tensor.subtensor.IncSubtensor",
        "GpuAdvancedSubtensor1": "theano.tensor.subtensor.AdvancedSubtensor1",
        "GpuAdvancedSubtensor": "theano.tensor.subtensor.AdvancedSubtensor",
        "GpuAdvancedBooleanSubtensor": "theano.tensor.subtensor.AdvancedBooleanSubtensor",
        "GpuAdvancedIncSubtensor": "theano.tensor.subtensor.AdvancedIncSubtensor",
        "GpuAdvancedIncSubtensor1": "theano.tensor.subtensor.AdvancedIncSubtensor1",
        "GpuAdvancedIncSubtensor1_dev20": "theano.tensor.subtensor.AdvancedIncSubtensor1",
        "GpuExtractDiag": "theano.tensor.ExtractDiag",
        "GpuAllocDiag": "theano.tensor.AllocDiag",
    },
    "blas": {"gpugemmbatch_inplace": ""},
    "sort": {"GpuTopKOp": "theano.tensor.sort.TopKOp"},
    "multinomial": {
        "GPUAMultinomialFromUniform": "theano.sandbox.multinomial.MultinomialFromUniform",
        "GPUAChoiceFromUniform": "theano.sandbox.multinomial.ChoiceFromUniform",
    },
    "reduction": {"GpuMaxAndArgmax": "theano.tensor.MaxAndArgmax"},
    "rng_mrg": {"GPUA_mrg_uniform": "theano.sandbox.rng_mrg.mrg_uniform"},
    "extra_ops": {"GpuCumOp": "theano.tensor.extra_ops.CumOp"},
    "blocksparse": {
        "GpuSparseBlockGemv": "theano.tensor.nnet.blocksparse.SparseBlockGemv",
        "GpuSparseBlockOuter": "theano.tensor.nnet.blocksparse.SparseBlockOuter",
        "gpu_sparse_block_gemv": "theano.tensor.nnet.blocksparse.sparse_block_gemv",
        "gpu_sparse_block_outer": "theano.tensor.nnet.blocksparse.sparse_block_outer",
    },
    "linalg": {
        "GpuCusolverSolve": "theano.tensor.slinalg.Solve",
        **{
            name: ""
            for name in (
                "GpuCublasTriangularSolve",
                "GpuMagmaCholesky",
                "GpuMagmaEigh",
                "GpuMagmaMatrixInverse",
                "GpuMagmaQR",
                "GpuMagmaSVD",
            )
        },
    },
    "cudnn_defs": {},
    "dnn": {"GpuDnnReduction": "theano.tensor.elemwise.CAReduce"},
}

# operators that took a context, and what makes ours of the other arguments
OF_CONTEXTS: dict[str, tuple[str, Callable]] = {
    "GpuAlloc": ("theano.tensor.Alloc", lambda ours, *_, **__: ours()),
    "GpuEye": ("theano.tensor.Eye", lambda ours, dtype=None, *_, **__: ours(dtype)),
    "GpuTri": ("theano.tensor.Tri", lambda ours, dtype=None, *_, **__: ours(dtype)),
}


class _Nothing:
    """A class without instances: there is no such operator here."""


class _OfContext(type):
    """A class of operators, each made for a context, whose instances are those of another class."""

    ours: type
    make: Callable

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.ours)

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        return cls.make(cls.ours, *arguments, **options)


def pytest_configure() -> None:
    """Add the names to the modules where Theano's tests look for them."""
    sys.modules |= {"pygpu": _pygpu(), "pygpu.gpuarray": _pygpu().gpuarray}
    importlib.import_module(_FOLDER)
    for name, table in NAMES.items():
        module = _module(f"{_FOLDER}.{name}")
        for short, path in table.items():
            if not hasattr(module, short):
                setattr(module, short, _found(path) if path else type(short, (_Nothing,), {}))
    basic_ops = _module(f"{_FOLDER}.basic_ops")
    for name, (path, make) in OF_CONTEXTS.items():
        attributes = {"ours": _found(path), "make": staticmethod(make)}
        setattr(basic_ops, name, _OfContext(name, (), attributes))
    elemwise = _module(f"{_FOLDER}.elemwise")
    vars(elemwise)["max_inputs_to_GpuElemwise"] = lambda node: 30
    linalg = _module(f"{_FOLDER}.linalg")
    vars(linalg)["cusolver_available"] = True


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        made = ModuleType(name)
        sys.modules[name] = made
        parent, _, short = name.rpartition(".")
        setattr(sys.modules[parent], short, made)
        return made


def _found(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def _pygpu() -> Any:
    """The package ``pygpu``, whose arrays are those of JAX."""
    import jax

    from theano.gpuarray.device_arrays import on_device
    from theano.gpuarray.type import get_context

    def array(value: Any, dtype: Any = None, context: Any = None, **_: Any) -> jax.Array:
        return on_device(np.array(value, dtype=dtype), (context or get_context(None)).device)

    def zeros(shape: Sequence[int], dtype: Any = "float64", context: Any = None) -> jax.Array:
        return array(np.zeros(shape, dtype), context=context)

    made: Any = ModuleType("pygpu")
    made.gpuarray, made._array = ModuleType("pygpu.gpuarray"), ModuleType("pygpu._array")
    for module in (made, made.gpuarray, made._array):
        module.array = module.asarray = array
        module.zeros = module.empty = zeros
        module.GpuArray = module.ndgpuarray = jax.Array
    made.ndgpuarray = made.gpuarray
    return made
