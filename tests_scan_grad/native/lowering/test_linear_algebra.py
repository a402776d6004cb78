"""Factors, solutions, determinants and eigenvectors: by the engine as by PyTensor's Python code."""

from __future__ import annotations

import re
import threading

import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor.tensor import linalg
from pytensor.tensor.linalg import lu_factor, lu_solve
from pytensor.tensor.linalg.solvers.tridiagonal import tridiagonal_lu_factor, tridiagonal_lu_solve

import theano
from tests_scan_grad.native.lowering.evaluations import python_function
from tests_scan_grad.native.lowering.lowering_checks import check, numbers, of
from theano.link.native import c_function, report, source

# one number, small enough for loops, not a multiple of anything, for LAPACK and for BLAS
SIZES = (0, 1, 5, 16, 17, 40)
DTYPES = ("float64", "float32")


def listed(outputs) -> list:
    return list(outputs) if isinstance(outputs, list | tuple) else [outputs]


def positive(n: int, dtype: str = "float64") -> np.ndarray:
    values = numbers(n, n)
    return (values @ values.T / max(n, 1) + np.eye(n)).astype(dtype)


def triangular(n: int, dtype: str = "float64") -> np.ndarray:
    """Return a matrix for triangular operations, whose other triangle must not matter."""
    return (numbers(n, n) / max(n, 1) + 2 * np.eye(n)).astype(dtype)


OF_A_MATRIX = {
    "cholesky": lambda a: linalg.cholesky(a),
    "cholesky, upper": lambda a: linalg.cholesky(a, lower=False),
    "inverse": lambda a: linalg.inv(a),
    "determinant": lambda a: linalg.det(a),
    "sign and logarithm": lambda a: linalg.slogdet(a),
    "eigenvalues": lambda a: linalg.eigh(a)[0],
    "eigenvectors": lambda a: abs(linalg.eigh(a)[1]),
    "upper triangle's eigenvalues": lambda a: linalg.eigh(pt.triu(a), lower=False)[0],
    "LU factors": lambda a: lu_factor(a),
}

OF_A_SYSTEM = {
    "general": lambda a, b, ndim: linalg.solve(a, b, b_ndim=ndim),
    "positive definite": lambda a, b, ndim: linalg.solve(a, b, b_ndim=ndim, assume_a="pos"),
    "positive definite, lower": lambda a, b, ndim: linalg.solve(
        a, b, b_ndim=ndim, assume_a="pos", lower=True
    ),
    "symmetric": lambda a, b, ndim: linalg.solve(a, b, b_ndim=ndim, assume_a="sym"),
    "Hermitian, lower": lambda a, b, ndim: linalg.solve(
        a, b, b_ndim=ndim, assume_a="her", lower=True
    ),
    "tridiagonal": lambda a, b, ndim: linalg.solve(a, b, b_ndim=ndim, assume_a="tridiagonal"),
    "banded": lambda a, b, ndim: linalg.solve(a, b, b_ndim=ndim, assume_a="banded"),
    "of narrow bands": lambda a, b, ndim: linalg.solve(
        pt.tril(pt.triu(a, -2), 1), b, b_ndim=ndim, assume_a="banded"
    ),
    "by LU factors": lambda a, b, ndim: lu_solve(lu_factor(a), b, b_ndim=ndim),
    "transposed by LU factors": lambda a, b, ndim: lu_solve(
        lu_factor(a), b, b_ndim=ndim, trans=True
    ),
    "by a Cholesky factor": lambda a, b, ndim: linalg.cho_solve((a, True), b, b_ndim=ndim),
    "by an upper Cholesky factor": lambda a, b, ndim: linalg.cho_solve((a, False), b, b_ndim=ndim),
    "lower": lambda a, b, ndim: linalg.solve_triangular(a, b, lower=True, b_ndim=ndim),
    "upper": lambda a, b, ndim: linalg.solve_triangular(a, b, lower=False, b_ndim=ndim),
    "transposed": lambda a, b, ndim: linalg.solve_triangular(
        a, b, lower=True, trans=1, b_ndim=ndim
    ),
    "with ones on the diagonal": lambda a, b, ndim: linalg.solve_triangular(
        a, b, lower=True, unit_diagonal=True, b_ndim=ndim
    ),
}


