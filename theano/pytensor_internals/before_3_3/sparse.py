"""Operators of sparse matrices by the names that PyTensor 3.3 gives them."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.sparse.math import AddSD as AddSparseDense
from pytensor.sparse.math import AddSS as AddSparseSparse
from pytensor.sparse.math import AddSSData as AddSparseSparseData
from pytensor.sparse.math import EqualSD as EqualSparseDense
from pytensor.sparse.math import EqualSS as EqualSparseSparse
from pytensor.sparse.math import GreaterEqualSD as GreaterEqualSparseDense
from pytensor.sparse.math import GreaterEqualSS as GreaterEqualSparseSparse
from pytensor.sparse.math import GreaterThanSD as GreaterThanSparseDense
from pytensor.sparse.math import GreaterThanSS as GreaterThanSparseSparse
from pytensor.sparse.math import LessEqualSD as LessEqualSparseDense
from pytensor.sparse.math import LessEqualSS as LessEqualSparseSparse
from pytensor.sparse.math import LessThanSD as LessThanSparseDense
from pytensor.sparse.math import LessThanSS as LessThanSparseSparse
from pytensor.sparse.math import NotEqualSD as NotEqualSparseDense
from pytensor.sparse.math import NotEqualSS as NotEqualSparseSparse
from pytensor.sparse.math import SparseDenseMultiply as MultiplySparseDense
from pytensor.sparse.math import SparseDenseVectorMultiply as MultiplySparseDenseVector
from pytensor.sparse.math import SparseSparseMultiply as MultiplySparseSparse
from pytensor.sparse.math import StructuredAddSV as StructuredAddSparseDenseVector
from pytensor.sparse.rewriting import AddSD_ccode as AddSparseDenseC
from pytensor.sparse.rewriting import StructuredAddSVCSR as StructuredAddSparseDenseVectorCSR
