"""Which module has the lowering of which operators: it is imported when one of them is met."""

# For each module of `operations`, the names of its operators' classes.
_OPERATORS = {
    "advanced_indexing": "AdvancedIncSubtensor AdvancedSubtensor",
    "convolution": "Convolve1d",
    "ctc": "ConnectionistTemporalClassification",
    "cumulative": "CumOp",
    "draws.outcomes_of_draws": "ChoiceFromUniform MultinomialFromUniform",
    "draws.random_draws": "mrg_truncated mrg_uniform",
    "draws.random_state_draws": "DrawFromWords",
    "elementwise": """
        CpuContiguous DeepCopyOp DimShuffle Elemwise ScalarFromTensor ScalarOp TensorFromScalar
        TypeCastingOp
    """,
    "generators": "ARange Eye",
    "graphs": "OpFromGraph",
    "images.correlation": """
        Corr3dMM Corr3dMM_gradInputs Corr3dMM_gradWeights CorrMM CorrMM_gradInputs
        CorrMM_gradWeights
    """,
    "images.neighbours": "Images2Neibs Images2NeibsGrad",
    "images.pooling": "AveragePoolGrad DownsampleFactorMaxGradGrad MaxPoolGrad Pool",
    "indexing": "AdvancedIncSubtensor1 AdvancedSubtensor1 IncSubtensor Subtensor",
    "masks": "Nonzero",
    "matrices.batched_products": "BatchedDot",
    "matrices.block_diagonal": "BlockDiagonal",
    "matrices.blockwise": "Blockwise",
    "matrices.linear_algebra": """
        Cholesky CholeskySolve Det Eigh LUFactor MatrixInverse PivotToPermutations SLogDet Schur
        Solve SolveOrNaN SolveTriangular TRSYL
    """,
    "matrices.products": "CGemv CGer Dot Dot22 Dot22Scalar Gemm Gemv Ger",
    "matrices.tridiagonal": "LUFactorTridiagonal SolveLUFactorTridiagonal",
    "reductions": "Argmax CAReduce LogSoftmax Max Min Softmax",
    "scan": "FrozenWhenAsked Scan",
    "shapes": """
        Alloc AllocEmpty CheckAndRaise ExtractDiag Join JoinDims MakeVector Rebroadcast Repeat
        Reshape Shape Shape_i SpecifyShape Split SplitDims
    """,
    "sorting": "ArgSortOp SortOp",
}

# for each name the module
PLACES = {
    name: f"theano.link.native.lowering.operations.{module}"
    for module, names in _OPERATORS.items()
    for name in names.split()
}
