"""A compiled function as a function of C: called by address, from any thread, without Python.

``runtime/tn_function.h`` says how C calls it; ``runtime/function.h`` is what is written here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pytensor.compile.ops import DeepCopyOp, ViewOp
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.type import TensorType

from theano.link.native.engine_report import report
from theano.link.native.lowering.segment import Check
from theano.link.native.run import c_structures
from theano.link.native.run.calls import NativeSegment, runtime_table
from theano.link.native.run.python_parts import PythonPart
from theano.link.native.run.virtual_machine import NativeMachine, Unit
from theano.link.native.runtime.load import SOURCES, symbol
from theano.pytensor_internals.functions.compiling import expect_function
from theano.pytensor_internals.operations.tensor import IfElse
from theano.support.data_classes import dataclass

# of runtime/tn_function.h
DONE, NO_MEMORY, NO_ROOM, FAILED, RAISED = 0, 1, 2, 3, 4

_ERRORS: dict[int, type[Exception]] = {NO_MEMORY: MemoryError, RAISED: RuntimeError}


class NotNativeError(TypeError):
    """A function cannot be called from C; the message says which parts of it are Python's."""


@dataclass(frozen=True)
class Array:
    """An input or a result of a C function: its name, dtype and number of dimensions."""

    name: str
    dtype: str
    ndim: int

    @classmethod
    def of(cls, variable: Variable, name: str | None = None) -> Array:
        """Of a variable of a type of arrays or of numbers."""
        if not isinstance(variable.type, TensorType | ScalarType):
            raise NotNativeError(f"{name or variable}: C has no arrays of type {variable.type}")
        return cls(name or str(variable), variable.type.dtype, variable.type.ndim)


