"""What Theano's tests use of nose, for Pythons that it does not run on."""

from unittest import SkipTest

__all__ = ["SkipTest"]
