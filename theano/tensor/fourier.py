"""The Fourier transform of complex numbers along one axis, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.tensor.fourier import Fourier, fft
