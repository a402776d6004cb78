"""Every operation on arrays that the engine has code for agrees with its own ``perform``."""

from __future__ import annotations

import sys

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.ops import ViewOp
from pytensor.raise_op import Assert, CheckAndRaise
from pytensor.scalar.basic import and_, or_, xor
from pytensor.tensor.elemwise import CAReduce
from pytensor.tensor.extra_ops import CumOp, Unique
from pytensor.tensor.math import Argmax, ProdWithoutZeros

from tests_scan_grad.native.lowering.evaluations import (
    difference,
    native_function,
    native_loop,
    python_function,
    reference,
)
from tests_scan_grad.native.lowering.lowering_checks import check, numbers, of
from theano.compile.rebroadcast import Rebroadcast


def check_unary(build, *shapes, dtype="float64") -> None:
    x = pt.tensor(dtype=dtype, shape=(None,) * len(shapes[0]))
    check([x], build(x), *([numbers(*shape, dtype=dtype)] for shape in shapes))


REDUCTIONS = {
    "sum": lambda x, axis: pt.sum(x, axis=axis),
    "prod": lambda x, axis: pt.prod(x, axis=axis),
    "prod without zeros": lambda x, axis: ProdWithoutZeros(axis and (axis,))(x),
    "max": lambda x, axis: pt.max(x, axis=axis),
    "min": lambda x, axis: pt.min(x, axis=axis),
    "argmax": lambda x, axis: pt.argmax(x, axis=axis),
    "argmin": lambda x, axis: pt.argmin(x, axis=axis),
    "any": lambda x, axis: pt.any(x > 0, axis=axis),
    "all": lambda x, axis: pt.all(x > 0, axis=axis),
    "mean": lambda x, axis: pt.mean(x, axis=axis),
    "var": lambda x, axis: pt.var(x, axis=axis),
    "logsumexp": lambda x, axis: pt.logsumexp(x, axis=axis),
    "softmax": lambda x, axis: pt.special.softmax(x, axis=axis),
    "log softmax": lambda x, axis: pt.special.log_softmax(x, axis=axis),
    "sum in float64": lambda x, axis: pt.sum(x, axis=axis, acc_dtype="float64"),
}
# the rewrite of PyTensor for logsumexp of int8 does not end
FOR_FLOATS = {"softmax", "log softmax", "logsumexp"}
WITHOUT_ELEMENTS = {"sum", "prod", "any", "all", "sum in float64"}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "uint8", "bool"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, dtype):
    if dtype not in ("float32", "float64") and name in FOR_FLOATS:
        pytest.skip("for floating-point numbers")
    if name == "argmin" and dtype in ("bool", "uint8"):
        pytest.skip("argmin is argmax of the negative")
    if name == "sum in float64" and dtype not in ("float32", "float64"):
        pytest.skip("an accumulator of another kind")
    if name == "prod without zeros" and not dtype.startswith("float"):
        pytest.skip("perform computes with Python integers of any size")
    x = of(None, None, None, dtype=dtype)
    outputs = [REDUCTIONS[name](x, axis) for axis in (None, 0, 1, 2, -1)]
    if name not in ("prod without zeros", "argmin", "argmax"):
        outputs.append(REDUCTIONS[name](x, (0, 2)))
    calls = [[numbers(2, 3, 4, dtype=dtype)], [numbers(1, 5, 1, dtype=dtype)]]
    if name in WITHOUT_ELEMENTS:
        calls.append([numbers(2, 0, 3, dtype=dtype)])
    check([x], outputs, *calls)


@pytest.mark.parametrize("name", ["sum", "max", "min", "argmax", "prod"])
def test_reductions_of_what_is_not_a_number(name):
    x = of(None, None)
    value = numbers(4, 5)
    value[1, 2], value[2, 3], value[2, 4], value[3, 0] = np.nan, np.inf, np.nan, -np.inf
    check([x], [REDUCTIONS[name](x, axis) for axis in (None, 0, 1)], [value])


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "bool"])
def test_bitwise_reductions(dtype):
    x = of(None, None, dtype=dtype)
    kinds = [CAReduce(op, axis=axis) for op in (and_, or_, xor) for axis in ((0,), (1,))]
    check([x], [kind(x) for kind in kinds], [numbers(3, 4, dtype=dtype)])


