"""The part of the module imp that Theano's tests use; Python 3.12 removed the module."""

import importlib.util


def find_module(name):
    """Raise ImportError unless there is a module of that name."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        raise ImportError(f"No module named {name!r}", name=name)
    return None, spec.origin, ("", "", 0)
