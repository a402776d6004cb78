"""The XLA engine: a function's graph, with this package's own gradient, as programs of XLA.

It needs JAX, which is imported when a function is compiled.

Examples
--------
>>> import theano
>>> import theano.tensor as T
>>> x = T.matrix("x")
>>> f = theano.function([x], T.tanh(x).sum(), mode="XLA")
"""

import theano.link.xla.lowering  # noqa: F401 -- fills the table
from theano.link.xla.data_parallel import Split
from theano.link.xla.linker import XLALinker
from theano.link.xla.report import memory_of, report

__all__ = ["Split", "XLALinker", "memory_of", "report"]
