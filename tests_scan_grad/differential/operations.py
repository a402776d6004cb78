"""All that a step can do: how it is written for Theano, and what it computes.

Each operation says of which kinds and dtypes its operands may be, by the value it results in, or
None. ``build`` writes it with Theano; ``run`` computes it, of `Dual` arrays.
"""

from __future__ import annotations

from tests_scan_grad.differential.floating_operations import FLOATING
from tests_scan_grad.differential.number_operations import ELEMENTWISE
from tests_scan_grad.differential.operation import Operation
from tests_scan_grad.differential.part_operations import PARTS
from tests_scan_grad.differential.product_operations import PRODUCTS, REDUCTIONS

OPERATIONS: dict[str, Operation] = {
    **FLOATING,
    **ELEMENTWISE,
    **PRODUCTS,
    **REDUCTIONS,
    **PARTS,
}
