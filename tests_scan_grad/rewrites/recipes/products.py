"""Products of matrices and vectors."""

import numpy as np
import pytensor.tensor as pt

from tests_scan_grad.rewrites.making import Maker, recipe

FAMILY = "products"
TYPES = ("float64", "float32", "int64", "int8", "complex128")
BLAS_TYPES = ("float64", "float32", "complex64")


@recipe(FAMILY, "product_with_zeros", "local_dot_to_mul", "local_lift_transpose_through_dot")
def products_of_known_kinds(m: Maker):
    n, k, p = m.lengths(3)
    x, y = m.array((n, k), TYPES), m.array((k, p), TYPES)
    zeros = np.zeros((k, p), m.dtype(TYPES))
    v, w = (
        m.array((1, k), TYPES, known=[True, False]),
        m.array((k, 1), TYPES, known=[m.chance(), True]),
    )
    one = m.array((1, p), TYPES, known=[True, m.chance()])
    return m.one_of(
        lambda: pt.dot(x, y).T,
        lambda: pt.dot(x, zeros),
        lambda: pt.dot(v, w),
        lambda: pt.dot(w, one),
        lambda: pt.dot(v, y),
        lambda: pt.dot(pt.zeros_like(x), y),
        lambda: pt.dot(x, pt.alloc(np.float32(0), k, p)),
        lambda: pt.dot(w, v),
        lambda: pt.dot(x, w).T,
        # the graph of known lengths that do not fit is refused
        lambda: pt.dot(x[:, :1], one) if x.type.shape[1] != 0 else pt.dot(x, y),
        lambda: pt.dot(v[0], w[:, 0]),
    )()


@recipe(
    FAMILY,
    "local_dot_to_dot22",
    "scaled_product",
    "gemm_optimizer",
    "local_inplace_gemm",
    "local_gemm_to_gemv",
)
def sums_of_products_and_scaled_products(m: Maker):
    n, k, p = m.lengths(3)
    dtype = m.dtype(BLAS_TYPES)
    real = dtype.replace("complex64", "float32")
    x, y, z = m.array((n, k), dtype), m.array((k, p), dtype), m.array((n, p), m.one_of(dtype, real))
    s, row = m.scalar(real), m.array((1, p), dtype, known=[True, m.chance()])
    product = pt.dot(x, y)
    return m.one_of(
        lambda: product,
        lambda: product * s,
        lambda: product + z,
        lambda: z - product * s,
        lambda: s * z + 2 * product,
        lambda: product + row,
        lambda: z * s - 0.5 * product * s,
        lambda: product / 3 + z,
        lambda: product * row,
        lambda: [product, 2 * product],
        lambda: pt.dot(x.T, z),
        lambda: [product, product * s, product + z],
        lambda: pt.dot(x * s, y) * 2,
        lambda: z + product + product,
        lambda: -product,
    )()


@recipe(
    FAMILY,
    "use_c_gemv",
    "use_c_ger",
    "local_dot22_to_ger_or_gemv",
    "local_dot22_to_gemv",
    "local_gemm_to_ger",
    "local_inplace_gemv",
    "local_inplace_ger",
    "make_c_gemv_destructive",
    "make_c_ger_destructive",
)
def products_with_vectors(m: Maker):
    n, k = m.lengths(2)
    dtype = m.dtype(BLAS_TYPES[:2])
    x, v, w = m.array((n, k), dtype), m.array((k,), dtype), m.array((n,), dtype)
    s = m.scalar(dtype)
    return m.one_of(
        lambda: pt.dot(x, v),
        lambda: pt.dot(w, x),
        lambda: w + s * pt.dot(x, v),
        lambda: x + pt.outer(w, v),
        lambda: pt.outer(w, v) * s + x,
        lambda: w * 2 - pt.dot(x, v),
        lambda: v + pt.dot(x.T, w),
        lambda: pt.dot(v, v),
        lambda: pt.dot(x[::-1], v),
        lambda: x * s + 2 * pt.outer(w, v),
        lambda: pt.dot(x, v[::-1]) + w,
    )()


@recipe(
    FAMILY,
    "local_batched_matmul_to_core_matmul",
    "local_batched_matmul_to_core_matmul_with_reshape",
    "specialize_matmul_to_batched_dot",
    "local_eager_useless_unbatched_blockwise",
)
def products_of_stacks(m: Maker):
    b, n, k, p = m.lengths(4)
    x = m.array((m.one_of(1, b), n, k), TYPES, known=[True, m.chance(), m.chance()])
    y = m.array((m.one_of(1, b), k, p), TYPES, known=[True, m.chance(), m.chance()])
    matrix, vector = m.array((k, p), TYPES), m.array((k,), TYPES)
    stack = m.array((b, n, k), TYPES)
    return m.one_of(
        lambda: pt.matmul(x, y),
        lambda: pt.matmul(stack, matrix),
        lambda: pt.matmul(matrix.T, stack.dimshuffle(0, 2, 1)),
        lambda: pt.matmul(stack, vector),
        lambda: pt.matmul(stack, stack.dimshuffle(0, 2, 1)),
        lambda: pt.matmul(x[:1], y[:1]),
        lambda: pt.matmul(matrix.T, vector),
        lambda: pt.matmul(stack[None], matrix),
    )()