def test_argmax_over_two_axes():
    x = of(None, None, None)
    check([x], [Argmax((0, 2))(x), Argmax((1, 2))(x)], [numbers(3, 4, 2)])


UNARY = {
    "transpose": lambda x: [x.T, x.dimshuffle(1, "x", 0)],
    "reshape": lambda x: [x.reshape((-1,)), x.T.reshape((x.shape[1] * x.shape[0], 1))],
    "flatten of a part": lambda x: [x[1:, ::2].flatten(), x[::-1].reshape((1, -1))],
    "join and split of dimensions": lambda x: [
        pt.join_dims(x, 0),
        pt.split_dims(x, (1, x.shape[0]), axis=0),
        pt.join_dims(x, 1, 0),
    ],
    "parts": lambda x: [x[0], x[-1, 1:], x[:, -2], x[1:-1], x[::-2, ::-1], x[5:], x[-2:1:-1]],
    "parts by sizes": lambda x: [x[: x.shape[1]], x[-x.shape[0] // 2 :], x[x.shape[0] - 2]],
    "sums of parts": lambda x: [x[1:] - x[:-1], x[:, [0]] * x[[0]] + x[0, 0]],
    "cumulative": lambda x: [
        CumOp(0, "add")(x),
        CumOp(1, "mul")(x),
        pt.cumsum(x),
        pt.cumsum(x[::-1].T, axis=0),
    ],
    "diagonals": lambda x: [
        pt.diagonal(x),
        pt.diagonal(x, 1),
        pt.diagonal(x.T, -1),
        pt.diagonal(x, 9),
        pt.diagonal(pt.stack([x, 2 * x]), axis1=1, axis2=2),
    ],
    "diagonal matrices": lambda x: [pt.diag(x[0]), pt.linalg.trace(x)],
    "repeats": lambda x: [
        pt.repeat(x, 3, axis=0),
        pt.repeat(x, 2),
        pt.repeat(x, 0, axis=1),
        pt.repeat(x[:2], [2, 1], axis=0),
        pt.tile(x, (2, 3)),
    ],
    "generated": lambda x: [
        pt.eye(3),
        pt.eye(x.shape[0], x.shape[1], 1),
        pt.eye(2, 4, -1, dtype="int8"),
        pt.arange(x.shape[0]),
        pt.arange(2, x.shape[0] * 3, 2),
        pt.arange(x.shape[0], -3, -2, dtype="float32"),
        pt.arange(0.0, 1.0, 0.3),
        pt.arange(5),
        x[pt.arange(x.shape[0])],
    ],
    "filled": lambda x: [
        pt.zeros((x.shape[1], 2)),
        pt.ones_like(x),
        pt.full((x.shape[0],), x[0, 0]),
        pt.alloc(x[0], 2, x.shape[1]),
        pt.second(x, 3.0),
    ],
    "joined": lambda x: [
        pt.concatenate([x, x[:1], 2 * x], axis=0),
        pt.concatenate([x[:, ::-1], x.T.T], axis=-1),
        pt.stack([x, -x], axis=1),
        pt.concatenate([x, pt.zeros((1, x.shape[1]))]),
        pt.stack([x.sum(), x[0, 0], pt.constant(2.0)]),
    ],
    "split": lambda x: [
        *pt.split(x, [1, x.shape[0] - 1], n_splits=2, axis=0),
        *pt.split(x.T, [1, 1, x.shape[0] - 2], n_splits=3, axis=1),
    ],
    "shapes": lambda x: [
        x.shape,
        x.shape[1],
        x.shape.prod(),
        x.shape * 2 + 1,
        pt.concatenate([x.shape, [3]]),
        x.shape[::-1],
        pt.as_tensor(x.shape).max(),
    ],
    "shapes of shapes": lambda x: [
        pt.zeros(x.shape * 2),
        x.reshape(x.shape[::-1]),
        x.reshape((x.shape.prod(),)),
        pt.set_subtensor(x.shape[0], 7),
        pt.inc_subtensor(x.shape[::-1][:1], x.shape[0]),
        pt.zeros(pt.set_subtensor(x.shape[:1], x.shape[1])),
        pt.stack([pt.split(x[0], [2, x.shape[1] - 2], n_splits=2)[1]] * 2),
    ],
    "updates": lambda x: [
        pt.set_subtensor(x[0], x[0, 0]),
        pt.inc_subtensor(x[:, ::2], x[:, ::2]),
        pt.set_subtensor(x[1:, -1], x[:-1, 0]),
        pt.inc_subtensor(x[x.shape[0] - 1], x[0]),
        pt.set_subtensor(x[::-1], x),
        pt.inc_subtensor(x[2:1], x[0, 0]),
    ],
    "norms": lambda x: [
        pt.linalg.norm(x),
        x.norm(1, axis=0),
        pt.std(x, axis=1),
        pt.ptp(x, axis=0),
    ],
    "views": lambda x: [
        ViewOp()(x + 1),
        pt.specify_shape(x, (None, None)),
        x.copy(),
        Rebroadcast((0, True))(x[:1]) * x,
        Rebroadcast((1, False))(x[:, [0]]) + 1,
    ],
    "broadcast": lambda x: [
        pt.broadcast_to(x[0], (3, x.shape[1])),
        *pt.broadcast_arrays(x, x[[0], :]),
    ],
    "rolled": lambda x: [pt.roll(x, 1, axis=0), pt.diff(x, axis=1)],
    "selected": lambda x: [
        x[[0, 2, 0]],
        x[:, [1, 1]],
        x[::2, ::-1][:, [2, -1, 0]],
        pt.stack([x, -x])[:, :, [1, 0]],
        x[[0, 1], [2, 0]],
        x[[[0], [1]], [0, 1, 2]],
        x[[0, -1]][:, [0, 2]],
        x[1:][[0, 1], ::-1],
        pt.stack([x, -x])[[0, 1], :, [2, 1]],
        pt.stack([x, -x])[:, [0, 1], [2, 1]],
    ],
    "selected and updated": lambda x: [
        pt.set_subtensor(x[[0, 2]], x[0]),
        pt.inc_subtensor(x[[0, 0, -1]], x[:3]),
        pt.inc_subtensor(x[[0, 0], [1, 1]], x[0, 0]),
        pt.set_subtensor(x[:, [1, 0]], x[:, :2]),
        pt.inc_subtensor(x[:, [1, -1, 1]], x[0, :3].dimshuffle("x", 0)),
        pt.set_subtensor(x.T[:, [0, -1]], 2.0),
        pt.inc_subtensor(x[pt.arange(3), [0, 1, 1]], x[0, :3]),
        pt.set_subtensor(x[[0, 1], :][:, [0, 1]], x[1, 1]),
    ],
}


@pytest.mark.parametrize("name", UNARY)
def test_operations_on_a_matrix(name):
    check_unary(UNARY[name], (4, 5), (3, 3), (6, 4))


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "bool"])
@pytest.mark.parametrize(
    "name",
    ["reshape", "parts", "joined", "updates", "selected", "selected and updated", "diagonals"],
)
def test_operations_on_a_matrix_of_another_type(name, dtype):
    x = of(None, None, dtype=dtype)
    try:
        outputs = UNARY[name](x)
    except TypeError:
        pytest.skip("not for this type")
    check([x], outputs, [numbers(4, 5, dtype=dtype)])


