"""The modules that write statements and tasks: each is imported when one of its kinds is used."""

import importlib

# for each module the names of the kinds' classes
KINDS_OF = {
    ".kernels.elements": "Convolve LoopOnNumbers TakeDiagonal WriteEye WriteRange",
    ".kernels.generators": "SampleFromGenerator",
    ".kernels.matrices": "MultiplyStacks",
    ".kernels.gathers": "FindPositions IndexedGather IndexedScatter UpdateWhere",
    ".kernels.random_state": "SampleFromWords",
    ".kernels.random_streams": "MultinomialChoices MultinomialCounts SampleTruncated SampleUniforms",
    ".statements.calls": "CallLoop Correlate Gemm",
    ".statements.images.neighbours": "Neighbours",
    ".statements.images.pooling": "Pooling",
    ".statements.kernels": "Kernel",
    ".statements.numbers": "Assign Check Load",
    ".statements.step_blocks": "StepBlocks",
}

_PLACES = {name: module for module, names in KINDS_OF.items() for name in names.split()}


def import_renderer(kind: str) -> None:
    """Import the module that writes a kind of statement or task of this name, if there is one."""
    if kind in _PLACES:
        importlib.import_module(_PLACES[kind], __package__)
