"""Code that uses Theano: a variable's boolean value and `eval` are Theano's for it, and for no other."""

import ast
import functools
import re
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any

from theano.support.data_classes import dataclass

_PACKAGE = "theano"

# Code of these asks for itself, whatever its modules hold: ours, and PyTensor's.
_ANSWERS = {_PACKAGE: True, "pytensor": False}

_IMPORT = re.compile(rb"^\s*(?:import|from)\b.*\btheano\b", re.MULTILINE)


@dataclass(frozen=True)
class _Usage:
    """A test result of whether a module uses Theano; False holds while it and what is loaded stay as they are."""

    uses: bool
    names: int
    loaded: int


_known: "weakref.WeakKeyDictionary[ModuleType, _Usage]" = weakref.WeakKeyDictionary()


def uses_theano(frame: FrameType | None) -> bool:
    """Return whether the code that runs in a frame belongs to a module that uses Theano.

    That is a module of this package; one that imports it; or one that imports a module of its
    own package that uses it, as the layers of a library import its backend. What the standard
    library runs, it runs for its caller.

    Parameters
    ----------
    frame : frame or None
        Of the code that asks.

    Returns
    -------
    bool
    """
    while frame is not None and _root(frame.f_globals) in sys.stdlib_module_names:
        frame = frame.f_back
    if frame is None:
        return False
    names = frame.f_globals
    decided = _ANSWERS.get(_root(names))
    return _names_use_theano(names) if decided is None else decided


def is_own(frame: FrameType) -> bool:
    """Return whether the code that runs in a frame is this package's."""
    return _root(frame.f_globals) == _PACKAGE


def _root(names: dict[str, Any]) -> str:
    return str(names.get("__name__") or "").partition(".")[0]


def _names_use_theano(names: dict[str, Any]) -> bool:
    """Return the same, of a module's names; the result is kept for modules that can be imported."""
    module = sys.modules.get(str(names.get("__name__")))
    if not isinstance(module, ModuleType) or vars(module) is not names:
        return _reaches_theano(names)
    known = _known.get(module)
    if known is None or (not known.uses and (known.names, known.loaded) != _counts(names)):
        known = _known[module] = _Usage(_reaches_theano(names), *_counts(names))
    return known.uses


def _counts(names: dict[str, Any]) -> tuple[int, int]:
    return len(names), len(sys.modules)


def _reaches_theano(names: dict[str, Any]) -> bool:
    """Walk from a module over those of its own package that it imports."""
    seen: set[int] = set()
    pending = [names]
    while pending:
        names = pending.pop()
        if id(names) in seen:
            continue
        seen.add(id(names))
        sources = list(_sources(names))
        if any(source.partition(".")[0] == _PACKAGE for source in sources):
            return True
        if _file_imports_theano(str(names.get("__file__"))):
            return True
        root = _root(names)
        own = {source for source in sources if source.partition(".")[0] == root}
        pending.extend(vars(sys.modules[source]) for source in own if source in sys.modules)
    return False


def _sources(names: dict[str, Any]) -> Iterator[str]:
    """Yield the modules that a module's names are, or come from, as far as that can be seen."""
    for value in list(names.values()):
        if isinstance(value, ModuleType):
            yield str(value.__name__)
        elif type(value) in (FunctionType, type):
            yield str(value.__module__)


@functools.cache
def _file_imports_theano(file: str) -> bool:
    """Return whether a line of a file imports this package: names taken from it may be PyTensor's."""
    try:
        text = Path(file).read_bytes() if file.endswith(".py") else b""
    except OSError:
        return False
    # a docstring may hold such a line, too
    return bool(_IMPORT.search(text)) and any(
        name.partition(".")[0] == _PACKAGE for name in _imported(text)
    )


def _imported(text: bytes) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""
