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

from typing import TYPE_CHECKING

from theano.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from theano.link.native.engine_report import report, source
    from theano.link.native.linker import NativeLinker, mode
    from theano.link.native.run.c_function import NotNativeError, c_function, header_folder
    from theano.link.native.run.profile import profile

_LAZY = {
    "NativeLinker": ".linker",
    "NotNativeError": ".run.c_function",
    "c_function": ".run.c_function",
    "header_folder": ".run.c_function",
    "mode": ".linker",
    "profile": ".run.profile",
    "report": ".engine_report",
    "source": ".engine_report",
}
__getattr__, __dir__ = lazy_names(__name__, _LAZY)

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
