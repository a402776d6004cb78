"""Exact values and derivatives of programs: forward differentiation in mpmath's long floats.

Integers that meet only integers stay NumPy's, and wrap as they do.
"""

from __future__ import annotations

import contextlib
from typing import Any

import mpmath
import numpy as np

# e**1000 has 435 digits before the point, and its complement to one as many zeros behind it
DIGITS = 1000


class Real:
    """An array of long floats, or of integers, with its derivative along one direction."""

    __array_priority__ = 1000

    def __init__(self, value: Any, slope: Any = None):
        self.value = value if isinstance(value, np.ndarray) else np.array(value)
        self.slope = slope

    @property
    def is_integer(self) -> bool:
        return self.value.dtype != object

    @property
    def shape(self) -> tuple[Real, ...]:
        return tuple(Real(np.int64(n)) for n in self.value.shape)

    @property
    def long(self) -> np.ndarray:
        return _long(self.value)

    @property
    def slopes(self) -> np.ndarray:
        return self.slope if self.slope is not None else _long(np.zeros(self.value.shape))

    def __add__(self, other):
        return _binary(np.add, self, other, lambda x, y: (1, 1))

    def __sub__(self, other):
        return _binary(np.subtract, self, other, lambda x, y: (1, -1))

    def __mul__(self, other):
        return _binary(np.multiply, self, other, lambda x, y: (y, x))

    def __truediv__(self, other):
        one, two = _real(self), _real(other)
        return _binary(np.divide, one, two, lambda x, y: (1 / y, -x / y**2), floats=True)

    def __pow__(self, other):
        def slopes(x, y):
            return y * x ** (y - 1), (x**y) * mpmath.log(x) if x > 0 else mpmath.mpf(0)

        return _binary(np.power, self, other, slopes)

    def __radd__(self, other):
        return _real(other) + self

    def __rsub__(self, other):
        return _real(other) - self

    def __rmul__(self, other):
        return _real(other) * self

    def __rtruediv__(self, other):
        return _real(other) / self

    def __neg__(self):
        if self.is_integer:
            return Real(-self.value)
        return Real(-self.value, None if self.slope is None else -self.slope)

    def __abs__(self):
        return (
            _unary(abs, lambda x, y: mpmath.sign(x))(self)
            if not self.is_integer
            else Real(abs(self.value))
        )

    def __gt__(self, other):
        return Real(np.array(self.long > _real(other).long, bool))

    def __ge__(self, other):
        return Real(np.array(self.long >= _real(other).long, bool))

    def __getitem__(self, index):
        if isinstance(index, tuple):
            index = tuple(each.value if isinstance(each, Real) else each for each in index)
        slope = None if self.slope is None else np.array(self.slope[index])
        return Real(np.array(self.value[index]), slope)

    def sum(self, axis=None, keepdims=False):
        if self.is_integer:
            wide = self.value.astype("int64") if self.value.dtype.kind != "u" else self.value
            return Real(np.array(wide.sum(axis=axis, keepdims=keepdims)))
        return Real(
            np.array(self.value.sum(axis=axis, keepdims=keepdims), object),
            None
            if self.slope is None
            else np.array(self.slope.sum(axis=axis, keepdims=keepdims), object),
        )

    def mean(self):
        return self.sum() / Real(np.int64(self.value.size))

    def max(self, axis=None, keepdims=False):
        where = np.expand_dims(self.value.argmax(axis), axis) if axis is not None else None
        if axis is None:
            return self[np.unravel_index(self.value.argmax(), self.value.shape)]
        value = np.take_along_axis(self.value, where, axis)
        slope = None if self.slope is None else np.take_along_axis(self.slope, where, axis)
        kept = Real(value, slope)
        return kept if keepdims else kept[(slice(None),) * axis + (0,)]

    def dimshuffle(self, *order):
        index = tuple(None if each == "x" else slice(None) for each in order)
        return self[index]

    def astype(self, dtype):
        return self if dtype.startswith("float") else Real(self.value.astype(dtype))


def _long(array: np.ndarray) -> np.ndarray:
    if array.dtype == object:
        return array
    made = np.empty(array.shape, object)
    for index in np.ndindex(array.shape):
        number = array[index]
        made[index] = mpmath.mpf(int(number) if array.dtype.kind in "iub" else float(number))
    return made


def _real(value: Any) -> Real:
    if isinstance(value, Real):
        return value
    if isinstance(value, int):
        return Real(np.array(value, "int8"))
    return Real(_long(np.array(value, "float64")))


def _binary(operation, one, two, slopes_of, floats=False):
    one, two = _real(one), _real(two)
    if one.is_integer and two.is_integer and not floats:
        return Real(np.array(operation(one.value, two.value)))
    x, y, dx, dy = np.broadcast_arrays(one.long, two.long, one.slopes, two.slopes)
    value, slope = np.empty(x.shape, object), np.empty(x.shape, object)
    for index in np.ndindex(x.shape):
        with _not_a_number(value, slope, index):
            value[index] = operation(x[index], y[index])
            by_x, by_y = slopes_of(x[index], y[index]) if dx[index] or dy[index] else (0, 0)
            slope[index] = _times(by_x, dx[index]) + _times(by_y, dy[index])
    return Real(value, slope)


