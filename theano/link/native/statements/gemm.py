"""Products of matrices."""

from __future__ import annotations

from theano.data_classes import dataclass
from theano.link.native.ir.ir import CannotLower, View
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.ir.sharing import Rectangle, Share, Sharing, Way
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Size
from theano.link.native.statements.base import AsFunction, Statement, Touch, Work
from theano.link.native.statements.costs import MULTIPLY_ADD
from theano.link.native.text.writer import Writer


@dataclass(eq=False)
class Gemm(Statement):
    """``out = a @ b`` for matrices; ``packed`` is the position of b among the packed operands."""

    a: View
    b: View
    out: View
    packed: int | None = None

    as_function = AsFunction.NEVER
    leaves_work = True
    may_fail = False

    def values_read(self) -> list[View]:
        return [self.a, self.b]

    def values_written(self) -> list[View]:
        return [self.out]

    def sizes_that_agree(self) -> list[tuple[Size, Size]]:
        (rows, columns), inner = self.out.shape, self.a.shape[1]
        return [(self.a.shape[0], rows), (self.b.shape[1], columns), (self.b.shape[0], inner)]

    def packed_operand(self) -> int | None:
        return self.packed

    def free_views(self) -> list[View]:
        return [self.a, self.b]

    def way(self, sharing: Sharing, sizes: Sizes) -> Way:
        if sizes.find(self.out.shape[1]) == 1:
            return sharing.share(0, sizes.find(self.out.shape[0]), "1")
        rows, columns = map(sizes.find, self.out.shape)
        if self.packed is None:
            # how it is computed depends on how many rows there are
            return sharing.share(1, columns, SUFFIX[self.out.dtype])
        return sharing.columns(rows, columns, SUFFIX[self.out.dtype])

    def touches(self, share: Share | None) -> list[Touch]:
        d = None if share is None else share.dimension
        rows, columns = (0, None) if d == 0 else (None, d)
        return [Touch(self.a, rows), Touch(self.b, columns), Touch(self.out, d, True)]

    def nanoseconds(self) -> list[Work]:
        return [Work(MULTIPLY_ADD[self.out.dtype], (*self.out.shape, self.a.shape[1]))]

    def operations(self) -> list[Work]:
        return [Work(2, (*self.out.shape, self.a.shape[1]))]

    def described(self) -> str:
        return "product" + ("" if self.packed is None else " with a packed matrix")

    def lines(self, writer: Writer, share: Share | None) -> list[str]:
        a, b, out = self.a, self.b, self.out
        rows, inner, columns = (str(writer.size(n)) for n in (*a.shape, b.shape[1]))
        suffix = SUFFIX[out.dtype]
        a_place, out_place = writer.place(a), writer.place(out)
        if out_place.strides[1].text not in ("1", "0") and out.shape[1] != 1:
            raise CannotLower("a product whose result is not stored in rows")
        first_of_a, (row_of_a, column_of_a) = a_place.pointer, (s.text for s in a_place.strides)
        c, c_stride = out_place.pointer, out_place.strides[0].text
        by_rows = share is not None and share.dimension == 0
        if share is not None and by_rows:
            first_of_a = f"{first_of_a} + {share.first} * ({row_of_a})"
            c, rows = f"{c} + {share.first} * ({c_stride})", f"{share.end} - {share.first}"
        elif isinstance(share, Rectangle):
            first_of_a = f"{first_of_a} + {share.top} * ({row_of_a})"
            c, rows = f"{c} + {share.top} * ({c_stride})", f"{share.bottom} - {share.top}"
        left = f"{first_of_a}, {row_of_a}, {column_of_a}"
        if self.packed is not None:
            # of one column, there is one panel
            panels = "0, 1" if by_rows else f"packed{self.packed}_first, packed{self.packed}_end"
            return [
                f"runtime->gemm_packed_{suffix}({rows}, {columns}, {inner}, {left}, "
                f"packed{self.packed}, 0, {c}, {c_stride}, {panels});"
            ]
        b_place = writer.place(b)
        row, column = (stride.text for stride in b_place.strides)
        right, mine = b_place.pointer, columns
        if share is not None and not by_rows:
            right, c = f"{right} + {share.first} * ({column})", f"{c} + {share.first}"
            mine = f"{share.end} - {share.first}"
        return [
            f"runtime->gemm_{suffix}({rows}, {mine}, {inner}, {left}, "
            f"{right}, {row}, {column}, {c}, {c_stride});"
        ]
