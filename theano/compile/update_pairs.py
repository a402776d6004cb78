"""Replacements given to ``theano.function``: updates of shared variables, and givens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorConstant

from theano.compile.rebroadcast import unbroadcast
from theano.source_locations.dtypes import origin_of_dtype
from theano.source_locations.lines import users_line
from theano.support.formatting.values import described, in_a_line

__all__ = ["given_pairs", "of_other_dtype", "update_pairs"]


def update_pairs(updates: Any) -> list[tuple[Variable, Any]]:
    """Return the updates of a function as pairs, each looked at.

    Parameters
    ----------
    updates : mapping or iterable of pairs, optional
        As given to ``theano.function``.

    Returns
    -------
    list of (SharedVariable, value)

    Raises
    ------
    ValueError
        If they are not pairs, or a variable is updated twice.
    TypeError
        If what is updated is not shared, or its new value has another type.
    """
    pairs = list(updates.items() if isinstance(updates, Mapping) else updates or [])
    found: dict[Variable, Any] = {}
    for place, pair in enumerate(pairs):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise ValueError(
                f"updates[{place}]: The updates parameter must be an OrderedDict/dict or a list of lists/tuples "
                f"with 2 elements: a shared variable and its new value; got {in_a_line(pair)}"
            )
        shared, value = pair
        if not isinstance(shared, SharedVariable):
            raise TypeError(
                f"updates[{place}]: update target must be a SharedVariable, as theano.shared makes"
                f" it, but is {shared if isinstance(shared, Variable) else described(shared)}"
            )
        if shared in found:
            raise ValueError(
                f"this shared variable already has an update expression: {shared} is to become"
                f" {_named(found[shared])}, and {_named(value)}"
            )
        value = _of_its_lengths(shared, value)
        _check_type(shared, value)
        found[shared] = value
    return list(found.items())


def given_pairs(givens: Any) -> dict[Variable, Any]:
    """Return the replacements of a function, each variable replaced once.

    Raises
    ------
    AssertionError
        If a variable is replaced by two others.
    ValueError
        If they are not pairs.
    TypeError
        If what is replaced is no variable, or a tensor is replaced by what is none.
    """
    pairs: Iterable = givens.items() if isinstance(givens, Mapping) else givens or []
    found: dict[Variable, Any] = {}
    for place, pair in enumerate(pairs):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise ValueError(
                f"givens[{place}]: expected a pair (variable, replacement), got {in_a_line(pair)}"
            )
        variable, value = pair
        if not isinstance(variable, Variable):
            raise TypeError(
                f"givens[{place}]: expected a pair (variable, replacement) or an entry of a dict"
                f" {{variable: replacement}}, and the variable is {described(variable)}"
            )
        if variable in found and found[variable] is not value:
            raise AssertionError(
                f"givens: {variable} is to be replaced by {_named(found[variable])}, and by"
                f" {_named(value)}"
            )
        if isinstance(getattr(variable, "type", None), TensorType) and _is_no_tensor(value):
            raise TypeError(
                f"givens: {variable} is {variable.type}, and is to be replaced by {value!r},"
                f" which is {_kind_of(value)}: expected a variable or an array of numbers"
            )
        found[variable] = value
    return {variable: _known(value) for variable, value in found.items()}


def _is_no_tensor(value: object) -> bool:
    """Return whether a tensor cannot be replaced by a value: lists, text, arrays of objects."""
    if isinstance(value, Variable | bool | int | float | complex):
        return False
    if isinstance(value, np.ndarray):
        return value.dtype.kind not in "biufc"
    return not hasattr(value, "dtype")


def of_other_dtype(givens: Mapping[Variable, Any]) -> str:
    """Return what to say of the first replacement that has not the dtype of what it replaces."""
    for variable, value in givens.items():
        expected = getattr(variable.type, "dtype", None)
        found = value.type if isinstance(value, Variable) else np.asarray(value)
        dtype = str(getattr(found, "dtype", expected))
        if dtype != expected:
            named = _named(value) if isinstance(value, Variable) else "an array"
            cast = f"np.{expected}({value})"
            if not isinstance(value, TensorConstant):
                cast = f"T.cast(..., {expected!r})" if isinstance(value, Variable) else "astype"
            return (
                f"givens: {variable} is of {expected}, and is to be replaced by {named} of {dtype}:"
                f" {cast} makes it one"
            )
    return ""


def _known(value: object) -> Any:
    """Return a number as a constant of its dtype: no one else can change it, and rewrites see it."""
    number = isinstance(value, bool | int | float | np.generic)
    if not number and not (isinstance(value, np.ndarray) and not value.ndim):
        return value
    data = np.array(value)
    if data.dtype.kind not in "biuf":
        return value
    return TensorConstant(TensorType(data.dtype.name, shape=()), data)


def _of_its_lengths(stored: SharedVariable, new: object) -> Any:
    """Return an update as a type without lengths of 1 that the variable's value has untold.

    A gradient's type gives them where they follow from other shapes, and is no update then.
    """
    kind, of_new = stored.type, getattr(new, "type", None)
    if not isinstance(kind, TensorType) or not isinstance(of_new, TensorType):
        return new
    pairs = enumerate(zip(kind.broadcastable, of_new.broadcastable, strict=False))
    static = [axis for axis, (known, by_new) in pairs if by_new and not known]
    lengths = stored.get_value(borrow=True).shape if static else ()
    if kind.ndim != of_new.ndim or any(lengths[axis] != 1 for axis in static):
        return new
    return unbroadcast(new, *static)


def _check_type(shared: SharedVariable, value: object) -> None:
    try:
        shared.type.filter_variable(value, allow_convert=True)
    except (TypeError, ValueError):
        # PyTensor speaks of the shapes alone where the value is an array
        raise TypeError(
            "An update must have the same type as the original shared variable, but"
            f" {shared.name or 'one without a name'} is {shared.type}, and its new value"
            f" {_named(value)} is {_kind_of(value)}."
            f"{_remedy(shared.type, value)}"
        ) from None


def _kind_of(value: object) -> str:
    """Return the type of a variable, what an array holds, the class of anything else."""
    if isinstance(value, np.ndarray):
        return described(value)
    return str(getattr(value, "type", type(value).__name__))


def _named(value: object) -> str:
    """Return a value, and the user's line that made it."""
    line = users_line(value.owner) if isinstance(value, Variable) and value.owner else ""
    return f"{value} (created at {line})" if line else str(value)


def _remedy(expected: object, value: Any) -> str:
    got = getattr(value, "type", None)
    if not isinstance(expected, TensorType) or not isinstance(got, TensorType):
        return ""
    if expected.ndim != got.ndim:
        return f" It has {got.ndim} dimensions in place of {expected.ndim}."
    if expected.dtype != got.dtype:
        return (
            f" Cast it with T.cast(value, '{expected.dtype}'), make the shared variable {got.dtype},"
            f" or mend what made the value {got.dtype}: {origin_of_dtype(got.dtype, value)}"
            " (floatX and warn_float64 in doc/reference/flags.md)."
        )
    return " Lengths that are known differ; T.patternbroadcast changes what is known to be 1."