def _times(rate, slope):
    """Multiply; what does not depend on the direction has no part in it, whatever its rate."""
    return rate * slope if slope else mpmath.mpf(0)


@contextlib.contextmanager
def _not_a_number(value, slope, index):
    try:
        yield
    except (ZeroDivisionError, ValueError, TypeError, OverflowError):
        value[index] = slope[index] = mpmath.nan


def _unary(function, slope_of):
    def applied(operand):
        operand = _real(operand)
        x, dx = operand.long, operand.slopes
        value, slope = np.empty(x.shape, object), np.empty(x.shape, object)
        for index in np.ndindex(x.shape):
            with _not_a_number(value, slope, index):
                value[index] = function(x[index])
                if not isinstance(value[index], mpmath.mpf):
                    raise ValueError
                slope[index] = mpmath.mpf(0)
                if dx[index]:
                    slope[index] = slope_of(x[index], value[index]) * dx[index]
        return Real(value, slope)

    return applied


def _switch(condition, one, two):
    condition, one, two = _real(condition), _real(one), _real(two)
    if one.is_integer and two.is_integer:
        return Real(np.where(condition.value, one.value, two.value))
    chosen = condition.value.astype(bool)
    return Real(
        np.array(np.where(chosen, one.long, two.long), object),
        np.array(np.where(chosen, one.slopes, two.slopes), object),
    )


def _sigmoid(x):
    return 1 / (1 + mpmath.exp(-x))


def _dot(one, two):
    value, slope = one.long.dot(two.long), one.slopes.dot(two.long) + one.long.dot(two.slopes)
    return Real(np.array(value, object), np.array(slope, object))


def _categorical_crossentropy(probabilities, picked):
    rows = np.arange(picked.value.shape[0])
    return -Functions.log(probabilities)[rows, picked.value]


def _binary_crossentropy(output, target):
    return -(target * Functions.log(output) + (1 - target) * Functions.log(1 - output))


def _softmax(z):
    powers = Functions.exp(z)
    return powers / powers.sum(axis=1, keepdims=True)


class Functions:
    """The names of theano.tensor that programs use."""

    exp = staticmethod(_unary(mpmath.exp, lambda x, y: y))
    log = staticmethod(_unary(mpmath.log, lambda x, y: 1 / x))
    log1p = staticmethod(_unary(lambda x: mpmath.log(1 + x), lambda x, y: 1 / (1 + x)))
    expm1 = staticmethod(_unary(lambda x: mpmath.exp(x) - 1, lambda x, y: y + 1))
    sqrt = staticmethod(_unary(mpmath.sqrt, lambda x, y: 1 / (2 * y)))
    tanh = staticmethod(_unary(mpmath.tanh, lambda x, y: 1 - y**2))
    erf = staticmethod(
        _unary(mpmath.erf, lambda x, y: 2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-(x**2)))
    )
    erfc = staticmethod(
        _unary(mpmath.erfc, lambda x, y: -2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-(x**2)))
    )
    gammaln = staticmethod(_unary(mpmath.loggamma, lambda x, y: mpmath.psi(0, x)))
    abs_ = staticmethod(abs)
    switch = staticmethod(_switch)
    dot = staticmethod(_dot)

    @staticmethod
    def sqr(x):
        return x * x

    @staticmethod
    def sum(x, axis=None):
        return x.sum(axis=axis)

    @staticmethod
    def mean(x):
        return x.mean()

    @staticmethod
    def gt(x, y):
        return _real(x) > y

    @staticmethod
    def cast(x, dtype):
        return x.astype(dtype)

    @staticmethod
    def maximum(x, y):
        return _switch(_real(x) >= y, x, y)

    @staticmethod
    def arange(n):
        return Real(np.arange(n.value.item() if isinstance(n, Real) else n))

    class nnet:
        sigmoid = staticmethod(_unary(_sigmoid, lambda x, y: y * (1 - y)))
        softplus = staticmethod(
            _unary(lambda x: mpmath.log(1 + mpmath.exp(x)), lambda x, y: _sigmoid(x))
        )
        softmax = staticmethod(_softmax)
        binary_crossentropy = staticmethod(_binary_crossentropy)
        categorical_crossentropy = staticmethod(_categorical_crossentropy)


def exact(expression: str, leaves: dict[str, np.ndarray], wrt: str) -> tuple[Any, Any]:
    """Return the value of an expression, and the gradient of its sum by one of its leaves.

    Parameters
    ----------
    expression : str
        Python, in terms of ``T`` and the leaves.
    leaves : dict
        Arrays of any real dtype.
    wrt : str
        The name of a leaf of floats.

    Returns
    -------
    value, gradient
        Arrays of mpmath's floats, of the shapes of the value and of the leaf.
    """
    with mpmath.workdps(DIGITS), np.errstate(all="ignore"):
        point = leaves[wrt]
        gradient = np.empty(point.shape, object)
        for index in np.ndindex(point.shape):
            reals = {
                name: Real(array if array.dtype.kind in "iub" else _long(array))
                for name, array in leaves.items()
            }
            direction = _long(np.zeros(point.shape))
            direction[index] = mpmath.mpf(1)
            reals[wrt].slope = direction
            value = _real(eval(expression, {"T": Functions, **reals}))
            gradient[index] = value.slopes.sum()
        return value.long, gradient
