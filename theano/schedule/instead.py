"""PyTensor's rewrites of nodes, and those of ours that run where they would."""

from pytensor.tensor.rewriting.basic import local_second_to_alloc
from pytensor.tensor.rewriting.subtensor import local_add_of_sparse_write
from pytensor.tensor.rewriting.uncanonicalize import local_dimshuffle_subtensor

from theano.schedule.rows_of_length_one import row_of_length_one
from theano.schedule.second_to_alloc import second_to_alloc
from theano.schedule.sums_with_writes import sum_with_write

# PyTensor's rewrite of nodes -> what takes its place
INSTEAD = {
    local_second_to_alloc: second_to_alloc,
    local_add_of_sparse_write: sum_with_write,
    local_dimshuffle_subtensor: row_of_length_one,
}
