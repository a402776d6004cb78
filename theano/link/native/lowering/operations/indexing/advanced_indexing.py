"""Elements gathered by arrays of indices, and updates of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytensor.tensor.subtensor import AdvancedIncSubtensor, AdvancedSubtensor

from theano.link.native.ir.ir import CannotLower, Scalar, Size, Value, View
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.operations.indexing.columns_by_index import (
    columns_by_constant,
    take_columns,
    update_columns,
)
from theano.link.native.lowering.operations.indexing.indexing import (
    add_to_rows,
    aligned,
    indexed,
    take,
)
from theano.link.native.lowering.operations.indexing.masks import (
    is_mask,
    operation_of_update,
    positions,
    same_sizes,
    the_only_mask,
    update_where,
)
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Work
from theano.link.native.statements.costs import MOVE
from theano.link.native.statements.kernel import Kernel
from theano.link.native.statements.rows_by_index import OUT_OF_RANGE
from theano.link.native.statements.tasks import IndexedElements, IndexedGather, IndexedScatter
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class IndexedView:
    """The elements that arrays of indices select from a view that basic indices were applied to before.

    Attributes
    ----------
    axes
        The dimensions of the view that have an array, or a number, of indices.
    common
        The shape that the arrays of indices have together.
    first
        The dimension of the result where those of the arrays begin.
    """

    view: View
    axes: tuple[int, ...]
    arrays: tuple[View | Scalar, ...]
    common: tuple[Size, ...]
    first: int

    @property
    def others(self) -> list[int]:
        return [d for d in range(self.view.ndim) if d not in self.axes]

    @property
    def shape(self) -> tuple[Size, ...]:
        kept = [self.view.shape[d] for d in self.others]
        return (*kept[: self.first], *self.common, *kept[self.first :])

    @property
    def gathered(self) -> IndexedElements:
        """Return which elements these are, whatever the array."""
        dtypes = (None if isinstance(one, Scalar) else one.dtype for one in self.arrays)
        return IndexedElements(
            self.view.ndim, self.axes, tuple(dtypes), len(self.common), self.first
        )

    @property
    def numbers(self) -> list[Size]:
        return [array.signed for array in self.arrays if isinstance(array, Scalar)]

    @property
    def operands(self) -> list[View]:
        return [array for array in self.arrays if isinstance(array, View)]


@lowers(AdvancedSubtensor)
def gather(step: Step, node, inputs: list[Value]) -> list[Value]:
    value, *given = inputs
    rows = _rows_by_vector(step, value, node.op.idx_list, given, node.inputs[1:])
    if rows is not None:
        return take(step, node, [value, rows])
    columns = columns_by_constant(step, value.shape, node.op.idx_list, node.inputs[1:])
    if columns is not None:
        return [take_columns(step, step.view(value), columns)]
    gathered = gathered_from(step, step.view(value), node.op.idx_list, given, node.inputs[1:])
    out = step.temporary(value.dtype, gathered.shape)
    result = View.of(out)

    reads, takes = [gathered.view, *gathered.operands], [Work(MOVE, gathered.shape)]
    task = IndexedGather(gathered.gathered)
    step.append(Kernel([result], reads, task, gathered.numbers, OUT_OF_RANGE, takes=takes), out)
    return [result if result.ndim else step.load(result)]


@lowers(AdvancedIncSubtensor)
def update(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return a copy, selected elements of which are set, or increased once for each time they are named."""
    value, change, *given = inputs
    where = the_only_mask(node.op.idx_list, node.inputs[2:])
    if where is not None:
        return update_where(step, node, inputs, where)
    if node.op.ignore_duplicates and not node.op.set_instead_of_inc:
        raise CannotLower("increments that count repeated indices once")
    rows = _rows_by_vector(step, value, node.op.idx_list, given, node.inputs[2:])
    if rows is not None:
        return add_to_rows(step, node, [value, change, rows])
    buffer = step.copied(value)
    columns = columns_by_constant(step, buffer.shape, node.op.idx_list, node.inputs[2:])
    if columns is not None and value.dtype != "bool":
        return [update_columns(step, node, buffer, change, columns)]
    gathered = gathered_from(step, View.of(buffer), node.op.idx_list, given, node.inputs[2:])
    ndim = len(gathered.shape)
    like = View(buffer, gathered.shape, (None,) * ndim, (0,) * ndim, (0,) * len(buffer.shape))
    source = aligned(step, cast(step, change, value.dtype), node.inputs[1], like)
    task = IndexedScatter(gathered.gathered, operation_of_update(node.op, value.dtype))

    # the source comes last among the arrays, or first among the numbers
    if isinstance(source, View):
        reads, numbers = [gathered.view, *gathered.operands, source], gathered.numbers
    else:
        reads, numbers = [gathered.view, *gathered.operands], [source.symbol, *gathered.numbers]

    takes = [Work(MOVE, gathered.shape)]
    kernel = Kernel(
        [gathered.view], reads, task, numbers, OUT_OF_RANGE, checks_apart=True, takes=takes
    )
    step.append(kernel, buffer)
    return [View.of(buffer)]


