"""Fourier transforms of real numbers on devices, by Theano 1.0's names."""

from pytensor.graph.basic import Variable
from pytensor.tensor import TensorLike
from pytensor.tensor.fft import IRFFTOp, RFFTOp, irfft, irfft_op, rfft, rfft_op

from theano.gpuarray.basic_ops import as_gpuarray_variable, infer_context_name
from theano.gpuarray.opt import safe_to_cpu
from theano.tensor.as_tensor import as_tensor_variable

__all__ = [
    "CuIRFFTOp",
    "CuRFFTOp",
    "cuirfft",
    "cuirfft_op",
    "curfft",
    "curfft_op",
    "pycuda_available",
    "pygpu_available",
    "skcuda_available",
]

# Programs ask whether there is what the transforms need: here that is XLA.
pygpu_available = skcuda_available = pycuda_available = True

CuRFFTOp, CuIRFFTOp = RFFTOp, IRFFTOp
curfft_op, cuirfft_op = rfft_op, irfft_op


def curfft(inp: TensorLike, norm: str | None = None) -> Variable:
    """Transform all axes of `inp` but the first.

    Parameters
    ----------
    inp : tensor of shape (m, ..., n)
        The numbers, on the host or on a device.
    norm : {None, 'ortho', 'no_norm'}
        What the transform is divided by: nothing, but with 'ortho' the square root of the number
        of elements.

    Returns
    -------
    GpuArrayVariable of shape (m, ..., n // 2 + 1, 2)
        The real and the imaginary parts.
    """
    inp = as_tensor_variable(inp) if not isinstance(inp, Variable) else inp
    name = infer_context_name(inp)
    return as_gpuarray_variable(rfft(safe_to_cpu(inp), norm=norm), name)


def cuirfft(inp: TensorLike, norm: str | None = None, is_odd: bool = False) -> Variable:
    """Transform back what `curfft` gave.

    Parameters
    ----------
    inp : tensor of shape (m, ..., n // 2 + 1, 2)
    norm : {None, 'ortho', 'no_norm'}
        What the result is divided by: the number of elements, its square root, or nothing.
    is_odd : bool
        Whether n is odd.

    Returns
    -------
    GpuArrayVariable of shape (m, ..., n)
    """
    inp = as_tensor_variable(inp) if not isinstance(inp, Variable) else inp
    name = infer_context_name(inp)
    return as_gpuarray_variable(irfft(safe_to_cpu(inp), norm=norm, is_odd=is_odd), name)
