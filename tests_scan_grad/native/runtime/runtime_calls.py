"""The runtime's functions on NumPy arrays, float32 or float64."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from tests_scan_grad.native.runtime.correlation_reference import Axis, Sizes
from tests_scan_grad.native.runtime.emulated import Pointer
from theano.link.native.runtime.load import library

ACTIVATIONS = ("exp", "expm1", "log", "log1p", "tanh", "sigmoid", "softplus")

_SUFFIX = {np.dtype("float32"): "f32", np.dtype("float64"): "f64"}
_REAL = {np.dtype("float32"): ctypes.c_float, np.dtype("float64"): ctypes.c_double}
_WORK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)


_emulated: Any = None


def emulate(functions: Any) -> None:
    """Call functions of the runtime in an emulated process; None: in this one."""
    global _emulated
    _emulated = functions


def _prepared(name: str, *arguments: Any, result: Any = None) -> Callable[[], Any]:
    function = getattr(_emulated or library(), name)
    function.restype = result
    return lambda: function(*arguments)


def _call(name: str, *arguments: Any, result: Any = None) -> Any:
    return _prepared(name, *arguments, result=result)()


def _size(value: int) -> ctypes.c_int64:
    return ctypes.c_int64(value)


_pointer = Pointer


def _strides(array: np.ndarray) -> list[ctypes.c_int64]:
    return [_size(stride // array.itemsize) for stride in array.strides]


def kernels_name() -> str:
    """Name of the family of kernels in use."""
    return _call("tn_kernels_name", result=ctypes.c_char_p).decode()


def select_kernels(name: str | None) -> bool:
    """Use the family `name`, or the best one for None; False where this processor lacks it."""
    text = None if name is None else ctypes.c_char_p(name.encode())
    return bool(_call("tn_select_kernels", text, result=ctypes.c_int))


def panel_width(dtype: Any) -> int:
    """Columns of a panel of a packed operand."""
    return _call(f"tn_panel_width_{_SUFFIX[np.dtype(dtype)]}", result=ctypes.c_int64)


def pack(b: np.ndarray) -> np.ndarray:
    """The matrix `b`, of any strides, packed as a right operand."""
    k, n = b.shape
    suffix = _SUFFIX[b.dtype]
    size = _call(f"tn_packed_size_{suffix}", _size(k), _size(n), result=ctypes.c_int64)
    packed = np.full(size // b.itemsize, np.nan, b.dtype)
    _call(f"tn_pack_b_{suffix}", _pointer(b), *_strides(b), _size(k), _size(n), _pointer(packed))
    return packed


def packed_multiplication(
    a: np.ndarray,
    packed: np.ndarray,
    c: np.ndarray,
    beta: float = 0,
    panels: tuple[int, int] | None = None,
) -> Callable[[], None]:
    """Return a function doing ``c = beta * c + a @ b`` in place, for `panels` or all columns."""
    (m, k), n = a.shape, c.shape[1]
    first, end = panels or (0, -(-n // panel_width(a.dtype)))
    return _prepared(
        f"tn_gemm_packed_{_SUFFIX[a.dtype]}",
        *map(_size, (m, n, k)),
        _pointer(a),
        *_strides(a),
        _pointer(packed),
        _REAL[a.dtype](beta),
        _pointer(c),
        _strides(c)[0],
        _size(first),
        _size(end),
    )


def multiply_packed(
    a: np.ndarray,
    packed: np.ndarray,
    c: np.ndarray,
    beta: float,
    panels: tuple[int, int] | None = None,
) -> None:
    """``c = beta * c + a @ b`` in place, for the columns of `panels`, all of them for None."""
    packed_multiplication(a, packed, c, beta, panels)()


def by_rows(
    dtype: str, rows: int, columns: int, inner: int, nbytes: int, threads: int, groups: int = 0
) -> bool:
    """Return whether threads should share the rows of a packed product, each alone or in groups."""
    name = f"tn_by_rows_{_SUFFIX[np.dtype(dtype)]}"
    sizes = map(_size, (rows, columns, inner, nbytes))
    return bool(_call(name, *sizes, groups or threads, threads, result=ctypes.c_int))


def multiplication(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Callable[[], None]:
    """Return a function that computes ``c = a @ b`` in place."""
    (m, k), n = a.shape, b.shape[1]
    return _prepared(
        f"tn_gemm_{_SUFFIX[a.dtype]}",
        *map(_size, (m, n, k)),
        _pointer(a),
        *_strides(a),
        _pointer(b),
        *_strides(b),
        _pointer(c),
        _strides(c)[0],
    )


def multiply(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    """``c = a @ b`` in place."""
    multiplication(a, b, c)()


# as runtime.h counts them
DIRECTIONS = ("to_top", "to_images", "to_filters")


def correlation(
    sizes: Sizes, direction: str, images: np.ndarray, filters: np.ndarray, top: np.ndarray
) -> Callable[[], None]:
    """Return a function that computes one of three C-ordered arrays in place from the others."""
    axes = (*[Axis(1, 1)] * (3 - len(sizes.axes)), *sizes.axes)
    numbers = [sizes.images, sizes.groups, sizes.channels, sizes.filters]
    for axis in axes:
        numbers += [axis.length, axis.taps, axis.count, axis.step, axis.dilation, axis.before]
    given = (ctypes.c_int64 * len(numbers))(*numbers)
    suffix, which = _SUFFIX[images.dtype], DIRECTIONS.index(direction)
    elements = _call(f"tn_correlation_work_{suffix}", given, _size(which), result=ctypes.c_int64)
    work = np.full(elements, np.nan, images.dtype)
    out = (top, images, filters)[which]
    assert all(array.flags.c_contiguous for array in (images, filters, top))
    pointers = map(_pointer, (images, filters, top, out, work))
    call = _prepared(f"tn_correlate_{suffix}", given, _size(which), *pointers, 0, 0)

    def run(_kept: Any = (images, filters, top, work)) -> None:
        call()

    return run


def activation(name: str, x: np.ndarray, in_place: bool = False) -> np.ndarray:
    """One of `ACTIVATIONS` of each element of a contiguous array."""
    x = np.ascontiguousarray(x)
    y = x if in_place else np.empty_like(x)
    _call(f"tn_{name}_{_SUFFIX[x.dtype]}", _size(x.size), _pointer(x), _pointer(y))
    return y


def run_in_pool(threads: int, work: Callable[[int, int], None]) -> None:
    """Call ``work(thread, threads)`` on each thread of a run of the pool."""
    _call("tn_pool_run", threads, _WORK(lambda _, thread, of: work(thread, of)), None)


def share_in_pool(threads: int, work: Callable[[int, int], None]) -> None:
    """Call ``work(part, parts)`` once for each part, on whichever thread is free first."""
    _call("tn_pool_share", threads, _WORK(lambda _, part, of: work(part, of)), None)


def max_threads() -> int:
    """Threads that a run may use."""
    return _call("tn_max_threads", result=ctypes.c_int)


def set_threads(threads: int) -> None:
    """Let a run use `threads` threads; 0: the default."""
    _call("tn_set_threads", threads)


def threads_for(nanoseconds: float, phases: int) -> int:
    """Return how many threads should share `phases` that each take one thread `nanoseconds`."""
    return _call("tn_threads_for", ctypes.c_double(nanoseconds), _size(phases), result=ctypes.c_int)


def barrier_time(threads: int, may_measure: bool) -> int:
    """Nanoseconds that a barrier of so many threads takes; -1 where it is not known."""
    return _call("tn_barrier_time", threads, int(may_measure), result=ctypes.c_int64)


def set_least_work(nanoseconds: float) -> None:
    """Let threads share a phase of a loop if each has so much to do; below 0: the default."""
    _call("tn_set_least_work", ctypes.c_double(nanoseconds))


def set_oversubscribed(seconds: float) -> None:
    """Declare that the processors are busy with other work for so long; below 0: they are not."""
    _call("tn_set_oversubscribed", ctypes.c_int64(round(1e9 * seconds)))


def workers() -> int:
    """Worker threads alive in this process."""
    return _call("tn_pool_workers", result=ctypes.c_int)


def set_block_steps(steps: int) -> None:
    """Do what stands next to a loop so many of its steps at a time; 0: as many as sizes ask for."""
    _call("tn_set_block_steps", ctypes.c_int64(steps))


def block_steps(steps: int, rows: int, size: int) -> int:
    """Return how many steps, each of so many rows and bytes, are done at a time."""
    return _call("tn_block_steps", *map(_size, (steps, rows, size, 1)), result=ctypes.c_int64)
