"""Experiments, one per file; `registry` names them."""
