"""Products of the elements along axes, which have gradients of any order, of zeros too.

PyTensor's rule divides by the elements and takes zeros apart, and what it gives has no gradient;
of one element that is zero it gives zero.
"""

from __future__ import annotations

import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType, disconnected_grad
from pytensor.graph.basic import Variable
from pytensor.tensor import TensorLike
from pytensor.tensor.math import Prod as _PyTensorProd
from pytensor.tensor.math import makeKeepDims
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.operations.tensor import TensorSymbolicOp

__all__ = ["OthersOfZeros", "Prod", "prod"]


class Prod(_PyTensorProd):
    """The products of the elements along axes, of all elements for None.

    Parameters
    ----------
    axis : int or sequence of int, optional
    dtype, acc_dtype : str, optional
        Of the result, and of what is multiplied; PyTensor chooses them by the operand's.
    no_zeros_in_input : bool
        That no element is zero, so that gradients may divide by each of them.
    """

    def pullback(self, inputs, outputs, cotangents):
        """Return quotients of the product itself, so that a logarithm's gradient has none left."""
        (x,), (cotangent,) = inputs, cotangents
        if isinstance(cotangent.type, DisconnectedType) or not self._has_own_rule(x):
            return super().pullback(inputs, outputs, cotangents)
        axes = _axes(self, x)
        cotangent = pt.expand_dims(cotangent, axes)
        # its gradient, zeros of floatX, would widen second gradients
        is_zero = disconnected_grad(pt.eq(x, 0))
        divisor = pt.switch(is_zero, pt.ones_like(x), x)
        quotient = cotangent * pt.expand_dims(self(x), axes) / divisor
        others = OthersOfZeros(self.axis, self.dtype, self.acc_dtype)(x)
        return [pt.switch(is_zero, cotangent * others, quotient)]

    def pushforward(self, inputs, outputs, tangents):
        """Return the sum of the products in which the tangent is in place of an element."""
        (x,), (tangent,) = inputs, tangents
        if isinstance(tangent.type, DisconnectedType):
            return [tangent]
        if not self._has_own_rule(x):
            return super().pushforward(inputs, outputs, tangents)
        (others,) = self.pullback(inputs, outputs, [pt.ones_like(outputs[0])])
        return [(others * tangent).sum(_axes(self, x)).astype(outputs[0].dtype)]

    def _has_own_rule(self, x: Variable) -> bool:
        dtypes = {x.type.dtype, self.dtype or x.type.dtype, self.acc_dtype or x.type.dtype}
        real = all(dtype.startswith("float") for dtype in dtypes)
        return real and not self.no_zeros_in_input and bool(_axes(self, x))


class OthersOfZeros(TensorSymbolicOp):
    """For each zero the product of the other elements along axes; zero for what is not zero.

    Parameters
    ----------
    axis : tuple of int, optional
    dtype, acc_dtype : str, optional
        As of `Prod`.
    """

    __props__ = ("axis", "dtype", "acc_dtype")
    inline = True
    # set by the base class
    axis: tuple[int, ...] | None
    dtype: str | None
    acc_dtype: str | None

    def __init__(
        self,
        axis: tuple[int, ...] | None = None,
        dtype: str | None = None,
        acc_dtype: str | None = None,
        **kwargs: object,
    ):
        super().__init__(axis=axis, dtype=dtype, acc_dtype=acc_dtype, **kwargs)

    def build_inner_graph(self, x):
        """Return the product of what is not zero, where there is one zero."""
        axes = _axes(self, x)
        is_zero = pt.eq(x, 0)
        product = _PyTensorProd(self.axis, self.dtype, self.acc_dtype)
        others = pt.expand_dims(product(pt.switch(is_zero, pt.ones_like(x), x)), axes)
        only = pt.and_(is_zero, pt.eq(is_zero.sum(axes, keepdims=True), 1))
        return [pt.switch(only, others, pt.zeros_like(others))]

    def pullback(self, inputs, outputs, cotangents):
        """Return the gradient of products that are computed without looking for zeros."""
        from theano.gradient import grad

        (x,), (cotangent,) = inputs, cotangents
        value = self._by_loops(x)
        weights = (cotangent * pt.eq(x, 0)).astype(value.dtype)
        return [grad(None, x, known_grads={value: weights}).astype(x.dtype)]

    def pushforward(self, inputs, outputs, tangents):
        """Return the gradient by the tangent: second derivatives are symmetric."""
        from theano.gradient import grad

        (x,), (tangent,) = inputs, tangents
        if isinstance(tangent.type, DisconnectedType):
            return [tangent]
        value = self._by_loops(x)
        found = grad(None, x, known_grads={value: tangent.astype(value.dtype)})
        return [(found * pt.eq(x, 0)).astype(outputs[0].dtype)]

    def _by_loops(self, x: TensorVariable) -> TensorVariable:
        """Return the products of what is before an element, times those of what is behind it."""
        axes = _axes(self, x)
        kept = [axis for axis in range(x.type.ndim) if axis not in axes]
        order = [*axes, *kept]
        moved = x.transpose(order)
        rows = moved.reshape((-1, *(x.shape[axis] for axis in kept)), ndim=1 + len(kept))
        if self.acc_dtype is not None:
            rows = rows.astype(self.acc_dtype)
        others = _products_before(rows) * _products_before(rows[::-1])[::-1]
        back = [order.index(axis) for axis in range(x.type.ndim)]
        return others.reshape(moved.shape, ndim=x.type.ndim).transpose(back)


def _axes(op: Prod | OthersOfZeros, x: Variable) -> tuple[int, ...]:
    return tuple(range(x.type.ndim)) if op.axis is None else tuple(op.axis)


def _products_before(rows: TensorVariable) -> TensorVariable:
    """For each row the product of the rows before it, ones for the first."""
    # a loop's module is imported when one is made
    from theano.scan_module import scan

    ones = pt.ones(rows.shape[1:], dtype=rows.dtype)
    products, _ = scan(lambda row, product: row * product, rows, ones)
    return pt.concatenate([ones[None], products])[:-1]


def prod(
    input: TensorLike,
    axis: object = None,
    dtype: object = None,
    keepdims: bool = False,
    acc_dtype: object = None,
    no_zeros_in_input: bool = False,
) -> TensorVariable:
    """Return the products of the elements along the axes, of all elements for None.

    Parameters
    ----------
    input : tensor
    axis : int or sequence of int, optional
    dtype, acc_dtype : str, optional
        Of the result, and of what is multiplied.
    keepdims : bool
        Whether the axes stay, of length 1.
    no_zeros_in_input : bool
        That no element is zero, so that gradients may divide by each of them.
    """
    result = Prod(axis, dtype, acc_dtype, no_zeros_in_input)(input)
    return known_tensor(makeKeepDims(input, result, axis) if keepdims else result)
