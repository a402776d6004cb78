"""The type of sparse matrices."""
# ruff: noqa: F401 -- this file re-exports

from typing import Any

from theano.gof.stand_in import StandIn
from theano.pytensor_internals.operations.sparse import SparseTensorType
from theano.pytensor_internals.operations.sparse import is_sparse as _is_sparse


class SparseType(metaclass=StandIn, made=SparseTensorType):
    """The type of sparse matrices of a format and a dtype.

    Attributes
    ----------
    dtype_set
        The names of the dtypes that there are.
    """

    dtype_set = set(SparseTensorType.dtype_specs_map)

    @staticmethod
    def make(*args: Any, **kwargs: Any) -> SparseTensorType:
        return SparseTensorType(*args, **kwargs)
