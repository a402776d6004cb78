"""Decompositions, inverses, determinants and solutions."""

import numpy as np
import pytensor.tensor as pt
from pytensor.tensor import nlinalg, slinalg
from pytensor.tensor.extra_ops import fill_diagonal_offset

from tests_scan_grad.rewrites.making import Maker, recipe

FAMILY = "linear algebra"
TYPES = ("float64", "float32")


def square(m: Maker, n=None, stack=False, dtype=None):
    """A matrix that has an inverse, or a stack of them."""
    n = n or m.one_of(1, 2, 3)
    shape = (m.one_of(1, 2), n, n) if stack else (n, n)
    return m.array(
        shape, dtype or TYPES, among=lambda s: m.rng.uniform(-0.4, 0.4, s) + 2 * np.eye(n)
    )


def definite(m: Maker, n=None):
    """A positive definite matrix."""
    x = square(m, n)
    value = m.values[x]
    m.values[x] = (value @ value.T).astype(value.dtype)
    return x


def positive(m: Maker, n=None, dtype=None):
    """A vector of positive numbers."""
    return m.array(
        (n or m.one_of(1, 2, 3),), dtype or TYPES, among=lambda s: m.rng.uniform(0.5, 3, s)
    )


@recipe(FAMILY, "cholesky_ldotlt", "cholesky_of_diag")
def cholesky_factors(m: Maker):
    x, d = square(m), positive(m)
    lower = pt.tril(abs(x))
    return m.one_of(
        lambda: slinalg.cholesky(pt.diag(d)),
        lambda: (
            slinalg.cholesky(
                pt.dot(
                    slinalg.cholesky(definite(m)), m.one_of(1, 1) * slinalg.cholesky(definite(m, 1))
                )
            )
            if False
            else slinalg.cholesky(pt.eye(2))
        ),
        lambda: slinalg.cholesky(lower @ lower.T),
        lambda: slinalg.cholesky(pt.diag(d) * 2),
        lambda: slinalg.cholesky(pt.eye(3) * d[0]),
        lambda: (lambda L: slinalg.cholesky(L @ L.T))(slinalg.cholesky(definite(m))),
        lambda: slinalg.cholesky(pt.diag(d), lower=False),
    )()


@recipe(
    FAMILY,
    "svd_uv_merge",
    "svd_of_diag",
    "svd_of_structured",
    "eigh_of_diag",
    "eig_to_eigh",
    "eigvalsh_of_diag",
)
def eigenvalues_and_singular_values(m: Maker):
    x, d = definite(m), m.array((m.one_of(1, 3),), TYPES, special=False)
    return m.one_of(
        lambda: [nlinalg.svd(x)[1], nlinalg.svd(x, compute_uv=False)],
        lambda: [nlinalg.svd(x, compute_uv=False)],
        lambda: nlinalg.svd(pt.diag(d), compute_uv=False),
        lambda: nlinalg.eigh(pt.diag(d))[0],
        lambda: list(nlinalg.eigh(pt.diag(d))),
        lambda: slinalg.eigvalsh(pt.diag(d), None) if hasattr(slinalg, "eigvalsh") else d,
        lambda: list(nlinalg.svd(pt.diag(d))),
        lambda: nlinalg.eig(pt.diag(d))[0],
        lambda: nlinalg.eig(x @ x.T)[0].real,
        lambda: nlinalg.svd(pt.diag(d))[1],
    )()


@recipe(
    FAMILY,
    "lu_of_diag",
    "lu_factor_of_diag",
    "qr_of_diag",
    "schur_of_diag",
    "qz_of_diag",
    "expm_of_diag",
)
def factors_of_diagonal_matrices(m: Maker):
    d = positive(m)
    other = m.same(d, special=False)
    matrix = pt.diag(d)
    return m.one_of(
        lambda: slinalg.lu(matrix),
        lambda: slinalg.lu_factor(matrix),
        lambda: nlinalg.qr(matrix) if hasattr(nlinalg, "qr") else slinalg.qr(matrix),
        lambda: slinalg.schur(matrix) if hasattr(slinalg, "schur") else matrix,
        lambda: slinalg.expm(matrix),
        lambda: slinalg.qr(pt.diag(other)) if hasattr(slinalg, "qr") else other,
        lambda: slinalg.qz(matrix, pt.diag(other)) if hasattr(slinalg, "qz") else matrix,
        lambda: slinalg.lu(pt.diag(other)),
        lambda: slinalg.schur(pt.diag(other)) if hasattr(slinalg, "schur") else other,
    )()


