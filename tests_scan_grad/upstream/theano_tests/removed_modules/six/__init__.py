"""The part of six that Theano's tests use, as on Python 3."""

from io import StringIO

PY2 = False
PY3 = True
integer_types = (int,)
string_types = (str,)

__all__ = ["PY2", "PY3", "StringIO", "integer_types", "string_types"]


def iteritems(mapping):
    return iter(mapping.items())


def itervalues(mapping):
    return iter(mapping.values())


def iterkeys(mapping):
    return iter(mapping.keys())


def reraise(kind, value, traceback=None):
    raise (kind() if value is None else value).with_traceback(traceback)
