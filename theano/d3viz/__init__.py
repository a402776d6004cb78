"""Theano 1.0's `theano.d3viz`: graphs as interactive web pages (needs pydot and graphviz)."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.d3viz import d3viz, d3write
