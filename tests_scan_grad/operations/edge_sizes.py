"""Operations with a size among their inputs, called with sizes at the edges; run as a program.

Each engine has its own process, in which no array of more than `MEMORY` bytes can be made. It
prints a line of JSON for each operation: what came of each size.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from theano.sandbox.rng_mrg import MRG_RandomStreams
from theano.tensor.extra_ops import repeat, to_one_hot
from theano.tensor.shared_randomstreams import RandomStreams
from theano.tensor.signal.pool import pool_2d

SIZES = (0, -1, 2**31, 2**33, 2**62)
# The address space of a process: XLA's libraries and threads take more than a gigabyte of it.
MEMORY = 4 * 2**30

ENGINES = {"native": "NATIVE", "python": theano.Mode("py", "fast_compile"), "xla": "XLA"}

V = T.as_tensor(np.arange(6.0), name="v")
IMAGE = T.as_tensor(np.arange(36.0).reshape(1, 1, 6, 6), name="image")


def _stacked_states(n: Any) -> Any:
    return theano.scan(lambda s: s * 0.5 + 1, outputs_info=T.zeros(4), n_steps=n)[0]


def _pooled(n: Any, **options: Any) -> Any:
    return pool_2d(IMAGE, ws=T.stack([n, n]), ignore_border=True, **options)


# What each computes of a size; another form of the same operation is a separate row.
OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "alloc": lambda n: T.alloc(1.5, n, 4),
    "alloc of a square": lambda n: T.zeros((n, n)),
    "alloc of bytes": lambda n: T.zeros((n, n), dtype="int8") + 1,
    # a sum would need no array
    "alloc within": lambda n: T.cumsum(T.zeros((n, n)), axis=0).max(axis=0).max(keepdims=True),
    "arange": lambda n: T.arange(n) * 2,
    "arange by floats": lambda n: T.arange(0.0, T.cast(n, "float64"), 1.0),
    "eye": lambda n: T.eye(n),
    "eye with columns": lambda n: T.eye(3, n) * 2,
    "tile": lambda n: T.tile(V, n),
    "tile of a matrix": lambda n: T.tile(V.reshape((2, 3)), (n, n)),
    "repeat": lambda n: repeat(V, n),
    "repeat of rows": lambda n: repeat(V.reshape((2, 3)), n, axis=0),
    "reshape": lambda n: V.reshape((n, 3)),
    "reshape with an unknown length": lambda n: V.reshape((n, -1)),
    "pad": lambda n: T.concatenate([V, T.zeros(n)]),
    "pad of images": lambda n: T.set_subtensor(T.zeros((6 + n, 6 + n))[n:, n:], IMAGE[0, 0]),
    "one-hot": lambda n: to_one_hot(T.as_tensor([0, 0]), n),
    "windows of pooling": _pooled,
    "strides of pooling": lambda n: pool_2d(
        IMAGE, ws=(2, 2), stride=T.stack([n, n]), ignore_border=True
    ),
    "n_steps": _stacked_states,
    "MRG's uniform": lambda n: MRG_RandomStreams(1).uniform((n, 4), ndim=2),
    "MRG's normal": lambda n: MRG_RandomStreams(1).normal((n,), ndim=1),
    "NumPy's uniform": lambda n: RandomStreams(1).uniform((n, 4), ndim=2),
    "NumPy's normal": lambda n: RandomStreams(1).normal((n,), ndim=1),
    "split": lambda n: T.split(V, T.stack([n, 6 - n]), 2)[0],
    "slice": lambda n: V[:n],
    "bartlett": lambda n: T.bartlett(n),
}


def outcomes(name: str, engine: str) -> list[Any]:
    """The shape of the result for each size, or the kind and text of the error."""
    n = T.lscalar("n")
    function = theano.function([n], OPERATIONS[name](n), mode=ENGINES[engine])
    found: list[Any] = []
    for size in SIZES:
        try:
            found.append(list(np.shape(function(size))))
        except Exception as error:
            notes = "\n".join(getattr(error, "__notes__", ()))
            found.append({"kind": type(error).__name__, "text": f"{error}\n{notes}"})
    return found


def main(engine: str, *names: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name in names or OPERATIONS:
        print(json.dumps([name, outcomes(name, engine)]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
