"""Parts of a function that Python runs, as a function of C calls them."""

from __future__ import annotations

import ctypes
import threading
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable

from theano.link.native.run import c_structures
from theano.link.native.run.one_by_one import make_thunk

# of runtime/tn_function.h
DONE, FAILED, RAISED = 0, 3, 4
# What an operation raises where a number has no result, as that of a matrix that is not definite.
_OF_NUMBERS = (ArithmeticError, np.linalg.LinAlgError)

# The lock of each operation by its identity, as long as parts hold both: it may keep state between calls,
# whichever functions it is a part of.
_locks: WeakValueDictionary[int, Any] = WeakValueDictionary()


class PythonPart:
    """A node whose operation is Python's: each call takes the interpreter's lock.

    Results are computed first, and then, when C has memory for them, copied there.

    Attributes
    ----------
    callback
        What C calls, as ``tn_python`` of ``runtime/function.h``.
    inputs, outputs : list of Variable
        What C passes and is given, all of them arrays.
    """

    def __init__(self, node: Apply):
        self.node = node
        self.inputs: list[Variable] = [v for v in node.inputs if not isinstance(v, Constant)]
        self.outputs: list[Variable] = list(node.outputs)
        self.callback = c_structures.PYTHON(self._called)
        self._cells = {v: [v.data if isinstance(v, Constant) else None] for v in node.inputs}
        self._cells |= {v: [None] for v in node.outputs}
        self._run = make_thunk(node, self._cells, {v: [True] for v in self._cells}, False)
        # an operation may call the function that it is a part of
        self._lock = _locks.setdefault(id(node.op), threading.RLock())
        self._computed: dict[int, list[np.ndarray]] = {}

    def _called(self, write: int, data: object, shapes: Any, message: Any, room: int) -> int:
        try:
            if write:
                self._write(data)
            else:
                self._compute(data, shapes)
        except BaseException as error:
            self._computed.pop(threading.get_ident(), None)
            text = _text_of(self.node, error).encode(errors="replace")[: room - 1]
            ctypes.memmove(message, text + b"\0", len(text) + 1)
            return FAILED if isinstance(error, _OF_NUMBERS) else RAISED
        return DONE

    def _compute(self, data: Any, shapes: Any) -> None:
        given = [
            _copied(data[k], shapes[k], variable.type) for k, variable in enumerate(self.inputs)
        ]
        with self._lock:
            for variable, array in zip(self.inputs, given, strict=True):
                self._cells[variable][0] = array
            for variable in self.outputs:
                self._cells[variable][0] = None
            self._run()
            results = [_result(v, self._cells[v][0]) for v in self.outputs]
        self._computed[threading.get_ident()] = results
        for k, array in enumerate(results, len(given)):
            for axis, length in enumerate(array.shape):
                shapes[k][axis] = length

    def _write(self, data: Any) -> None:
        results = self._computed.pop(threading.get_ident())
        for k, array in enumerate(results, len(self.inputs)):
            if array.nbytes:
                ctypes.memmove(data[k], array.ctypes.data, array.nbytes)


def _text_of(node: Apply, error: BaseException) -> str:
    """Return what an operation raised; ctypes would drop an error of making the text."""
    text = f"raised {type(error).__name__}"
    try:
        return f"{node} {text}: {error}"
    except Exception:
        return f"{type(node.op).__name__} {text}"


def _copied(address: Any, shape: Any, of_type: Any) -> Any:
    """Return an array of C, which an operation may keep, in the form that it has in Python."""
    lengths = [shape[axis] for axis in range(of_type.ndim)]
    array = np.empty(lengths, of_type.dtype)
    if array.nbytes:
        ctypes.memmove(array.ctypes.data, address, array.nbytes)
    return of_type.filter(array)


def _result(variable: Variable, value: object) -> np.ndarray:
    """Return what an operation has computed; a TypeError where it is no such array."""
    array = np.array(value, variable.type.dtype, order="C", copy=True)
    if array.ndim != variable.type.ndim:
        raise TypeError(f"expected {variable.type.ndim} dimensions of {variable}, got {array.ndim}")
    return array
