"""Loops as kernels of a GPU: from the native engine's form of a loop to one CUDA kernel that runs all steps.

The mode ``XLA`` launches them where the flag ``scan.gpu_kernels`` says so. They are tested on the host and
compiled for devices; none has run on a GPU yet.
"""

__all__ = [
    "DEVICE",
    "CompilationFailed",
    "Device",
    "Kernel",
    "KernelReport",
    "LoopKernel",
    "NoCompiler",
    "NoKernel",
    "compiled",
    "report",
]

from theano.link.cuda.kernel import Kernel
from theano.link.cuda.model import DEVICE, Device
from theano.link.cuda.nvrtc import CompilationFailed, NoCompiler, compiled
from theano.link.cuda.refusals import NoKernel
from theano.link.cuda.report import KernelReport, LoopKernel, report
