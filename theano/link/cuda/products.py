"""Products in a kernel: which operand a block keeps columns of, and how lanes share them."""

from __future__ import annotations

import numpy as np

from theano.link.cuda.fixed_sizes import FixedSizes
from theano.link.cuda.refusals import NoKernel
from theano.link.native.ir.ir import View
from theano.link.native.ir.layout import Place, Product, place_of
from theano.link.native.ir.partitions import Share
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.gemm import Gemm
from theano.support.data_classes import dataclass

# bytes of the left operand that a block reads at a time, and the most slices of a sum: as in kernel.inc
CHUNK_BYTES = 32768
MOST_SLICES = 64
_TILE = 4
# rows from which on tiles have twice as many rows, and of float32 columns
_LARGE = 32
# bytes that a lane loads at once, and how many loads it has on their way, as in kernel.inc
WIDE_BYTES = 16
LOADS = 8


@dataclass(frozen=True)
class Operand:
    """A matrix, or the transpose of one; where it lies is known when its buffer's memory is."""

    view: View
    sizes: Sizes
    transposed: bool = False

    @property
    def place(self) -> Place:
        return place_of(self.view, self.sizes)

    @property
    def rows(self) -> Product:
        """The stride from row to row."""
        return self.place.strides[1 if self.transposed else 0]

    @property
    def columns(self) -> Product:
        """The stride from column to column."""
        return self.place.strides[0 if self.transposed else 1]


@dataclass(frozen=True)
class BlockProduct:
    """``out = left @ right`` of which a block computes a range of columns.

    Attributes
    ----------
    m, n, k
        The rows, the columns that a block has at most, and the length of the sums.
    kept
        Whether the block keeps its columns of the right operand for all steps.
    """

    statement: Gemm
    left: Operand
    right: Operand
    out: Operand
    share: Share | None
    m: int
    n: int
    k: int
    kept: bool

    @property
    def dtype(self) -> str:
        return self.statement.out.dtype

    @property
    def itemsize(self) -> int:
        return np.dtype(self.dtype).itemsize

    def is_wide(self, fixed: FixedSizes, row_elements: int | None) -> bool:
        """Return whether rows of the left operand can be loaded 16 bytes at a time.

        Parameters
        ----------
        row_elements
            How many elements a row of the operand's array has, if it lies in one.
        """
        count, left = WIDE_BYTES // self.itemsize, self.left
        apart = [fixed.fold(one.size) for one in (left.rows, *left.place.offsets)]
        apart += [self.k, row_elements or 0]
        even = all(isinstance(one, int) and one % count == 0 for one in apart)
        return even and fixed.fold(left.columns.size) == 1

    def joins(self, other: BlockProduct) -> bool:
        """Return whether both can be computed while the left operand is read once."""
        mine, theirs = self.left, other.left
        same = (self.share, self.m, self.n, self.k, self.dtype, mine.place, mine.rows, mine.columns)
        adds = self.statement.accumulate or other.statement.accumulate
        return (
            self.kept
            and other.kept
            and not adds
            and same
            == (
                *(other.share, other.m, other.n, other.k, other.dtype),
                *(theirs.place, theirs.rows, theirs.columns),
            )
        )


@dataclass(frozen=True, eq=False)
class ProductGroup:
    """Products of one left operand, which a block reads once for all of them."""

    products: tuple[BlockProduct, ...]

    @property
    def first(self) -> BlockProduct:
        return self.products[0]

    @property
    def kept_bytes(self) -> int:
        """The bytes of the columns that a block keeps, whose length is odd so that banks differ."""
        one = self.first
        return len(self.products) * one.n * (one.k | 1) * one.itemsize if one.kept else 0

    def scratch_bytes(self, lanes: int) -> int:
        """Return the bytes of rows of the left operand and of partial sums."""
        one, columns = self.first, len(self.products) * self.first.n
        chunk = min(max(CHUNK_BYTES // one.itemsize // one.m // 4 * 4, 4), one.k)
        partial = self.slices(lanes) | 1
        return (one.m * chunk + one.m * columns * partial) * one.itemsize

    def slices(self, lanes: int) -> int:
        """Return of how many slices each sum is made."""
        one, columns = self.first, len(self.products) * self.first.n
        large = one.m >= _LARGE
        down = 2 * _TILE if large else min(one.m, _TILE)
        across = min(columns, _TILE)
        if large and columns >= 2 * _TILE and one.itemsize == 4:
            across = 2 * _TILE
        tiles = -(-one.m // down) * -(-columns // across)
        return max(min(lanes // tiles, MOST_SLICES, one.k), 1)


def block_product(
    statement: Gemm, share: Share | None, fixed: FixedSizes, widest: dict[str, int]
) -> BlockProduct:
    """Return a product as a block computes it; of one column, the transpose of it.

    Raises
    ------
    NoKernel
        If there is nothing to compute.
    """
    sizes = fixed.sizes
    left, right, out = (Operand(v, sizes) for v in (statement.a, statement.b, statement.out))
    rows, columns = fixed.shape(statement.out.shape)
    k = fixed.number(sizes.find(statement.a.shape[1]))
    if columns == 1 and (share is None or share.dimension == 0):
        left, right, out = (Operand(one.view, sizes, True) for one in (right, left, out))
        rows, columns = 1, rows
    n = columns if share is None else widest[share.first]
    if 0 in (rows, columns, k):
        raise NoKernel("a product of arrays without elements")
    kept = right.view.buffer.root().role == "invariant"
    return BlockProduct(statement, left, right, out, share, rows, n, k, kept)
