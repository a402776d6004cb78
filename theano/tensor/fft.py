"""Fourier transforms of real numbers, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.tensor.fft import IRFFTOp, RFFTOp, irfft, irfft_op, rfft, rfft_op
