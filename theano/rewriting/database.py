"""The rewrites that Theano's modes choose from, and our tags among them."""

from pytensor.compile.mode import optdb as _pytensor_optdb

from theano.pytensor_internals.graphs.rewriting import in2out
from theano.rewriting.layered_database import LayeredDB
from theano.rewriting.rewrites.elementwise.casts_by_numpy import cast_by_numpy
from theano.rewriting.rewrites.elementwise.choices_at_once import choice_at_once
from theano.rewriting.rewrites.elementwise.constants_as_read import constants_as_read
from theano.rewriting.rewrites.elementwise.few_operands import few_fused_operands, few_operands
from theano.rewriting.rewrites.elementwise.logarithms_and_roots import (
    log_of_exponentials,
    log_of_squared_tanh,
    square_of_root,
)
from theano.rewriting.rewrites.elementwise.negative_terms import sum_with_negative_term
from theano.rewriting.rewrites.elementwise.views_last import views_last
from theano.rewriting.rewrites.in_place.parts_in_place import PartsInPlace
from theano.rewriting.rewrites.in_place.results_in_place import ResultsInPlace
from theano.rewriting.rewrites.known_choices import known_choice
from theano.rewriting.rewrites.matrices.diagonals import diagonal_of_parts, filled_diagonal
from theano.rewriting.rewrites.matrices.structured_matrices import StructuredProducts
from theano.rewriting.rewrites.matrices.transposed_products import TransposedProducts
from theano.rewriting.rewrites.operators_as_graphs import operators_as_graphs
from theano.rewriting.rewrites.subtensors.joined_parts import JoinedParts
from theano.rewriting.rewrites.subtensors.zeros_written_whole import zeros_written_whole
from theano.rewriting.source_lines import LinesKept

__all__ = [
    "FAST_COMPILE_TAG",
    "FAST_RUN_TAG",
    "FEW_OPERANDS",
    "STEPS_TAG",
    "optdb",
    "register_for_tags",
]

# PyTensor's modes ask for neither.
FAST_RUN_TAG = "theano_fast_run"
FAST_COMPILE_TAG = "theano_fast_compile"
# what makes the steps of loops fit an engine, after the rewrites of a mode
STEPS_TAG = "theano_steps"
# what Python needs, whatever the mode: NumPy takes no more than 32 operands
FEW_OPERANDS = "theano_few_operands"

# What users register here, PyTensor's own modes do not see.
optdb = LayeredDB(_pytensor_optdb)


def register_for_tags(name: str, rewrite: object, *tags: str, position: float) -> None:
    """Add a rewrite to PyTensor's own collection, so that any mode may ask for it by its tags.

    Parameters
    ----------
    name : str
    rewrite : GraphRewriter or RewriteDatabase
    *tags : str
        Of ours, which no mode of PyTensor's asks for; without any, the name is the only one.
    position : float
        Where it runs among the others.
    """
    _pytensor_optdb.register(name, rewrite, *tags, position=position)


# before all others
optdb.register("lines_kept", LinesKept(), FAST_RUN_TAG, FAST_COMPILE_TAG, position=-1)
optdb["canonicalize"].register("known_choice", known_choice, FAST_RUN_TAG, FAST_COMPILE_TAG)
optdb["canonicalize"].register("sum_with_negative_term", sum_with_negative_term, FAST_RUN_TAG)
optdb["canonicalize"].register("square_of_root", square_of_root, FAST_RUN_TAG)
optdb["stabilize"].register("log_of_squared_tanh", log_of_squared_tanh, FAST_RUN_TAG)
optdb["stabilize"].register("log_of_exponentials", log_of_exponentials, FAST_RUN_TAG)
optdb["stabilize"].register("diagonal_of_parts", diagonal_of_parts, FAST_RUN_TAG)
optdb["specialize"].register("filled_diagonal", filled_diagonal, FAST_RUN_TAG)
optdb["specialize"].register("zeros_written_whole", zeros_written_whole, FAST_RUN_TAG)
# after the rewrites of loops, before sums are given a canonical form
optdb.register("joined_parts", JoinedParts(), FAST_RUN_TAG, position=0.9)
# after PyTensor's canonicalize (1), before stabilize (1.5)
optdb.register("structured_products", StructuredProducts(), FAST_RUN_TAG, position=1.3)
# after canonical forms, in which a gradient's zeros are arrays of one number
optdb.register("choice_at_once", in2out(choice_at_once), STEPS_TAG, position=1.4)
# after all that turns products, before they become BLAS's operations (1.7)
optdb.register(
    "transposed_products", TransposedProducts(), FAST_RUN_TAG, FAST_COMPILE_TAG, position=1.69
)
# after all that knows canonical forms, before what is the same is merged again (49)
optdb.register("views_last", in2out(views_last), FAST_RUN_TAG, position=48.5)
optdb.register("constants_as_read", in2out(constants_as_read), FAST_RUN_TAG, position=48.6)
# after PyTensor's, where its are asked for: the native engine decides on memory by itself
optdb.register("parts_in_place", PartsInPlace(), FAST_RUN_TAG, "inplace", position=50.2)
# who excludes what has element-wise operators overwrite their operands means this one, too
optdb.register(
    "results_in_place",
    ResultsInPlace(),
    FAST_RUN_TAG,
    "inplace",
    "inplace_elemwise_opt",
    "inplace_elemwise_optimizer",
    position=75.5,
)
# after all that knows operators by their names, before what makes the nodes fit Python
optdb.register("operators_as_graphs", in2out(operators_as_graphs), FAST_COMPILE_TAG, position=47.9)
# after all that gathers operands (48), before what joins operators (49)
optdb.register("few_operands", in2out(few_operands), FAST_COMPILE_TAG, FEW_OPERANDS, position=48.05)
# after what joins operators
optdb.register("few_fused_operands", in2out(few_fused_operands), FEW_OPERANDS, position=49.6)
optdb.register("cast_by_numpy", in2out(cast_by_numpy), FAST_COMPILE_TAG, position=48.1)
