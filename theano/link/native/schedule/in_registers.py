"""Few rows of elements, accumulated in vectors of neighbouring results as the elements are computed.

A result of a step is often one of what is computed of a matrix and a vector: the best of all ways to a
state, or the sum of their probabilities. Its elements need no memory then, and no function is called for each of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.ir import Scalar
from theano.link.native.ir.loop_nests import (
    Apply,
    Assign,
    For,
    Form,
    Kind,
    Let,
    Local,
    Node,
    Store,
    named,
)
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.symbolic import Size, sum_of

# elements that lie in the second cache, where it matters little that a vector's next row is far
IN_REGISTERS = 16384


def in_registers(
    rows: tuple[str, Size, Size],
    columns: tuple[Size, Size],
    pointers: Sequence[Node],
    row: tuple[list[Node], list[Node]],
    reduced: tuple[str, bool],
    accumulation: tuple[Expression, Scalar],
    target: Size,
) -> list[Node]:
    """Return the loop over columns in lanes, and in it that over rows.

    Parameters
    ----------
    rows, columns
        The index of the rows, where they begin and end; where columns do.
    pointers
        Those to where a row begins.
    row
        What is the same for all lanes of a row, and what is computed and stored in lanes.
    reduced
        The pointer by which the elements that are accumulated would be stored, and whether they are.
    accumulation
        How two numbers become one, and what it begins with.
    target
        How far from ``y`` the results begin.
    """
    before, body = row
    pointer, is_materialized = reduced
    both, first = accumulation
    lets = [one for one in body if isinstance(one, Let)]
    stores = [one for one in body if isinstance(one, Store)]
    (element,) = (one.value for one in stores if one.pointer == pointer)
    if not is_materialized:
        stores = [one for one in stores if one.pointer != pointer]
    total, more = Local("total", both.dtype), Local("more", both.dtype)
    lets.append(Let(more.name, more.dtype, Apply(both, (total, element))))
    index, begin, end = rows
    accumulated = (*pointers, *before, *lets, *stores, Assign(total.name, more))
    lanes = (
        Let(total.name, total.dtype, first, Kind.VECTOR, variable=True),
        For(index, begin, end, accumulated),
        Store("y", sum_of(target, named("i")), total),
    )
    return [For("i", *columns, lanes, form=Form.LANES, dtype=both.dtype)]
