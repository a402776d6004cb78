"""Random expressions: graphs of many operations over arrays of several types, shapes and layouts.

Every operation's ``perform`` runs as soon as the operation is applied, so that the next ones can
be chosen by the values, and the expected results are there in the end. A value is *exact* if no
rounding was involved; only such values go into operations that jump or have poles, where a
difference in the last digit would become a large one.
"""

from __future__ import annotations

import numpy as np
import pytensor.tensor as pt
from hypothesis import strategies as st

from tests_scan_grad.native.lowering.expressions import Expressions, Item, performed

FLOATS = ("float32", "float64")
DTYPES = ("float64", "float32", "int64", "int8", "int32", "uint8", "bool")
LARGEST = 2000.0
# ---- operations: each takes a pool and a way to draw, and returns a variable and its exactness ----

SMOOTH = ("tanh", "sin", "cos", "exp", "sigmoid", "erf", "arctan", "softplus", "expm1", "arcsinh")
JUMPING = ("sgn", "floor", "ceil", "round", "trunc", "isnan", "isinf", "abs", "neg", "sqr")
WITH_POLES = ("log", "sqrt", "reciprocal", "log1p", "gammaln", "arccos", "exp2", "tan", "log2")
ARITHMETIC = ("add", "sub", "mul", "maximum", "minimum")
COMPARING = ("lt", "gt", "le", "ge", "eq", "neq", "int_div", "mod", "true_div", "arctan2")
BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor")