def matrix_for(name: str, n: int, dtype: str) -> np.ndarray:
    solved = name.startswith(("general", "positive", "banded", "of narrow")) or "LU" in name
    if name.startswith("tridiagonal"):
        # so that rows are exchanged
        return triangular(n, dtype) + 2 * np.eye(n, k=-1, dtype=dtype)
    return positive(n, dtype) if solved else triangular(n, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OF_A_MATRIX)
def test_of_a_matrix(name, dtype):
    a = of(None, None, dtype=dtype)
    # in single precision, rounding turns the vectors of many close values
    sizes = SIZES[1:5] if "eigen" in name else SIZES
    check([a], listed(OF_A_MATRIX[name](a)), *([positive(n, dtype)] for n in sizes))


@pytest.mark.parametrize("ndim", [1, 2])
@pytest.mark.parametrize("name", OF_A_SYSTEM)
def test_of_a_system(name, ndim):
    a, b = of(None, None), of(*[None] * ndim)
    calls = [
        [matrix_for(name, n, "float64"), numbers(*(n, 3)[:ndim])] for n in SIZES if n or ndim == 2
    ]
    check([a, b], [OF_A_SYSTEM[name](a, b, ndim)], *calls)


@pytest.mark.parametrize("name", OF_A_SYSTEM)
def test_many_right_sides_in_single_precision(name):
    a, b = of(None, None, dtype="float32"), of(None, None, dtype="float32")
    call = [matrix_for(name, 30, "float32"), numbers(30, 20, dtype="float32")]
    check([a, b], [OF_A_SYSTEM[name](a, b, 2)], call)


