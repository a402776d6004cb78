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

from .experiment import Program


@dataclass(frozen=True)
class GraphLibrary:
    """What a method needs of a library: operations, scan, gradients, compilation."""

    tensor: Any
    dot: Callable
    sigmoid: Callable
    tanh: Callable
    scan: Callable
    grad: Callable
    function: Callable


def plain_pytensor() -> GraphLibrary:
    """Return PyTensor as it comes, compiled with its C VM."""
    return GraphLibrary(
        tensor=pytensor.tensor,
        dot=pytensor.tensor.dot,
        sigmoid=pytensor.tensor.sigmoid,
        tanh=pytensor.tensor.tanh,
        scan=lambda *args, **kwargs: (pytensor.scan(*args, **kwargs, return_updates=False), {}),
        grad=pytensor.grad,
        function=partial(pytensor.function, mode=Mode("cvm", "fast_run")),
    )


def ours() -> GraphLibrary:
    """Return Theano as this project gives it, in its default mode."""
    return GraphLibrary(
        tensor=theano.tensor,
        dot=theano.tensor.dot,
        sigmoid=theano.tensor.nnet.sigmoid,
        tanh=theano.tensor.tanh,
        scan=theano.scan,
        grad=theano.grad,
        function=theano.function,
    )


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
    function = library.function(variables, build(library, *variables))
    seconds = time.perf_counter() - start
    arguments = tuple(arrays.values())
    return Program(
        call=lambda: function(*arguments),
        to_numpy=lambda results: [np.asarray(result) for result in results],
        compile_seconds=seconds,
        function=function,
        arguments=arguments,
    )
