"""A kind of statement, and an operation whose lowering appends it: all that they need is here."""

from __future__ import annotations

from dataclasses import dataclass

import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

from theano.link.native.ir.ir import View
from theano.link.native.ir.partitions import Partition, Share, Sharing
from theano.link.native.ir.sizes import Sizes
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.render.numbers_in_c import C_TYPES
from theano.link.native.render.registry import renders
from theano.link.native.render.writer import Writer
from theano.link.native.statements.base import AsFunction, Statement, Touch, Work

# so long that the time of a step shows it
NANOSECONDS = 77


class MirroredRows(Op):
    """Each row times the row opposite to it."""

    __props__ = ()

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * inputs[0][::-1]


@dataclass(eq=False)
class TimesMirrored(Statement):
    """``target[i, j] = source[i, j] * source[rows - 1 - i, j]``."""

    target: View
    source: View

    as_function = AsFunction.WHERE_IT_REPEATS
    may_fail = False

    def values_read(self) -> list[View]:
        return [self.source]

    def values_written(self) -> list[View]:
        return [self.target]

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        return sharing.by_columns(sizes, self.target.shape, self.target.dtype)

    def touches(self, share: Share | None) -> list[Touch]:
        columns = None if share is None else share.dimension
        return [Touch(self.source, columns), Touch(self.target, columns, True)]

    def nanoseconds(self) -> list[Work]:
        return [Work(NANOSECONDS, self.target.shape)]

    def operations(self) -> list[Work]:
        return [Work(1, self.target.shape)]


@renders(TimesMirrored)
def times_mirrored(statement: TimesMirrored, writer: Writer, share: Share | None) -> list[str]:
    x, y = writer.place(statement.source), writer.place(statement.target)
    rows, columns = writer.shape(statement.target)
    kind = C_TYPES[statement.target.dtype]
    first, end = ("0", columns) if share is None else (share.first, share.end)

    def element(pointer: str, place, row: str) -> str:
        return f"{pointer}[({row}) * {place.strides[0].text} + j * {place.strides[1].text}]"

    return [
        "{",
        f"const {kind} *const x = {x.pointer};",
        f"{kind} *const y = {y.pointer};",
        f"for (int64_t i = 0; i < {rows}; i++) {{",
        f"for (int64_t j = {first}; j < {end}; j++) {{",
        f"{element('y', y, 'i')} = {element('x', x, 'i')} * {element('x', x, f'{rows} - 1 - i')};",
        "}",
        "}",
        "}",
    ]


@lowers(MirroredRows)
def mirrored_rows(step: Step, node, inputs):
    view = step.view(inputs[0])
    out = step.temporary(view.dtype, view.shape)
    step.append(TimesMirrored(View.of(out), view), out)
    return [View.of(out)]
