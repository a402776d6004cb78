"""C loops over the elements of views: element-wise maps, copies and reductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from theano.link.native.emit_expressions import scalar_text, vector_text
from theano.link.native.ir import Combine, Compute, Copy, Map, Reduce, Scalar, Size, View
from theano.link.native.layout import Product, collapsed, place_of
from theano.link.native.scalar_types import C_TYPES, FLOATS, SUFFIX, literal
from theano.link.native.sizes import Sizes
from theano.link.native.work_sharing import Share

IDENTITY = {"add": 0, "multiply": 1, "multiply without zeros": 0, "or": 0, "exclusive or": 0}
ACCUMULATE = {
    "add": "{0} + {1}",
    "multiply": "{0} * {1}",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "exclusive or": "{0} ^ {1}",
    "multiply without zeros": "{0} == 0 ? {1} : {1} == 0 ? {0} : {0} * {1}",
    "maximum": "({0} != {0} || {0} > {1}) ? {0} : {1}",
    "minimum": "({0} != {0} || {0} < {1}) ? {0} : {1}",
}


class _Operands:
    """The views that a loop reads and writes, each once, with the names of their pointers."""

    def __init__(self, sizes: Sizes):
        self.sizes = sizes
        self.views: list[View] = []
        self.pointers: list[str] = []
        self.strides: list[tuple[Product, ...]] = []

    def add(self, view: View) -> int:
        place = place_of(view, self.sizes)
        for k, known in enumerate(self.views):
            if (self.pointers[k], self.strides[k]) == (place.pointer, place.strides):
                if known.dtype == view.dtype:
                    return k
        self.views.append(view)
        self.pointers.append(place.pointer)
        self.strides.append(place.strides)
        return len(self.views) - 1


# Elements of a copy, and of as much work, between looks at whether a signal came: some milliseconds.
BETWEEN_LOOKS = 2**20
FEWEST_BETWEEN_LOOKS = 2**12

# Writes a loop over i from one bound to another, given the strides along it.
Inner = Callable[[str, str, list[Product]], list[str]]


def _nest(
    shape: Sequence[Size],
    operands: _Operands,
    inner: Inner,
    share: Share | None,
    looks: int = 0,
) -> list[str]:
    """Loops over all but the last dimension, and in them what ``inner`` writes for the last.

    After so many elements they look up for signals; 0: never.
    """
    extents, strides = collapsed(tuple(shape), operands.strides, operands.sizes)
    if not extents:
        extents, strides = [1], [[Product(0)] for _ in operands.views]
    lines = ["{"]
    first, end = "0", str(extents[-1])
    if share is not None:
        whole = end
        first, end = share.first, share.end
        joined = extents[-1] != share.size
        if joined:
            # One thread alone takes the elements of all rows in one go.
            extents, strides = collapsed(tuple(shape), operands.strides, operands.sizes, apart=True)
            lines += [
                f"const int64_t rows = threads > 1 ? {extents[-2]} : 1;",
                f"const int64_t first = threads > 1 ? {first} : 0;",
                f"const int64_t end = threads > 1 ? {end} : {whole};",
            ]
            extents[-2], first, end = "rows", "first", "end"
    over = " && !over" if looks and len(extents) > 1 else ""
    if looks:
        lines.append("int64_t asked = 0;")
    if over:
        lines += ["int64_t looked = 0;", "int over = 0;"]
    for level, extent in enumerate(extents[:-1]):
        lines.append(f"for (int64_t i{level} = 0; i{level} < {extent}{over}; i{level}++) {{")
    for k, view in enumerate(operands.views):
        terms = [operands.pointers[k]]
        terms += [
            f"i{level} * {stride.text}" if stride.text != "1" else f"i{level}"
            for level, stride in enumerate(strides[k][:-1])
            if stride.factor
        ]
        lines.append(f"{C_TYPES[view.dtype]} *const p{k} = {' + '.join(terms)};")
    last = [stride[-1] for stride in strides]
    if looks:
        lines += _looking_up(bool(over), looks, end, lambda f, e: inner(f, e, last))
    else:
        lines += inner(first, end, last)
    return lines + ["}"] * len(extents)


def _looking_up(
    rows: bool, elements: int, end: str, inner: Callable[[str, str], list[str]]
) -> list[str]:
    """What is done along the last dimension, and looks at whether a signal came."""
    stops = "runtime->stops(&asked)"
    if rows:
        # a row is seldom so long that it has to be left
        look = f"if ((looked += {end}) >= {elements}) {{ looked = 0; over = {stops}; }}"
        return [*inner("0", end), look]
    return [
        f"for (int64_t begin = 0; begin < {end}; begin += {elements}) {{",
        f"if (begin && {stops}) break;",
        f"const int64_t close = tn_smaller(begin + {elements}, {end});",
        *inner("begin", "close"),
        "}",
    ]


def _element(k: int, stride: Product) -> str:
    if not stride.factor:
        return f"*p{k}"
    return f"p{k}[i]" if stride.text == "1" else f"p{k}[i * ({stride.text})]"


# ---- maps ----


def emit_map(
    statement: Map, sizes: Sizes, share: Share | None = None, looks: bool = False
) -> list[str]:
    """The computations of a map in one pass over its elements, or a thread's share of them.

    A pass that looks up for signals ends early where one came.
    """
    operands = _Operands(sizes)
    loads: dict[tuple[int, int], int] = {}
    for compute in statement.body:
        for position, operand in enumerate(compute.operands):
            if isinstance(operand, View):
                loads[id(compute), position] = operands.add(operand)
    stores = {
        id(compute): operands.add(View.of(compute.buffer))
        for compute in statement.body
        if compute.stored and compute.buffer is not None
    }
    dtype = _vector_type(statement, loads, operands)

    def inner(first: str, end: str, strides: list[Product]) -> list[str]:
        if dtype is not None and _vector_strides(strides, loads, stores):
            return _vector_loop(statement, loads, stores, (first, end), strides, dtype)
        return _scalar_loop(statement, loads, stores, (first, end), strides)

    between = max(BETWEEN_LOOKS >> len(statement.body).bit_length(), FEWEST_BETWEEN_LOOKS)
    return _nest(statement.shape, operands, inner, share, between if looks else 0)


def _operand_texts(compute: Compute, loads, scalar: Callable[[Scalar], str], load: str):
    texts = []
    for position, operand in enumerate(compute.operands):
        if isinstance(operand, View):
            texts.append(f"{load}{loads[id(compute), position]}")
        elif isinstance(operand, Compute):
            texts.append(operand.name)
        else:
            texts.append(scalar(operand))
    return texts


def _scalar_loop(statement, loads, stores, bounds, strides) -> list[str]:
    used = sorted(set(loads.values()))
    names = {k: f"x{k}" for k in used}
    first, end = bounds
    lines = ["TN_INDEPENDENT", f"for (int64_t i = {first}; i < {end}; i++) {{"]
    types = {
        loads[id(c), position]: operand.dtype
        for c in statement.body
        for position, operand in enumerate(c.operands)
        if isinstance(operand, View)
    }
    lines += [f"const {C_TYPES[types[k]]} {names[k]} = {_element(k, strides[k])};" for k in used]
    for compute in statement.body:
        texts = _operand_texts(compute, loads, lambda scalar: scalar.expression, "x")
        text = scalar_text(compute.operation, texts, compute.dtypes)
        lines.append(f"const {C_TYPES[compute.dtype]} {compute.name} = {text};")
    for compute in statement.body:
        if id(compute) in stores:
            k = stores[id(compute)]
            lines.append(f"{_element(k, strides[k])} = {compute.name};")
    return [*lines, "}"]


def _vector_type(statement: Map, loads, operands: _Operands) -> str | None:
    """The one floating-point type of a map that can run on vectors, or None."""
    dtypes = {view.dtype for view in operands.views}
    if len(dtypes) != 1 or not dtypes <= set(FLOATS):
        return None
    (dtype,) = dtypes
    for compute in statement.body:
        expression = compute.operation
        if expression.vector is None or (compute.dtype == "bool" and compute.stored):
            return None
        for position, operand in enumerate(compute.operands):
            truth = expression.takes_truth and position == 0
            wanted = {"bool"} if truth else {dtype}
            if isinstance(operand, Scalar) and not truth:
                continue
            if isinstance(operand, Scalar) or operand.dtype not in wanted:
                return None
        if compute.dtype not in (dtype, "bool") or expression.operand_dtype != dtype:
            return None
    return dtype


def _vector_strides(strides: list[Product], loads, stores) -> bool:
    one = Product(1)
    return all(strides[k] == one for k in stores.values()) and all(
        strides[k] == one or not strides[k].factor for k in loads.values()
    )


def _vector_loop(statement, loads, stores, bounds, strides, dtype) -> list[str]:
    suffix = SUFFIX[dtype]
    vector, splat = f"tn_{suffix}v", f"TN_SPLAT_{suffix.upper()}"
    used = sorted(set(loads.values()))
    lines: list[str] = []
    splats: dict[str, str] = {}
    for k in used:
        if not strides[k].factor:
            lines.append(f"const {vector} x{k} = {splat}(*p{k});")
    for compute in statement.body:
        for operand in compute.operands:
            if isinstance(operand, Scalar) and operand.expression not in splats:
                name = f"s{len(splats)}"
                splats[operand.expression] = name
                text = f"({C_TYPES[dtype]}){operand.expression}"
                lines.append(f"const {vector} {name} = {splat}({text});")

    def body(load: str, store: str) -> list[str]:
        text = [
            f"const {vector} x{k} = {load.format(f'p{k} + i')};" for k in used if strides[k].factor
        ]
        for compute in statement.body:
            texts = _operand_texts(compute, loads, lambda s: splats[s.expression], "x")
            kind = "__auto_type" if compute.dtype == "bool" else vector
            value = vector_text(compute.operation, texts, dtype)
            text.append(f"const {kind} {compute.name} = {value};")
        for compute in statement.body:
            if id(compute) in stores:
                target = f"p{stores[id(compute)]} + i"
                text.append(store.format(target, f"{compute.name}"))
        return text

    first, end = bounds
    width = f"TN_WIDTH_{suffix.upper()}"
    lines.append(f"int64_t i = {first};")
    lines.append(f"for (; i + {width} <= {end}; i += {width}) {{")
    lines += body(f"tn_load_{suffix}({{}})", f"tn_store_{suffix}({{}}, {{}});")
    lines += ["}", f"if (i < {end}) {{", f"const int64_t rest = {end} - i;"]
    lines += body(
        f"tn_load_some_{suffix}({{}}, rest)", f"tn_store_some_{suffix}({{}}, {{}}, rest);"
    )
    return [*lines, "}"]


# ---- copies ----


def emit_copy(
    statement: Copy | Combine, sizes: Sizes, share: Share | None = None, looks: bool = False
) -> list[str]:
    """Write a view, or combine it with a source; all of it, or a thread's share.

    Where it looks up for signals, it ends early when one came.
    """
    operands = _Operands(sizes)
    target = operands.add(statement.target)
    source = None
    if isinstance(statement.source, View):
        source = operands.add(_stretched(statement.source, statement.target, sizes))

    def inner(first: str, end: str, strides: list[Product]) -> list[str]:
        left = _element(target, strides[target])
        if source is None:
            assert isinstance(statement.source, Scalar)
            right = statement.source.expression
        else:
            right = _element(source, strides[source])
        if isinstance(statement, Combine):
            right = ACCUMULATE[statement.operation].format(left, right)
        return ["TN_INDEPENDENT", f"for (int64_t i = {first}; i < {end}; i++) {left} = {right};"]

    between = BETWEEN_LOOKS if looks else 0
    return _nest(statement.target.shape, operands, inner, share, between)


def _stretched(source: View, target: View, sizes: Sizes) -> View:
    axes = tuple(
        None if sizes.find(size) == 1 else axis
        for size, axis in zip(source.shape, source.axes, strict=True)
    )
    return View(source.buffer, target.shape, axes, source.steps, source.start)


# ---- reductions ----


def emit_reduce(statement: Reduce, sizes: Sizes, share: Share | None = None) -> list[str]:
    """A reduction: in rows where the last dimension stays, else one result at a time.

    A thread's share is a range of one of the dimensions that stay.
    """
    view, axes = statement.source, statement.axes
    place = place_of(view, sizes)
    kept = [d for d in range(view.ndim) if d not in axes]
    if isinstance(statement.target, Scalar):
        target = [Product(0)] * view.ndim
        pointer = ""
    else:
        out = place_of(statement.target, sizes)
        pointer = out.pointer
        strides = iter(out.strides)
        target = [next(strides) if d in kept else Product(0) for d in range(view.ndim)]
    working = C_TYPES[statement.dtype]
    lines = ["{", f"{C_TYPES[view.dtype]} *const x = {place.pointer};"]
    if isinstance(statement.target, View):
        lines.append(f"{C_TYPES[statement.target.dtype]} *const y = {pointer};")
    rows = (
        bool(kept)
        and bool(axes)
        and kept[-1] == view.ndim - 1
        and statement.target.dtype == statement.dtype
    )
    writer = _reduce_in_rows if rows else _reduce_one_by_one
    shape = [sizes.find(size) for size in view.shape]
    heads = [_loop(d, size, share) for d, size in enumerate(shape)]
    lines += writer(statement, sizes, heads, kept, place.strides, target, working)
    return [*lines, "}"]


def _offset(strides: Sequence[Product], dims: Sequence[int]) -> str:
    terms = [f"i{d} * ({strides[d].text})" for d in dims if strides[d].factor]
    return " + ".join(terms) or "0"


def _loop(d: int, size: Size, share: Share | None) -> str:
    if share is not None and d == share.dimension:
        return f"for (int64_t i{d} = {share.first}; i{d} < {share.end}; i{d}++)"
    return f"for (int64_t i{d} = 0; i{d} < {size}; i{d}++)"


def _first(statement: Reduce) -> str:
    if statement.operation in IDENTITY:
        return literal(IDENTITY[statement.operation], statement.dtype)
    if statement.operation == "and":
        # all bits set
        return "1" if statement.dtype == "bool" else f"({C_TYPES[statement.dtype]})~0ll"
    low = statement.operation == "maximum"
    if statement.dtype in FLOATS:
        return "(-__builtin_inf())" if low else "__builtin_inf()"
    if statement.dtype == "bool":
        return "0" if low else "1"
    info = np.iinfo(statement.dtype)
    return literal(info.min if low else info.max, statement.dtype)


def _reduce_in_rows(statement, sizes, heads, kept, source, target, working) -> list[str]:
    lines = [f"{heads[d]} {{" for d in kept]
    lines.append(f"y[{_offset(target, kept)}] = {_first(statement)};")
    lines += ["}"] * len(kept)
    dims = range(len(heads))
    lines += [f"{head} {{" for head in heads[:-1]]
    lines += ["TN_INDEPENDENT", f"{heads[-1]} {{"]
    left, right = f"y[{_offset(target, kept)}]", f"({working})x[{_offset(source, dims)}]"
    lines.append(f"{left} = {ACCUMULATE[statement.operation].format(left, right)};")
    return [*lines, *["}"] * len(heads)]


# Partial results of a reduction along neighbouring elements, so that they need not wait for
# one another.
LANES = 16


def _reduce_one_by_one(statement, sizes, heads, kept, source, target, working) -> list[str]:
    lines = [f"{heads[d]} {{" for d in kept]
    dims = range(len(heads))
    axes = [d for d in dims if d not in kept]
    accumulate = ACCUMULATE[statement.operation]
    in_lanes = bool(axes) and source[axes[-1]].text == "1"
    total, first = ("lanes[0]" if in_lanes else "total"), _first(statement)
    if in_lanes:
        each = f"for (int lane = 0; lane < {LANES}; lane++)"
        lines += [f"{working} lanes[{LANES}];", f"{each} lanes[lane] = {first};"]
        lines += [f"{heads[d]} {{" for d in axes[:-1]]
        extent = sizes.find(statement.source.shape[axes[-1]])
        at = f"x + {_offset(source, [d for d in dims if d != axes[-1]])}"
        one = f"({working})row[i + lane]"
        lines += [
            f"{C_TYPES[statement.source.dtype]} *const row = {at};",
            "int64_t i = 0;",
            f"for (; i + {LANES} <= {extent}; i += {LANES})",
            f"{each} lanes[lane] = {accumulate.format('lanes[lane]', one)};",
            f"for (int lane = 0; i + lane < {extent}; lane++) "
            f"lanes[lane] = {accumulate.format('lanes[lane]', one)};",
            *["}"] * (len(axes) - 1),
            f"for (int count = {LANES} / 2; count; count /= 2)",
            "for (int lane = 0; lane < count; lane++) "
            f"lanes[lane] = {accumulate.format('lanes[lane]', 'lanes[lane + count]')};",
        ]
    else:
        lines.append(f"{working} total = {first};")
        lines += [f"{heads[d]} {{" for d in axes]
        lines.append(f"const {working} x_ = ({working})x[{_offset(source, dims)}];")
        lines += [f"total = {accumulate.format('total', 'x_')};", *["}"] * len(axes)]
    if isinstance(statement.target, Scalar):
        lines.append(f"{statement.target.expression} = {total};")
    else:
        lines.append(f"y[{_offset(target, kept)}] = {total};")
    return [*lines, *["}"] * len(kept)]
