"""Products and correlations, for which Theano had operators of devices: the host's run there.

Correlations take the same arguments, but for `openmp`, and correlate as the host's do.
"""

from theano.tensor.blas import Dot22 as GpuDot22
from theano.tensor.blas import Gemm as GpuGemm
from theano.tensor.blas import Gemv as GpuGemv
from theano.tensor.blas import Ger as GpuGer
from theano.tensor.blas import _dot22 as gpu_dot22
from theano.tensor.blas import gemm_inplace as gpugemm_inplace
from theano.tensor.blas import gemm_no_inplace as gpugemm_no_inplace
from theano.tensor.blas import gemv_inplace as gpugemv_inplace
from theano.tensor.blas import gemv_no_inplace as gpugemv_no_inplace
from theano.tensor.blas import ger as gpuger_no_inplace
from theano.tensor.blas import ger_destructive as gpuger_inplace
from theano.tensor.nnet.corr import CorrMM as GpuCorrMM
from theano.tensor.nnet.corr import CorrMM_gradInputs as GpuCorrMM_gradInputs
from theano.tensor.nnet.corr import CorrMM_gradWeights as GpuCorrMM_gradWeights
from theano.tensor.nnet.corr3d import Corr3dMM as GpuCorr3dMM
from theano.tensor.nnet.corr3d import Corr3dMM_gradInputs as GpuCorr3dMM_gradInputs
from theano.tensor.nnet.corr3d import Corr3dMM_gradWeights as GpuCorr3dMM_gradWeights

__all__ = [
    "GpuCorr3dMM",
    "GpuCorr3dMM_gradInputs",
    "GpuCorr3dMM_gradWeights",
    "GpuCorrMM",
    "GpuCorrMM_gradInputs",
    "GpuCorrMM_gradWeights",
    "GpuDot22",
    "GpuGemm",
    "GpuGemv",
    "GpuGer",
    "gpu_dot22",
    "gpugemm_inplace",
    "gpugemm_no_inplace",
    "gpugemv_inplace",
    "gpugemv_no_inplace",
    "gpuger_inplace",
    "gpuger_no_inplace",
]
