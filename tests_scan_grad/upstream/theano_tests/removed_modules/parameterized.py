"""The part of parameterized that Theano's tests use: a test for each tuple of arguments."""

import functools
import inspect
import re
from collections import namedtuple

param = namedtuple("param", "args kwargs")


class parameterized:
    """The namespace of the functions."""

    @staticmethod
    def to_safe_name(text):
        """The text with all that a name cannot hold replaced."""
        return str(re.sub("[^a-zA-Z0-9_]+", "_", text))

    @classmethod
    def expand(cls, cases, name_func=None, **_):
        """Replace the decorated method or function by one for each case, where it is defined."""

        def decorate(method):
            # Of the class or module, also where the decorator was made outside it.
            frame = inspect.currentframe().f_back
            scope = frame.f_locals
            bound = _function if scope is frame.f_globals else _method
            for number, case in enumerate(cases() if callable(cases) else cases):
                arguments = case if isinstance(case, tuple) else (case,)
                name = (name_func or cls._name)(method, number, param(arguments, {}))
                scope[name] = bound(method, name, arguments)

        return decorate

    @classmethod
    def _name(cls, method, number, case):
        first = case.args[0] if case.args and isinstance(case.args[0], str) else None
        suffix = "" if first is None else "_" + cls.to_safe_name(first)
        return f"{method.__name__}_{number}{suffix}"


def _method(method, name, arguments):
    def test(self):
        return method(self, *arguments)

    return _named(test, method, name)


def _function(function, name, arguments):
    def test():
        return function(*arguments)

    return _named(test, function, name)


def _named(test, wrapped, name):
    functools.update_wrapper(test, wrapped)
    # pytest would take the arguments of what is wrapped for fixtures.
    del test.__wrapped__
    test.__name__ = name
    return test
