"""The rewrites that Theano's modes choose from, and the tags of ours among them."""

from pytensor.compile.mode import optdb as _pytensor_optdb

from theano.gof.optdb import LayeredDB
from theano.pytensor_base.rewriting import in2out
from theano.schedule.rewrites.casts_by_numpy import cast_by_numpy
from theano.schedule.rewrites.element_of_part import local_subtensor_merge_element
from theano.schedule.rewrites.few_operands import few_operands
from theano.schedule.rewrites.parts_in_place import PartsInPlace
from theano.schedule.rewrites.results_in_place import ResultsInPlace
from theano.schedule.rewrites.structured_matrices import StructuredProducts
from theano.schedule.rewrites.transposed_products import TransposedProducts

__all__ = ["FAST_COMPILE_TAG", "FAST_RUN_TAG", "optdb"]

# PyTensor's modes ask for neither.
FAST_RUN_TAG = "theano_fast_run"
FAST_COMPILE_TAG = "theano_fast_compile"

# What users register here, PyTensor's own modes do not see.
optdb = LayeredDB(_pytensor_optdb)

# after PyTensor's canonicalize (1), before stabilize (1.5)
optdb.register("structured_products", StructuredProducts(), FAST_RUN_TAG, position=1.3)
# after all that turns products, before they become BLAS's operations (1.7)
optdb.register(
    "transposed_products", TransposedProducts(), FAST_RUN_TAG, FAST_COMPILE_TAG, position=1.69
)
# after PyTensor's, where its are asked for: the native engine decides on memory by itself
optdb.register("parts_in_place", PartsInPlace(), FAST_RUN_TAG, "inplace", position=50.2)
optdb.register("results_in_place", ResultsInPlace(), FAST_RUN_TAG, "inplace", position=75.5)
# after all that gathers operands
optdb.register("few_operands", in2out(few_operands), FAST_COMPILE_TAG, position=48)
optdb.register("cast_by_numpy", in2out(cast_by_numpy), FAST_COMPILE_TAG, position=48.1)
optdb["canonicalize"].register(
    "local_subtensor_merge_element", local_subtensor_merge_element, FAST_RUN_TAG, FAST_COMPILE_TAG
)
optdb["specialize"].register(
    "local_subtensor_merge_element", local_subtensor_merge_element, FAST_RUN_TAG
)