@pytest.mark.parametrize("name", ["reshape", "cumulative", "sums of parts", "norms", "repeats"])
def test_operations_without_elements(name):
    x = of(None, None)
    outputs = [] if name == "reshape" else UNARY[name](x)[:1]
    if name == "reshape":
        outputs = [x.reshape((x.shape[1], x.shape[0]))]
    check([x], outputs, [numbers(0, 3)], [numbers(3, 0)], [numbers(0, 0)])


def test_picks_of_a_classifier_and_their_gradient():
    scores, labels = of(None, None), of(None, dtype="int64")
    likelihood = pt.special.log_softmax(scores, axis=1)[pt.arange(labels.shape[0]), labels]
    outputs = [likelihood, pytensor.grad(-likelihood.mean(), scores)]
    check([scores, labels], outputs, [numbers(3, 5), np.array([0, 4, 2])])


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "int64", "uint64"])
def test_an_index_out_of_range(dtype):
    x, k = of(None, None), pt.vector("k", dtype=dtype)
    native = native_loop([x, k], [x[k], x[k, 0], x[k[0]], pt.inc_subtensor(x[0, k], 1.0)])
    python = python_function([x, k], [x[k], x[k, 0], x[k[0]], pt.inc_subtensor(x[0, k], 1.0)])
    good = [numbers(4, 4), np.array([0, 3], dtype)]
    for ours, theirs in zip(native(*good), python(*good), strict=True):
        assert difference(ours, theirs) is None
    for bad in [[4, 0], [0, 4], *([] if dtype.startswith("u") else [[-5, 0]])]:
        with pytest.raises(IndexError, match="out of"):
            native(good[0], np.array(bad, dtype))
    assert difference(native(*good)[0], python(*good)[0]) is None


