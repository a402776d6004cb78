"""Timing experiments: ``python -m tests_scan_grad.timing NAME``.

An experiment is one file that defines ``EXPERIMENT``, and its name in ``registry.py``.
"""
