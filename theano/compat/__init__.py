"""Names that programs import from `theano.compat`, which Python 2 and 3 once spelled differently."""

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, ValuesView
from collections.abc import MutableMapping as DictMixin
from io import BytesIO
from operator import truediv as operator_div
from typing import Any

__all__ = [
    "PY3",
    "BytesIO",
    "Callable",
    "DefaultOrderedDict",
    "DictMixin",
    "Iterable",
    "Mapping",
    "OrderedDict",
    "ValuesView",
    "cmp",
    "decode",
    "decode_iter",
    "decode_with",
    "exc_message",
    "get_unbound_function",
    "ifilter",
    "imap",
    "izip",
    "operator_div",
]

PY3 = sys.version_info >= (3,)
ifilter, imap, izip = filter, map, zip


def exc_message(error: BaseException) -> Any:
    """Return the first argument of an exception, of the innermost one where they are nested."""
    message = error.args[0]
    return exc_message(message) if isinstance(message, Exception) else message


def cmp(left: object, right: Any) -> int:
    """Return -1, 0 or 1 as `left` is less than, equal to or greater than `right`."""
    return (left > right) - (left < right)


def get_unbound_function(method: object) -> Any:
    """Return the function under a bound method, and a function unchanged."""
    return getattr(method, "__func__", method)


def decode(text: bytes) -> str:
    """Return bytes as text."""
    return text.decode()


def decode_with(text: bytes, encoding: str) -> str:
    """Return bytes of an encoding as text."""
    return text.decode(encoding)


def decode_iter(lines: Iterable[bytes]) -> Iterator[str]:
    """Return each line of bytes as text."""
    return (line.decode() for line in lines)


class DefaultOrderedDict(OrderedDict):
    """An ordered dictionary that makes the value of a missing key by calling `default_factory`."""

    def __init__(
        self, default_factory: Callable[[], Any] | None = None, *args: object, **kwargs: object
    ):
        super().__init__(*args, **kwargs)
        self.default_factory = default_factory

    def __missing__(self, key: object) -> Any:
        if self.default_factory is None:
            raise KeyError(key)
        self[key] = made = self.default_factory()
        return made

    def __copy__(self) -> "DefaultOrderedDict":
        return type(self)(self.default_factory, self)

    copy = __copy__

    def __reduce__(self) -> tuple:
        return type(self), (self.default_factory,), None, None, iter(self.items())
