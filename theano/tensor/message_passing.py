"""Arrays sent to other processes and received from them, by MPI (mpi4py) while a function runs.

A message is started by one operation and waited for by another, so that work can be done between
them. Messages between the same processes are distinguished by their tags.
"""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import disconnected_type, grad_undefined
from pytensor.graph.basic import Apply, Variable

from theano.compat import cmp
from theano.gof.op import Op
from theano.pytensor_internals.functions.c_code import generic
from theano.pytensor_internals.graphs.annotations import all_results, only_result
from theano.pytensor_internals.graphs.shapes import shape_rule
from theano.tensor.type import TensorType

__all__ = [
    "MPIRecv",
    "MPIRecvWait",
    "MPISend",
    "MPISendWait",
    "irecv",
    "isend",
    "mpi_cmps",
    "mpi_keys",
    "mpi_send_wait_cmp",
    "mpi_send_wait_key",
    "mpi_tag_cmp",
    "mpi_tag_key",
    "recv",
    "send",
]


def communicator() -> Any:
    """Return mpi4py's ``COMM_WORLD``: all processes that were started together.

    Raises
    ------
    ImportError
        mpi4py is not installed, or finds no MPI.
    """
    # Not at the top: to import it starts MPI.
    try:
        return importlib.import_module("mpi4py.MPI").COMM_WORLD
    except (ImportError, RuntimeError) as error:
        raise ImportError(
            "theano.tensor.io: send and recv need mpi4py and an MPI, such as Open MPI or MPICH: "
            f"{error}"
        ) from error


class _Message(Op):
    """An operation on messages, which is not done ahead of time, and has no derivatives."""

    def do_constant_folding(self, fgraph, node):
        return False

    def grad(self, inputs, output_gradients):
        return [
            disconnected_type()
            if variable.type == generic
            else grad_undefined(self, k, variable, "a message to another process")
            for k, variable in enumerate(inputs)
        ]


class MPIRecv(_Message):
    """Start to receive an array; gives the request, and the array that will hold it.

    Parameters
    ----------
    source : int
        The rank of the process that sends it.
    tag : int
    shape : tuple of int
    dtype : str
    """

    __props__ = ("source", "tag", "shape", "dtype")

    def __init__(self, source: int, tag: int, shape: Sequence[int], dtype: Any):
        self.source, self.tag = source, tag
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        self.broadcastable = (False,) * len(self.shape)

    def __str__(self):
        return (
            f"MPIRecv{{source: {self.source}, tag: {self.tag}, shape: {self.shape}, "
            f"dtype: {self.dtype}}}"
        )

    def make_node(self):
        return Apply(self, [], [generic(), TensorType(self.dtype, self.broadcastable)()])

    @shape_rule
    def infer_shape(self, node, input_shapes):
        return [None, [pt.constant(length, dtype="int64") for length in self.shape]]

    def perform(self, node, inputs, output_storage):
        data = np.zeros(self.shape, dtype=self.dtype)
        output_storage[0][0] = communicator().Irecv(data, self.source, self.tag)
        output_storage[1][0] = data


class MPIRecvWait(_Message):
    """Wait until an array is received."""

    __props__ = ("tag",)
    view_map = {0: [1]}

    def __init__(self, tag: int):
        self.tag = tag

    def make_node(self, request, data):
        return Apply(self, [request, data], [data.type()])

    @shape_rule
    def infer_shape(self, node, input_shapes):
        return [input_shapes[1]]

    def perform(self, node, inputs, output_storage):
        request, data = inputs
        request.wait()
        output_storage[0][0] = data


class MPISend(_Message):
    """Start to send an array; gives the request, and the array.

    Parameters
    ----------
    dest : int
        The rank of the process that receives it.
    tag : int
    """

    __props__ = ("dest", "tag")
    view_map = {1: [0]}

    def __init__(self, dest: int, tag: int):
        self.dest, self.tag = dest, tag

    def __str__(self):
        return f"MPISend{{dest: {self.dest}, tag: {self.tag}}}"

    def make_node(self, data):
        data = pt.as_tensor_variable(data)
        return Apply(self, [data], [generic(), data.type()])

    @shape_rule
    def infer_shape(self, node, input_shapes):
        return [None, input_shapes[0]]

    def perform(self, node, inputs, output_storage):
        (data,) = inputs
        # a copy: what is sent may be overwritten before somebody waits
        sent = np.array(data, order="C")
        output_storage[0][0] = communicator().Isend(sent, self.dest, self.tag)
        output_storage[1][0] = data


class MPISendWait(_Message):
    """Wait until an array is sent; gives True."""

    __props__ = ("tag",)

    def __init__(self, tag: int):
        self.tag = tag

    def make_node(self, request, data):
        return Apply(self, [request, data], [generic()])

    def perform(self, node, inputs, output_storage):
        inputs[0].wait()
        output_storage[0][0] = True


def isend(var: object, dest: int, tag: int) -> list[Variable]:
    """Start to send `var`.

    Parameters
    ----------
    var : tensor
    dest : int
        The rank of the process that receives it.
    tag : int

    Returns
    -------
    list of two variables
        The request, and `var` once it is being sent.
    """
    return all_results(MPISend(dest, tag)(var))


def send(var: object, dest: int, tag: int) -> Variable:
    """Send `var` and wait until that is done: see `isend`. The result is True."""
    return only_result(MPISendWait(tag)(*isend(var, dest, tag)))


def irecv(shape: Sequence[int], dtype: object, source: int, tag: int) -> list[Variable]:
    """Start to receive an array.

    Parameters
    ----------
    shape : tuple of int
    dtype : str
    source : int
        The rank of the process that sends it.
    tag : int

    Returns
    -------
    list of two variables
        The request, and the array, which is to be read after waiting only.
    """
    return all_results(MPIRecv(source, tag, shape, dtype)())


def recv(shape: Sequence[int], dtype: object, source: int, tag: int) -> Variable:
    """Receive an array and wait until it is there: see `irecv`."""
    return only_result(MPIRecvWait(tag)(*irecv(shape, dtype, source, tag)))


def mpi_send_wait_key(a: Apply) -> int:
    """Order messages such that they are started early and waited for late."""
    if isinstance(a.op, MPIRecvWait | MPISendWait):
        return 1
    return -1 if isinstance(a.op, MPIRecv | MPISend) else 0


def mpi_tag_key(a: Apply) -> int:
    """Order messages by their tags."""
    of_messages = isinstance(a.op, MPISend | MPIRecv | MPIRecvWait | MPISendWait)
    return a.op.tag if of_messages else 0


def _comparison(key: Callable[[Apply], int]) -> Callable[[Apply, Apply], int]:
    return lambda a, b: cmp(key(a), key(b))


mpi_send_wait_cmp = _comparison(mpi_send_wait_key)
mpi_tag_cmp = _comparison(mpi_tag_key)
# for `theano.gof.sched.sort_schedule_fn`, which makes the schedule of a linker
mpi_keys = (mpi_send_wait_key, mpi_tag_key)
mpi_cmps = (mpi_send_wait_cmp, mpi_tag_cmp)
