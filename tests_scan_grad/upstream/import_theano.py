"""A pytest plugin that imports theano before the tests."""

import theano  # noqa: F401 -- what is tested is that it leaves PyTensor as it is
