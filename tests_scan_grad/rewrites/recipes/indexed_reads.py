"""Reads of parts of arrays."""

import functools

import numpy as np
import pytensor.tensor as pt

from tests_scan_grad.rewrites.making import ANY, FLOATS, INTEGERS, Maker, recipe

FAMILY = "parts of arrays, read"


def read(m: Maker, variable, lengths, axes=None):
    """A read of a variable of known lengths, some out of range."""
    count = int(m.rng.integers(1, len(lengths) + 1)) if axes is None else axes
    index = tuple(m.place(n) if m.chance(0.3) else m.part(n) for n in lengths[:count])
    return variable[index]


@recipe(FAMILY, "local_useless_slice", "local_useless_subtensor")
def slice_that_may_take_all(m: Maker):
    x = m.array(2, ANY)
    n, _ = m.values[x].shape
    stops = (None, n, n + 1, -n - 1, x.shape[0], x.shape[0] + 1, pt.minimum(x.shape[0], 2))
    return x[m.one_of(None, 0, -n, -n - 1) : m.one_of(*stops) : m.one_of(None, 1, -1)]


@recipe(FAMILY, "local_subtensor_merge_slice", "local_subtensor_merge_element")
def part_of_a_part(m: Maker):
    x = m.array((m.one_of(0, 1, 2, 4, 5), 3), ANY)
    part = x[m.part(m.values[x].shape[0])]
    return part[m.part(3)] if m.chance(0.7) else part[m.place(3)]


@recipe(FAMILY, "local_subtensor_merge_slice", "local_convert_negative_indices")
def parts_of_parts_of_both_axes(m: Maker):
    x = m.array(2, ANY)
    return read(m, x[m.part(3), m.part(3)], (2, 2))


@recipe(FAMILY, "local_convert_negative_indices")
def place_counted_from_the_end(m: Maker):
    x = m.array((m.one_of(0, 1, 3), 2), ANY, known=[m.chance(), True])
    return x[-int(m.rng.integers(1, 4)), -int(m.rng.integers(1, 3))]


@recipe(FAMILY, "local_subtensor_remove_broadcastable_index")
def read_of_an_axis_of_length_one(m: Maker):
    x = m.array((m.one_of(1, 2), 1), ANY, known=[m.chance(), True])
    return pt.atleast_1d(x[m.part(2), m.one_of(0, -1, slice(None), slice(0, 1), slice(None, 1))])[
        None
    ]


@recipe(FAMILY, "local_subtensor_remove_broadcastable_index")
def place_in_a_new_axis(m: Maker):
    x = m.array(1, ANY)
    return x[:, None, None][m.part(3), m.one_of(0, -1), m.one_of(0, -1, slice(None))]


@recipe(FAMILY, "local_subtensor_of_batch_dims")
def part_of_element_wise_work(m: Maker):
    x = m.array(2, ("float64", "float32", "int64", "int8"))
    y = m.beside(x)
    work = m.one_of(lambda: pt.exp(x), lambda: x + y, lambda: pt.switch(x > 0, x, y), lambda: y * 2)
    return read(m, work(), m.values[x].shape)


@recipe(FAMILY, "local_subtensor_of_batch_dims")
def advanced_part_of_element_wise_work(m: Maker):
    x = m.array((3, m.one_of(1, 2)), ("float64", "int64"))
    y = m.beside(x)
    least = -4 if m.chance(0.2) else -3
    rows = m.array(1, "int64", among=lambda s: m.rng.integers(least, 3, s))
    mask = m.array((3,), "bool")
    index = m.one_of(rows, mask, (rows, m.one_of(0, -1)), (slice(None), [0, 0]), ([0, 2], [0, 0]))
    return (x + y)[index]


@recipe(FAMILY, "local_adv_idx_to_slice")
def rows_at_places_in_order(m: Maker):
    x = m.array((m.one_of(2, 3), 2), ("float64", "int64"))
    index = m.one_of([0, 1], [1, 0], [0, 2], [2, 1, 0], [1, 2, 3], [-2, -1], [-1, 0], pt.arange(2))
    return (x * 2)[index]


@recipe(FAMILY, "local_subtensor_of_batch_dims")
def part_of_products_of_stacks(m: Maker):
    x, y = m.array((m.one_of(1, 2, 3), 2, 3)), m.array((m.one_of(1, 2, 3), 3, 2))
    x, y = (v if m.chance() else v[:1] for v in (x, y))
    return pt.matmul(x, y)[m.one_of(0, -1, slice(1, None), slice(None, None, -1))]


