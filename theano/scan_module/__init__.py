"""The loop as a graph: ``scan``, its gradient and the rewrites of both."""

from typing import TYPE_CHECKING

from theano.scan_module import scan_opt
from theano.scan_module.adopt import adopt
from theano.scan_module.call.stopping import until
from theano.scan_module.scan import scan
from theano.scan_module.scan_checkpoints import scan_checkpoints
from theano.scan_module.scan_views import foldl, foldr, map, reduce
from theano.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from theano.scan_module.report.scan_report import scan_report

_LAZY = {
    "map_variables": ".map_variables",
    "scan_report": ".report.scan_report",
    "scan_utils": ".scan_utils",
}
__getattr__, __dir__ = lazy_names(__name__, _LAZY)

__all__ = [
    "adopt",
    "foldl",
    "foldr",
    "map",
    "reduce",
    "scan",
    "scan_checkpoints",
    "scan_opt",
    "scan_report",
    "until",
]