@recipe(FAMILY, "optimize_einsum_inner_graph", "inline_optimized_einsum")
def products_by_letters(m: Maker):
    i, j, k = m.lengths(3, (1, 2, 3))
    x, y, z = m.array((i, j)), m.array((j, k)), m.array((k, i))
    return m.one_of(
        lambda: pt.einsum("ij,jk->ik", x, y),
        lambda: pt.einsum("ij,jk,ki->", x, y, z),
        lambda: pt.einsum("ij,jk,ki->i", x, y, z),
        lambda: pt.einsum("ij->ji", x),
        lambda: pt.einsum("ij,ij->", x, x),
    )()


@recipe(FAMILY, "transposed_products")
def products_and_their_transposes(m: Maker):
    n, k, p = m.lengths(3)
    x, y = m.array((n, k), TYPES), m.array((k, p), TYPES)
    return m.one_of(
        lambda: [pt.dot(x, y), pt.dot(y.T, x.T)],
        lambda: pt.dot(x, y).T + pt.dot(y.T, x.T),
        lambda: [pt.dot(x.T, x), pt.dot(x, x.T)],
        lambda: [pt.dot(y.T, x.T), pt.exp(pt.dot(x, y))],
    )()


@recipe(FAMILY, "structured_products")
def products_with_diagonal_matrices(m: Maker):
    n = m.one_of(0, 1, 3)
    x, d = m.array((n, n), ("float64", "float32")), m.array((n,), ("float64", "float32"))
    eye = pt.eye(n, m.one_of(n, n + 1), m.one_of(0, 0, 1, -1), dtype=m.one_of("float32", "int8"))
    return m.one_of(
        lambda: pt.dot(x, pt.diag(d)),
        lambda: pt.dot(pt.diag(d), x),
        lambda: pt.dot(x, eye),
        lambda: pt.dot(eye.T, x),
        lambda: pt.dot(pt.diag(d), pt.diag(d)),
        lambda: pt.diag(d).T,
        lambda: pt.dot(pt.diag(d), d),
    )()


@recipe(FAMILY, "local_block_diag_dot_to_dot_block_diag", "fuse_blockdiagonal", "diag_of_blockdiag")
def products_with_blocks(m: Maker):
    from pytensor.tensor.slinalg import block_diag

    a, b = m.array((2, 2), known=m.chance()), m.array((1, m.one_of(1, 3)), known=m.chance())
    block = block_diag(a, b)
    k = 2 + m.values[b].shape[1]
    x, y = m.array((k, 2)), m.array((2, 3))
    return m.one_of(
        lambda: pt.dot(block, x),
        lambda: pt.dot(y, block),
        lambda: block_diag(a, block),
        lambda: pt.diagonal(block) if k == 3 else block,
        lambda: block_diag(block, block_diag(a, a)),
    )()


@recipe(
    FAMILY,
    "local_blockwise_alloc",
    "local_blockwise_alloc_inputs",
    "local_blockwise_reshape",
    "local_useless_unbatched_blockwise",
    "lift_linalg_of_expanded_matrices",
)
def operations_on_stacks(m: Maker):
    from pytensor.graph.replace import vectorize_graph
    from pytensor.tensor.nlinalg import inv

    x = m.array((2, 2), ("float64",), among=lambda s: m.rng.uniform(-0.3, 0.3, s) + 2 * np.eye(2))
    stack = m.array(
        (m.one_of(1, 2), 2, 2),
        ("float64",),
        among=lambda s: m.rng.uniform(-0.3, 0.3, s) + 2 * np.eye(2),
    )
    v, vs = pt.dvector(), m.array((m.one_of(1, 3), 4), ("float64",))
    n = m.scalar("int64", among=lambda s: 2)
    return m.one_of(
        lambda: inv(x[None]),
        lambda: inv(pt.alloc(x, m.one_of(n, 2), 2, 2)),
        lambda: pt.matmul(pt.alloc(x, n, 2, 2), stack[:1]),
        lambda: vectorize_graph(v.reshape((2, 2)), {v: vs}),
        lambda: vectorize_graph(pt.alloc(v, 3, 4), {v: vs}),
        lambda: vectorize_graph(v.reshape((-1, 2)), {v: vs}),
        lambda: inv(stack),
        lambda: pt.linalg.det(x[None, None]),
        lambda: pt.matmul(inv(x.dimshuffle("x", 0, 1)), stack),
        lambda: vectorize_graph(pt.alloc(v[0], 2), {v: vs}),
    )()
