"""The graph libraries that the same method can be written for: ours and plain PyTensor."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor
from pytensor.compile.mode import Mode

import theano
import theano.tensor.nnet
from tests_scan_grad.timing.experiment import Program


@dataclass(frozen=True)
class GraphLibrary:
    """The parts of a library that a method needs: operations, scan, gradients, compilation."""

    tensor: Any
    dot: Callable
    sigmoid: Callable
    tanh: Callable
    log: Callable
    scan: Callable
    grad: Callable
    function: Callable


def plain_pytensor(mode: Any = None) -> GraphLibrary:
    """Return PyTensor as it comes, compiled with its C VM or in another of its modes."""
    tensor = pytensor.tensor
    return GraphLibrary(
        tensor=tensor,
        dot=tensor.dot,
        sigmoid=tensor.sigmoid,
        tanh=tensor.tanh,
        log=tensor.log,
        scan=lambda *args, **kwargs: (pytensor.scan(*args, **kwargs, return_updates=False), {}),
        grad=pytensor.grad,
        function=partial(pytensor.function, mode=mode or Mode("cvm", "fast_run")),
    )


def ours(mode: Any = None) -> GraphLibrary:
    """Return Theano as this project gives it, in its default mode or in another."""
    tensor = theano.tensor
    return GraphLibrary(
        tensor=tensor,
        dot=tensor.dot,
        sigmoid=tensor.nnet.sigmoid,
        tanh=tensor.tanh,
        log=tensor.log,
        scan=partial(theano.scan, mode=mode),
        grad=theano.grad,
        function=partial(theano.function, mode=mode),
    )


def our_c_vm() -> GraphLibrary:
    """Return Theano with PyTensor's C VM, which can be profiled node by node."""
    return ours(theano.Mode("pytensor_cvm", "fast_run"))


def our_engine() -> GraphLibrary:
    """Return Theano with the native engine, or with that of the device that the flags name."""
    return ours(None if theano.config.linker == "xla" else "NATIVE")


def compiled(
    library: GraphLibrary,
    build: Callable[[GraphLibrary, Sequence[Any]], list[Any]],
    arrays: dict[str, np.ndarray],
) -> Program:
    """Build a graph on one variable for each array, compile it, and bind the arrays."""
    start = time.perf_counter()
    variables = [
        library.tensor.TensorType(array.dtype.name, (None,) * array.ndim)(name)
        for name, array in arrays.items()
    ]
    outputs = build(library, *variables)
    function = library.function(variables, outputs)
    seconds = time.perf_counter() - start
    arguments = tuple(arrays.values())

    def profiled() -> Any:
        return library.function(variables, outputs, profile=theano.ProfileStats(atexit_print=False))

    return Program(
        call=lambda: function(*arguments),
        to_numpy=lambda results: [np.asarray(result) for result in results],
        compile_seconds=seconds,
        function=function,
        arguments=arguments,
        profiled=None if theano.config.linker == "xla" else profiled,
    )
