"""Expressions of SymPy as operators on single numbers."""

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from pytensor.graph.basic import Constant, Variable
from pytensor.scalar.basic import ScalarOp, float32, float64, int64, second
from sympy.utilities.codegen import codegen, get_default_datatype  # type: ignore[import-untyped]

_TYPES = {"double": float64, "float": float32, "int": int64}

_numbers = itertools.count()


def _is_one(variable: Variable) -> bool:
    """Return whether a variable is the number one, as the gradient of a cost is."""
    while variable.owner is not None and variable.owner.op == second:
        variable = variable.owner.inputs[1]
    return isinstance(variable, Constant) and bool(variable.data == 1)


class SymPyCCode(ScalarOp):
    """An operator that runs the C code that SymPy writes for an expression.

    Parameters
    ----------
    inputs : sequence of sympy.Symbol
        In the order of the operator's inputs.
    expr : sympy.Expr
    name : str, optional
        Of the C function.

    Examples
    --------
    >>> import sympy
    >>> from theano.scalar.basic import floats
    >>> from theano.scalar.basic_sympy import SymPyCCode
    >>> a, b = sympy.symbols("a b")
    >>> x, y = floats("xy")
    >>> float(SymPyCCode([a, b], a + b)(x, y).eval({x: 1.0, y: 2.0}))
    3.0
    """

    def __init__(self, inputs: Sequence[Any], expr: object, name: str | None = None):
        self.inputs = tuple(inputs)
        self.expr = expr
        self.name = name or f"sympy_func_{next(_numbers)}"
        self.nin, self.nout = len(self.inputs), 1

    def _properties(self) -> tuple:
        return type(self), self.name, self.inputs, self.expr

    def __eq__(self, other):
        return type(self) is type(other) and self._properties() == other._properties()

    def __hash__(self):
        return hash(self._properties())

    def __str__(self):
        return f"{type(self).__name__}{{{self.expr}}}"

    def output_types(self, types):
        return [_TYPES[get_default_datatype(self.expr).cname]]

    def impl(self, *values):
        return self.expr.subs(dict(zip(self.inputs, values, strict=True)))

    def perform(self, node, inputs, output_storage):
        value = self.impl(*(float(value) for value in inputs))
        output_storage[0][0] = node.outputs[0].type.filter(float(value), allow_downcast=True)

    @cached_property
    def _lines(self) -> list[str]:
        (_, code), _header = codegen(
            (self.name, self.expr),
            "C",
            "project_name",
            header=False,
            argument_sequence=self.inputs,
        )
        return [line for line in code.splitlines() if "project_name.h" not in line]

    def c_headers(self, **kwargs):
        return [line.replace("#include", "").strip() for line in self._lines if "#include" in line]

    def c_support_code(self, **kwargs):
        return "\n".join(line for line in self._lines if "#include" not in line)

    def c_code(self, node, name, inputs, outputs, sub):
        return f"{outputs[0]} = {self.name}({', '.join(inputs)});"

    def pullback(self, inputs, outputs, output_grads):
        """Return the derivatives, which SymPy finds, times the output's."""
        (of_output,) = output_grads
        derivatives = [
            SymPyCCode(self.inputs, self.expr.diff(symbol), f"{self.name}_grad_{number}")(*inputs)
            for number, symbol in enumerate(self.inputs)
        ]
        return [d if _is_one(of_output) else d * of_output for d in derivatives]
