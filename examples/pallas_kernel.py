"""An operation for devices whose kernel is your own, written with JAX's Pallas.

Theano's operations for GPUs brought CUDA text with them: a class of ``GpuKernelBase`` whose
``gpu_kernels`` returned it. Here XLA makes the kernels. Where its own do not do, a kernel is a Python
function on blocks of arrays, which Pallas compiles for GPUs and TPUs, and interprets on a CPU.

    python examples/pallas_kernel.py
"""

import numpy as np

import theano
import theano.tensor as T
from theano.gpuarray.basic_ops import GpuKernelBase
from theano.link.xla.lowering import lowers

# rows that one instance of the kernel does
ROWS = 8


class RowNorms(GpuKernelBase, theano.Op):
    """Each row of a matrix divided by its length."""

    __props__ = ()

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        if x.ndim != 2:
            raise TypeError(f"RowNorms takes a matrix, but got {x.type}")
        return theano.Apply(self, [x], [x.type()])

    def infer_shape(self, node, input_shapes):
        return input_shapes

    def grad(self, inputs, output_gradients):
        (x,), (g,) = inputs, output_gradients
        length, y = T.sqrt((x**2).sum(axis=1, keepdims=True)), self(x)
        return [(g - y * (g * y).sum(axis=1, keepdims=True)) / length]


@lowers(RowNorms)
def row_norms(op, node, inputs, context):
    """Give blocks of rows to the kernel, each with all columns."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas

    (x,) = inputs
    rows, columns = x.shape
    # Pallas wants whole blocks, on GPUs with powers of two as sizes: zeros fill them
    blocks, width = -(-rows // ROWS), 1 << (columns - 1).bit_length()
    filled = jnp.pad(x, ((0, blocks * ROWS - rows), (0, width - columns)))
    block = pallas.BlockSpec((ROWS, width), lambda i: (i, 0))
    normed = pallas.pallas_call(
        _kernel,
        out_shape=jax.ShapeDtypeStruct(filled.shape, x.dtype),
        grid=(blocks,),
        in_specs=[block],
        out_specs=block,
        # a CPU has no compiler for kernels: there JAX runs them block by block
        interpret=context.platform == "cpu",
    )(filled)
    return normed[:rows, :columns]


def _kernel(x, y):
    """Write a block of y, given one of x."""
    rows = x[...]
    y[...] = rows / (rows**2).sum(axis=1, keepdims=True) ** 0.5


def main() -> None:
    """Run it, its gradient, and a loop with it on the device that JAX has."""
    x = T.matrix("x", dtype="float32")
    y = RowNorms()(x)
    cost = (y[:, 0]).sum()
    walk, _ = theano.scan(lambda m: RowNorms()(m + 1), outputs_info=x, n_steps=3)
    f = theano.function([x], [y, theano.grad(cost, x), walk[-1]], mode="XLA")

    given = np.random.RandomState(0).normal(size=(20, 5)).astype("float32")
    values, gradient, last = f(given)
    print("lengths of the rows:", np.sqrt((values**2).sum(axis=1)).round(4).min())
    print("gradient of the first row:", gradient[0].round(4))
    print("first row after three steps:", last[0].round(4))


if __name__ == "__main__":
    main()
