"""Graphs as formulas: PyTensor's printer, with Theano 1.0's names for what has no formula."""

import pytensor.tensor  # noqa: F401  registers the formulas
from pytensor.graph.basic import NominalVariable, Variable
from pytensor.printing import (
    DefaultPrinter,
    LeafPrinter,
    PPrinter,
    Printer,
    PrinterState,
    constant_printer,
    default_printer,
    greek,
    set_precedence,
)
from pytensor.printing import pprint as pytensor_pprint
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import Sum

from theano.printing.names import function_name, use_formulas, variable_name
from theano.printing.vector_products import factors_of_vectors

__all__ = ["default_printer", "leaf_printer", "pp", "pprint"]


class TheanoLeafPrinter(LeafPrinter):
    """Writes a variable that is given by its name, its value or its type."""

    def process(self, output: Variable, pstate: PrinterState) -> str:
        if isinstance(output, NominalVariable):
            return f"i{output.id}"
        return greek.get(output.name or "", variable_name(output))


class TheanoDefaultPrinter(DefaultPrinter):
    """Writes an operation that has no formula by its name.

    An operation in place has the formula of the same one that is not.
    """

    def process(self, output: Variable, pstate: PrinterState) -> str:
        node = output.owner
        if node is None:
            return leaf_printer.process(output, pstate)
        if isinstance(node.op, Elemwise) and node.op.inplace_pattern:
            for op, formula in pstate.pprinter.printers_dict.items():
                if isinstance(op, Elemwise) and type(op.scalar_op) is type(node.op.scalar_op):
                    return formula.process(output, pstate)
        if output not in pstate.memo:
            with set_precedence(pstate):
                given = ", ".join(pstate.pprinter.process(v, pstate) for v in node.inputs)
            pstate.memo[output] = f"{function_name(node)}({given})"
        return pstate.memo[output]


class VectorProductPrinter(Printer):
    """Writes a product with a vector as one, and what else has a dimension dropped as ever."""

    def __init__(self, otherwise: Printer):
        self.otherwise = otherwise

    def process(self, output: Variable, pstate: PrinterState) -> str:
        factors = factors_of_vectors(output)
        if factors is None:
            return self.otherwise.process(output, pstate)
        if output not in pstate.memo:
            left, right = (pstate.pprinter.process(factor, pstate) for factor in factors)
            pstate.memo[output] = f"({left} \\dot {right})"
        return pstate.memo[output]


leaf_printer = TheanoLeafPrinter()


def _with_theanos_names(printer: PPrinter) -> PPrinter:
    replaced: dict[Printer, Printer] = {
        constant_printer: leaf_printer,
        default_printer: TheanoDefaultPrinter(),
    }
    copied = printer.clone()
    copied.printers = [(when, replaced.get(p, p)) for when, p in printer.printers]
    copied.printers_dict[DimShuffle] = VectorProductPrinter(printer.printers_dict[DimShuffle])
    # Theano writes it as it writes other reductions.
    del copied.printers_dict[Sum]
    return copied


pprint = _with_theanos_names(pytensor_pprint)
pp = pprint
use_formulas(pprint)
