"""Fourier transforms of real numbers, by Theano 1.0's names."""

from pytensor.tensor import TensorLike
from pytensor.tensor.fft import IRFFTOp, RFFTOp, irfft_op, rfft_op
from pytensor.tensor.fft import irfft as _irfft
from pytensor.tensor.fft import rfft as _rfft
from pytensor.tensor.variable import TensorVariable

__all__ = ["IRFFTOp", "RFFTOp", "irfft", "irfft_op", "rfft", "rfft_op"]

_NORMS = (None, "ortho", "no_norm")


def rfft(inp: TensorLike, norm: str | None = None) -> TensorVariable:
    """Return the Fourier transforms of real numbers, for frequencies that are not negative.

    Parameters
    ----------
    inp
        Floats of the shape (m, ..., n): m arrays to be transformed.
    norm
        None, which scales only the inverse, by the number of elements; "ortho", which scales both by
        its root; or "no_norm", which scales neither.

    Returns
    -------
    TensorVariable
        Of the shape (m, ..., n // 2 + 1, 2): real and imaginary parts.

    Raises
    ------
    ValueError
        When there is no such `norm`.
    """
    _check_norm("rfft", norm)
    return _rfft(inp, norm)


def irfft(inp: TensorLike, norm: str | None = None, is_odd: bool = False) -> TensorVariable:
    """Return what `rfft` transforms into given numbers.

    Parameters
    ----------
    inp
        Floats of the shape (m, ..., n // 2 + 1, 2): real and imaginary parts.
    norm
        As of `rfft`.
    is_odd
        Whether n is odd.

    Returns
    -------
    TensorVariable
        Of the shape (m, ..., n).

    Raises
    ------
    ValueError
        When there is no such `norm`, or `is_odd` is no boolean.
    """
    _check_norm("irfft", norm)
    return _irfft(inp, norm, is_odd)


def _check_norm(name: str, norm: object) -> None:
    if norm not in _NORMS:
        allowed = ", ".join(map(repr, _NORMS))
        raise ValueError(f"Invalid value {norm!r} for norm of {name}: it must be one of {allowed}")