@pytest.mark.parametrize("n", [4, 30])
@pytest.mark.parametrize("lower", [True, False])
def test_parts_of_matrices_as_they_lie(lower, n):
    a, b = of(None, None), of(None, None)
    for part in (a.T, a[::2, ::2], a[::-1, ::-1], a[: n // 2, : n // 2]):
        x = linalg.solve_triangular(part, b[: part.shape[0]].T.copy().T, lower=lower)
        check([a, b], [x, linalg.cholesky(part @ part.T)], [triangular(n), numbers(n, 7)])


# loops, and LAPACK: tall, square, wide
SHAPES = ((1, 1), (5, 2), (4, 4), (3, 7), (200, 3), (40, 19), (30, 30), (18, 50))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
def test_orthogonal_factors(mode, dtype):
    a = of(None, None, dtype=dtype)
    check([a], listed(linalg.qr(a, mode=mode)), *([numbers(*s, dtype=dtype)] for s in SHAPES))


@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
def test_orthogonal_factors_of_stacks_and_parts(mode):
    a, b = of(None, None, None), of(3, 2)
    outputs = [*listed(linalg.qr(a[:, ::-1, ::2], mode=mode)), *listed(linalg.qr(b.T, mode=mode))]
    check([a, b], outputs, *([numbers(2, *s), numbers(3, 2)] for s in SHAPES))


@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
def test_orthogonal_factors_of_what_is_empty_zero_or_out_of_range(mode):
    a = of(None, None)
    f = theano.function([a], listed(linalg.qr(a, mode=mode)))
    assert not report(f).calls
    for n, m in ((0, 3), (3, 0), (0, 0)):
        *q, r = f(np.ones((n, m)))
        assert r.shape == (0 if mode == "reduced" else n, m)
        assert all(np.array_equal(one, np.eye(n)[:, : len(r)]) for one in q)
    for scale in (0, 1e-300, 1e300):
        for shape in ((3, 2), (2, 3), (40, 30)):
            *q, r = f(scale * numbers(*shape))
            *_, expected = f(numbers(*shape))
            np.testing.assert_allclose(r, expected * scale, rtol=1e-9, atol=1e-312)
    assert all(np.isnan(one).any() for one in f(np.full((3, 2), np.nan)))


@pytest.mark.parametrize("name", ["cholesky", "inverse", "determinant", "LU factors"])
def test_stacks_of_matrices(name):
    a = of(None, None, None, None)
    values = np.stack([[positive(6) * (k + j + 1) for k in range(3)] for j in range(2)])
    check([a], listed(OF_A_MATRIX[name](a)), [values])


def test_blocks_along_a_diagonal():
    a, b, c = of(None, None), of(None, None, dtype="float32"), of(2, None, dtype="int8")
    blocks = linalg.block_diag(a * 2, b * 2, c, a, pt.ones((1, 2)))
    calls = [
        [numbers(*of_a), numbers(*of_b, dtype="float32"), numbers(2, 3, dtype="int8")]
        for of_a, of_b in [((2, 3), (3, 1)), ((0, 2), (2, 2)), ((3, 0), (0, 0))]
    ]
    check([a, b, c], [blocks], *calls)
    f = theano.function([a, b, c], [blocks, *theano.grad((blocks**3).sum(), [a, b])])
    assert not report(f).calls
    for x, y, z in calls:
        _, of_a, of_b = f(x, y, z)
        np.testing.assert_allclose(of_a, 27 * x**2)
        np.testing.assert_allclose(of_b, 24 * y**2, rtol=1e-6)


def test_blocks_of_stacks_are_broadcast():
    a, b = pt.tensor(shape=(None, 1, None, None)), of(None, None, None)
    values = [numbers(2, 1, 3, 2), numbers(4, 1, 2)]
    check([a, b], [linalg.block_diag(a, b, b)], values)
    with pytest.raises(ValueError, match="broadcast"):
        theano.function([a, b], linalg.block_diag(a[:, 0], b))(*values)


@pytest.mark.parametrize("name", OF_A_SYSTEM)
def test_stacks_of_systems_are_broadcast(name):
    a, b = pt.tensor(shape=(None, 1, None, None)), pt.tensor(shape=(1, None, None, None))
    matrices = np.stack([[matrix_for(name, 5, "float64")] for _ in range(2)])
    check([a, b], [OF_A_SYSTEM[name](a, b, 2)], [matrices, numbers(1, 3, 5, 2)])
    v = of(None)
    check([a, v], [OF_A_SYSTEM[name](a, v, 1)], [matrices, numbers(5)])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ndim", [1, 2])
def test_solutions_of_stacks_and_their_gradients(ndim, dtype):
    a, b = of(None, None, None, dtype=dtype), of(*[None] * (ndim + 1), dtype=dtype)
    solution = linalg.solve(a, b, b_ndim=ndim)
    outputs = [solution, *theano.grad((solution**2).sum(), [a, b])]
    f = theano.function([a, b], outputs)
    assert not report(f).calls
    for n in (1, 6):
        stack = [positive(n, dtype) * (k + 1) for k in range(3)]
        matrices = np.stack(stack)
        values = [matrices, numbers(*(len(matrices), n, 2)[: ndim + 1], dtype=dtype)]
        expected = python_function([a, b], outputs)(*values)
        for ours, theirs in zip([*f(*values), *c_function(f)(*values)], 2 * expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-3 if "32" in dtype else 1e-9)


@pytest.mark.parametrize("assume", ["sym", "her", "pos", "tridiagonal", "banded", "diagonal"])
def test_gradients_of_solutions_of_other_matrices(assume):
    a, b, stack = of(None, None), of(None, None), of(None, None, None)
    cost = sum((linalg.solve(m, b, assume_a=assume) ** 2).sum() for m in (a, stack))
    outputs = theano.grad(cost, [a, b, stack])
    f = theano.function([a, b, stack], outputs)
    assert not report(f).calls
    for n in (2, 5, 20):
        values = [positive(n), numbers(n, 3), np.stack([positive(n), 3 * positive(n)])]
        expected = python_function([a, b, stack], outputs)(*values)
        for ours, theirs in zip([*f(*values), *c_function(f)(*values)], 2 * expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)


@pytest.mark.long_segments
@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_of_tridiagonal_matrices(dtype):
    a, b = of(None, None, dtype=dtype), of(None, None, dtype=dtype)
    made = tridiagonal_lu_factor(a)
    outputs = [
        *made,
        tridiagonal_lu_solve(made, b, b_ndim=2),
        tridiagonal_lu_solve(made, b[:, 0], b_ndim=1, transposed=True),
    ]
    calls = [
        [matrix_for("tridiagonal", n, dtype), numbers(n, m, dtype=dtype)]
        for n, m in ((3, 2), (20, 3))  # SciPy refuses two rows
    ]
    check([a, b], outputs, *calls)


PICKS_FROM_STACKS = {
    "rows": ("(n,m),(k)->(k,m)", (3,), lambda x, i: x[i]),
    "columns": ("(n,m),(k)->(n,k)", (3,), lambda x, i: x[:, i]),
    "rows by matrices": ("(n,m),(k,l)->(k,l,m)", (2, 3), lambda x, i: x[i]),
    "elements": ("(n,m),(k)->(k)", (3,), lambda x, i: x[i, i]),
}


@pytest.mark.parametrize("name", PICKS_FROM_STACKS)
def test_picks_from_each_of_a_stack(name):
    signature, shape, build = PICKS_FROM_STACKS[name]
    x, i = of(None, None, None), of(*[None] * (1 + len(shape)), dtype="int64")
    y, j = of(None, None), pt.tensor(dtype="int32", shape=(1, *[None] * len(shape)))
    pick = pt.vectorize(build, signature=signature)
    indices = np.random.default_rng(0).integers(-4, 4, (2, *shape))
    values = [numbers(2, 4, 5), indices, numbers(4, 5), indices[:1].astype("int32")]
    outputs = [pick(x, i), pick(y, i), pick(x, j), pick(y[::-1].T, i % 4)]
    check([x, i, y, j], outputs, values)
    f = theano.function([x, i], pick(x, i))
    # PyTensor's Python code has no stacks without matrices
    result = f(numbers(0, 4, 5), indices[:0])
    assert result.shape == (0, *np.shape(f(*values[:2]))[1:])
    with pytest.raises(IndexError, match="out of bounds"):
        f(numbers(2, 4, 5), indices + 9)


def test_what_has_no_factor_is_not_a_number():
    a, b = of(None, None), of(None, None)
    outputs = [linalg.cholesky(a), linalg.solve(a, b), linalg.solve_triangular(a, b)]
    f = theano.function([a, b], outputs)
    assert not report(f).calls
    for n in (3, 30):
        for result in f(np.zeros((n, n)), np.ones((n, n))):
            assert result.shape == (n, n) and np.isnan(result).all()


def test_what_has_no_inverse_raises():
    a = of(None, None)
    f = theano.function([a], linalg.inv(a))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        f(np.zeros((3, 3)))


def test_pivots_that_are_no_rows_are_refused():
    pivots = pt.ivector("pivots")
    f = theano.function([pivots], linalg.PivotToPermutations(inverse=True)(pivots))
    assert not report(f).calls
    np.testing.assert_array_equal(f(np.array([2, -1, 2], "int32")), [2, 0, 1])
    for wrong in (3, -4):
        with pytest.raises(IndexError, match="out of bounds"):
            f(np.array([0, wrong, 2], "int32"))


def test_a_matrix_that_is_not_square_is_refused():
    a, b = of(None, None), of(None, None)
    for output in (linalg.cholesky(a), linalg.solve_triangular(a, b), linalg.inv(a)):
        f = theano.function([a, b], output, on_unused_input="ignore")
        with pytest.raises((ValueError, np.linalg.LinAlgError), match="square"):
            f(np.ones((3, 4)), np.ones((3, 1)))
    f = theano.function([a, b], linalg.solve_triangular(a, b))
    with pytest.raises(ValueError, match="incompatible"):
        f(np.eye(3), np.ones((4, 1)))


@pytest.mark.parametrize("n", [4, 25])
def test_gradients(n):
    a, b = of(None, None), of(None)
    factor = linalg.cholesky(a)
    cost = (
        (linalg.solve_triangular(factor, b, lower=True, b_ndim=1) ** 2).sum()
        + pt.log(pt.diag(factor)).sum()
        + (linalg.solve(a, b, b_ndim=1) ** 2).sum()
        + linalg.slogdet(a)[1]
        + linalg.inv(a).sum()
        + (linalg.eigh(a)[0] ** 2).sum()
    )
    outputs = theano.grad(cost, [a, b])
    f = theano.function([a, b], outputs)
    assert not report(f).calls
    expected = python_function([a, b], outputs)(positive(n), numbers(n))
    for ours, theirs in zip(f(positive(n), numbers(n)), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-9)


def test_a_kalman_filter_and_its_gradient_are_native():
    noise, seen = pt.scalar("noise"), pt.matrix("seen")

    def step(value, mean, spread, noise):
        spread = spread + noise * pt.eye(3)
        factor = linalg.cholesky(spread)
        white = linalg.solve_triangular(factor, value - mean, lower=True, b_ndim=1)
        gain = linalg.cho_solve((factor, True), spread)
        density = -0.5 * (white**2).sum() - pt.log(pt.diag(factor)).sum()
        return mean + gain @ (value - mean) / 2, spread - spread @ gain / 2, density

    (_, _, densities), _ = theano.scan(
        step,
        sequences=seen,
        outputs_info=[pt.zeros(3), pt.eye(3), None],
        non_sequences=noise,
    )
    cost = densities.sum()
    f = theano.function([noise, seen], [cost, theano.grad(cost, noise)])
    found = report(f)
    assert not found.calls and all(loop.reason is None for loop in found.loops)
    values = numbers(8, 3)
    small = 1e-5
    above, below = (f(0.7 + change, values)[0] for change in (small, -small))
    np.testing.assert_allclose(f(0.7, values)[1], (above - below) / (2 * small), rtol=1e-6)


def test_from_c_on_several_threads():
    a, b = of(None, None), of(None, None)
    function = c_function(theano.function([a, b], linalg.solve(a, b)))
    matrix, sides = positive(30), numbers(30, 4)
    found: list = []
    threads = [
        threading.Thread(target=lambda: found.append(function(matrix, sides)[0])) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in found:
        np.testing.assert_allclose(result, np.linalg.solve(matrix, sides))
    assert len(found) == 4


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint64", "bool"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_sorts(axis, dtype):
    x = of(None, None, dtype=dtype)
    outputs = [pt.sort(x, axis=axis), pt.argsort(x, axis=axis, kind="stable")]
    lengths = [(n, m) for n in (0, 1, 7, 33) for m in (1, 2, 40)]
    check([x], outputs, *([numbers(*shape, dtype=dtype)] for shape in lengths))


def test_nan_is_sorted_to_the_end():
    x = of(None)
    values = np.array([1.0, np.nan, -np.inf, np.nan, 0.0, np.inf])
    check([x], [pt.sort(x), pt.argsort(x, kind="stable")], [values])


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "int8", "uint16", "int32", "int64", "bool"]
)
def test_equal_elements_of_long_sorts_keep_their_order(dtype):
    some = np.array([0.0, -0.0, np.nan, 1.0, -1.0, np.inf] if dtype[0] == "f" else [0, 1, 3])
    values = np.random.default_rng(0).choice(some.astype(dtype), (3, 5000))
    x = of(None, None, dtype=dtype)
    check([x], [pt.argsort(x, axis=1, kind="stable"), pt.argmax(x, axis=1)], [values])


def test_stable_sorts_tell_zeros_apart():
    x = of(None)
    values = np.array([0.0, -0.0] * 20)
    check([x], [pt.sort(x, kind=kind) for kind in ("stable", "quicksort")], [values])
    found = theano.function([x], pt.sort(x, kind="stable"), mode="NATIVE")(values)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(values))


