"""The rewrite that lets operators on lists work in place, by Theano 1.0's name."""

from theano.pytensor_internals.operations.typed_lists import (
    typed_list_inplace_rewrite as typed_list_inplace_opt,
)

__all__ = ["typed_list_inplace_opt"]