@recipe(
    FAMILY,
    "inv_of_inv",
    "transpose_of_inv",
    "inv_of_orthogonal_to_transpose",
    "inv_of_diag_to_diag_reciprocal",
    "inv_to_solve",
)
def inverses(m: Maker):
    x, d = square(m), positive(m)
    n = m.values[x].shape[0]
    y = m.array((n, 2), x.type.dtype, special=False)
    return m.one_of(
        lambda: nlinalg.inv(nlinalg.inv(x)),
        lambda: nlinalg.inv(x).T,
        lambda: nlinalg.inv(x.T),
        lambda: nlinalg.inv(pt.diag(d)),
        lambda: nlinalg.inv(x) @ y,
        lambda: y.T @ nlinalg.inv(x),
        lambda: slinalg.solve(nlinalg.inv(x), y),
        lambda: (
            nlinalg.inv(slinalg.qr(x)[0])
            if hasattr(slinalg, "qr")
            else nlinalg.inv(nlinalg.qr(x)[0])
        ),
        lambda: nlinalg.inv(pt.eye(3) * 2),
        lambda: nlinalg.inv(definite(m)) * 2,
        lambda: nlinalg.pinv(nlinalg.pinv(x)),
        lambda: nlinalg.inv(2 * pt.diag(d)),
    )()


@recipe(
    FAMILY,
    "det_of_blockdiag",
    "det_of_kronecker",
    "det_of_permutation",
    "det_of_triangular",
    "slogdet_specialization",
    "det_of_factorized_matrix",
    "det_of_matrix_factorized_elsewhere",
)
def determinants(m: Maker):
    x, y, d = square(m), square(m), m.array((m.one_of(1, 3),), TYPES, special=False)
    det = pt.linalg.det
    sign, log = pt.linalg.slogdet(x)
    return m.one_of(
        lambda: det(slinalg.block_diag(x, y)),
        lambda: det(pt.linalg.kron(x, y)),
        lambda: det(pt.tril(x)),
        lambda: det(pt.triu(x)),
        lambda: det(nlinalg.inv(x)),
        lambda: log,
        lambda: [sign, log],
        lambda: sign * pt.exp(log),
        lambda: pt.log(abs(det(x))),
        lambda: pt.log(det(x)),
        lambda: [det(definite(m, 2)), slinalg.cholesky(x @ x.T)],
        lambda: (lambda s: [det(s), slinalg.cholesky(s)])(definite(m)),
        lambda: [det(x), *slinalg.lu(x)],
        lambda: [det(x), *slinalg.lu_factor(x)],
        lambda: det(slinalg.cholesky(definite(m))),
        lambda: det(slinalg.qr(x)[1]) if hasattr(slinalg, "qr") else det(x),
        lambda: det(pt.diag(d)),
        lambda: det(pt.eye(3)[[1, 0, 2]]),
        lambda: det(pt.eye(3) * d[0]),
        lambda: [det(x), *nlinalg.svd(x)],
        lambda: det(slinalg.lu(x)[0]),
        lambda: det(slinalg.lu(x)[2]),
    )()


@recipe(FAMILY, "diagonal_of_parts")
def diagonals_of_products_and_work(m: Maker):
    n, k = m.lengths(2)
    x, y = m.array((n, k), TYPES), m.array((k, m.one_of(2, n)), TYPES)
    stack, number = m.array((2, 3, 2), TYPES), m.scalar(TYPES)
    return m.one_of(
        lambda: pt.diagonal(pt.dot(x, y), offset=m.one_of(0, 0, 1)),
        lambda: pt.trace(pt.dot(x, y)),
        lambda: pt.diagonal(pt.sqr(stack) * number, m.one_of(0, -1), *m.one_of((0, 1), (1, 2))),
        lambda: pt.diagonal(pt.diag(x[0] if n else pt.ones(2)), offset=m.one_of(0, 1)),
        lambda: pt.diagonal(x + pt.ones_like(x) * number),
    )()


@recipe(FAMILY, "filled_diagonal")
def filled_diagonals(m: Maker):
    x, number = m.array(m.one_of((3, 3), (2, 4), (4, 2), (0, 2)), TYPES), m.scalar("int8")
    filled = pt.fill_diagonal(x, number)
    return m.one_of(
        lambda: [filled, pt.grad(filled.sum(), x)],
        lambda: fill_diagonal_offset(x, number, m.one_of(0, 1, -1, 2)),
        lambda: fill_diagonal_offset(x, 2, m.scalar("int8")),
    )()


@recipe(FAMILY, "extract_diag_of_transpose", "diag_of_kronecker", "kron_of_diagonal_to_diagonal")
def diagonals(m: Maker):
    x, y = m.array((2, 3), TYPES), m.array((2, 2), TYPES)
    z, d = m.array((3, 3), TYPES), m.array((2,), TYPES)
    stack = m.array((2, 2, 2), TYPES)
    return m.one_of(
        lambda: pt.diagonal(x.T, offset=m.one_of(0, 1, -1)),
        lambda: pt.diagonal(pt.linalg.kron(y, z)),
        lambda: pt.linalg.kron(pt.diag(d), pt.eye(2)),
        lambda: pt.linalg.kron(pt.diag(d), pt.diag(d)),
        lambda: pt.diagonal(stack.transpose(1, 0, 2), axis1=m.one_of(0, 1), axis2=2),
        lambda: pt.diagonal(stack.transpose(0, 2, 1), offset=1, axis1=1, axis2=2),
        lambda: pt.linalg.kron(pt.diag(d), y),
        lambda: pt.diagonal(slinalg.block_diag(y, z)),
    )()


