"""Sparse matrices, of which loops cut no rows and keep none: what is the same in every step may be one."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Variable

_FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


def is_sparse(given: object) -> bool:
    """Return whether a variable or a value is a sparse matrix; it is asked without importing those."""
    matrix = given.type if isinstance(given, Variable) else given
    return getattr(matrix, "format", None) in _FORMATS


def named(matrix: object) -> Any:
    """Return a matrix by its name, which the text of a sparse variable leaves out."""
    return getattr(matrix, "name", None) or matrix


def check_not_sparse(given: object, what: str) -> None:
    """Check that something that has rows, or becomes one, is an array.

    Raises
    ------
    TypeError
        If it is a sparse matrix.
    """
    if is_sparse(given):
        raise TypeError(
            f"{what} is a sparse matrix, {named(given)}, and loops cut and keep rows of arrays. Make an array"
            " of it by theano.sparse.dense_from_sparse; a matrix that is the same in every step"
            " belongs in non_sequences"
        )
