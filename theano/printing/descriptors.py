"""Texts that say how a variable is computed, equal in each process."""

from __future__ import annotations

import hashlib
import re

import numpy as np

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def hex_digest(x: np.ndarray) -> str:
    """Return the SHA-256 of an array's elements, in sixteens, with its strides and shape.

    Parameters
    ----------
    x : numpy.ndarray

    Returns
    -------
    str
    """
    if not isinstance(x, np.ndarray):
        raise TypeError(f"hex_digest: expected a NumPy array, got {type(x).__name__}")
    strides, shape = (",".join(map(str, values)) for values in (x.strides, x.shape))
    return f"{hashlib.sha256(x.tobytes()).hexdigest()}|strides=[{strides}]|shape=[{shape}]"


def var_descriptor(obj: object) -> str:
    """Return a line that is equal for variables that are computed alike.

    Parameters
    ----------
    obj : Variable or numpy.ndarray

    Returns
    -------
    str
        No part of it depends on where an object lies in memory.

    Examples
    --------
    >>> import theano.tensor as T
    >>> from theano.printing import var_descriptor
    >>> var_descriptor(T.exp(T.vector("x")))
    'A=Exp(B=x)'
    """
    return _described(obj, {})


def _described(obj: object, tags: dict[int, str]) -> str:
    known = tags.get(id(obj))
    if known is not None:
        return f"<{known}>"
    tag = tags[id(obj)] = _letters(len(tags))
    return f"{tag}={_computation(obj, tags)}"


def _computation(obj: object, tags: dict[int, str]) -> str:
    if hasattr(obj, "__array__"):
        return f"<ndarray:{hex_digest(np.asarray(obj))}>"
    owner = getattr(obj, "owner", None)
    if owner is not None:
        operands = ",".join(_described(operand, tags) for operand in owner.inputs)
        return f"{owner.op}({operands})"
    return getattr(obj, "name", None) or _ADDRESS.sub("", str(obj))


def _letters(number: int) -> str:
    """Return a, B, ..., Z, AA, AB, ...: the tag of the object with a number."""
    text = ""
    number += 1
    while number:
        number, letter = divmod(number - 1, 26)
        text = chr(ord("A") + letter) + text
    return text
