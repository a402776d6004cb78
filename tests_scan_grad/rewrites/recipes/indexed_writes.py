"""Writes to parts of arrays."""

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import grad

from tests_scan_grad.rewrites.making import ANY, Maker, recipe

FAMILY = "parts of arrays, written"
NUMBERS = ("float64", "float32", "int64", "int8", "complex128")


def write(m: Maker):
    """Set or increment."""
    return pt.set_subtensor if m.chance() else pt.inc_subtensor


def rows(m: Maker, n: int, count=None):
    """Row numbers, constant or not, of which some may be the same."""
    count = m.one_of(0, 1, 2, 3) if count is None else count
    drawn = m.rng.integers(-n, n, count)
    drawn = m.one_of(drawn, np.unique(drawn), drawn % n)
    if m.chance():
        return drawn
    return m.array(drawn.shape, "int64", among=lambda s: drawn)


@recipe(FAMILY, "local_useless_inc_subtensor", "zeros_written_whole")
def write_to_all(m: Maker):
    x = m.array(2, NUMBERS)
    n, k = m.values[x].shape
    value = m.one_of(lambda: m.same(x), lambda: m.beside(x), lambda: m.scalar(x.type.dtype))()
    base = m.one_of(x, pt.zeros_like(x), pt.zeros((n, k), dtype=x.type.dtype))
    part = m.one_of(slice(None), slice(None, None, -1), slice(0, n), slice(None, x.shape[0]))
    return write(m)(base[part, m.one_of(slice(None), slice(None, None, -1))], value)


@recipe(FAMILY, "local_incsubtensor_of_zeros")
def nothing_added_to_a_part(m: Maker):
    x = m.array((3, 2), NUMBERS)
    index = m.one_of(m.index(x), (rows(m, 3),), (rows(m, 3, 2), rows(m, 2, 2)))
    zero = np.zeros((), dtype=m.one_of("int8", x.type.dtype))
    return pt.inc_subtensor(x[index], zero)


@recipe(FAMILY, "local_incsubtensor_of_zeros_to_setsubtensor")
def part_of_zeros_increased(m: Maker):
    x = m.array(2, NUMBERS)
    zeros = m.one_of(pt.zeros_like(x), pt.zeros(m.values[x].shape, dtype=x.type.dtype))
    return pt.inc_subtensor(zeros[m.index(x)], m.scalar(x.type.dtype))


@recipe(FAMILY, "local_setsubtensor_of_constants")
def part_set_to_what_it_was(m: Maker):
    x = m.array((3, 2), NUMBERS)
    filled = pt.alloc(m.scalar(x.type.dtype), 3, 2)
    base = m.one_of(m.constant(x), filled, pt.zeros((3, 2), dtype=x.type.dtype))
    index = m.one_of((0,), (slice(0, 2),), (slice(None), 1))
    other = m.one_of(base, m.constant(x))
    return pt.set_subtensor(base[index], other[index])


@recipe(FAMILY, "local_write_of_write_same_indices")
def same_part_written_twice(m: Maker):
    x = m.array((m.one_of(1, 3), 2), NUMBERS)
    index = m.index(x)
    values = [m.scalar(m.one_of("int8", x.type.dtype)) for _ in range(2)]
    return write(m)(write(m)(x[index], values[0])[index], values[1])


@recipe(FAMILY, "local_write_of_write_same_indices")
def same_rows_written_twice(m: Maker):
    x = m.array((3, 2), NUMBERS)
    base = m.one_of(x, pt.zeros_like(x))
    places = rows(m, 3)
    index = m.one_of((places,), (slice(None), rows(m, 2)), (places, 0))
    shapes = m.one_of([(1,), (1,)], [(), ()], [(), (1,)])
    values = [m.array(s, m.one_of("int8", x.type.dtype), known=True) for s in shapes]
    return write(m)(write(m)(base[index], values[0])[index], values[1])


@recipe(FAMILY, "local_useless_inc_subtensor_alloc")
def filled_value_written(m: Maker):
    x = m.array((3, m.one_of(1, 2)), NUMBERS)
    value = m.array(m.one_of((), (1,)), x.type.dtype, known=True)
    index = m.one_of(m.index(x), (rows(m, 3, 2),), (rows(m, 3, 1), rows(m, 2, 2) % 1))
    part = x[index]
    lengths = list(part.shape) if m.chance(0.8) else [m.one_of(1, 2) for _ in range(part.ndim)]
    if part.ndim < value.ndim or part.ndim == 0:
        return write(m)(part, value.sum().astype(x.type.dtype))
    return write(m)(part, pt.alloc(value, *lengths))


@recipe(FAMILY, "local_set_to_inc_subtensor")
def rows_set_to_themselves_and_more(m: Maker):
    x = m.array((3, 2), ("float64", "float32", "int64"))
    places = rows(m, 3, m.one_of(1, 2))
    other = m.array((1, 2), x.type.dtype, known=True)
    return pt.set_subtensor(x[places], m.one_of(x[places] + other, other + x[places]))


@recipe(FAMILY, "increments_in_turn")
def gradient_of_several_parts(m: Maker):
    x = m.array((3, 2))
    first, second = m.one_of(0, 1, slice(0, 2)), m.one_of(0, 2, -1, slice(None, None, -1))
    cost = (x[first] ** 2).sum() + (x[second] ** 3).sum() + m.one_of(0, x.sum(), (x[0, 1] * 3))
    return grad(cost, x)


