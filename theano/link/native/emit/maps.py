"""C loops over the elements of views: element-wise maps and copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from theano.link.native.emit.looks import between_looks, declared, going_on, in_blocks
from theano.link.native.ir.emit_expressions import scalar_text, vector_text
from theano.link.native.ir.ir import Combine, Compute, Copy, Map, Scalar, Size, View
from theano.link.native.ir.layout import Product, collapsed, place_of
from theano.link.native.ir.scalar_types import C_TYPES, FLOATS, SUFFIX
from theano.link.native.ir.sizes import Sizes
from theano.link.native.passes.work_sharing import Share

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
    lines += declared(looks)
    for level, extent in enumerate(extents[:-1]):
        head = f"for (int64_t i{level} = 0; i{level} < {extent}{going_on(looks)}; i{level}++) {{"
        lines.append(head)
    for k, view in enumerate(operands.views):
        terms = [operands.pointers[k]]
        terms += [
            f"i{level} * {stride.text}" if stride.text != "1" else f"i{level}"
            for level, stride in enumerate(strides[k][:-1])
            if stride.factor
        ]
        lines.append(f"{C_TYPES[view.dtype]} *const p{k} = {' + '.join(terms)};")
    last = [stride[-1] for stride in strides]
    lines += in_blocks(looks, first, end, lambda first, end: inner(first, end, last))
    return lines + ["}"] * len(extents)


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

    between = between_looks(len(statement.body)) if looks else 0
    return _nest(statement.shape, operands, inner, share, between)


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

    between = between_looks() if looks else 0
    return _nest(statement.target.shape, operands, inner, share, between)


def _stretched(source: View, target: View, sizes: Sizes) -> View:
    axes = tuple(
        None if sizes.find(size) == 1 else axis
        for size, axis in zip(source.shape, source.axes, strict=True)
    )
    return View(source.buffer, target.shape, axes, source.steps, source.start)
