"""The modules of lowerings by operator: each is imported when one of its operators is used."""

import importlib

# for each module the names of its operators' classes
OPERATORS_OF = {
    ".operations.indexing.advanced_indexing": "AdvancedIncSubtensor AdvancedSubtensor",
    ".operations.convolution": "Convolve1d",
    ".operations.ctc": "ConnectionistTemporalClassification",
    ".operations.cumulative": "CumOp",
    ".operations.sampling.generator_samples": "SampleFromGenerator",
    ".operations.sampling.multinomial_samples": "ChoiceFromUniform MultinomialFromUniform",
    ".operations.sampling.random_streams": "mrg_truncated mrg_uniform",
    ".operations.sampling.random_states": "SampleFromWords",
    ".operations.elementwise": """
        CpuContiguous DeepCopyOp DimShuffle Elemwise ScalarFromTensor ScalarOp TensorFromScalar
        TypeCastingOp
    """,
    ".operations.generators": "ARange Eye",
    ".operations.graphs": "OpFromGraph",
    ".operations.images.correlation": """
        Corr3dMM Corr3dMM_gradInputs Corr3dMM_gradWeights CorrMM CorrMM_gradInputs
        CorrMM_gradWeights
    """,
    ".operations.images.neighbours": "Images2Neibs Images2NeibsGrad",
    ".operations.images.pooling": "AveragePoolGrad DownsampleFactorMaxGradGrad MaxPoolGrad Pool",
    ".operations.indexing.indexing": "AdvancedIncSubtensor1 AdvancedSubtensor1 IncSubtensor Subtensor",
    ".operations.lazy_choices": "LazyChoice",
    ".operations.indexing.masks": "Nonzero",
    ".operations.matrices.batched_products": "BatchedDot",
    ".operations.matrices.block_diagonal": "BlockDiagonal",
    ".operations.matrices.blockwise": "Blockwise",
    ".operations.matrices.linear_algebra": """
        Cholesky CholeskySolve Det Eigh LUFactor MatrixInverse PivotToPermutations QR SLogDet SVD Schur
        Solve SolveOrNaN SolveTriangular TRSYL
    """,
    ".operations.matrices.products": "CGemv CGer Dot Dot22 Dot22Scalar Gemm Gemv Ger",
    ".operations.matrices.tridiagonal": "LUFactorTridiagonal SolveLUFactorTridiagonal",
    ".operations.reductions": "Argmax CAReduce LogSoftmax Max Min Softmax",
    ".operations.scan": "FrozenWhenAsked Scan",
    ".operations.shapes": """
        Alloc AllocEmpty CheckAndRaise ExtractDiag Join JoinDims MakeVector Rebroadcast Repeat
        Reshape Shape Shape_i SpecifyShape Split SplitDims
    """,
    ".operations.sorting": "ArgSortOp SortOp",
}

_PLACES = {name: module for module, names in OPERATORS_OF.items() for name in names.split()}


def import_lowering(operator: str) -> None:
    """Import the module that has the lowering of operators of this name, if there is one."""
    if operator in _PLACES:
        importlib.import_module(_PLACES[operator], __package__)
