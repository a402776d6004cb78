"""What Theano's tests use of the module imp, which Python 3.12 removed."""

import importlib.util


def find_module(name):
    """Raise ImportError unless there is a module of that name."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        raise ImportError(f"No module named {name!r}", name=name)
    return None, spec.origin, ("", "", 0)