def test_indices_that_are_numbers_of_the_step():
    x, k = of(None, None, None), pt.lscalar("k")
    parts = [x[k], x[:, k], x[1:, 0, k], x[::-1, k], x[k, k, k], x[:, :, ::-1][:, k, k]]
    updates = [pt.set_subtensor(x[:, k], 1.0), pt.inc_subtensor(x[1:, k, 1:], x[1:, 0, 1:])]
    values = [[numbers(3, 4, 3), np.int64(j)] for j in (0, 2, -1, -3)]
    check([x, k], [*parts, *updates], *values)


def test_assertions():
    x, k = of(None), pt.lscalar("k")
    positive = Assert("a positive number, please")(2 * x, k > 0)
    odd = CheckAndRaise(OverflowError, "an odd number, please")(3 * x, pt.eq(k % 2, 1))
    native = native_loop([x, k], [positive, odd])
    assert native(numbers(3), np.int64(1))[0].shape == (3,)
    with pytest.raises(AssertionError, match="a positive number, please"):
        native(numbers(3), np.int64(-1))
    with pytest.raises(OverflowError, match="an odd number, please"):
        native(numbers(3), np.int64(2))
    assert native(numbers(3), np.int64(3))[1].shape == (3,)


def test_operations_that_are_graphs():
    x, y = pt.dmatrix("x"), pt.dvector("y")
    inner = OpFromGraph([x, y], [x * y + np.arange(3.0), x.sum(axis=0) - 2.0])
    a, b = of(None, None), of(None)
    check([a, b], inner(pt.tanh(a), b), [numbers(2, 3), numbers(3)])


@pytest.mark.parametrize(
    "mode", ["constant", "edge", "mean", "linear_ramp", "reflect", "symmetric", "wrap"]
)
def test_sizes_that_constants_inside_a_graph_give(mode):
    """The widths lie in a table inside the operation, from which its sizes are computed."""
    x = of(None, None)
    widths = [(1, 0), (0, 2)]
    padded = pt.pad(x, widths, mode=mode)
    native = native_function([x], [padded, pytensor.grad(padded.sum(), x)])
    for value in numbers(3, 4), numbers(5, 3):
        found, gradient = native(value)
        np.testing.assert_allclose(found, np.pad(value, widths, mode=mode))
        if mode in ("reflect", "symmetric", "wrap"):
            change = 1e-6 * numbers(*value.shape)
            above, below = (native(value + k * change)[0].sum() for k in (1, -1))
            np.testing.assert_allclose((gradient * change).sum(), (above - below) / 2, rtol=1e-6)
        elif mode != "edge" or sys.version_info >= (3, 12):
            # PyTensor 3.0 gives the gradient of edges that are repeated another shape
            np.testing.assert_allclose((gradient * value).sum(), found.sum())


def test_loops_on_numbers():
    """Derivatives of the incomplete gamma and beta functions by their parameters are such loops."""
    a, x, b = of(None), of(None), pt.dscalar("b")
    outputs = [
        pytensor.grad(pt.gammainc(a, x).sum(), a),
        pytensor.grad(pt.gammaincc(b, x[0]), b),
        *pytensor.grad(pt.betainc(a, b, pt.sigmoid(x)).sum(), [a, b]),
    ]
    check([a, x, b], outputs, [np.array([0.5, 3.0]), np.array([0.1, 4.0]), 2.5])
    empty = pytensor.grad(pt.gammainc(a, x).sum(), a)
    assert native_function([a, x], [empty])(np.empty(0), np.empty(0))[0].shape == (0,)


