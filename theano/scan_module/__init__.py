"""The loop as a graph: ``scan``, its gradient and the rewrites of both."""

from theano.scan_module import scan_opt
from theano.scan_module.adopt import adopt
from theano.scan_module.call.stopping import until
from theano.scan_module.report.scan_report import scan_report
from theano.scan_module.scan import scan
from theano.scan_module.scan_checkpoints import scan_checkpoints
from theano.scan_module.scan_views import foldl, foldr, map, reduce

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
