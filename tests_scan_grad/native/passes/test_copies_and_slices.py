"""Copies and slices are a part of the pass over what is computed of them, and take no memory."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from tests_scan_grad.native.loops import compiled, native_mode, numbers, python_mode, same
from tests_scan_grad.native.passes.statements import kinds_of, segment_after_passes
from tests_scan_grad.native.runtime import runtime_calls
from theano.link.native import source

pytestmark = pytest.mark.usefixtures("any_work")


def bordered(x, y):
    """A matrix within a larger one."""
    larger = pt.zeros((x.shape[0] + 2, x.shape[1] + 2), dtype=x.dtype)
    return pt.set_subtensor(larger[1:-1, 1:-1], x) - y[0, 0]


# what is computed of two matrices, and the statements of its gradient by the first one
COPIES = {
    "rows joined": (lambda x, y: pt.concatenate([x, y], axis=0), ["map"]),
    "columns joined": (lambda x, y: pt.concatenate([y, x], axis=1), ["map"]),
    "three joined": (lambda x, y: pt.concatenate([y, x, y], axis=1), ["map"]),
    "computed, then joined": (lambda x, y: pt.concatenate([pt.tanh(x), y * x], axis=1), ["map"]),
    "stacked": (lambda x, y: pt.stack([x, y], axis=0), ["map"]),
    "pairs": (lambda x, y: pt.stack([y, x], axis=2), ["map"]),
    "tiles": (lambda x, y: pt.tile(x, (2, 2)), ["map"]),
    "many tiles": (lambda x, y: pt.tile(x, (11, 1)), ["map"]),
    "repeated rows": (lambda x, y: pt.repeat(x, 3, axis=0), ["map"]),
    "repeated columns": (lambda x, y: pt.repeat(x, 2, axis=1), ["map"]),
    "rolled": (lambda x, y: pt.roll(x, 1, axis=1), ["map", "map"]),
    "a row of a join": (lambda x, y: pt.concatenate([x, y], axis=0)[0] * y, None),
    "across a join": (lambda x, y: pt.concatenate([x, y], axis=0)[1:-1, ::-1], None),
    "joined, one turned": (lambda x, y: pt.concatenate([x[::-1], y], axis=0), None),
    "joined with a number": (lambda x, y: pt.concatenate([x, pt.zeros_like(y)], axis=1), None),
    "a border": (bordered, None),
    "tiles and others": (lambda x, y: pt.tile(x, (2, 1)) * pt.concatenate([y, -y], axis=0), None),
    "pairs and others": (
        lambda x, y: pt.repeat(x, 2, axis=1) - pt.repeat(x * y, 2, axis=1),
        ["map"],
    ),
    "largest of pairs": (lambda x, y: pt.stack([x, y * x], axis=2).max(axis=2), None),
    "sums of pairs": (lambda x, y: pt.stack([x, y * x, y], axis=2).sum(axis=2), None),
    "lower triangle": (lambda x, y: pt.tril(x) * y, None),
    "both read": (lambda x, y: pt.concatenate([x, y])[: x.shape[0]] * pt.exp(x * y), None),
}
SHAPES = (3, 5), (17, 33), (1, 1), (2, 1), (0, 3), (3, 0)


def by_python(inputs, outputs):
    """Return a function of the Python linker."""
    return pytensor.function(inputs, outputs, mode=python_mode(), on_unused_input="ignore")


def natively(inputs, outputs):
    """Return a function of the native engine, and its statements after all passes."""
    return segment_after_passes(
        lambda: pytensor.function(inputs, outputs, mode=native_mode(), on_unused_input="ignore")
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", COPIES)
def test_copies_and_their_gradients(name, dtype):
    build, statements = COPIES[name]
    x, y = (pt.matrix(name, dtype=dtype) for name in "xy")
    value = build(x, y)
    by_x = pt.grad((value**3).sum(), x)
    _, lines = natively([x, y], by_x)
    assert statements is None or kinds_of(lines) == statements, lines
    for outputs in ([by_x], [value], [value, by_x]):
        function, _ = natively([x, y], outputs)
        reference = by_python([x, y], outputs)
        for shape in SHAPES:
            values = [numbers(*shape, seed=seed, dtype=dtype) for seed in range(2)]
            values[0] = values[0][::-1]
            try:
                expected = reference(*values)
            except (IndexError, ValueError) as error:
                with pytest.raises(type(error)):
                    function(*values)
                continue
            for threads in (1, 2):
                runtime_calls.set_threads(threads)
                same(function(*values), expected)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("count", [2, 3, 7])
def test_what_lies_between_each_other_is_copied_in_one_pass(count, dtype):
    matrices = [pt.matrix(f"x{k}", dtype=dtype) for k in range(count)]
    parts = [matrices[0] * 3, *matrices[1:]]
    function, lines = natively(matrices, pt.stack(parts, axis=2))
    assert kinds_of(lines) == ["map"], lines
    for shape in SHAPES:
        values = [(10 * numbers(*shape, seed=seed)).astype(dtype) for seed in range(count)]
        expected = np.stack([values[0] * 3, *values[1:]], axis=2).astype(dtype)
        for threads in (1, 2):
            runtime_calls.set_threads(threads)
            np.testing.assert_array_equal(function(*values), expected)


def test_of_broadcast_operands():
    """Rows and columns that are joined and tiled, and are as they are along an axis."""
    x, row, column = pt.dmatrix("x"), pt.drow("row"), pt.dcol("column")
    joined = pt.concatenate([x * row, column + row], axis=0)
    outputs = [
        pt.tile(row, (3, 2)) * pt.tile(column, (3, 2))[:3, :1],
        pt.grad((joined**3).sum(), row),
        pt.grad((pt.tile(row + column, (2, 1)) ** 3).sum(), column),
    ]
    function, _ = natively([x, row, column], outputs)
    values = numbers(4, 5), numbers(1, 5), numbers(4, 1)
    same(function(*values), by_python([x, row, column], outputs)(*values))


def test_what_is_written_between_is_read_before():
    """A copy of what is increased afterwards is made."""
    x, y = pt.dmatrices("x", "y")
    joined = pt.concatenate([x * 2, y], axis=0)
    increased = pt.inc_subtensor(joined[1:], 1)
    outputs = [joined[: x.shape[0]] * 3, increased[: x.shape[0]] * 3, increased.sum(axis=0)]
    function, _ = natively([x, y], outputs)
    values = numbers(4, 5), numbers(3, 5, seed=1)
    same(function(*values), by_python([x, y], outputs)(*values))


def test_functions_are_not_computed_twice():
    """Slices that overlap, or that several read, are read from memory."""
    x = pt.dmatrix("x")
    raised = pt.exp(x)
    overlapping, lines = natively([x], raised[:, 1:] - raised[:, :-1])
    assert "".join(lines).count(" = exp(") == 1
    several, lines = natively([x], [raised[:, 1:] * 2, raised[:, 1:].sum(axis=1)])
    assert "".join(lines).count(" = exp(") == 1
    apart, lines = natively([x], raised[:, :3] * raised[:, 3:6])
    assert kinds_of(lines) == ["map"]
    values = numbers(7, 6)
    same([overlapping(values)], [np.diff(np.exp(values))])
    same(several(values), [2 * np.exp(values[:, 1:]), np.exp(values[:, 1:]).sum(axis=1)])
    same([apart(values)], [np.exp(values[:, :3]) * np.exp(values[:, 3:])])


@pytest.mark.parametrize("operation", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize(("shape", "axis"), [((3, 2), 1), ((2, 3), 0), ((2, 700, 3), (0, 2))])
def test_reductions_of_a_few_elements(operation, shape, axis):
    """They are maps; NaN stays what it is."""
    x = pt.tensor("x", dtype="float64", shape=(None, *shape))
    axes = tuple(1 + a for a in np.atleast_1d(axis))
    function, lines = natively([x], getattr(x * 2, operation)(axis=axes))
    assert kinds_of(lines) == ["map"], lines
    values = numbers(1000, *shape)
    values[3, 0], values[5, 1], values[7, 1] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        same([function(values)], [getattr(values * 2, operation)(axis=axes)])


def test_sums_in_another_precision():
    """Of two numbers they are the same in either one; of more they are not."""
    x = pt.ftensor3("x")
    for count, kinds in ((2, ["map"]), (3, ["reduce"])):
        given = pt.specify_shape(x, (None, None, count))
        function, lines = natively([x], given.sum(axis=2))
        assert kinds_of(lines) == kinds, lines
        values = numbers(300, 40, count, dtype="float32") * np.float32(1e8)
        values[..., -1] = -values[..., 0] * np.float32(0.99999)
        exact = values.astype("float64").sum(axis=2).astype("float32")
        np.testing.assert_array_equal(function(values), exact)


def test_what_is_repeated_of_numbers_that_are_none():
    """A sum of infinite numbers is infinite, and one of none is zero."""
    x = pt.dmatrix("x")
    function, _ = natively([x], pt.grad(pt.tile(pt.log(x), (2, 3)).sum(), x))
    with np.errstate(divide="ignore"):
        for values in ([[0.0, -0.0, np.nan, np.inf]], np.zeros((0, 3)), np.zeros((2, 0))):
            np.testing.assert_array_equal(function(values), 6 / np.asarray(values))


def test_conditions_of_elements_are_no_bytes():
    """A byte between a condition and what is chosen by it keeps gcc from making masks."""
    x = pt.fmatrix("x")
    function = compiled([x], pt.tril(x))
    segment = source(function)
    assert "unsigned char e" not in segment and "const int e" in segment
    values = numbers(33, 70, dtype="float32")
    same([function(values)], [np.tril(values)])
    # booleans that are stored is bytes
    truth = compiled([x], [pt.tril(x), pt.ge(pt.arange(x.shape[0])[:, None], x)])
    same(truth(values), [np.tril(values), np.arange(33)[:, None] >= values])