@recipe(FAMILY, "local_subtensor_of_dot")
def part_of_a_product(m: Maker):
    n, k, p = m.lengths(3)
    x = m.array((n, k), ("float64", "int8"))
    y = m.array((k, p), m.one_of("float64", x.type.dtype))
    return read(m, pt.dot(x, y), (n, p))


@recipe(FAMILY, "local_advanced_subtensor_of_dot")
def places_of_a_product(m: Maker):
    n, k, p = m.lengths(3)
    x = m.array((n, k), ("float64", "float32", "int8"))
    y = m.array((k, p), m.one_of("float64", x.type.dtype))
    product = pt.dot(x, y)
    rows, columns = (
        m.array((count,), "int64", among=lambda s, n=n: m.rng.integers(-n - 1, n + 1, s))
        for n, count in ((n, 2), (p, 2))
    )
    return m.one_of(
        lambda: product[rows],
        lambda: product[:, columns],
        lambda: product[rows, columns],
        lambda: product[[0, -1]],
        lambda: product[rows[:, None], columns],
        lambda: pt.diag(product),
        lambda: [product[rows], product + 1],
    )()


@recipe(FAMILY, "local_subtensor_of_dot")
def part_of_a_product_with_a_vector(m: Maker):
    n, k = m.lengths(2)
    x, y = m.array((n, k)), m.array((k,))
    return [pt.dot(x, y)[m.part(n)], pt.dot(y, m.array((k, n)))[m.part(n)]]


@recipe(FAMILY, "local_subtensor_of_reduce")
def part_of_a_sum(m: Maker):
    x = m.array((*m.lengths(2), m.one_of(1, 2)), ("float64", "int8", "bool"))
    axis = m.one_of(0, 1, 2, (0, 1), (1, 2), (0, 2))
    reduce = m.one_of(pt.sum, pt.prod, pt.any, pt.all)
    if reduce in (pt.sum, pt.prod) and x.dtype != "bool":
        reduce = functools.partial(reduce, dtype=m.one_of(None, x.dtype, "float32"))
    rest = [n for a, n in enumerate(m.values[x].shape) if a not in np.atleast_1d(axis)]
    return read(m, reduce(x, axis=axis), rest)


@recipe(FAMILY, "local_subtensor_of_reduce")
def part_of_a_maximum(m: Maker):
    x = m.array((*m.lengths(1, (1, 2)), m.one_of(1, 2, 3)), ("float64", "int8"))
    reduce, axis = m.one_of(pt.max, pt.min), m.one_of(0, 1)
    return read(m, reduce(x, axis=axis), [m.values[x].shape[1 - axis]])


@recipe(FAMILY, "local_subtensor_of_softmax")
def part_of_a_softmax(m: Maker):
    x = m.array((m.one_of(1, 2, 3), m.one_of(1, 2, 3)))
    softmax = m.one_of(pt.special.softmax, pt.special.log_softmax)
    return read(m, softmax(x, axis=m.one_of(0, 1, None)), m.values[x].shape)


@recipe(FAMILY, "local_subtensor_of_expand_dims")
def part_of_new_axes(m: Maker):
    x = m.array(2, ANY)
    n, k = m.values[x].shape
    made = m.one_of(lambda: (x[None], (1, n, k)), lambda: (x[:, None], (n, 1, k)))
    variable, lengths = made()
    return read(m, variable, lengths)


@recipe(FAMILY, "local_subtensor_of_squeeze")
def part_without_axes_of_length_one(m: Maker):
    n, k = m.lengths(2)
    x = m.array((n, 1, k), ANY, known=[m.chance(), True, m.chance()])
    return read(m, x.squeeze(1), (n, k))


@recipe(FAMILY, "local_subtensor_of_transpose")
def part_of_a_transpose(m: Maker):
    n, k, p = m.lengths(3)
    x = m.array((n, k, p), ANY)
    return read(m, x.transpose(2, 0, 1), (p, n, k))


@recipe(FAMILY, "local_subtensor_of_transpose")
def advanced_part_of_a_transpose(m: Maker):
    x = m.array((3, 2), ANY)
    return x.T[m.one_of([0, 1, -1], (slice(None), [2, 0]), ([0, 1], [1, 2]), (0, [1, 1]))]


