"""The part of nose that Theano's tests use, for Pythons on which nose does not run."""

from unittest import SkipTest

__all__ = ["SkipTest"]
