"""Helpers on graphs that programs import from here, by Theano 1.0's names."""

from pytensor.graph.basic import equal_computations

from theano.compile.clone import clone
from theano.scan_module.call.stopping import until
from theano.scan_module.map_variables import map_variables

__all__ = ["clone", "equal_computations", "map_variables", "until"]