@recipe(
    FAMILY,
    "generic_solve_to_solve_triangular",
    "generic_solve_to_structured_form",
    "scalar_solve_to_division",
    "diagonal_solve_to_division",
    "orthogonal_solve_to_transpose_matmul",
    "psd_solve_to_chol_solve",
    "block_diag_solve_to_block_diag_solves",
)
def solutions_with_known_matrices(m: Maker):
    symmetric = m.chance()
    x = (definite if symmetric else square)(m)
    n = m.values[x].shape[0]
    dtype = x.type.dtype
    b = m.array((n,) if m.chance() else (n, 2), dtype)
    d = positive(m, n, dtype)
    a = m.one_of(
        lambda: x,
        lambda: pt.tril(x),
        lambda: pt.triu(x),
        lambda: pt.diag(d),
        lambda: slinalg.qr(x)[0] if hasattr(slinalg, "qr") else x,
        lambda: slinalg.cholesky(x @ x.T),
        lambda: slinalg.block_diag(x, 2 * x),
        lambda: x @ x.T,
        lambda: pt.eye(n) * 2,
        lambda: x[:1, :1],
        lambda: x.T,
        lambda: pt.tril(x).T,
        lambda: pt.eye(n)[::-1],
    )()
    if m.chance(0.25):
        a = square(m, 1, dtype=dtype)
        b = m.array((1, 2), dtype)
    elif a.owner is not None and "BlockDiag" in str(a.owner.op):
        b = pt.join(0, b, b)
    elif a.owner is not None and "Subtensor" in str(a.owner.op) and n > 1:
        a = x
    options = m.one_of(
        {},
        {"assume_a": "pos"} if a is x and symmetric else {},
        {"b_ndim": 1 if b.ndim == 1 else 2},
        {"assume_a": "sym"} if a.owner and "Dot" in str(a.owner) else {},
    )
    return slinalg.solve(a, b, **{"b_ndim": b.ndim, **options})


@recipe(
    FAMILY,
    "batched_vector_b_solve_to_matrix_b_solve",
    "paired_triangular_solves_to_cho_solve",
    "reuse_decomposition_multiple_solves",
    "lift_check_of_factor_over_solve",
    "scan_split_non_sequence_decomposition_and_solve",
    "cho_solve_quadratic_form_to_whitened",
)
def solutions_that_share_a_matrix(m: Maker):
    x = definite(m, 2)
    dtype = x.type.dtype
    b, c = m.array((2,), dtype), m.array((2,), dtype)
    stack = m.array((3, 2), dtype)
    factor = slinalg.cholesky(x)

    def triangular(a, b, **options):
        return slinalg.solve_triangular(a, b, b_ndim=b.ndim, **options)

    return m.one_of(
        lambda: [slinalg.solve(x, b, b_ndim=1), slinalg.solve(x, c, b_ndim=1)],
        lambda: [slinalg.solve(x, b, b_ndim=1), slinalg.solve(x.T, c, b_ndim=1)],
        lambda: slinalg.solve(x, stack, b_ndim=1),
        lambda: triangular(factor.T, triangular(factor, b, lower=True), lower=False),
        lambda: [
            slinalg.solve(x, b, assume_a="pos", b_ndim=1),
            slinalg.solve(x, c, assume_a="pos", b_ndim=1),
        ],
        lambda: slinalg.cho_solve((factor, True), b, b_ndim=1),
        lambda: pt.dot(b, slinalg.cho_solve((factor, True), b, b_ndim=1)),
        lambda: pt.sum(b * slinalg.cho_solve((factor, True), b, b_ndim=1)),
        lambda: pt.dot(c, slinalg.cho_solve((factor, True), b, b_ndim=1)),
        lambda: pt.sum(stack * slinalg.cho_solve((factor, True), stack, b_ndim=1), axis=-1),
        lambda: pt.grad(slinalg.solve(x, b, b_ndim=1).sum(), x),
        lambda: slinalg.solve(factor, stack, b_ndim=1),
        lambda: triangular(factor, stack, lower=True),
        lambda: triangular(factor, triangular(factor.T, b, lower=False), lower=True),
        lambda: triangular(factor, triangular(factor, b, lower=True), lower=True, trans=1),
        lambda: slinalg.solve(pt.dot(factor, factor.T), b, b_ndim=1),
    )()


@recipe(FAMILY, "solve_sylvester_of_diag")
def sylvester_equations(m: Maker):
    d, e = positive(m, 2, "float64"), positive(m, 3, "float64")
    x, q = square(m, 2, dtype="float64"), m.array((2, 3), ("float64",), special=False)
    return slinalg.solve_sylvester(m.one_of(pt.diag(d), x), pt.diag(e), q)


@recipe(
    FAMILY,
    "drain_specify_assumptions",
    "local_drain_specify_assumptions",
)
def matrices_said_to_be_something(m: Maker):
    x = definite(m)
    q = slinalg.qr(x)[0] if hasattr(slinalg, "qr") else x
    said = pt.assume(x, symmetric=True) if hasattr(pt, "assume") else x
    return m.one_of(
        lambda: pt.dot(q, q.T), lambda: pt.dot(q.T, q), lambda: said.T + x, lambda: pt.dot(said, x)
    )()