def test_all_kinds_of_operands_of_an_element_wise_operation():
    x, row, one = of(None, None), pt.drow("row"), pt.dscalar("one")
    outputs = [
        x * row + one,
        pt.switch(x > one, row, pt.ones_like(x)),
        x.T[::2] - row[0, 1] * row.T[::2],
        pt.exp(one) * row,
        pt.stack([one, one + 1, one * 2]) * 2 + x[:3, 0],
        pt.sigmoid(one) + pt.softplus(one),
    ]
    check([x, row, one], outputs, [numbers(3, 4), numbers(1, 4), numbers()[()]])


def test_functions_of_numbers_only():
    one = pt.dscalar("one")
    outputs = [pt.softplus(one), pt.sigmoid(one), pt.log1mexp(-one), pt.psi(one), one**2.5]
    for output in outputs:
        check([one], [output], [np.float64(1.5)])


def check_function(inputs, outputs, *calls) -> None:
    """Like ``check``, for what a function knows before it begins and a step does not."""
    native, python = native_function(inputs, outputs), python_function(inputs, outputs)
    for values in calls:
        for ours, theirs in zip(native(*values), reference(python, values), strict=True):
            wrong = difference(ours, theirs)
            assert wrong is None, f"{wrong} for {values[1:]}"


def test_sizes_and_bounds_that_are_inputs():
    x, k, n = of(None, None), pt.lscalar("k"), pt.iscalar("n")
    outputs = [
        x[k:],
        x[:k, n:],
        x[k, ::-1][:n],
        x[::2][k:n],
        pt.set_subtensor(x[:k], 1.0),
        pt.inc_subtensor(x[k:, n - 1], 1.0),
        pt.arange(n),
        pt.arange(k, n * 3, 2),
        pt.arange(pt.cast(k, "float64"), n, 0.5),
        pt.eye(n, k % 5),
        pt.zeros((n, 2)) + x[0, 0],
        pt.repeat(x, n, axis=0),
        x.reshape((n, -1))[:, :1],
        *pt.split(x, [n, x.shape[0] - n], n_splits=2),
    ]
    calls = [[numbers(4, 4), np.int64(k), np.int32(n)] for k, n in ((0, 1), (3, 2), (-2, 4))]
    check_function([x, k, n], outputs, *calls)


def test_a_shape_that_is_an_input_of_any_strides():
    x, shape = of(None, None), pt.lvector("shape")
    outputs = [pt.reshape(x, shape, ndim=3), x[pt.arange(3) % 2, shape]]
    every_other = np.array([2, 3, 2, 0, 3])[::2]
    check_function(
        [x, shape], outputs, *([numbers(2, 6), s] for s in (every_other, every_other + 0))
    )


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda x: x[x > 0], "a mask of the step"),
        (lambda x: Unique()(x), "Unique"),
        (lambda x: pt.arange(x.sum().astype("int64")), "may differ between steps"),
        (lambda x: pt.linalg.pinv(x), "MatrixPinv"),
    ],
)
def test_what_has_no_code_says_so(build, reason):
    x = pt.dmatrix("x")
    with pytest.raises(AssertionError, match=reason):
        native_loop([x], [build(x)])


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_ranges_from_numbers_that_are_not_known(dtype):
    start, stop = pt.scalar(dtype=dtype), pt.scalar(dtype=dtype)
    calls = [[np.array(n, dtype) for n in pair] for pair in [(-5, 1), (0, 4), (3, 3), (2, -2)]]
    ranges = native_function([start, stop], [pt.arange(start, stop), pt.arange(1, stop)])
    for values in calls:
        between, from_one = ranges(*values)
        np.testing.assert_array_equal(between, np.arange(*values))
        np.testing.assert_array_equal(from_one, np.arange(1, values[1]))


def test_ranges_are_rounded_as_numpy_rounds_them():
    start, stop, step = pt.fscalars("start", "stop", "step")
    values = [np.float32(value) for value in (-5, 1.1, 1.2)]
    result = native_function([start, stop, step], [pt.arange(start, stop, step)])(*values)[0]
    np.testing.assert_array_equal(result, np.arange(*values, dtype="float32"))