def _rows_by_vector(
    step: Step, value: Value, idx_list, given: list[Value], variables
) -> Value | None:
    """Return the positions of rows, where a vector of indices or a mask of one dimension names them."""
    if idx_list != (0,) or variables[0].type.ndim != 1:
        return None
    if not is_mask(variables[0]):
        return given[0]
    return _of_mask(step, given[0], variables[0], value.shape)[0]


def _of_mask(step: Step, mask: Value, variable, shape: Sequence[Size]) -> list[View]:
    """Return the positions that a mask stands for, in dimensions of these sizes."""
    same_sizes(step, mask, shape)
    return positions(step, mask, variable)


def _arrays(
    step: Step, view: View, idx_list, given: list[Value], variables
) -> Iterator[tuple[slice, Value | None, Sequence[bool]]]:
    """For each dimension its basic index, its array of indices, and which of its sizes are 1."""
    axis = 0
    for entry in idx_list:
        if isinstance(entry, slice):
            found: list[tuple[slice, Value | None, Sequence[bool]]] = [(entry, None, ())]
        elif is_mask(variables[entry]):
            shape, mask = view.shape[axis:], variables[entry]
            found = [
                (slice(None), each, (each.shape[0] == 1,))
                for each in _of_mask(step, given[entry], mask, shape)
            ]
        else:
            found = [(slice(None), given[entry], variables[entry].type.broadcastable)]
        yield from found
        axis += len(found)


def gathered_from(step: Step, view: View, idx_list, given: list[Value], variables) -> IndexedView:
    """Return what indices of these values select; the variables say which of their sizes are known as 1."""
    entries = list(_arrays(step, view, idx_list, given, variables))
    basic = tuple(index for index, _, _ in entries)
    axes = tuple(d for d, (_, value, _) in enumerate(entries) if value is not None)
    values = [value for _, value, _ in entries if value is not None]
    flags = [known for _, value, known in entries if value is not None]
    ndim = max(value.ndim for value in values)
    common: list[Size] = [1] * ndim
    for value, known in zip(values, flags, strict=True):
        for d in range(1, value.ndim + 1):
            if not known[-d]:
                size = value.shape[-d]
                one = common[-d] == 1
                common[-d] = size if one else step.sizes.equal(common[-d], size, "sizes of indices")
    shape = tuple(common)
    arrays = tuple(
        value if isinstance(value, Scalar) else _stretched(step.view(value), shape, known)
        for value, known in zip(values, flags, strict=True)
    )
    consecutive = axes == tuple(range(axes[0], axes[0] + len(axes)))
    first = axes[0] if consecutive else 0
    return IndexedView(indexed(step, view, basic, given), axes, arrays, shape, first)


def _stretched(view: View, shape: tuple[Size, ...], flags) -> View:
    lead = len(shape) - view.ndim
    axes = [None if known else axis for axis, known in zip(view.axes, flags, strict=True)]
    return View(view.buffer, shape, (*[None] * lead, *axes), (*[0] * lead, *view.steps), view.start)
