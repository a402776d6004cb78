"""How two numbers become one where many are accumulated, and sums of neighbouring columns, row by row.

Sums are calls of functions that are compiled once for all uses. What is written where it is done is
compiled there each time, and vectorized with what surrounds it.
"""

from __future__ import annotations

from theano.link.native.ir.layout import Product

ACCUMULATE = {
    "add": "{0} + {1}",
    "multiply": "{0} * {1}",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "exclusive or": "{0} ^ {1}",
    "multiply without zeros": "{0} == 0 ? {1} : {1} == 0 ? {0} : {0} * {1}",
    "maximum": "({0} != {0} || {0} > {1}) ? {0} : {1}",
    "minimum": "({0} != {0} || {0} < {1}) ? {0} : {1}",
}

# By the types of the sums and of what is added up: how the functions of prelude.inc end.
_SUFFIXES = {
    ("double", "double"): "f64_f64",
    ("double", "float"): "f64_f32",
    ("float", "float"): "f32_f32",
}
_EACH = "for (int64_t k = 0; k < many; k++)"


def cleared(operation: str, neutral: str) -> str:
    """The line with which sums of many columns begin."""
    if operation == "add":
        return "__builtin_memset(sums, 0, many * sizeof *sums);"
    return f"{_EACH} sums[k] = {neutral};"


def added_row(
    operation: str, sums: tuple[str, str], row: tuple[str, str], stride: Product
) -> str | None:
    """The line that adds a row to sums; None where there is no function for it.

    Parameters
    ----------
    sums, row
        The type in C, and the pointer.
    stride
        That of the row's elements.
    """
    suffix = _SUFFIXES.get((sums[0], row[0]))
    if operation != "add" or suffix is None or stride != Product(1):
        return None
    return f"tn_add_row_{suffix}({sums[1]}, {row[1]}, many);"


def stored_row(sums: tuple[str, str], row: tuple[str, str], stride: Product) -> str | None:
    """The line that stores sums in a row; None where there is no function for it."""
    suffix = _SUFFIXES.get((sums[0], row[0]))
    if suffix is None or stride != Product(1):
        return None
    return f"tn_store_row_{suffix}({row[1]}, {sums[1]}, many);"
