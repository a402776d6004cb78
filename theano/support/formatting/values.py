"""Descriptions of values for error messages."""

from __future__ import annotations

import reprlib

import numpy as np


def described(value: object) -> str:
    """Return what a value is: class, dtype and shape, or the value itself."""
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        text = f"{type(value).__name__} of dtype {value.dtype} and shape {tuple(value.shape)}"
        return f"{text}, {value}" if isinstance(value, np.ndarray) and value.ndim == 0 else text
    return f"{type(value).__name__} {in_a_line(value)}"


def in_a_line(value: object, most: int = 60) -> str:
    """Return a value as Python writes it, of which the middle may be left out."""
    brief = reprlib.Repr()
    brief.maxlist = brief.maxtuple = brief.maxstring = brief.maxother = most
    text = " ".join(brief.repr(value).split())
    return text if len(text) <= most else text[: most - 3] + "..."


def operation(op: object) -> str:
    """Return an operation as it prints itself, without the graph inside where it prints that."""
    text = str(op)
    return text if "fgraph=" not in text.lower() else f"{text.split('{', maxsplit=1)[0]}{{...}}"


def shortened(text: str, most: int = 600) -> str:
    """Return a text, of which the middle is left out where it is long, as where it has an array in it."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]} [...] {text[-(most // 2) :]}"