@recipe(FAMILY, "increments_in_turn")
def sum_of_increments(m: Maker):
    x = m.array((2, 2), ("float64", "float32"))
    y = m.beside(x, ("float64", "float32"))
    zeros = pt.zeros_like(x)
    terms = [pt.inc_subtensor(base[k], m.scalar("float32")) for k, base in enumerate((x, zeros))]
    if m.chance():
        terms.append(y)
    if m.chance():
        terms.append(pt.inc_subtensor(y[:1], m.scalar("float32")))
    if m.chance():
        # which is added to all rows
        row = m.array((1, 2), x.type.dtype, known=True)
        terms.append(pt.inc_subtensor(row[0], m.scalar("float32")))
    return pt.add(*terms)


@recipe(FAMILY, "sum_with_write")
def sum_with_zeros_that_hold_a_part(m: Maker):
    x = m.array((3, m.one_of(1, 2)), ("float64", "float32", "int64"))
    y = m.beside(x, ("float64", "float32", "int64"))
    lengths = m.values[x].shape
    dtype = m.one_of("float64", "int64", x.type.dtype)
    zeros = m.one_of(
        pt.zeros_like(x), pt.zeros(lengths, dtype=dtype), pt.zeros((1, lengths[1]), dtype=dtype)
    )
    index = m.one_of((0,), (slice(0, 2),), (rows(m, 3),), (rows(m, 3, 2), rows(m, 2, 2) % 1))
    value = m.scalar(m.one_of("int8", zeros.type.dtype))
    return pt.add(*m.one_of([y], [y, x], [x[0], y]), write(m)(zeros[index], value))


@recipe(FAMILY, "sum_with_write")
def gradient_of_a_mean_and_of_rows(m: Maker):
    x = m.array((3, m.one_of(1, 2)))
    axis = m.one_of(0, 1, None)
    part = m.one_of(x[0], x[:, 0], x[rows(m, 3)], x[::-1][:1])
    return grad((x.mean(axis) ** 2).sum() + (part**3).sum(), x)


@recipe(FAMILY, "joined_parts")
def gradient_of_slices_side_by_side(m: Maker):
    x = m.array((m.one_of(1, 2), m.one_of(4, 5, 6)))
    width, count = m.one_of(1, 2, 3), m.one_of(2, 3)
    axis = m.one_of(0, 1)
    turned = x.T if axis == 0 else x
    parts = [turned[:, k * width : (k + 1) * width] for k in range(count)]
    if m.chance():
        parts.append(turned[:, count * width :])
    return grad(sum((part ** (k + 2)).sum() for k, part in enumerate(parts)) + (x * 3).sum(), x)


@recipe(FAMILY, "joined_parts")
def sum_of_parts_of_zeros(m: Maker):
    x = m.array((2, 5), ("float64", "float32", "int64"))
    zeros = m.one_of(pt.zeros_like(x), pt.zeros((2, 5), dtype=x.type.dtype))
    terms = []
    for bounds in m.one_of(
        ((0, 2), (2, 5)), ((3, 9), (0, 2)), ((1, 3), (2, 5)), ((0, 1), (3, None))
    ):
        part = zeros[:, slice(*bounds)]
        value = m.one_of(x[:, slice(*bounds)], m.scalar(x.type.dtype))
        terms.append(write(m)(part, value))
    return pt.add(*terms, *m.one_of([], [x], [x, x]))


@recipe(FAMILY)
def sum_with_a_diagonal_matrix(m: Maker):
    d = m.array((m.one_of(1, 2, 3),))
    n = m.values[d].shape[0]
    return pt.diag(d) + m.array(m.one_of((n, n), (n,), (1, n)), known=True)


@recipe(FAMILY, "local_inplace_AdvancedIncSubtensor1", "local_inplace_AdvancedIncSubtensor")
def rows_written_that_are_read_too(m: Maker):
    x = m.array((3, 2), NUMBERS)
    y = x * 2
    index = m.one_of((rows(m, 3),), (rows(m, 3, 2), rows(m, 2, 2)), (slice(None), rows(m, 2)))
    written = write(m)(y[index], m.scalar(x.type.dtype))
    return [written, y] if m.chance() else [written, y.sum(0), write(m)(y[0], 7)]


@recipe(FAMILY, "parts_in_place", "local_inplace_setsubtensor")
def parts_written_that_are_read_too(m: Maker):
    x = m.array((3, 2), ANY)
    y = x.copy() if m.chance() else pt.switch(x, x, x)
    view = m.one_of(y.T, y[::-1], y.reshape((2, 3)), y)
    written = pt.set_subtensor(view[m.one_of(0, -1)], m.scalar("bool"))
    return [written, *m.one_of([], [y], [view[0]], [y.sum(0)])]


@recipe(FAMILY, "local_blockwise_inc_subtensor")
def writes_in_a_stack(m: Maker):
    x, v = m.array((2, 3)), m.array((m.one_of(1, 2),))
    place = m.one_of(0, -1, slice(1, None), [0, 2], [0, 0])
    core_x, core_v = pt.vector(dtype=x.type.dtype), pt.scalar(dtype=v.type.dtype)
    if v.type.dtype == "float64":
        x = x.astype("float64")
        core_x = pt.dvector()
    core = write(m)(core_x[place], core_v)
    return vectorized(core, {core_x: x, core_v: v})


@recipe(FAMILY, "local_blockwise_of_subtensor")
def reads_in_a_stack(m: Maker):
    x = m.array((2, 3))
    start = m.scalar("int64", among=lambda s: m.rng.integers(-4, 4))
    core = pt.vector(dtype=x.type.dtype)
    return vectorized(core[m.one_of(slice(start, None), slice(None, start, -1), start)], {core: x})


def vectorized(core, given):
    """A graph of a core, done for each element of a stack."""
    from pytensor.graph.replace import vectorize_graph

    return vectorize_graph(core, given)