@recipe(FAMILY, "local_subtensor_of_alloc", "local_merge_alloc")
def part_of_a_filled_array(m: Maker):
    n, k = m.lengths(2)
    x = m.array((m.one_of(1, k),), ANY, known=[True])
    length = m.one_of(n, m.scalar("int64", among=lambda s: n))
    return read(m, pt.alloc(x, length, k), (n, k))


@recipe(FAMILY, "local_subtensor_of_alloc")
def advanced_part_of_a_filled_array(m: Maker):
    x = m.array((m.one_of(1, 3),), ANY, known=[True])
    filled = pt.alloc(x, 2, 3)
    return filled[m.one_of([0, 1, 1], ([0, 1], [2, 2]), (slice(None), [0, -1]), ([[0, -1]],))]


@recipe(FAMILY, "local_subtensor_SpecifyShape_lift")
def part_of_an_array_of_a_told_shape(m: Maker):
    n, k = m.lengths(2)
    x = m.array((n, k), ANY, known=False)
    told = [length if m.chance(0.8) else length + 1 for length in (n, k)]
    told[m.one_of(0, 1)] = m.one_of(None, told[0]) if m.chance() else told[1]
    return read(m, pt.specify_shape(x, told), (n, k))


@recipe(FAMILY, "local_subtensor_make_vector", "local_useless_dimshuffle_makevector")
def part_of_numbers_stacked(m: Maker):
    numbers = [m.scalar(("float64", "int64", "int8")) for _ in range(m.one_of(1, 2, 3))]
    vector = pt.stack(numbers)
    return m.one_of(
        lambda: vector[m.part(3)],
        lambda: vector[m.place(2)],
        lambda: vector[m.one_of([0], [0, -1, 0], [])],
        lambda: vector[pt.constant(np.array(0, dtype=m.one_of("uint8", "int64")))],
        lambda: pt.stack([numbers[0]]).dimshuffle(()),
    )()


@recipe(FAMILY, "local_subtensor_of_join")
def part_of_joined_arrays(m: Maker):
    n, k, p = m.lengths(3)
    x, y = m.array((n, k), ("float64", "int8")), m.array((p, k), ("float64", "float32"))
    joined = pt.join(0, x, y, m.array((1, k)))
    if m.chance():
        joined, lengths = joined.T, (k, n + p + 1)
    else:
        lengths = (n + p + 1, k)
    return read(m, joined, lengths)


@recipe(FAMILY, "local_subtensor_of_join")
def place_in_stacked_arrays(m: Maker):
    x = m.array(2, ("float64", "int8"))
    y = m.same(x, ("float64", "int64"))
    axis = m.one_of(0, 1, 2)
    return pt.stack([x, y, x], axis=axis)[(slice(None),) * axis + (m.place(3, known=True),)]


@recipe(FAMILY, "local_subtensor_shape_constant")
def place_in_a_shape(m: Maker):
    x = m.array(3, ANY)
    return [x.shape[m.one_of(0, 2, -1)], x.shape[m.part(3)], pt.shape(x[None])[0]]


@recipe(FAMILY, "local_useless_AdvancedSubtensor1", "local_replace_AdvancedSubtensor")
def rows_by_number(m: Maker):
    x = m.array((m.one_of(1, 3), 2), ANY)
    n = m.values[x].shape[0]
    rows = m.array(1, INTEGERS, among=lambda s: m.rng.integers(0, 4, s))
    every = pt.arange(m.one_of(n, x.shape[0], n + 1))
    return x[m.one_of(every, every[::-1], rows, pt.constant(np.arange(n)), np.arange(n)[:, None])]


@recipe(FAMILY, "local_replace_AdvancedSubtensor")
def rows_by_masks_and_matrices(m: Maker):
    x = m.array((3, 2, m.one_of(0, 2)), ANY)
    mask = m.array((m.one_of(2, 3),), "bool", known=[False])
    matrix = m.array(2, "int64", among=lambda s: m.rng.integers(-2, 2, s))
    places = m.array((m.one_of(1, 2),), "int8", among=lambda s: m.rng.integers(-2, 2, s))
    return x[
        m.one_of(
            mask,
            (slice(None), mask),
            matrix,
            (slice(None), matrix),
            (slice(None), places),
            (places, places),
            (places, slice(None), places),
            (0, places),
            (slice(0, 2), 0, places),
            (places, None, mask[:2]),
        )
    ]