class Builder:
    """Applies random operations to a growing pool of items."""

    def __init__(self, draw, inputs: list[Item]):
        self.draw, self.pool = draw, list(inputs)
        self.known = {item.variable: item.value for item in inputs}
        self.operations: list[str] = []

    def pick(self, condition=lambda item: True) -> Item:
        fitting = [item for item in self.pool if condition(item)]
        if not fitting:
            raise ValueError("nothing fits")
        # rather the newer ones, so that graphs become deep
        return fitting[-1 - min(self.draw(st.integers(0, 2 * len(fitting))), len(fitting) - 1)]

    def choose(self, options):
        return self.draw(st.sampled_from(list(options)))

    def whole(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def apply(self, name: str) -> None:
        """Add what the operation returns, unless it does not take what was drawn."""
        try:
            made, exact = OPERATIONS[name](self)
            values = performed(made, self.known)
        except (TypeError, ValueError, IndexError, NotImplementedError, AssertionError):
            return
        for variable, value in zip(made, values, strict=True):
            value = np.asarray(value)
            finite = value[np.isfinite(value)] if value.dtype.kind == "f" else value
            if value.size > 200 or np.abs(finite.astype(float)).max(initial=0) > LARGEST:
                continue
            self.pool.append(Item(variable, value, exact))
            self.operations.append(f"{name}: {variable.owner} -> {value.dtype}{value.shape}")


def _smooth(b: Builder):
    x = b.pick(lambda item: item.is_float)
    return [getattr(pt, b.choose(SMOOTH))(x.variable)], False


def _jumping(b: Builder):
    x = b.pick(lambda item: item.exact)
    return [getattr(pt, b.choose(JUMPING))(x.variable)], True


def _with_poles(b: Builder):
    x = b.pick(lambda item: item.exact and item.is_float)
    return [getattr(pt, b.choose(WITH_POLES))(x.variable)], False


def _pair(b: Builder, condition=lambda item: True) -> tuple[Item, Item]:
    first = b.pick(condition)
    if b.whole(0, 3) == 0:
        return first, b.pick(lambda item: condition(item) and item.ndim == 0)
    return first, b.pick(condition)


def _arithmetic(b: Builder):
    x, y = _pair(b)
    return [getattr(pt, b.choose(ARITHMETIC))(x.variable, y.variable)], x.exact and y.exact


def _comparing(b: Builder):
    x, y = _pair(b, lambda item: item.exact)
    name = b.choose(COMPARING)
    return [getattr(pt, name)(x.variable, y.variable)], name not in ("true_div", "arctan2")


def _bitwise(b: Builder):
    x, y = _pair(b, lambda item: not item.is_float)
    return [getattr(pt, b.choose(BITWISE))(x.variable, y.variable)], True


def _switch(b: Builder):
    condition = b.pick(lambda item: item.exact)
    x, y = _pair(b)
    chosen = [pt.switch(condition.variable, x.variable, y.variable)]
    return chosen, x.exact and y.exact


def _clip(b: Builder):
    x, low = _pair(b)
    high = b.pick()
    exact = x.exact and low.exact and high.exact
    return [pt.clip(x.variable, low.variable, high.variable)], exact


def _cast(b: Builder):
    x, dtype = b.pick(lambda item: item.exact), b.choose(DTYPES)
    if dtype not in FLOATS and dtype != "bool" and x.value.size:
        limits = np.iinfo(dtype)
        if not (np.isfinite(x.value).all() and limits.min <= x.value.min()):
            raise ValueError("does not fit")
        if x.value.max() > limits.max:
            raise ValueError("does not fit")
    return [pt.cast(x.variable, dtype)], True


def _axis(b: Builder, ndim: int):
    return None if b.whole(0, 3) == 0 else b.whole(-ndim, ndim - 1)


def _reduction(b: Builder):
    name = b.choose(("sum", "max", "min", "mean", "prod", "any", "all", "argmax"))
    jumps = name in ("any", "all", "argmax")
    x = b.pick(lambda item: item.ndim > 0 and (item.exact or not jumps))
    axis = _axis(b, x.ndim)
    operand = pt.neq(x.variable, 0) if name in ("any", "all") else x.variable
    keepdims = b.whole(0, 1) == 1
    exact = jumps or (x.exact and name not in ("mean", "prod"))
    return [getattr(pt, name)(operand, axis=axis, keepdims=keepdims)], exact


def _softmax(b: Builder):
    x = b.pick(lambda item: item.ndim > 0 and item.is_float)
    name = b.choose(("softmax", "log_softmax"))
    return [getattr(pt.special, name)(x.variable, axis=_axis(b, x.ndim))], False


def _transposed(b: Builder):
    x = b.pick(lambda item: item.ndim > 0)
    order = list(b.draw(st.permutations(range(x.ndim))))
    if b.whole(0, 1):
        order.insert(b.whole(0, len(order)), "x")
    return [x.variable.dimshuffle(order)], x.exact


def _reshaped(b: Builder):
    x = b.pick()
    sizes = [size if b.whole(0, 1) else x.variable.shape[d] for d, size in enumerate(x.value.shape)]
    kind = b.choose(("flat", "reversed", "joined", "ones"))
    if kind == "flat":
        shape: list = [-1]
    elif kind == "reversed":
        shape = sizes[::-1]
    elif kind == "joined":
        shape = [-1, *sizes[2:]]
    else:
        shape = [1, *sizes, 1]
    return [pt.reshape(x.variable, shape, ndim=len(shape))], x.exact


def _bound(b: Builder, x: Item, d: int):
    kind = b.whole(0, 3)
    if kind == 0:
        return None
    if kind == 1:
        return x.variable.shape[d] // 2
    return b.whole(-4, 4)


def _indices(b: Builder, x: Item) -> tuple:
    entries: list = []
    for d, size in enumerate(x.value.shape[: b.whole(1, x.ndim)]):
        kind = b.whole(0, 3)
        if kind == 0 and size:
            entries.append(b.whole(-size, size - 1))
        elif kind == 1 and size:
            number = b.pick(lambda item: item.ndim == 0 and item.value.dtype == np.int64)
            entries.append(pt.mod(number.variable, max(size, 1)))
        else:
            stride = b.choose((None, 1, 2, -1, -2))
            entries.append(slice(_bound(b, x, d), _bound(b, x, d), stride))
    return tuple(entries)


def _part(b: Builder):
    x = b.pick(lambda item: item.ndim > 0)
    return [x.variable[_indices(b, x)]], x.exact


def _update(b: Builder):
    x = b.pick(lambda item: item.ndim > 0)
    part = x.variable[_indices(b, x)]
    y = b.pick(lambda item: item.ndim <= part.ndim and item.value.dtype == x.value.dtype)
    function = b.choose((pt.set_subtensor, pt.inc_subtensor))
    return [function(part, y.variable)], x.exact and y.exact


def _rows(b: Builder, x: Item, d: int):
    """Indices into a dimension: constants, or computed ones."""
    size = x.value.shape[d]
    if not size:
        raise ValueError("no rows")
    if b.whole(0, 1):
        count = b.whole(0, 3)
        return np.array([b.whole(-size, size - 1) for _ in range(count)], np.int64)
    item = b.pick(lambda item: item.ndim in (1, 2) and item.value.dtype.kind == "i")
    return pt.mod(item.variable, size)


def _picked_part(b: Builder, x: Item):
    if x.ndim > 1 and b.whole(0, 1):
        rows = _rows(b, x, 0)
        return x.variable[rows, _rows(b, x, 1)]
    lead = (slice(None),) * b.whole(0, x.ndim - 1)
    return x.variable[(*lead, _rows(b, x, len(lead)))]


def _picked(b: Builder):
    x = b.pick(lambda item: item.ndim > 0)
    return [_picked_part(b, x)], x.exact


def _picked_update(b: Builder):
    x = b.pick(lambda item: item.ndim > 0 and item.value.dtype != bool)
    part = _picked_part(b, x)
    y = b.pick(lambda item: item.ndim <= part.ndim and item.value.dtype == x.value.dtype)
    function = b.choose((pt.set_subtensor, pt.inc_subtensor))
    return [function(part, y.variable)], x.exact and y.exact


def _update_where(b: Builder):
    x = b.pick(lambda item: item.ndim > 0 and item.exact and item.value.dtype != bool)
    y = b.pick(lambda item: item.ndim == 0 and item.value.dtype == x.value.dtype)
    function = b.choose((pt.set_subtensor, pt.inc_subtensor))
    mask = pt.gt(x.variable if b.whole(0, 1) else x.variable.sum(axis=range(1, x.ndim)), 0)
    return [function(x.variable[mask], y.variable)], y.exact


def _joined(b: Builder):
    x = b.pick(lambda item: item.ndim > 0)
    axis = b.whole(-x.ndim, x.ndim - 1)

    def fits(item: Item) -> bool:
        if item.ndim != x.ndim:
            return False
        pairs = zip(item.value.shape, x.value.shape, strict=True)
        return all(d == axis % x.ndim or m == n for d, (m, n) in enumerate(pairs))

    others = [b.pick(fits) for _ in range(b.whole(1, 2))]
    exact = all(item.exact for item in (x, *others))
    return [pt.concatenate([x.variable, *(y.variable for y in others)], axis=axis)], exact


def _stacked(b: Builder):
    x = b.pick()
    y = b.pick(lambda item: item.value.shape == x.value.shape)
    return [pt.stack([x.variable, y.variable], axis=b.whole(0, x.ndim))], x.exact and y.exact


def _split(b: Builder):
    x = b.pick(lambda item: item.ndim > 0)
    axis = b.whole(0, x.ndim - 1)
    first = b.whole(0, x.value.shape[axis])
    lengths = [first, x.variable.shape[axis] - first]
    return list(pt.split(x.variable, lengths, n_splits=2, axis=axis)), x.exact


def _product(b: Builder):
    x = b.pick(lambda item: item.ndim > 0 and item.value.dtype != bool)

    def fits(item: Item) -> bool:
        if item.ndim == 0 or item.value.dtype == bool:
            return False
        return item.value.shape[max(item.ndim - 2, 0)] == x.value.shape[-1]

    return [pt.matmul(x.variable, b.pick(fits).variable)], False


def _filled(b: Builder):
    x, one = b.pick(), b.pick(lambda item: item.ndim == 0)
    return [
        b.choose(
            (
                lambda: pt.zeros_like(x.variable),
                lambda: pt.full(x.variable.shape, one.variable),
                lambda: pt.second(x.variable, one.variable),
                lambda: pt.alloc(x.variable, b.whole(0, 2), *x.variable.shape),
            )
        )()
    ], one.exact and x.exact


def _generated(b: Builder):
    x = b.pick(lambda item: item.ndim > 0)
    n = x.variable.shape[b.whole(0, x.ndim - 1)]
    return [
        b.choose(
            (
                lambda: pt.arange(n),
                lambda: pt.arange(3, n - 5, -2),
                lambda: pt.eye(n, 3, b.whole(-1, 1)),
                lambda: pt.arange(0.0, n, 0.5),
            )
        )()
    ], True


def _cumulative(b: Builder):
    x = b.pick(lambda item: item.ndim > 0)
    return [pt.cumsum(x.variable, axis=b.whole(0, x.ndim - 1))], x.exact


def _repeated(b: Builder):
    x = b.pick(lambda item: item.ndim > 0)
    return [pt.repeat(x.variable, b.whole(0, 2), axis=b.whole(0, x.ndim - 1))], x.exact


def _diagonal(b: Builder):
    x = b.pick(lambda item: item.ndim > 1)
    return [pt.diagonal(x.variable, b.whole(-2, 2))], x.exact


OPERATIONS = {
    "smooth": _smooth,
    "jumping": _jumping,
    "with poles": _with_poles,
    "arithmetic": _arithmetic,
    "more arithmetic": _arithmetic,
    "comparing": _comparing,
    "bitwise": _bitwise,
    "switch": _switch,
    "clip": _clip,
    "cast": _cast,
    "reduction": _reduction,
    "softmax": _softmax,
    "transposed": _transposed,
    "reshaped": _reshaped,
    "part": _part,
    "update": _update,
    "selected": _picked,
    "picked update": _picked_update,
    "update where a mask holds": _update_where,
    "joined": _joined,
    "stacked": _stacked,
    "split": _split,
    "product": _product,
    "filled": _filled,
    "generated": _generated,
    "cumulative": _cumulative,
    "repeated": _repeated,
    "diagonal": _diagonal,
}


# ---- inputs ----

LAYOUTS = {
    "C order": lambda x: x,
    "Fortran order": lambda x: np.asfortranarray(x) if x.ndim else x,
    "reversed": lambda x: np.ascontiguousarray(x[..., ::-1])[..., ::-1] if x.ndim else x,
    "every other": lambda x: np.repeat(x, 2, axis=0)[::2] if x.ndim else x,
}


@st.composite
def _input(draw, dtype: str | None = None, ndim: int | None = None) -> Item:
    dtype = draw(st.sampled_from(DTYPES)) if dtype is None else dtype
    ndim = draw(st.integers(0, 3)) if ndim is None else ndim
    shape = tuple(draw(st.sampled_from((2, 3, 2, 3, 4, 1, 0))) for _ in range(ndim))
    low = 0 if dtype in ("uint8", "bool") else -6
    numbers = st.integers(low, 1 if dtype == "bool" else 6)
    count = int(np.prod(shape))
    drawn = np.array(draw(st.lists(numbers, min_size=count, max_size=count)), np.float64)
    if dtype in FLOATS:
        drawn = drawn / 2
        if count and draw(st.integers(0, 7)) == 0:
            drawn[draw(st.integers(0, count - 1))] = draw(
                st.sampled_from((np.nan, np.inf, -np.inf))
            )
    value = LAYOUTS[draw(st.sampled_from(list(LAYOUTS)))](drawn.reshape(shape).astype(dtype))
    static = tuple(1 if size == 1 else None for size in shape)
    return Item(pt.tensor(dtype=dtype, shape=static), value)


@st.composite
def expressions(draw, length: int = 10) -> Expressions:
    """Random expressions over a few inputs."""
    inputs = [draw(_input()) for _ in range(draw(st.integers(1, 3)))]
    # something for every operation to be applied to
    inputs += [draw(_input("int64", 0)), draw(_input("float64", 2))]
    builder = Builder(draw, inputs)
    for _ in range(length):
        builder.apply(draw(st.sampled_from(list(OPERATIONS))))
    made = builder.pool[len(inputs) :]
    outputs = made[-4:] or inputs[:1]
    return Expressions(inputs, outputs, builder.operations)
