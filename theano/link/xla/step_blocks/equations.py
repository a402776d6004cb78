"""A traced program as a list of equations between values.

A loop is one equation: it was traced as a separate function, under a name that says which loop
of the context it is. Other functions that JAX calls within a program are unpacked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

from theano.link.xla.loop.lower import WhileLoop
from theano.support.data_classes import dataclass


@dataclass(frozen=True, eq=False)
class Value:
    """An operand or a result of an equation; with a `constant` it is that number."""

    shape: tuple[int, ...]
    dtype: Any
    constant: Any = None

    @property
    def bytes(self) -> int:
        """Its size."""
        return prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True, eq=False)
class Equation:
    """One operation of JAX, or a loop.

    Attributes
    ----------
    primitive, params
        JAX's.
    inputs, outputs
        Values.
    loop
        The loop, whose arrays are the inputs.
    """

    primitive: Any
    params: Mapping[str, Any]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    loop: WhileLoop | None = None

    @property
    def name(self) -> str:
        """The operation's."""
        return self.primitive.name

    def computed(self, operands: Sequence[Any], **changed: object) -> list[Any]:
        """Return the results, of operands that may be other ones, with some parameters changed."""
        given = {**self.params, **changed}
        found = self.primitive.get_bind_params(given)
        # older releases of JAX give functions among the parameters apart from the others
        functions, params = found if isinstance(found, tuple) else ((), found)
        results = self.primitive.bind(*functions, *operands, **params)
        return list(results) if self.primitive.multiple_results else [results]


@dataclass(frozen=True)
class Program:
    """A traced program.

    Attributes
    ----------
    inputs, outputs
        Values.
    constants
        Arrays that the trace brought along.
    equations
        In an order in which they can run.
    """

    inputs: tuple[Value, ...]
    constants: Mapping[Value, Any]
    equations: tuple[Equation, ...]
    outputs: tuple[Value, ...]


def program_of(traced: Any, loops: Mapping[str, WhileLoop]) -> Program:
    """Return what JAX traced, with the loops of these names as equations."""
    jaxpr = traced.jaxpr
    known: dict[Any, Value] = {}
    inputs = tuple(_value(known, variable) for variable in jaxpr.invars)
    constants = {
        _value(known, variable): array
        for variable, array in zip(jaxpr.constvars, traced.consts, strict=True)
    }
    equations: list[Equation] = []
    outputs = _unpack(jaxpr, known, loops, equations)
    return Program(inputs, constants, _read_ones(equations, outputs), outputs)


def _read_ones(equations: Sequence[Equation], outputs: Sequence[Value]) -> tuple[Equation, ...]:
    """Return the equations of which something is read."""
    read, found = set(outputs), []
    for equation in reversed(equations):
        if not read.isdisjoint(equation.outputs):
            read.update(equation.inputs)
            found.append(equation)
    return tuple(reversed(found))


def _unpack(
    jaxpr: Any, known: dict[Any, Value], loops: Mapping[str, WhileLoop], found: list[Equation]
) -> tuple[Value, ...]:
    """Add the equations of a function's body; return its outputs."""
    for equation in jaxpr.eqns:
        inputs = tuple(_value(known, x) for x in equation.invars)
        called = equation.params.get("jaxpr") if equation.primitive.name in CALLS else None
        loop = loops.get(equation.params.get("name", ""))
        if called is None or loop is not None:
            outputs = tuple(_value(known, x) for x in equation.outvars)
            found.append(Equation(equation.primitive, equation.params, inputs, outputs, loop))
            continue
        # a function that is called twice has the same variables in both
        inner = dict(zip(called.jaxpr.invars, inputs, strict=True))
        constants = zip(called.jaxpr.constvars, called.consts, strict=True)
        inner.update((x, Value(x.aval.shape, x.aval.dtype, array)) for x, array in constants)
        made = _unpack(called.jaxpr, inner, loops, found)
        known.update(zip(equation.outvars, made, strict=True))
    return tuple(_value(known, x) for x in jaxpr.outvars)


# How JAX names a call of a function that it compiles.
CALLS = ("jit", "pjit")


def _value(known: dict[Any, Value], variable: Any) -> Value:
    from jax.extend.core import Literal

    aval = variable.aval
    if isinstance(variable, Literal):
        return Value(aval.shape, aval.dtype, variable.val)
    if variable not in known:
        known[variable] = Value(aval.shape, aval.dtype)
    return known[variable]


def readers_of(equations: Iterable[Equation]) -> dict[Value, list[Equation]]:
    """Return the equations that read each value."""
    found: dict[Value, list[Equation]] = {}
    for equation in equations:
        for value in dict.fromkeys(equation.inputs):
            found.setdefault(value, []).append(equation)
    return found
