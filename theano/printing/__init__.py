"""Theano 1.0's `theano.printing`: graphs as text and pictures, and values as they pass."""

from typing import Any

from pytensor.printing import (
    VALID_ASSOC,
    FunctionPrinter,
    IgnorePrinter,
    OperatorPrinter,
    PatternPrinter,
    PPrinter,
    Print,
    PrinterState,
    default_colorCodes,
    greek,
    special,
    use_ascii,
)

from theano.printing.descriptors import hex_digest, var_descriptor
from theano.printing.formulas import TheanoDefaultPrinter as DefaultPrinter
from theano.printing.formulas import TheanoLeafPrinter as LeafPrinter
from theano.printing.formulas import default_printer, leaf_printer, pp, pprint
from theano.printing.pictures import pydotprint, pydotprint_variables, why_no_pydot
from theano.printing.text import debugprint, min_informative_str, position_independent_str

__all__ = [
    "VALID_ASSOC",
    "DefaultPrinter",
    "FunctionPrinter",
    "IgnorePrinter",
    "LeafPrinter",
    "OperatorPrinter",
    "PPrinter",
    "PatternPrinter",
    "Print",
    "PrinterState",
    "debugprint",
    "default_colorCodes",
    "default_printer",
    "greek",
    "hex_digest",
    "leaf_printer",
    "min_informative_str",
    "position_independent_str",
    "pp",
    "pprint",
    "pydotprint",
    "pydotprint_variables",
    "special",
    "use_ascii",
    "var_descriptor",
]


def __getattr__(name: str) -> Any:
    # Tested only when needed: the test runs graphviz.
    if name == "pydot_imported":
        return not why_no_pydot()
    if name == "pydot_imported_msg":
        return why_no_pydot()
    raise AttributeError(f"module 'theano.printing' has no attribute {name!r}")
