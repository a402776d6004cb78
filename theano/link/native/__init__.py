"""The native CPU engine: loops become C, compiled when a function is.

Examples
--------
>>> import pytensor
>>> import pytensor.tensor as pt
>>> import theano.link.native
>>> x = pt.vector("x")
>>> means = pytensor.scan(
...     lambda x, s: (s + x) / 2, sequences=[x], outputs_info=[x[0]], return_updates=False
... )
>>> f = pytensor.function([x], means, mode=theano.link.native.mode)
>>> [str(loop) for loop in theano.link.native.report(f)]
['scan_fn: native']
"""

from pytensor.compile.mode import Mode

from theano.link.native.linker import NativeLinker
from theano.link.native.report import report, source
from theano.link.native.run.c_function import NotNativeError, c_function, header_folder
from theano.link.native.run.profile import profile

mode = Mode(NativeLinker(), "fast_run")

__all__ = [
    "NativeLinker",
    "NotNativeError",
    "c_function",
    "header_folder",
    "mode",
    "profile",
    "report",
    "source",
]
