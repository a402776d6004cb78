"""Products of stacks of matrices, and of whole numbers."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.ir import Value, View
from theano.link.native.ir.scalar_types import C_TYPES, FLOATS, SUFFIX
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.operations.kernels import looks_of
from theano.link.native.lowering.operations.matrices.stacks import stack_shape, stretched
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.render.arrays import Array, indices, loops, passes
from theano.link.native.render.looks import declared, look_after, unless_empty
from theano.link.native.statements.base import Work
from theano.link.native.statements.costs import ARITHMETIC, MULTIPLY_ADD
from theano.link.native.statements.kernel import Kernel
from theano.pytensor_base.operations.tensor import BatchedDot


@lowers(BatchedDot)
def batched_dot(step: Step, node, inputs: list[Value]) -> list[Value]:
    a, b = inputs
    step.sizes.equal(a.shape[0], b.shape[0], "numbers of matrices of a batched product")
    return [product_of_stacks(step, a, b, ((False,), (False,)), node.outputs[0].type.dtype)]


def product_of_stacks(
    step: Step, a: Value, b: Value, flags: Sequence[Sequence[bool]], dtype: str
) -> View:
    """``a[..., :, :] @ b[..., :, :]``; ``flags`` says which sizes of the stacks are known as 1."""
    left, right = (step.view(cast(step, value, dtype)) for value in (a, b))
    step.sizes.equal(left.shape[-1], right.shape[-2], "sizes of a product")
    shape = stack_shape(step, (left, right), flags)
    left = stretched(left, shape, flags[0])
    right = stretched(right, shape, flags[1])
    out = step.rows_without_gaps(dtype, (*shape, left.shape[-2], right.shape[-1]))
    looks = looks_of(step)
    one = _runtime_product(dtype, looks) if dtype in FLOATS else _plain_product(dtype, looks)
    names = indices("b", len(shape))

    def lines(y: Array, x: Array, z: Array) -> list[str]:
        products = loops(names, y.shape[:-2], one(names, y, x, z), looks)
        return [*declared(looks), *unless_empty(y.shape, products)]

    each = MULTIPLY_ADD.get(dtype, ARITHMETIC)
    terms = (*out.shape, left.shape[-1])
    takes, computes = [Work(each, terms)], [Work(2, terms)]
    step.append(Kernel([View.of(out)], [left, right], lines, takes=takes, computes=computes), out)
    return View.of(out)


def _runtime_product(dtype: str, looks: int):
    def one(names: Sequence[str], y: Array, x: Array, z: Array) -> list[str]:
        operands = [
            f"{array.name} + {array.offset(*names)}, {array.strides[-2]}, {array.strides[-1]}"
            for array in (x, z)
        ]
        result = f"{y.name} + {y.offset(*names)}, {y.strides[-2]}"
        sizes = f"{y.shape[-2]}, {y.shape[-1]}, {x.shape[-1]}"
        # a large product looks up itself
        elements = f"{y.shape[-2]} * {y.shape[-1]} + {x.shape[-2]} * {x.shape[-1]}"
        return [
            f"runtime->gemm_{SUFFIX[dtype]}({sizes}, {', '.join(operands)}, {result});",
            *(look_after(elements, looks) if names else []),
        ]

    return one


def _plain_product(dtype: str, looks: int):
    """The product of whole numbers, which wraps around, or of truth values."""
    kind = C_TYPES[dtype]
    add, multiply = ("|", "&") if dtype == "bool" else ("+", "*")
    working = kind if dtype == "bool" else "uint64_t"

    def one(names: Sequence[str], y: Array, x: Array, z: Array) -> list[str]:
        left, right = x.at(*names, "i", "k"), z.at(*names, "k", "j")
        term = f"total = total {add} ({working}){left} {multiply} ({working}){right};"
        body = [
            f"{working} total = 0;",
            *passes("k", [x.shape[-1]], [term], looks),
            f"{y.at(*names, 'i', 'j')} = ({kind})total;",
        ]
        return loops("ij", y.shape[-2:], body, looks)

    return one