@recipe(FAMILY, "local_adv_idx_to_diagonal")
def diagonal_by_number(m: Maker):
    n, k = m.one_of((3, 3), (2, 3), (3, 2), (1, 1))
    x = m.array((n, k), ANY, known=m.chance(0.7))
    length = m.one_of(1, 2, 3, min(n, k))
    row, column = m.one_of(0, 0, 1), m.one_of(0, 0, 1, 2)
    return x[np.arange(length) + row, np.arange(length) + column]


@recipe(FAMILY, "local_adv_idx_to_diagonal")
def diagonal_by_places_of_its_length(m: Maker):
    n, k = m.lengths(2)
    x = m.array((n, k, 2), ANY)
    length = m.one_of(x.shape[0], x.shape[1], pt.minimum(x.shape[0], x.shape[1]))
    places = pt.arange(length)
    return m.one_of(
        lambda: x[places, places], lambda: x[places, places, 0], lambda: x[:, places, places]
    )()


@recipe(FAMILY, "row_of_length_one")
def slice_of_one_whose_axis_is_dropped(m: Maker):
    n = m.one_of(1, 2, 4)
    x = m.array((n, 2), ANY, known=[True, m.chance()])
    parts = [p for p in (m.part(n, known=True) for _ in range(60)) if _takes_one(p, n)]
    row = x[parts[0] if parts else slice(0, 1)]
    return row.dimshuffle(1) if row.type.shape[0] == 1 else row.sum(0)


def _takes_one(part, n):
    return len(range(n)[part]) == 1


@recipe(FAMILY, "local_join_subtensors")
def neighbours_joined(m: Maker):
    x = m.array((m.one_of(0, 1, 2, 5), 2), ANY)
    cuts = (0, 1, 2, 3, -1, -2, None)
    middle, step = m.one_of(*cuts), m.one_of(None, 1, 2, -1)
    first = slice(m.one_of(*cuts), middle, step)
    second = slice(middle if m.chance(0.8) else m.one_of(*cuts), m.one_of(*cuts), step)
    if m.chance(0.2):
        return pt.join(1, x[:, first], x[:, second])
    return pt.join(0, x[first], x[second])


@recipe(FAMILY, "rows_read_back")
def what_was_written_is_read(m: Maker):
    x = m.array((m.one_of(0, 1, 3), 2), ("float64", "int64"))
    index = m.index(x)
    value = m.scalar(m.one_of("float64" if "f" in x.type.dtype else "int8", "int8"))
    write = pt.set_subtensor if m.chance() else pt.inc_subtensor
    return write(x[index], value)[index]


@recipe(FAMILY, "rows_read_back")
def what_was_written_to_rows_is_read(m: Maker):
    x = m.array((3, 2), ("float64", "float32", "int64"))
    least = -4 if m.chance(0.2) else -3
    rows = m.array(1, "int64", among=lambda s: m.rng.integers(least, 3, s))
    value = m.array((*m.one_of((), (1,)), m.one_of(1, 2)), "int8", known=True)
    write = pt.set_subtensor if m.chance() else pt.inc_subtensor
    return write(x[rows], value)[rows]


@recipe(FAMILY, "local_advanced_read_of_write_constant_indices")
def other_rows_than_written_are_read(m: Maker):
    x = m.array((4, 3), ("float64", "float32", "int64"), known=m.chance())

    def places(count, n):
        drawn = m.rng.integers(-n if m.chance(0.3) else 0, n, count)
        return m.one_of(np.unique(drawn), drawn, drawn % n)

    written, asked = places(m.one_of(1, 2, 3), 4), places(m.one_of(1, 2, 4), 4)
    if m.chance(0.3):
        columns = places(1, 3)
        value = m.array((m.one_of(1, len(written)),), "int8", known=True)
        base, then = x[written, columns], (asked, places(1, 3))
    else:
        value = m.array((m.one_of(1, len(written)), m.one_of(1, 3)), "int8", known=True)
        base, then = x[written], (asked,)
    write = pt.set_subtensor if m.chance() else pt.inc_subtensor
    result = write(base, value)
    return result[m.part(4)] if m.chance(0.4) else result[then]


@recipe(FAMILY)
def parts_of_what_was_written_by_number(m: Maker):
    n = m.one_of(3, 4)
    x = m.array((n, 2), FLOATS[1:], known=[True, m.chance()])
    rows = np.unique(m.rng.integers(0, n, m.one_of(1, 2, 3)))
    write = pt.set_subtensor if m.chance() else pt.inc_subtensor
    return write(x[rows], m.scalar("float32"))[m.part(n)]