class CFunction:
    """A compiled function that C calls by address; see `c_function`.

    Attributes
    ----------
    inputs, results : tuple of Array
        What a call is given, in this order, and what it computes.
    """

    def __init__(self, function: Any, shares: bool, python: bool = False):
        machine = _machine(function, python)
        self._python = python
        values = _Values(function, machine.units)
        self._of, self._shares = function, shares
        self.inputs = tuple(Array.of(i.variable, i.name) for i in values.arguments)
        self.results = tuple(Array.of(v) for v in function.maker.fgraph.outputs)
        # what the structure points to lives as long as this
        self._kept: list[Any] = [machine]
        self._bound = (c_structures.Given * len(values.bound))()
        self._shared = {v: k for k, (v, _) in enumerate(values.bound) if v is not None}
        self._values: list[Any] = [None] * len(values.bound)
        for k, (_, array) in enumerate(values.bound):
            self._bind(k, array)
        units = [made for unit in machine.units if (made := self._unit(unit, values)) is not None]
        results = self._numbers([values.position[v] for v in function.maker.fgraph.outputs])
        of_values = (c_structures.Value * len(values.types))(
            *[
                c_structures.Value(
                    np.dtype(t.dtype).itemsize, t.ndim, np.dtype(t.dtype).num, values.made_by[k]
                )
                for k, t in enumerate(values.types)
            ]
        )
        of_units = (c_structures.Unit * len(units))(*units)
        table = runtime_table()
        self._kept += [of_values, of_units, table]
        self._function = c_structures.Function(
            ctypes.addressof(table),
            ctypes.addressof(of_values),
            ctypes.addressof(of_units),
            ctypes.addressof(self._bound),
            results,
            len(self.inputs),
            len(values.bound),
            len(values.types),
            len(units),
            len(self.results),
            shares,
        )
        self._call = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3)(self.address)

    @property
    def address(self) -> int:
        """The address of ``tn_call``, which calls any function."""
        return symbol("tn_call")

    @property
    def function(self) -> int:
        """The address of this function, the first argument of ``tn_call``; valid while this lives."""
        return ctypes.addressof(self._function)

    def bind(self, shared: Variable, value: object) -> None:
        """Let calls from now on read another value of a shared variable; none may be running.

        Raises
        ------
        KeyError
            If the function does not read it.
        """
        self._bind(self._shared[shared], shared.type.filter(value))

    def with_values(self, values: Mapping[Variable, Any]) -> CFunction:
        """Return the same function with other values of shared variables, of those that it reads."""
        made = CFunction(self._of, self._shares, self._python)
        for variable in self._shared:
            made.bind(variable, values.get(variable, self.bound_value(variable)))
        return made

    def bound_value(self, shared: Variable) -> np.ndarray:
        """Return the value of a shared variable that calls read."""
        return self._values[self._shared[shared]][0]

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled as the compiled function and the bound values; compiled again where loaded."""
        bound = [self.bound_value(shared) for shared in self._shared]
        return _loaded, (self._of, self._shares, bound, self._python)

    def __call__(self, *arrays: object) -> list[np.ndarray]:
        """Call it from Python, for trials: results of any length are computed twice.

        Raises
        ------
        TypeError
            If there are too many or too few arguments, or one has another number of dimensions.
        ValueError, MemoryError
            If the call fails; the message is what C gets.
        """
        if len(arrays) != len(self.inputs):
            raise TypeError(f"expected {len(self.inputs)} arguments, got {len(arrays)}")
        given = [_checked(array, of) for array, of in zip(arrays, self.inputs, strict=True)]
        given_lengths = [_lengths(array) for array in given]
        inputs = (c_structures.Given * len(given))(
            *[
                c_structures.Given(array.ctypes.data, ctypes.addressof(length))
                for array, length in zip(given, given_lengths, strict=True)
            ]
        )
        lengths = [(ctypes.c_int64 * of.ndim)() for of in self.results]
        results = [np.empty([0] * of.ndim, of.dtype) for of in self.results]
        while True:
            made = (c_structures.Made * len(results))(
                *[
                    c_structures.Made(result.ctypes.data, result.nbytes, ctypes.addressof(length))
                    for result, length in zip(results, lengths, strict=True)
                ]
            )
            status = self._call(self.function, inputs, made)
            if status not in (DONE, NO_ROOM):
                raise _ERRORS.get(status, ValueError)(message())
            if all(r.shape == tuple(n) for r, n in zip(results, lengths, strict=True)):
                return results
            results = [np.empty(tuple(n), r.dtype) for r, n in zip(results, lengths, strict=True)]

    def _bind(self, position: int, array: object) -> None:
        array = np.array(array, order="C", copy=True)
        lengths = _lengths(array)
        self._values[position] = array, lengths
        self._bound[position] = c_structures.Given(array.ctypes.data, ctypes.addressof(lengths))

    def _unit(self, unit: Unit, values: _Values) -> c_structures.Unit | None:
        """Return a part of the function; none where what is computed is what it is given."""
        native: NativeSegment | None = getattr(unit.run, "native", None)
        if native is None and _passes_on(unit):
            return None
        if native is None:
            branch = isinstance(unit.node.op, IfElse)
            return (self._branch if branch else self._called_back)(unit.node, values)
        segment = native.segment
        native.optimize()
        errors = [
            error.text.replace("%", "%%") + (", in step %lld" if error.in_loop else "")
            for error in segment.errors
        ]
        return c_structures.Unit(
            ctypes.cast(native.function, ctypes.c_void_p).value,
            self._numbers(values.given_to(segment)),
            self._numbers([values.position[p.variable] for p in segment.outputs]),
            len(segment.inputs),
            len(segment.outputs),
            segment.may_stop_early,
            len(segment.checks),
            len(errors),
            self._checks(segment.checks),
            self._texts(errors),
        )

    def _branch(self, node: Apply, values: _Values) -> c_structures.Unit:
        given = [values.position[v] for v in node.inputs]
        made = [values.position[v] for v in node.outputs]
        counts = (len(given), len(made))
        return c_structures.Unit(None, self._numbers(given), self._numbers(made), *counts, 0, 0, 0)

    def _called_back(self, node: Apply, values: _Values) -> c_structures.Unit:
        part = PythonPart(node)
        self._kept.append(part)
        given = [values.position[v] for v in part.inputs]
        made = [values.position[v] for v in part.outputs]
        python = ctypes.cast(part.callback, ctypes.c_void_p).value
        places = self._numbers(given), self._numbers(made)
        return c_structures.Unit(None, *places, len(given), len(made), 0, 0, 0, 0, 0, python)

    def _numbers(self, numbers: Sequence[int]) -> int:
        """Return the address of an array of int32."""
        array = (ctypes.c_int32 * len(numbers))(*numbers)
        self._kept.append(array)
        return ctypes.addressof(array)

    def _checks(self, checks: Sequence[Check]) -> int:
        """Return the address of an array of checks."""
        made = (c_structures.Check * len(checks))()
        for one, check in zip(made, checks, strict=True):
            one.text, one.given = check.text.encode(), (-1, -1)
            for k, (given, dimension) in enumerate(check.sizes):
                one.given[k], one.dimension[k] = given, dimension
        self._kept.append(made)
        return ctypes.addressof(made)

    def _texts(self, texts: Sequence[str]) -> int:
        """Return the address of an array of texts."""
        array = (ctypes.c_char_p * len(texts))(*[text.encode() for text in texts])
        self._kept.append(array)
        return ctypes.addressof(array)


class _Values:
    """The values of a function by number: its inputs, what is bound, what its parts compute."""

    def __init__(self, function: Any, units: Sequence[Unit]):
        self.types: list[Any] = []
        self.made_by: list[int] = []
        self.position: dict[Any, int] = {}
        fgraph, given = function.maker.fgraph, function.maker.inputs
        pairs = list(zip(fgraph.inputs, given, function.input_storage, strict=True))
        self.arguments = [i for _, i, _ in pairs if not i.implicit]
        for variable, of, _ in pairs:
            if not of.implicit:
                self._add(variable, of.name)
        self.bound: list[tuple[Variable | None, Any]] = []
        for variable, of, container in pairs:
            if of.implicit:
                self._add(variable, of.name)
                self.bound.append((of.variable, container.storage[0]))
        natives = [unit.run.native for unit in units if hasattr(unit.run, "native")]
        for native in natives:
            for passed in native.segment.inputs:
                if passed.variable is None:
                    self._add_constant(passed, passed.constant, passed)
        others = [v for u in units if not _is_of_python(u) for v in u.node.inputs]
        for variable in [*others, *fgraph.outputs]:
            if isinstance(variable, Constant) and variable not in self.position:
                self._add_constant(variable, variable.data, variable.type)
        for made_by, unit in enumerate(u for u in units if not _passes_on(u)):
            for variable in _results(unit):
                self._add(variable, None, made_by)
        for unit in filter(_passes_on, units):
            self.position[unit.node.outputs[0]] = self.position[unit.node.inputs[0]]

    def given_to(self, segment: Any) -> list[int]:
        """Return the numbers of what a segment is given."""
        return [self.position[p if p.variable is None else p.variable] for p in segment.inputs]

    def _add(self, variable: Variable, name: str | None, made_by: int = -1) -> None:
        Array.of(variable, name)
        self._number(variable, variable.type, made_by)

    def _add_constant(self, key: object, value: object, of_type: object) -> None:
        self._number(key, of_type, -1)
        self.bound.append((None, value))

    def _number(self, key: object, of_type: object, made_by: int) -> None:
        self.position[key] = len(self.types)
        self.types.append(of_type)
        self.made_by.append(made_by)


def _loaded(
    function: object, shares: bool, bound: Sequence[np.ndarray], python: bool = False
) -> CFunction:
    """Return a function of what was pickled of one."""
    made = CFunction(function, shares, python)
    for shared, value in zip(made._shared, bound, strict=True):
        made.bind(shared, value)
    return made


def c_function(
    function: object, partition_work: bool = False, allow_python: bool = False
) -> CFunction:
    """Return a compiled function that C calls by address: no Python, no lock, from any thread.

    Parameters
    ----------
    function
        What ``theano.function`` returned. Shared variables that it reads have the values that they
        have now, until `CFunction.bind`.
    partition_work
        Whether a call may use the threads of this package, one call at a time; else it runs on its
        caller's thread.
    allow_python
        Whether parts that Python runs are called back, one call of an operation at a time, with the
        interpreter's lock; `theano.link.native.report` says which they are.

    Returns
    -------
    CFunction

    Raises
    ------
    TypeError
        If the function was compiled with another engine.
    NotNativeError
        If Python runs a part of it and may not, if it updates shared variables, or if a value is
        no array; the message says which.

    Examples
    --------
    >>> import theano
    >>> import theano.tensor as T
    >>> from theano.link.native import c_function
    >>> x = T.dvector("x")
    >>> f = c_function(theano.function([x], T.exp(x).sum(), mode="NATIVE"))
    >>> f.inputs
    (Array(name='x', dtype='float64', ndim=1),)
    >>> float(f([0.0, 0.0])[0])
    2.0
    """
    return CFunction(expect_function(function, "c_function"), partition_work, allow_python)


def header_folder() -> str:
    """Return the folder of ``tn_function.h``, for a C compiler's ``-I``.

    Returns
    -------
    str
        Its path.
    """
    return str(SOURCES)


def message() -> str:
    """Why the last call of this thread that failed did so."""
    text = ctypes.CFUNCTYPE(ctypes.c_char_p)(symbol("tn_message"))()
    return text.decode(errors="replace")


def python_parts(function: Any) -> list[Any]:
    """Return the nodes of a compiled function that Python runs."""
    return [unit.node for unit in function.vm.units if _is_of_python(unit)]


def _machine(function: Any, python: bool) -> NativeMachine:
    """Return the parts of a function, all of which are native unless Python's are allowed."""
    engine = report(function)
    machine = function.vm
    updated = [i.variable for i in function.maker.inputs if i.update is not None]
    if updated:
        names = ", ".join(map(str, updated))
        raise NotNativeError(f"the function updates shared variables, which C may not do: {names}")
    if machine.measurements is not None:
        raise NotNativeError("the function is profiled: its parts count their calls")
    if not python and any(map(_is_of_python, machine.units)):
        raise NotNativeError(f"Python runs a part of the function:\n{engine}")
    return machine


def _is_of_python(unit: Unit) -> bool:
    of_c = hasattr(unit.run, "native") or _passes_on(unit) or isinstance(unit.node.op, IfElse)
    return not of_c


def _passes_on(unit: Unit) -> bool:
    """Return whether a part is what it is given, as far as C is concerned."""
    return type(unit.node.op) in (DeepCopyOp, ViewOp)


def _results(unit: Unit) -> Sequence[Variable]:
    native = getattr(unit.run, "native", None)
    if native is None:
        return unit.node.outputs
    return [passed.variable for passed in native.segment.outputs]


def _lengths(array: np.ndarray) -> ctypes.Array:
    return (ctypes.c_int64 * array.ndim)(*array.shape)


def _checked(value: object, of: Array) -> np.ndarray:
    array = np.array(value, of.dtype, order="C", copy=None)
    if array.ndim != of.ndim:
        raise TypeError(f"{of.name}: expected {of.ndim} dimensions, got {array.ndim}")
    return array
