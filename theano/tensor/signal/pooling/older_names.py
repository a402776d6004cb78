"""Shapes and arguments of pooling as Theano's programs give them, older names among them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from pytensor.graph.basic import Variable

from theano.tensor.constants import extract_constant
from theano.tensor.signal.pooling.geometry import shape_of_windows


def by_newer_names(
    function: str, ws: object, stride: object, pad: object, ds: object, st: object, padding: object
) -> tuple[Any, Any, Any]:
    """Return ws, stride and pad, of which each may have been given by its older name."""
    chosen = []
    for new, value, old, older in (
        ("ws", ws, "ds", ds),
        ("stride", stride, "st", st),
        ("pad", pad, "padding", padding),
    ):
        if older is None:
            chosen.append(value)
            continue
        if value is not None and not _is_no_padding(value):
            raise ValueError(f"{function}: {old} is an older name of {new}: give one of them")
        warnings.warn(f"{function}: {old} is an older name of {new}", stacklevel=4)
        chosen.append(older)
    if chosen[0] is None:
        raise ValueError(f"{function}: expected ws, the shape of a window")
    return chosen[0], chosen[1], chosen[2]


def _is_no_padding(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(n, int) and n == 0 for n in value)


def out_shape(
    imgshape: Sequence[Any],
    ws: Any = None,
    ignore_border: bool = False,
    stride: Any = None,
    pad: Any = None,
    ndim: int = 2,
    ds: Any = None,
    st: Any = None,
    padding: Any = None,
) -> list:
    """Return the shape of what is pooled from images of shape `imgshape`.

    Parameters
    ----------
    imgshape : sequence of int or integer scalars
        At least `ndim` of them.
    ws, stride, pad, ds, st, padding
        As `pool_2d` takes them.
    ignore_border : bool
        Whether to leave out windows that reach over the border.
    ndim : int
        How many of the last dimensions are pooled.

    Returns
    -------
    list of int or integer scalars

    Raises
    ------
    TypeError
        Fewer than `ndim` lengths.
    ValueError
        No window, or one argument by two names.

    Examples
    --------
    >>> from theano.tensor.signal.pool import Pool
    >>> Pool.out_shape((9, 8, 6), (2, 2))
    [9, 4, 3]
    """
    ws, stride, pad = by_newer_names("Pool.out_shape", ws, stride, pad, ds, st, padding)
    if len(imgshape) < ndim:
        raise TypeError(f"Pool.out_shape: expected at least {ndim} lengths, got {imgshape}")
    stride = ws if stride is None else stride
    pad = (0,) * ndim if pad is None else pad
    lead = len(imgshape) - ndim
    lengths = [extract_constant(length) for length in imgshape[lead:]]
    last, sizes, steps, pads = (
        [n if isinstance(n, Variable) else int(n) for n in (given[axis] for axis in range(ndim))]
        for given in (lengths, ws, stride, pad)
    )
    return [*imgshape[:lead], *shape_of_windows(last, sizes, steps, pads, ignore_border)]