def test_stacks_of_nothing_are_done_at_once():
    x = of(None, None)
    function = theano.function([x], [pt.sort(x, axis=1), pt.argsort(x, axis=1)], mode="NATIVE")
    assert [one.shape for one in function(np.ones((2**40, 0)))] == [(2**40, 0)] * 2


@pytest.mark.parametrize("rows", [0, 1, 2, 5, 1000])
def test_stacks_are_shared_among_threads(rows):
    x, y = of(None, None, dtype="float32"), of(None, None, None)
    outputs = [pt.sort(x, axis=1), pt.argmax(x, axis=1), pt.matmul(y, y)]
    function = theano.function([x, y], outputs, mode="NATIVE")
    text = source(function)
    for name in ("sort", "argmax", "gemm_f64"):
        assert re.search(
            rf"thread, int threads\)\n{{(?:(?!\n}}).)*runtime->{name}\(", text, re.DOTALL
        )
    assert "< 2 ? 0 : " in text
    values, stack = numbers(rows, 2000, dtype="float32"), numbers(rows, 16, 16)
    ordered, largest, products = function(values, stack)
    np.testing.assert_array_equal(ordered, np.sort(values, axis=1))
    np.testing.assert_array_equal(largest, values.argmax(axis=1))
    np.testing.assert_allclose(products, stack @ stack, 1e-12, 1e-12)


def test_long_sorts():
    x = of(None)
    f = theano.function([x], [pt.sort(x), pt.argsort(x)])
    values = np.random.default_rng(0).integers(0, 1000, 100_000).astype("float64")
    ordered, positions = f(values)
    np.testing.assert_array_equal(ordered, np.sort(values))
    np.testing.assert_array_equal(positions, np.argsort(values, kind="stable"))
