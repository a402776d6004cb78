"""Sparse matrices."""

import pytensor.tensor as pt
import scipy.sparse
from pytensor import sparse

from tests_scan_grad.rewrites.making import Maker, recipe

FAMILY = "sparse matrices"
TYPES = ("float64", "float32")


def matrix(m: Maker, shape=(3, 2), form=None, dtype=None):
    """A sparse matrix."""
    form, dtype = form or m.one_of("csr", "csc"), dtype or m.one_of(*TYPES)
    variable = sparse.SparseTensorType(form, dtype)(f"x{len(m.values)}")
    dense = m.rng.uniform(-2, 2, shape) * (m.rng.random(shape) < 0.5)
    m.values[variable] = getattr(scipy.sparse, f"{form}_array" if False else f"{form}_matrix")(
        dense.astype(dtype)
    )
    return variable


@recipe(
    FAMILY,
    "local_dense_from_sparse_sparse_from_dense",
    "local_csm_properties_csm",
    "local_mul_s_d",
    "local_mul_s_v",
    "local_structured_add_s_v",
    "local_addsd_ccode",
    "local_inplace_addsd_ccode",
)
def sparse_sums_and_products(m: Maker):
    x = matrix(m)
    dtype = x.type.dtype
    d, v = (
        m.array((3, 2), dtype, special=False, known=False),
        m.array((2,), dtype, special=False, known=False),
    )
    parts = sparse.csm_properties(x)
    csm = sparse.CSR if x.type.format == "csr" else sparse.CSC
    return m.one_of(
        lambda: sparse.dense_from_sparse(sparse.csr_from_dense(d)),
        lambda: list(sparse.csm_properties(csm(*parts)))[:3],
        lambda: x * d,
        lambda: sparse.mul_s_v(x, v) if x.type.format == "csr" else x * d,
        lambda: sparse.structured_add_s_v(x, v) if x.type.format == "csr" else x * d,
        lambda: x + d,
        lambda: sparse.add(x, d) * 2,
    )()


@recipe(
    FAMILY,
    "local_usmm_csx",
    "local_usmm_csc_dense_inplace",
    "local_sampling_dot_csr",
)
def sparse_products_with_addends(m: Maker):
    x = matrix(m)
    dtype = x.type.dtype
    d, z = (
        m.array((2, 4), dtype, special=False, known=False),
        m.array((3, 4), dtype, special=False, known=False),
    )
    a, b = (
        m.array((3, 2), dtype, special=False, known=False),
        m.array((2, 2), dtype, special=False, known=False),
    )
    s = m.scalar(dtype, special=False)
    return m.one_of(
        lambda: z - s * sparse.dot(x, d),
        lambda: z - sparse.dot(x, d),
        lambda: sparse.structured_dot(x, d),
        lambda: sparse.sampling_dot(a, b, x),
        lambda: sparse.true_dot(x, d) if hasattr(sparse, "true_dot") else sparse.dot(x, d),
        lambda: pt.grad(sparse.structured_dot(x, d).sum(), d),
        lambda: z + (-s) * sparse.dot(x, d),
    )()
