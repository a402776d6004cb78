"""Programs that PyTensor's rewrites compute wrongly, or do not compile; each by a user's way."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from pytensor.tensor import linalg
from pytensor.tensor.type import TensorType

import theano
import theano.tensor as T
from theano import scalar

MODES = ["FAST_RUN", "FAST_COMPILE"]


@dataclass(frozen=True)
class Program:
    """A function of arrays, by Theano and by NumPy."""

    rewrite: str
    theanos: Callable[..., Any]
    numpys: Callable[..., Any]
    arrays: tuple[np.ndarray, ...]


def of(values: Any, dtype: str = "float64") -> np.ndarray:
    return np.array(values, dtype)


BIG = of([1e200, 1e-200])
PROGRAMS = [
    Program("local_div_by_one", lambda x: x // 1.0, lambda x: x // 1.0, (of([1.5, -0.5]),)),
    Program(
        "useless_Arccosh_of_Cosh", lambda x: T.arccosh(T.cosh(x)), lambda x: abs(x), (of([-1, 2]),)
    ),
    Program(
        "local_sqrt_sqr",
        lambda z: T.sqrt(T.sqr(z)),
        lambda z: np.sqrt(z**2),
        (of([1 + 1j], "complex128"),),
    ),
    Program(
        "local_pow_to_nested_squaring",
        lambda k: k ** np.array([[5]], "int16"),
        lambda k: k.astype("int16") ** 5,
        (of([[4, -3]], "int8"),),
    ),
    Program(
        "local_pow_specialize",
        lambda k: k ** np.array([[2]], "int16"),
        lambda k: k.astype("int16") ** 2,
        (of([[100, -3]], "int8"),),
    ),
    Program(
        "local_mul_canonizer",
        lambda k: np.int64(2**63 - 4) * (k * 3),
        lambda k: np.int64(2**63 - 4) * (k * 3),
        (of([0, 2, -1], "int64"),),
    ),
    Program(
        "local_add_canonizer",
        lambda k: (k + np.int64(2**62 + 1)) - np.int64(2**62),
        lambda k: (k + np.int64(2**62 + 1)) - np.int64(2**62),
        (of([0, 2, -1], "int64"),),
    ),
    Program(
        "local_batched_matmul_to_core_matmul_with_reshape",
        lambda x, y: x @ y[None],
        lambda x, y: x @ y,
        (np.ones((2, 2, 0)), np.ones((0, 3))),
    ),
    Program(
        "local_log_sqrt",
        lambda x: T.log(T.sqrt(x)),
        lambda x: np.log(np.sqrt(x)),
        (of([4, 9], "int16"),),
    ),
    Program(
        "local_write_of_write_same_indices",
        lambda x, a, b: T.inc_subtensor(T.set_subtensor(x[0], a)[0], b),
        lambda x, a, b: x + [int(a) + int(b), 0],
        (of([0, 0], "int64"), of(100, "int8"), of(100, "int8")),
    ),
    Program(
        "local_subtensor_merge_slice",
        lambda x: T.specify_shape(x, (1002,))[1:1001][T.constant(np.int8(0))],
        lambda x: x[1],
        (np.arange(1002.0),),
    ),
    Program(
        "slogdet_specialization",
        lambda x: T.log(abs(linalg.det(x))),
        lambda x: np.linalg.slogdet(x)[1],
        (of([[[2, 1], [1, 3]], [[0, 1], [1, 0]]]),),
    ),
    Program(
        "local_sum_prod_of_mul_or_div",
        lambda x, s: (x * s).sum(),
        lambda x, s: (x * s).sum(),
        (of([100, 3], "int8"), of(2, "int8")),
    ),
    Program(
        "local_sum_prod_of_mul_or_div",
        lambda x, s: (x * s).prod(),
        lambda x, s: (x * s).prod(),
        (of([1] * 130, "int8"), of(-1, "int8")),
    ),
    Program(
        "local_sum_of_neg_to_neg_of_sum",
        lambda x: (-x).sum(),
        lambda x: (-x).sum(),
        (of([-128, 3], "int8"),),
    ),
    Program(
        "local_neg_to_mul", lambda x: -x, lambda x: np.negative(x), (of([1, 0, 200], "uint8"),)
    ),
    Program(
        "local_add_neg_to_sub",
        lambda x, k: x + (-k),
        lambda x, k: x + np.negative(k),
        (of([0.5]), of([3], "uint8")),
    ),
    Program(
        "local_add_canonizer",
        lambda k, n: n + (k + k),
        lambda k, n: n + (k + k),
        (of([100], "int8"), of([1], "int64")),
    ),
    Program(
        "local_mul_canonizer",
        lambda x, y: (x * 1e200) / (y / 1e200),
        lambda x, y: (x * 1e200) / (y / 1e200),
        (of([1e-200]), of([1e100])),
    ),
    Program("local_abs_lift", lambda x: abs(x * x), lambda x: abs(x * x), (of([12, 100], "int8"),)),
    Program(
        "local_max_to_min",
        lambda x: -T.max(-x),
        lambda x: np.negative(np.max(np.negative(x))),
        (of([0, 3], "uint8"),),
    ),
    Program(
        "local_mul_exp_to_exp_add",
        lambda x, y: T.exp(x) * T.exp(y),
        lambda x, y: np.exp(x, dtype="float32") * np.exp(y, dtype="float32"),
        (of([70], "int16"), of([-50], "int16")),
    ),
    Program(
        "local_useless_subtensor",
        lambda x, k: x[:k],
        lambda x, k: x[:k],
        (of([1, 2, 3]), of(2, "uint8")),
    ),
    Program(
        "local_slice_read_of_write",
        lambda x, v: T.inc_subtensor(x[[2, 3]], v)[3:5],
        lambda x, v: (x + of([0, 0, 1, 1]) * v)[3:5],
        (of([1, 2, 3, 4]), of(0.5)),
    ),
    Program(
        "local_batched_matmul_to_core_matmul_with_reshape",
        lambda x, y: T.as_tensor_variable(linalg_matmul(x, y)),
        lambda x, y: x @ y,
        (np.zeros((0, 2, 3)), np.zeros((3, 4))),
    ),
    Program(
        "eigh_of_diag",
        lambda d: linalg.eigh(T.diag(d))[0],
        lambda d: np.sort(d),
        (of([2, 1], "float32"),),
    ),
    Program(
        "local_reduce_broadcastable",
        lambda x: T.elemwise.CAReduce(T.bitwise_or.scalar_op, axis=(0, 1))(x.dimshuffle("x", 0)),
        lambda x: np.bitwise_or.reduce(x),
        (of([1, 6], "int8"),),
    ),
    Program(
        "local_subtensor_of_reduce",
        lambda x: x.sum(axis=0, dtype="float64")[-1],
        lambda x: x.sum(axis=0, dtype="float64")[-1],
        (of([[1, 2e30], [3, 4e30]], "float32"),),
    ),
    Program(
        "local_subtensor_of_reduce",
        lambda x: x.sum(axis=0, dtype="int8")[1:],
        lambda x: x.sum(axis=0, dtype="int8")[1:],
        (of([[1, 100], [3, 100]], "int8"),),
    ),
    Program(
        "local_neg_to_mul",
        lambda x: T.inc_subtensor(T.zeros_like(x)[::-1], -x),
        lambda x: -x[::-1],
        (of([1, 2], "uint8"),),
    ),
    Program("local_useless_conj", lambda x: T.conj(x) + 0, lambda x: x, (of([1, 0], "bool"),)),
    Program(
        "slogdet_specialization",
        lambda x: T.log(linalg.det(x)),
        lambda x: np.log(np.linalg.det(x)),
        (of([[2, 0], [1, 3]], "float32"),),
    ),
    Program(
        "local_sumsqr2dot",
        lambda x, y: T.sqr(x * y).sum(axis=(1, 2)),
        lambda x, y: ((x * y) ** 2).sum(axis=(1, 2)),
        (np.ones((2, 3, 2)), np.ones((3, 2))),
    ),
    Program(
        "local_greedy_distributor",
        lambda x, s, d: T.Rop(T.exp(-T.sqr(T.exp(-T.sqr(x * s)))), s, d),
        lambda x, s, d: tangent_of_bell_of_bell(x.astype("float64"), s, d),
        (of([3, 500, 7], "uint16"), of([0.3, -0.002, -0.1]), of([1, 2, -1])),
    ),
]


def tangent_of_bell_of_bell(x, s, d):
    inner = np.exp(-((x * s) ** 2))
    return np.exp(-(inner**2)) * 4 * inner**2 * x**2 * s * d


def linalg_matmul(x, y):
    from pytensor.tensor import matmul

    return matmul(x, y)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: f"{p.rewrite}-{p.arrays[0].dtype}")
def test_value(program, mode, caplog):
    inputs = [
        T.TensorType(array.dtype.name, shape=(None,) * array.ndim)() for array in program.arrays
    ]
    fn = theano.function(inputs, program.theanos(*inputs), mode=mode)
    with np.errstate(all="ignore"):
        expected = np.asarray(program.numpys(*program.arrays))
    result = fn(*program.arrays)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-3 if result.dtype == "float32" else 1e-9)
    assert not [r for r in caplog.records if "ewrite" in r.getMessage()]


LOST = {
    "local_subtensor_of_alloc": lambda n: T.alloc(T.constant([1.0, 2.0]), n, 2)[-1],
    "local_subtensor_of_expand_dims": lambda n: T.arange(3)[None][n + 1],
    "local_incsubtensor_of_zeros": lambda n: T.inc_subtensor(T.arange(3)[n + 9], 0),
    "local_elemwise_alloc": lambda n: T.arange(3) * T.alloc(2, n + 2),
    "local_specify_shape_alloc": lambda n: T.specify_shape(T.alloc(2, n + 2), (3,)) * 1,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rewrite", LOST)
def test_an_error_is_still_raised(rewrite, mode):
    n = T.lscalar("n")
    fn = theano.function([n], LOST[rewrite](n), mode=mode)
    with pytest.raises((ValueError, IndexError, AssertionError)):
        fn(0)


@pytest.mark.parametrize("mode", MODES)
def test_numbers_of_an_array_filled_no_times_are_none(mode):
    from pytensor.tensor import unique

    x, n = T.dvector("x"), T.lscalar("n")
    fn = theano.function([x, n], unique(T.alloc(x, n, 2)), mode=mode)
    assert fn([1.0, 2.0], 0).shape == (0,)


@pytest.mark.parametrize("mode", MODES)
def test_a_value_repeated_no_times_is_not_true(mode):
    b, n = T.lscalar("b"), T.lscalar("n")
    fn = theano.function([b, n], T.any(T.alloc(T.neq(b, 0), n, 2)), mode=mode)
    assert not fn(1, 0)
    assert fn(1, 1)


@pytest.mark.parametrize("mode", MODES)
def test_matrices_are_multiplied_in_the_order_written(mode):
    """In the other order a product is infinite."""
    a, b = (TensorType("float32", (3, 3))(name) for name in "ab")
    c = TensorType("float32", (3, 1))("c")
    identity, column = np.eye(3, dtype="float32"), np.ones((3, 1), "float32")
    fn = theano.function([a, b, c], T.dot(T.dot(a, b), c), mode=mode)
    found = fn(identity * np.float32(1e-30), identity * np.float32(1e30), column * np.float32(1e30))
    np.testing.assert_allclose(found, 1e30, rtol=1e-5)


DO_NOT_FIT = {
    "column": lambda x, m: T.dot(x[:, None], m),
    "one number": lambda x, m: T.dot(x[:1][None], m.sum(axis=1, keepdims=True)),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", DO_NOT_FIT)
def test_matrices_that_do_not_fit_are_refused_as_products_refuse_them(name, mode):
    x, m = T.dvector("x"), T.dmatrix("m")
    fn = theano.function([x, m], DO_NOT_FIT[name](x, m), mode=mode)
    assert fn([1.0, 2.0], [[3.0, 4.0]]).shape[-1] == (2 if name == "column" else 1)
    with pytest.raises(ValueError):
        fn([1.0, 2.0], [[3.0, 4.0], [5.0, 6.0]])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("positions", "read_by_numbers"),
    [([0, 1], False), ([1, 0], False), ([0], False), ([-1, 0], True), ([0, 0], True)],
)
def test_rows_in_order_are_a_slice(mode, positions, read_by_numbers):
    x = TensorType("float64", (2, 3))("x")
    fn = theano.function([x], T.exp(x)[positions], mode=mode)
    reads = [n for n in fn.maker.fgraph.toposort() if type(n.op).__name__.startswith("AdvancedSub")]
    assert bool(reads) == read_by_numbers
    rows = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(fn(rows), np.exp(rows)[positions])


@pytest.mark.parametrize("mode", MODES)
def test_a_row_that_is_not_there_is_an_error_among_others_in_order(mode):
    told, untold = TensorType("float64", (2, 3))("x"), T.dmatrix("x")
    for x in (told, untold):
        fn = theano.function([x], T.exp(x)[[0, 1, 2]], mode=mode)
        with pytest.raises(IndexError):
            fn(np.zeros((2, 3)))


@pytest.mark.parametrize("mode", MODES)
def test_a_place_in_a_new_axis_that_is_not_there_is_an_error(mode):
    x = T.dmatrix("x")
    fn = theano.function([x], x.dimshuffle(0, "x", 1)[::-1, 1], mode=mode)
    with pytest.raises(IndexError):
        fn(np.zeros((2, 3)))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bounds", [(-1, -2, 1), (2, 1, 3), (0, 2, 1), (-3, 1, None), (1, 2, 4)])
def test_slices_that_end_before_they_start_are_joined_as_they_are(bounds, mode):
    first, between, last = bounds
    x = T.dmatrix("x")
    joined = T.concatenate([x[first:between], x[between:last]])
    rows = np.arange(8.0).reshape(4, 2)
    expected = np.concatenate([rows[first:between], rows[between:last]])
    np.testing.assert_array_equal(theano.function([x], joined, mode=mode)(rows), expected)


def test_shapes_that_contradict_each_other_fail_in_the_call_not_in_rewriting(capfd):
    x = T.dmatrix("x")
    twice = T.specify_shape(T.specify_shape(x, (1, 3)), (1, 2))
    f = theano.function([x], twice + 1)
    with pytest.raises(AssertionError):
        f(np.ones((1, 3)))
    assert "BUG" not in capfd.readouterr().err


def test_a_bias_of_fewer_digits_is_not_added_up_apart():
    x, b, c = T.fmatrix("x"), T.dvector("b"), T.fmatrix("c")
    scores = x + b + c
    given = np.float32([[0.1, 7.3]]), np.array([3e-8, -1e-8]), np.float32([[1e-9, 0.7]])
    f = theano.function([x, b, c], T.nnet.softmax(T.add(x, b, c)), allow_input_downcast=True)
    plain = np.exp(given[0].astype("float64") + given[1] + given[2])
    np.testing.assert_allclose(f(*given), plain / plain.sum(), rtol=1e-12)
    assert scores.dtype == "float64"


def test_a_fused_map_loses_what_nobody_reads_of_it():
    x, y = T.dvectors("x", "y")
    a, b = scalar.float64("a"), scalar.float64("b")
    both = T.Elemwise(scalar.Composite([a, b], [scalar.exp(a), scalar.sin(b)]))
    one, _ = both(x, y)
    f = theano.function([x, y], one * 2, mode="FAST_COMPILE", on_unused_input="ignore")
    assert all(y not in node.inputs for node in f.maker.fgraph.apply_nodes)
    assert all(len(node.outputs) == 1 for node in f.maker.fgraph.apply_nodes)
    np.testing.assert_allclose(f([1.0, 2.0], [3.0, 4.0]), 2 * np.exp([1.0, 2.0]))


def test_maps_that_are_not_fused_are_no_matter_of_what_looks_through_fused_ones(caplog):
    x = T.dvector("x")
    f = theano.function([x], T.exp(x), mode=theano.Mode(linker="pytensor_vm"))
    assert not caplog.records
    np.testing.assert_allclose(f([1.0, 2.0]), np.exp([1.0, 2.0]))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rows", [1, 2, 4])
def test_short_tridiagonal_systems_are_solved_in_loops_and_several_times(rows, mode):
    matrix, sides = T.dmatrix("matrix"), T.dmatrix("sides")

    def solved(side):
        return linalg.solve(matrix, side, assume_a="tridiagonal", b_ndim=1)

    each, _ = theano.scan(solved, sequences=sides)
    f = theano.function([matrix, sides], [each, solved(sides[0]), solved(sides[1])], mode=mode)
    near = np.eye(rows, k=1) + np.eye(rows, k=-1)
    given = 3 * np.eye(rows) + near, np.arange(3.0 * rows).reshape(3, rows)
    expected = np.linalg.solve(given[0], given[1].T).T
    for found, right in zip(f(*given), [expected, *expected[:2]], strict=True):
        np.testing.assert_allclose(found, right, atol=1e-12)
