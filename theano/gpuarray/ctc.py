"""Connectionist temporal classification, for which Theano had an operator of devices."""

from theano.tensor.nnet.ctc import ctc as gpu_ctc
from theano.tensor.nnet.ctc_operator import (
    ConnectionistTemporalClassification as GpuConnectionistTemporalClassification,
)

__all__ = ["GpuConnectionistTemporalClassification", "gpu_ctc"]
