"""Arrays that are read from files when a function runs, and those of other processes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable

from theano.gof.op import Op
from theano.pytensor_internals.functions.c_code import generic
from theano.pytensor_internals.graphs.annotations import only_result
from theano.tensor.message_passing import (
    MPIRecv,
    MPIRecvWait,
    MPISend,
    MPISendWait,
    communicator,
    irecv,
    isend,
    mpi_cmps,
    mpi_keys,
    mpi_send_wait_cmp,
    mpi_send_wait_key,
    mpi_tag_cmp,
    mpi_tag_key,
    recv,
    send,
)
from theano.tensor.type import TensorType

__all__ = [
    "LoadFromDisk",
    "MPIRecv",
    "MPIRecvWait",
    "MPISend",
    "MPISendWait",
    "irecv",
    "isend",
    "load",
    "mpi_cmps",
    "mpi_keys",
    "mpi_send_wait_cmp",
    "mpi_send_wait_key",
    "mpi_tag_cmp",
    "mpi_tag_key",
    "recv",
    "send",
]


def __getattr__(name: str) -> Any:
    # Tested only when needed: the test starts MPI.
    if name == "comm":
        try:
            return communicator()
        except ImportError as error:
            raise AttributeError(str(error)) from error
    if name == "mpi_enabled":
        try:
            communicator()
        except ImportError:
            return False
        return True
    raise AttributeError(f"module 'theano.tensor.io' has no attribute {name!r}")


class LoadFromDisk(Op):
    """The array in the ``.npy`` file whose path is the input.

    Parameters
    ----------
    dtype : str
        The dtype of the array.
    broadcastable : sequence of bool
        Which of its dimensions have length 1.
    mmap_mode : {None, 'c'}
        Whether the file is read, or mapped into memory and read where it is needed.

    Raises
    ------
    ValueError
        Another `mmap_mode`; when the function runs: the path is not of a ``.npy`` file.
    TypeError
        When the function runs: the array has another dtype.
    """

    __props__ = ("dtype", "broadcastable", "mmap_mode")

    def __init__(self, dtype: str, broadcastable: Sequence[bool], mmap_mode: str | None = None):
        if mmap_mode not in (None, "c"):
            raise ValueError(f"load: expected an mmap_mode of None or 'c', got {mmap_mode!r}")
        self.dtype = np.dtype(dtype)
        self.broadcastable, self.mmap_mode = tuple(broadcastable), mmap_mode

    def make_node(self, path):
        path = Constant(generic, path) if isinstance(path, str) else path
        return Apply(self, [path], [TensorType(self.dtype, self.broadcastable)()])

    def perform(self, node, inputs, output_storage):
        (path,) = inputs
        if str(path).endswith(".npz"):
            raise ValueError(f"load: expected a .npy file, got {path}")
        result = np.load(path, mmap_mode=self.mmap_mode)
        if result.dtype != self.dtype:
            raise TypeError(f"load: expected an array of {self.dtype}, got one of {result.dtype}")
        output_storage[0][0] = result


def load(
    path: object, dtype: str, broadcastable: Sequence[bool], mmap_mode: str | None = None
) -> Variable:
    """Return the array in a ``.npy`` file: see `LoadFromDisk`.

    Parameters
    ----------
    path : str or variable of type `theano.gof.generic`
        Where the file is.
    dtype, broadcastable, mmap_mode
        As for `LoadFromDisk`.
    """
    return only_result(LoadFromDisk(dtype, broadcastable, mmap_mode)(path))
